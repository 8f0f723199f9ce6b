"""The long form: a million broken messages over UDP, a hundred thousand over TCP, a minute of a guided fuzzer.

A million forged replies to what we ask an upstream as well.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.fuzz.messages import Messages
from tests.fuzz.onslaught import Onslaught
from tests.support.footprint import footprint
from tests.support.process import free_port, running
from tests.upstream.forger import TRUE, Forger, ask_through

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
_FORGED = 19
"""To each query; one more, and it is asked over TCP."""
WARM_UP = 60_000
"""Names asked first: more than the answer cache keeps."""
MOST_GROWTH_KIB = 5 << 10
"""What a server may hold more than before once its cache is full."""


def main() -> int:
    """Run it all; the exit status is 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.monotonic() * 1000) % (1 << 31), help="to repeat a run")
    parser.add_argument("--udp", type=int, default=1_000_000, metavar="MESSAGES")
    parser.add_argument("--tcp", type=int, default=100_000, metavar="MESSAGES")
    parser.add_argument("--forged", type=int, default=1_000_000, metavar="REPLIES", help="to what we ask an upstream")
    parser.add_argument("--seconds", type=int, default=60, help="of the guided fuzzer on the reader; 0: none")
    wanted = parser.parse_args()
    print(f"seed {wanted.seed}", flush=True)
    _attack(Messages(wanted.seed), wanted.udp, wanted.tcp)
    _forge(Random(wanted.seed), wanted.forged)
    if not wanted.seconds:
        return 0
    command = [sys.executable, "-m", "tests.fuzz.reader", str(wanted.seconds), str(wanted.seed)]
    return subprocess.run(command, check=False, timeout=wanted.seconds + 120).returncode


def _forge(random: Random, count: int) -> None:
    """Every query gets the true reply after the forged ones."""
    forger = Forger(_FORGED, random)
    found = asyncio.run(ask_through(forger, count // _FORGED, random))
    believed = Counter(found)
    print(f"{forger.forged} forged replies: {believed[TRUE]} of {len(found)} queries got the true one", flush=True)
    assert set(believed) == {TRUE}


def _attack(messages: Messages, udp: int, tcp: int) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["serve", "--manifests", str(CLUSTER), "--port", str(port)]
        with running(arguments, port, Path(folder) / "log") as server:
            onslaught = Onslaught(server, messages)
            onslaught.fill_cache(WARM_UP)
            onslaught.over_udp(udp // 20)
            onslaught.over_tcp(tcp // 20)
            before = footprint(server.process.pid)
            print(f"warm: {before}", flush=True)
            for name, attack, count in (("UDP", onslaught.over_udp, udp), ("TCP", onslaught.over_tcp, tcp)):
                began = time.perf_counter()
                attack(count)
                rate = count / (time.perf_counter() - began)
                held = onslaught.settled(before, MOST_GROWTH_KIB)
                print(f"{count} over {name}, {rate:.0f} per second: {held}", flush=True)
            print(", ".join(f"{name} {count}" for name, count in onslaught.reactions.most_common()))
            assert server.stop() == 0


if __name__ == "__main__":
    sys.exit(main())
