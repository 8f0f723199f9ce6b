"""A day's worth of questions squeezed into minutes; memory and open files must stay, and nothing may be lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from tests.soak.site import Site
from tests.soak.soaking import Reading, Soak, growth, soaking
from tests.support.footprint import Footprint

_ROUNDS = 20
_WARM_AFTER = 2_000_000
"""Questions after which the caches are full: what a shorter run holds more is not judged."""
_FAILS_EACH_SECONDS = 10.0
MOST_GROWTH_KIB = 8 << 10
"""What a server may hold more than when its caches have just been filled."""


def main() -> int:
    """Run it; the exit status is 0 if all is as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000_000, help="asked in all, over all streams [10000000]")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which names are asked [0]")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kubedns-soak-") as folder:
        site = Site(Path(folder))
        with site.served(_FAILS_EACH_SECONDS) as server, soaking(server, site, wanted.seed) as soak:
            faults = _soak(soak, wanted.queries)
            _tell(soak, site)
            if server.stop() != 0:
                faults.append("the server did not end well")
            logged = server.log.read_text()
            faults += [f"logged: {line}" for line in logged.splitlines() if "Traceback" in line]
    print("\n".join(faults) or "as it should be")
    return 1 if faults else 0


def _soak(soak: Soak, queries: int) -> list[str]:
    asked, seconds = 0, 0.0
    warm: Reading | None = None
    for _ in range(_ROUNDS):
        reading = soak.round(queries // _ROUNDS, warm.held.files if warm else None)
        print(reading, flush=True)
        asked, seconds = asked + reading.asked, seconds + reading.seconds
        warm = warm or (reading if asked >= _WARM_AFTER else None)
    print(f"{asked:,} asked in {seconds:.0f} s")
    return soak.faults() + (_growth_faults(warm.held, reading.held) if warm else [])


def _growth_faults(warm: Footprint, held: Footprint) -> list[str]:
    kib, files = growth(warm, held)
    print(f"{kib:+,} KiB since it was warm")
    found = [f"memory grew by {kib:,} KiB"] if kib > MOST_GROWTH_KIB else []
    return found + ([f"{files} files were left open"] if files else [])


def _tell(soak: Soak, site: Site) -> None:
    for name, stream in soak.streams.items():
        tally = stream.tally
        print(f"{name:16}{tally.answered:>11,} answered, {tally.failed:,} of them by SERVFAIL, {tally.lost:,} lost")
    with urlopen(f"http://127.0.0.1:{site.metrics_port}/metrics") as page:
        shown = [line for line in page.read().decode().splitlines() if line.startswith("coredns_cache_")]
    print("\n".join(shown))


if __name__ == "__main__":
    sys.exit(main())
