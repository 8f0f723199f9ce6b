"""Asking a cluster's zone in tests: the corpus's own cluster, and how answers are written down."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec import convert
from msgspec.structs import replace

from kubedns.cluster.bodies import NamespaceBody, PodBody, ServiceBody, SliceBody
from kubedns.cluster.decoding import decode_namespace, decode_pod, decode_service, decode_slice
from kubedns.cluster.objects import Object
from kubedns.dns.answer import Answer
from kubedns.dns.names import parse_name
from kubedns.dns.question import Question
from kubedns.dns.rdata import type_number
from kubedns.dns.trace import NO_TRACE, Trace
from kubedns.records.cluster_zone import ClusterZone
from kubedns.records.options import PodsMode, RecordOptions
from tests.support.clusters import store_of

CORPUS = Path(__file__).parents[1] / "conformance"
Json = dict[str, Any]
ZONES = tuple(map(parse_name, ("cluster.local.", "in-addr.arpa.", "ip6.arpa.")))


class TeamRetail:
    """The selector team=retail."""

    def matches(self, labels: dict[str, str]) -> bool:
        return labels.get("team") == "retail"


def options(**given: object) -> RecordOptions:
    """As the corpus's default profile has them, but for what is given."""
    return replace(RecordOptions(zones=ZONES, pods=PodsMode.INSECURE), **given)


def cluster_zone(objects: Sequence[Object], **given: object) -> ClusterZone:
    return ClusterZone(options(**given), store_of(objects))


def question(text: str) -> Question:
    """``NAME TYPE``; a name without final dot is below cluster.local."""
    name, rtype = text.split()
    number = type_number(rtype)
    assert number is not None
    return Question(parse_name(name if name.endswith(".") else f"{name}.cluster.local."), number)


def ask(zone: ClusterZone, text: str, trace: Trace = NO_TRACE) -> Answer:
    return zone.answer(question(text), trace)


def shown(answer: Answer) -> str:
    """``NXDOMAIN``, ``NODATA``, or the rdata of the answer section, with commas."""
    if answer.rcode:
        return answer.rcode.name
    return ", ".join(str(rdata) for rrset in answer.answer for rdata in rrset.rdatas) or "NODATA"


@cache
def corpus_objects() -> list[Object]:
    """The corpus's cluster."""
    documents = yaml.load_all((CORPUS / "cluster.yaml").read_text(), yaml.CSafeLoader)
    return [_object(document) for document in documents if document]


def _object(document: Json) -> Object:
    match document["kind"]:
        case "Namespace":
            return decode_namespace(convert(document, NamespaceBody), "")
        case "Service":
            return decode_service(convert(document, ServiceBody), "")
        case "EndpointSlice":
            return decode_slice(convert(document, SliceBody), "")
    return decode_pod(convert(document, PodBody), "")
