"""A changed Corefile takes effect while queries are answered; a bad one changes nothing. Real process, real sockets."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.message
import pytest

from tests.e2e.test_probes import page
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

BLOCK = """
.:{port} {{
    bind 127.0.0.1
    reload 2s 1s
    health 127.0.0.1:{health}
    prometheus 127.0.0.1:{health}
    import rules/*
}}
"""
RULE = 'template IN A {{\n answer "{{{{ .Name }}}} 60 IN A 10.0.0.{number}"\n}}\n'


class Site:
    """A folder with a Corefile, and the process that serves by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.health = free_port(), free_port()
        self.corefile = folder / "Corefile"
        (folder / "rules").mkdir()
        self.corefile.write_text(BLOCK.format(port=self.port, health=self.health))
        self.rule(0)

    def rule(self, number: int) -> None:
        (self.folder / "rules" / "one").write_text(RULE.format(number=number))

    @contextmanager
    def served(self) -> Iterator[Running]:
        with running(["-conf", str(self.corefile)], self.port, self.folder / "log") as server:
            yield server

    def metric(self, name: str) -> float:
        lines = page(self.health, "metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def addresses(server: Running, *, tcp: bool = False) -> list[str]:
    return [str(rdata) for rrset in server.ask("a.test.", tcp=tcp).answer for rdata in rrset]


class Load:
    """Asks one query after the other over UDP and over one TCP connection until it is told to end."""

    def __init__(self, port: int) -> None:
        self.answered = 0
        self.lost = 0
        self._address = ("127.0.0.1", port)
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=ask) for ask in (self._udp, self._udp, self._tcp)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _udp(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(10)
            asking.connect(self._address)
            while not self._is_over.is_set():
                asking.send(dns.message.make_query("a.test.", "A").to_wire())
                self._take(lambda: asking.recv(4096))

    def _tcp(self) -> None:
        with socket.create_connection(self._address, timeout=10) as asking:
            while not self._is_over.is_set():
                wire = dns.message.make_query("a.test.", "A").to_wire()
                asking.sendall(len(wire).to_bytes(2) + wire)
                self._take(lambda: asking.recv(4096))

    def _take(self, receive: Callable[[], bytes]) -> None:
        try:
            got = receive()
        except OSError:
            got = b""
        if got:
            self.answered += 1
        else:
            self.lost += 1


def test_no_query_is_lost_and_counters_go_on(site: Site) -> None:
    with site.served() as server, Load(site.port) as load:
        for number in range(1, 11):
            site.rule(number)
            server.process.send_signal(signal.SIGUSR1)
            until(lambda number=number: addresses(server) == [f"10.0.0.{number}"])  # type: ignore[misc]
            assert addresses(server, tcp=True) == [f"10.0.0.{number}"]
            before = load.answered
            site.corefile.write_text(site.corefile.read_text().replace("health", "helth"))
            failed = site.metric("coredns_reload_failed_total")
            server.process.send_signal(signal.SIGHUP)
            until(lambda failed=failed: site.metric("coredns_reload_failed_total") > failed)  # type: ignore[misc]
            assert addresses(server) == [f"10.0.0.{number}"]
            site.corefile.write_text(BLOCK.format(port=site.port, health=site.health))
            until(lambda before=before: load.answered > before + 200)  # type: ignore[misc]
        answered = load.answered
        until(lambda: site.metric("coredns_dns_requests_total") >= answered)
    assert load.lost == 0
    assert load.answered >= 2000


def test_a_change_is_seen_unasked_and_so_is_a_file_that_an_import_begins_to_match(site: Site) -> None:
    (site.folder / "rules" / "one").unlink()
    with site.served() as server:
        assert addresses(server) == []
        site.rule(7)
        until(lambda: addresses(server) == ["10.0.0.7"])
        assert site.metric('coredns_reload_version_info{hash="sha512"') == 1


def test_addresses_come_and_go_and_the_pages_stay(site: Site) -> None:
    with site.served() as server:
        more = free_port()
        text = site.corefile.read_text()
        site.corefile.write_text(f"{text}\nother.test:{more} {{\n bind 127.0.0.1\n any\n}}\n")
        server.process.send_signal(signal.SIGUSR1)
        other = Running(server.process, more, server.log)
        until(lambda: b"in force" in server.log.read_bytes())
        assert other.ask("x.other.test.", "ANY").answer
        assert page(site.health, "health") == (200, "OK")
        site.corefile.write_text(text)
        server.process.send_signal(signal.SIGUSR1)
        until(lambda: server.log.read_bytes().count(b"in force") == 2)
        with socket.create_server(("127.0.0.1", more)):
            assert page(site.health, "health") == (200, "OK")


def test_a_port_that_is_taken_leaves_everything_as_it_was(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder, site.served() as server:
        taken = holder.getsockname()[1]
        site.rule(9)
        text = site.corefile.read_text()
        site.corefile.write_text(f"{text}\nother.test:{taken} {{\n bind 127.0.0.1\n any\n}}\n")
        server.process.send_signal(signal.SIGUSR1)
        until(lambda: "the port is taken" in server.log.read_text())
        assert addresses(server) == ["10.0.0.0"]
        assert site.metric("coredns_reload_failed_total") == 1
        site.corefile.write_text(text)
        server.process.send_signal(signal.SIGUSR1)
        until(lambda: addresses(server) == ["10.0.0.9"])


def test_many_changes_leave_no_descriptors_behind(site: Site) -> None:
    with site.served() as server:

        def descriptors() -> int:
            return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))

        counts = []
        for number in range(1, 41):
            site.rule(number)
            server.process.send_signal(signal.SIGUSR1)
            until(lambda number=number: addresses(server) == [f"10.0.0.{number}"])  # type: ignore[misc]
            counts.append(descriptors())
        assert counts[-1] <= counts[1] + 2
