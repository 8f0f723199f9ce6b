"""Selection: what of a resource is wanted, as the parameters of a request. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kubedns.cluster.sources.resources import Resource


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a resource is wanted, if it takes the like: with these ``labels``, in this ``namespace`` (empty: all)."""

    labels: str = ""
    namespace: str = ""

    def parameters(self, resource: Resource) -> Mapping[str, str]:
        """The selectors for ``resource``, those that always hold for it among them."""
        labels = [resource.labels, self.labels if resource.takes_labels else ""]
        is_narrowed = self.namespace and resource.takes_namespace
        fields = [resource.fields, f"metadata.namespace={self.namespace}" if is_narrowed else ""]
        selectors = {"labelSelector": ",".join(filter(None, labels)), "fieldSelector": ",".join(filter(None, fields))}
        return {name: selector for name, selector in selectors.items() if selector}
