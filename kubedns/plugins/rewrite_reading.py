"""The words of a ``rewrite`` line → its rule, or a fault that says which word is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import unfit
from kubedns.corefile.suggestions import nearest
from kubedns.corefile.values import Pattern, Seconds
from kubedns.dns.answer import Rcode
from kubedns.dns.names import BadNameError, parse_name
from kubedns.dns.rdata import type_number
from kubedns.dns.renaming import Kind, PatternRenaming, Renaming, TextRenaming, groups_of
from kubedns.dns.rrset import CLASSES
from kubedns.plugins.rewrite_options import OptionRule, read_option_rule
from kubedns.plugins.rewrite_rules import AliasRule, ClassRule, NameRule, RcodeRule, Rule, TtlRule, TypeRule

_KINDS = {kind.value: kind for kind in Kind}
_RCODES = {rcode.name: rcode for rcode in Rcode if rcode < 16}


def read_rule(own: Word, words: Sequence[Word]) -> Rule | OptionRule:
    """The rule that ``words`` state, FIELD first; ``own`` is the plugin's word.

    Raises:
        ConfigurationError: they do not.
    """
    if not words:
        raise own.fault("rewrite without a rule", f"write `rewrite {_SYNTAX['name']}`")
    field, rest = words[0], words[1:]
    read = _READERS.get(field.text)
    if read is None:
        guess = nearest(field.text, FIELDS)
        remedy = f"did you mean `{guess}`?" if guess else f"fields: {', '.join(FIELDS)}"
        raise field.fault(f"rewrite knows no field `{field.text}`", remedy)
    return read(field, rest)


def _name(field: Word, words: Sequence[Word]) -> Rule:
    cut = next((at for at, word in enumerate(words) if word.text == "answer" and at >= 2), len(words))
    kind, (old, new) = _kind(field, words[:cut], 2)
    renaming = _renaming(kind, old, new)
    owners: list[Renaming] = []
    values: list[Renaming] = []
    answers = list(words[cut:])
    while answers:
        answer, what = answers[0], answers[1].text if len(answers) > 1 else ""
        if answer.text == "answer" and what == "auto":
            undone = _undone(renaming)
            owners += undone
            values += undone
            answers = answers[2:]
        elif answer.text == "answer" and what in ("name", "value") and len(answers) >= 4:
            (owners if what == "name" else values).append(_renaming(Kind.REGEX, answers[2], answers[3]))
            answers = answers[4:]
        else:
            raise answer.fault("rewrite: no answer rule", "write `answer auto` or `answer name|value FROM TO`")
    return NameRule(renaming, tuple(owners), tuple(values))


def _undone(renaming: Renaming) -> list[Renaming]:
    """What undoes a rule, if that can be told; an empty text is found in every name."""
    if isinstance(renaming, TextRenaming) and renaming.kind is not Kind.SUBSTRING and renaming.new:
        return [renaming.inverse()]
    return []


def _type(field: Word, words: Sequence[Word]) -> Rule:
    _, (old, new) = _kind(field, words, 2, kinds=False)
    return TypeRule(_type_number(old), _type_number(new))


def _class(field: Word, words: Sequence[Word]) -> Rule:
    _, (old, new) = _kind(field, words, 2, kinds=False)
    return ClassRule(_class_of(old), _class_of(new))


def _class_of(word: Word) -> int:
    number = CLASSES.get(word.text.upper())
    if number is None:
        raise unfit(word, "no class", f"classes: {', '.join(CLASSES)}")
    return number


def _ttl(field: Word, words: Sequence[Word]) -> Rule:
    kind, (name, ttl) = _kind(field, words, 2)
    low, dash, high = ttl.text.partition("-")
    at_least = _seconds(ttl, low) if low or not dash else 0
    at_most = at_least if not dash else _seconds(ttl, high) if high else _MAX_TTL
    if at_most < at_least:
        raise unfit(ttl, "an empty range", "write the smaller TTL first")
    return TtlRule(_renaming(kind, name, None), at_least, at_most)


_MAX_TTL = 2**31 - 1


def _seconds(word: Word, text: str) -> int:
    return Seconds().convert(Word(text, word.location))


def _rcode(field: Word, words: Sequence[Word]) -> Rule:
    kind, (name, old, new) = _kind(field, words, 3)
    return RcodeRule(_renaming(kind, name, None), _rcode_of(old), _rcode_of(new))


def _rcode_of(word: Word) -> Rcode:
    text = word.text.upper()
    found = next((rcode for name, rcode in _RCODES.items() if text in (name, str(int(rcode)))), None)
    if found is None:
        raise unfit(word, "no rcode", f"rcodes: {', '.join(_RCODES)}")
    return found


def _cname(field: Word, words: Sequence[Word]) -> Rule:
    kind, (old, new) = _kind(field, words, 2)
    return AliasRule(_renaming(kind, old, new))


def _type_number(word: Word) -> int:
    number = type_number(word.text)
    if number is None:
        raise unfit(word, "no record type", "write it like A, AAAA or TYPE65280")
    return number


def _kind(field: Word, words: Sequence[Word], count: int, *, kinds: bool = True) -> tuple[Kind, Sequence[Word]]:
    """The kind, EXACT if none is named, and the ``count`` words after it."""
    if kinds and len(words) == count + 1 and words[0].text.lower() in _KINDS:
        return _KINDS[words[0].text.lower()], words[1:]
    if len(words) != count:
        many = "too many" if len(words) > count else "too few"
        raise field.fault(f"rewrite {field.text}: {many} words", f"write `{_SYNTAX[field.text]}`")
    return Kind.EXACT, words


def _renaming(kind: Kind, old: Word, new: Word | None) -> Renaming:
    """Matches ``old`` and puts ``new`` there; without it, it only matches."""
    if kind is Kind.REGEX:
        pattern = Pattern().convert(old)
        text = new.text if new else "{0}"
        if new and max(groups_of(text), default=0) > pattern.groups:
            raise unfit(new, f"naming a group that `{old.text}` has not", f"it has {pattern.groups}")
        return PatternRenaming(pattern, text)
    return TextRenaming(kind, _text(kind, old), _text(kind, new) if new else _text(kind, old))


def _text(kind: Kind, word: Word) -> str:
    """The word as names are shown, with a final dot where a name must end."""
    text = word.text.lower()
    if kind in (Kind.EXACT, Kind.SUFFIX) and not text.endswith("."):
        text += "."
    if kind is not Kind.EXACT:
        return text
    try:
        return str(parse_name(text))
    except BadNameError as error:
        raise unfit(word, f"no name: {error}") from error


_SYNTAX = {
    "name": "name [KIND] FROM TO [answer auto|name FROM TO|value FROM TO]",
    "type": "type FROM TO",
    "class": "class FROM TO",
    "ttl": "ttl [KIND] NAME SECONDS|MIN-MAX",
    "rcode": "rcode [KIND] NAME FROM TO",
    "cname": "cname [KIND] FROM TO",
}
_READERS: dict[str, Callable[[Word, Sequence[Word]], Rule | OptionRule]] = {
    "name": _name,
    "type": _type,
    "class": _class,
    "ttl": _ttl,
    "rcode": _rcode,
    "cname": _cname,
    "edns0": read_option_rule,
}
FIELDS = tuple(_READERS)
"""What the lines of a rule may begin with."""
