"""The resolver and its responder over hand-made plugins."""

import random
import struct
from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
import pytest

from kubedns.dns.answer import Answer, Rcode, cname, data, nxdomain
from kubedns.dns.names import Name, parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.dns.rdata import SOA, SRV, A, RecordType
from kubedns.dns.rrset import RRset
from kubedns.observe.metrics import Metrics, Where
from kubedns.plugins.plugin import Next, Plugin
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.chain import make_chain
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.responder import Responder
from kubedns.resolver.trace import RecordingTrace

ZONE = parse_name("test.")
CLIENT = Client(b"\x7f\0\0\x01", "127.0.0.1", 5353, Transport.UDP)
SOA_SET = RRset(ZONE, 5, (SOA(ZONE, ZONE, 1, 2, 3, 4, 5),))


def drive(coroutine: object) -> object:
    """The result of a coroutine that never waits."""
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)  # type: ignore[attr-defined]
    return stop.value.value


class Table:
    """A plugin that answers from a table of functions by the first label."""

    word = "table"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.address = 1
        self.during: Callable[[], None] | None = None

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        name = query.question.name
        self.asked.append(str(name))
        label = name.key[0].decode()
        key = frozenset({label})
        match label:
            case "a":
                if self.during:
                    self.during()
                return data((RRset(name, 5, (A(bytes((10, 0, 0, self.address))),)),), key)
            case "many":
                rdatas = tuple(A(bytes((10, 0, 0, octet))) for octet in range(3))
                return Answer(answer=(RRset(name, 5, rdatas),), depends_on=key, shuffled=True)
            case "ranked":
                rdatas = tuple(A(bytes((10, 0, 0, octet))) for octet in range(3))
                return Answer(
                    answer=(RRset(name, 5, rdatas),), shuffled=True, rank=lambda rdata: str(rdata) != "10.0.0.2"
                )
            case "aliasranked":
                return cname(name, parse_name("ranked.test."), 5, key)
            case "unwritable":
                return data((RRset(name, 5, (SRV(0, 1, 1, Name((b"x" * 64,), (b"x" * 64,))),)),), key)
            case "alias":
                return cname(name, parse_name("a.test."), 5, key)
            case "outside":
                return cname(name, parse_name("www.example."), 5, key)
            case "broken":
                return cname(name, parse_name("missing.test."), 5, key)
            case "loop":
                return cname(name, parse_name("pool.test."), 5, key)
            case "pool":
                return cname(name, parse_name("loop.test."), 5, key)
            case "once":
                return Answer(answer=(RRset(name, 5, (A(bytes(4)),)),), varies_by_client=True)
            case "brief":
                return Answer(answer=(RRset(name, 5, (A(bytes(4)),)),), lifetime_seconds=2.0)
            case "silent":
                return Answer(silent=True)
            case "raise":
                raise RuntimeError("a bug")
            case "pass":
                return await next_plugin(query)
        return nxdomain(SOA_SET, key)


class Server:
    def __init__(self, *plugins: Plugin, transport: Transport = Transport.UDP) -> None:
        self.table = Table()
        self.cache = AnswerCache(1 << 20)
        self.metrics = Metrics()
        self.now = 100.0
        self.resolver = Resolver([make_chain([ZONE], [*plugins, self.table])], self.metrics)
        counters = self.metrics.responder("dns://:53", transport.value, 1)
        chance = random.Random(1)
        self.responder = Responder(
            self.resolver, transport, self.cache, counters, random=chance.random, clock=lambda: self.now
        )

    def send(self, octets: bytes, client: Client = CLIENT) -> bytes | None:
        serve = self.responder.find(client.address)(octets[2:])
        if serve is not None:
            self.responder.served(1, 0.001)
            return octets[:2] + serve()
        response = drive(self.responder.resolve(octets, client))
        assert response is None or isinstance(response, bytes)
        return response

    def ask(self, name: str, rdtype: str = "A", client: Client = CLIENT, **edns: object) -> dns.message.Message:
        query = dns.message.make_query(name, rdtype, **edns)  # type: ignore[arg-type]
        response = self.send(query.to_wire(), client)
        assert response is not None
        return dns.message.from_wire(response)


def addresses(message: dns.message.Message) -> list[str]:
    return sorted(rdata.to_text() for rrset in message.answer for rdata in rrset)


ANSWERS = [
    ("a.test.", "A", "NOERROR", ["10.0.0.1"], True),
    ("alias.test.", "A", "NOERROR", ["10.0.0.1", "a.test."], True),
    ("alias.test.", "CNAME", "NOERROR", ["a.test."], True),
    ("outside.test.", "A", "NOERROR", ["www.example."], True),
    ("broken.test.", "A", "NXDOMAIN", ["missing.test."], True),
    ("loop.test.", "A", "SERVFAIL", [], False),
    ("raise.test.", "A", "SERVFAIL", [], False),
    ("unwritable.test.", "SRV", "SERVFAIL", [], False),
    ("pass.test.", "A", "REFUSED", [], False),
    ("www.example.", "A", "REFUSED", [], False),
    ("a.test.", "AXFR", "REFUSED", [], False),
    ("test.", "IXFR", "REFUSED", [], False),
]


@pytest.mark.parametrize(("name", "rdtype", "rcode", "records", "authoritative"), ANSWERS)
@pytest.mark.filterwarnings("ignore")
def test_answers(name: str, rdtype: str, rcode: str, records: list[str], authoritative: bool) -> None:
    response = Server().ask(name, rdtype)
    assert dns.rcode.to_text(response.rcode()) == rcode
    assert addresses(response) == records
    assert bool(response.flags & dns.flags.AA) is authoritative


@pytest.mark.parametrize("name", ["raise.test.", "unwritable.test."])
def test_errors_in_the_program_are_counted_and_told_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server()
    server.ask(name)
    server.ask(name)
    assert server.metrics.panics == 2
    (record,) = caplog.records
    assert f"{name} A" in record.getMessage()
    assert record.exc_info


def test_other_classes_are_refused_before_any_plugin() -> None:
    server = Server()
    octets = bytearray(dns.message.make_query("a.test.", "A").to_wire())
    octets[-1] = 3
    response = server.send(bytes(octets))
    assert response is not None
    assert response[3] & 15 == Rcode.REFUSED
    assert not server.table.asked


def test_a_silent_answer_sends_nothing_and_is_not_kept() -> None:
    server = Server()
    for _ in range(2):
        assert server.send(dns.message.make_query("silent.test.", "A").to_wire()) is None
    assert server.table.asked == ["silent.test."] * 2


def test_a_finished_answer_is_served_again_until_what_it_rests_on_changes() -> None:
    server = Server()
    for _ in range(5):
        assert addresses(server.ask("alias.test.")) == ["10.0.0.1", "a.test."]
    assert server.table.asked == ["alias.test.", "a.test."]
    server.table.address = 2
    server.cache.drop(["a"])
    assert addresses(server.ask("alias.test.")) == ["10.0.0.2", "a.test."]


def test_an_answer_made_across_a_change_is_given_but_not_kept() -> None:
    server = Server()
    server.table.during = lambda: server.cache.drop(["other"])
    server.ask("a.test.")
    assert len(server.cache) == 0


KEPT = [("once.test.", 2), ("raise.test.", 2), ("a.test.", 1), ("nosuch.test.", 1)]


@pytest.mark.parametrize(("name", "times"), KEPT)
def test_what_is_kept(name: str, times: int) -> None:
    server = Server()
    for _ in range(2):
        server.ask(name)
    assert len(server.table.asked) == times


def test_lifetimes_end_with_the_tick() -> None:
    server = Server()
    server.ask("brief.test.")
    server.now += 1.9
    server.responder.tick()
    assert len(server.cache) == 1
    server.now += 0.2
    server.responder.tick()
    assert len(server.cache) == 0


def test_case_and_edns_make_answers_of_their_own() -> None:
    server = Server()
    for name in ("a.test.", "A.test.", "a.TEST."):
        assert server.ask(name).answer[0].name.to_text() == name
    assert server.ask("a.test.", use_edns=0, payload=1400).edns == 0
    assert server.ask("a.test.").edns == -1
    assert len(server.cache) == 4


def test_options_share_the_plain_answer() -> None:
    server = Server()
    for cookie in range(10):
        option = dns.edns.GenericOption(dns.edns.OptionType.COOKIE, struct.pack("!Q", cookie))
        response = server.ask("a.test.", use_edns=0, options=[option])
        assert addresses(response) == ["10.0.0.1"]
    assert len(server.table.asked) == 1
    assert len(server.cache) == 1


def test_several_records_are_served_in_changing_order() -> None:
    server = Server()
    firsts = {server.ask("many.test.").answer[0][0].to_text() for _ in range(3)}
    assert firsts == {"10.0.0.0", "10.0.0.1", "10.0.0.2"}
    assert len(server.table.asked) == 1


@pytest.mark.parametrize("name", ["ranked.test.", "aliasranked.test."])
def test_a_lower_rank_comes_first_each_time(name: str) -> None:
    server = Server()
    firsts = {server.ask(name).answer[-1][0].to_text() for _ in range(9)}
    assert firsts == {"10.0.0.2"}


def test_every_response_is_counted_once() -> None:
    server = Server()
    for _ in range(3):
        server.ask("a.test.")
    server.ask("once.test.")
    server.ask("www.example.", "TYPE999")
    server.send(b"\0\1\x28\0" + bytes(8))
    server.cache.settle()
    (counters,) = server.metrics.responders
    counted = {(labels.where.zone, labels.type, labels.rcode): count for labels, count in counters.responses.items()}
    assert counted == {
        ("test.", "A", "NOERROR"): 4,
        ("dropped", "other", "REFUSED"): 1,
        ("dropped", "other", "NOTIMP"): 1,
    }
    counters.settle()
    for zone, count in (("test.", 4), ("dropped", 2)):
        measured = counters.zones[Where(zone)]
        counts = [measured.durations.count, measured.request_octets.count, measured.response_octets.count]
        assert counts == [count] * 3


class Judge:
    word = "judge"

    def client_class(self, address: bytes) -> bool:
        return address[3] % 2 == 1

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        if query.client.address[3] % 2 == 0:
            return Answer(rcode=Rcode.REFUSED)
        return await next_plugin(query)


def test_clients_treated_unalike_share_no_answer() -> None:
    server = Server(Judge())
    assert server.responder.is_client_sensitive
    for octet in (1, 2, 3, 4, 1, 2):
        client = Client(bytes((127, 0, 0, octet)), f"127.0.0.{octet}", 1, Transport.UDP)
        assert bool(addresses(server.ask("a.test.", client=client))) is (octet % 2 == 1)
    assert server.table.asked == ["a.test."]


class Listener:
    word = "listener"

    def __init__(self, observes_all: bool) -> None:
        self.observes_all = observes_all
        self.heard: list[tuple[str, int]] = []

    def observe(self, query: Query, answer: Answer, response: bytes, seconds: float) -> None:
        self.heard.append((str(query.question), int(answer.rcode)))


@pytest.mark.parametrize(("observes_all", "heard"), [(True, 3), (False, 1)])
def test_observers_hear_of_responses(observes_all: bool, heard: int) -> None:
    listener = Listener(observes_all)
    server = Server(listener)
    for _ in range(3):
        server.ask("a.test.")
    assert listener.heard == [("a.test. A", 0)] * heard
    assert server.table.asked == ["a.test."]


def test_the_trace_hears_the_way() -> None:
    trace = RecordingTrace()
    answer = drive(Server().resolver.lookup(Question(parse_name("alias.test."), RecordType.A), CLIENT, trace))
    assert isinstance(answer, Answer)
    texts = [str(event) for event in trace.events]
    assert any("server block of test." in text for text in texts)
    assert any("alias is followed to a.test." in text for text in texts)


def test_tcp_is_not_bound_by_the_udp_size() -> None:
    class Large:
        word = "large"

        async def answer(self, query: Query, next_plugin: Next) -> Answer:
            rdatas = tuple(A(bytes((10, 0, 0, octet))) for octet in range(100))
            return data((RRset(query.question.name, 5, rdatas),), frozenset())

    assert len(addresses(Server(Large()).ask("x.test."))) == 30
    assert len(addresses(Server(Large(), transport=Transport.TCP).ask("x.test."))) == 100
