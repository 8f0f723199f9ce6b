"""Checking: a Corefile or a ConfigMap, wherever it stands → what it would serve, and all that is wrong with it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kubedns.corefile.blocks import Corefile
from kubedns.corefile.kube_dns import KEYS, read_kube_dns
from kubedns.corefile.kube_dns_corefile import Surroundings, corefile_text
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationError, ConfigurationErrors
from kubedns.plugins.forward import Forward
from kubedns.resolver.chain import Chain
from kubedns.server.build import Settings, build_server
from kubedns.server.configmaps import COREFILE, load_kube_dns, written
from kubedns.server.files import DiskFiles, load_corefile
from kubedns.server.listening import server_label
from kubedns.server.server import Server

_MANIFESTS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Served:
    """A server block: its zones, where it listens, its plugins in chain order, and whom it asks."""

    zones: tuple[str, ...]
    listens: tuple[str, ...]
    plugins: tuple[str, ...]
    upstreams: tuple[str, ...]


@dataclass(slots=True)
class Checked:
    """What became of one configuration, ``name`` being where it stands."""

    name: str
    blocks: tuple[Served, ...] = ()
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def checked(path: str, port: int) -> list[Checked]:
    """Every configuration at ``path``: a Corefile, a manifest of ConfigMaps, or a folder that one is mounted at.

    ``port``: of labels that name none.
    """
    place = Path(path)
    if place.is_dir() and (place / COREFILE).is_file():
        return checked(str(place / COREFILE), port)
    if place.is_dir():
        return [_checked(path, lambda: load_kube_dns(path, Surroundings(port)), port)]
    if place.suffix not in _MANIFESTS:
        return [_checked(path, lambda: load_corefile(path, os.environ), port)]
    try:
        maps = written(path, DiskFiles().read(path))
    except ConfigurationError as fault:
        return [Checked(path, faults=[str(fault)])]
    except ConfigurationErrors as error:
        return [Checked(path, faults=[str(fault) for fault in error.faults])]
    return [_checked(f"{path} ({name})", lambda texts=texts: _said(path, texts, port), port) for name, texts in maps]  # type: ignore[misc]


def _said(path: str, texts: Mapping[str, str], port: int) -> Corefile:
    """The Corefile that a ConfigMap holds, or means."""
    if COREFILE in texts:
        return parse_corefile(texts[COREFILE], f"{path}/{COREFILE}", DiskFiles(), os.environ)
    if not set(KEYS) & set(texts):
        return parse_corefile("", path, DiskFiles(), os.environ)
    return parse_corefile(corefile_text(read_kube_dns(texts, path), Surroundings(port)), path, DiskFiles(), os.environ)


def _checked(name: str, load: Callable[[], Corefile], port: int) -> Checked:
    found = Checked(name)
    with _heard(found.warnings):
        try:
            corefile = load()
            found.warnings += map(str, corefile.warnings)
            if not corefile.blocks:
                found.faults.append(f"{name}: no server block, so nothing would be served")
            server = build_server(corefile.blocks, Settings(default_port=port))
            found.blocks = tuple(_served(server))
            server.close()
        except ConfigurationErrors as error:
            found.faults += [str(fault) for fault in error.faults]
    return found


def _served(server: Server) -> Iterator[Served]:
    listens: dict[Chain, list[str]] = {}
    for address, resolver in server.resolvers.items():
        for chain in resolver.chains:
            listens.setdefault(chain, []).append(server_label(address))
    for chain, labels in listens.items():
        asked = [
            str(each.address) for plugin in chain.plugins if isinstance(plugin, Forward) for each in plugin.upstreams
        ]
        words = tuple(dict.fromkeys(plugin.word for plugin in chain.plugins))
        yield Served(tuple(map(str, chain.zones)), tuple(dict.fromkeys(labels)), words, tuple(dict.fromkeys(asked)))


@contextmanager
def _heard(warnings: list[str]) -> Iterator[None]:
    """Whatever is logged meanwhile is kept, and shown nowhere."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())

    root, handler = logging.getLogger(), Kept(logging.WARNING)
    before: Sequence[logging.Handler] = root.handlers[:]
    root.handlers[:] = [handler]
    try:
        yield
    finally:
        root.handlers[:] = before
