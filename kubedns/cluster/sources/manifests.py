"""The manifests source: files and folders of Kubernetes objects, watched, in place of an API server."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, awatch

from kubedns.cluster.allocation import NoRoomError
from kubedns.cluster.objects import Object
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.sources.documents import FileContent, read_documents
from kubedns.cluster.store import KINDS, Store
from kubedns.cluster.workloads import Networks, Written, expand
from kubedns.errors import Location, ManifestError

SUFFIXES = (".yaml", ".yml", ".json")
_LOOK_AGAIN_MILLISECONDS = 2000
"""Files are also looked at unasked, for a mount or a link may keep its changes from inotify."""
_log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ManifestOptions:
    """Which files and folders, where made-up addresses come from, and what labels objects must have."""

    paths: tuple[str, ...]
    networks: Networks = field(default_factory=Networks)
    selector: LabelSelector = field(default_factory=LabelSelector)


@dataclass(slots=True)
class _File:
    stamp: Stamp
    content: FileContent


class ManifestSource:
    """Keeps ``store`` at what the files say. ``report`` hears all faults whenever they have changed.

    A document that breaks leaves its last good content in force, and every other document unharmed.
    """

    def __init__(
        self, options: ManifestOptions, store: Store, report: Callable[[Sequence[ManifestError]], None]
    ) -> None:
        self._options = options
        self._store = store
        self._report = report
        self._files: dict[Path, _File] = {}
        self._faults: list[str] = []

    async def load(self) -> Sequence[ManifestError]:
        """Read everything into the store; what could not be used, which is not reported besides."""
        changed, faults = await asyncio.to_thread(self._scan)
        objects = await asyncio.to_thread(self._expand, faults)
        self._apply(objects)
        self._faults = [str(fault) for fault in faults]
        if changed:
            give_memory_back()
        return faults

    async def run(self) -> None:
        """Follow changes until cancelled."""
        folders, deep = self._folders()
        changes = awatch(
            *folders,
            watch_filter=_is_manifest,
            debounce=200,
            step=100,
            rust_timeout=_LOOK_AGAIN_MILLISECONDS,
            yield_on_timeout=True,
            recursive=deep,
        )
        async for _ in changes:
            try:
                await self._look()
            except Exception:
                _log.exception("the manifests could not be read; the last good state stays in force")

    async def _look(self) -> None:
        changed, faults = await asyncio.to_thread(self._scan)
        if changed:
            self._apply(await asyncio.to_thread(self._expand, faults))
        texts = [str(fault) for fault in faults]
        if texts != self._faults:
            self._faults = texts
            self._report(faults)

    def _apply(self, objects: Iterable[Object]) -> None:
        by_type: dict[type[Object], list[Object]] = {kind: [] for kind in KINDS}
        for item in objects:
            by_type[type(item)].append(item)
        for item_type, items in by_type.items():
            self._store.replace(KINDS[item_type], items)

    def _expand(self, faults: list[ManifestError]) -> list[Object]:
        written = Written()
        for path in sorted(self._files):
            for document in self._files[path].content.documents.values():
                written.extend(document)
        try:
            return expand(written, self._options.networks)
        except NoRoomError as error:
            faults.append(ManifestError(str(error), location=Location(self._options.paths[0])))
            return list(written.objects)

    def _scan(self) -> tuple[bool, list[ManifestError]]:
        """Read the files that have changed; whether any had, and everything that is wrong now."""
        changed = False
        faults: list[ManifestError] = []
        seen: set[Path] = set()
        for path in self._paths(faults, seen):
            seen.add(path)
            try:
                changed |= self._read(path)
            except OSError as error:
                faults.append(_unreadable(path, error))
        for path in [path for path in self._files if path not in seen]:
            del self._files[path]
            changed = True
        faults += [fault for path in sorted(self._files) for fault in self._files[path].content.faults]
        return changed, faults

    def _read(self, path: Path) -> bool:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        old = self._files.get(path)
        if old is not None and old.stamp == stamp:
            return False
        content = read_documents(path.read_bytes(), str(path), self._options.selector)
        if old is not None:
            content.keep_from(old.content)
        self._files[path] = _File(stamp, content)
        return True

    def _paths(self, faults: list[ManifestError], seen: set[Path]) -> Iterator[Path]:
        """The files there are. Of a root that cannot be read, what was read before counts as still there."""
        for text in self._options.paths:
            root = Path(text)
            try:
                if root.is_dir():
                    yield from _files_below(root)
                else:
                    root.stat()
                    yield root
            except OSError as error:
                faults.append(_unreadable(root, error))
                seen.update(path for path in self._files if path == root or root in path.parents)

    def _folders(self) -> tuple[list[Path], bool]:
        """What to watch, and whether all below it: the folders, else the ones that single files are in."""
        roots = [Path(text) for text in self._options.paths]
        folders = [root for root in roots if root.is_dir()]
        return (folders, True) if folders else (sorted({root.parent for root in roots}), False)


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root, followlinks=True):
        # A mounted ConfigMap keeps its versions in folders that begin with two dots.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield Path(folder, name)


def _is_manifest(_change: Change, path: str) -> bool:
    """Whether a change in a watched folder can matter: our own log may well be written beside the manifests."""
    return path.endswith(SUFFIXES) or os.path.basename(path).startswith("..")


def _unreadable(path: Path, error: OSError) -> ManifestError:
    reason = error.strerror or str(error)
    return ManifestError(f"cannot be read: {reason}", location=Location(str(path)), remedy="what was read before stays")


def give_memory_back() -> None:
    """Return to the system what reading a large file has left free (where the C library can)."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return
