from __future__ import annotations

import tracemalloc

import pytest

from kubedns.cluster.sources.yaml_text import YamlError, YamlText

VALUES = {
    # As the tools of Kubernetes read them; YAML 1.1 has dates, numbers in base 60 and a value of its own for ``=``.
    "2020-01-01": "2020-01-01",
    "2020-01-01T00:00:00Z": "2020-01-01T00:00:00Z",
    "12:30:45": "12:30:45",
    "1:2:3:4:5:6:7:8": "1:2:3:4:5:6:7:8",
    "1:30.5": "1:30.5",
    "=": "=",
    "12": 12,
    "-0x1F": -31,
    "010": 8,
    "1.5": 1.5,
    "yes": True,
    "~": None,
    '"12"': "12",
}


@pytest.mark.parametrize("text", VALUES)
def test_plain_scalars(text: str) -> None:
    assert YamlText(f"a: {text}".encode()).value() == {"a": VALUES[text]}


BROKEN = {
    # Text → the line that is named.
    "indentation": (b"a: 1\n b: 2\n", 2),
    "tab": (b"a:\n\tb: 1\n", 2),
    "no end of a quote": (b'a: "b\n', 1),
    "unknown alias": (b"a: 1\nb: *c\n", 2),
    "two documents in one": (b"a: 1\n...\nb: 2\n", 3),
    "tag": (b"a: !ruby/object:Gem x\n", 1),
    "python": (b"a: !!python/object/apply:os.system [id]\n", 1),
    "NUL": (b"a: b\0\n", 1),
    "no UTF-8": (b"a: \xff\xfe\n", 1),
    "half a surrogate": (b'a: "\\ud800"\n', 1),
    "unhashable key": (b"? [a]\n: b\n", 1),
    "endless number": (b"a: " + b"9" * 5000, 1),
    "nested without end": (b"[" * 100_000 + b"]" * 100_000, 1),
    "nested blocks": (b"\n".join(b" " * depth + b"a:" for depth in range(2000)), 1000),
}


@pytest.mark.parametrize(("text", "line"), BROKEN.values(), ids=BROKEN)
def test_broken_text_is_told_with_its_line(text: bytes, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        YamlText(text, 10).value()
    assert caught.value.line == 10 + line
    assert "\n" not in str(caught.value)


STEPS = [("x", "a"), *zip("abcdefg", "bcdefgh", strict=True)]
LAUGHS = "".join(f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in STEPS)
MERGED = "".join(f"{name}: &{name} {{<<: [{','.join([f'*{before}'] * 9)}]}}\n" for before, name in STEPS)
WIDE = f"x: &x [{','.join(['1'] * 2000)}]\ny: [{','.join(['*x'] * 2000)}]\n"
BOMBS = {
    "laughs": "x: &x [lol]\n" + LAUGHS,
    "a wide list, often": WIDE,
    "merged keys": "x: &x {k: v}\n" + MERGED,
    "a circle": "a: &a [*a]\n",
    "a circle of two": "a: &a {b: &b [*a, *b]}\n",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_aliases_are_bounded(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(YamlError, match="aliases make more than"):
        YamlText(text.encode()).value()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 << 20


def test_aliases_that_help_are_read() -> None:
    text = "base: &base {app: web}\nlabels: {<<: *base, tier: front}\nagain: *base\nglob: '*.txt'\nand: a && *b\n"
    value = YamlText(text.encode()).value()
    assert value == {
        "base": {"app": "web"},
        "labels": {"app": "web", "tier": "front"},
        "again": {"app": "web"},
        "glob": "*.txt",
        "and": "a && *b",
    }


TEXT = b"""# a comment

kind: List
items:
  - metadata: {name: a}
    spec:
      ports:
        - port: 80
        - port: http
"""
PLACES = {
    # Path → its line, counted on from 100, and the scalar there.
    "": (103, None),
    ".kind": (103, "List"),
    ".items[0]": (105, None),
    ".items[0].metadata.name": (105, "a"),
    ".items[0].spec.ports[1].port": (109, "http"),
    ".items[0].spec.ports[1].name": (109, None),
    ".items[7].spec": (105, None),
    ".items[0].metadata.labels[...]": (105, None),
}


@pytest.mark.parametrize("path", PLACES)
def test_places(path: str) -> None:
    text = YamlText(TEXT, 100)
    assert (text.line_of(path), text.scalar_at(path)) == PLACES[path]
    assert text.first_line() == 103


def test_places_in_broken_text_are_unknown() -> None:
    assert YamlText(b"a: [").line_of(".a") == 0
