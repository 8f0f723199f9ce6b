"""Placing: where the files of a cluster's source are, and whether they can be what the Corefile wants of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kubedns.corefile.blocks import Directive
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.kubernetes import Options as KubernetesOptions
from kubedns.plugins.multicluster import Options as MulticlusterOptions
from kubedns.plugins.plugin import ClusterSource


def found_path(path: str, folder: Path) -> Path:
    """The file or folder that a Corefile in ``folder`` names: beside it, else where the process was started."""
    beside = folder / path
    return beside if beside.exists() else Path(path)


def located_source(source: ClusterSource, folder: Path) -> ClusterSource:
    """The source with its files where they are: beside the Corefile, else where the process was started."""

    def located(path: str) -> str:
        # Of several kubeconfigs, and in somebody's home, each is named in full.
        is_relative = path and os.pathsep not in path and not path.startswith("~")
        return str(found_path(path, folder)) if is_relative else path

    api = source.api
    files = {name: located(getattr(api, name)) for name in ("kubeconfig", "certificate", "key", "authority")}
    manifests = tuple(str(found_path(path, folder)) for path in source.manifests)
    place = source.snapshot
    snapshot = None if place is None else replace(place, path=str(folder / place.path))
    return replace(source, manifests=manifests, api=replace(api, **files), snapshot=snapshot)


def check_source(options: KubernetesOptions | MulticlusterOptions, directive: Directive, folder: Path) -> None:
    """See that what ``manifests`` names is there, and that it is all that is asked for.

    Raises:
        ConfigurationErrors: it is not.
    """
    faults = [
        directive.word.fault(f"{directive.word.text} manifests: no file or folder {path}", "write a path that exists")
        for path in options.manifests
        if not found_path(path, folder).exists()
    ]
    if options.manifests and options.snapshot is not None:
        faults.append(
            directive.word.fault(f"{directive.word.text} snapshot: manifests need none", "leave the line out")
        )
    if faults:
        raise ConfigurationErrors(faults)


def check_snapshot(source: ClusterSource, others: Iterable[ClusterSource], directive: Directive) -> None:
    """See that nothing else is kept in the snapshot's file.

    Raises:
        ConfigurationError: something is.
    """
    taken = {each.snapshot.path for each in others if each.snapshot is not None and each != source}
    if source.snapshot is not None and source.snapshot.path in taken:
        message = f"{directive.word.text} snapshot: another line keeps something else in this file"
        raise directive.word.fault(message, "give each a file of its own")
