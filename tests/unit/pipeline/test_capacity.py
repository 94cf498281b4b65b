"""Small fleets worked out by hand: what their pods ask for, and whether quotas, LimitRanges and namespaces allow it.

The pod of a VM with 1 vCPU under KubeVirt 1.9 requests, beside its guest, 220Mi for launcher and qemu, 8Mi a vCPU, 8Mi
for the I/O thread, 32Mi for video, and 35M for the log of its console; and 100m + 5m of CPU.
"""

import re
from typing import Any

import pytest

from render import Diagnostic, Settings, render
from render.machine import Machine
from render.pipeline.capacity.judgement import PodJudge

Json = dict[str, Any]
MI, GI = 1 << 20, 1 << 30
LOG = 35_000_000
#: What a pod requests beside a guest of 1 GiB, by release: 1.4 and 1.5 count page tables, a 512th of the guest.
BESIDE = {
    "1.9": (220 + 8 + 8 + 32) * MI + LOG,
    "1.6": (220 + 8 + 8 + 32) * MI + LOG,
    "1.5": (220 + 8 + 8 + 16) * MI + GI // 512 + LOG,
    "1.4": (215 + 8 + 8 + 16) * MI + GI // 512 + LOG,
}
POD = GI + BESIDE["1.9"]
LIVE = "LiveMigrate"


def vm(name: str = "web", run: str = "Always", namespace: str = "prod", **spec: Any) -> Json:
    domain = {"memory": {"guest": "1Gi"}, "devices": {}, **spec.pop("domain", {})}
    template = {"metadata": spec.pop("metadata", {}), "spec": {"domain": domain, **spec}}
    return {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"runStrategy": run, "template": template},
    }  # fmt: skip


def obj(kind: str, spec: Json, name: str = "team", namespace: str = "prod") -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}


def quota(namespace: Any = "prod", scopes: Any = None, **hard: Any) -> Json:
    named = {key.replace("_", "."): str(value) for key, value in hard.items()}
    return obj("ResourceQuota", {"hard": named, **(scopes or {})}, namespace=namespace)


def limit_range(**item: Any) -> Json:
    return obj("LimitRange", {"limits": [{"type": "Container", **item}]})


def enforcing(level: str) -> Json:
    labels = {"pod-security.kubernetes.io/enforce": level}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod", "labels": labels}}


def kubevirt(**configuration: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1", "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": configuration},
    }  # fmt: skip


KUBEVIRT = kubevirt(developerConfiguration={"featureGates": ["HostDisk", "Sidecar"]})


def found(*objects: Json, cluster: Json | None = KUBEVIRT, **settings: Any) -> list[Diagnostic]:
    inputs = [*objects, *([cluster] if cluster else [])]
    diagnostics = render(inputs, Settings(**{"kubevirt": "1.9", **settings})).diagnostics
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.code in ("VR443", "VR444", "VR445", "VR446")
    ]


def told(*objects: Json, **settings: Any) -> list[tuple[str, str]]:
    return [
        (str(diagnostic.severity), diagnostic.field) for diagnostic in found(*objects, **settings)
    ]


MEMORY = "spec.hard[requests.memory]"


@pytest.mark.parametrize("release", BESIDE)
def test_a_quota_that_fits_to_the_byte(release: str) -> None:
    size = GI + BESIDE[release]
    assert not found(vm(), quota(requests_memory=size), kubevirt=release)
    (diagnostic,) = found(vm(), quota(requests_memory=size - 1), kubevirt=release)
    assert (str(diagnostic.severity), diagnostic.field) == ("error", MEMORY)
    assert diagnostic.resource is not None
    assert diagnostic.resource.kind == "ResourceQuota"
    assert [related.message.partition(":")[0] for related in diagnostic.related] == ["web"]


def test_a_guest_of_the_size_of_the_quota_does_not_fit() -> None:
    guest = vm(domain={"memory": {"guest": "4Gi"}})
    (diagnostic,) = found(guest, quota(requests_memory="4Gi"))
    assert diagnostic.message == (
        f"exceeded quota: team, requested: requests.memory={4 * GI + BESIDE['1.9']}, limited: requests.memory=4Gi"
        ": what always runs: web requests.memory=4.3Gi"
    )


def test_cpu_of_the_guest_and_of_its_log() -> None:
    two = [vm("a"), vm("b")]
    assert not found(*two, quota(requests_cpu="210m"))  # 2 x (100m + 5m)
    assert told(*two, quota(requests_cpu="209m")) == [("error", "spec.hard[requests.cpu]")]
    assert told(*two, quota(cpu="209m")) == [("error", "spec.hard.cpu")]


def test_what_is_halted_does_not_count() -> None:
    assert not found(vm("a"), vm("b", "Halted"), quota(pods=1))


@pytest.mark.parametrize("run", ["Manual", "Once", "RerunOnFailure"])
def test_what_may_be_started_is_a_warning(run: str) -> None:
    assert not found(vm("a"), vm("b", run), quota(pods=2))
    (diagnostic,) = found(vm("a"), vm("b", run), quota(pods=1))
    assert diagnostic.severity == "warning"
    assert "and what may be started: a pods=1, b pods=1" in diagnostic.message


def pool(replicas: int) -> Json:
    labels: Json = {"labels": {"app": "web"}}
    inner = vm()["spec"]
    inner["template"]["metadata"] = labels
    spec = {
        "replicas": replicas, "selector": {"matchLabels": labels["labels"]},
        "virtualMachineTemplate": {"metadata": labels, "spec": inner},
    }  # fmt: skip
    body = obj("VirtualMachinePool", spec, name="web")
    return {**body, "apiVersion": "pool.kubevirt.io/v1beta1"}


def test_a_pool_counts_its_replicas() -> None:
    assert not found(pool(3), quota(requests_memory=3 * POD))
    (diagnostic,) = found(pool(3), quota(requests_memory=3 * POD - 1))
    assert f"requested: requests.memory={3 * POD}," in diagnostic.message, "as Kubernetes says it"
    assert re.search(r"what always runs: 3 x web requests\.memory=[\d.]+[GM]i$", diagnostic.message)
    assert not found(pool(0), quota(pods=0))


def test_a_replica_set_and_a_vmi() -> None:
    labels: Json = {"labels": {"app": "web"}}
    template: Json = {"metadata": labels, "spec": vm()["spec"]["template"]["spec"]}
    spec: Json = {
        "replicas": 2,
        "selector": {"matchLabels": labels["labels"]},
        "template": template,
    }
    body = obj("VirtualMachineInstanceReplicaSet", spec, name="set")
    replicas = {**body, "apiVersion": "kubevirt.io/v1"}
    alone = {
        **obj("VirtualMachineInstance", template["spec"], name="one"),
        "apiVersion": "kubevirt.io/v1",
    }
    assert not found(replicas, alone, quota(**{"count/pods": 3}))
    assert told(replicas, alone, quota(**{"count/pods": 2})) == [("error", "spec.hard.count/pods")]


def of_class(operator: str, *values: str) -> Json:
    expression: Json = {"scopeName": "PriorityClass", "operator": operator, "values": [*values]}
    return {"scopeSelector": {"matchExpressions": [expression]}}


@pytest.mark.parametrize(
    ("scopes", "counts"),
    [
        ({"scopes": ["BestEffort"]}, False),
        ({"scopes": ["NotBestEffort"]}, True),
        ({"scopes": ["Terminating"]}, False),
        ({"scopes": ["NotTerminating", "NotBestEffort"]}, True),
        (of_class("In", "high"), False),
        (of_class("DoesNotExist"), True),
    ],
)  # fmt: skip
def test_scopes(scopes: Json, counts: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert bool(found(vm(), quota(scopes=scopes, pods=0))) is counts


def test_the_class_of_a_vm_and_that_of_all() -> None:
    scoped = quota(scopes=of_class("In", "high"), pods=0)
    assert found(vm(priorityClassName="high"), scoped)
    everyones = {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 5, "globalDefault": True,
    }  # fmt: skip
    assert found(vm(), scoped, everyones)
    assert not found(vm(), scoped, {**everyones, "globalDefault": False})


def test_a_second_pod_for_one_migration() -> None:
    masquerade: Json = {"devices": {"interfaces": [{"name": "default", "masquerade": {}}]}}
    network: Json = {"networks": [{"name": "default", "pod": {}}], "domain": masquerade}
    moving = [vm("a", evictionStrategy=LIVE, **network), vm("b")]
    assert not found(*moving, quota(requests_memory=3 * POD, pods=3))
    (diagnostic,) = found(*moving, quota(requests_memory=3 * POD - 1, pods=3))
    assert (str(diagnostic.severity), diagnostic.field) == ("warning", MEMORY)
    assert diagnostic.message.startswith("no room for a live migration of a, ")
    assert [ref.name for ref in diagnostic.concerned] == ["a"], "a page names the VM with it"
    assert not found(vm("a"), vm("b"), quota(pods=2))  # nobody moves


def test_namespaces_of_their_own() -> None:
    both = [vm("a"), vm("b", namespace="test")]
    assert not found(*both, quota(pods=1), quota(namespace="test", pods=1))
    (single,) = found(
        *both, vm("c", namespace="test"), quota(pods=1), quota(namespace="test", pods=1)
    )
    assert single.resource is not None
    assert single.resource.namespace == "test"


def test_the_same_fleet_in_two_roots_is_two_inputs() -> None:
    assert not found(vm("a"), quota(pods=1))
    assert not found(vm("b"), quota(pods=1))


def test_what_settings_could_lift_is_a_warning_without_any() -> None:
    tight = quota(requests_memory=POD - 1)
    (diagnostic,) = found(vm(), tight, cluster=None)
    assert diagnostic.severity == "warning"
    assert diagnostic.message.endswith(
        "(memoryOvercommit decides, and nothing in the input says what it is)"
    )
    assert told(vm(), tight, cluster=None, admission="strict") == [("error", MEMORY)]
    assert told(vm(), quota(pods=0), cluster=None) == [("error", "spec.hard.pods")]
    overcommitted = kubevirt(developerConfiguration={"memoryOvercommit": 200})
    assert not found(vm(), tight, cluster=overcommitted)


def test_limits_that_kubevirt_adds_where_a_quota_asks_for_them() -> None:
    assert not found(vm(), quota(limits_memory="64Gi", limits_cpu=64))
    sidecar = {"annotations": {"hooks.kubevirt.io/hookSidecars": '[{"image": "x:1"}]'}}
    (diagnostic,) = found(vm(metadata=sidecar), quota(limits_cpu=64))
    assert diagnostic.message == (
        "failed quota: team: must specify limits.cpu for: hook-sidecar-0, of VirtualMachine prod/web"
    )


def test_storage_is_not_judged() -> None:
    assert not found(vm(), quota(requests_storage=0, persistentvolumeclaims=0, services=0))


def test_extended_resources() -> None:
    kvm = {"requests.devices.kubevirt.io/kvm": "1"}
    two = [vm("a"), vm("b")]
    assert not found(vm("a"), obj("ResourceQuota", {"hard": kvm}))
    assert [
        diagnostic.severity for diagnostic in found(*two, obj("ResourceQuota", {"hard": kvm}))
    ] == ["error"]


def test_the_overhead_of_a_runtime() -> None:
    cluster = kubevirt(defaultRuntimeClass="kata")
    runtime = {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"},
        "handler": "kata", "overhead": {"podFixed": {"memory": "160Mi"}},
    }  # fmt: skip
    assert not found(vm(), quota(requests_memory=POD + 160 * MI), runtime, cluster=cluster)
    assert found(vm(), quota(requests_memory=POD + 160 * MI - 1), runtime, cluster=cluster)


def test_a_default_limit_below_the_pod() -> None:
    (diagnostic,) = found(vm(), limit_range(default={"memory": "1Gi"}))
    assert (str(diagnostic.severity), diagnostic.code) == ("error", "VR445")
    assert diagnostic.message == (  # 1024 + 220 + 8 + 8 + 32
        'container compute: resources.requests: Invalid value: "1292Mi": must be less than or equal to memory'
        " limit of 1Gi"
    )
    assert not found(vm(), limit_range(default={"memory": "2Gi"}))


def test_a_least_request_above_that_of_the_log() -> None:
    (diagnostic,) = found(vm(), limit_range(min={"cpu": "50m"}))
    assert diagnostic.message == "minimum cpu usage per Container is 50m, but request is 5m"
    assert diagnostic.severity == "error"


DISK: Json = {"volumes": [{"name": "data", "hostDisk": {"path": "/data/x.img", "type": "Disk"}}]}
DEVICES: Json = {"domain": {"devices": {"disks": [{"name": "data", "disk": {}}]}}}


def test_levels_of_pod_security() -> None:
    assert not found(vm(**DISK, **DEVICES), enforcing("privileged"))
    (diagnostic,) = found(vm(**DISK, **DEVICES), enforcing("baseline"))
    assert (diagnostic.code, str(diagnostic.severity), diagnostic.field) == (
        "VR446",
        "error",
        "spec.template.spec.volumes[0]",
    )
    assert diagnostic.message == (
        'it needs a privileged namespace to run: violates PodSecurity "baseline:latest": hostPath volumes'
        ' (volume "data")'
    )
    assert not found(vm(), enforcing("baseline"))
    assert told(vm(), enforcing("restricted")) == [("error", "")]
    assert told(vm(), enforcing("restricted"), cluster=None) == [("warning", "")]


def test_an_annotation_of_the_quota_silences() -> None:
    tight = quota(pods=0)
    tight["metadata"]["annotations"] = {
        "virt-render.dev/ignore.VR444": "raised before each release"
    }
    diagnostics = render([vm(), tight]).diagnostics
    assert not [diagnostic for diagnostic in diagnostics if diagnostic.code in ("VR444", "VR120")]


def test_off_asks_nothing() -> None:
    assert not found(vm(), quota(pods=0), enforcing("restricted"), admission="off")
    assert not found(vm(), quota(pods=0), emit="expand")


def test_nothing_of_it_is_imported_without_such_an_object() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from render import render; render([{}]); import json;"
        " print([name for name in sys.modules if name.startswith(('render.room', 'render.launcher'))])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program.format(vm())], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


NAMESPACES = [f"team-{number:02}" for number in range(20)]


def fleet(sizes: dict[str, int]) -> list[Json]:
    """A thousand VMs of 1 GiB, fifty a namespace, each with a quota for so many of them."""
    vms = [
        vm(f"vm-{number:02}", namespace=namespace)
        for namespace in NAMESPACES
        for number in range(50)
    ]
    quotas = [
        quota(namespace=namespace, requests_memory=sizes.get(namespace, 50) * POD)
        for namespace in NAMESPACES
    ]
    return [*vms, *quotas]


def test_a_thousand_vms_and_nothing_wrong() -> None:
    assert not found(*fleet({}))


def test_a_thousand_vms_and_what_was_planted() -> None:
    diagnostics = found(*fleet({"team-03": 49, "team-17": 10}))
    assert [
        (
            diagnostic.resource and diagnostic.resource.namespace,
            diagnostic.field,
            str(diagnostic.severity),
        )
        for diagnostic in diagnostics
    ] == [
        ("team-03", MEMORY, "error"),
        ("team-17", MEMORY, "error"),
    ]
    assert all("and 47 more" in diagnostic.message for diagnostic in diagnostics)


def test_alike_namespaces_are_judged_once_and_blamed_each(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    judge = PodJudge.judge

    def counted(self: PodJudge, machine: Machine, *stated: Any, **named: Any) -> Any:
        judged.append(machine.namespace)
        return judge(self, machine, *stated, **named)

    monkeypatch.setattr(PodJudge, "judge", counted)
    assert len(found(*fleet(dict.fromkeys(NAMESPACES, 49)))) == len(NAMESPACES)
    # One namespace of twenty has another size, and so another quota.
    assert len(found(*fleet({"team-03": 49}))) == 1
    assert len(judged) == 1 + 2
    ranges = [limit_range(default={"memory": "1Gi"}) for _ in NAMESPACES]
    for name, body in zip(NAMESPACES, ranges, strict=True):
        body["metadata"]["namespace"] = name
    diagnostics = found(*(vm(namespace=namespace) for namespace in NAMESPACES), *ranges)
    places = [diagnostic.related[0].location.resource for diagnostic in diagnostics]
    assert [place and place.namespace for place in places] == NAMESPACES
    # Of a quota on limits each namespace hears by itself what is not limited.
    hook = {"annotations": {"hooks.kubevirt.io/hookSidecars": '[{"image": "a:1"}]'}}
    both = [vm(namespace=namespace, metadata=hook) for namespace in NAMESPACES[:2]]
    diagnostics = found(
        *both, *(quota(namespace=namespace, limits_cpu=9) for namespace in NAMESPACES[:2])
    )
    assert [item.resource and item.resource.namespace for item in diagnostics] == NAMESPACES[:2]


def test_a_network_is_a_device_in_one_namespace_and_none_in_another() -> None:
    network: Json = {"networks": [{"name": "fast", "multus": {"networkName": "fast"}}]}
    devices: Json = {"devices": {"interfaces": [{"name": "fast", "sriov": {}}]}}
    definition = {
        "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": "fast", "namespace": "prod",
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": "example.com/nic"},
        },
        "spec": {"config": "{}"},
    }  # fmt: skip
    vms = [vm("a", namespace=name, domain=devices, **network) for name in ("prod", "test")]
    quotas = [quota(namespace=name, **{"requests_example_com/nic": 0}) for name in ("prod", "test")]
    (diagnostic,) = found(*vms, *quotas, definition, kubevirt="1.7")
    assert diagnostic.resource is not None
    assert diagnostic.resource.namespace == "prod"
    other = vm("b", domain=devices, networks=[{"name": "fast", "multus": {"networkName": "slow"}}])
    (diagnostic,) = found(vms[0], other, quotas[0], definition, kubevirt="1.7")
    assert "requested: requests.example.com/nic=1," in diagnostic.message


HALF_QUOTA = "the API server refuses the ResourceQuota"
HALF_RANGE = "the API server refuses the LimitRange"


@pytest.mark.parametrize(
    ("limiting", "code", "place", "words"),
    [
        (quota(pods="few"), "VR444", "spec.hard.pods", HALF_QUOTA),
        (quota(pods=-1), "VR444", "spec.hard.pods", "must be greater than or equal to 0"),
        (obj("ResourceQuota", {"hard": {"pods": True}}), "VR444", "spec.hard.pods", HALF_QUOTA),
        (obj("ResourceQuota", {"hard": ["pods"]}), "VR444", "spec.hard", HALF_QUOTA),
        (
            quota(pods=0, scopes={"scopeSelector": {"matchExpressions": ["x"]}}),
            "VR444", "spec.scopeSelector.matchExpressions[0]", "expected a mapping",
        ),
        (obj("LimitRange", {"limits": {"type": "Pod"}}), "VR445", "spec.limits", "expected a list"),
        (obj("LimitRange", {"limits": ["Pod"]}), "VR445", "spec.limits[0]", HALF_RANGE),
        (limit_range(default="1Gi"), "VR445", "spec.limits[0].default", "expected a mapping"),
        (limit_range(min={"cpu": "1GB"}), "VR445", "spec.limits[0].min.cpu", HALF_RANGE),
        (
            quota(request_cpu=4),
            "VR444", "spec.hard[request.cpu]", "request.cpu must be a standard resource for quota",
        ),
        (quota(storage="1Gi"), "VR444", "spec.hard.storage", HALF_QUOTA),
        (quota(pods="${PODS}"), "VR444", "spec.hard.pods", "is not looked at"),
    ],
)  # fmt: skip
def test_what_no_api_server_reads_limits_nothing(
    limiting: Json, code: str, place: str, words: str
) -> None:
    (fault,) = found(vm(), limiting)
    severity = "info" if "looked at" in words else "error"
    assert (fault.code, fault.field, str(fault.severity)) == (code, place, severity)
    assert words in fault.message
    assert found(vm(namespace="elsewhere"), limiting) == []


def test_a_mistyped_resource_of_a_quota_is_told_its_name() -> None:
    (fault,) = found(vm(), quota(request_cpu=4))
    assert fault.help == "did you mean requests.cpu?"
    (fault,) = found(vm(), quota(gpu=1))
    assert fault.help == "write its domain: requests.example.com/gpu"


@pytest.mark.parametrize(
    "name",
    ["services.loadbalancers", "requests.storage", "hugepages-2Mi", "requests.hugepages-1Gi",
     "count/virtualmachines.kubevirt.io", "requests.nvidia.com/gpu"],
)  # fmt: skip
def test_what_a_quota_may_limit_beside_pods_is_no_fault(name: str) -> None:
    assert found(vm(), obj("ResourceQuota", {"hard": {name: 100}})) == []


def test_a_runtime_that_no_api_server_reads_adds_nothing() -> None:
    runtime = {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"memory": "much"}},
    }  # fmt: skip
    cluster = kubevirt(defaultRuntimeClass="kata")
    assert found(vm(), runtime, quota(requests_memory=POD), cluster=cluster) == []


def test_a_quota_says_what_each_container_of_a_pod_asks_for() -> None:
    (tight,) = found(vm(domain={"memory": {"guest": "4Gi"}}), quota(requests_memory="4Gi"))
    (whose,) = tight.related
    assert whose.message == (
        "web: compute 4364Mi = guest 4096Mi + overhead 268Mi (launcher and qemu 220Mi, 1 vCPU 8Mi, I/O thread 8Mi,"
        " video 32Mi), memoryOvercommit 100 by KubeVirt's default, guest-console-log 35M"
    )
    (narrow,) = found(vm(), quota(limits_cpu="10m"))
    assert "guest-console-log 15m" in narrow.related[0].message
    assert "compute 2584Mi = the request x 2, since the namespace has" in (
        found(vm(), quota(limits_memory="2Gi"))[0].related[0].message
    )
    (few,) = found(vm(), quota(pods=0))
    assert few.related[0].message == "web"
    claim = {"claimName": "extra", "hotpluggable": True}
    plugged = vm(volumes=[{"name": "extra", "persistentVolumeClaim": claim}])
    (both,) = found(plugged, quota(pods=1, requests_memory=POD))
    assert both.related[0].message == (
        "web: pods: its own, and the one that attaches what is hotplugged from the start; compute 1292Mi = guest 1024Mi"
        " + overhead 268Mi (launcher and qemu 220Mi, 1 vCPU 8Mi, I/O thread 8Mi, video 32Mi), memoryOvercommit 100 by"
        " KubeVirt's default, guest-console-log 35M, hotplug-disk 2M"
    )
