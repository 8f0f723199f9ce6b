"""tls and timeouts: certificates are read, checked, read again; who listens hears of both."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationErrors
from kubedns.observe.rows import CERTIFICATE_FAILURES
from kubedns.plugins.tls import Tls
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from kubedns.server.listening import manner_of
from kubedns.server.server import Server
from kubedns.transport.limits import TcpLimits
from tests.support.certificates import AUTHORITY, client_context, write_certificate


def built(folder: Path, body: str, label: str = "tls://.") -> Server:
    text = f"{label} {{\n{body}\nwhoami\n}}"
    return build_server(parse_corefile(text, str(folder / "Corefile"), DiskFiles(), {}).blocks, Settings())


FAULTS = [
    ("tls://.", "", "tls:// needs a certificate"),
    ("https://.", "", "https:// needs a certificate"),
    ("grpc://.", "", "grpc:// is not served"),
    ("quic://.", "", "quic:// is not served"),
    ("tls://.", "tls cert.pem", "more words are needed"),
    ("tls://.", "tls cert.pem missing.pem", "tls: no file missing.pem"),
    ("tls://.", "tls cert.pem ca.pem", "tls: cert.pem, ca.pem: "),
    ("tls://.", "tls Corefile key.pem", "tls: Corefile, key.pem: "),
    ("tls://.", "tls cert.pem key.pem {\nclient_auth require\n}", "client_auth require needs a CA"),
    ("tls://.", "tls cert.pem key.pem {\nclient_auth maybe\n}", "maybe"),
    (".:1053", "timeouts {\nidle 1ms\n}", "timeouts idle"),
]


@pytest.mark.parametrize(("label", "body", "fault"), FAULTS)
def test_what_cannot_be_served_is_a_fault(tmp_path: Path, label: str, body: str, fault: str) -> None:
    write_certificate(tmp_path)
    (tmp_path / "Corefile").write_text("nothing")
    with pytest.raises(ConfigurationErrors) as error:
        built(tmp_path, body, label)
    assert fault in str(error.value)


PORTS = [("tls://.", 853), ("tls://.:1853", 1853), ("https://.", 443), (".", 53)]


@pytest.mark.parametrize(("label", "port"), PORTS)
def test_schemes_have_ports_of_their_own(tmp_path: Path, label: str, port: int) -> None:
    write_certificate(tmp_path)
    addresses = built(tmp_path, "tls cert.pem key.pem", label).resolvers
    assert {address.port for address in addresses} == {port}
    assert {address.scheme for address in addresses} == {label.partition("://")[0] if "://" in label else "dns"}


def test_timeouts_are_those_of_the_listener(tmp_path: Path) -> None:
    server = built(tmp_path, "timeouts {\nread 2s\nwrite 1m\nidle 1h\n}", ".:1053")
    (address, resolver), *_ = server.resolvers.items()
    assert manner_of(address, resolver).limits == TcpLimits(message=2, unread=60, idle=3600)
    bare = built(tmp_path, "", ".:1053")
    assert manner_of(address, next(iter(bare.resolvers.values()))).limits == TcpLimits()


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Shake hands in memory.

    Raises:
        ssl.SSLError: one of the two does not trust the other.
    """
    pipes = [ssl.MemoryBIO() for _ in range(4)]
    ends = [
        client.wrap_bio(pipes[0], pipes[1], server_hostname=name),
        server.wrap_bio(pipes[2], pipes[3], server_side=True),
    ]
    for _ in range(6):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            finally:
                pipes[2].write(pipes[1].read())
                pipes[0].write(pipes[3].read())
    # A client's certificate is judged after the handshake is over for the client (TLS 1.3).
    for end in ends:
        try:
            end.read(1)
        except ssl.SSLWantReadError:
            continue
        finally:
            pipes[2].write(pipes[1].read())
            pipes[0].write(pipes[3].read())


def plugin(server: Server) -> Tls:
    return next(each for each in server.plugins if isinstance(each, Tls))


def test_a_changed_certificate_is_shown_from_then_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_certificate(tmp_path, "old.test")
    server = built(tmp_path, "tls cert.pem key.pem")
    tls = plugin(server)
    failures = server.lasting.metrics.cell(CERTIFICATE_FAILURES, "cert.pem")
    handshake(tls.context(), client_context(), "old.test")
    write_certificate(tmp_path, "newer.test")
    look(tls)
    handshake(tls.context(), client_context(), "newer.test")
    assert failures.value == 0
    (tmp_path / "cert.pem").write_text("damaged")
    look(tls)
    handshake(tls.context(), client_context(), "newer.test")
    assert failures.value > 0
    assert "the certificate before stays in force" in caplog.text


def look(tls: Tls) -> None:
    for file in tls._watched:
        file.look()


OTHERS = trustme.CA()
CLIENTS = [
    ("nocert", None, True),
    ("require_and_verify", None, False),
    ("require_and_verify", AUTHORITY, True),
    ("require_and_verify", OTHERS, False),
    ("verify_if_given", None, True),
    ("verify_if_given", AUTHORITY, True),
    ("verify_if_given", OTHERS, False),
    ("request", None, True),
    ("require", None, False),
]


@pytest.mark.parametrize(("client_auth", "authority", "is_let_in"), CLIENTS)
def test_which_clients_are_let_in(
    tmp_path: Path, client_auth: str, authority: trustme.CA | None, is_let_in: bool
) -> None:
    write_certificate(tmp_path)
    tls = plugin(built(tmp_path, f"tls cert.pem key.pem ca.pem {{\nclient_auth {client_auth}\n}}"))
    client = client_context()
    if authority is not None:
        authority.issue_cert("client.test").configure_cert(client)
    if is_let_in:
        handshake(tls.context(), client, "localhost")
    else:
        with pytest.raises(ssl.SSLError):
            handshake(tls.context(), client, "localhost")


def test_files_are_looked_at_until_the_end(tmp_path: Path) -> None:
    async def run() -> None:
        write_certificate(tmp_path)
        server = built(tmp_path, "tls cert.pem key.pem")
        server.started()
        looking = asyncio.all_tasks() - {asyncio.current_task()}
        assert len(looking) == 2
        server.close()
        await asyncio.gather(*looking, return_exceptions=True)

    asyncio.run(run())
