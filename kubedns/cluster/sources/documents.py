"""Documents: the text of one manifest file → what it says, document by document, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kubedns.cluster.checks import BadObjectError
from kubedns.cluster.decoding import DEFAULT_NAMESPACE
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.sources.kinds import KINDS, Identity, ReadableKind, name_identity
from kubedns.cluster.sources.type_faults import type_fault
from kubedns.cluster.sources.yaml_lists import split_list
from kubedns.cluster.sources.yaml_text import YamlError, YamlText
from kubedns.cluster.written import Entry
from kubedns.errors import Location, ManifestError

_MARKER = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_NOTHING = re.compile(rb"(?:\s|#[^\n]*+|^%[^\n]*+|^\.\.\.)*+", re.MULTILINE)
"""A stretch without a document: blank lines, comments, directives (YAML 1.1 §4.3), an end marker."""
_BETWEEN = re.compile(rb"[\s,]*")
_BRACE = re.compile(rb"\s*\{")
_PLACE_IN_JSON = re.compile(r"(?P<message>.*) \(byte (?P<at>\d+)\)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SYNTAX_REMEDY = "mend the syntax; what was here before stays in force"


@dataclass(slots=True)
class FileContent:
    """What a file says. ``skipped``: how many of its objects are of kinds that have no part in names.

    ``has_unknown``: of some document it could not even be told what it is.
    """

    documents: dict[Identity, Entry] = field(default_factory=dict)
    faults: list[ManifestError] = field(default_factory=list)
    skipped: int = 0
    has_unknown: bool = False

    def add(self, other: FileContent) -> None:
        """Take in what another part of the file says."""
        self.documents.update(other.documents)
        self.faults += other.faults
        self.skipped += other.skipped
        self.has_unknown |= other.has_unknown

    def keep_from(self, old: FileContent) -> None:
        """Let what was good before go on in place of what is broken now; share what is the same."""
        broken = {fault.location.word for fault in self.faults if fault.location}
        for identity, entry in old.documents.items():
            if identity not in self.documents:
                if self.has_unknown or "/".join(identity) in broken:
                    self.documents[identity] = entry
            elif self.documents[identity] == entry:
                self.documents[identity] = entry


def read_documents(
    content: bytes, file: str, selector: LabelSelector, kinds: Mapping[str, ReadableKind] = KINDS
) -> FileContent:
    """Everything of ``kinds`` in a file. Services and slices whose labels ``selector`` does not want are left out."""
    reader = _Reader(file, selector, FileContent(), kinds)
    content = content.removeprefix(_BYTE_ORDER_MARK)
    # Flow style also begins with a brace; only a file that calls itself JSON has to be JSON.
    if _BRACE.match(content) and reader.read_json(content, file.endswith(".json")):
        return reader.found
    for chunk, lines_before in _chunks(content):
        reader.read_yaml(YamlText(chunk, lines_before))
    return reader.found


def _chunks(content: bytes) -> Iterator[tuple[bytes, int]]:
    """The documents of a stream, each with how many lines are before it."""
    start = counted = lines = 0
    for marker in [*_MARKER.finditer(content), None]:
        chunk = content[start : marker.start() if marker else len(content)]
        if not _NOTHING.fullmatch(chunk):
            lines += content.count(b"\n", counted, start)
            counted = start
            yield chunk, lines
        start = marker.end() if marker else start


class Head(msgspec.Struct):
    """What tells an object's kind. ``items``: what a list holds."""

    kind: str | None = None
    api_version: str | None = msgspec.field(name="apiVersion", default=None)
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the documents of one file into ``found``."""

    file: str
    selector: LabelSelector
    found: FileContent
    kinds: Mapping[str, ReadableKind]

    def read_yaml(self, text: YamlText) -> None:
        """Take what a document of YAML says."""
        try:
            if (items := split_list(text)) is not None:
                part = _Reader(self.file, self.selector, FileContent(), self.kinds)
                for item in items:
                    part._take_yaml(item)
                self.found.add(part.found)
                return
        except YamlError:
            pass
        try:
            self._take_yaml(text)
        except YamlError as error:
            self._unreadable(str(error), error.line)

    def _take_yaml(self, text: YamlText) -> None:
        for item, path in _objects(text.value(), ""):
            line = text.line_of(path) if path else text.first_line()
            kind, api_version = (str(item.get(name) or "") for name in ("kind", "apiVersion"))
            self._take(kind, api_version, _converter(item), _Place(text, path, line))

    def read_json(self, content: bytes, must_be_json: bool) -> bool:
        """Take what a JSON text says; whether it was one."""
        try:
            self._take_json(content, 0)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if must_be_json:
                found = _PLACE_IN_JSON.fullmatch(str(error))
                message, at = (found["message"], int(found["at"])) if found else (str(error), len(content))
                self._unreadable(f"no JSON: {message}", content.count(b"\n", 0, at) + 1)
            return must_be_json
        return True

    def _take_json(self, octets: bytes, lines_before: int) -> None:
        text = YamlText(octets, lines_before)
        place = _Place(text, "", lines_before + 1)
        try:
            head = msgspec.json.decode(octets, type=Head)
        except msgspec.ValidationError as error:
            self._fault(place, "", *type_fault(error, text.scalar_at))
            return
        if head.items is None or not (head.kind or "").endswith("List"):
            self._take(head.kind or "", head.api_version or "", _decoder(octets), place)
            return
        for item, line in _json_items(octets, head.items):
            self._take_json(item, lines_before + line)

    def _take(self, kind: str, api_version: str, make: Callable[[type[msgspec.Struct]], Any], place: _Place) -> None:
        """Take one object, which ``make`` gives as the body of its kind."""
        known = self.kinds.get(kind)
        if known is None or api_version.rpartition("/")[0] not in known.groups:
            self.found.skipped += bool(kind)
            return
        try:
            body = make(known.body)
            entry = known.write(body, f"{self.file}:{place.line}" if place.line else self.file)
        except msgspec.ValidationError as error:
            self._fault(place, kind, *type_fault(error, lambda path: place.text.scalar_at(place.path + path)))
        except BadObjectError as error:
            self._fault(place, kind, f".{error.field}", error.message, error.remedy)
        else:
            if not known.is_selective or self.selector.matches(body.metadata.labels or {}):
                self._keep(known.identity(kind, body), entry, place)

    def _keep(self, identity: Identity, entry: Entry, place: _Place) -> None:
        if identity in self.found.documents:
            message = f"{name_identity(identity)} stands in this file a second time"
            location = Location(self.file, place.line, 0, "/".join(identity))
            self.found.faults.append(ManifestError(message, location=location, remedy="this one counts"))
        self.found.documents[identity] = entry

    def _fault(self, place: _Place, kind: str, path: str, message: str, remedy: str) -> None:
        identity = _identity_at(place, kind, self.kinds.get(kind))
        # Where its name is broken or missing, nobody knows which object it was.
        self.found.has_unknown |= not identity[2] or path.startswith(".metadata.n")
        location = Location(self.file, place.text.line_of(place.path + path) or place.line, 0, "/".join(identity))
        shown = path.lstrip(".")
        self.found.faults.append(
            ManifestError(f"{shown}: {message}" if shown else message, location=location, remedy=remedy)
        )

    def _unreadable(self, message: str, line: int) -> None:
        self.found.has_unknown = True
        self.found.faults.append(ManifestError(message, location=Location(self.file, line), remedy=_SYNTAX_REMEDY))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an object stands: at ``path`` of ``text``, from ``line`` of the file on (0: unknown)."""

    text: YamlText
    path: str
    line: int


def _identity_at(place: _Place, kind: str, known: ReadableKind | None) -> Identity:
    """What a broken object would be called, as far as it can be made out."""
    at = place.path + ".metadata"
    namespace = place.text.scalar_at(f"{at}.namespace") or DEFAULT_NAMESPACE
    return kind, namespace if known and known.is_namespaced else "", place.text.scalar_at(f"{at}.name") or ""


def _converter(item: dict[str, Any]) -> Callable[[type[msgspec.Struct]], Any]:
    return lambda body: msgspec.convert(item, body)


def _decoder(octets: bytes) -> Callable[[type[msgspec.Struct]], Any]:
    return lambda body: msgspec.json.decode(octets, type=body)


def _objects(value: object, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a document: itself, or its items if it is a list."""
    if not isinstance(value, dict):
        return
    items = value.get("items")
    if str(value.get("kind", "")).endswith("List") and isinstance(items, list):
        for position, item in enumerate(items):
            yield from _objects(item, f"{path}.items[{position}]")
    else:
        yield value, path


def _json_items(octets: bytes, items: list[msgspec.Raw]) -> Iterator[tuple[bytes, int]]:
    """The texts of a list's items, each with how many lines of ``octets`` are before it."""
    end = counted = lines = 0
    for raw in items:
        item = bytes(raw)
        # Only blanks and a comma are between two items; the first one is looked for.
        start = _BETWEEN.match(octets, end).end() if end else octets.find(item)  # type: ignore[union-attr]
        lines += octets.count(b"\n", counted, start)
        counted, end = start, start + len(item)
        yield item, lines
