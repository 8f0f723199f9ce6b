"""An explanation as text for people; rich puts in the colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rich.text import Text

from kubedns.cli.explanation import Asked, Explanation, Followed, Tried
from kubedns.cli.keeping import kept
from kubedns.cli.search_list import Outcome
from kubedns.dns.lifetime import denial_lifetime
from kubedns.dns.rdata import RecordType, type_name
from kubedns.resolver.trace import Event, NearMiss, Rule, Step, UsedObject

_ANY_WILL_DO = (RecordType.ANY, RecordType.CNAME)
_INDENT = 4
_LABEL_COLUMNS = 8
_STYLES = {
    Outcome.ANSWER: "bold green",
    Outcome.NODATA: "yellow",
    Outcome.NXDOMAIN: "yellow",
    Outcome.SERVFAIL: "bold red",
    Outcome.REFUSED: "bold red",
    Outcome.DROPPED: "bold red",
}


def explanation_text(explanation: Explanation) -> Text:
    """The explanation, a paragraph for each candidate and a last line with what came of it."""
    lines = [_heading(explanation.asked), *map(_followed, explanation.followed)]
    for number, tried in enumerate(explanation.tried, 1):
        lines += [Text(), _candidate(number, tried), *_details(tried)]
    return Text("\n").join([*lines, Text(), _conclusion(explanation)])


def _heading(asked: Asked) -> Text:
    return Text.assemble(
        (asked.typed, "bold"),
        f" {type_name(asked.type)}, as typed in a pod of namespace {asked.namespace} (ndots {asked.ndots})",
    )


def _followed(followed: Followed) -> Text:
    if followed.silent_seconds is None:
        return _detail("cluster", f"{followed.server}, which has not been listed yet", "red")
    return _detail("cluster", f"{followed.server}, last heard {followed.silent_seconds:.0f} s ago")


def _candidate(number: int, tried: Tried) -> Text:
    candidate, outcome = tried.candidate, tried.outcome
    shown = "NODATA" if outcome is Outcome.NODATA else "no response" if outcome is Outcome.DROPPED else None
    origin = "as typed" if candidate.domain is None else f"search {candidate.domain}"
    return Text.assemble(
        f"{number:2}  ",
        (str(candidate.name), "bold"),
        "  ",
        (shown or tried.answer.rcode.name, _STYLES[outcome]),
        (f"  ({origin})", "dim"),
    )


def _details(tried: Tried) -> Iterator[Text]:
    answer = tried.answer
    if answer.plugin:
        yield _detail("plugin", answer.plugin)
    for event in tried.events:
        yield _event(event)
    for rrset in answer.answer:
        for line in rrset.lines():
            yield _detail("answer", line, "green")
    for rrset in answer.additional:
        for line in rrset.lines():
            yield _detail("also", line)
    if answer.is_denial:
        yield _detail("denial", f"clients may remember it for {denial_lifetime(answer.authority) or 0} s (RFC 2308 5)")
    if answer.extended_error is not None:
        yield _detail("error", f"{answer.extended_error.text} (RFC 8914, code {answer.extended_error.code})", "red")
    yield _detail("kept", kept(answer))


def _event(event: Event) -> Text:
    match event:
        case Step(word, text):
            return _detail("step", f"{word}: {text}")
        case UsedObject(kind, namespace, name, origin):
            place = f"{namespace}/{name}" if namespace else name
            return _detail("object", f"{kind} {place}" + (f" ({origin})" if origin else ""), "cyan")
        case Rule(source, text):
            return _detail("rule", f"{source}: {text}")
        case NearMiss(text):
            return _detail("near", text, "magenta")
        case _:
            assert_never(event)


def _detail(label: str, text: str, style: str = "") -> Text:
    return Text.assemble(" " * _INDENT, (label.ljust(_LABEL_COLUMNS), "dim"), (text, style))


def _conclusion(explanation: Explanation) -> Text:
    rtype, count = type_name(explanation.asked.type), len(explanation.tried)
    if not explanation.found:
        names = "the one name" if count == 1 else f"any of the {count} names"
        return Text(f"Not found: no {rtype} record under {names} asked for")
    last, left = explanation.tried[-1], len(explanation.not_tried)
    rest = f"; {left} more in the search list {'is' if left == 1 else 'are'} not asked for" if left else ""
    has_type = explanation.asked.type in _ANY_WILL_DO or any(
        rrset.type == explanation.asked.type for rrset in last.answer.answer
    )
    alias = "" if has_type else f" by an alias alone, whose {rtype} records are to be asked for elsewhere"
    return Text(f"Answered under {last.candidate.name}{alias}{rest}")
