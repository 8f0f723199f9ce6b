"""DNS over TLS and HTTPS from a real process, asked by foreign clients, while certificates and Corefile change."""

from __future__ import annotations

import base64
import http.client
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.flags
import dns.message
import dns.query
import pytest

from tests.e2e.test_reload import until
from tests.support.certificates import AUTHORITY, client_context, write_certificate
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

BLOCKS = """
.:{plain} {{
    bind 127.0.0.1
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 192.0.2.{number}"
    }}
    template IN TXT {{
        answer "{{{{ .Name }}}} 60 IN TXT {long}"
    }}
}}
tls://.:{tls} https://.:{https} {{
    bind 127.0.0.1
    tls cert.pem key.pem
    timeouts {{
        idle 1m
    }}
    template IN A {{
        answer "{{{{ .Name }}}} 60 IN A 192.0.2.{number}"
    }}
    template IN TXT {{
        answer "{{{{ .Name }}}} 60 IN TXT {long}"
    }}
}}
"""
LONG = " ".join(rf"\"{'x' * 250}\"" for _ in range(20))


class Site:
    """A folder with a Corefile and certificates; the ports that are served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plain, self.tls, self.https = free_port(), free_port(), free_port()
        write_certificate(folder)
        AUTHORITY.cert_pem.write_to_path(folder / "trusted.pem")
        self.write(1)

    def write(self, number: int) -> None:
        ports = {"plain": self.plain, "tls": self.tls, "https": self.https}
        (self.folder / "Corefile").write_text(BLOCKS.format(**ports, number=number, long=LONG))

    def request(self, path: str, method: str = "GET", body: bytes = b"", kind: str = "") -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.https, timeout=PATIENCE_SECONDS, context=client_context()
        )
        connection.request(method, path, body or None, {"content-type": kind} if kind else {})
        reply = connection.getresponse()
        reply.content = reply.read()  # type: ignore[attr-defined]
        connection.close()
        return reply


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("encrypted"))


@pytest.fixture(scope="module")
def server(site: Site) -> Iterator[Running]:
    with running(["-conf", str(site.folder / "Corefile")], site.plain, site.folder / "log") as serving:
        yield serving


def over_tls(site: Site, name: str = "a.test.", rdtype: str = "A") -> dns.message.Message:
    query = dns.message.make_query(name, rdtype)
    host = "127.0.0.1"
    return dns.query.tls(query, host, PATIENCE_SECONDS, site.tls, ssl_context=client_context(), server_hostname=host)


def path_for(name: str, rdtype: str = "A") -> tuple[str, dns.message.Message]:
    query = dns.message.make_query(name, rdtype, id=0)
    return "/dns-query?dns=" + base64.urlsafe_b64encode(query.to_wire()).decode().rstrip("="), query


@pytest.mark.parametrize("rdtype", ["A", "TXT", "AAAA"])
def test_every_transport_gives_the_same_answer(site: Site, server: Running, rdtype: str) -> None:
    plain = server.ask("a.test.", rdtype, tcp=True)
    for _ in range(2):
        secured = over_tls(site, "a.test.", rdtype)
        assert (secured.rcode(), secured.answer) == (plain.rcode(), plain.answer)
        path, query = path_for("a.test.", rdtype)
        for reply in (
            site.request(path),
            site.request("/dns-query", "POST", query.to_wire(), "application/dns-message"),
        ):
            found = dns.message.from_wire(reply.content)  # type: ignore[attr-defined]
            assert reply.status == 200
            assert reply.headers["content-type"] == "application/dns-message"
            assert reply.headers["cache-control"] == ("max-age=60" if plain.answer else "max-age=0")
            assert query.is_response(found)
            assert (found.rcode(), found.answer) == (plain.rcode(), plain.answer)


BAD = [
    ("/", "GET", b"", "", 404),
    ("/dns-query", "GET", b"", "", 400),
    ("/dns-query?dns=AAAAAAAAAAAAAAAAAAAAAAAA", "GET", b"", "", 200),
    ("/dns-query", "PUT", b"x", "application/dns-message", 405),
    ("/dns-query", "POST", b"x" * 20, "text/plain", 415),
    ("/dns-query", "POST", b"x", "application/dns-message", 400),
    ("/dns-query", "POST", b"\xff" * 20, "application/dns-message", 400),
    ("/dns-query", "POST", bytes(70_000), "application/dns-message", 413),
]


@pytest.mark.parametrize(("path", "method", "body", "kind", "status"), BAD)
def test_a_bad_request_is_told_so_and_the_next_is_answered(
    site: Site, server: Running, path: str, method: str, body: bytes, kind: str, status: int
) -> None:
    assert site.request(path, method, body, kind).status == status
    assert site.request(path_for("a.test.")[0]).status == 200


def run(*words: str) -> str:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_curl_speaks_both_versions(site: Site, server: Running, version: str) -> None:
    shown = run(
        "curl", "-sS", f"--http{version}", "--cacert", str(site.folder / "trusted.pem"), "-o", "/dev/null",
        "-w", "%{http_version} %{response_code} %{content_type}", f"https://127.0.0.1:{site.https}{path_for('a.test.')[0]}",
    )  # fmt: skip
    assert shown == f"{version} 200 application/dns-message"


@pytest.mark.parametrize("transport", ["tls", "https"])
def test_kdig_asks_over_both(site: Site, server: Running, transport: str) -> None:
    port = site.tls if transport == "tls" else site.https
    how = "+https" if transport == "https" else "+tls"
    trusting = f"+tls-ca={site.folder / 'trusted.pem'}"
    shown = run(
        "kdig", "@127.0.0.1", "-p", str(port), how, trusting, "+tls-hostname=localhost", "+short", "a.test.", "A"
    )
    assert shown == "192.0.2.1\n"


def test_a_renewed_certificate_and_a_changed_corefile_lose_nothing(site: Site, server: Running) -> None:
    with ssl_connection(site.tls) as (kept, _):
        assert ask(kept) == "192.0.2.1"
        write_certificate(site.folder, "renewed.test", "127.0.0.1")
        until(lambda: "renewed.test" in names(site.tls))
        until(lambda: "renewed.test" in names(site.https))
        assert ask(kept) == "192.0.2.1"
        site.write(2)
        server.process.send_signal(signal.SIGUSR1)
        until(lambda: ask(kept) == "192.0.2.2")
        path, _ = path_for("a.test.")
        until(lambda: "192.0.2.2" in dns.message.from_wire(site.request(path).content).to_text())  # type: ignore[attr-defined]
        write_certificate(site.folder, "again.test", "127.0.0.1")
        until(lambda: "again.test" in names(site.tls) and "again.test" in names(site.https))
        assert ask(kept) == "192.0.2.2"


@contextmanager
def ssl_connection(port: int) -> Iterator[tuple[ssl.SSLSocket, list[str]]]:
    """A TLS connection to a port of loopback, and the names in its certificate."""
    plain = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
    with client_context().wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        shown = connection.getpeercert() or {}
        yield connection, [str(each[1]) for each in shown.get("subjectAltName", ())]


def names(port: int) -> list[str]:
    with ssl_connection(port) as (_, found):
        return found


def ask(connection: ssl.SSLSocket) -> str:
    query = dns.message.make_query("a.test.", "A").to_wire()
    connection.sendall(len(query).to_bytes(2) + query)
    octets = b""
    while len(octets) < 2 or len(octets) < 2 + int.from_bytes(octets[:2]):
        received = connection.recv(4096)
        assert received, "the connection was closed"
        octets += received
    return str(dns.message.from_wire(octets[2:]).answer[0][0])


def test_the_server_ends_in_good_order(site: Site, server: Running) -> None:
    assert server.stop() == 0
    assert "Traceback" not in server.log.read_text()
