"""Server blocks → a server: stores and their sources, plugins, resolvers, listeners."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kubedns.cluster.sources.source import Source
from kubedns.cluster.store import Store
from kubedns.corefile.blocks import ServerBlock
from kubedns.dns.names import Name
from kubedns.dns.question import Transport
from kubedns.errors import ConfigurationErrors, ManifestError
from kubedns.observe.metrics import Metrics
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.plugin import ClusterSource, Context
from kubedns.records.cluster_zone import ClusterZone
from kubedns.resolver.answercache import AnswerCache
from kubedns.resolver.chain import Chain, make_chain
from kubedns.resolver.resolver import Resolver
from kubedns.resolver.responder import Responder

DEFAULT_PORT = 53
CACHE_OCTETS = 48 << 20
