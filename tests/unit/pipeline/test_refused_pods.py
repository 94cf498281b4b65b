"""Pods that the API server itself refuses: which field of a VM is named, and that nothing is said where all is well."""

import json
import subprocess
import sys
from typing import Any

import pytest

from render import Diagnostic, Settings, render
from render.model.apimachinery.dns1123 import subdomain_faults
from render.pipeline.capacity import reasons
from tests.support import goldens
from tests.unit.pipeline.test_capacity import kubevirt, limit_range, quota, vm

Json = dict[str, Any]
SETTINGS = Settings(kubevirt="1.9")
TEMPLATE = "spec.template."
HOOKS = "hooks.kubevirt.io/hookSidecars"
LONG = "a" * 55
GATED = kubevirt(developerConfiguration={"featureGates": ["Sidecar"]})


def refused(*objects: Json, settings: Settings = SETTINGS) -> list[Diagnostic]:
    return [
        diagnostic
        for diagnostic in render(objects, settings).diagnostics
        if diagnostic.code == "VR443"
    ]


def hooked(*hooks: Json) -> Json:
    return {"metadata": {"annotations": {HOOKS: json.dumps(hooks)}}}


HOOK = {"configMap": {"name": "hook", "key": "a", "hookPath": "/a"}}
NODE_TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["not a label"]}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        (
            {"livenessProbe": {"tcpSocket": {"port": 0}}},
            "spec.livenessProbe.tcpSocket.port",
            "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            {"tolerations": [{"operator": "Equal", "value": "x"}]},
            "spec.tolerations[0].operator",
            "operator must be Exists when `key` is empty",
        ),
        (
            {"tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}]},
            "spec.tolerations[0].effect",
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
        (
            {"nodeSelector": {"zone": "not a label"}},
            "spec.nodeSelector.zone",
            'spec.nodeSelector: Invalid value: "not a label"',
        ),
        (
            {"domain": {"cpu": {"features": [{"name": "", "policy": "require"}], "model": "host-model"}}},
            "spec.domain.cpu.features[0].name",
            'spec.nodeSelector: Invalid value: "cpu-feature.node.kubevirt.io/": name part must be non-empty',
        ),
        (
            {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [NODE_TERM]}}}},
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]",
            'Invalid value: "not a label"',
        ),
        (
            {"subdomain": "a.b"},
            "spec.subdomain",
            'spec.subdomain: Invalid value: "a.b": must not contain dots',
        ),
        (
            {"priorityClassName": "Very High"},
            "spec.priorityClassName",
            'spec.priorityClassName: Invalid value: "Very High"',
        ),
        (
            hooked(HOOK, HOOK),
            f"metadata.annotations[{HOOKS}]",
            'spec.volumes[9].name: Duplicate value: "hook"',
        ),
        (
            {
                "metadata": {
                    "annotations": {"controller.kubernetes.io/pod-deletion-cost": "much"}
                }
            },
            "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]",
            'Invalid value: "much": must be a 32bit integer',
        ),
        (
            {
                "domain": {
                    "memory": {"guest": "1Gi"},
                    "resources": {"requests": {"memory": "1Gi", "example.com/key": "1"}},
                }
            },
            "spec.domain.resources.requests[example.com/key]",
            "Limit must be set for non overcommitable resources",
        ),
    ],
)  # fmt: skip
def test_the_field_that_brings_it_is_named(spec: Json, field: str, words: str) -> None:
    network: Json = {"networks": [{"name": "default", "pod": {}}]}
    interface: Json = {"interfaces": [{"name": "default", "masquerade": {}}]}
    domain = {"devices": interface, **spec.get("domain", {})}
    (found,) = refused(vm(**{**network, **spec, "domain": domain}), GATED)
    assert found.field == TEMPLATE + field
    assert found.severity == "error"
    assert found.message.startswith("the API server refuses its pod: ")
    assert words in found.message


def test_a_name_of_a_volume_that_is_too_long_for_its_container() -> None:
    disk: Json = {"devices": {"disks": [{"name": LONG, "disk": {}}]}}
    volumes = [{"name": LONG, "containerDisk": {"image": "registry.example/disk"}}]
    older = Settings(kubevirt="1.8")
    machine = vm(domain=disk, volumes=volumes)
    (found,) = refused(machine, kubevirt(), settings=older)
    assert found.field == f"{TEMPLATE}spec.volumes[0].name"
    assert "must be no more than 63 characters" in found.message
    # 1.9 mounts the image as a volume: there is no container to be named.
    assert not refused(machine, kubevirt())


def test_the_setting_that_brings_it_is_shown() -> None:
    log = {"type": "guest-console-log", "resources": {"requests": {"memory": "1Gi"}}}
    (found,) = refused(vm(), kubevirt(supportContainerResources=[log]))
    assert "must be less than or equal to memory limit of 60M" in found.message
    (related,) = found.related
    assert related.message == "KubeVirt kubevirt/kubevirt sets supportContainerResources.0"
    assert related.location.path == ("spec", "configuration", "supportContainerResources", 0)


def test_nothing_is_said_of_what_kubernetes_takes() -> None:
    good: Json = {
        "livenessProbe": {"exec": {"command": ["true"]}},
        "readinessProbe": {"guestAgentPing": {}, "successThreshold": 2},
        "tolerations": [
            {"operator": "Exists"},
            {"key": "a.io/b", "value": "c"},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
            {"key": "n", "operator": "Gt", "value": "5"},
        ],
        "nodeSelector": {"zone": "", "a.io/b": "C_d.e"},
        "subdomain": "a",
    }
    assert not refused(vm(**good), kubevirt())
    assert not refused(vm("a" * 100), kubevirt())


def test_claims_with_reservations_have_uids_by_which_pods_keep_apart() -> None:
    """Since 1.9 a label of the pod has the uid of such a claim, which no manifest has."""
    lun: Json = {"bus": "scsi", "reservation": True}
    names = ["one", "two"]
    made = vm(
        domain={"devices": {"disks": [{"name": name, "lun": lun} for name in names]}},
        volumes=[{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names],
    )
    claims: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": made["metadata"]["namespace"]},
            "spec": {"accessModes": ["ReadWriteMany"]},
        }
        for name in names
    ]
    gated = kubevirt(developerConfiguration={"featureGates": ["PersistentReservation"]})
    assert not refused(made, *claims, gated)
    pods = render([made, *claims, gated], SETTINGS._replace(emit="pod")).resources
    (labels,) = (body["metadata"]["labels"] for body in pods if body["kind"] == "Pod")
    uids = [label for label in labels if label.startswith("pr.kubevirt.io/")]
    assert len(uids) == 2
    assert "pr.kubevirt.io/" not in uids


def test_what_has_a_name_that_no_object_has_comes_to_no_pod() -> None:
    probe: Json = {"livenessProbe": {"tcpSocket": {"port": 0}}}
    limits = limit_range(max={"cpu": "4"})
    for objects in ([vm("Web_Server", **probe)], [vm("Web_Server"), limits]):
        found = render([*objects, kubevirt()], SETTINGS).diagnostics
        assert [diagnostic.code for diagnostic in found if diagnostic.code != "VR708"] == ["VR129"]
    (of_web,) = refused(vm("Web_Server", **probe), vm("web", **probe), kubevirt())
    assert "Web_Server" not in of_web.message, "two VMs of one kind are judged by one pod"
    (of_long,) = refused(vm("a" * 240), kubevirt())
    assert "virt-launcher-" in of_long.message, "a name that a VM may have, and its pod may not"


BAD_BUS: Json = {
    "devices": {"disks": [{"name": "a", "disk": {"bus": "foo"}}]},
    "cpu": {"features": [{"name": ""}]},
}
BAD_DISK: Json = {"domain": BAD_BUS, "volumes": [{"name": "a", "emptyDisk": {"capacity": "1Gi"}}]}


def test_what_the_webhooks_refuse_comes_to_no_pod() -> None:
    """Neither its pod nor a quota that it would not fit is anything to speak of before it is admitted."""

    def messages(*objects: Json, settings: Settings = SETTINGS) -> list[str]:
        found = render([*objects, kubevirt()], settings).diagnostics
        return [diagnostic.code for diagnostic in found if diagnostic.code != "VR708"]

    refused_vm = vm(**BAD_DISK)
    assert messages(refused_vm) == ["VR420"]
    assert messages(refused_vm, quota(pods=0)) == ["VR420"]
    # As well as a pool of such VMs, and one that its preference demands more of.
    assert messages(pool_of(refused_vm), quota(pods=0)) == ["VR420"]
    kind = "VirtualMachineClusterPreference"
    preference = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": {"name": "large"},
        "spec": {"requirements": {"cpu": {"guest": 4}}},
    }  # fmt: skip
    small = vm(domain={"cpu": {"features": [{"name": ""}], "cores": 1}})
    small["spec"]["preference"] = {"name": "large"}
    assert messages(small, preference, quota(pods=0)) == ["VR401"]
    # Whose author says that it is not refused has a pod.
    silenced = vm(**BAD_DISK)
    silenced["metadata"]["annotations"] = {"virt-render.dev/ignore.VR420": "the cluster knows it"}
    assert messages(silenced) == ["VR443"]
    assert messages(vm(domain={"cpu": BAD_BUS["cpu"]})) == ["VR443"]


def pool_of(machine: Json) -> Json:
    labels = {"labels": {"app": "a"}}
    template = {**machine["spec"]["template"], "metadata": labels}
    return {
        "apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels["labels"]},
            "virtualMachineTemplate": {"metadata": labels, "spec": {**machine["spec"], "template": template}},
        },
    }  # fmt: skip


def test_a_quota_on_limits_makes_a_limit_that_a_request_may_exceed() -> None:
    cpus: Json = {"domain": {"resources": {"requests": {"cpu": "16"}}, "cpu": {"cores": 2}}}
    for key, number in (("limits_cpu", 1), ("requests_cpu", 0)):
        found = refused(vm("a"), vm("b", **cpus), quota(**{key: 99}), kubevirt())
        assert len(found) == number
        assert all(
            "must be less than or equal to cpu limit of 2" in diagnostic.message
            for diagnostic in found
        )


def test_no_pod_is_made_to_say_nothing() -> None:
    """Of machines without a doubt no pod is made: nothing that makes or judges one is imported."""
    program = (
        "import json, sys; from render import render; render(json.load(sys.stdin));"
        "print([n for n in sys.modules if n.startswith(('render.launcher', 'render.room'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([vm(), vm("b", "Halted")]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_kubevirt_admits_and_kubernetes_refuses() -> None:
    """All that is recorded, from end to end, and nothing of what is admitted.

    But for machines that the API server does not let be, because of their name: they come to no pod.
    """
    wrong = []
    for case in goldens.cases("pod-vmi"):
        if any(subdomain_faults(body["metadata"]["name"]) for body in case["objects"]):
            continue
        text = " ".join(diagnostic.message for diagnostic in refused(*case["objects"]))
        recorded = case["want"].get("invalid", [])
        if not all(item in text for item in recorded) or (text and not recorded):
            wrong.append(case["id"])
    assert not wrong


def test_plain_machines_are_not_looked_at() -> None:
    """What most VMs have says nothing of their pods: making these would cost more than all else."""
    plain: Json = {
        "domain": {
            "cpu": {"cores": 2, "model": "host-model"},
            "memory": {"guest": "1Gi"},
            "machine": {"type": "pc-q35-rhel9.4.0"},
            "resources": {"requests": {"memory": "1Gi", "cpu": "1"}, "limits": {"memory": "1Gi"}},
            "devices": {"interfaces": [{"name": "a", "ports": [{"name": "ssh", "port": 22}]}]},
        },
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [{"name": "root", "dataVolume": {"name": "root"}}],
    }
    assert not reasons.is_doubtful("web", {"spec": plain})
    for path, value in (
        (("resources", "limits"), {"memory": "2Gi"}),
        (("resources", "limits"), {"cpu": "1"}),
        (("resources", "requests"), {"example.com/key": "1"}),
        (("devices", "interfaces"), [{"ports": [{"name": "SSH", "port": 22}]}]),
        (("devices", "interfaces"), [{"ports": [{"port": 70_000}]}]),
        (("memory", "hugepages"), {"pageSize": "2Mi"}),
        (("cpu", "model"), "a model"),
    ):
        domain = plain["domain"]
        odd = {**domain, path[0]: {**domain[path[0]], path[1]: value}}
        assert reasons.is_doubtful("web", {"spec": {**plain, "domain": odd}}), path


INTERFACES = "spec.domain.devices.interfaces[0]"
POD_NETWORK = {"networks": [{"name": "default", "pod": {}}]}
REGISTERED = {"network": {"binding": {"passt-net": {"sidecarImage": "registry.example.com/passt"}}}}


def plugged(name: str) -> Json:
    """Of a VM what takes the binding plugin *name*."""
    interface = {"name": "default", "binding": {"name": name}}
    return {**POD_NETWORK, "domain": {"devices": {"interfaces": [interface]}}}


CONTAINER_PATH = {
    "domain": {"devices": {"filesystems": [{"name": "token", "virtiofs": {}}]}},
    "volumes": [{"name": "token", "containerPath": {"path": "/var/run/secrets/token"}}],
}


@pytest.mark.parametrize(
    ("spec", "field", "words", "help_"),
    [
        (plugged("passt"), f"{INTERFACES}.binding.name", "couldn't find configuration for network binding: passt",
         "did you mean passt-net?"),
        (plugged("vdpa"), f"{INTERFACES}.binding.name", "couldn't find configuration for network binding: vdpa",
         "name a plugin that network.binding of the KubeVirt resource has"),
        ({"metadata": {"annotations": {HOOKS: "[{image: x}]"}}}, f"metadata.annotations[{HOOKS}]",
         "invalid character 'i' looking for beginning of object key string", "mend what is named"),
        ({"metadata": {"labels": {"logVerbosity": "high"}}}, "metadata.labels.logVerbosity",
         "verbosity high cannot cast to int", "mend what is named"),
        ({"volumes": [{"name": "answers", "sysprep": {}}]}, "spec.volumes[0].sysprep",
         "Sysprep must have Secret or ConfigMap reference set", "mend what is named"),
        (CONTAINER_PATH, "spec.volumes[0].containerPath",
         "VMI has ContainerPath volumes but the ContainerPathVolumes feature gate is disabled",
         "turn the feature gate on"),
    ],
)  # fmt: skip
def test_what_keeps_kubevirt_from_making_a_pod_is_told(
    spec: Json, field: str, words: str, help_: str
) -> None:
    gates = {"featureGates": ["Sidecar", "NetworkBindingPlugins"]}
    cluster = kubevirt(**REGISTERED, developerConfiguration=gates)
    (diagnostic,) = refused(vm(**spec), cluster)
    assert (str(diagnostic.severity), diagnostic.field) == ("error", TEMPLATE + field)
    assert f"KubeVirt makes no pod: {words}" in diagnostic.message
    assert help_ in diagnostic.help
    two = refused(vm("a"), vm("b", **spec), cluster)
    assert [each.resource and each.resource.name for each in two] == ["b"]


def test_the_setting_that_lacks_a_plugin_is_named() -> None:
    (diagnostic,) = refused(vm(**plugged("passt")), kubevirt(**REGISTERED))
    (related,) = diagnostic.related
    assert related.message == "KubeVirt kubevirt/kubevirt sets network.binding"
    assert related.location.path == ("spec", "configuration", "network", "binding")
    (diagnostic,) = refused(vm(**plugged("passt")), kubevirt(imagePullPolicy="Always"))
    assert diagnostic.related == (), "nothing registers one"


@pytest.mark.parametrize(
    ("spec", "cluster"),
    [
        (plugged("passt-net"), [kubevirt(**REGISTERED)]),
        (plugged("passt"), []),
        (CONTAINER_PATH, []),
        (CONTAINER_PATH, [kubevirt(developerConfiguration={"featureGates": ["ContainerPathVolumes"]})]),
        ({"metadata": {"annotations": {HOOKS: "${HOOKS}"}}}, [GATED]),
        ({"metadata": {"labels": {"logVerbosity": "7"}}}, []),
        ({"volumes": [{"name": "answers", "sysprep": {"secret": {"name": "answers"}}}]}, []),
    ],
)  # fmt: skip
def test_nothing_is_said_where_a_pod_is_made_or_nobody_knows(
    spec: Json, cluster: list[Json]
) -> None:
    assert refused(vm(**spec), *cluster) == []
