"""Asks a plugin, with a chain behind it that gives one answer."""

from __future__ import annotations

from kubedns.dns.answer import Answer
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.dns.rdata import TYPE_NUMBERS
from kubedns.plugins.plugin import Plugin
from kubedns.resolver.chain import make_chain

CLIENT = Client(bytes((10, 1, 2, 3)), "10.1.2.3", 40212, Transport.UDP)


def query_for(name: str, rdtype: str = "A", client: Client = CLIENT) -> Query:
    return Query(7, 0x0100, Question(parse_name(name), TYPE_NUMBERS[rdtype]), None, 44, client)


class Rest:
    """The rest of the chain."""

    word = "rest"

    def __init__(self, given: Answer) -> None:
        self.given = given

    async def answer(self, query: Query, next_plugin: object) -> Answer:
        return self.given


def ask(plugin: Plugin, query: Query, rest: Answer) -> Answer:
    chain = make_chain([parse_name(".")], [plugin, Rest(rest)])
    coroutine = chain.first(query)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        answer = stop.value
        assert isinstance(answer, Answer)
        return answer
    raise AssertionError("the plugin waits")
