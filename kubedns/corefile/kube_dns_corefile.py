"""The Corefile that serves what kube-dns served with its ConfigMap. Pure: text out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kubedns.corefile.kube_dns import KubeDns

KUBE_DNS_TTL = 30


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a ConfigMap does not say. ``port``: where is listened, on ``hosts`` or everywhere.

    ``zone``: the cluster's. ``manifests``: what its names are read from, in place of an API server; ``kubeconfig``: the
    file that names another API server than that of the cluster around the process, and ``context`` in it (empty: its
    current one). With either, nothing but names is served, since probes belong to clusters. ``ttl``: of its records;
    kube-dns has 30 s.
    """

    port: int = 53
    hosts: tuple[str, ...] = ()
    zone: str = "cluster.local"
    manifests: tuple[str, ...] = ()
    ttl: int = KUBE_DNS_TTL
    kubeconfig: str = ""
    context: str = ""

    @property
    def is_inside(self) -> bool:
        """Whether it is served from within the cluster that it is about."""
        return not (self.manifests or self.kubeconfig)


def corefile_text(config: KubeDns, around: Surroundings) -> str:
    """The Corefile that serves what kube-dns served with ``config``."""
    blocks = [_block(["."], _main_lines(config, around), around)]
    for zone, servers in config.stub_domains.items():
        blocks.append(_block([zone.rstrip(".")], ["errors", "cache 30", "loop", *_forward(servers)], around))
    return "\n".join(blocks)


def _main_lines(config: KubeDns, around: Surroundings) -> Iterator[str]:
    yield "errors"
    if around.is_inside:
        yield from ("health {", "    lameduck 5s", "}", "ready")
    for federation, domain in config.federations.items():
        yield from _federation(federation, domain, around.zone.rstrip("."))
    yield f"kubernetes {around.zone} in-addr.arpa ip6.arpa {{"
    if around.manifests:
        yield f"    manifests {' '.join(map(_quoted, around.manifests))}"
    if around.kubeconfig:
        yield f"    kubeconfig {' '.join(map(_quoted, filter(None, (around.kubeconfig, around.context))))}"
    yield f"    pods {'insecure' if around.is_inside else 'verified'}"
    yield "    fallthrough in-addr.arpa ip6.arpa"
    yield f"    ttl {around.ttl}"
    yield "}"
    if around.is_inside:
        yield "prometheus :9153"
    yield from _forward(config.upstreams or ("/etc/resolv.conf",))
    yield from ("cache 30", "loop", "reload 10s", "loadbalance")


def _federation(name: str, domain: str, zone: str) -> Iterator[str]:
    """The half of a federation that one cluster can serve."""
    yield f"# Federation {name}: Services of this cluster keep their names in it; in others, below {domain},"
    yield "# nothing looks for them any more. `multicluster` answers for a clusterset's ServiceImports."
    ending = f"{name}.svc.{zone}.".replace(".", "\\.")
    yield f"rewrite name regex ^([^.]+)\\.([^.]+)\\.{ending}$ {{1}}.{{2}}.svc.{zone}."


def _forward(servers: Sequence[str]) -> list[str]:
    return [f"forward . {' '.join(servers)} {{", "    max_concurrent 1000", "}"]


def _block(zones: Sequence[str], lines: Iterable[str], around: Surroundings) -> str:
    bind = [f"bind {' '.join(around.hosts)}"] if around.hosts else []
    inside = "".join(f"    {line}\n" for line in [*bind, *lines])
    return f"{' '.join(f'{zone}:{around.port}' for zone in zones)} {{\n{inside}}}\n"


def _quoted(path: str) -> str:
    return '"' + path.replace('"', '\\"') + '"'
