import asyncio

import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.question import Transport
from kubedns.dns.reply import read_reply
from kubedns.errors import ConfigurationErrors
from kubedns.observe.metrics import Metrics
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.responder import Responder
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.plugins.asking import CLIENT

RECORDS = "\n".join(f'answer "{{{{ .Name }}}} 60 IN TXT {"x" * 90}{number}"' for number in range(25))
TXT_QUERY = bytes.fromhex("000701000001000000000001016100001000010000291000000000000000")
"""For a. TXT, by a client that takes 4096 octets."""


def responder(line: str) -> Responder:
    text = f".:1053 {{\n{line}\ntemplate IN TXT {{\n{RECORDS}\n}}\n}}"
    blocks = parse_corefile(text, "Corefile", DiskFiles(), {}).blocks
    resolver = next(iter(build_server(blocks, Settings()).resolvers.values()))
    metrics = Metrics().responder("dns://:1053", "udp", 1)
    return Responder(resolver, Transport.UDP, AnswerCache(1 << 20), metrics, lambda: 0.0, lambda: 0.0)


SIZES = [("", 1232, True), ("bufsize", 1232, True), ("bufsize 512", 512, True), ("bufsize 4096", 4096, False)]


@pytest.mark.parametrize(("line", "most", "truncated"), SIZES)
def test_responses_over_udp_are_no_longer_and_use_the_room(line: str, most: int, truncated: bool) -> None:
    response = asyncio.run(responder(line).resolve(TXT_QUERY, CLIENT))
    assert response
    assert len(response) <= most
    assert read_reply(response).truncated is truncated
    assert not truncated or len(response) > most - 120


@pytest.mark.parametrize("size", ["511", "4097", "many"])
def test_a_size_out_of_range_is_refused(size: str) -> None:
    with pytest.raises(ConfigurationErrors, match="Corefile:2: bufsize"):
        responder(f"bufsize {size}")
