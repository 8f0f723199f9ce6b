"""Documents: the text of one manifest file → what it says, document by document, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from kubedns.cluster import bodies
from kubedns.cluster.decoding import (
    BadObjectError,
    decode_endpoints,
    decode_namespace,
    decode_node,
    decode_service,
    decode_slice,
    names_of,
)
from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.workloads import Written, WrittenService
from kubedns.errors import Location, ManifestError

Identity = tuple[str, str, str]
"""Kind, namespace and name of a document's object."""

_MARKER = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_PLACE = re.compile(r"(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_LOCATABLE_OCTETS = 4 << 20
"""Larger JSON is not read a second time only to find the line of a fault."""


@dataclass(slots=True)
class FileContent:
    """What a file says. ``has_unknown``: a document could not even be told what it is of."""

    documents: dict[Identity, Written] = field(default_factory=dict)
    faults: list[ManifestError] = field(default_factory=list)
    has_unknown: bool = False

    def keep_from(self, old: FileContent) -> None:
        """Let what was good before go on in place of what is broken now."""
        broken = {fault.location.word for fault in self.faults if fault.location}
        for identity, written in old.documents.items():
            if identity not in self.documents and (self.has_unknown or "/".join(identity) in broken):
                self.documents[identity] = written


class Head(msgspec.Struct):
    """What tells a document's kind."""

    kind: str = ""
    api_version: str = msgspec.field(name="apiVersion", default="")
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    groups: tuple[str, ...]
    body: type[bodies.Body]
    read: Callable[[Any, str, LabelSelector, Written], None]


def read_documents(content: bytes, file: str, selector: LabelSelector) -> FileContent:
    """Everything in a file; ``selector`` limits Services and slices, which are all that has a name by its labels."""
    found = FileContent()
    if content.lstrip()[:1] == b"{":
        _read_json(content, _Reader(file, content, 0, selector, found))
        return found
    start = 0
    for marker in [*_MARKER.finditer(content), None]:
        end = marker.start() if marker else len(content)
        lines_before = content.count(b"\n", 0, start)
        chunk = content[start:end]
        if chunk.strip():
            _read_yaml(chunk, _Reader(file, chunk, lines_before, selector, found))
        start = marker.end() if marker else end
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Where a document stands, and where what it says goes."""

    file: str
    text: bytes
    lines_before: int
    selector: LabelSelector
    found: FileContent

    def take(self, kind: str, api_version: str, make: Callable[[type[bodies.Body]], Any], path: str, line: int) -> None:
        """Read one object, which ``make`` gives as the body of its kind."""
        known = _KINDS.get(kind)
        if known is None or api_version.rpartition("/")[0] not in known.groups:
            return
        origin = f"{self.file}:{line}" if line else f"{self.file} {path.lstrip('.')}"
        written = Written()
        try:
            body = make(known.body)
            identity = (kind, *names_of(body.metadata))
            known.read(body, origin, self.selector, written)
        except msgspec.ValidationError as error:
            place = _PLACE.fullmatch(str(error))
            where = (place["path"] or "") if place else ""
            self.fault(path + where, _plain(place["message"] if place else str(error)), "", self._identity(kind, path))
        except BadObjectError as error:
            self.fault(f"{path}.{error.field}", error.message, error.remedy, self._identity(kind, path))
        else:
            self.found.documents[identity] = written

    def fault(self, path: str, message: str, remedy: str, word: str) -> None:
        """Note what is wrong at ``path``."""
        shown = path.lstrip(".")
        location = Location(self.file, self._line(path), 0, word)
        text = f"{shown}: {message}" if shown else message
        self.found.faults.append(ManifestError(text, location=location, remedy=remedy))

    def syntax(self, message: str, line: int) -> None:
        """Note that the text cannot be read at all."""
        self.found.has_unknown = True
        location = Location(self.file, line)
        self.found.faults.append(
            ManifestError(
                message, location=location, remedy="mend the syntax; what this file said before stays in force"
            )
        )

    def _identity(self, kind: str, path: str) -> str:
        """Kind, namespace and name of a broken document, as far as they can be made out."""
        node = _node_at(self._compose(), f"{path}.metadata")
        fields = {key.value: value.value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
        return "/".join((kind, str(fields.get("namespace", "default")), str(fields.get("name", ""))))

    def _line(self, path: str) -> int:
        node = _node_at(self._compose(), path)
        return 0 if node is None else self.lines_before + node.start_mark.line + 1

    def _compose(self) -> yaml.Node | None:
        if len(self.text) > _LOCATABLE_OCTETS:
            return None
        try:
            return yaml.compose(self.text, Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            return None


def _read_yaml(chunk: bytes, reader: _Reader) -> None:
    try:
        document = yaml.load(chunk, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        reader.syntax(f"no YAML: {problem}", reader.lines_before + (mark.line + 1 if mark else 1))
        return
    for item, path in _objects(document, ""):
        head = (str(item.get("kind") or ""), str(item.get("apiVersion") or ""))
        line = reader.lines_before + _first_line(chunk) if not path else 0

        def convert(body: type[bodies.Body], item: dict[str, Any] = item) -> Any:  # noqa: ANN401
            return msgspec.convert(item, body)

        reader.take(*head, convert, path, line)


def _first_line(chunk: bytes) -> int:
    """The line, from 1, on which a document begins behind blank lines and comments."""
    for number, line in enumerate(chunk.split(b"\n"), 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            return number
    return 1


def _objects(document: object, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a document: itself, or its items if it is a list."""
    if not isinstance(document, dict):
        return
    items = document.get("items")
    if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
        for position, item in enumerate(items):
            yield from _objects(item, f"{path}.items[{position}]")
    else:
        yield document, path


def _read_json(content: bytes, reader: _Reader) -> None:
    try:
        _take_json(msgspec.Raw(content), reader, "")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reader.syntax(f"no JSON: {error}", 1)


def _take_json(raw: msgspec.Raw, reader: _Reader, path: str) -> None:
    try:
        head = msgspec.json.decode(raw, type=Head)
    except msgspec.ValidationError as error:
        reader.fault(path, _plain(str(error)), "", "")
        return
    if head.kind.endswith("List") and head.items is not None:
        for position, item in enumerate(head.items):
            _take_json(item, reader, f"{path}.items[{position}]")
        return
    reader.take(head.kind, head.api_version, lambda body: msgspec.json.decode(raw, type=body), path, 0 if path else 1)


def _plain(message: str) -> str:
    """A message of msgspec in the manner of our own."""
    return message.replace("`", "").replace("Expected", "expected").replace("Object missing required", "missing the")


def _node_at(node: yaml.Node | None, path: str) -> yaml.Node | None:
    """The node at ``path``, or the deepest one on the way there."""
    for name, index in _STEP.findall(path):
        if isinstance(node, yaml.MappingNode):
            below = next((value for key, value in node.value if key.value == name), None)
        elif isinstance(node, yaml.SequenceNode) and index.isdigit() and int(index) < len(node.value):
            below = node.value[int(index)]
        else:
            below = None
        if below is None:
            return node
        node = below
    return node


def _service(body: bodies.ServiceBody, origin: str, selector: LabelSelector, written: Written) -> None:
    service = decode_service(body, origin)
    if not selector.matches(body.metadata.labels or {}):
        return
    is_whole = bool(service.cluster_ips or service.external_name) and not body.spec.selector
    if is_whole:
        written.objects.append(service)
    else:
        written.services.append(WrittenService(service, body))


def _slice(body: bodies.SliceBody, origin: str, selector: LabelSelector, written: Written) -> None:
    endpoint_slice = decode_slice(body, origin)
    if selector.matches(body.metadata.labels or {}):
        written.objects.append(endpoint_slice)


def _endpoints(body: bodies.EndpointsBody, origin: str, selector: LabelSelector, written: Written) -> None:
    slices = decode_endpoints(body, origin)
    if selector.matches(body.metadata.labels or {}):
        written.objects += slices


def _pod(body: bodies.PodBody, origin: str, _selector: LabelSelector, written: Written) -> None:
    written.pods.append((body, origin))


def _node(body: bodies.NodeBody, origin: str, _selector: LabelSelector, written: Written) -> None:
    written.objects.append(decode_node(body, origin))


def _namespace(body: bodies.NamespaceBody, origin: str, _selector: LabelSelector, written: Written) -> None:
    written.objects.append(decode_namespace(body, origin))


def _workload(kind: str) -> _Kind:
    def read(body: bodies.WorkloadBody, origin: str, _selector: LabelSelector, written: Written) -> None:
        written.workloads.append((kind, body, origin))

    return _Kind(("apps", "extensions"), bodies.WorkloadBody, read)


_CORE = ("",)
_KINDS: dict[str, _Kind] = {
    "Service": _Kind(_CORE, bodies.ServiceBody, _service),
    "EndpointSlice": _Kind(("discovery.k8s.io",), bodies.SliceBody, _slice),
    "Endpoints": _Kind(_CORE, bodies.EndpointsBody, _endpoints),
    "Pod": _Kind(_CORE, bodies.PodBody, _pod),
    "Node": _Kind(_CORE, bodies.NodeBody, _node),
    "Namespace": _Kind(_CORE, bodies.NamespaceBody, _namespace),
    **{kind: _workload(kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")},
}
