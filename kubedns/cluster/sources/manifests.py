"""The manifests source: files and folders of Kubernetes objects, watched, in place of an API server."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, awatch

from kubedns.cluster.objects import Object
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.sources.documents import FileContent, read_documents
from kubedns.cluster.sources.files import SUFFIXES, Files, find_files, unreadable
from kubedns.cluster.sources.kinds import IMPORTED_KINDS, Identity, name_identity
from kubedns.cluster.sources.kinds import KINDS as READ_KINDS
from kubedns.cluster.store import KINDS, Store
from kubedns.cluster.workloads import Networks, expand
from kubedns.cluster.written import Entry
from kubedns.errors import Location, ManifestError

_LOOK_AGAIN_SECONDS = 0.8
"""Files are also looked at unasked, for a mount or a link may keep its changes from the watch."""
_SETTLE_SECONDS = 0.05
"""What has not changed for so long is taken to be whole: who saves a file empties, removes or renames it first."""
_LOOKS_TO_SETTLE = 6
_LARGE_OCTETS = 1 << 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ManifestOptions:
    """Which files and folders, where made-up addresses come from, and what labels objects must have.

    ``imports``: read what other clusters have given, in place of what the cluster has itself.
    """

    paths: tuple[str, ...]
    networks: Networks = field(default_factory=Networks)
    selector: LabelSelector = field(default_factory=LabelSelector)
    imports: bool = False


class ManifestSource:
    """Keeps ``store`` at what the files say. ``report`` hears all faults whenever they have changed.

    A document that breaks leaves its last good content in force, and every other document unharmed. ``now`` gives
    seconds that only grow.
    """

    def __init__(
        self,
        options: ManifestOptions,
        store: Store,
        report: Callable[[Sequence[ManifestError]], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._roots = [Path(text) for text in options.paths]
        self._absolute_roots = {root.absolute() for root in self._roots}
        self._store = store
        self._report = report
        self._now = now
        self._last_look = now()
        self._files = Files()
        self._contents: dict[Path, FileContent] = {}
        self._working_out: list[ManifestError] = []
        self._reported: list[str] = []
        self._has_failed = False

    @property
    def age_seconds(self) -> float:
        """Seconds since the files were last seen to be as the store has them."""
        return self._now() - self._last_look

    @property
    def skipped(self) -> int:
        """How many objects are of kinds that have no part in names."""
        return sum(content.skipped for content in self._contents.values())

    async def load(self) -> Sequence[ManifestError]:
        """Read everything into the store; what could not be used, which is not reported besides."""
        await self._read(await asyncio.to_thread(find_files, self._roots))
        faults = self._faults()
        self._reported = [str(fault) for fault in faults]
        return faults

    async def run(self) -> None:
        """Follow changes until cancelled."""
        while True:
            folders, is_deep = self._folders()
            try:
                async for _ in awatch(
                    *folders,
                    watch_filter=self._may_matter,
                    debounce=200,
                    step=100,
                    rust_timeout=int(_LOOK_AGAIN_SECONDS * 1000),
                    yield_on_timeout=True,
                    recursive=is_deep,
                ):
                    await self._look()
            except (OSError, RuntimeError):
                # Nothing to watch any more, or yet, or no watches to be had: looking goes on.
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
                await self._look()

    def _folders(self) -> tuple[list[Path], bool]:
        """What to watch, and whether all below it: the folders, else the ones that single files are in."""
        folders = [root for root in self._roots if root.is_dir()]
        return (folders, True) if folders else (sorted({root.parent for root in self._roots}), False)

    def _may_matter(self, _change: Change, path: str) -> bool:
        """Whether a change in a watched folder can matter: our own log may well be written beside the manifests.

        A name without suffix may be a folder's.
        """
        changed = Path(path)
        return changed.suffix in ("", *SUFFIXES) or changed.name.startswith("..") or changed in self._absolute_roots

    async def _look(self) -> None:
        """Bring the store to what the files say now. Whatever happens, the next look is made."""
        try:
            await self._follow()
            self._has_failed = False
        except Exception:
            if not self._has_failed:
                _log.exception("the manifests could not be read; the last good state stays in force")
            self._has_failed = True

    async def _follow(self) -> None:
        files = await asyncio.to_thread(find_files, self._roots)
        if files.stamps != self._files.stamps:
            files = await self._settled(files)
            await self._read(files)
        self._files = files
        self._last_look = self._now()
        faults = self._faults()
        texts = [str(fault) for fault in faults]
        if texts != self._reported:
            self._reported = texts
            self._report(faults)

    async def _settled(self, files: Files) -> Files:
        """The files once nobody is at work on them."""
        for _ in range(_LOOKS_TO_SETTLE):
            await asyncio.sleep(_SETTLE_SECONDS)
            before, files = files, await asyncio.to_thread(find_files, self._roots)
            if files.stamps == before.stamps:
                break
        return files

    async def _read(self, files: Files) -> None:
        contents = await asyncio.to_thread(self._contents_of, files)
        objects, faults = await asyncio.to_thread(self._work_out, contents)
        new_octets = sum(
            stamp[1] for path, stamp in files.stamps.items() if contents[path] is not self._contents.get(path)
        )
        self._files, self._contents, self._working_out = files, contents, faults
        self._apply(objects)
        del objects
        if new_octets > _LARGE_OCTETS:
            await asyncio.to_thread(give_memory_back)

    def _apply(self, objects: Iterable[Object]) -> None:
        by_type: dict[type[Object], list[Object]] = {kind: [] for kind in KINDS}
        for item in objects:
            by_type[type(item)].append(item)
        for item_type, items in by_type.items():
            self._store.replace(KINDS[item_type], items)

    def _contents_of(self, files: Files) -> dict[Path, FileContent]:
        """What every file says; those that have not changed are not read again."""
        contents = {path: old for path, old in self._contents.items() if files.is_unknown(path)}
        for path, stamp in files.stamps.items():
            old = self._contents.get(path)
            if old is None or stamp != self._files.stamps.get(path):
                contents[path] = self._content_of(path, old)
            else:
                contents[path] = old
        return contents

    def _content_of(self, path: Path, old: FileContent | None) -> FileContent:
        try:
            kinds = IMPORTED_KINDS if self._options.imports else READ_KINDS
            content = read_documents(path.read_bytes(), str(path), self._options.selector, kinds)
        except OSError as error:
            content = FileContent(faults=[unreadable(path, error)], has_unknown=True)
        if old is not None:
            content.keep_from(old)
        return content

    def _work_out(self, contents: dict[Path, FileContent]) -> tuple[list[Object], list[ManifestError]]:
        """All objects, and what is wrong with the files taken together."""
        entries: dict[Identity, Entry] = {}
        places: dict[Identity, Path] = {}
        faults = []
        for path in sorted(contents):
            for identity, entry in contents[path].documents.items():
                if identity in places:
                    message = f"{name_identity(identity)} stands in {path} too"
                    faults.append(
                        ManifestError(message, location=Location(str(places[identity])), remedy="that counts")
                    )
                entries[identity], places[identity] = entry, path
        expansion = expand(entries.values(), self._options.networks, self._options.selector)
        for network in expansion.full:
            message = "every address is taken, so that some objects have none"
            faults.append(ManifestError(message, location=Location(str(network)), remedy="choose a larger network"))
        return expansion.objects, faults

    def _faults(self) -> list[ManifestError]:
        of_files = [fault for path in sorted(self._contents) for fault in self._contents[path].faults]
        return [*self._files.faults, *of_files, *self._working_out]


def give_memory_back() -> None:
    """Return to the system what reading a large file has left free (where the C library can)."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return
