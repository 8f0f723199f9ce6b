from kubedns.dns.answer import Answer
from kubedns.dns.question import Client, Transport
from kubedns.plugins.whoami import Whoami
from tests.plugins.asking import ask, query_for

REST = Answer(plugin="rest")


def shown(answer: Answer) -> list[str]:
    return [line for rrset in answer.additional for line in rrset.lines()]


def test_clients_are_told_their_address_and_port() -> None:
    answer = ask(Whoami(), query_for("a.test."), REST)
    assert shown(answer) == ["a.test. 0 IN A 10.1.2.3", "_udp.a.test. 0 IN SRV 0 0 40212 ."]
    assert answer.varies_by_client
    six = ask(Whoami(), query_for("a.test.", "AAAA", Client(bytes(15) + b"\1", "::1", 9, Transport.TCP)), REST)
    assert shown(six) == ["a.test. 0 IN AAAA ::1", "_tcp.a.test. 0 IN SRV 0 0 9 ."]


def test_a_name_without_room_for_the_port_gets_the_address_alone() -> None:
    longest = ".".join(["a" * 63] * 3 + ["b" * 61]) + "."
    assert len(shown(ask(Whoami(), query_for(longest), REST))) == 1


def test_other_types_go_on() -> None:
    assert ask(Whoami(), query_for("a.test.", "TXT"), REST) is REST
