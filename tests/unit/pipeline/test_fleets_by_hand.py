"""Small fleets worked out by hand: what they need of a quota to the byte, and that one less is too little.

Beside its guest the pod of a VM with one vCPU requests, since KubeVirt 1.6: launcher and qemu 220Mi, a vCPU 8Mi, the
I/O thread 8Mi, video 32Mi, and 35M for the log of its console. Its CPUs are a tenth of the vCPUs, and 5m for the log.
"""

from typing import Any, NamedTuple

import pytest

from render import Diagnostic, Settings, render
from render.model.release import VERSIONS, minor, version
from tests.unit.pipeline.test_capacity import kubevirt, limit_range, pool, quota, vm

Json = dict[str, Any]
MI, GI, M = 1 << 20, 1 << 30, 10**6
LOG = 35 * M
BASE = (220 + 8 + 8 + 32) * MI + LOG


class HandFleet(NamedTuple):
    """*objects* that need exactly *needed* of *resource*; with one less the finding is of *severity*."""

    objects: list[Json]
    resource: str
    needed: int
    severity: str = "error"
    release: str = "1.9"
    configuration: Json = {}  # noqa: RUF012 - never changed


def sized(name: str, guest: str, run: str = "Always", **spec: Any) -> Json:
    domain = {"memory": {"guest": guest}, **spec.pop("domain", {})}
    return vm(name, run, domain=domain, **spec)


def disk(name: str, source: Json) -> Json:
    return {
        "domain": {"devices": {"disks": [{"name": name, "disk": {}}]}},
        "volumes": [{"name": name, **source}],
    }


IMAGE: Json = {"containerDisk": {"image": "registry.example/fedora"}}
LIVE = {"evictionStrategy": "LiveMigrate"}
TPM: Json = {"domain": {"devices": {"tpm": {}}}}
HEADLESS: Json = {"domain": {"devices": {"autoattachGraphicsDevice": False}}}
QUIET: Json = {"domain": {"devices": {"autoattachSerialConsole": False}}}
FOUR: Json = {"domain": {"cpu": {"cores": 2, "sockets": 2}}}
HUGE: Json = {"domain": {"memory": {"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}}}}
PINNED: Json = {"domain": {"cpu": {"cores": 2, "dedicatedCpuPlacement": True}}}
HOTPLUG = disk("more", {"dataVolume": {"name": "more", "hotpluggable": True}})
GPU: Json = {"domain": {"devices": {"gpus": [{"name": "g", "deviceName": "nvidia.com/T4"}]}}}
PERMITTED = {
    "permittedHostDevices": {
        "pciHostDevices": [{"pciVendorSelector": "10DE:1EB8", "resourceName": "nvidia.com/T4"}]
    }
}

FLEETS: dict[str, HandFleet] = {
    # 1Gi of guest and what stands beside it.
    "one VM": HandFleet([vm()], "requests.memory", GI + BASE),
    # 1.5: 16Mi of video, and page tables for the request of 1Gi that its webhook writes, 1Gi / 512 = 2Mi.
    "an older release": HandFleet(
        [vm()], "requests.memory", GI + (220 + 8 + 8 + 16 + 2) * MI + LOG, release="1.5",
    ),
    # 1.4: virtlogd takes 20Mi, not 25Mi.
    "the oldest release": HandFleet(
        [vm()], "requests.memory", GI + (215 + 8 + 8 + 16 + 2) * MI + LOG, release="1.4",
    ),
    # 3 x (2Gi + 268Mi + 35M).
    "three VMs of two sizes": HandFleet(
        [sized("a", "2Gi"), sized("b", "2Gi"), sized("c", "1Gi")], "requests.memory", 5 * GI + 3 * BASE,
    ),
    # 4 replicas of one pod.
    "a pool": HandFleet([pool(4)], "requests.memory", 4 * (GI + BASE)),
    # The halted one counts nothing.
    "a halted one": HandFleet([vm("a"), vm("b", "Halted")], "pods", 1),
    # What may be started is a warning.
    "a manual one": HandFleet([vm("a"), vm("b", "Manual")], "pods", 2, "warning"),
    "one that runs once": HandFleet([vm("a"), vm("b", "Once")], "pods", 2, "warning"),
    # A drain takes a second pod of the largest that migrates: 1Gi + 2Gi + 2Gi.
    "headroom for a migration": HandFleet(
        [sized("a", "1Gi"), sized("b", "2Gi", **LIVE)], "requests.memory", 5 * GI + 3 * BASE, "warning",
    ),
    # No second pod of what is evicted.
    "no headroom without migration": HandFleet([vm("a"), vm("b")], "pods", 2),
    # 8Mi less of each missing vCPU, 32Mi less without video.
    "without video": HandFleet([vm(**HEADLESS)], "requests.memory", GI + BASE - 32 * MI),
    # 4 vCPUs: 24Mi more; 400m of CPU and 5m for the log.
    "four vCPUs, memory": HandFleet([vm(**FOUR)], "requests.memory", GI + BASE + 24 * MI),
    "four vCPUs, CPU in thousandths": HandFleet([vm(**FOUR)], "requests.cpu", 405),
    # swtpm: 53Mi.
    "a TPM": HandFleet([vm(**TPM)], "requests.memory", GI + BASE + 53 * MI),
    # No log, no container for it.
    "without a serial console": HandFleet([vm(**QUIET)], "requests.memory", GI + BASE - LOG),
    # The guest in huge pages, the overhead alone in common memory.
    "huge pages": HandFleet([vm(**HUGE)], "hugepages-2Mi", GI),
    "beside huge pages": HandFleet([vm(**HUGE)], "requests.memory", BASE),
    # 2 CPUs of its own and a vCPU more, 8Mi; 100Mi as a guaranteed pod; the log asks for its limits: 15m and 60M.
    "CPUs of its own": HandFleet([vm(**PINNED)], "requests.cpu", 2015),
    "memory beside CPUs of its own": HandFleet(
        [vm(**PINNED)], "requests.memory", GI + BASE + 8 * MI + 100 * MI - LOG + 60 * M,
    ),
    # The pod that attaches the volume: 2M, and a pod more.
    "a hotplugged volume, memory": HandFleet([vm(**HOTPLUG)], "requests.memory", GI + BASE + 2 * M),
    "a hotplugged volume, pods": HandFleet([vm(**HOTPLUG)], "pods", 2),
    # VFIO: 1Gi; and the device itself.
    "a GPU, memory": HandFleet(
        [vm(**GPU)], "requests.memory", 2 * GI + BASE, configuration=PERMITTED,
    ),
    "a GPU": HandFleet([vm(**GPU)], "requests.nvidia.com/T4", 1, configuration=PERMITTED),
    # Half of the guest: 1Gi x 100 / 200.
    "overcommitted memory": HandFleet(
        [vm()], "requests.memory", GI // 2 + BASE,
        configuration={"developerConfiguration": {"memoryOvercommit": 200}},
    ),
    # 50M of compute.
    "scratch space": HandFleet([vm()], "requests.ephemeral-storage", 50 * M),
    # A tenth more of the overhead of 268Mi, in whole thousands: 281018368 -> 281019 k, 28101 k.
    "more overhead": HandFleet(
        [vm()], "requests.memory", GI + BASE + 28_101_000,
        configuration={"additionalGuestMemoryOverheadRatio": "1.1"},
    ),
    # KubeVirt adds twice the request as a limit where a quota is on limits; the log has one of 60M.
    "limits that KubeVirt adds": HandFleet([vm()], "limits.memory", 2 * (GI + BASE - LOG) + 60 * M),
}  # fmt: skip


def judged(fleet: HandFleet, granted: int) -> list[Diagnostic]:
    amount = f"{granted}m" if fleet.resource == "requests.cpu" else granted
    limit = quota()
    limit["spec"]["hard"] = {fleet.resource: str(amount)}
    settings = Settings(kubevirt=fleet.release)
    found = render([*fleet.objects, limit, kubevirt(**fleet.configuration)], settings).diagnostics
    assert not [
        diagnostic
        for diagnostic in found
        if diagnostic.is_error and not diagnostic.code.startswith("VR44")
    ]
    return [
        diagnostic
        for diagnostic in found
        if diagnostic.code in ("VR443", "VR444", "VR445", "VR446")
    ]


@pytest.mark.parametrize("name", FLEETS)
def test_a_fleet_needs_what_was_worked_out(name: str) -> None:
    fleet = FLEETS[name]
    assert judged(fleet, fleet.needed) == []
    (diagnostic,) = judged(fleet, fleet.needed - 1)
    assert (diagnostic.code, diagnostic.severity) == ("VR444", fleet.severity)
    resource = diagnostic.location.resource
    assert resource is not None
    assert (resource.kind, resource.name) == ("ResourceQuota", "team")
    assert diagnostic.location.path == ("spec", "hard", fleet.resource)


def test_a_quota_counts_what_is_in_its_scope() -> None:
    """Two VMs of a class and one without: a quota of the class holds two."""
    objects = [vm("a", priorityClassName="high"), vm("b", priorityClassName="high"), vm("c")]
    scopes = [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
    for granted, count in ((2, 0), (1, 1)):
        limit = quota(pods=granted, scopes={"scopeSelector": {"matchExpressions": scopes}})
        found = render([*objects, limit, kubevirt()], Settings(kubevirt="1.9")).diagnostics
        assert sum(diagnostic.code == "VR444" for diagnostic in found) == count


def test_without_a_kubevirt_resource_settings_are_named() -> None:
    limit = quota(requests_memory=GI + BASE - 1)
    (diagnostic,) = [
        d for d in render([vm(), limit], Settings(kubevirt="1.9")).diagnostics if d.code == "VR444"
    ]
    assert diagnostic.severity == "warning"
    assert "memoryOvercommit decides" in diagnostic.message


def test_a_release_that_nobody_names_is_in_doubt() -> None:
    """1.5 needs 2Gi + 508Mi + 70M for two guests of 1Gi, 1.9 536Mi instead: what is between depends on the release."""
    limit = quota(requests_memory=2 * GI + 520 * MI + 2 * LOG)
    objects = [vm("a"), vm("b"), limit, kubevirt()]
    (diagnostic,) = [d for d in render(objects).diagnostics if d.code == "VR444"]
    assert diagnostic.severity == "warning"
    refusing = ", ".join(minor(release) for release in VERSIONS if release >= version("1.6"))
    assert diagnostic.message.endswith(
        f"(by KubeVirt {refusing} alone, and nothing says which release runs)"
    )
    limit["spec"]["hard"]["requests.memory"] = str(2 * GI)
    (diagnostic,) = [d for d in render(objects).diagnostics if d.code == "VR444"]
    assert diagnostic.severity == "error"


def test_levels_that_nobody_knows_and_older_policies() -> None:
    def messages(**labels: str) -> list[str]:
        names = {f"pod-security.kubernetes.io/{k.replace('_', '-')}": v for k, v in labels.items()}
        namespace = {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod", "labels": names},
        }  # fmt: skip
        found = render([vm(), namespace, kubevirt()], Settings(kubevirt="1.9")).diagnostics
        return [diagnostic.message for diagnostic in found if diagnostic.code == "VR446"]

    assert messages(enforce="baseline") == []
    (unknown,) = messages(enforce="baselin")
    assert unknown.startswith("must be one of privileged, baseline, restricted")
    (odd,) = messages(enforce="restricted", enforce_version="1.28")
    assert odd.startswith('must be "latest" or "v1.x"')
    (newest,) = messages(enforce="restricted")
    assert 'violates PodSecurity "restricted:latest": seccompProfile' in newest
    # Before 1.19 no policy asked for a seccomp profile.
    assert messages(enforce="restricted", enforce_version="v1.18") == []
    (dated,) = messages(enforce="restricted", enforce_version="v1.22")
    assert 'violates PodSecurity "restricted:v1.22": seccompProfile' in dated


def test_a_thousand_vms_in_twenty_namespaces() -> None:
    """50 VMs of 1Gi a namespace, each with room to the byte; then four faults, each found where it was planted."""
    names = [f"team-{number:02}" for number in range(20)]
    machines = [vm(f"vm-{n:02}", namespace=name) for name in names for n in range(50)]
    quotas = {name: quota(name, requests_memory=50 * (GI + BASE), pods=50) for name in names}
    settings = Settings(kubevirt="1.9")
    objects = [*machines, *quotas.values(), kubevirt()]
    assert [
        diagnostic.message
        for diagnostic in render(objects, settings).diagnostics
        if diagnostic.is_error
    ] == []
    # A guest that is a byte larger in team-03, a VM more in team-07, a probe in team-11, a LimitRange in team-15.
    machines[3 * 50]["spec"]["template"]["spec"]["domain"]["memory"]["guest"] = str(GI + 1)
    machines.append(vm("one-more", namespace="team-07"))
    probe = {"tcpSocket": {"port": 70_000}}
    template = machines[11 * 50]["spec"]["template"]["spec"]
    template |= {
        "livenessProbe": probe, "networks": [{"name": "default", "pod": {}}],
    }  # fmt: skip
    template["domain"]["devices"] = {"interfaces": [{"name": "default", "masquerade": {}}]}
    ranges = limit_range(max={"memory": "1Gi"})
    ranges["metadata"]["namespace"] = "team-15"
    objects = [*machines, *quotas.values(), ranges, kubevirt()]
    found = [
        diagnostic for diagnostic in render(objects, settings).diagnostics if diagnostic.is_error
    ]
    assert len(found) == 2 + 1 + 50
    places = {
        (diagnostic.code, diagnostic.resource.namespace, diagnostic.field)
        for diagnostic in found
        if diagnostic.resource
    }
    assert places == {
        ("VR444", "team-03", "spec.hard[requests.memory]"),
        ("VR444", "team-07", "spec.hard.pods"),
        ("VR443", "team-11", "spec.template.spec.livenessProbe.tcpSocket.port"),
        ("VR445", "team-15", ""),
    }
    (grown,) = [item for item in found if item.resource and item.resource.namespace == "team-03"]
    assert "vm-00" in grown.message
