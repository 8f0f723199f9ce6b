"""What would be deployed: every field is the API's own, the parts fit each other, and our programs read theirs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from kubernetes import client
from kubernetes.utils.quantity import parse_quantity

from kubedns.cli.serve import command as serve_command
from kubedns.corefile.parser import parse_corefile
from kubedns.observe import rows
from kubedns.observe.rows import Metric
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.support.kustomize import Body, render

ROOT = Path(__file__).parent.parent.parent
FOLDERS = sorted(path.parent.name for path in (ROOT / "manifests").glob("*/kustomization.yaml"))
OPERATORS = {"ServiceMonitor", "PrometheusRule"}
"""Kinds that are not the API's own."""
WORKLOADS = {"Deployment", "DaemonSet"}
LAST_WAITS_SECONDS = 5
"""More than what is under way is waited for at the end."""
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def rendered(folder: str) -> list[Body]:
    return render(ROOT / "manifests" / folder)


def of_kind(folder: str, *kinds: str) -> list[Body]:
    return [body for body in rendered(folder) if body["kind"] in kinds]


def faults(value: Any, declared: str, at: str) -> list[str]:  # noqa: ANN401 - whatever stands in a manifest
    """Where ``value`` is not of the ``declared`` type of the kubernetes package, field by field."""
    if declared.startswith("List["):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [fault for n, each in enumerate(value) for fault in faults(each, declared[5:-1], f"{at}[{n}]")]
    if declared.startswith("Dict["):
        inner = declared[5:-1].split(", ")[1]
        return [fault for key, each in value.items() for fault in faults(each, inner, f"{at}.{key}")]
    simple = {"str": str, "int": int, "bool": bool, "object": object}
    if declared in simple:
        return [] if isinstance(value, simple[declared]) else [f"{at}: {value!r} is no {declared}"]
    model = getattr(client, declared)
    fields = {model.attribute_map[name]: kind for name, kind in model.openapi_types.items()}
    found = [f"{at}: no field {key}" for key in value if key not in fields]
    known = [key for key in value if key in fields]
    return found + [fault for key in known for fault in faults(value[key], fields[key], f"{at}.{key}")]


def model_of(body: Body) -> str:
    return f"V{body['apiVersion'].rpartition('/')[2][1:]}{body['kind']}"


def test_there_is_what_the_readme_names() -> None:
    text = (ROOT / "manifests" / "README.md").read_text()
    assert set(FOLDERS) - {"base"} == set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_field_is_the_api_s_own(folder: str) -> None:
    for body in rendered(folder):
        if body["kind"] not in OPERATORS:
            assert faults(body, model_of(body), body["kind"]) == []
        assert all(LABEL.fullmatch(part) for part in re.split(r"[.:]", body["metadata"]["name"]))


def test_a_field_that_is_none_is_found() -> None:
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": "2", "template": {"specs": {}}}}
    assert faults(body, "V1Deployment", "d") == ["d.spec.replicas: '2' is no int", "d.spec.template: no field specs"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_parts_of_a_workload_fit(folder: str) -> None:
    for body in of_kind(folder, *WORKLOADS):
        template = body["spec"]["template"]
        pod = template["spec"]
        assert body["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        assert pod["dnsPolicy"] == "Default"
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            assert {mount["name"] for mount in container.get("volumeMounts", ())} <= volumes
            names = [port["name"] for port in container.get("ports", ())]
            assert len(names) == len(set(names))
            assert all(len(name) <= 15 and LABEL.fullmatch(name) for name in names)
            for amounts in container["resources"].values():
                assert all(parse_quantity(amount) > 0 for amount in amounts.values())  # type: ignore[no-untyped-call]
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"]
            assert not security["allowPrivilegeEscalation"]
            assert security["capabilities"]["drop"] == ["ALL"]
        assert all(container["securityContext"]["runAsNonRoot"] for container in pod["containers"])


@pytest.mark.parametrize("folder", FOLDERS)
def test_selectors_find_the_workload_s_pods(folder: str) -> None:
    workloads = of_kind(folder, *WORKLOADS) or of_kind("base", *WORKLOADS)
    labels = workloads[0]["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"] for port in workloads[0]["spec"]["template"]["spec"]["containers"][0].get("ports", ())}
    for body in of_kind(folder, "Service", "PodDisruptionBudget"):
        if body["metadata"]["name"] == "kube-dns-upstream":
            continue  # it finds those of another folder
        selector = body["spec"]["selector"]
        assert selector.get("matchLabels", selector).items() <= labels.items()
        assert {port["targetPort"] for port in body["spec"].get("ports", ())} <= ports
    for body in of_kind(folder, "HorizontalPodAutoscaler"):
        assert body["spec"]["scaleTargetRef"]["name"] == workloads[0]["metadata"]["name"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_rights_are_those_of_a_stock_coredns(folder: str) -> None:
    bodies = rendered(folder)
    accounts = {body["metadata"]["name"] for body in bodies if body["kind"] == "ServiceAccount"}
    for role in of_kind(folder, "ClusterRole"):
        assert all(set(rule["verbs"]) == {"list", "watch"} for rule in role["rules"])
        resources = {each for rule in role["rules"] for each in rule["resources"]}
        assert resources == {"endpoints", "services", "pods", "namespaces", "endpointslices"}
    for binding in of_kind(folder, "ClusterRoleBinding"):
        assert {each["name"] for each in binding["subjects"]} == accounts
        assert binding["roleRef"]["name"] in {role["metadata"]["name"] for role in of_kind(folder, "ClusterRole")}
    for body in of_kind(folder, *WORKLOADS):
        pod = body["spec"]["template"]["spec"]
        assert pod.get("serviceAccountName") in (accounts or {None})


def test_a_trial_is_found_by_nobody_who_does_not_look_for_it() -> None:
    replaced = {(body["kind"], body["metadata"]["name"]) for body in rendered("replace-coredns")}
    trial = rendered("beside")
    assert not replaced & {(body["kind"], body["metadata"]["name"]) for body in trial}
    assert "kube-dns" not in json.dumps([body["spec"] for body in trial if body["kind"] in WORKLOADS])


@pytest.mark.parametrize("folder", FOLDERS)
def test_corefiles_are_read_and_answer_to_the_probes(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"KUBE_DNS_UPSTREAM_SERVICE_HOST": "10.96.0.123"}
    workloads = of_kind(folder, *WORKLOADS)
    for body in of_kind(folder, "ConfigMap"):
        if "Corefile" not in body["data"]:
            continue
        corefile = parse_corefile(body["data"]["Corefile"], "Corefile", DiskFiles(), variables)
        assert corefile.warnings == ()
        server = build_server(corefile.blocks, Settings())
        pod = workloads[0]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert server.lameduck_seconds + LAST_WAITS_SECONDS < pod["terminationGracePeriodSeconds"]
        assert "readinessProbe" not in container or server.lameduck_seconds > 0
        words = {line.word.text: line for block in corefile.blocks for line in block.directives}
        assert {"health"} | ({"ready"} if "readinessProbe" in container else set()) <= set(words)
        if pod.get("hostNetwork"):
            # Declared ports are the node's own there, which two pods cannot have while one takes over from the other.
            assert "ports" not in container
            continue
        served = {address.port for block in corefile.blocks for address in block.addresses}
        assert served == {port["containerPort"] for port in container["ports"] if port["name"].startswith("dns")}
        (metrics,) = (port["containerPort"] for port in container["ports"] if port["name"] == "metrics")
        assert words["prometheus"].arguments[0].text == f":{metrics}"


def test_the_arguments_are_ones_that_are_known() -> None:
    assert container_of("replace-coredns")["args"] == ["-conf", "/etc/coredns/Corefile"]
    given = {"replace-kube-dns": ("kube_dns_config", "/etc/kube-dns"), "node-local": ("reuse_port", True)}
    for folder, (name, value) in given.items():
        command, *rest = container_of(folder)["args"]
        assert command == "serve"
        with serve_command.make_context("serve", list(rest)) as context:
            assert context.params[name] == value
    mount, _ = container_of("replace-kube-dns")["volumeMounts"]
    assert mount["mountPath"] == "/etc/kube-dns"
    assert CliRunner().invoke(serve_command, ["--help"]).exit_code == 0


def container_of(folder: str) -> Body:
    (body,) = of_kind(folder, *WORKLOADS)
    container: Body = body["spec"]["template"]["spec"]["containers"][0]
    return container


def test_what_is_watched_for_is_what_is_exposed() -> None:
    known = {value.name for value in vars(rows).values() if isinstance(value, Metric)}
    known |= {f"{name}_bucket" for name in known} | {"process_resident_memory_bytes", "process_cpu_seconds_total"}
    (dashboard,) = (body for body in rendered("monitoring") if body["kind"] == "ConfigMap")
    panels = json.loads(dashboard["data"]["kubedns.json"])["panels"]
    (groups,) = (body["spec"]["groups"] for body in rendered("monitoring") if body["kind"] == "PrometheusRule")
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    expressions += [rule["expr"] for group in groups for rule in group["rules"]]
    asked = {name for each in expressions for name in re.findall(r"\b(?:coredns|kubedns|process)_\w+", each)}
    assert asked
    assert asked <= known


@pytest.mark.parametrize("folder", FOLDERS)
def test_kustomize_makes_the_same_of_it(folder: str) -> None:
    program = next(filter(shutil.which, ("kustomize", "kubectl")), None)
    if program is None:
        pytest.skip("there is neither kustomize nor kubectl")
    words = [program, "build" if program == "kustomize" else "kustomize", str(ROOT / "manifests" / folder)]
    text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    made = [body for body in yaml.safe_load_all(text) if body]

    def by_name(bodies: list[Body]) -> list[str]:
        return sorted(json.dumps(body, sort_keys=True) for body in bodies)

    assert by_name(made) == by_name(rendered(folder))
