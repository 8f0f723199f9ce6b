"""The long form: a million broken messages over UDP, a hundred thousand over TCP, a minute of a guided fuzzer."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.messages import Messages
from tests.fuzz.onslaught import Onslaught
from tests.support.footprint import footprint
from tests.support.process import free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
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
    parser.add_argument("--seconds", type=int, default=60, help="of the guided fuzzer on the reader; 0: none")
    wanted = parser.parse_args()
    print(f"seed {wanted.seed}", flush=True)
    _attack(Messages(wanted.seed), wanted.udp, wanted.tcp)
    if not wanted.seconds:
        return 0
    command = [sys.executable, "-m", "tests.fuzz.reader", str(wanted.seconds), str(wanted.seed)]
    return subprocess.run(command, check=False, timeout=wanted.seconds + 120).returncode


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
