"""Runs the server as a user does, in a process of its own, on ports that are free."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dns.exception
import dns.message
import dns.query

PATIENCE_SECONDS = 60.0
"""How long anything may take before a test gives up: ten times what a busy machine needs."""

# Not of the range that the kernel takes ports for clients from (ip(7), ip_local_port_range): whoever connects
# between our look and the server's start would have it. Processes that test side by side (PYTEST_XDIST_WORKER, gw0 and
# so on) take from places of their own, for the same reason.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = range(10_000 + _worker, 32_000, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
_candidates = iter(random.sample(_ports, len(_ports)))


@dataclass(slots=True)
class Running:
    """A server that answers on ``port`` of ``address``."""

    process: subprocess.Popen[str]
    port: int
    log: Path
    address: str = "127.0.0.1"

    def ask(self, name: str, rdtype: str = "A", *, tcp: bool = False) -> dns.message.Message:
        query = dns.message.make_query(name, rdtype)
        exchange = dns.query.tcp if tcp else dns.query.udp
        return exchange(query, self.address, timeout=PATIENCE_SECONDS, port=self.port)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)


def free_port() -> int:
    """A port of 127.0.0.1 that is free for UDP and TCP, and has not been given before."""
    return next(port for port in _candidates if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        try:
            udp.bind(("127.0.0.1", port))
            tcp.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@contextmanager
def running(
    arguments: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None, probe: str = "."
) -> Iterator[Running]:
    """``python -m kubedns ARGUMENTS`` for the length of the block; it answers ``probe`` on ``port`` from the start."""
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kubedns", *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **(environment or {})},
        )
    server = Running(process, port, log)
    try:
        _wait_for_answer(server, probe)
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _wait_for_answer(server: Running, probe: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    query = dns.message.make_query(probe, "A")
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended with {server.process.returncode}: {server.log.read_text()}")
        try:
            dns.query.udp(query, server.address, timeout=0.5, port=server.port)
        except (dns.exception.Timeout, OSError):
            time.sleep(0.02)
        else:
            return
    raise AssertionError(f"no answer on port {server.port}: {server.log.read_text()}")
