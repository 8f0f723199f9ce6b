"""Explanations made by hand, with one of each kind of event."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from kubedns.cli.explanation import Asked, Explanation, Followed, Tried
from kubedns.cli.search_list import candidates, pod_search_list
from kubedns.cluster.lister import ANY_ADDRESS, address_key, namespace_key, service_key
from kubedns.dns.answer import Answer, data, nodata, nxdomain, refused, servfail
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import parse_name
from kubedns.dns.rdata import SOA, SRV, A, RecordType
from kubedns.dns.rrset import RRset
from kubedns.resolver.trace import Event, NearMiss, Rule, Step, UsedObject

ZONE = parse_name("cluster.local.")
SEARCH = pod_search_list("shop", ZONE)
SOA_RRSET = RRset(ZONE, 5, (SOA(ZONE.child(b"ns", b"dns"), ZONE.child(b"hostmaster"), 1, 7200, 1800, 86400, 5),))
WEB = parse_name("web.shop.svc.cluster.local.")
DENIED = NearMiss("no Service web in shop; there is web-api")


def by_kubernetes(answer: Answer) -> Answer:
    return msgspec.structs.replace(answer, plugin="kubernetes")


def explanation(typed: str, rtype: int, *found: tuple[Answer, tuple[Event, ...]]) -> Explanation:
    names = candidates(typed, SEARCH)
    tried = tuple(Tried(name, *each) for name, each in zip(names, found, strict=False))
    return Explanation(Asked(typed, rtype, "shop", SEARCH, 5), tried, names[len(tried) :])


ANSWERED = explanation(
    "web",
    RecordType.A,
    (
        by_kubernetes(data((RRset(WEB, 5, (A(b"\x0a\x60\x00\x0a"),)),), frozenset([service_key("shop", "web")]))),
        (
            Step("resolver", "server block of cluster.local."),
            UsedObject("Service", "shop", "web", "k8s/web.yaml:12"),
            UsedObject("Node", "", "laptop", "resourceVersion 7"),
            Rule("Kubernetes DNS specification 2.3.1", "a Service has its cluster IPs, whatever its endpoints do"),
        ),
    ),
)
SRV_RRSET = RRset(parse_name("_http._tcp.web.shop.svc.cluster.local."), 5, (SRV(0, 100, 80, WEB),))
ANSWERED_SECOND = explanation(
    "_http._tcp.web.shop",
    RecordType.SRV,
    (by_kubernetes(nxdomain(SOA_RRSET, frozenset([namespace_key("shop")]))), (DENIED,)),
    (
        by_kubernetes(
            msgspec.structs.replace(
                data((SRV_RRSET,), frozenset([service_key("shop", "web"), address_key(bytes(4))])),
                additional=(RRset(WEB, 5, (A(b"\x0a\x60\x00\x0a"),)),),
                lifetime_seconds=30.0,
            )
        ),
        (),
    ),
)
NOT_FOUND = explanation(
    "wbe",
    RecordType.A,
    (by_kubernetes(nodata(SOA_RRSET, frozenset([ANY_ADDRESS]))), (DENIED,)),
    (by_kubernetes(servfail(ErrorCode.NOT_READY, "the cluster's objects have not been listed yet")), ()),
    (Answer(silent=True), (Step("acl", "drop for a client at 127.0.0.1"),)),
    (refused(ExtendedError(ErrorCode.NOT_AUTHORITATIVE, "no server block serves this name")), ()),
)
ANSWERED_SECOND = replace(ANSWERED_SECOND, followed=(Followed("https://192.0.2.1:6443", 12.4),))
NOT_FOUND = replace(NOT_FOUND, followed=(Followed("in-cluster", None),))
ALL = {"answered": ANSWERED, "answered-second": ANSWERED_SECOND, "not-found": NOT_FOUND}
