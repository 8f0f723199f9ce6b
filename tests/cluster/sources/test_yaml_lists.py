from __future__ import annotations

import pytest
import yaml

from kubedns.cluster.selectors import LabelSelector
from kubedns.cluster.sources.documents import read_documents
from kubedns.cluster.sources.yaml_lists import split_list
from kubedns.cluster.sources.yaml_text import YamlText

PLAIN = """apiVersion: v1
items:
- apiVersion: v1
  kind: Service

  # in between
  metadata:
    annotations:
      text: |
        items:
        - a
    name: a
# at the margin
- kind: Service
  apiVersion: v1
  metadata: {name: b}
  spec:
    ports:
    - port: 80
    - port: 81
kind: List
metadata: {resourceVersion: ""}
"""
INDENTED = "kind: ServiceList\nitems:\n    - metadata: {name: a}\n      spec: {}\n    -   metadata: {name: b}\n"
SPLIT = {
    "plain": PLAIN,
    "indented": INDENTED,
    "carriage returns": PLAIN.replace("\n", "\r\n"),
    "comments behind": PLAIN + "# end\n\n",
    "no end of line": INDENTED.rstrip(),
}


@pytest.mark.parametrize("text", SPLIT.values(), ids=SPLIT)
def test_items_are_what_the_whole_says(text: str) -> None:
    items = split_list(YamlText(text.encode(), 10))
    assert items is not None
    found = list(items)
    assert [item.value() for item in found] == yaml.safe_load(text)["items"]
    lines = text.splitlines()
    assert [lines[item.first_line() - 11].lstrip(" ")[:2] for item in found] == ["- ", "- "]


WHOLE = {
    "flow": "kind: List\nitems: [{metadata: {name: a}}]\n",
    "no list": "kind: ConfigMap\nitems:\n- a: b\n",
    "aliases": "kind: List\nitems:\n- &a {metadata: {name: a}}\n- *a\n",
    "items twice": "kind: List\nitems:\n- a: b\nitems: []\n",
    "a dash alone": "kind: List\nitems:\n- a: b\n-\n  c: d\n",
    "elsewhere": "kind: List\nspec:\n  items:\n  - a: b\n",
    "broken around": "kind: [List\nitems:\n- a: b\n",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_what_is_not_plain_is_read_whole(text: str) -> None:
    assert split_list(YamlText(text.encode())) is None


HEAD = (
    "kind: List\nitems:\n"
    + "- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Namespace\n"
)
AS_WHOLE = {
    # A text that goes on at the margin looks like an item; the whole knows better.
    "a quote that goes on": (HEAD + '  metadata: {name: b, annotations: {c: "d\n- e"}}\n', ["a", "b"], 0),
    "a syntax error": (HEAD + "  metadata: {name: b\n", [], 1),
}


@pytest.mark.parametrize(("text", "names", "faults"), AS_WHOLE.values(), ids=AS_WHOLE)
def test_what_was_cut_wrongly_is_read_whole(text: str, names: list[str], faults: int) -> None:
    content = read_documents(text.encode(), "f.yaml", LabelSelector())
    assert [name for _, _, name in content.documents] == names
    assert len(content.faults) == faults
