"""Peers: kubedns, loops in Python that do the least, and other servers as far as they are on the machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.processes import LOAD_CORE, serving
from tests.support.process import free_port

FORWARDED = "forwarded.example"


@dataclass(frozen=True, slots=True)
class Material:
    """What servers serve: manifests, and the same names as master-file lines. ``folder``: where each may write.

    Names below :data:`FORWARDED` are asked of whoever listens on port ``upstream``; by default nobody does.
    """

    folder: Path
    manifests: tuple[Path, ...]
    records: tuple[str, ...]
    probe: str
    upstream: int = 9


@dataclass(frozen=True, slots=True, eq=False)
class Peer:
    """A server to compare. ``command`` writes its configuration into a folder and says how it is started on a port."""

    name: str
    command: Callable[[Material, Path, int], Sequence[str]]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Serving:
    """A peer at work."""

    peer: Peer
    port: int
    process: int


@contextmanager
def started(peer: Peer, material: Material) -> Iterator[Serving]:
    """The peer, serving the material."""
    port = free_port()
    folder = material.folder / peer.name
    folder.mkdir(exist_ok=True)
    command = peer.command(material, folder, port)
    with serving(command, port, material.probe, folder / "log", peer.environment) as process:
        yield Serving(peer, port, process)


@contextmanager
def upstream(folder: Path) -> Iterator[int]:
    """The port of a server that answers whatever is asked, on the core of the load: what it costs is not counted."""
    port = free_port()
    command = BARE.command(Material(folder, (), (), ""), folder, port)
    with serving(command, port, f"{FORWARDED} A", folder / "upstream.log", core=LOAD_CORE):
        yield port


def _kubedns(material: Material, folder: Path, port: int) -> Sequence[str]:
    configuration = folder / "Corefile"
    configuration.write_text(f"""\
cluster.local:{port} in-addr.arpa:{port} ip6.arpa:{port} {{
    bind 127.0.0.1
    errors
    loadbalance
    kubernetes {{
        manifests {" ".join(map(str, material.manifests))}
        pods verified
    }}
}}
.:{port} {{
    bind 127.0.0.1
    errors
    cache
    forward . 127.0.0.1:{material.upstream}
}}
""")
    return (sys.executable, "-m", "kubedns", "serve", "--quiet", "--conf", str(configuration))


def _script(name: str) -> Callable[[Material, Path, int], Sequence[str]]:
    return lambda _material, _folder, port: (sys.executable, str(Path(__file__).parent / name), str(port))


def _zone_file(material: Material, folder: Path) -> Path:
    soa = "cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 5"
    name_server = "cluster.local. 5 IN NS ns.dns.cluster.local.", "ns.dns.cluster.local. 5 IN A 127.0.0.1"
    path = folder / "zone"
    path.write_text("\n".join((soa, *name_server, *material.records)) + "\n")
    return path


def _knot(material: Material, folder: Path, port: int) -> Sequence[str]:
    configuration = folder / "knot.conf"
    configuration.write_text(f"""\
server:
    listen: 127.0.0.1@{port}
    rundir: {folder}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: error
database:
    storage: {folder}/database
zone:
  - domain: cluster.local
    file: {_zone_file(material, folder)}
    zonefile-sync: -1
""")
    return ("knotd", "-c", str(configuration))


def _unbound(material: Material, folder: Path, port: int) -> Sequence[str]:
    records = "\n".join(f"    local-data: '{record}'" for record in material.records)
    configuration = folder / "unbound.conf"
    configuration.write_text(f"""\
server:
    interface: 127.0.0.1
    port: {port}
    num-threads: 1
    do-ip6: no
    username: ""
    chroot: ""
    directory: {folder}
    pidfile: ""
    use-syslog: no
    module-config: "iterator"
    local-zone: "cluster.local." static
    local-data: "cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 5"
{records}
    do-not-query-localhost: no
forward-zone:
    name: "{FORWARDED}."
    forward-addr: 127.0.0.1@{material.upstream}
remote-control:
    control-enable: no
""")
    return ("unbound", "-d", "-p", "-c", str(configuration))


def _coredns(material: Material, folder: Path, port: int) -> Sequence[str]:
    configuration = folder / "Corefile"
    configuration.write_text(f"""\
cluster.local:{port} {{
    bind 127.0.0.1
    file {_zone_file(material, folder)}
}}
{FORWARDED}:{port} {{
    bind 127.0.0.1
    cache
    forward . 127.0.0.1:{material.upstream}
}}
""")
    return ("coredns", "-conf", str(configuration))


KUBEDNS = Peer("kubedns", _kubedns)
BARE = Peer("bare loop", _script("bare_loop.py"))
DNSLIB = Peer("dnslib", _script("dnslib_loop.py"))
KNOT = Peer("knot", _knot)
UNBOUND = Peer("unbound", _unbound)
COREDNS = Peer("coredns", _coredns, {"GOMAXPROCS": "1"})
_PROGRAMS = {"knotd": KNOT, "unbound": UNBOUND, "coredns": COREDNS}


def installed() -> list[Peer]:
    """All peers that can be started here, kubedns first."""
    return [KUBEDNS, BARE, DNSLIB, *(peer for program, peer in _PROGRAMS.items() if shutil.which(program))]
