"""What a plugin is: one word of the Corefile, made from its options, with a place in the chain of its server block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.lister import Lister
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.snapshot import SnapshotPlace
from kubedns.corefile.blocks import ServerBlock
from kubedns.dns.answer import Answer, Key
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.dns.rrset import RRset
from kubedns.observe.metrics import Metrics
from kubedns.observe.pages import Page

Next = Callable[[Query], Coroutine[Any, Any, Answer]]
"""The rest of the chain; its end is REFUSED."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls back once, after so many seconds."""


class Plugin(Protocol):
    """One word at work; what it can do is told by the Protocols below."""

    word: str


@runtime_checkable
class Answering(Plugin, Protocol):
    """A plugin with a place in the chain: it answers, or asks the next one and changes what comes back.

    Nothing before a plugin's first wait may need a current task (asyncio.timeout, TaskGroup): transports drive the
    coroutine by hand and make a Task only once it suspends.
    """

    def answer(self, query: Query, next_plugin: Next) -> Coroutine[Any, Any, Answer]:
        """The answer to ``query``."""


@runtime_checkable
class OfClass(Plugin, Protocol):
    """A plugin that answers in another class than IN, which no other plugin hears of."""

    rdclass: int


@runtime_checkable
class ClassChanging(Plugin, Protocol):
    """A plugin that asks the rest of the chain in another class; it hears of every class that it changes."""

    classes: frozenset[int]
    """Those that it changes, and those that it makes of them; none: it changes no class."""


@runtime_checkable
class Choosing(Protocol):
    """A plugin that says which queries its server block is for; the others are for another block of the zone.

    ``name``: what metrics call the view. ``is_volatile``: it goes by more than answers are kept by.
    """

    name: str
    is_volatile: bool

    def takes(self, query: Query) -> bool:
        """Whether ``query`` is for this server block."""


@runtime_checkable
class ClientSensitive(Protocol):
    """A plugin that decides by who asks, before the answer cache is looked at."""

    def client_class(self, address: bytes) -> Hashable:
        """A value equal for all clients that are treated alike; answers are kept per class."""


@runtime_checkable
class Observer(Protocol):
    """A plugin that is told of the responses of its server block (log, errors)."""

    observes_all: bool
    """Whether it wants to hear of every response, cached ones too; else of those that plugins were asked for."""

    def observe(self, query: Query, answer: Answer, response: bytes, seconds: float) -> None:
        """``response`` was made of ``answer``, ``seconds`` after ``query`` was read."""


@runtime_checkable
class Readiness(Protocol):
    """A plugin that is not ready from the start."""

    def is_ready(self) -> bool:
        """Whether it can answer for its zones."""


@runtime_checkable
class Starting(Protocol):
    """A plugin that begins something once queries are answered."""

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Begin; ``plugins`` are those of the same server block."""


@runtime_checkable
class Stopping(Protocol):
    """A plugin that does something else once the server has been told to stop."""

    def stopping(self) -> None:
        """The server goes on answering for its lame duck time, then ends."""


@runtime_checkable
class Heeding(Protocol):
    """A plugin that keeps answers, which depend on more than their TTL."""

    def changed(self, keys: Iterable[Key]) -> None:
        """These keys have changed: what depends on any of them is void."""


@runtime_checkable
class Closing(Protocol):
    """A plugin that holds something of the world's: tasks, connections, watched files."""

    def close(self) -> None:
        """Give all of it up at once: the server has ended, or another configuration has taken over."""


@runtime_checkable
class Joining(Plugin, Protocol):
    """A plugin whose lines in a server block make one plugin, in the order of the file."""

    def joined(self, other: Any) -> Joining:  # noqa: ANN401
        """One that does what both do; ``other`` has the same word and stands below."""


@runtime_checkable
class Transferable(Plugin, Protocol):
    """A plugin whose zones other servers may be given whole."""

    def apexes(self) -> Iterable[Name]:
        """Where its zones begin."""

    def soa(self, zone: Name) -> RRset | None:
        """The SOA of the zone that begins at ``zone``, as it is now; None: there is none, or it is not loaded."""

    def zone_records(self, zone: Name) -> Iterator[RRset]:
        """Every RRset of that zone as it is now, whatever changes while they are read."""


@runtime_checkable
class Notifiable(Plugin, Protocol):
    """A plugin that wants to hear when a zone has changed elsewhere (NOTIFY, RFC 1996)."""

    def notified(self, zone: Name, client: bytes) -> bool:
        """``client``, a packed address, says that ``zone`` has changed; whether it is one who may say so."""


@runtime_checkable
class Serving(Protocol):
    """A plugin with pages over HTTP."""

    def pages(self) -> Iterable[Page]:
        """The pages, each with its address."""


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """Which cluster a plugin answers from; equal descriptions share one store.

    ``manifests``: files and folders to read; without any, ``api``: the API server. ``selector``: what Services, slices
    and Pods must have. ``pods``: whether all Pods are needed, not just those of StatefulSets. ``imports``: what other
    clusters gave, in place of its own. ``startup_seconds``: how long an API server is waited for. ``snapshot``: where
    what it said is kept for the next start. ``namespace``: the only one whose slices and Pods are needed (empty: all).
    """

    manifests: tuple[str, ...] = ()
    api: ApiAccess = field(default_factory=ApiAccess)
    selector: LabelSelector | None = None
    pods: bool = False
    imports: bool = False
    startup_seconds: float = 5.0
    snapshot: SnapshotPlace | None = None
    namespace: str = ""


Listed = Callable[[], Awaitable[None]]
"""Waits until there is something to answer from, or nothing to wait for any more."""


async def at_once() -> None:
    """Nothing has to be waited for."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a plugin is given beside its own options: its server block's zones, and the world's doors.

    ``lister`` gives the view of the store that a source fills; it reports to the one who builds which sources are
    needed. ``later`` calls back after so many seconds. ``unready`` gives the words of the plugins that are not ready,
    in all server blocks; ``exposition`` the process's counters as text. ``serial``: what zone serials start from, so
    that they never go back from run to run. ``changed`` is told which keys answers must no longer rest on. ``metrics``:
    what the plugin counts goes there. ``servers``: what metrics call the addresses that the server block listens on.
    ``block``: the plugins of the server block, all there once queries are answered; ``written``: what the block says.
    ``folder``: where the Corefile is, which relative paths start from. ``before``: the plugins, of all server blocks,
    of the configuration that this one takes over from. ``plugins``: those of all server blocks, once they are there;
    ``routes``: the zones of all server blocks. ``view``: the name of the server block's view, if it has one.
    ``listed`` waits, at a start, until the sources have been read or been waited for long enough.
    """

    zones: tuple[Name, ...]
    lister: Callable[[ClusterSource], Lister]
    later: Later
    unready: Callable[[], Sequence[str]]
    exposition: Callable[[], str]
    changed: Callable[[Iterable[Key]], None]
    metrics: Metrics
    servers: tuple[str, ...]
    block: Sequence[Plugin]
    written: ServerBlock
    folder: Path
    serial: int = 0
    before: Sequence[Plugin] = ()
    plugins: Sequence[Plugin] = ()
    routes: tuple[Name, ...] = ()
    view: str = ""
    listed: Listed = at_once
