"""explain and records of a running server: what they print is what they print of the same manifests."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubedns.cli.main import main
from tests.e2e.test_reload import until
from tests.support.process import Running, free_port, running

DEMO = Path(__file__).parent.parent.parent / "zones" / "demo"
COREFILE = "{zone}:{port} {{\n    bind 127.0.0.1\n    kubernetes {{\n        manifests {manifests}\n    }}\n}}\n"
SERIAL = re.compile(r"\b1\d{9}\b")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs, and where its admin endpoint is."""

    process: Running
    admin: str


@contextmanager
def served(flags: list[str], log: Path) -> Iterator[Served]:
    port, admin = free_port(), f"127.0.0.1:{free_port()}"
    with running(["serve", *flags, "--port", str(port), "--admin", admin], port, log) as process:
        yield Served(process, admin)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(["--manifests", str(DEMO)], tmp_path_factory.mktemp("admin") / "log") as found:
        yield found


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = main(words)
    said = capsys.readouterr()
    return status, SERIAL.sub("SERIAL", said.out), said.err


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["explain", "hostnames-0.hostnames"], 0),
        (["explain", "web", "--namespace", "shop", "-o", "json"], 0),
        (["explain", "_http._tcp.web.shop", "SRV", "--color", "always"], 0),
        (["explain", "10.96.0.10", "--color", "never"], 1),
        (["explain", "nothing", "AAAA"], 1),
        (["explain", "web", "--search", "shop.svc.cluster.local", "--search", "b.test", "--ndots", "1"], 0),
        (["explain", "web.", "TYPE65"], 1),
        (["records"], 0),
        (["records", "-o", "table"], 0),
        (["records", "-o", "json", "--only", "in-addr.arpa"], 0),
        (["records", "--only", "example"], 2),
        (["records", "--only", "a..b"], 2),
        (["explain", "web", "-n", "a.b"], 2),
        (["explain", "a..b"], 2),
    ],
    ids=str,
)
def test_what_is_printed_is_the_same(
    words: list[str], status: int, demo: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    local = printed([*words, "--manifests", str(DEMO)], capsys)
    told = printed([*words, "--admin", demo.admin], capsys)
    assert local[:2] == told[:2]
    assert told[0] == status
    assert local[2].count("\n") == told[2].count("\n") == (status == 2)


def test_what_to_try_is_said_with_the_admin_s_address(demo: Served) -> None:
    assert f"  kubedns explain hostnames --admin {demo.admin}\n" in demo.process.log.read_text()


def test_it_is_the_server_that_is_at_work_that_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corefile = tmp_path / "Corefile"
    port, admin = free_port(), f"127.0.0.1:{free_port()}"
    corefile.write_text(COREFILE.format(zone="old.test", port=port, manifests=DEMO))
    with running(["serve", "--conf", str(corefile), "--admin", admin], port, tmp_path / "log") as process:
        assert main(["explain", "web.shop", "--admin", admin]) == 0
        assert "web.shop.svc.old.test. 5 IN A" in capsys.readouterr().out
        corefile.write_text(COREFILE.format(zone="new.test", port=port, manifests=DEMO))
        process.process.send_signal(signal.SIGHUP)
        until(lambda: main(["records", "--only", "new.test", "--admin", admin]) == 0)
        capsys.readouterr()
        assert main(["explain", "web.shop", "--admin", admin]) == 0
        assert "web.shop.svc.new.test. 5 IN A" in capsys.readouterr().out
        assert process.stop() == 0


def test_records_of_a_cluster_that_is_not_listed_are_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corefile = tmp_path / "Corefile"
    port, admin = free_port(), f"127.0.0.1:{free_port()}"
    options = "endpoint http://127.0.0.1:1\n        startup_timeout 1ms"
    corefile.write_text(COREFILE.format(zone="a.test", port=port, manifests="x").replace("manifests x", options))
    with running(["serve", "--conf", str(corefile), "--admin", admin], port, tmp_path / "log"):
        assert main(["records", "--admin", admin]) == 3
        line = "kubedns: the cluster cannot be listed; until it can, its names are not known\n"
        assert capsys.readouterr().err == line
        assert main(["explain", "web.a.test.", "--admin", admin]) == 1
        assert "SERVFAIL" in capsys.readouterr().out


@contextmanager
def telling(head: bytes) -> Iterator[str]:
    """Somebody who says this to the first who asks, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def tell() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head)

        thread = threading.Thread(target=tell)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


BROKEN = b"HTTP/1.1 200 OK\r\nKubedns-Status: 0\r\nTransfer-Encoding: chunked\r\n\r\n"
ROW = b'["a.test.",5,"A","10.0.0.1"]\n'


@pytest.mark.parametrize("command", [["explain", "web"], ["records"]], ids=str)
@pytest.mark.parametrize(
    ("head", "line"),
    [
        (b"", "is no admin endpoint of kubedns; name the address that the server got with `--admin`"),
        (b"\0\x0c\0\0", "is no admin endpoint"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK", "is no admin endpoint"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "is no admin endpoint"),
        (BROKEN + b"%x\r\n%b\r\n" % (len(ROW), ROW), "has ended before it had told all"),
        (BROKEN + b"ff\r\n%b" % ROW, "has ended before it had told all"),
        (BROKEN + b"%x\r\n%b" % (len(ROW), ROW[:9]), "has ended before it had told all"),
        (
            b"HTTP/1.1 500 Oh\r\nKubedns-Status: 3\r\nContent-Length: 19\r\n\r\nerror in the server",
            "kubedns: error in the server",
        ),
    ],
)
def test_whoever_else_listens_there_is_told_apart(
    command: list[str], head: bytes, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with telling(head) as address:
        assert main([*command, "--admin", address]) == 3
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", [["explain", "web"], ["records"]], ids=str)
def test_where_nobody_listens_the_remedy_is_told(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    address = f"127.0.0.1:{free_port()}"
    assert main([*command, "--admin", address]) == 3
    remedy = f"start the server with `kubedns serve --admin {address}`"
    assert capsys.readouterr().err == f"kubedns: nothing listens on {address} (admin); {remedy}\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["records", "--admin", "127.0.0.1", "--manifests", "x"], "--manifests goes without --admin"),
        (["explain", "web", "--admin", "::1", "--ttl", "5"], "--ttl goes without --admin"),
        (["records", "--admin", "kubedns"], "'kubedns' is no IP address"),
        (["serve", "--manifests", str(DEMO), "--admin", "0.0.0.0"], "0.0.0.0 is no address of loopback, such as"),
        (["serve", "--manifests", str(DEMO), "--admin", "[2001:db8::1]:9154"], "2001:db8::1 is no address of loopback"),
    ],
)
def test_a_wrong_call_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_taken_admin_address_ends_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        admin = f"localhost:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "kubedns", "serve", "--manifests", str(DEMO)]
        command += ["--port", str(free_port()), "--admin", admin]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"kubedns: cannot listen on {admin.replace('localhost', '127.0.0.1')} (admin): ")
    assert done.stderr.count("\n") == 1


def test_rows_of_another_kind_are_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    with telling(BROKEN + b"3\r\n{}\n\r\n0\r\n\r\n") as address:
        assert main(["records", "--admin", address]) == 3
    assert "is no admin endpoint" in capsys.readouterr().err
