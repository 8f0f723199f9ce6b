from __future__ import annotations

import json
from typing import Any

import pytest

from kubedns.cluster.objects import EndpointSlice, Namespace, Service
from kubedns.cluster.selectors import LabelSelector, parse_selector
from kubedns.cluster.sources.documents import FileContent, read_documents
from kubedns.cluster.written import WrittenPod, WrittenService, WrittenWorkload

ALL = LabelSelector()


def read(text: str, file: str = "k8s/web.yaml") -> FileContent:
    return read_documents(text.encode(), file, ALL)


def found(content: FileContent) -> list[str]:
    return ["/".join(identity) for identity in content.documents]


def origin(entry: object) -> str:
    match entry:
        case WrittenService():
            return entry.service.origin
        case WrittenPod():
            return entry.pod.origin
        case WrittenWorkload() | Service() | EndpointSlice() | Namespace():
            return entry.origin
    raise AssertionError(entry)


HEAD = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
FAULTS = {
    "type": (
        HEAD + "spec:\n  ports:\n  - port: http\n",
        'k8s/web.yaml:6: spec.ports[0].port: expected int, got "http"; give a number from 1 to 65535',
    ),
    "range": (
        HEAD + "spec:\n  ports: [{port: 80},\n    {port: 70000}]\n",
        "k8s/web.yaml:6: spec.ports[1].port: 70000 is no port; give a number from 1 to 65535",
    ),
    "address": (
        HEAD + "spec:\n  clusterIP: 999.1.1.1\n",
        "k8s/web.yaml:5: spec.clusterIP: '999.1.1.1' is no address; write an IPv4 or IPv6 address",
    ),
    "missing": (
        "apiVersion: v1\nkind: Service\nmetadata:\n  labels: {a: b}\n",
        "k8s/web.yaml:4: metadata.name: missing; it has to be given",
    ),
    "null metadata": (
        "apiVersion: v1\nkind: Service\nmetadata: null\n",
        "k8s/web.yaml:3: metadata: expected object, got null; write fields below it",
    ),
    "number as label": (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    version: 1\n",
        "k8s/web.yaml:6: metadata.labels[...]: expected str, got int; put it in quotes",
    ),
    "list": (
        HEAD + "spec: {ports: 80}\n",
        'k8s/web.yaml:4: spec.ports: expected array, got "80"; write a list',
    ),
    "bool": (
        HEAD + "spec: {publishNotReadyAddresses: often}\n",
        'k8s/web.yaml:4: spec.publishNotReadyAddresses: expected bool, got "often"; write true or false',
    ),
    "choice": (
        HEAD + "spec: {ipFamilies: [IPv4, IPv5]}\n",
        "k8s/web.yaml:4: spec.ipFamilies[1]: Invalid enum value 'IPv5'",
    ),
    "second document": (
        HEAD + "---\n\n# why\n" + HEAD + "spec: {clusterIP: x}\n",
        "k8s/web.yaml:10: spec.clusterIP: 'x' is no address; write an IPv4 or IPv6 address",
    ),
    "item of a list": (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata:\n    name: A\n",
        "k8s/web.yaml:7: metadata.name: 'A' is no name; use lower-case letters, digits, '-' and '.'",
    ),
    "twice": (
        HEAD + "---\n" + HEAD,
        "k8s/web.yaml:5: Service default/web stands in this file a second time; this one counts",
    ),
    "too many": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1000000000, template: {}}\n",
        "k8s/web.yaml:4: spec.replicas: 1000000000 is out of range; give a number from 0 to 10000",
    ),
    "pod's address": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {podIP: 999.1.1.1}\n",
        "k8s/web.yaml:4: status.podIP: '999.1.1.1' is no address; write an IPv4 or IPv6 address",
    ),
    "syntax": (
        HEAD + "spec: [\n",
        "k8s/web.yaml:4: no YAML: did not find expected node content;"
        " mend the syntax; what was here before stays in force",
    ),
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.values(), ids=FAULTS)
def test_faults_name_place_thing_and_remedy(text: str, fault: str) -> None:
    assert [str(each) for each in read(text).faults] == [fault]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"kind": "List",\n "items": [}', "a.json:2: no JSON: JSON is malformed: invalid character;"),
        ('{"kind": "Pod"', "a.json:1: no JSON: Input data was truncated;"),
        ('{"a":\n' + "[" * 5000 + "]" * 5000 + "}", "a.json:2: no JSON: maximum recursion depth exceeded"),
        ('{\n"kind": 5}', 'a.json:2: kind: expected str, got "5"; put it in quotes'),
        (
            '{"kind": "List", "items": [\n{"apiVersion": "v1", "kind": "Service", "metadata":\n {"name": 7}}]}',
            'a.json:3: metadata.name: expected str, got "7"; put it in quotes',
        ),
    ],
)
def test_faults_of_json(text: str, fault: str) -> None:
    [only] = [str(each) for each in read(text, "a.json").faults]
    assert only.startswith(fault)


def service(name: str, **rest: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"clusterIP": "10.0.0.1"},
        **rest,
    }


ONE_EACH = [
    ("v1", "Service", {"spec": {"clusterIP": "10.0.0.1"}}, "default"),
    ("v1", "Pod", {}, "default"),
    ("v1", "Endpoints", {}, "default"),
    ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4"}, "default"),
    ("v1", "Node", {}, ""),
    ("v1", "Namespace", {}, ""),
    *[("apps/v1", kind, {"spec": {"template": {}}}, "default")
      for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")],
]  # fmt: skip


@pytest.mark.parametrize(("version", "kind", "rest", "namespace"), ONE_EACH, ids=[each[1] for each in ONE_EACH])
def test_every_kind_is_read_alone_in_lists_and_as_json(
    version: str, kind: str, rest: dict[str, Any], namespace: str
) -> None:
    item = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **rest}
    lists = [{"kind": "List", "items": [item]}, {"kind": f"{kind}List", "items": [{"kind": "List", "items": [item]}]}]
    for whole in (item, *lists):
        for text in (json.dumps(whole), json.dumps(whole, indent=1), "---\n" + json.dumps(whole)):
            content = read(text)
            assert (found(content), content.faults, content.skipped) == ([f"{kind}/{namespace}/a"], [], 0)


SKIPPED = {
    # Text → how many objects of kinds that have no part in names.
    "": 0,
    "# nothing\n---\n\n---\n# at all\n": 0,
    "just text": 0,
    "[1, 2]": 0,
    "replicaCount: 3\nimage: {tag: x}\n": 0,
    "apiVersion: v1\nkind: ConfigMap\nmetadata: null\n": 1,
    "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: 5}\n": 1,
    "apiVersion: v1\nkind: List\nitems: [{apiVersion: batch/v1, kind: Job}, null, 5]\n": 1,
    '{"kind": "List", "items": [{"apiVersion": "batch/v1", "kind": "Job", "metadata": 5}]}': 1,
    "kind: List\nitems: null\n": 1,
}


@pytest.mark.parametrize("text", SKIPPED)
def test_what_has_no_part_in_names_is_stepped_over(text: str) -> None:
    content = read(text)
    assert (found(content), content.faults, content.skipped) == ([], [], SKIPPED[text])


STREAMS = {
    # Texts with Services a and b.
    "markers": "---\n{a}---\n{b}---\n",
    "no first marker": "{a}---\n{b}",
    "comments on markers": "--- # one\n{a}--- # two\n{b}",
    "directives": "%YAML 1.1\n---\n{a}...\n---\n{b}...\n",
    "carriage returns": "{a}---\n{b}",
    "a marker inside a text": "{a}text: |\n  ---\n  x\n---\n{b}",
    "hashes": "# a # b # c # d # e # f # g # h # i # j # k # l # m # n # o # p # q # r # s # t # u # v !\n{a}---\n{b}",
    "byte order mark": "\ufeff{a}---\n{b}",
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_streams(stream: str) -> None:
    each = "apiVersion: v1\nkind: Service\nmetadata: {{name: {}}}\nspec: {{clusterIP: 10.0.0.1}}\n"
    text = stream.replace("{a}", each.format("a")).replace("{b}", each.format("b"))
    for ends in ("\n", "\r\n"):
        content = read_documents(text.replace("\n", ends).encode(), "f.yaml", ALL)
        assert [str(fault) for fault in content.faults] == []
        assert found(content) == ["Service/default/a", "Service/default/b"]
        for identity, entry in content.documents.items():
            line = text[: text.index(f"name: {identity[2]}")].count("\n") - 1
            assert origin(entry) == f"f.yaml:{line}"


def test_flow_style_is_no_broken_json() -> None:
    content = read("{apiVersion: v1, kind: Service,\n metadata: {name: web}}\n---\n{apiVersion: v1, kind: Oops}\n")
    assert (found(content), content.faults, content.skipped) == (["Service/default/web"], [], 1)


@pytest.mark.parametrize("indent", [None, 1])
def test_items_of_json_have_their_line(indent: int | None) -> None:
    text = "\n" + json.dumps({"kind": "List", "items": [service("a"), service("b"), service("c")]}, indent=indent)
    content = read(text, "big.json")
    for identity, entry in content.documents.items():
        end = text.index(f'"name": "{identity[2]}"')
        line = text.count("\n", 0, text.rindex('"apiVersion"', 0, end)) + (0 if indent else 1)
        assert origin(entry) == f"big.json:{line}"


def test_items_of_yaml_have_their_line() -> None:
    text = "kind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n- apiVersion: v1\n"
    content = read(text + "  kind: Namespace\n  metadata: {name: b}\n")
    assert [origin(entry) for entry in content.documents.values()] == ["k8s/web.yaml:3", "k8s/web.yaml:6"]


def test_one_bad_object_spoils_no_other() -> None:
    items = [service("a"), service("B"), service("c", spec=5), service("d", metadata=None), service("e")]
    for text in (
        json.dumps({"kind": "List", "items": items}),
        "---\n" + json.dumps({"kind": "List", "items": items}),
        "\n---\n".join(map(json.dumps, items)),
    ):
        content = read(text)
        assert found(content) == ["Service/default/a", "Service/default/e"]
        assert len(content.faults) == 3


def test_labels_select_services_and_slices() -> None:
    labelled = service("a", metadata={"name": "a", "labels": {"team": "x"}})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    text = json.dumps({"kind": "List", "items": [labelled, service("b"), pod]})
    content = read_documents(text.encode(), "f.json", parse_selector("team=x"))
    assert found(content) == ["Service/default/a", "Pod/default/p"]


GOOD = HEAD + "spec: {clusterIP: 10.0.0.1}\n---\n" + HEAD.replace("web", "api") + "spec: {clusterIP: 10.0.0.2}\n"
EDITS = {
    # What GOOD becomes → what is still there.
    "a document breaks": (GOOD.replace("10.0.0.1", "x"), ["api", "web"]),
    "a type breaks": (GOOD.replace("10.0.0.1", "[]"), ["api", "web"]),
    "a name breaks": (GOOD.replace("name: web", "name: Web"), ["api", "web"]),
    "metadata break": (GOOD.replace("{name: web}", "null"), ["api", "web"]),
    "syntax breaks": (GOOD.replace("{name: web}", "{name: web"), ["api", "web"]),
    "a document goes": (GOOD.partition("---")[2], ["api"]),
    "a document goes and one breaks": (GOOD.partition("---")[2].replace("10.0.0.2", "x"), ["api"]),
    "a kind changes": (
        GOOD.replace("kind: Service\nmetadata: {name: web", "kind: Secret\nmetadata: {name: web"),
        ["api"],
    ),
    "a name changes": (GOOD.replace("name: web", "name: shop"), ["api", "shop"]),
    "everything goes": ("", []),
}


@pytest.mark.parametrize(("text", "names"), EDITS.values(), ids=EDITS)
def test_what_broke_stays_as_it_was(text: str, names: list[str]) -> None:
    content = read(text)
    content.keep_from(read(GOOD))
    assert sorted(name for _, _, name in content.documents) == names


def test_what_is_the_same_is_shared() -> None:
    old, new = read(GOOD), read(GOOD.replace("10.0.0.2", "10.0.0.3"))
    new.keep_from(old)
    web, api = ("Service", "default", "web"), ("Service", "default", "api")
    assert new.documents[web] is old.documents[web]
    assert new.documents[api] is not old.documents[api]
