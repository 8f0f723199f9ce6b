"""knotd, another server, as a peer of ours; absent from many machines."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.process import PATIENCE_SECONDS

KNOTD = shutil.which("knotd") or shutil.which("knotd", path="/usr/sbin")
_SERVER = """
server:
  listen: 127.0.0.1@{port}
  rundir: {folder}
database:
  storage: {folder}
log:
  - target: stderr
    any: debug
"""


@contextmanager
def knot(folder: Path, rest: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """knotd with ``rest`` of its configuration on ``port``, for the length of the block."""
    if KNOTD is None:
        pytest.skip("there is no knotd")
    folder.mkdir(exist_ok=True)
    (folder / "knot.conf").write_text(_SERVER.format(port=port, folder=folder) + rest)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([KNOTD, "-c", str(folder / "knot.conf")], stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
