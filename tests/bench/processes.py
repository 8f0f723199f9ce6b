"""Processes on a core of their own, and what /proc tells of their time and memory."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.generator import query_octets

PATIENCE_SECONDS = 60.0
_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = _CORES[0], _CORES[-1]
_STILL_SECONDS, _LONGEST_SECONDS = 0.5, 10.0


class BenchError(Exception):
    """A measurement that means nothing; ``str()`` says why."""


def cpu_seconds(process: int) -> float:
    """CPU time that the threads of a process have had.

    It is what utime and stime of its stat are made of, to the nanosecond and not in ticks of ten milliseconds.
    """
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def resident_octets(process: int) -> int:
    """Its VmRSS."""
    return _octets_of_status(process, "VmRSS")


def peak_octets(process: int) -> int:
    """Its VmHWM: the most that has been resident."""
    return _octets_of_status(process, "VmHWM")


def _octets_of_status(process: int, field: str) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) << 10


def settled_octets(process: int) -> int:
    """Its VmRSS once that has not changed for half a second, or after ten seconds."""
    began = since = time.monotonic()
    octets = resident_octets(process)
    while time.monotonic() - since < _STILL_SECONDS and time.monotonic() - began < _LONGEST_SECONDS:
        time.sleep(0.1)
        now = resident_octets(process)
        if now != octets:
            octets, since = now, time.monotonic()
    return octets


def run_pinned(command: Sequence[str], core: int) -> str:
    """What ``command``, run on ``core``, prints."""
    with pinned(core):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode:
        raise BenchError(f"{command[0]}: {errors.strip() or output.strip()}")
    return output


@contextmanager
def serving(
    command: Sequence[str],
    port: int,
    probe: str,
    log: Path,
    environment: Mapping[str, str] | None = None,
    core: int = SERVER_CORE,
) -> Iterator[int]:
    """The process of a server on ``core``, once it has answered ``probe`` (``NAME TYPE``) on ``port``."""
    with log.open("w") as output, pinned(core):
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **(environment or {})})
    try:
        _await_answer(process, port, probe, log)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Processes that are started here stay on ``core``, with all their threads."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def _await_answer(process: subprocess.Popen[bytes], port: int, probe: str, log: Path) -> None:
    """Until the first answer: a query waits in the socket of a server that is still loading."""
    query = b"\0\1" + query_octets(probe, edns=False)
    deadline = time.monotonic() + PATIENCE_SECONDS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(1)
        udp.connect(("127.0.0.1", port))
        while process.poll() is None and time.monotonic() < deadline:
            try:
                udp.send(query)
                if udp.recv(4096)[3] & 0x0F == 0:
                    return
            except ConnectionRefusedError:
                time.sleep(0.005)
            except TimeoutError:
                continue
    raise BenchError(f"{process.args!r} does not answer: {log.read_text().strip()}")
