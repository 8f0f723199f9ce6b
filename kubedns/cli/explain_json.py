"""An explanation as JSON. The keys are an interface: they are added to, never renamed or given another meaning.

``name type namespace search ndots found`` tell what was asked. ``candidates`` has an object for each name that was
asked for, in order: ``name``; ``domain`` of the search list, null for the name as typed; ``outcome`` (answer, nodata,
nxdomain, servfail, refused, dropped); ``rcode``; ``authoritative``; ``plugin``; ``answer``, ``authority`` and
``additional``, lists of ``{name, ttl, type, data}``; ``steps`` of ``{by, text}``; ``objects`` of ``{kind, namespace,
name, origin}``; ``rules`` of ``{source, text}``; ``near_misses``, texts; ``cache`` of ``{kept, seconds, depends_on}``,
seconds null where no time limits it; ``extended_error`` of ``{code, text}`` or null. ``not_tried`` lists the names that
were left. ``clusters`` has an object ``{server, silent_seconds}`` for each API server behind the answers; null seconds:
it has not been listed yet.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubedns.cli.explanation import Explanation, Tried
from kubedns.cli.keeping import dependencies, is_kept
from kubedns.dns.answer import Answer
from kubedns.dns.rdata import type_name
from kubedns.dns.rrset import RRset
from kubedns.resolver.trace import NearMiss, Rule, Step, UsedObject

Json = dict[str, "Json"] | list["Json"] | str | float | bool | None


def explanation_json(explanation: Explanation) -> Json:
    """The explanation as objects that json.dumps takes."""
    asked = explanation.asked
    return {
        "name": asked.typed,
        "type": type_name(asked.type),
        "namespace": asked.namespace,
        "search": [str(domain) for domain in asked.search],
        "ndots": asked.ndots,
        "found": explanation.found,
        "candidates": [_tried(tried) for tried in explanation.tried],
        "not_tried": [str(candidate.name) for candidate in explanation.not_tried],
        "clusters": [{"server": each.server, "silent_seconds": each.silent_seconds} for each in explanation.followed],
    }


def records_json(rrsets: Iterable[RRset]) -> list[Json]:
    """An object for each record: ``name``, ``ttl`` in seconds, ``type``, ``data``."""
    return [
        {"name": str(rrset.owner), "ttl": rrset.ttl, "type": type_name(rrset.type), "data": str(rdata)}
        for rrset in rrsets
        for rdata in rrset.rdatas
    ]


def _tried(tried: Tried) -> Json:
    candidate, answer = tried.candidate, tried.answer
    error = answer.extended_error
    return {
        "name": str(candidate.name),
        "domain": None if candidate.domain is None else str(candidate.domain),
        "outcome": tried.outcome.value,
        "rcode": answer.rcode.name,
        "authoritative": answer.authoritative,
        "plugin": answer.plugin,
        "answer": records_json(answer.answer),
        "authority": records_json(answer.authority),
        "additional": records_json(answer.additional),
        **_events(tried),
        "cache": _cache(answer),
        "extended_error": None if error is None else {"code": error.code, "text": error.text},
    }


def _events(tried: Tried) -> dict[str, Json]:
    steps: list[Json] = []
    objects: list[Json] = []
    rules: list[Json] = []
    misses: list[Json] = []
    for event in tried.events:
        match event:
            case Step(word, text):
                steps.append({"by": word, "text": text})
            case UsedObject(kind, namespace, name, origin):
                objects.append({"kind": kind, "namespace": namespace, "name": name, "origin": origin})
            case Rule(source, text):
                rules.append({"source": source, "text": text})
            case NearMiss(text):
                misses.append(text)
    return {"steps": steps, "objects": objects, "rules": rules, "near_misses": misses}


def _cache(answer: Answer) -> Json:
    return {
        "kept": is_kept(answer),
        "seconds": answer.lifetime_seconds,
        "depends_on": list[Json](dependencies(answer.depends_on)),
    }
