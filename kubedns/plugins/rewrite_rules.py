"""The rules of ``rewrite``: each changes a question, and what comes back for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import CNAME, TRANSFERS, type_name
from kubedns.dns.renaming import Renaming, with_owners, with_targets
from kubedns.dns.rrset import RRset, class_name


class Rule(Protocol):
    """What a rule does to a question it fits, and to the answer."""

    def rewritten(self, question: Question) -> Question | None:
        """The question to ask instead, or the same one; None: the rule does not fit.

        Raises:
            BadNameError: it fits, and makes something that is no name.
        """

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """What the one who asked ``asked`` is to see of ``answer``, which is that to ``rewritten``.

        Raises:
            BadNameError: as above.
        """

    def effect(self, asked: Question, rewritten: Question) -> str:
        """What the rule does, for people."""


@dataclass(frozen=True, slots=True)
class NameRule:
    """Asks for another name.

    ``owners`` and ``values`` rename what comes back. The name asked for instead becomes the client's own again in any
    case: clients do not believe an answer whose owner they did not ask for.
    """

    renaming: Renaming
    owners: tuple[Renaming, ...] = ()
    values: tuple[Renaming, ...] = ()

    def rewritten(self, question: Question) -> Question | None:
        """The same question about the new name."""
        name = self.renaming.renamed(question.name)
        return None if name is None else msgspec.structs.replace(question, name=name)

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer with the client's names."""

        def owner(name: Name) -> Name:
            renamed = _first(self.owners, name) or (asked.name if name == rewritten.name else name)
            # The client's spelling of its own name stays.
            return asked.name if renamed == asked.name else renamed

        answer = with_owners(answer, owner)
        return with_targets(answer, lambda name: _first(self.values, name) or name) if self.values else answer

    def effect(self, asked: Question, rewritten: Question) -> str:
        """Both names."""
        return f"asks for {rewritten.name} in place of {asked.name}"


def _first(renamings: Sequence[Renaming], name: Name) -> Name | None:
    """What the first that matches makes of ``name``."""
    for renaming in renamings:
        renamed = renaming.renamed(name)
        if renamed is not None:
            return renamed
    return None


@dataclass(frozen=True, slots=True)
class TypeRule:
    """Asks for type ``new`` in place of ``old``."""

    old: int
    new: int

    def rewritten(self, question: Question) -> Question | None:
        """The same question about the new type."""
        return msgspec.structs.replace(question, type=self.new) if question.type == self.old else None

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer as it is."""
        return answer

    def effect(self, asked: Question, rewritten: Question) -> str:
        """Both types."""
        return f"asks for {type_name(self.new)} in place of {type_name(self.old)}"


@dataclass(frozen=True, slots=True)
class ClassRule:
    """Asks in class ``new`` in place of ``old``; zones are transferred in their own."""

    old: int
    new: int

    def rewritten(self, question: Question) -> Question | None:
        """The same question in the new class."""
        if question.rdclass != self.old or question.type in TRANSFERS:
            return None
        return msgspec.structs.replace(question, rdclass=self.new)

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer with records of the class that they were found in: elsewhere they may mean something else."""
        return answer if answer.rdclass is not None else msgspec.structs.replace(answer, rdclass=rewritten.rdclass)

    def effect(self, asked: Question, rewritten: Question) -> str:
        """Both classes."""
        return f"asks in class {class_name(self.new)} in place of {class_name(self.old)}"


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """Leaves the question as it is; it fits the names that ``names`` matches."""

    names: Renaming

    def rewritten(self, question: Question) -> Question | None:
        """The same question, if it fits."""
        return question if self.names.matches(question.name) else None


@dataclass(frozen=True, slots=True)
class TtlRule(AnswerRule):
    """Brings every TTL into ``at_least`` to ``at_most`` seconds."""

    at_least: int
    at_most: int

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer with such TTLs."""
        return msgspec.structs.replace(
            answer,
            answer=self._limited(answer.answer),
            authority=self._limited(answer.authority),
            additional=self._limited(answer.additional),
        )

    def _limited(self, rrsets: Sequence[RRset]) -> tuple[RRset, ...]:
        return tuple(
            msgspec.structs.replace(rrset, ttl=min(max(rrset.ttl, self.at_least), self.at_most)) for rrset in rrsets
        )

    def effect(self, asked: Question, rewritten: Question) -> str:
        """The limits."""
        return f"brings TTLs into {self.at_least} to {self.at_most} seconds"


@dataclass(frozen=True, slots=True)
class RcodeRule(AnswerRule):
    """Gives ``new`` where the rcode would be ``old``."""

    old: Rcode
    new: Rcode

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer with its new rcode."""
        return msgspec.structs.replace(answer, rcode=self.new) if answer.rcode == self.old else answer

    def effect(self, asked: Question, rewritten: Question) -> str:
        """Both rcodes."""
        return f"gives {self.new.name} for {self.old.name}"


@dataclass(frozen=True, slots=True)
class AliasRule:
    """Leads an alias elsewhere: the first target that ``renaming`` matches is renamed and looked up anew."""

    renaming: Renaming

    def rewritten(self, question: Question) -> Question | None:
        """The same question: only its answer tells whether there is an alias."""
        return question

    def restored(self, answer: Answer, asked: Question, rewritten: Question) -> Answer:
        """The answer up to the alias, with its new target still to be followed."""
        for position, rrset in enumerate(answer.answer):
            alias = rrset.rdatas[0]
            target = self.renaming.renamed(alias.target) if isinstance(alias, CNAME) else None
            if target is not None:
                records = (*answer.answer[:position], RRset(rrset.owner, rrset.ttl, (CNAME(target),)))
                return msgspec.structs.replace(
                    answer, rcode=Rcode.NOERROR, answer=records, authority=(), additional=(), follow=target
                )
        return answer

    def effect(self, asked: Question, rewritten: Question) -> str:
        """What is watched for."""
        return "leads aliases that match to their new target"
