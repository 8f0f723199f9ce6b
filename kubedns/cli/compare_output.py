"""What ``kubedns compare`` prints: the differences and a summary, for people and for programs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubedns.cli.comparison import Difference, Part, compared_records, flags
from kubedns.cli.explain_json import Json, records_json
from kubedns.dns.answer import rcode_name
from kubedns.dns.rdata import type_name
from kubedns.dns.reply import Reply

Said = Mapping[Hashable, str]
"""What a server says in one part of its reply: lines, each by what is compared of it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``asked`` counts the questions to ``servers``, the old one and the new one; ``with_ttl``: TTLs were compared."""

    servers: tuple[str, str]
    asked: int
    differences: Sequence[Difference]
    with_ttl: bool = False

    @property
    def same(self) -> int:
        """How many questions were answered alike."""
        return self.asked - len(self.differences)


def comparison_text(comparison: Comparison) -> Iterator[str]:
    """A paragraph for each difference, ``-`` before what only the old server says; and a summary."""
    if comparison.differences:
        yield f"- {comparison.servers[0]}"
        yield f"+ {comparison.servers[1]}"
        yield ""
    for each in comparison.differences:
        yield f"{each.question}"
        if each.old is None and each.new is None:
            yield "  no response from either"
        for part in each.parts:
            old, new = (_said(part, reply, comparison.with_ttl) for reply in (each.old, each.new))
            yield from (f"  - {part.value} {line}" for line in _only(old, new))
            yield from (f"  + {part.value} {line}" for line in _only(new, old))
        yield ""
    yield _summary(comparison)


def comparison_json(comparison: Comparison) -> Json:
    """The comparison as objects that json.dumps takes; the keys are an interface.

    ``servers``, the old one and the new one; ``questions same different``, counts; ``differences`` of ``{name, type,
    differs, responses}``. ``differs``: which of response, rcode, flags, answer and authority. ``responses``: of each
    server ``{rcode, flags, answer, authority}``, null where it gave none; records are ``{name, ttl, type, data}``.
    """
    return {
        "servers": list[Json](comparison.servers),
        "questions": comparison.asked,
        "same": comparison.same,
        "different": len(comparison.differences),
        "differences": [_difference(each) for each in comparison.differences],
    }


def _summary(comparison: Comparison) -> str:
    different = len(comparison.differences)
    if not different:
        return f"{comparison.asked} questions, all answered alike by {' and '.join(comparison.servers)}"
    return f"{comparison.asked} questions: {comparison.same} answered alike, {different} not"


def _only(these: Said, those: Said) -> list[str]:
    return sorted(line for key, line in these.items() if key not in those)


def _said(part: Part, reply: Reply | None, with_ttl: bool) -> Said:
    if reply is None:
        return {None: "none"}
    match part:
        case Part.RESPONSE | Part.RCODE:
            return {reply.rcode: rcode_name(reply.rcode)}
        case Part.FLAGS:
            return {flags(reply): " ".join(flags(reply)) or "none"}
        case Part.ANSWER:
            return compared_records(reply.answer, with_ttl)
        case Part.AUTHORITY:
            return compared_records(reply.authority, with_ttl)


def _difference(each: Difference) -> Json:
    return {
        "name": str(each.question.name),
        "type": type_name(each.question.type),
        "differs": [part.value for part in each.parts],
        "responses": [_response(each.old), _response(each.new)],
    }


def _response(reply: Reply | None) -> Json:
    if reply is None:
        return None
    return {
        "rcode": rcode_name(reply.rcode),
        "flags": list[Json](flags(reply)),
        "answer": records_json(reply.answer),
        "authority": records_json(reply.authority),
    }
