"""view: what expressions say of queries, which make none, and which server block a query comes to, kept or not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import dns.message
import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.edns import Edns
from kubedns.dns.names import parse_name
from kubedns.dns.question import Client, Query, Question, Transport
from kubedns.errors import ConfigurationErrors
from kubedns.observe.exposition import Gauges, expose
from kubedns.plugins.view_expression import parse_expression
from kubedns.resolver.responder import Responder
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.server import Server

CLIENT = Client(bytes((10, 1, 2, 3)), "10.1.2.3", 40212, Transport.UDP, "192.0.2.53")
PLAIN = Query(7, 0x0100, Question(parse_name("WWW.Example.org."), 1), None, 33, CLIENT)
SIGNED = Query(8, 0x0100, Question(parse_name("a.test."), 28, 3), Edns(0, 4096, True, ()), 60, CLIENT)

EXPRESSIONS = [
    ("true", True, True),
    ("type() == 'A'", True, False),
    ("type() != 'A'", False, True),
    ("type() in ['A', 'TXT']", True, False),
    ("type() not in ['A', 'TXT']", False, True),
    ("type() in []", False, False),
    ("class() == 'IN'", True, False),
    ("name() == 'www.example.org.'", True, False),
    ('name() endsWith ".example.org."', True, False),
    ("name() startsWith 'a.'", False, True),
    ("name() contains 'example'", True, False),
    (r"name() matches '^w+\\.example'", True, False),
    (r"name() matches '^w+\.example'", True, False),
    ("name() matches `^.\\.test\\.$`", False, True),
    ("do()", False, True),
    ("!do()", True, False),
    ("not do()", True, False),
    ("!!do()", False, True),
    ("do() == false", True, False),
    ("!do() == true", True, False),
    ("bufsize() >= 4096", False, True),
    ("bufsize() == 512", True, False),
    ("size() < 40", True, False),
    ("id() == 7 || id() > 7", True, True),
    ("opcode() == 0", True, True),
    ("port() == '40212'", True, True),
    ("proto() == 'udp'", True, True),
    ("server_ip() == '192.0.2.53'", True, True),
    ("client_ip() == '10.1.2.3'", True, True),
    ("incidr(client_ip(), '10.0.0.0/8')", True, True),
    ("incidr(client_ip(), '10.1.2.99/24')", True, True),
    ("incidr(client_ip(), '2001:db8::/32')", False, False),
    ("incidr(server_ip(), '192.0.2.0/24')", True, True),
    ("incidr(name(), '192.0.2.0/24')", False, False),
    ("type() == 'A' && do() || type() == 'AAAA' and do()", False, True),
    ("type() == 'A' || type() == 'AAAA' && !do()", True, False),
    ("(type() == 'A' or type() == 'AAAA') && !(do())", True, False),
    ("id() in [1, 7]", True, False),
    ("'it\\'s' == \"it's\"", True, True),
]


@pytest.mark.parametrize(("text", "plain", "signed"), EXPRESSIONS)
def test_what_an_expression_says_of_a_query(text: str, plain: bool, signed: bool) -> None:
    term = parse_expression(text)
    assert (term.of(PLAIN), term.of(SIGNED)) == (plain, signed)


FAULTS = [
    ("expr", "a value is needed"),
    ("expr type()", "the expression is a text, and must be a condition"),
    ("expr type() == 5", "`==` compares a text with a number"),
    ("expr type() == A", "`A` is nothing"),
    ("expr type() ==", "it ends too early"),
    ("expr type( == 'A'", "`)` is missing before `==`"),
    ("expr (do()", "`)` is missing at the end"),
    ("expr do() do()", "unexpected `do`"),
    ("expr do() && type()", "what `&&` joins is a text"),
    ("expr !type()", "what `not` turns round is a text"),
    ("expr do() < true", "`<` takes a number or a text, not a condition"),
    ("expr type() in 'A'", "`in` takes a list, not a text"),
    ("expr name() matches '('", "no regular expression"),
    ("expr name() matches type()", "a regular expression in quotes"),
    ("expr name() contains 5", "compares a text with a number"),
    ("expr incidr(client_ip(), '10.0.0.0/33')", "`10.0.0.0/33` is no network"),
    ("expr incidr(client_ip())", "`,` is missing before `)`"),
    ("expr incidr(5, '10.0.0.0/8')", "needs an address and a network"),
    ("expr metadata('x') == 'y'", "no plugin here sets any"),
    ("expr server_port() == '53'", "the labels of the server block say"),
    ("expr nmae() == 'a.'", "there is no nmae()"),
    ("expr type() ? true : false", "`?` is not understood"),
    ("expr and", "unexpected `and`"),
    (f"expr {'(' * 200}true{')' * 200}", "more than 50 parentheses"),
    ("expr true\nexprs true", "Corefile:4: unknown option `exprs`"),
]


@pytest.mark.parametrize(("line", "fault"), FAULTS)
def test_what_makes_no_condition_is_told_with_its_line(line: str, fault: str) -> None:
    with pytest.raises(ConfigurationErrors) as error:
        built(f".:1053 {{\nview a {{\n{line}\n}}\nwhoami\n}}")
    assert str(error.value).startswith(("Corefile:3: ", "Corefile:4: "))
    assert fault in str(error.value)


def built(text: str) -> Server:
    return build_server(parse_corefile(text, "Corefile", DiskFiles(), {}).blocks, Settings())


ANSWERS = 'template IN ANY {{\nanswer "{{{{ .Name }}}} 60 IN A 192.0.2.{}"\n}}'


def block(number: int, *expressions: str, label: str = "test:1053") -> str:
    view = "".join(f"expr {each}\n" for each in expressions)
    view = f"view v{number} {{\n{view}}}\n" if expressions else ""
    return f"{label} {{\n{view}{ANSWERS.format(number)}\n}}\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of a client, and the number of the server block that is to answer it; 0: none."""

    client: str
    number: int
    name: str = "a.test."
    rdtype: str = "A"
    ident: int = 1


INSIDE = "incidr(client_ip(), '10.0.0.0/8')"
ROUTES = {
    "by network": (
        [block(1, INSIDE), block(2, "incidr(client_ip(), '192.168.0.0/16')"), block(3)],
        [Asked("10.1.2.3", 1), Asked("192.168.1.1", 2), Asked("172.16.0.1", 3), Asked("10.9.9.9", 1)],
    ),
    "the first that fits": (
        [block(1, "type() == 'A'"), block(2, "true"), block(3)],
        [Asked("10.1.2.3", 1), Asked("10.1.2.3", 2, rdtype="AAAA")],
    ),
    "all lines must hold": (
        [block(1, INSIDE, "type() == 'A'"), block(2)],
        [Asked("10.1.2.3", 1), Asked("172.16.0.1", 2), Asked("10.1.2.3", 2, rdtype="AAAA")],
    ),
    "by name and client": (
        [block(1, f"name() == 'a.test.' && {INSIDE}"), block(2)],
        [
            Asked("10.1.2.3", 1),
            Asked("10.1.2.3", 2, "b.test."),
            Asked("172.16.0.1", 2),
            Asked("172.16.0.1", 2, "b.test."),
        ],
    ),
    "by address": (
        [block(1, "client_ip() == '10.1.2.3'"), block(2)],
        [Asked("10.1.2.3", 1), Asked("10.1.2.4", 2), Asked("10.1.2.3", 1)],
    ),
    "none fits": ([block(1, INSIDE)], [Asked("10.1.2.3", 1), Asked("172.16.0.1", 0)]),
    "a shorter zone's": (
        [block(1, INSIDE), block(2, label=".:1053")],
        [Asked("10.1.2.3", 1), Asked("172.16.0.1", 2), Asked("10.1.2.3", 2, "a.other.")],
    ),
    "by what is asked anew each time": (
        [block(1, "id() == 1"), block(2)],
        [Asked("10.1.2.3", 1), Asked("10.1.2.3", 2, ident=2), Asked("10.1.2.3", 1)],
    ),
}


@pytest.mark.parametrize(("blocks", "asked"), ROUTES.values(), ids=ROUTES)
def test_which_server_block_answers_whom(blocks: list[str], asked: list[Asked]) -> None:
    server = built("".join(blocks))
    resolver = next(iter(server.resolvers.values()))
    metrics = server.lasting.metrics
    counters = metrics.responder("dns://:1053", "udp", 1)
    responder = Responder(resolver, Transport.UDP, server.lasting.cache, counters, lambda: 0.5, lambda: 1.0)

    async def answers() -> list[int]:
        found = []
        for each in asked:
            packed = bytes(map(int, each.client.split(".")))
            octets = dns.message.make_query(each.name, each.rdtype, id=each.ident).to_wire()
            serve = responder.find(packed)(octets[2:])
            client = Client(packed, each.client, 4000, Transport.UDP)
            response = octets[:2] + serve() if serve else await responder.resolve(octets, client)
            answer = dns.message.from_wire(response or b"").answer
            found.append(int(answer[0].to_text().rpartition(".")[2]) if answer else 0)
        return found

    for _ in range(3):  # worked out, and kept
        assert asyncio.run(answers()) == [each.number for each in asked]
    server.lasting.cache.settle()
    views = {labels.where.view for labels in counters.responses}
    written = "".join(blocks)
    assert views - {""} == {f"v{each.number}" for each in asked if f"view v{each.number} " in written}
    shown = expose(metrics, Gauges())
    assert all(f'view="{view}"' in shown for view in views)


OVERLAPS = [
    ([block(1, INSIDE), block(2, "true"), block(3)], ""),
    ([block(1, INSIDE), block(2, INSIDE)], ""),
    ([block(1), block(2, INSIDE)], "is already served by the block at Corefile:1"),
    ([block(1, INSIDE), block(2), block(3)], "is already served by the block at Corefile:9"),
]


@pytest.mark.parametrize(("blocks", "fault"), OVERLAPS)
def test_blocks_below_one_that_takes_all_would_never_be_asked(blocks: list[str], fault: str) -> None:
    if not fault:
        assert built("".join(blocks))
        return
    with pytest.raises(ConfigurationErrors) as error:
        built("".join(blocks))
    assert fault in str(error.value)
    assert "give the first a `view`" in str(error.value)


QUOTED = ["\"type() == 'A'\"", 'type() == "A"', 'name() == "a.test." or type() in ["A"]']


@pytest.mark.parametrize("text", QUOTED)
def test_quotes_of_the_corefile_are_no_hindrance(text: str, tmp_path: Path) -> None:
    server = built(block(1, text))
    resolver = next(iter(server.resolvers.values()))
    (chain,) = resolver.chains
    assert chain.view is not None
    assert chain.view.takes(PLAIN)
