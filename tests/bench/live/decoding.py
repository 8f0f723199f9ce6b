"""What an object of the API costs: to decode, and to decode and put into the store; on the same pages, by turns.

``python -m tests.bench.live.decoding FOLDER`` prints, for each resource, objects and the microseconds of both.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from kubedns.cluster.sources.api_messages import Page, Reader
from kubedns.cluster.sources.resources import SERVICES, SLICES, Resource
from kubedns.cluster.sources.upkeep import Upkeep
from kubedns.cluster.store import Store
from tests.bench.live.bodies import pages_of
from tests.bench.processes import BenchError

_ROUNDS = 3


def measure(folder: Path, resource: Resource) -> tuple[int, float, float]:
    """Objects, and the least microseconds of CPU time for one of them: decoded alone, and stored too."""
    pages = [path.read_bytes() for path in pages_of(folder, resource.plural)]
    bare = [_decode(pages, resource) for _ in range(_ROUNDS)]
    whole = [_store(pages, resource) for _ in range(_ROUNDS)]
    objects = bare[0][0]
    if {found for found, _ in (*bare, *whole)} != {objects}:
        raise BenchError(f"{resource.plural}: not all objects are stored: {bare} {whole}")
    least = [min(seconds for _, seconds in found) * 1e6 / objects for found in (bare, whole)]
    return objects, least[0], least[1]


def _decode(pages: list[bytes], resource: Resource) -> tuple[int, float]:
    """Every page into typed objects, which are dropped."""
    body: Any = resource.body
    decoder = msgspec.json.Decoder(Page[body])
    gc.collect()
    began = process_time()
    objects = sum(len(decoder.decode(page).items or ()) for page in pages)
    return objects, process_time() - began


def _store(pages: list[bytes], resource: Resource) -> tuple[int, float]:
    """Every page into a store, as the reflector does it."""
    store = Store()
    reader: Reader[Any] = Reader(resource.body, lambda name, why: None)
    upkeep = Upkeep(resource, store, lambda name, why: None)
    gc.collect()
    began = process_time()
    upkeep.begin_list()
    for page in pages:
        upkeep.add_listed(reader.page(page)[0], "")
    upkeep.end_list()
    return len(store.objects[resource.kind]), process_time() - began


if __name__ == "__main__":
    json.dump({each.plural: measure(Path(sys.argv[1]), each) for each in (SERVICES, SLICES)}, sys.stdout)
