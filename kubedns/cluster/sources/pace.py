"""Pace: how long the reflectors of an API server wait, for what. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. ``idle``: without a word a watch counts as dead; a server that lives sends a bookmark each minute.

    ``initial``: without a word, before a streamed list has ended, the server counts as one that does not stream lists.
    ``watch``: how long the server is asked to keep a watch, up to twice that. ``verify``: between lists that nobody
    asked for, up to twice that. ``first`` and ``longest``: waits between tries that fail; ``forbidden``: where the kind
    is not allowed.
    """

    idle: float = 180.0
    initial: float = 2.0
    watch: float = 300.0
    verify: float = 1800.0
    first: float = 0.5
    longest: float = 30.0
    forbidden: float = 60.0
