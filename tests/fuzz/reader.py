"""A coverage-guided fuzzer on query reader and response writer: ``python -m tests.fuzz.reader SECONDS SEED``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["kubedns.dns"]):
    from tests.fuzz.reaction import check_reaction

from tests.fuzz.messages import Messages


def main(seconds: int, seed: int) -> None:
    """Fuzz for so many seconds, from all messages that there are to begin with; ends the process."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder)
        for number, message in enumerate(Messages(seed).seeds):
            (corpus / str(number)).write_bytes(message)
        options = [f"-max_total_time={seconds}", f"-seed={seed % (1 << 32) or 1}", "-max_len=4096", "-timeout=5"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={tempfile.gettempdir()}/", folder], check_reaction)
        atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
