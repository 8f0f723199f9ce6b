r"""rewrite: asks for something else than the client did, and gives the answer as if it had not.

Syntax::

    rewrite [continue|stop] FIELD ...
    rewrite [continue|stop] {
        FIELD ...
        answer ...
    }

FIELD and what follows it is one of::

    name [KIND] FROM TO [answer auto] [answer name FROM TO] [answer value FROM TO]
    type FROM TO
    ttl [KIND] NAME SECONDS|MIN-MAX
    rcode [KIND] NAME FROM TO
    cname [KIND] FROM TO

KIND is ``exact`` (the default), ``prefix``, ``suffix``, ``substring`` or ``regex``, matched against the name in lower
case with its final dot; ``{1}`` in the TO of a ``regex`` is its first group. A rule that fits is the last one, unless
it says ``continue``. Rules are tried in the order of the file, over all ``rewrite`` lines of the server block.

The owner of the answer is always the name that the client asked for. ``answer name`` renames other owners by a regular
expression, ``answer value`` the names in CNAME, NS, PTR and SRV records, ``answer auto`` both, by undoing an ``exact``,
``prefix`` or ``suffix`` rule. What makes no name is SERVFAIL. CoreDNS's ``class`` and
``edns0`` are refused: only class IN is served, and no EDNS option of a client's ever reaches an upstream.

Example::

    cluster.local:1053 {
        rewrite name suffix .shop.cluster.local .shop.svc.cluster.local answer auto
        rewrite continue {
            ttl regex (.*)\.cluster\.local\. 5-30
        }
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, repeated
from kubedns.corefile.shapes import Shape
from kubedns.dns.answer import Answer, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.names import BadNameError
from kubedns.dns.question import Query, Question
from kubedns.plugins.plugin import Context, Next
from kubedns.plugins.rewrite_reading import FIELDS, read_rule
from kubedns.plugins.rewrite_rules import Rule


class Words(Shape[tuple[Word, ...]]):
    """The words of a line, read later: a rule may be spread over several."""

    syntax = "..."

    def read(self, line: Directive) -> tuple[Word, ...]:
        """Its words, from the first one."""
        return (line.word, *line.arguments)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """rewrite [continue|stop] FIELD ...: ask for something else."""

    words: tuple[Word, ...] = arguments(Words(), help="the rule, or how it begins")
    lines: tuple[tuple[Word, ...], ...] = repeated(
        Words(), words=[*FIELDS, "answer"], help="the rule, and what its answer becomes"
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A rule, and whether it is the last one where it fits."""

    rule: Rule
    stops: bool


class Rewrite:
    """Applies the rules that fit to the question, and undoes them on the answer, the last one first."""

    word = "rewrite"

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)

    def joined(self, other: Rewrite) -> Rewrite:
        """These rules and after them those of ``other``: what stops here is not to be rewritten there."""
        return Rewrite(self.steps + other.steps)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The answer to what the rules make of the question, in the client's terms."""
        try:
            applied = self._applied(query)
            if not applied:
                return await next_plugin(query)
            question = applied[-1][2]
            answer = await next_plugin(msgspec.structs.replace(query, question=question))
            for rule, asked, rewritten in reversed(applied):
                answer = rule.restored(answer, asked, rewritten)
        except BadNameError as error:
            query.trace.step(self.word, "a rule makes no valid name: SERVFAIL")
            return servfail(ErrorCode.OTHER, f"rewrite makes no valid name: {error}")
        return answer

    def _applied(self, query: Query) -> list[tuple[Rule, Question, Question]]:
        """The rules that fit, each with the question as it found it and as it left it."""
        question = query.question
        applied: list[tuple[Rule, Question, Question]] = []
        for step in self.steps:
            rewritten = step.rule.rewritten(question)
            if rewritten is None:
                continue
            if query.trace.active:
                query.trace.step(self.word, step.rule.effect(question, rewritten))
            applied.append((step.rule, question, rewritten))
            question = rewritten
            if step.stops:
                break
        return applied


def make(options: Options, context: Context) -> Rewrite:
    """The plugin, of one rule.

    Raises:
        ConfigurationError: the words make no rule.
    """
    own, *words = [*options.words, *(word for line in options.lines for word in line)]
    stops = True
    if words and words[0].text in ("continue", "stop"):
        stops = words.pop(0).text == "stop"
    return Rewrite([Step(read_rule(own, words), stops)])
