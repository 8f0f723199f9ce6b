"""Which names a resolver asks for, in turn, when a program asks for one: the search list (resolv.conf(5)).

The order is glibc's; musl differs only in what it does after a failure, not in the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from kubedns.dns.names import MAX_NAME_OCTETS, Name, name_of, parse_name

POD_NDOTS = 5
"""``options ndots`` that the kubelet writes into a pod's resolv.conf (dnsPolicy ClusterFirst)."""

MAX_NDOTS = 15
"""What resolvers take; they read a higher number as this (resolv.conf(5))."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that is asked for. ``domain``: the element of the search list behind it; None: the name as typed."""

    name: Name
    domain: Name | None = None


class Outcome(Enum):
    """How an answer ends as a resolver sees it; the value is what ``-o json`` calls it."""

    ANSWER = "answer"
    NODATA = "nodata"
    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    DROPPED = "dropped"


_NEXT_DOMAIN = (Outcome.NODATA, Outcome.NXDOMAIN, Outcome.SERVFAIL)


def pod_search_list(namespace: str, zone: Name) -> tuple[Name, ...]:
    """The search list that the kubelet gives a pod of ``namespace`` in a cluster whose zone is ``zone``."""
    return (zone.child(namespace.encode(), b"svc"), zone.child(b"svc"), zone)


def candidates(typed: str, search: Sequence[Name], ndots: int = POD_NDOTS) -> tuple[Candidate, ...]:
    """The names that are asked for in turn.

    A final dot makes ``typed`` the only one; with at least ``ndots`` dots within, it comes first, else last. Search
    domains that would make too long a name are passed over.

    Raises:
        BadNameError: ``typed`` is no name.
    """
    as_typed = Candidate(parse_name(typed))
    if is_absolute(typed):
        return (as_typed,)
    searched = tuple(_searched(as_typed.name, search))
    if len(as_typed.name.labels) - 1 >= ndots:
        return (as_typed, *searched)
    return (*searched, as_typed)


def is_absolute(typed: str) -> bool:
    r"""Whether the text ends in a dot that no backslash takes its meaning from."""
    backslashes = len(typed.removesuffix(".")) - len(typed.removesuffix(".").rstrip("\\"))
    return typed.endswith(".") and backslashes % 2 == 0


def still_asked(candidate: Candidate, outcome: Outcome, rest: Sequence[Candidate]) -> Sequence[Candidate]:
    """Which of ``rest`` are asked for after ``candidate`` ended so.

    A denial and SERVFAIL lead to the next domain; another failure of a domain ends the search list, and only the name
    as typed is still asked for. Where that came first, the list follows whatever went wrong.
    """
    if outcome is Outcome.ANSWER:
        return ()
    if candidate.domain is None or outcome in _NEXT_DOMAIN:
        return rest
    return tuple(each for each in rest if each.domain is None)


def _searched(name: Name, search: Iterable[Name]) -> Iterator[Candidate]:
    for domain in search:
        whole = name_of(name.labels + domain.labels)
        if whole.octets() <= MAX_NAME_OCTETS:
            yield Candidate(whole, domain)
