# Works with python3 and its venv module alone; pip takes its settings from wherever it has them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
FUZZ_STAMP := $(VENV)/.installed-fuzz
ADDRESS := 127.0.0.1
PORT := 1053

.DEFAULT_GOAL := help
.PHONY: help run test lint format bench fuzz soak clean

help:  ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: $(STAMP)  ## serve the demo's manifests on 127.0.0.1:1053 and say what to try
	$(BIN)/kubedns serve --manifests zones/demo --listen $(ADDRESS) --port $(PORT)

test: $(STAMP)  ## run the tests
	$(BIN)/python -m pytest --numprocesses auto

lint: $(STAMP)  ## style, types, and which room may import which
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## lay the code out
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(STAMP)  ## queries per CPU-second, beside a bare Python loop and other servers
	$(BIN)/python -m tests.bench

fuzz: $(FUZZ_STAMP)  ## a million broken messages, and a coverage-guided fuzzer on the reader
	$(BIN)/python -m tests.fuzz

soak: $(STAMP)  ## a day's worth of queries squeezed into minutes, while upstreams fail and manifests change
	$(BIN)/python -m tests.soak

clean:  ## remove what make made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

$(FUZZ_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,fuzz]"
	@touch $@
