"""The files of ``auto``: which of a folder are zones, and what keeps others from being one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.shapes import Shape, unfit
from kubedns.dns.names import BadNameError, Name, parse_name

_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_VERSIONS = ".."
"""What names of a mounted ConfigMap's versions begin with; the files outside are links into the newest."""


@dataclass(frozen=True, slots=True)
class Directory:
    """Files below ``folder`` (None: the server block's) whose name is ``pattern`` are zones named by ``origin``."""

    folder: Word | None = None
    pattern: re.Pattern[str] = re.compile(r"db\.(.*)")
    origin: str = "{1}"


class DirectoryWords(Shape[Directory]):
    """``FOLDER [REGEXP ORIGIN]``."""

    syntax = "FOLDER [REGEXP ORIGIN]"

    def read(self, line: Directive) -> Directory:
        """Folder, pattern and template."""
        folder, *rest = self.words(line, 1, 3)
        if not rest:
            return Directory(folder)
        if len(rest) == 1:
            raise unfit(rest[0], "a pattern without the zone's name", f"write `directory {self.syntax}`")
        try:
            pattern = re.compile(rest[0].text)
        except re.error as error:
            raise unfit(rest[0], f"no regular expression: {error}") from error
        groups = {int(number) for number in _PLACEHOLDER.findall(rest[1].text)}
        if any(number > pattern.groups for number in groups):
            raise unfit(rest[1], f"of more groups than the {pattern.groups} of the pattern")
        return Directory(folder, pattern, rest[1].text)


@dataclass(frozen=True, slots=True)
class Found:
    """The zones of a folder with their files, and what is wrong with others, for people."""

    zones: dict[Name, Path] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def find_zones(folder: Path, directory: Directory, zones: Sequence[Name]) -> Found | OSError:
    """The zones there are in ``folder`` as ``directory`` says, at or below ``zones``; or why it cannot be looked at.

    Of two files for one zone the first by name counts.
    """
    try:
        paths = _files_below(folder)
    except OSError as error:
        return error
    found = Found()
    for path in paths:
        match = directory.pattern.fullmatch(path.name)
        if match is not None:
            text = _PLACEHOLDER.sub(lambda each, match=match: match[int(each[1])] or "", directory.origin)  # type: ignore[misc]
            _place(path, text, zones, found)
    return found


def _place(path: Path, text: str, zones: Iterable[Name], found: Found) -> None:
    """Note the file of the zone that ``text`` names, or what is wrong with it."""
    try:
        origin = parse_name(text)
    except BadNameError as error:
        found.faults.append(f"{path}: its name makes no zone, `{text}`: {error}; name the file after its zone")
        return
    if not origin.is_within(zones):
        served = ", ".join(map(str, zones))
        found.faults.append(f"{path}: {origin} is not served, being outside of {served}; name it after `auto`")
    elif origin in found.zones:
        first = found.zones[origin]
        found.faults.append(f"{path}: {origin} is read from {first}, so this file is not; leave one of them out")
    else:
        found.zones[origin] = path


def _files_below(folder: Path) -> list[Path]:
    """The files in ``folder`` and below, by name.

    Raises:
        OSError: one of the folders cannot be looked at.
    """

    def refuse(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [each for each in folders if not each.startswith(_VERSIONS)]
        found += [Path(place, name) for name in names if not name.startswith(_VERSIONS)]
    return sorted(path for path in found if path.is_file())
