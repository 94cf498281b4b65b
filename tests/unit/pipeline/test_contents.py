"""VMs that read Secrets and ConfigMaps with other contents: when they have them, and where these stand."""

import base64
from typing import Any

import pytest

from render import Settings, compare
from render.diff.impact import HIDDEN, MachineImpact
from render.model import tree

Json = dict[str, Any]
SOURCE = Settings(emit="source")
NEVER_TOLD = "xyzzy-value"
AGENT: Json = {"qemuGuestAgent": {"users": ["fedora"]}}
BY_CLOUD_INIT: Json = {"noCloud": {}}


def vm(*volumes: Json, **more: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "spec": {
                    "domain": {"memory": {"guest": "1Gi"}, "devices": {}},
                    "volumes": [{"name": f"v{number}", **each} for number, each in enumerate(volumes)],
                    **more,
                }
            },
        },
    }  # fmt: skip


def held(kind: str, data: Json, **more: Any) -> Json:
    metadata = {"name": "s", "namespace": "prod"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data, **more}


def secret(**texts: str) -> Json:
    return held("Secret", {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()})  # fmt: skip


def config(**texts: str) -> Json:
    return held("ConfigMap", texts)


def only(before: list[Json], after: list[Json], settings: Settings = SOURCE) -> MachineImpact:
    (found,) = compare(before, after, settings).machines
    assert NEVER_TOLD not in str(found)
    return found


def credentials(method: Json, field: str = "sshPublicKey") -> Json:
    source = {"secret": {"secretName": "s"}}
    return {"accessCredentials": [{field: {"source": source, "propagationMethod": method}}]}


NO_CLOUD = {"cloudInitNoCloud": {"secretRef": {"name": "s"}}}
NETWORK = {"cloudInitConfigDrive": {"networkDataSecretRef": {"name": "s"}}}
INLINE = {"cloudInitNoCloud": {"userData": "#cloud-config\n"}}
DEVICES = {"filesystems": [{"name": "v0", "virtiofs": {}}]}
SHARED = {"domain": {"memory": {"guest": "1Gi"}, "devices": DEVICES}}
LIVE, NEXT = "live", "next"
CASES: dict[str, tuple[Json, str, str, str]] = {
    "user data": (vm(NO_CLOUD), "userdata", NEXT, "spec.volumes[v0].cloudInitNoCloud.secretRef"),
    "network data": (
        vm(NETWORK), "networkData", NEXT, "spec.volumes[v0].cloudInitConfigDrive.networkDataSecretRef",
    ),
    "a disk": (vm({"secret": {"secretName": "s"}}), "x", NEXT, "spec.volumes[v0].secret"),
    "an optional disk": (
        vm({"secret": {"secretName": "s", "optional": True}}), "x", NEXT, "spec.volumes[v0].secret",
    ),
    "a shared filesystem": (
        vm({"secret": {"secretName": "s"}}, **SHARED), "x", LIVE, "spec.volumes[v0].secret",
    ),
    "answer files": (
        vm({"sysprep": {"secret": {"name": "s"}}}), "unattend.xml", NEXT, "spec.volumes[v0].sysprep.secret",
    ),
    "keys by the agent": (
        vm(**credentials(AGENT)), "key", LIVE, "spec.accessCredentials[0].sshPublicKey.source.secret",
    ),
    "a password": (
        vm(**credentials({"qemuGuestAgent": {}}, "userPassword")), "fedora", LIVE,
        "spec.accessCredentials[0].userPassword.source.secret",
    ),
    "keys by cloud-init": (
        vm(INLINE, **credentials(BY_CLOUD_INIT)), "key", NEXT,
        "spec.accessCredentials[0].sshPublicKey.source.secret",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_vm_has_another_secret_when_kubevirt_reads_it(name: str, emit: str) -> None:
    machine, key, effect, field = CASES[name]
    states = [machine, secret(**{key: "a"})], [machine, secret(**{key: NEVER_TOLD})]
    found = only(*states, Settings(emit=emit))  # type: ignore[arg-type]
    assert found.effects == (effect,)
    (change,) = found.changes
    assert (change.field, change.effect, change.after) == (field, effect, HIDDEN)
    assert change.cause is not None
    assert (change.cause.resource.kind, change.cause.path) == ("Secret", ("data", key))
    assert (change.cause.index, change.cause.side) == (1, "after")


def test_a_config_map_is_one_too() -> None:
    for volume in ({"configMap": {"name": "s"}}, {"sysprep": {"configMap": {"name": "s"}}}):
        machine = vm(volume)
        states = [machine, config(a="b")], [machine, config(a="b", c=NEVER_TOLD)]
        assert only(*states).effects == (NEXT,)
        assert only(*states[::-1]).changes[0].cause.side == "before"  # type: ignore[union-attr]


UNREAD = {
    "another key": ([secret(userdata="a")], [secret(userdata="a", other="b")]),
    "text for base64": ([secret(userdata="a")], [held("Secret", {}, stringData={"userdata": "a"})]),
    "not there before": ([], [secret(userdata="a")]),
    "deleted": ([secret(userdata="a")], []),
    "encrypted": (
        [held("Secret", {"userdata": "YQ=="}, sops={})],
        [held("Secret", {"userdata": "Yg=="}, sops={})],
    ),
    "immutable": (
        [held("Secret", {"userdata": "YQ=="}, immutable=True)],
        [held("Secret", {"userdata": "Yg=="}, immutable=True)],
    ),
    "no base64": ([held("Secret", {"userdata": "<a>"})], [held("Secret", {"userdata": "<b>"})]),
    "no mapping": ([held("Secret", {})], [{**held("Secret", {}), "data": ["a"]}]),
    "a label": ([secret(userdata="a")], [tree.copy({**secret(userdata="a"), "type": "Opaque"})]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_what_it_does_not_read_or_nobody_knows_is_no_change(name: str) -> None:
    before, after = UNREAD[name]
    machine = vm(NO_CLOUD)
    assert only([machine, *before], [machine, *after]).effects == ("same",)


def test_what_kubevirt_reads_of_several_volumes_is_the_first() -> None:
    machine = vm(INLINE, NO_CLOUD, **credentials({"configDrive": {}}))
    states = [machine, secret(userdata="a")], [machine, secret(userdata="b")]
    assert only(*states).effects == ("same",)


def test_another_namespace_is_another_secret() -> None:
    before, after = secret(userdata="a"), secret(userdata="b")
    for each in (before, after):
        each["metadata"]["namespace"] = "stage"
    machine = vm(NO_CLOUD)
    assert only([machine, before], [machine, after]).effects == ("same",)


def test_beside_another_change_it_waits_for_the_same_start() -> None:
    machine, restarted, halted = vm(NO_CLOUD), vm(NO_CLOUD), vm(NO_CLOUD)
    restarted["spec"]["template"]["spec"]["hostname"] = "x"
    found = only([machine, secret(userdata="a")], [restarted, secret(userdata="b")])
    assert found.effects == ("restart",)
    assert [(change.effect, change.waits) for change in found.changes if change.before == HIDDEN] == [
        ("restart", True)
    ]  # fmt: skip
    halted["spec"]["runStrategy"] = "Halted"
    states = [halted, secret(userdata="a")], [halted, secret(userdata="b")]
    assert only(*states).effects == (NEXT,)
    started = only([halted, secret(userdata="a")], [machine, secret(userdata="b")])
    assert started.effects == ("start",)


def test_a_vm_that_names_another_secret_now_has_that_change() -> None:
    """As with the hash that kustomize puts behind the name of what it generates."""
    before, after = secret(userdata="a"), secret(userdata="b")
    after["metadata"]["name"] = "s-2"
    renamed = vm({"cloudInitNoCloud": {"secretRef": {"name": "s-2"}}})
    found = only([vm(NO_CLOUD), before], [renamed, after])
    assert found.effects == ("restart",)
    field = "spec.volumes[v0].cloudInitNoCloud.secretRef.name"
    assert [change.field for change in found.changes] == [field]


def test_a_vm_that_kubevirt_refuses_starts_with_nothing() -> None:
    refused = vm(NO_CLOUD)
    disks = [{"name": "absent", "disk": {}}]
    refused["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = disks
    found = only([refused, secret(userdata="a")], [refused, secret(userdata="b")])
    assert (found.effects, found.changes) == (("same",), ())
