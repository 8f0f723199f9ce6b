"""What the bench prints of a live cluster: the server beside the least that a client of the API can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.bench.live.measures import BARE, OWN, Churn, Cost, Delay, LiveStart
from tests.bench.report import MOST_OCTETS, verdict

LONGEST_MILLISECONDS = 50.0
"""From a change at the API to the changed answer, for 99 of 100."""


def cost_lines(found: Mapping[str, Cost]) -> Iterator[str]:
    """Microseconds of CPU time for one object."""
    yield f"{'us of CPU per object':24}{'objects':>10}{'decode':>10}{'+ store':>10}"
    for plural, cost in found.items():
        yield f"{plural:24}{cost.objects:>10,}{cost.decode:>10.1f}{cost.store:>10.1f}"


def live_start_lines(found: Mapping[str, LiveStart]) -> Iterator[str]:
    """Time to the first answer that rests on whole lists, and memory."""
    yield f"{'lists through the API':24}{'CPU s to first answer':>24}{'wall s':>8}{'MB':>7}{'peak':>7}"
    for peer, start in found.items():
        times = f"{start.cpu_seconds:>24.2f}{start.wall_seconds:>8.2f}"
        yield f"{peer:24}{times}{start.octets / (1 << 20):>7.0f}{start.peak_octets / (1 << 20):>7.0f}"
    own = found[OWN]
    yield f"{f'times as long as the {BARE}':48} {own.wall_seconds / found[BARE].wall_seconds:5.1f}"
    aim = f"through the API: at most {MOST_OCTETS >> 20} MB"
    yield f"{aim:48} {own.octets >> 20:5}  {verdict(own.octets <= MOST_OCTETS)}"


def delay_lines(found: Mapping[str, Delay], churn: Churn) -> Iterator[str]:
    """From change to changed answer."""
    yield f"{f'{churn.rate:,} changes a second':24}{'p50 ms':>10}{'p99 ms':>10}{'queries':>10}{'lost':>7}"
    for peer, delay in found.items():
        times = f"{delay.milliseconds(50):>10.2f}{delay.milliseconds(99):>10.2f}"
        yield f"{peer:24}{times}{delay.asked:>10,}{delay.lost:>7}"
    own = found[OWN]
    longest = own.milliseconds(99)
    aim = f"change to answer: p99 at most {LONGEST_MILLISECONDS:.0f} ms"
    yield f"{aim:48} {longest:5.1f}  {verdict(longest <= LONGEST_MILLISECONDS)}"
    yield f"{'no query lost, every change seen':48} {own.lost + own.unseen:5}  {verdict(not own.lost + own.unseen)}"
