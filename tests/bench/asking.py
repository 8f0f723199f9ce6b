"""Asking: one load on one server, and the server's rate under it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.generator import Tally
from tests.bench.loads import Load
from tests.bench.peers import BARE, DNSLIB, Serving
from tests.bench.processes import LOAD_CORE, PATIENCE_SECONDS, BenchError, cpu_seconds, run_pinned

_MOST_LOST = 0.01
_COUNTS = re.compile(r"Queries (completed|lost): +(\d+)")
_RCODES = re.compile(r"([A-Z]+) (\d+) \(")


@dataclass(frozen=True, slots=True)
class Length:
    """How long a file of queries is asked: for so many ``seconds`` or ``passes``, whichever ends first."""

    seconds: float
    passes: int = 1_000_000


ONCE = Length(PATIENCE_SECONDS / 2, 1)
Ask = Callable[[Load, int, Path, Length], Tally]


def rate(load: Load, server: Serving, turn: int, path: Path, length: Length) -> float:
    """Queries that the server answers in a second of its CPU time; ``path`` is where the queries are written.

    A load of distinct names is asked once. What any other asks, the server has been asked before.

    Raises:
        BenchError: responses were lost, or were not what the load is about.
    """
    path.write_text("\n".join(load.asked(turn)) + "\n")
    ask = ask_with_dnsperf if shutil.which("dnsperf") else ask_with_generator
    if not load.distinct:
        ask(load, server.port, path, ONCE)
    before = cpu_seconds(server.process)
    tally = ask(load, server.port, path, ONCE if load.distinct else length)
    spent = cpu_seconds(server.process) - before
    rcode = "NOERROR" if server.peer in (BARE, DNSLIB) else load.rcode
    if set(tally.rcodes) != {rcode} or tally.lost > _MOST_LOST * tally.completed:
        raise BenchError(f"{load.name} of {server.peer.name}: all responses should be {rcode}: {tally}")
    return tally.completed / spent


def ask_with_dnsperf(load: Load, port: int, path: Path, length: Length) -> Tally:
    """Ask with dnsperf, 100 queries in flight from eight sockets."""
    where = ["-s", "127.0.0.1", "-p", str(port), "-d", str(path)]
    how = ["-l", str(length.seconds), "-n", str(length.passes), "-c", "8", "-T", "1", "-q", "100", "-t", "2"]
    how += (["-e"] if load.edns else []) + (["-m", "tcp"] if load.tcp else [])
    printed = run_pinned(["dnsperf", *where, *how], LOAD_CORE)
    counts = {word: int(number) for word, number in _COUNTS.findall(printed)}
    rcodes = Counter({rcode: int(number) for rcode, number in _RCODES.findall(printed)})
    return Tally(counts["completed"], counts["lost"], rcodes)


def ask_with_generator(load: Load, port: int, path: Path, length: Length) -> Tally:
    """Ask with our own generator, 100 queries in flight from one socket."""
    words = [str(port), str(path), str(length.seconds), str(length.passes)]
    words += ["tcp" if load.tcp else "udp", "edns" if load.edns else "plain"]
    printed = json.loads(run_pinned([sys.executable, "-m", "tests.bench.generator", *words], LOAD_CORE))
    return Tally(printed["completed"], printed["lost"], Counter(printed["rcodes"]))
