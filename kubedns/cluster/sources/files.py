"""Which manifest files there are, and a stamp of each that changes whenever its content does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kubedns.errors import Location, ManifestError

SUFFIXES = (".yaml", ".yml", ".json")
Stamp = tuple[int, int, int]
"""Time of the last change (of permissions too), size, inode: a file that is replaced by another has changed."""


@dataclass(slots=True)
class Files:
    """``stamps`` of the files there are. ``unknown``: files and folders of which it could not be told what they hold.

    ``faults`` say why.
    """

    stamps: dict[Path, Stamp] = field(default_factory=dict)
    unknown: list[Path] = field(default_factory=list)
    faults: list[ManifestError] = field(default_factory=list)

    def is_unknown(self, path: Path) -> bool:
        """Whether ``path`` may well be there still."""
        return any(path == each or each in path.parents for each in self.unknown)


def find_files(roots: Iterable[Path]) -> Files:
    """The files of ``roots``: each file itself, of each folder all that is below and has the name of a manifest.

    A root that is gone from a folder that is there is gone; everything else that cannot be read is unknown.
    """
    found = Files()
    for root in roots:
        try:
            for path in _files_below(root, found):
                _stamp(path, found)
        except FileNotFoundError:
            found.faults.append(ManifestError("no such file or folder", location=Location(str(root))))
            if not root.parent.is_dir():
                found.unknown.append(root)
        except OSError as error:
            _note_unreadable(root, error, found)
    return found


def _files_below(root: Path, found: Files) -> Iterator[Path]:
    if not root.is_dir():
        root.stat()
        yield root
        return
    seen: set[tuple[int, int]] = set()

    def note(error: OSError) -> None:
        _note_unreadable(Path(error.filename), error, found)

    for folder, folders, names in os.walk(root, followlinks=True, onerror=note):
        # A mounted ConfigMap keeps its versions in folders that begin with two dots.
        folders[:] = sorted(name for name in folders if not name.startswith(".") and _is_new(folder, name, seen))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield Path(folder, name)


def _is_new(folder: str, name: str, seen: set[tuple[int, int]]) -> bool:
    """Whether a folder has not been met yet: links may lead in circles."""
    try:
        status = os.stat(os.path.join(folder, name))
    except OSError:
        return True
    place = (status.st_dev, status.st_ino)
    is_new = place not in seen
    seen.add(place)
    return is_new


def _stamp(path: Path, found: Files) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        _note_unreadable(path, error, found)
        return
    found.stamps[path] = (status.st_ctime_ns, status.st_size, status.st_ino)


def _note_unreadable(path: Path, error: OSError, found: Files) -> None:
    found.unknown.append(path)
    found.faults.append(unreadable(path, error))


def unreadable(path: Path, error: OSError) -> ManifestError:
    """The fault of a file or folder that the system does not let us read."""
    reason = (error.strerror or str(error)).lower()
    return ManifestError(f"cannot be read: {reason}", location=Location(str(path)), remedy="what was read before stays")
