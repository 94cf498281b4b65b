"""Settings of the cluster from a HyperConverged: which resource counts, and what is said of it."""

from typing import Any

import pytest

from render import Rendered, Settings, render
from render.diagnostics.diagnostic import Diagnostic
from render.machine import SettingsSource
from render.model.cluster_config import ClusterConfig
from render.model.resource import from_body

Json = dict[str, Any]


def hyperconverged(namespace: str = "openshift-cnv", **spec: Any) -> Json:
    return {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": namespace},
        "spec": spec,
    }


def kubevirt(**configuration: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "openshift-cnv"},
        "spec": {"configuration": configuration},
    }


_DOMAIN: Json = {"devices": {}, "memory": {"guest": "1Gi"}}
VM: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod"},
    "spec": {
        "runStrategy": "Always",
        "template": {"spec": {"domain": _DOMAIN}},
    },
}


def rendered(*holders: Json, **settings: Any) -> Rendered:
    return render([*holders, VM], Settings(emit="vmi", kubevirt="1.8", **settings))


def model(answer: Rendered) -> str:
    spec = answer.resources[-1]["spec"]
    return str(spec["domain"]["cpu"]["model"])


def messages(answer: Rendered, code: str) -> list[Diagnostic]:
    return [found for found in answer.diagnostics if found.code == code]


def test_a_hyperconverged_wins_over_a_kubevirt_resource() -> None:
    answer = rendered(kubevirt(cpuModel="Skylake"), hyperconverged(defaultCPUModel="Haswell"))
    assert model(answer) == "Haswell"
    unused, assumed, used = messages(answer, "VR708")
    assert unused.message.startswith("KubeVirt openshift-cnv/kubevirt is not used: the operator of")
    assert "evictionStrategy LiveMigrate: by the number of worker nodes" in assumed.message
    assert (
        used.message
        == "cluster settings come from HyperConverged openshift-cnv/kubevirt-hyperconverged"
    )


def test_of_several_the_first_counts() -> None:
    holders = hyperconverged("b", defaultCPUModel="B"), hyperconverged("a", defaultCPUModel="A")
    answer = rendered(*holders)
    assert model(answer) == "A"
    (unused,) = messages(answer, "VR707")
    assert unused.resource == ("HyperConverged", "b", "kubevirt-hyperconverged")


def test_a_default_of_the_operator_is_set_by_nobody() -> None:
    vm = {
        **VM,
        "spec": {
            **VM["spec"],
            "template": {"spec": {"domain": {**_DOMAIN, "machine": {"type": "pc"}}}},
        },
    }
    answer = render([hyperconverged(), vm], Settings(kubevirt="1.8"))
    (refused,) = messages(answer, "VR414")
    (related,) = refused.related
    ref = "HyperConverged openshift-cnv/kubevirt-hyperconverged"
    assert related.message.startswith(
        f"{ref} leaves at its default architectureConfiguration.amd64."
    )


@pytest.mark.parametrize("is_written", [True, False])
def test_unknown_fields_of_a_kubevirt_resource_are_errors_whoever_wins(is_written: bool) -> None:  # noqa: FBT001
    holders = [kubevirt(cpuModle="x"), *([hyperconverged()] if is_written else [])]
    (found,) = messages(rendered(*holders), "VR105")
    assert found.field == "spec.configuration.cpuModle"


def test_a_file_of_settings_may_hold_either() -> None:
    own = hyperconverged(defaultCPUModel="Haswell", evictionStrategi="None")
    answer = rendered(cluster_config=own)
    assert model(answer) == "Haswell"
    (unknown,) = messages(answer, "VR105")
    assert (unknown.resource, unknown.field) == (
        ("HyperConverged", "openshift-cnv", "kubevirt-hyperconverged"),
        "spec.evictionStrategi",
    )
    assert unknown.location.index is None
    assert model(rendered(kubevirt(cpuModel="Skylake"), cluster_config=own)) == "Skylake"


def test_a_field_of_the_other_version_is_an_error_that_names_the_right_place() -> None:
    answer = rendered(hyperconverged(virtualization={"evictionStrategy": "None"}))
    (found,) = messages(answer, "VR105")
    assert "hco.kubevirt.io/v1" in found.help
    assert answer.resources[-1]["spec"]["evictionStrategy"] == "LiveMigrate"  # judged without it


def test_one_that_is_refused_leaves_the_defaults_and_says_so() -> None:
    answer = rendered(hyperconverged(evictionStrategy="Sometimes", defaultCPUModel="Haswell"))
    (found,) = messages(answer, "VR715")
    assert found.field == "spec.evictionStrategy"
    assert "KubeVirt's defaults are used instead" in found.message
    assert not messages(answer, "VR708")
    assert model(answer) == "host-model"


def test_a_setting_that_kubevirt_does_not_take_is_said_where_it_stands() -> None:
    patch = '[{"op": "replace", "path": "/spec/configuration/network/defaultNetworkInterface", "value": "x"}]'
    own = hyperconverged()
    own["metadata"]["annotations"] = {"kubevirt.kubevirt.io/jsonpatch": patch}
    (found,) = messages(rendered(own), "VR707")
    assert found.location.path == ("metadata", "annotations", "kubevirt.kubevirt.io/jsonpatch")
    assert "invalid default-network-interface" in found.message


@pytest.mark.parametrize(
    ("method", "cure"),
    [
        ("LiveMigration", "did you mean LiveMigrate?"),
        ("evict", "did you mean Evict?"),
        ("Shutdown", "write LiveMigrate or Evict"),
    ],
)
def test_a_method_that_kubevirt_does_not_know_is_said(method: str, cure: str) -> None:
    """Nothing refuses it, and nothing migrates by it."""
    own = kubevirt(cpuModel="Haswell")
    own["spec"]["workloadUpdateStrategy"] = {"workloadUpdateMethods": ["Evict", method]}
    answer = rendered(own)
    (found,) = messages(answer, "VR707")
    assert found.field == "spec.workloadUpdateStrategy.workloadUpdateMethods[1]"
    assert found.message.startswith(f"KubeVirt knows no method {method} ")
    assert found.help == cure
    assert model(answer) == "Haswell"


@pytest.mark.parametrize(
    ("release", "percent", "is_refused"),
    [("1.5", 9, False), ("1.6", 9, True), ("1.9", 0, True), ("1.9", 10, False)],
)
def test_the_least_overcommit_is_that_of_the_schema(
    release: str, percent: int, *, is_refused: bool
) -> None:
    body = kubevirt(developerConfiguration={"memoryOvercommit": percent})
    found = messages(render([body, VM], Settings(kubevirt=release)), "VR109")
    field = "spec.configuration.developerConfiguration.memoryOvercommit"
    text = f"got {percent}: {field} in body should be greater than or equal to 10"
    assert [(diagnostic.field, diagnostic.message) for diagnostic in found] == is_refused * [
        (field, text)
    ]


def test_a_policy_that_is_none_leaves_the_defaults() -> None:
    own = kubevirt(cpuModel="Skylake", imagePullPolicy="Sometimes")
    answer = rendered(own)
    assert model(answer) == "host-model"
    assert len(messages(answer, "VR109")) == 1
    assert model(rendered(kubevirt(cpuModel="Skylake", imagePullPolicy="Always"))) == "Skylake"


@pytest.mark.parametrize(
    "body",
    [
        {"configuration": 3},
        {"configuration": {"developerConfiguration": {"featureGates": 3}}},
        [],
    ],
)
def test_nonsense_in_a_file_of_settings_is_no_crash(body: Any) -> None:
    assert model(rendered(cluster_config={**kubevirt(), "spec": body})) == "host-model"


def test_what_other_releases_refuse_is_asked_under_what_their_operators_write() -> None:
    """1.9 alone lets its operator turn SEV off: nobody knows whether that release runs."""
    machine = {**VM, "spec": {**VM["spec"]}}
    domain = {"launchSecurity": {"sev": {}}, **VM["spec"]["template"]["spec"]["domain"]}
    domain["firmware"] = {"bootloader": {"efi": {"secureBoot": False}}}
    machine["spec"]["template"] = {"spec": {"domain": domain}}
    (found,) = (d for d in render([hyperconverged(), machine]).diagnostics if d.check)
    assert found.check == "security/sev-gate"
    assert found.severity == "error"  # the older ones have no such gate on either


def related(holder: Json, check: str, **spec: Any) -> tuple[str, Any]:
    body = {**VM, "spec": {"runStrategy": "Always", "template": {"spec": spec}}}
    found = [
        d for d in render([holder, body], Settings(kubevirt="1.8")).diagnostics if d.check == check
    ]
    first = found[0].related[0]
    return first.message, first.location.path


INTERFACE: Json = {
    "domain": {
        "memory": {"guest": "1Gi"},
        "devices": {"interfaces": [{"name": "a", "passt": {}}]},
    },
    "networks": [{"name": "a", "pod": {}}],
}
SIDECAR: Json = {"domain": {"memory": {"guest": "1Gi"}, "devices": {"autoattachVSOCK": True}}}


def test_the_line_of_a_listed_gate_is_blamed() -> None:
    listed = kubevirt(developerConfiguration={"featureGates": ["Snapshot", "Passt"]})
    gates = ("spec", "configuration", "developerConfiguration", "featureGates")
    name = "KubeVirt openshift-cnv/kubevirt"
    assert related(listed, "network/passt-gate", **INTERFACE) == (
        f"{name} enables the feature gate Passt",
        (*gates, 1),
    )
    assert related(listed, "devices/vsock-gate", **SIDECAR) == (
        f"{name} does not enable the feature gate VSOCK",
        gates,
    )


def test_a_patch_of_the_hyperconverged_is_blamed_for_the_gate_that_it_adds() -> None:
    own = hyperconverged()
    place = "kubevirt.kubevirt.io/jsonpatch"
    path = "/spec/configuration/developerConfiguration/featureGates"
    operation = f'[{{"op": "replace", "path": "{path}", "value": ["Passt"]}}]'
    own["metadata"]["annotations"] = {place: operation}
    assert related(own, "network/passt-gate", **INTERFACE) == (
        "HyperConverged openshift-cnv/kubevirt-hyperconverged enables the feature gate Passt",
        ("metadata", "annotations", place),
    )


def test_a_value_that_the_cluster_gave_is_blamed_on_its_line() -> None:
    domain = {"memory": {"guest": "1Gi"}, "devices": {}}
    holder = kubevirt(evictionStrategy="Sometimes")
    message, path = related(holder, "eviction/strategy", domain=domain)
    assert message == "KubeVirt openshift-cnv/kubevirt sets evictionStrategy: Sometimes"
    assert path == ("spec", "configuration", "evictionStrategy")


@pytest.mark.parametrize("named", [{}, {"architecture": "arm64"}])
def test_the_setting_of_an_architecture_is_named(named: Json) -> None:
    """Whether the VM says its architecture, or has the default one."""
    machines = {named.get("architecture", "amd64"): {"emulatedMachines": ["q35*"]}}
    config = kubevirt(architectureConfiguration=machines)
    domain = {**VM["spec"]["template"]["spec"]["domain"], "machine": {"type": "odd"}}
    vm = {**VM, "spec": {**VM["spec"], "template": {"spec": {**named, "domain": domain}}}}
    answer = render([config, vm], Settings(emit="vmi", kubevirt="1.8"))
    (found,) = (
        diagnostic
        for diagnostic in answer.diagnostics
        if "machine" in diagnostic.message and diagnostic.related
    )
    assert found.related[0].location.path[-1] == "emulatedMachines"


@pytest.mark.parametrize(
    ("path", "value", "decided_by"),
    [
        ("spec.domain.resources.requests.cpu", "200m", "cpuRequest"),
        ("spec.domain.resources.requests.memory", "1Gi", ""),
        ("spec.domain.cpu.maxSockets", 8, "liveUpdateConfiguration.maxCpuSockets"),
        ("spec.domain.cpu.maxSockets", 16, "liveUpdateConfiguration.maxHotplugRatio"),
        ("spec.domain.memory.maxGuest", "4Gi", "liveUpdateConfiguration.maxHotplugRatio"),
        ("spec.domain.devices.interfaces", [{}], ""),
        ("spec.domain.machine.type", "virt-9", "architectureConfiguration.arm64.machineType"),
        ("spec.domain.machine.type", "q35", ""),
        ("spec.hostname", "web", ""),
    ],
)
def test_which_setting_gave_a_field_its_value(path: str, value: Any, decided_by: str) -> None:
    body = kubevirt(
        cpuRequest="200m",
        machineType="q36",
        architectureConfiguration={"arm64": {"machineType": "virt-9"}},
        liveUpdateConfiguration={"maxCpuSockets": 8, "maxHotplugRatio": 4},
    )
    source = SettingsSource(from_body(body, 0), body, lambda _: None, lambda _: ClusterConfig())
    found = source.deciding(tuple(path.split(".")), value, "arm64")
    assert found == (tuple(decided_by.split(".")) if decided_by else None)
