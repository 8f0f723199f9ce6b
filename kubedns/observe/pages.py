"""Pages for probes and people: what is served where. observe.http serves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """What a page says just now."""

    status: int
    text: str
    content_type: str = "text/plain"


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where pages are served; an empty ``host`` is every address of the machine."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``respond`` is called from another thread and must not wait."""

    address: HttpAddress
    path: str
    respond: Callable[[], Reply]
