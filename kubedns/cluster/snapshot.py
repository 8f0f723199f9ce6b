"""Snapshot: a store's objects as lines of JSON that show which source they are of, since when, and that all is there.

The first line is a :class:`Head`, the last a :class:`Tail` with the checksum of all before it; between them is one
object in each line, its kind in ``type``, its addresses in base64. People may read it, and nobody should write it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from kubedns.cluster.objects import Object
from kubedns.errors import KubednsError

FORMAT = 1
"""Grows when an older program would misread what a newer one writes, or the other way round."""
_BATCH_OBJECTS = 100
_encoder = msgspec.json.Encoder()
_objects = msgspec.json.Decoder(Object)


class SnapshotError(KubednsError):
    """A snapshot that cannot be used: damaged, or of something else."""


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Where a source's snapshot is, and the greatest age in seconds at which it is still answered from."""

    path: str
    max_age_seconds: float = 3600.0


class Head(msgspec.Struct, frozen=True):
    """``kubedns_snapshot``: the :data:`FORMAT`; ``taken``: the Unix time at which all of it was known to be so."""

    kubedns_snapshot: int
    source: str
    taken: float


class Tail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``sha256``: of all octets before this line, in hexadecimal digits."""

    objects: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read: when it was taken, in Unix time, and the objects, each with a word of that in its ``origin``."""

    taken: float
    objects: list[Object]


def written(objects: Sequence[Object], source: str, taken: float) -> Iterator[bytes]:
    """The octets, in parts so small that whoever waits between them holds nobody up."""
    digest = sha256()
    head = _encoder.encode(Head(FORMAT, source, taken)) + b"\n"
    digest.update(head)
    yield head
    for begin in range(0, len(objects), _BATCH_OBJECTS):
        part = _encoder.encode_lines(objects[begin : begin + _BATCH_OBJECTS])
        digest.update(part)
        yield part
    yield _encoder.encode(Tail(len(objects), digest.hexdigest())) + b"\n"


def read_snapshot(octets: bytes, source: str) -> Snapshot:
    """What ``octets`` hold, if all of it is there and is of ``source``.

    Raises:
        SnapshotError: it is not.
    """
    body, tail = _parted(octets)
    begin = body.find(b"\n") + 1
    try:
        head = msgspec.json.decode(body[:begin], type=Head)
        if head.kubedns_snapshot != FORMAT:
            raise SnapshotError(f"it is of format {head.kubedns_snapshot}, not {FORMAT}")
        if head.source != source:
            raise SnapshotError(f"it is of {head.source}, not of {source}")
        objects = _objects.decode_lines(body[begin:])
    except msgspec.DecodeError as error:
        raise SnapshotError(f"it is damaged: {error}") from error
    if len(objects) != tail.objects:
        raise SnapshotError(f"it is damaged: {len(objects)} objects of {tail.objects}")
    for item in objects:
        # What is listed later has another origin, and so takes the place of each of these whatever its version.
        msgspec.structs.force_setattr(item, "origin", f"snapshot, {item.origin}")
    return Snapshot(head.taken, objects)


def _parted(octets: bytes) -> tuple[bytes, Tail]:
    """All but the last line, and what that says of it.

    Raises:
        SnapshotError: it does not fit.
    """
    end = octets.rfind(b"\n", 0, -1) + 1
    try:
        tail = msgspec.json.decode(octets[end:], type=Tail)
    except msgspec.DecodeError as error:
        raise SnapshotError("it is damaged: its end is missing") from error
    if sha256(octets[:end]).hexdigest() != tail.sha256:
        raise SnapshotError("it is damaged: its checksum is wrong")
    return octets[:end], tail
