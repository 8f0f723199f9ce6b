"""The short form of the fuzzing: thousands of broken messages, and the server lives on as it was."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.messages import Messages
from tests.fuzz.onslaught import Onslaught
from tests.fuzz.reaction import check_reaction
from tests.support.footprint import footprint
from tests.support.process import free_port, running

CLUSTER = Path(__file__).parent.parent / "conformance" / "cluster.yaml"
SEED = 20260
MOST_GROWTH_KIB = 16 << 10
"""Of a server whose answer cache is still filling."""


def test_the_reader_raises_nothing_and_what_is_written_is_sound() -> None:
    messages = Messages(SEED)
    for seed in messages.seeds:
        check_reaction(seed)
    for _ in range(1500):
        check_reaction(messages.next())


def test_a_server_outlives_broken_messages(tmp_path: Path) -> None:
    port = free_port()
    arguments = ["serve", "--manifests", str(CLUSTER), "--port", str(port)]
    with running(arguments, port, tmp_path / "log") as server:
        onslaught = Onslaught(server, Messages(SEED))
        onslaught.over_udp(2000)
        onslaught.over_tcp(200)
        before = footprint(server.process.pid)
        onslaught.over_udp(20_000)
        onslaught.over_tcp(2000)
        onslaught.settled(before, MOST_GROWTH_KIB)
        assert {"NOERROR", "NXDOMAIN", "REFUSED", "FORMERR", "NOTIMP"} <= set(onslaught.reactions)
        assert server.stop() == 0


def test_the_same_seed_gives_the_same_messages() -> None:
    first, second, other = Messages(1), Messages(1), Messages(2)
    given = [first.next() for _ in range(50)]
    assert given == [second.next() for _ in range(50)]
    assert given != [other.next() for _ in range(50)]
