"""What KubeVirt applies live, as pkg/virt-controller/watch/vm/vm.go decides it."""

from typing import Any

import pytest

from render import Settings, render
from render.model import tree
from render.revisions.changes import LIVE, NEXT_START, RESTART, changes

Json = dict[str, Any]


def vm(**spec: Any) -> Json:
    """A rendered VM; keys of *spec* are fields of the VMI spec, double underscores lead deeper."""
    body: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "spec": {
                    "domain": {
                        "devices": {},
                        "cpu": {"sockets": 2, "cores": 1, "threads": 1},
                        "memory": {"guest": "2Gi"},
                        "resources": {},
                    }
                }
            },
        },
    }
    for key, value in spec.items():
        tree.put(body, ("spec", "template", "spec", *key.split("__")), value)
    return body


def effects(before: Json, after: Json, *, live_update: bool = True) -> dict[str, str]:
    (vmi,) = render([before], Settings(emit="vmi")).resources
    found = changes(before, after, vmi, live_update=live_update)
    return {
        str(one).partition(":")[0].removeprefix("spec.template.spec."): one.effect for one in found
    }


def volume(name: str, *, hotpluggable: bool, claim: str = "c") -> Json:
    claimed = {"claimName": claim, **({"hotpluggable": True} if hotpluggable else {})}
    return {"name": name, "persistentVolumeClaim": claimed}


def disk(name: str, **kind: Any) -> Json:
    return {"name": name, **(kind or {"disk": {"bus": "scsi"}})}


NIC = {"name": "extra", "bridge": {}}
NET = {"name": "extra", "multus": {"networkName": "a"}}
POD = {"name": "pod", "pod": {}}
POD_NIC = {"name": "pod", "masquerade": {}}
NETWORK = {"domain__devices__interfaces": [POD_NIC], "networks": [POD]}
TWO = {"domain__devices__interfaces": [POD_NIC, NIC], "networks": [POD, NET]}
ROOT = volume("root", hotpluggable=False)
PLUGGED = {
    "volumes": [ROOT, volume("data", hotpluggable=True)],
    "domain__devices__disks": [disk("root"), disk("data")],
}
DRIVE = {
    "volumes": [ROOT, volume("iso", hotpluggable=True)],
    "domain__devices__disks": [disk("root"), disk("iso", cdrom={})],
}
PLAIN = {"volumes": [ROOT], "domain__devices__disks": [disk("root")]}

#: (before, after, the field that differs, its effect)
CASES: dict[str, tuple[Json, Json, str, str]] = {
    "more sockets": (vm(), vm(domain__cpu__sockets=8), "domain.cpu.sockets", LIVE),
    "too many sockets": (vm(), vm(domain__cpu__sockets=9), "domain.cpu.sockets", RESTART),
    "fewer sockets": (vm(), vm(domain__cpu__sockets=1), "domain.cpu.sockets", RESTART),
    "cores": (vm(), vm(domain__cpu__cores=2), "domain.cpu.cores", RESTART),
    "own maximum": (
        vm(domain__cpu__maxSockets=3), vm(domain__cpu__maxSockets=3, domain__cpu__sockets=4),
        "domain.cpu.sockets", RESTART,
    ),
    "on arm64": (
        vm(architecture="arm64"), vm(architecture="arm64", domain__cpu__sockets=4), "domain.cpu.sockets", RESTART,
    ),
    "more memory": (vm(), vm(domain__memory__guest="8Gi"), "domain.memory.guest", LIVE),
    "too much memory": (vm(), vm(domain__memory__guest="9Gi"), "domain.memory.guest", RESTART),
    "less memory": (vm(), vm(domain__memory__guest="1Gi"), "domain.memory.guest", RESTART),
    "node selector": (vm(), vm(nodeSelector={"zone": "a"}), "nodeSelector", LIVE),
    "tolerations": (vm(), vm(tolerations=[{"key": "a"}]), "tolerations", LIVE),
    "affinity": (vm(), vm(affinity={"nodeAffinity": {}}), "affinity", LIVE),
    "a device": (vm(), vm(domain__devices__rng={}), "domain.devices.rng", RESTART),
    "firmware": (vm(), vm(domain__firmware__uuid="x"), "domain.firmware", RESTART),
    "hotplugged volume": (vm(**PLAIN), vm(**PLUGGED), "volumes.data", LIVE),
    "hotplugged disk": (vm(**PLAIN), vm(**PLUGGED), "domain.devices.disks.data", LIVE),
    "unplugged volume": (vm(**PLUGGED), vm(**PLAIN), "volumes.data", LIVE),
    "fixed volume": (
        vm(**PLAIN), vm(volumes=[ROOT, volume("more", hotpluggable=False)], domain__devices__disks=[disk("root")]),
        "volumes.more", RESTART,
    ),
    "another claim": (
        vm(**PLAIN), vm(**{**PLAIN, "volumes": [volume("root", hotpluggable=False, claim="d")]}),
        "volumes.root.persistentVolumeClaim.claimName", RESTART,
    ),
    "a migrated claim": (
        vm(**PLAIN, updateVolumesStrategy="Migration"),
        vm(volumes=[volume("root", hotpluggable=False, claim="d")], domain__devices__disks=[disk("root")],
           updateVolumesStrategy="Migration"),
        "volumes.root.persistentVolumeClaim.claimName", LIVE,
    ),
    "a removed drive": (
        vm(**DRIVE),
        vm(**PLAIN), "domain.devices.disks.iso", RESTART,
    ),
    "another bus": (
        vm(**PLAIN), vm(volumes=[ROOT], domain__devices__disks=[disk("root", disk={"bus": "sata"})]),
        "domain.devices.disks.root.disk.bus", RESTART,
    ),
    "another interface": (vm(**NETWORK), vm(**TWO), "domain.devices.interfaces.extra", LIVE),
    "another network": (vm(**NETWORK), vm(**TWO), "networks.extra", LIVE),
    "an interface less": (vm(**TWO), vm(**NETWORK), "domain.devices.interfaces.extra", RESTART),
    "the first interface": (vm(), vm(**NETWORK), "domain.devices.interfaces", RESTART),
    "an interface that is not plugged": (
        vm(**NETWORK),
        vm(domain__devices__interfaces=[POD_NIC, {"name": "extra", "masquerade": {}}], networks=[POD, NET]),
        "domain.devices.interfaces.extra", RESTART,
    ),
    "state of an interface": (
        vm(**TWO), vm(domain__devices__interfaces=[POD_NIC, {**NIC, "state": "absent"}], networks=[POD, NET]),
        "domain.devices.interfaces.extra.state", LIVE,
    ),
    "model of an interface": (
        vm(**TWO), vm(domain__devices__interfaces=[POD_NIC, {**NIC, "model": "e1000"}], networks=[POD, NET]),
        "domain.devices.interfaces.extra.model", RESTART,
    ),
    "target of a network": (
        vm(**TWO),
        vm(**{**TWO, "networks": [POD, {"name": "extra", "multus": {"networkName": "b"}}]}),
        "networks.extra.multus.networkName", LIVE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_effect(name: str) -> None:
    before, after, field, effect = CASES[name]
    assert effects(before, after)[field] == effect


def test_nothing_is_plugged_in_while_a_restart_is_due() -> None:
    after = vm(domain__cpu__sockets=4, domain__devices__rng={}, nodeSelector={"a": "b"})
    assert set(effects(vm(), after).values()) == {RESTART}


def test_interfaces_are_plugged_in_all_the_same() -> None:
    found = effects(vm(**NETWORK), vm(**TWO, domain__devices__rng={}))
    assert found["networks.extra"] == LIVE
    assert found["domain.devices.rng"] == RESTART


def test_staged_rollout_leaves_everything_to_the_restart() -> None:
    after = vm(domain__cpu__sockets=4, nodeSelector={"a": "b"})
    assert set(effects(vm(), after, live_update=False).values()) == {RESTART}


def test_outside_the_template_no_restart_is_needed() -> None:
    after = vm()
    after["spec"]["runStrategy"] = "Halted"
    after["spec"]["template"]["metadata"] = {
        "labels": {"a": "b"},
        "annotations": {"descheduler.alpha.kubernetes.io/evict": "true"},
    }
    after["metadata"]["annotations"] = {"virt-render.dev/revision": "2", "note": "x"}
    found = effects(vm(), after)
    assert found["spec.runStrategy"] == LIVE
    assert found["metadata.annotations"] == LIVE
    assert found["spec.template.metadata"] == NEXT_START


def test_equal_vms_do_not_differ() -> None:
    assert effects(vm(**TWO), vm(**TWO)) == {}


def test_lists_of_named_items_have_no_order() -> None:
    after = vm(domain__devices__interfaces=[NIC, POD_NIC], networks=[NET, POD])
    assert effects(vm(**TWO), after) == {}
