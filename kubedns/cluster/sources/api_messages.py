"""What an API server sends: pages of a list, lines of a watch, statuses; read into typed bodies. Pure.

A list or an event is read in one go; only where something in it is wrong are its objects read one by one, so that the
one at fault is named and left out, and the rest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from kubedns.cluster.bodies import ObjectBody
from kubedns.cluster.sources.api_errors import ApiError

B = TypeVar("B", bound=ObjectBody)
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_SHOWN = 200


class ListMetadata(msgspec.Struct, rename="camel", gc=False):
    """``metadata`` of a list: the version it is of, and where its next page begins."""

    resource_version: str | None = None
    continue_: str | None = msgspec.field(name="continue", default=None)


class Page(msgspec.Struct, Generic[B], gc=False):
    """One page of a list."""

    metadata: ListMetadata
    items: list[B] | None = None


class Event(msgspec.Struct, gc=False):
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and the object as it came."""

    type: str
    object: msgspec.Raw


class Status(msgspec.Struct, gc=False):
    """Why a request failed."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None


class _Identified(msgspec.Struct):
    metadata: dict[str, Any] = {}  # msgspec copies it for each object


_EVENT = msgspec.json.Decoder(Event)
_RAW_PAGE = msgspec.json.Decoder(Page[msgspec.Raw])  # type: ignore[type-var]
_STATUS = msgspec.json.Decoder(Status)
_IDENTIFIED = msgspec.json.Decoder(_Identified)


class Reader(Generic[B]):
    """Reads what holds objects of one ``body``. ``skip`` is told the name of each object left out, and why."""

    def __init__(self, body: type[B], skip: Callable[[str, str], None]) -> None:
        self._page = msgspec.json.Decoder(Page[body])  # type: ignore[valid-type]
        self._object = msgspec.json.Decoder(body)
        self._skip = skip

    def page(self, octets: bytes) -> tuple[list[B], ListMetadata]:
        """The objects of a page that can be read, and its metadata.

        Raises:
            ApiError: it is no page of a list.
        """
        try:
            page = self._page.decode(octets)
            return page.items or [], page.metadata
        except (msgspec.ValidationError, UnicodeDecodeError):
            return self._one_by_one(octets)
        except msgspec.DecodeError as error:
            raise _garbage(octets) from error

    def object(self, octets: msgspec.Raw) -> B | None:
        """The object; None for one that cannot be read and is left out."""
        try:
            return self._object.decode(octets)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._skip(name_in(octets), str(error))
            return None

    def _one_by_one(self, octets: bytes) -> tuple[list[B], ListMetadata]:
        try:
            page = _RAW_PAGE.decode(octets)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _garbage(octets) from error
        return [found for raw in page.items or () if (found := self.object(raw)) is not None], page.metadata


def event_of(line: bytes) -> Event:
    """The event that a line of a watch holds.

    Raises:
        ApiError: none.
    """
    try:
        return _EVENT.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _garbage(line) from error


def status_of(octets: bytes | msgspec.Raw) -> Status:
    """What a Status says; of anything else, its beginning as the message."""
    try:
        return _STATUS.decode(octets)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Status(message=_beginning(bytes(octets)))


def name_in(octets: msgspec.Raw) -> str:
    """``NAMESPACE/NAME`` of an object that may be broken elsewhere."""
    try:
        metadata = _IDENTIFIED.decode(octets).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "without a name"
    return "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part)) or "without a name"


def version_in(octets: msgspec.Raw) -> str:
    """The resourceVersion of an object that may be broken elsewhere; empty where it has none."""
    try:
        return str(_IDENTIFIED.decode(octets).metadata.get("resourceVersion") or "")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def ends_initial_events(octets: msgspec.Raw) -> bool:
    """Whether the object of a bookmark ends the list at the beginning of a watch."""
    try:
        annotations = _IDENTIFIED.decode(octets).metadata.get("annotations")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(annotations, dict) and annotations.get(_INITIAL_EVENTS_END) == "true"


def lines_of(buffer: bytearray) -> Iterator[bytes]:
    """The complete lines at the beginning of ``buffer``, taken out of it; blank ones are no lines."""
    end = buffer.rfind(b"\n")
    if end < 0:
        return
    lines = bytes(buffer[:end])
    del buffer[: end + 1]
    for line in lines.split(b"\n"):
        if line.strip():
            yield line


def _garbage(octets: bytes) -> ApiError:
    return ApiError(0, f"the server sent what cannot be read: {_beginning(octets)}")


def _beginning(octets: bytes) -> str:
    text = octets[:_SHOWN].decode(errors="replace")
    return "".join(character if character.isprintable() else " " for character in text)
