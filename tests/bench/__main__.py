"""``python -m tests.bench``: queries per second of the server's own CPU time, beside other servers in the same run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench.live.measures import Churn, LiveCluster, measure_costs, measure_delays, measure_live_starts
from tests.bench.live.report import cost_lines, delay_lines, live_start_lines
from tests.bench.peers import installed
from tests.bench.rates import Effort, measure_rates
from tests.bench.report import rate_lines, scale_lines, warm_start_lines
from tests.bench.scale import measure_scale
from tests.bench.warm_start import measure_warm_starts

_ENDPOINTS = 10
_SIZES = (1000, 10_000)
_MISSING = 15_000
_STARTS = 5
_CHURN = Churn(rate=1000, seconds=10)


def main() -> None:
    """Measure everything and print it; some three minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each load on each server [5]")
    parser.add_argument("--seconds", type=float, default=0.6, help="length of a round [0.6]")
    flags = parser.parse_args()
    peers = installed()
    load = "dnsperf" if shutil.which("dnsperf") else "our own generator"
    print(f"load by {load}; load average {os.getloadavg()[0]:.2f} at the start", flush=True)
    with tempfile.TemporaryDirectory(prefix="kubedns-bench-") as folder:
        effort = Effort(flags.rounds, flags.seconds, _SIZES[-1], _ENDPOINTS, _MISSING)
        rates = measure_rates(Path(folder), peers, effort, _progress)
        print("\n".join(("", *rate_lines(rates, peers), "")), flush=True)
        _progress("memory and load time")
        print("\n".join(scale_lines(measure_scale(Path(folder), _SIZES, _ENDPOINTS, _STARTS), _ENDPOINTS)))
        warm = measure_warm_starts(Path(folder), _SIZES, _ENDPOINTS, _STARTS)
        print("\n".join(("", *warm_start_lines(warm), "")), flush=True)
        _progress("a live cluster")
        live = LiveCluster.written(Path(folder) / "live", _SIZES[-1], _ENDPOINTS)
        print("\n".join((*cost_lines(measure_costs(live)), "")), flush=True)
        print("\n".join((*live_start_lines(measure_live_starts(live, _STARTS)), "")), flush=True)
        print("\n".join(delay_lines(measure_delays(live, _CHURN), _CHURN)))
    print(f"\nload average {os.getloadavg()[0]:.2f} at the end")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\r", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
