"""ConfigMaps on disk: as a cluster mounts them, a file for each key, or as manifests say them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from kubedns.corefile.blocks import Corefile
from kubedns.corefile.kube_dns import KEYS, read_kube_dns
from kubedns.corefile.kube_dns_corefile import Surroundings, corefile_text
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location
from kubedns.server.files import DiskFiles

COREFILE = "Corefile"
"""The key, and the file, that holds CoreDNS's configuration."""


def load_kube_dns(folder: str, around: Surroundings, files: DiskFiles | None = None) -> Corefile:
    """The Corefile that serves what kube-dns would, by its ConfigMap mounted at ``folder``.

    Raises:
        ConfigurationErrors: all faults of the ConfigMap.
    """
    texts = mounted(folder, files or DiskFiles())
    return parse_corefile(corefile_text(read_kube_dns(texts, folder), around), folder, DiskFiles(), os.environ)


def mounted(folder: str, files: DiskFiles) -> dict[str, str]:
    """The keys of kube-dns's ConfigMap mounted at ``folder``; those that are not there are left out.

    Raises:
        ConfigurationErrors: there is no such folder, or a file in it cannot be read.
    """
    if not Path(folder).is_dir():
        fault = ConfigurationError("no such folder", location=Location(folder), remedy="name where it is mounted")
        raise ConfigurationErrors([fault])
    try:
        return {key: files.read(str(Path(folder, key))) for key in KEYS if Path(folder, key).is_file()}
    except ConfigurationError as fault:
        raise ConfigurationErrors([fault]) from fault


def written(file: str, text: str) -> list[tuple[str, Mapping[str, str]]]:
    """The ConfigMaps in a file of manifests, each with its name and its keys.

    Raises:
        ConfigurationErrors: it is no YAML, or holds no ConfigMap.
    """
    try:
        documents = [each for each in yaml.load_all(text, yaml.CSafeLoader) if isinstance(each, dict)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = Location(file, mark.line + 1 if mark else 0)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise ConfigurationErrors([ConfigurationError(f"no YAML: {problem}", location=where)]) from error
    found: list[tuple[str, Mapping[str, str]]] = []
    for each in documents:
        items = each.get("items")
        for item in items if isinstance(items, list) else [each]:
            if isinstance(item, dict) and item.get("kind") == "ConfigMap":
                name = str(_mapping(item, "metadata", file).get("name", ""))
                data = _mapping(item, "data", file)
                found.append((name, {str(key): str(value) for key, value in data.items()}))
    if not found:
        fault = ConfigurationError(
            "no ConfigMap in it", location=Location(file), remedy="name a Corefile or a ConfigMap"
        )
        raise ConfigurationErrors([fault])
    return found


def _mapping(config_map: Mapping[str, object], field: str, file: str) -> Mapping[object, object]:
    found = config_map.get(field) or {}
    if not isinstance(found, dict):
        fault = ConfigurationError(f"{field} of a ConfigMap is no mapping", location=Location(file))
        raise ConfigurationErrors([fault])
    return found
