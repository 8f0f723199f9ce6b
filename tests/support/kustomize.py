"""What ``kustomize build`` makes of our manifests: as much of it as they use, so that tests need no other program.

Resources, JSON patches (RFC 6902: add, replace, remove) on a target of a kind and name, ``namePrefix`` with the
references that follow it, and ``namespace``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

Body = dict[str, Any]
_KNOWN = {"apiVersion", "kind", "resources", "patches", "namePrefix", "namespace"}
_OF_NO_NAMESPACE = {"ClusterRole", "ClusterRoleBinding"}


def render(folder: Path) -> list[Body]:
    """The objects, in the order of the resources."""
    told = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert set(told) <= _KNOWN
    bodies = [body for name in told["resources"] for body in _resources(folder / name)]
    for patch in told.get("patches", ()):
        target = patch["target"]
        hit = [each for each in bodies if (each["kind"], each["metadata"]["name"]) == (target["kind"], target["name"])]
        assert len(hit) == 1, f"{folder}: a patch finds {len(hit)} objects: {target}"
        for operation in yaml.safe_load(patch["patch"]):
            _apply(hit[0], operation)
    _prefix(bodies, told.get("namePrefix", ""))
    for body in bodies:
        if "namespace" in told and body["kind"] not in _OF_NO_NAMESPACE:
            body["metadata"]["namespace"] = told["namespace"]
    return bodies


def _resources(path: Path) -> list[Body]:
    if path.is_dir():
        return render(path)
    return [body for body in yaml.safe_load_all(path.read_text()) if body]


def _apply(body: Any, operation: Body) -> None:  # noqa: ANN401 - any place in a document
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
    at = body
    for part in way:
        at = at[int(part) if isinstance(at, list) else part]
    key = int(last) if isinstance(at, list) else last
    if operation["op"] != "add":
        at[key]  # what is replaced or removed has to be there
    if operation["op"] == "remove":
        del at[key]
    else:
        at[key] = operation["value"]


def _prefix(bodies: list[Body], prefix: str) -> None:
    """Rename all objects, and wherever one of them is referred to."""
    known = {(body["kind"], body["metadata"]["name"]) for body in bodies}

    def renamed(kind: str, name: str) -> str:
        return prefix + name if (kind, name) in known else name

    for body in bodies:
        body["metadata"]["name"] = prefix + body["metadata"]["name"]
        for each in [*body.get("subjects", ()), *([body["roleRef"]] if "roleRef" in body else ())]:
            each["name"] = renamed(each["kind"], each["name"])
        pod = body.get("spec", {}).get("template", {}).get("spec", {})
        if "serviceAccountName" in pod:
            pod["serviceAccountName"] = renamed("ServiceAccount", pod["serviceAccountName"])
        for volume in pod.get("volumes", ()):
            if "configMap" in volume:
                volume["configMap"]["name"] = renamed("ConfigMap", volume["configMap"]["name"])
