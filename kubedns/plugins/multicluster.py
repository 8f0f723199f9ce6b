"""multicluster: names of Services that other clusters of a clusterset have given to this one (KEP-1645).

Syntax::

    multicluster [ZONES...] {
        manifests PATH...
        endpoint URL
        kubeconfig KUBECONFIG [CONTEXT]
        snapshot PATH [MAX_AGE]
        ttl TTL
        noendpoints
        fallthrough [ZONES...]
    }

The names are those of ServiceImports, in ZONES or the server block's, as clusterset.local. It is the same as the option
of that name in ``kubernetes``, as a word of its own.

Example::

    clusterset.local:1053 {
        multicluster {
            manifests .
        }
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.cluster.snapshot import SnapshotPlace
from kubedns.corefile.options import PluginOptions, arguments, flag, option
from kubedns.corefile.shapes import Many, Zones
from kubedns.corefile.values import Path, Seconds, Text
from kubedns.dns.names import Name
from kubedns.plugins.fallthrough import FallthroughLine, falling_through, fallthrough_option
from kubedns.plugins.kubernetes import KUBECONFIG, SNAPSHOT, Kubeconfig, Kubernetes, access_of, imported_zone
from kubedns.plugins.plugin import ClusterSource, Context


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """multicluster [ZONES...] { ... }: names that other clusters have given."""

    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones of the clusterset; else the server block's")
    manifests: tuple[str, ...] = option(
        Many(Path(), 1), default=(), help="files and folders to read in place of an API server"
    )
    endpoint: str = option(Text(syntax="URL"), default="", help="address of the API server")
    kubeconfig: Kubeconfig | None = option(KUBECONFIG, default=None, help="file that names API server and credentials")
    snapshot: SnapshotPlace | None = option(
        SNAPSHOT, default=None, help="file to keep what the API server said, for the next start"
    )
    ttl: int = option(Seconds(at_most=3600), default=5, help="TTL of every record")
    noendpoints: bool = flag(help="serve no endpoints, so neither headless Services")
    fallthrough: FallthroughLine = fallthrough_option()


class Multicluster(Kubernetes):
    """Answers for the names of a clusterset."""

    word = "multicluster"


def make(options: Options, context: Context) -> Multicluster:
    """The plugin."""
    zones = options.zones or context.zones
    access = access_of(options.kubeconfig, options.endpoint, None)
    source = ClusterSource(options.manifests, access, imports=True, snapshot=options.snapshot)
    fallthrough = falling_through(options.fallthrough, zones)
    zone = imported_zone(zones, options.ttl, not options.noendpoints, source, context)
    return Multicluster(zone, fallthrough, listed=context.listed)
