"""Did you mean: the known word that a slip of the pen is nearest to."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from kubedns.corefile.blocks import Word
from kubedns.errors import ConfigurationError


def nearest(text: str, known: Collection[str]) -> str | None:
    """The word of ``known`` that ``text`` is most like; None where none is."""
    return next(iter(get_close_matches(text.lower(), known, n=1)), None)


def unknown_plugin(word: Word, known: Collection[str]) -> ConfigurationError:
    """The fault of a word that is no plugin, with the nearest one, or all of them."""
    guess = nearest(word.text, known)
    remedy = f"did you mean `{guess}`?" if guess else f"plugins: {', '.join(sorted(known))}"
    return word.fault(f"unknown plugin `{word.text}`", remedy)
