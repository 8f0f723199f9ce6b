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
    class FROM TO
    ttl [KIND] NAME SECONDS|MIN-MAX
    rcode [KIND] NAME FROM TO
    cname [KIND] FROM TO
    edns0 local set|replace|append CODE DATA
    edns0 nsid set|replace|append
    edns0 subnet set|replace|append BITS4 BITS6

KIND is ``exact`` (the default), ``prefix``, ``suffix``, ``substring`` or ``regex``, matched against the name in lower
case with its final dot; ``{1}`` in the TO of a ``regex`` is its first group. A rule that fits is the last one, unless
it says ``continue``. Rules are tried in the order of the file, over all ``rewrite`` lines of the server block.

The owner of the answer is always the name that the client asked for. ``answer name`` renames other owners by a regular
expression, ``answer value`` the names in CNAME, NS, PTR and SRV records, ``answer auto`` both, by undoing an ``exact``,
``prefix`` or ``suffix`` rule. What makes no name is SERVFAIL. After ``class`` records have the class that they were
found in. Without such a rule nothing but ``acl`` and ``chaos`` hears of other classes than IN.

``edns0`` sends an option to upstreams, to which none of the client's own goes: DATA is text, octets in hex after
``0x``, or one of ``{qname}`` ``{qtype}`` ``{client_ip}`` ``{client_port}`` ``{protocol}``; ``subnet`` is the client's
network with so many bits. What goes there of the client makes answers that are kept for nobody else.

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
from kubedns.plugins.rewrite_options import OptionRule
from kubedns.plugins.rewrite_reading import FIELDS, read_rule
from kubedns.plugins.rewrite_rules import ClassRule, Rule


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

    rule: Rule | OptionRule
    stops: bool


class Rewrite:
    """Applies the rules that fit to the question, and undoes them on the answer, the last one first."""

    word = "rewrite"

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        rules = [step.rule for step in steps if isinstance(step.rule, ClassRule)]
        self.classes = frozenset(rdclass for rule in rules for rdclass in (rule.old, rule.new))

    def joined(self, other: Rewrite) -> Rewrite:
        """These rules and after them those of ``other``: what stops here is not to be rewritten there."""
        return Rewrite(self.steps + other.steps)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The answer to what the rules make of the question, in the client's terms."""
        try:
            changed, applied, varies = self._applied(query)
            answer = await next_plugin(changed)
            for rule, asked, rewritten in reversed(applied):
                answer = rule.restored(answer, asked, rewritten)
        except BadNameError as error:
            query.trace.step(self.word, "a rule makes no valid name: SERVFAIL")
            return servfail(ErrorCode.OTHER, f"rewrite makes no valid name: {error}")
        return msgspec.structs.replace(answer, varies_by_client=True) if varies else answer

    def _applied(self, query: Query) -> tuple[Query, list[tuple[Rule, Question, Question]], bool]:
        """What to ask, the rules that fit, each with the question before and after, and if it is the client's own."""
        applied: list[tuple[Rule, Question, Question]] = []
        varies = False
        for step in self.steps:
            question = query.question
            if isinstance(step.rule, OptionRule):
                options = step.rule.applied(query)
                if options is None:
                    continue
                effect = step.rule.effect()
                query = msgspec.structs.replace(query, options=options)
                varies |= step.rule.varies
            else:
                rewritten = step.rule.rewritten(question)
                if rewritten is None:
                    continue
                effect = step.rule.effect(question, rewritten)
                applied.append((step.rule, question, rewritten))
                query = msgspec.structs.replace(query, question=rewritten)
            if query.trace.active:
                query.trace.step(self.word, effect)
            if step.stops:
                break
        return query, applied, varies


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
