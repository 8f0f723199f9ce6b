"""Split horizon by ``view``: each client its own answers over UDP and TCP, through a reload, and views in metrics."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import dns.message
import dns.query
import pytest

from tests.e2e.test_probes import page
from tests.e2e.test_reload import until
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

INSIDE, NEAR, OUTSIDE = "127.0.0.1", "127.1.0.1", "127.2.0.1"
COREFILE = """
(common) {{
    bind 127.0.0.1
    prometheus 127.0.0.1:{pages}
    cache
}}
test.:{port} {{
    view inside {{
        expr incidr(client_ip(), '127.0.0.0/24')
    }}
    import common
    hosts {{
        10.0.0.{number} www.test
    }}
}}
test.:{port} {{
    view near {{
        expr incidr(client_ip(), '127.1.0.0/16') and type() in ["A", "AAAA"]
    }}
    import common
    hosts {{
        10.1.0.{number} www.test
    }}
}}
test.:{port} {{
    import common
    hosts {{
        192.0.2.{number} www.test
    }}
}}
"""


def ask(server: Running, client: str, rdtype: str = "A", tcp: bool = False) -> list[str]:
    exchange = dns.query.tcp if tcp else dns.query.udp
    query = dns.message.make_query("www.test.", rdtype)
    response = exchange(query, server.address, PATIENCE_SECONDS, server.port, source=client)
    return [str(rdata) for rrset in response.answer for rdata in rrset]


@pytest.mark.parametrize("tcp", [False, True])
def test_each_client_has_its_own_answers(tcp: bool, tmp_path: Path) -> None:
    port, pages = free_port(), free_port()
    (tmp_path / "Corefile").write_text(COREFILE.format(port=port, pages=pages, number=1))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", probe="www.test.") as server:
        for number in (1, 2):
            (tmp_path / "Corefile").write_text(COREFILE.format(port=port, pages=pages, number=number))
            server.process.send_signal(signal.SIGUSR1)
            until(lambda number=number: ask(server, OUTSIDE) == [f"192.0.2.{number}"])  # type: ignore[misc]
            for _ in range(3):
                assert ask(server, INSIDE, tcp=tcp) == [f"10.0.0.{number}"]
                assert ask(server, NEAR, tcp=tcp) == [f"10.1.0.{number}"]
                assert ask(server, OUTSIDE, tcp=tcp) == [f"192.0.2.{number}"]
                assert ask(server, NEAR, "TXT", tcp=tcp) == []
        metrics = page(pages, "metrics")[1]
        for view in ("inside", "near", ""):
            counted = rf'^coredns_dns_requests_total{{[^}}]*view="{view}",?[^}}]*}} (\d+)'
            assert sum(map(int, re.findall(counted, metrics, re.MULTILINE))) > 0, view
            assert re.search(rf'^coredns_plugin_enabled{{name="hosts",[^}}]*view="{view}",', metrics, re.MULTILINE), (
                view
            )
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_client_on_a_kept_connection_stays_in_its_view(tmp_path: Path) -> None:
    port, pages = free_port(), free_port()
    (tmp_path / "Corefile").write_text(COREFILE.format(port=port, pages=pages, number=1))
    with running(["-conf", str(tmp_path / "Corefile")], port, tmp_path / "log", probe="www.test.") as server:
        connections = {}
        try:
            for client in (INSIDE, NEAR, OUTSIDE):
                connections[client] = socket.create_connection((server.address, port), PATIENCE_SECONDS, (client, 0))
            for _ in range(3):
                for client, expected in ((INSIDE, "10.0.0.1"), (OUTSIDE, "192.0.2.1"), (NEAR, "10.1.0.1")):
                    query = dns.message.make_query("www.test.", "A")
                    response = dns.query.tcp(query, server.address, PATIENCE_SECONDS, sock=connections[client])
                    assert [str(rdata) for rdata in response.answer[0]] == [expected]
        finally:
            for connection in connections.values():
                connection.close()
