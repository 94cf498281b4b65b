"""What a change of the repository does to each VM: sides, causes, assumptions, and what nobody may see."""

from typing import Any

import pytest

from render import Settings, compare, render
from render.defaults.identity import PCI_TOPOLOGY
from render.diff.impact import HIDDEN, DefinitionWithoutEffect, FieldChange, MachineImpact
from render.diff.sizes import Size
from render.model import tree
from render.model.resource import ResourceRef, from_body
from render.pipeline import pinning
from render.report.impact.review import pinned
from render.report.impact.text import lines
from render.revisions import lockfile
from tests.support import updates
from tests.support.goldens import UPDATES, cases

Json = dict[str, Any]
SOURCE = Settings(emit="source")
VM: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "template": {
            "spec": {
                "domain": {"devices": {"interfaces": [{"name": "default", "masquerade": {}}]}},
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [{"name": "init", "cloudInitNoCloud": {"userData": "one"}}],
            }
        },
    },
}
SMALL: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "prod"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}


def edited(body: Json, value: Any, *path: str | int) -> Json:
    changed: Json = tree.copy(body)
    tree.put(changed, path, value)
    return changed


def cluster(**configuration: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": configuration},
    }


def only(before: list[Json], after: list[Json], settings: Settings = SOURCE) -> MachineImpact:
    found = compare(before, after, settings).machines
    assert len(found) == 1
    return found[0]


def change(found: MachineImpact, field: str) -> FieldChange:
    return next(change for change in found.changes if change.field == field)


BIGGER = edited(SMALL, "4Gi", "spec", "memory", "guest")


NO_VOLUME = edited(
    VM, [{"name": "absent", "disk": {}}], "spec", "template", "spec", "domain", "devices", "disks"
)


@pytest.mark.parametrize("settings", [SOURCE, Settings()])
def test_a_vm_that_was_refused_never_ran(settings: Settings) -> None:
    """KubeVirt took nothing of the first state, so that nothing is restarted or hot-unplugged."""
    after = edited(VM, "x", "spec", "template", "spec", "hostname")
    found = only([NO_VOLUME, SMALL], [after, SMALL], settings)
    assert (found.effects, found.changes, found.sizes[0]) == (("repaired",), (), None)
    assert found.unrendered == ("before",)
    assert "'absent' not found" in found.messages[0]
    still = edited(NO_VOLUME, "x", "spec", "template", "spec", "hostname")
    assert only([NO_VOLUME, SMALL], [still, SMALL], settings).effects == ("refused",)
    assert only([NO_VOLUME, SMALL], [NO_VOLUME, SMALL], settings).effects == ("same",)
    # It is made, and no start of it succeeds.
    fails = edited(VM, "absent", "spec", "instancetype", "name")
    (machine,) = compare([NO_VOLUME, SMALL], [fails, SMALL], SOURCE).machines
    assert "restart" not in machine.effects


@pytest.mark.parametrize("settings", [SOURCE, Settings()])
@pytest.mark.parametrize("more", ["claim", "cluster"])
def test_a_vm_that_was_refused_and_is_left_as_it_is_stays_the_same(
    settings: Settings, more: str
) -> None:
    """A claim beside it, of whomever, or a setting is no update of it."""
    beside = {
        "claim": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "other", "namespace": "prod"},
            "spec": {"accessModes": ["ReadWriteOnce"]},
        },
        "cluster": cluster(evictionStrategy="LiveMigrate"),
    }[more]
    found = only([NO_VOLUME, SMALL], [NO_VOLUME, SMALL, beside], settings)
    assert (found.effects, found.messages) == (("same",), ())
    healed = edited(VM, "x", "spec", "template", "spec", "hostname")
    assert only([healed, SMALL], [NO_VOLUME, SMALL, beside], settings).effects == ("refused",)


def test_an_unknown_field_is_no_reason_of_a_refusal() -> None:
    """The API server drops it; where nothing else is wrong the VM is not refused."""
    unknown = edited(VM, "x", "spec", "template", "spec", "hostnam")
    assert "refused" not in only([VM, SMALL], [unknown, SMALL]).effects
    mistyped = edited(unknown, {"a": "b"}, "spec", "template", "spec", "hostname")
    found = only([VM, SMALL], [mistyped, SMALL])
    assert found.effects == ("refused",)
    assert ["hostname" in message for message in found.messages] == [True]


def test_an_update_is_judged_by_every_release_where_nothing_says_which_runs() -> None:
    """As a new VM is, and as ``check`` has it: KubeVirt 1.9 alone demands a binding of an interface."""
    networks = edited(VM, [{"name": "default", "pod": {}}], "spec", "template", "spec", "networks")
    place = (*_DOMAIN, "devices", "interfaces")
    bound = edited(networks, [{"name": "default", "masquerade": {}}], *place)
    unbound = edited(networks, [{"name": "default", "masquerade": None}], *place)
    found = compare([bound, SMALL], [unbound, SMALL], SOURCE)
    assert [machine.effects for machine in found.machines] == [("restart",)]
    (warning,) = (each for each in found.after if each.check == "network/binding")
    assert not warning.is_error
    for settings in (SOURCE._replace(kubevirt="1.9"), SOURCE._replace(admission="strict")):
        assert only([bound, SMALL], [unbound, SMALL], settings).effects == ("refused",)
    older = SOURCE._replace(kubevirt="1.8")
    assert only([bound, SMALL], [unbound, SMALL], older).effects == ("restart",)


def test_a_vm_with_an_unknown_field_is_not_synced_where_its_rendering_is() -> None:
    """The API server drops the field; ``build`` prints nothing of such a VM."""
    halted = edited(VM, "Halted", "spec", "runStrategy")
    unknown = edited(VM, "x", "spec", "odd")
    odd_still = edited(halted, "x", "spec", "odd")
    rows: tuple[tuple[Json, Json, tuple[str, ...], tuple[str, ...]], ...] = (
        (halted, unknown, ("start",), ("unrenderable",)),
        (odd_still, unknown, ("start",), ("unrenderable",)),
        (unknown, unknown, ("same",), ("unrenderable",)),
        (unknown, VM, ("same",), ("repaired",)),
    )
    for before, after, as_written, rendered in rows:
        assert only([before, SMALL], [after, SMALL], SOURCE).effects == as_written
        assert only([before, SMALL], [after, SMALL], Settings()).effects == rendered


def test_nothing_changes() -> None:
    found = only([VM, SMALL], [SMALL, VM])
    size = Size(2, 2 << 30, "small")
    assert found == MachineImpact(found.resource, ("same",), sizes=(size, size))
    assert found.resource == ("VirtualMachine", "prod", "web")


@pytest.mark.parametrize("emit", ["source", "vm", "vmi", "hashed", "revisions"])
def test_a_vm_that_is_synced_alike_is_one_machine_that_stays(emit: Any) -> None:
    found = only([VM, SMALL], [VM, SMALL], Settings(emit=emit))
    kind = "VirtualMachineInstance" if emit == "vmi" else "VirtualMachine"
    assert (found.resource.kind, found.effects) == (kind, ("same",))
    assert found.sizes == (Size(2, 2 << 30, "small"),) * 2


def test_new_gone_and_unrenderable() -> None:
    other = edited(VM, "other", "metadata", "name")
    found = compare([VM, SMALL], [other, SMALL], SOURCE)
    assert [(machine.resource.name, machine.effects) for machine in found.machines] == [
        ("other", ("new",)),
        ("web", ("gone",)),
    ]
    lost = only([VM], [VM, SMALL])
    assert lost.effects == ("repaired",)
    assert 'virtualmachineinstancetypes.instancetype.kubevirt.io "small" not found' in lost.messages
    assert lost.unrendered == ("before",)
    assert only([VM], [VM]).unrendered == ("before", "after")
    assert only([SMALL], [VM]).unrendered == ("after",)


def test_an_error_of_a_vm_that_cannot_be_rendered_any_more_is_not_repaired() -> None:
    """Whether it is still there nobody can see; what was wrong with the manifest itself can be seen."""
    settings = Settings(emit="vm")
    conflicting = edited(VM, {"guest": "1Gi"}, "spec", "template", "spec", "domain", "memory")
    lost = compare([conflicting, SMALL], [conflicting], settings)
    assert [error.code for error in lost.new_errors] == ["VR201"]
    assert (lost.repaired_errors, lost.remaining_errors) == ((), ())
    mended = compare([conflicting, SMALL], [VM, SMALL], settings)
    assert [error.code for error in mended.repaired_errors] == ["VR301"]
    odd = edited(VM, "x", "spec", "odd")
    for before in ([odd, SMALL], [odd]):
        known = compare(before, [VM], settings)
        assert [error.code for error in known.repaired_errors] == ["VR105"]


_DOMAIN = ("spec", "template", "spec", "domain")
_SLIRP = edited(VM, [{"name": "default", "slirp": {}}], *_DOMAIN, "devices", "interfaces")
_NO_VOLUME = edited(VM, [{"name": "absent"}], *_DOMAIN, "devices", "disks")


@pytest.mark.parametrize(
    ("vm", "admission", "effects"),
    [
        (_SLIRP, "strict", ("refused", "new")),
        (_NO_VOLUME, "strict", ("refused", "new")),
        (_NO_VOLUME, "off", ("new",)),
        (edited(VM, {"sockets": 1}, *_DOMAIN, "cpu"), "off", ("new", "unrenderable")),
    ],
)
def test_a_new_vm_may_be_refused(vm: Json, admission: Any, effects: tuple[str, ...]) -> None:
    found = only([SMALL], [vm, SMALL], SOURCE._replace(admission=admission))
    assert found.effects == effects
    assert bool(found.messages) is (effects != ("new",))


@pytest.mark.parametrize("emit", ["source", "vm", "hashed", "revisions"])
def test_a_vm_that_does_not_render_stays_in_the_list(emit: Any) -> None:
    nowhere = edited(VM, "nowhere", "spec", "instancetype", "name")
    found = compare([VM, SMALL], [nowhere, SMALL], Settings(emit=emit))
    expected = ("error", "next") if emit == "source" else ("unrenderable",)
    assert [machine.effects for machine in found.machines] == [expected]
    assert any("nowhere" in diagnostic.message for diagnostic in found.diagnostics)


@pytest.mark.parametrize(
    ("emit", "effects"),
    [
        ("source", ("recreate",)),
        ("vm", ("migrate", "next")),
        ("hashed", ("migrate", "next")),
        ("revisions", ("migrate", "next")),
    ],
)
def test_an_edited_instancetype_reaches_vms_as_they_are_synced(
    emit: Any, effects: tuple[str, ...]
) -> None:
    found = only([VM, SMALL], [VM, BIGGER], Settings(emit=emit))
    assert found.effects == effects
    cause = change(found, "spec.domain.memory.guest").cause
    assert cause is not None
    assert (str(cause.resource), cause.field, cause.index, cause.side) == (
        "VirtualMachineInstancetype prod/small", "spec.memory.guest", 1, "after",
    )  # fmt: skip


def test_rendering_first_is_the_same_as_comparing_what_was_rendered() -> None:
    settings = Settings(emit="vm")
    for case in updates.without_missing(cases(UPDATES))[::5]:
        before, after = updates.objects(case, "before"), updates.objects(case, "after")
        old, new = render(before, settings), render(after, settings)
        if any(diagnostic.is_error for diagnostic in (*old.diagnostics, *new.diagnostics)):
            continue
        at_once = compare(before, after, settings)
        one_by_one = compare(old.resources, new.resources, SOURCE)
        assert without_causes(at_once.machines) == without_causes(one_by_one.machines), case["id"]


def _unnamed(size: Size | None) -> Size | None:
    return size and size._replace(instancetype="")


def without_causes(machines: tuple[MachineImpact, ...]) -> list[MachineImpact]:
    """What does not depend on whether there still are definitions."""
    return [
        machine._replace(
            changes=tuple(each._replace(cause=None) for each in machine.changes),
            sizes=(_unnamed(machine.sizes[0]), _unnamed(machine.sizes[1])),
            edited=(),
        )
        for machine in machines
    ]


def test_a_removed_field_is_blamed_on_where_it_was() -> None:
    placed = edited(VM, {"zone": "a"}, "spec", "template", "spec", "nodeSelector")
    found = only([SMALL, placed], [SMALL, VM])
    assert found.effects == ("live",)
    cause = change(found, "spec.nodeSelector").cause
    assert cause is not None
    assert (cause.field, cause.index, cause.side) == (
        "spec.template.spec.nodeSelector",
        1,
        "before",
    )


@pytest.mark.parametrize("emit", ["source", "vm"])
@pytest.mark.parametrize("is_added", [True, False])
def test_a_disk_that_kubevirt_adds_is_blamed_on_its_volume(emit: Any, *, is_added: bool) -> None:
    """And not on the preference that has chosen the bus of all disks before."""
    preference = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "linux"},
        "spec": {"devices": {"preferredDiskBus": "virtio"}},
    }
    least = edited(VM, {"name": "linux"}, "spec", "preference")
    volumes = least["spec"]["template"]["spec"]["volumes"]
    more = edited(
        least,
        [*volumes, {"name": "data", "containerDisk": {"image": "x"}}],
        *("spec", "template", "spec", "volumes"),
    )
    states = [least, more] if is_added else [more, least]
    before, after = ([SMALL, preference, vm] for vm in states)
    found = only(before, after, Settings(emit=emit))
    cause = change(found, "spec.domain.devices.disks[data]").cause
    assert cause is not None
    assert (cause.field, cause.index) == ("spec.template.spec.volumes[1]", 2)


def test_a_setting_of_the_cluster_is_a_cause() -> None:
    found = only([VM, SMALL], [VM, SMALL, cluster(cpuModel="Haswell")])
    assert found.effects == ("next",)
    cause = change(found, "spec.domain.cpu.model").cause
    assert cause is not None
    assert (cause.resource.kind, cause.field, cause.index) == (
        "KubeVirt", "spec.configuration.cpuModel", 2,
    )  # fmt: skip


def test_settings_of_both_states() -> None:
    staged = SOURCE._replace(cluster_config=cluster(vmRolloutStrategy="Stage"))
    placed = edited(VM, {"zone": "a"}, "spec", "template", "spec", "nodeSelector")
    assert compare([VM, SMALL], [placed, SMALL], SOURCE).machines[0].effects == ("live",)
    found = compare([VM, SMALL], [placed, SMALL], SOURCE, staged).machines[0]
    assert found.effects == ("restart",)


@pytest.mark.parametrize("key", ["userData", "userDataBase64", "networkData", "networkDataBase64"])
@pytest.mark.parametrize("emit", ["source", "vm", "vmi", "hashed", "revisions"])
def test_secret_fields_are_hidden(key: str, emit: Any) -> None:
    path = ("spec", "template", "spec", "volumes")
    sides = [
        edited(VM, [{"name": "init", "cloudInitNoCloud": {key: text}}], *path)
        for text in ("Y2FuYXJ5", "b3RoZXI=")
    ]
    for before, after in (sides, [VM, sides[0]], [sides[0], VM]):
        found = compare([before, SMALL], [after, SMALL], Settings(emit=emit))
        printed = repr(found.machines)
        assert "Y2FuYXJ5" not in printed
        assert "b3RoZXI=" not in printed
        assert HIDDEN in printed


def test_a_halted_vm_only_has_another_next_start() -> None:
    halted = edited(VM, "Halted", "spec", "runStrategy")
    found = only(
        [halted, SMALL], [edited(halted, "h", "spec", "template", "spec", "hostname"), SMALL]
    )
    assert found.effects == ("next",)
    assert found.messages == ()


def test_claims_of_the_input_decide_who_migrates() -> None:
    path = ("spec", "template", "spec", "volumes")
    disk = {"name": "root", "persistentVolumeClaim": {"claimName": "root"}}
    stored = edited(VM, [disk], *path)
    held = edited(updates.claim("root", "ReadWriteOnce"), "prod", "metadata", "namespace")
    sides = [stored, SMALL], [stored, BIGGER]
    assert only(*sides, Settings(emit="vm")).effects == ("migrate", "next")
    pinned = [[*side, held] for side in sides]
    assert only(pinned[0], pinned[1], Settings(emit="vm")).effects == ("restart",)


@pytest.mark.parametrize(
    ("modes", "methods", "workload"),
    [
        (("ReadWriteOnce",), (), "unmigratable"),
        (("ReadWriteOnce",), ("LiveMigrate",), "unmigratable"),
        (("ReadWriteOnce",), ("LiveMigrate", "Evict"), "evict"),
        (("ReadWriteMany",), (), "none"),
        (("ReadWriteMany",), ("LiveMigrate",), "migrate"),
    ],
)
@pytest.mark.parametrize("release", ["1.6", "1.9"])
def test_sockets_of_a_vm_that_cannot_migrate_come_with_a_restart(
    modes: tuple[str, ...], methods: tuple[str, ...], workload: str, release: str
) -> None:
    """KubeVirt asks more memory alone whether the VM can migrate, and else gives it what nothing brings."""
    spec = ("spec", "template", "spec")
    vm = edited(
        VM, [{"name": "root", "persistentVolumeClaim": {"claimName": "root"}}], *spec, "volumes"
    )
    vm = edited(
        vm, [{"name": "default", "masquerade": {}}], *spec, "domain", "devices", "interfaces"
    )
    vm = edited(vm, [{"name": "default", "pod": {}}], *spec, "networks")
    held = edited(updates.claim("root", *modes), "prod", "metadata", "namespace")
    cluster = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"workloadUpdateStrategy": {"workloadUpdateMethods": [*methods]}},
    }
    more = edited(SMALL, 4, "spec", "cpu", "guest")
    sides = [vm, SMALL, held, cluster], [vm, more, held, cluster]
    found = only(*sides, Settings(emit="vm", kubevirt=release))
    assert found.workload == workload
    assert found.effects[0] == "migrate"
    assert not found.messages


def test_a_revision_that_stays_while_the_name_changes_is_refused() -> None:
    revision = render([VM, SMALL], Settings(emit="revisions")).resources
    vm = next(body for body in revision if body["kind"] == "VirtualMachine")
    other = edited(vm, "large", "spec", "instancetype", "name")
    rest = [item for item in revision if item is not vm]
    found = only([vm, *rest], [other, *rest])
    assert found.effects == ("refused",)
    assert "the Matcher Name has been updated without updating the RevisionName" in found.messages


def test_an_edited_revision_is_blamed_and_not_the_lock_that_pins_it() -> None:
    body = revision_of(SMALL)
    vm = edited(VM, "small-1", "spec", "instancetype", "revisionName")
    lock = lock_of(vm, body)
    before = [vm, body, lock]
    found = only(before, [vm, edited(body, BIGGER, "data"), lock])
    cause = change(found, "spec.domain.memory.guest").cause
    assert cause is not None
    assert (str(cause.resource), cause.field) == (
        "ControllerRevision prod/small-1", "data.spec.memory.guest",
    )  # fmt: skip


def revision_of(definition: Json) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "small-1", "namespace": "prod"},
        "data": definition,
        "revision": 0,
    }


def lock_of(*bodies: Json, **settings: Any) -> Json:
    """The lock that pins the VMs among *bodies*."""
    inputs = [from_body(body, index) for index, body in enumerate(bodies)]
    return lockfile.document(pinning.pin(inputs, Settings(**settings)).lock)


_NAMED = edited(VM, "small-1", "spec", "instancetype", "revisionName")
_UNUSED = edited(SMALL, "another", "metadata", "name")
_OF_KUBEVIRT = edited(VM, {"name": "u1.medium"}, "spec", "instancetype")
_AS_KUBEVIRT: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "u1.medium"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "8Gi"}},
}


@pytest.mark.parametrize(
    ("emit", "rest", "removed", "effect", "pin"),
    [
        ("source", [VM], SMALL, "none", ""),
        ("vm", [VM, lock_of(VM, SMALL)], SMALL, "same", "sha256:f79c7a9e64da"),
        ("source", [VM, lock_of(VM, SMALL)], SMALL, "none", ""),
        ("source", [_NAMED, revision_of(SMALL)], SMALL, "none", "small-1"),
        ("vm", [VM, SMALL], _UNUSED, "same", None),
        ("source", [_OF_KUBEVIRT], _AS_KUBEVIRT, "recreate", None),  # u1.medium is KubeVirt's again
    ],
)
def test_a_deleted_definition_is_named_with_what_vms_keep(
    emit: Any, rest: list[Json], removed: Json, effect: str, pin: str | None
) -> None:
    found = only([*rest, removed], rest, Settings(emit=emit))
    assert found.effects[0] == effect
    assert found.edited == ()
    assert found.sizes[0] == found.sizes[1] or effect == "recreate"
    text = [(item.resource, item.pin[:19]) for item in found.deleted]
    ref = ResourceRef("VirtualMachineInstancetype", "prod", "small")
    assert text == ([] if pin is None else [(ref, pin)])


def test_a_deleted_definition_is_not_named_of_who_no_longer_names_it() -> None:
    other = edited(SMALL, "other", "metadata", "name")
    renamed = edited(VM, "other", "spec", "instancetype", "name")
    assert only([VM, SMALL], [renamed, other]).deleted == ()
    gone = only([VM, SMALL], [SMALL])
    assert (gone.effects, gone.deleted) == (("gone",), ())
    assert only([VM, SMALL], [VM], Settings(emit="vm")).deleted == ()  # cannot be rendered
    stopped = only([VM, SMALL], [edited(VM, "Halted", "spec", "runStrategy")])
    assert (stopped.effects[0], stopped.deleted) == ("stop", ())
    assert stopped.sizes[0] == stopped.sizes[1]
    kept = only([VM, SMALL], [VM])
    assert kept.deleted == (
        DefinitionWithoutEffect(ResourceRef("VirtualMachineInstancetype", "prod", "small")),
    )


@pytest.mark.parametrize(
    ("emit", "before", "after", "is_at_fault"),
    [
        ("vm", [VM, SMALL], [VM], True),
        ("vm", [SMALL], [VM], True),  # new, and refers to what is deleted at once
        ("source", [VM, SMALL], [VM], False),  # KubeVirt keeps what it was created with
        ("vm", [VM, SMALL], [edited(VM, "other", "spec", "instancetype", "name")], False),
        ("vm", [VM], [VM], False),
    ],
)
def test_a_deleted_definition_is_at_fault_where_a_vm_cannot_do_without(
    emit: Any, before: list[Json], after: list[Json], *, is_at_fault: bool
) -> None:
    other = edited(VM, "other", "metadata", "name")
    other["spec"] = {key: value for key, value in other["spec"].items() if key != "instancetype"}
    found = compare([*before, other], [*after, other], Settings(emit=emit))
    (machine,) = (each for each in found.machines if each.resource.name == "web")
    named = [(source.resource.name, source.side) for source in machine.lacking]
    assert named == ([("small", "before")] if is_at_fault else [])


LINUX: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachinePreference",
    "metadata": {"name": "linux", "namespace": "prod"},
    "spec": {"devices": {"preferredInterfaceModel": "virtio"}},
}
LINUX_VM = edited(VM, {"name": "linux", "kind": "VirtualMachinePreference"}, "spec", "preference")


@pytest.mark.parametrize("emit", ["vm", "expand"])
@pytest.mark.parametrize(
    ("value", "path", "field"),
    [
        ("odd", "devices.preferredInterfaceModel", "domain.devices.interfaces[default].model"),
        ("not.a_name", "preferredSubdomain", "subdomain"),
    ],
)
def test_an_edited_preference_is_blamed_for_the_vm_that_is_refused(
    emit: Any, value: str, path: str, field: str
) -> None:
    preference = edited(LINUX, value, "spec", *path.split("."))
    settings = Settings(emit=emit)
    found = only([LINUX_VM, SMALL, LINUX], [LINUX_VM, SMALL, preference], settings)
    assert found.effects == ("refused",)
    (refused,) = leaves_of(found)
    assert refused.field == f"spec.template.spec.{field}"
    assert refused.cause is not None
    assert (refused.cause.resource.name, refused.cause.field, refused.cause.index) == (
        "linux", f"spec.{path}", 2,
    )  # fmt: skip
    assert found.redefined == ()


def test_of_a_vm_that_is_refused_each_field_is_blamed_on_whoever_edited_it() -> None:
    """A list of the VM counts as one field, and its items may be of several authors."""
    interfaces = [
        {"name": "default", "masquerade": {}},
        {"name": "other", "bridge": {}, "model": "virtio"},
    ]
    vm = edited(LINUX_VM, interfaces, *_DOMAIN, "devices", "interfaces")
    networks = [{"name": "default", "pod": {}}, {"name": "other", "multus": {"networkName": "lan"}}]
    vm = edited(vm, networks, *_DOMAIN[:-1], "networks")
    later = edited(vm, "strange", *_DOMAIN, "devices", "interfaces", 1, "model")
    preference = edited(LINUX, "odd", "spec", "devices", "preferredInterfaceModel")
    found = only([vm, SMALL, LINUX], [later, SMALL, preference], Settings(emit="vm"))
    causes = {each.field: each.cause.resource.name for each in leaves_of(found) if each.cause}
    field = "spec.template.spec.domain.devices.interfaces[{}].model"
    assert causes == {field.format("default"): "linux", field.format("other"): "web"}


def leaves_of(found: MachineImpact) -> list[FieldChange]:
    """The changes of a VM, those of lists item by item, but for our own stamps."""
    leaves = [leaf for each in found.changes for leaf in each.leaves or (each,)]
    return [leaf for leaf in leaves if "virt-render.dev" not in leaf.field]


def test_an_edited_preference_is_blamed_for_a_datavolume_that_is_made_otherwise() -> None:
    """No rule of a template writes it, and yet nothing else was edited."""
    template = {
        "metadata": {"name": "root"},
        "spec": {
            "source": {"blank": {}},
            "storage": {"resources": {"requests": {"storage": "1Gi"}}},
        },
    }
    vm = edited(LINUX_VM, [template], "spec", "dataVolumeTemplates")
    vm = edited(vm, [{"name": "root", "dataVolume": {"name": "root"}}], *_DOMAIN[:-1], "volumes")
    place = ("spec", "volumes", "preferredStorageClassName")
    before, after = (
        [vm, SMALL, edited(LINUX, {"preferredStorageClassName": name}, "spec", "volumes")]
        for name in ("fast", "slow")
    )
    found = only(before, after, Settings(emit="vm"))
    assert found.stale == ("root",)
    causes = {leaf.cause and (leaf.cause.resource.name, leaf.cause.path) for leaf in found.changes}
    assert causes == {("linux", place)}


@pytest.mark.parametrize("edit", ["preference", "vm", "elsewhere"])
def test_an_edit_is_named_for_which_a_vm_cannot_be_rendered(edit: str) -> None:
    """Where a definition was edited in what an error is about, and not where it was elsewhere, or the VM was."""
    demanding = edited(LINUX, {"cpu": {"guest": 4}}, "spec", "requirements")
    before = [LINUX_VM, SMALL, demanding if edit == "elsewhere" else LINUX]
    smaller, after = edited(SMALL, 2, "spec", "cpu", "guest"), LINUX_VM
    if edit == "vm":
        after = edited(LINUX_VM, 4, *_DOMAIN, "cpu", "cores")
        smaller = BIGGER
    if edit == "elsewhere":
        before[1] = edited(SMALL, 4, "spec", "cpu", "guest")
    preference = demanding if edit != "vm" else LINUX
    found = only(before, [after, smaller, preference], Settings(emit="vm"))
    assert found.effects == ("unrenderable",)
    named = [(source.resource.name, source.field, source.index) for source in found.redefined]
    assert (
        named
        == {
            "preference": [("linux", "spec.requirements.cpu.guest", 2)],
            "elsewhere": [("small", "spec.cpu.guest", 1)],
            "vm": [],
        }[edit]
    )


def test_an_edited_definition_is_named_of_a_vm_that_is_refused_only_if_made_anew() -> None:
    """It was said that settings of the cluster change."""
    policy = edited(VM, "auto", *_DOMAIN, "ioThreadsPolicy")
    later = edited(SMALL, "shared", "spec", "ioThreadsPolicy")
    found = only([policy, SMALL], [policy, later])
    assert found.effects == ("none",)
    assert [definition.resource.name for definition in found.edited] == ["small"]


def test_a_bare_vmi_cannot_be_updated() -> None:
    vmi = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}},
    }
    found = only([vmi], [edited(vmi, "2Gi", "spec", "domain", "memory", "guest")])
    assert found.effects == ("refused",)
    assert found.messages == ("update of VMI object is restricted",)
    assert only([vmi], [edited(vmi, {"a": "b"}, "metadata", "labels")]).effects == ("none",)


@pytest.mark.parametrize("family", ["apply", "defaults", "fleet", "preset"])
@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_state_is_the_same_as_itself(family: str, emit: Any) -> None:
    for case in cases(family)[:25]:
        found = compare(case["objects"], tree.copy(case["objects"]), Settings(emit=emit))
        effects = {machine.effects for machine in found.machines}
        assert effects <= {("same",), ("unrenderable",)}, case["id"]


@pytest.mark.parametrize(
    ("release", "effects"), [("v1.4.1", ("refused",)), ("v1.5.3", ("restart",))]
)
def test_a_release_that_pins_in_matchers_refuses_another_name(
    release: str, effects: tuple[str, ...]
) -> None:
    settings = SOURCE._replace(kubevirt=release, catalog="none")
    other = edited(edited(SMALL, "other", "metadata", "name"), 1, "spec", "cpu", "guest")
    renamed = edited(VM, "other", "spec", "instancetype", "name")
    objects = [SMALL, other, cluster(vmRolloutStrategy="LiveUpdate")]
    found = only([VM, *objects], [renamed, *objects], settings)
    assert found.effects[:1] == effects


@pytest.mark.parametrize(
    ("release", "gates", "refused"),
    [
        ("v1.5.3", [], False),
        ("v1.5.3", ["InstancetypeReferencePolicy"], True),
        ("v1.6.6", [], True),
    ],
)
def test_an_expanded_vm_refuses_its_manifest(
    release: str, gates: list[str], *, refused: bool
) -> None:
    settings = SOURCE._replace(kubevirt=release, catalog="none")
    expanding = cluster(
        instancetype={"referencePolicy": "expandAll"},
        developerConfiguration={"featureGates": gates},
    )
    found = only([VM, SMALL, expanding], [VM, SMALL, expanding], settings)
    assert (found.effects == ("refused",)) is refused


@pytest.mark.parametrize(("policy", "effect"), [("expand", "recreate"), ("expandAll", "next")])
def test_another_reference_policy_is_blamed_on_the_kubevirt_resource(
    policy: str, effect: str
) -> None:
    before, after = cluster(), cluster(instancetype={"referencePolicy": policy})
    found = only([VM, SMALL, before], [VM, SMALL, after])
    assert found.effects == (effect,)
    (change,) = found.changes
    assert change.cause
    assert change.cause.resource == from_body(after, 0).ref
    assert change.cause.path == ("spec", "configuration", "instancetype", "referencePolicy")


def test_what_is_asked_of_new_vms_only_keeps_the_next_vmi_from_starting() -> None:
    path = ("spec", "template", "spec", "domain", "devices", "interfaces")
    slirp = edited(VM, [{"name": "default", "slirp": {}}], *path)
    settings = SOURCE._replace(admission="strict", kubevirt="1.8")
    labelled = edited(slirp, {"a": "b"}, "spec", "template", "metadata", "labels")
    found = only([slirp, SMALL], [labelled, SMALL], settings)
    assert found.effects == ("next",)
    assert found.messages == ("Slirp interface support has been discontinued since v1.3",)
    assert not updates.fields(found, "next")


@pytest.mark.parametrize(
    ("release", "binding", "refused"),
    [
        ("1.9", "macvtap", True),
        ("1.9", "passt", True),
        ("1.9", "slirp", True),
        ("1.8", "macvtap", False),
        ("1.8", "slirp", False),
        ("1.7", "macvtap", True),
        ("1.7", "passt", True),
        ("1.7", "slirp", False),
    ],
)
def test_a_running_vm_is_refused_the_bindings_that_its_release_asks_of_an_update(
    release: str, binding: str, *, refused: bool
) -> None:
    path = ("spec", "template", "spec", "domain", "devices", "interfaces")
    networked = edited(VM, [{"name": "default", "pod": {}}], "spec", "template", "spec", "networks")
    before = edited(networked, [{"name": "default", "masquerade": {}}], *path)
    after = edited(networked, [{"name": "default", binding: {}}], *path)
    settings = SOURCE._replace(admission="strict", kubevirt=release)
    found = only([before, SMALL], [after, SMALL], settings)
    assert ("refused" in found.effects) is refused
    if refused and release == "1.9":
        assert found.messages == (
            "logical default interface must have exactly one binding method or binding plugin",
        )


@pytest.mark.parametrize("release", ["1.4", "1.5", "1.6", "1.7", "1.8"])
def test_an_upgrade_restarts_nothing(release: str) -> None:
    older, newer = SOURCE._replace(kubevirt=release), SOURCE._replace(kubevirt="1.9")
    seen: set[str] = set()
    for case in updates.without_missing(cases(UPDATES))[::20]:
        state = updates.objects(case, "before")
        for machine in compare(state, state, older, newer).machines:
            seen.update(machine.effects)
    assert seen <= {"refused", "error", "next", "recreate", "none", "same", "unrenderable"}
    assert seen & {"next", "none", "same"}


@pytest.mark.parametrize("emit", ["source", "vm"])
@pytest.mark.parametrize(
    "releases", [("1.4", "1.6"), ("1.5", "1.9"), ("1.9", "1.5"), ("1.6", "1.8")]
)
def test_an_upgrade_leaves_a_vm_its_identity(releases: tuple[str, str], emit: Any) -> None:
    """pkg/virt-controller/watch/vm/firmware.go writes it down where a newer release gives new VMs another one."""
    older, newer = (Settings(emit=emit, kubevirt=release) for release in releases)
    (found,) = compare([VM, SMALL], [VM, SMALL], older, newer).machines
    fields = {change.field for change in found.changes}
    assert not {field for field in fields if "firmware" in field or "pci-topology" in field}
    written = edited(VM, "v2", "spec", "template", "metadata", "annotations", PCI_TOPOLOGY)
    (found,) = compare([VM, SMALL], [written, SMALL], older, newer).machines
    assert any("pci-topology" in change.field for change in found.changes)


def test_what_an_upgrade_changes_comes_of_no_line() -> None:
    """Only what was edited as well is blamed."""
    older, newer = (SOURCE._replace(kubevirt=release) for release in ("1.5", "1.9"))
    (found,) = compare([VM, SMALL], [VM, SMALL], older, newer).machines
    assert {change.field for change in found.changes} == {
        "spec.domain.cpu.maxSockets",
        "spec.domain.memory.maxGuest",
        "spec.domain.resources.requests",
    }
    assert {change.cause for change in found.changes} == {None}
    bigger = edited(SMALL, "4Gi", "spec", "memory", "guest")
    older, newer = (state._replace(emit="vm") for state in (older, newer))
    (found,) = compare([VM, SMALL], [VM, bigger], older, newer).machines
    causes = {change.field: change.cause for change in found.changes}
    assert causes["spec.domain.cpu.maxSockets"] is None
    guest = causes["spec.domain.memory.guest"]
    assert guest is not None
    assert str(guest.resource) == "VirtualMachineInstancetype prod/small"


def test_nobody_has_edited_what_another_release_brings_along() -> None:
    vm = edited(VM, {"name": "fedora"}, "spec", "preference")
    older, newer = (SOURCE._replace(kubevirt=release) for release in ("1.6", "1.9"))
    (found,) = compare([vm, SMALL], [vm, SMALL], older, newer).machines
    assert (found.effects, found.edited) == (("same",), ())


FLAVOR: Json = {
    "apiVersion": "flavor.kubevirt.io/v1alpha1",
    "kind": "VirtualMachineFlavor",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}
STORED: Json = {
    "apiVersion": "kubevirt.io/v1alpha1",
    "kind": "VM",
    "metadata": {"name": "stored", "annotations": {"kubevirt.io/flavour": "small"}},
    "spec": {"restartPolicy": "always", "domain": {"cpu": {"model": "host-model"}}},
}
RUNTIME: Json = {
    "apiVersion": "kubevirt.io/v1alpha1",
    "kind": "VirtualMachine",
    "metadata": {"name": "runtime"},
    "spec": {"domain": {"cpu": {"cores": 2}}},
}
OLDER = [FLAVOR, STORED, RUNTIME]


def test_a_machine_of_v1alpha1_that_stays_is_the_same() -> None:
    bigger = edited(FLAVOR, 3, "spec", "cpu", "guest")
    found = compare(OLDER, [bigger, STORED, RUNTIME], Settings(emit="vm")).machines
    assert {machine.resource.name: machine.effects for machine in found} == {
        "runtime": ("same",),
        "stored": ("migrate", "next"),
    }
    (stored,) = (item for item in found if item.resource.name == "stored")
    source = change(stored, "spec.domain.cpu.sockets").cause
    assert source is not None
    assert (source.resource.kind, source.field) == ("VirtualMachineFlavor", "spec.cpu.guest")


def test_an_edited_machine_of_v1alpha1_is_named_as_its_author_wrote_it() -> None:
    cores = edited(RUNTIME, 3, "spec", "domain", "cpu", "cores")
    model = edited(STORED, "host-passthrough", "spec", "domain", "cpu", "model")
    found = compare(OLDER, [FLAVOR, model, cores], Settings(emit="vm")).machines
    runtime, stored = sorted(found, key=lambda item: item.resource.name)
    assert runtime.effects == ("refused",)
    assert [change.field for change in runtime.changes] == ["spec.domain.cpu.cores"]
    for item, field, kind in ((runtime, "cores", "VirtualMachine"), (stored, "model", "VM")):
        source = change(item, f"spec.domain.cpu.{field}").cause
        assert source is not None
        assert (source.resource.kind, source.field) == (kind, f"spec.domain.cpu.{field}")


def test_where_machines_of_v1alpha1_cannot_be_all_of_them_are_named() -> None:
    found = compare(OLDER, OLDER, SOURCE).machines
    assert {(machine.resource.kind, machine.effects) for machine in found} == {
        ("VM", ("unrenderable",)),
        ("VirtualMachine", ("unrenderable",)),
    }


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_an_empty_field_that_the_webhook_fills_in_again_is_no_change(emit: Any) -> None:
    """Each apply empties the machine type, and the webhook fills it in, of updates as of new VMs."""
    machine = "spec", "template", "spec", "domain", "machine"
    empty = edited(VM, {"type": ""}, *machine)
    labelled = edited(empty, {"tier": "web"}, "metadata", "labels")
    settings = Settings(emit=emit)
    found = only([SMALL, empty], [SMALL, labelled], settings)
    assert [change.field for change in found.changes if "stamp" not in change.field][:1] == [
        "metadata.labels"
    ]
    assert not [change for change in found.changes if "machine" in change.field]
    touched = only([SMALL, empty, cluster()], [SMALL, empty, cluster(cpuModel="host-model")])
    assert not [change for change in touched.changes if "machine" in change.field]
    other = edited(VM, {"type": "pc-q35-rhel9.4.0"}, *machine)
    assert change(only([SMALL, empty], [SMALL, other]), "spec.domain.machine.type")


def test_another_pin_is_a_line_of_the_lock() -> None:
    before, after = ([VM, BIGGER, lock_of(VM, item)] for item in (SMALL, BIGGER))
    cause = change(only(before, after, Settings(emit="vm")), "spec.domain.memory.guest").cause
    assert cause is not None
    assert (cause.resource.kind, cause.field, cause.index, cause.side) == (
        "RevisionLock", "pins.prod/web.instancetype", 2, "after",
    )  # fmt: skip


def test_a_vm_that_loses_its_pin_is_told_so() -> None:
    """Where it goes on to ask for what it was pinned to, and is rendered: nothing else reads a lock."""
    before = [VM, SMALL, lock_of(VM, SMALL)]
    found = only(before, [VM, SMALL], Settings(emit="vm"))
    assert (found.effects, found.unpinned, found.pins) == (("none",), ("instancetype",), ())
    assert "no longer pinned: it has each edit of its instancetype from now on" in lines(found)
    assert pinned([found]) == "no longer pinned: 1"
    assert only(before, before, Settings(emit="vm")).unpinned == ()
    assert only(before, [VM, SMALL]).unpinned == ()
    free = {key: value for key, value in VM["spec"].items() if key != "instancetype"}
    assert only(before, [{**VM, "spec": free}], Settings(emit="vm")).unpinned == ()
    (gone,) = compare(before, [SMALL], Settings(emit="vm")).machines
    assert gone.unpinned == ()


def test_an_edit_beside_the_input_does_not_reach_who_is_pinned() -> None:
    """Of two definitions of the catalogue that the VM could run, it is told of the one that it names."""
    kind = "VirtualMachineClusterInstancetype"
    sizes = [edited(item, kind, "kind") for item in (SMALL, BIGGER)]
    for size in sizes:
        del size["metadata"]["namespace"]
    vm = edited(VM, {"name": "small"}, "spec", "instancetype")
    before, after = (Settings(emit="vm", catalog=[size]) for size in sizes)
    inputs = [vm, lock_of(vm, catalog=[sizes[0]])]
    (found,) = compare(inputs, inputs, before, after).machines
    assert found.effects == ("same",)
    assert [str(item.resource) for item in found.edited] == [f"{kind} small"]
    (found,) = compare(inputs, inputs, before, before).machines
    assert found.edited == ()


def test_a_vm_of_a_definition_that_kubevirt_deploys_is_the_same() -> None:
    vm = edited(VM, {"name": "u1.nano"}, "spec", "instancetype")
    assert only([vm], [vm]).effects == ("same",)


PLAIN: Json = edited(VM, {"guest": "4Gi"}, *_DOMAIN, "memory")
tree.remove(PLAIN, "spec", "instancetype")
HALTED = ("spec", "runStrategy")


def test_what_a_stopped_vm_starts_with_later_is_a_change_of_the_next_start() -> None:
    stopped = edited(edited(PLAIN, "Halted", *HALTED), "8Gi", *_DOMAIN, "memory", "guest")
    found = only([PLAIN], [stopped])
    assert found.effects == ("stop",)
    assert change(found, "spec.runStrategy").effect == "stop"
    later = change(found, "spec.domain.memory.guest")
    assert (later.before, later.after, later.effect) == ("4Gi", "8Gi", "next")


def test_a_restart_is_required_of_a_vm_that_stops() -> None:
    found = only([PLAIN], [edited(edited(PLAIN, "Halted", *HALTED), {"cores": 2}, *_DOMAIN, "cpu")])
    assert found.effects == ("stop", "restart")
    assert found.messages == ("a non-live-updatable field was changed in the template spec",)


def test_what_needs_no_restart_itself_waits_for_that_of_another_change() -> None:
    """vm.go: nothing is done live of a VM that has RestartRequired; memory that shrinks would ask for one as well."""
    field = "spec.domain.memory.guest"
    host = edited(PLAIN, "web", *_DOMAIN[:-1], "hostname")
    for guest, waits in (("8Gi", True), ("2Gi", False)):
        found = only([PLAIN], [edited(host, guest, *_DOMAIN, "memory", "guest")])
        assert found.effects == ("restart",)
        told = {each.field: (each.effect, each.waits) for each in found.changes}
        assert told["spec.hostname"] == ("restart", False)
        assert told[field] == ("restart", waits)
    alone = change(only([PLAIN], [edited(PLAIN, "2Gi", *_DOMAIN, "memory", "guest")]), field)
    assert (alone.effect, alone.waits) == ("restart", False)


def test_a_vm_that_stops_keeps_what_it_was_created_with() -> None:
    found = only([SMALL, VM], [BIGGER, edited(VM, "Halted", *HALTED)])
    assert found.effects == ("stop", "recreate")
    assert change(found, "spec.domain.memory.guest").effect == "recreate"


@pytest.mark.parametrize(
    ("emit", "edit", "memory"),
    [
        ("source", None, 2),  # until it is made anew
        ("vm", None, 4),
        ("vm", ("Sometimes", "spec", "runStrategy"), 2),  # refused
    ],
)
def test_a_vm_is_as_large_as_its_next_start_makes_it(emit: Any, edit: Any, memory: int) -> None:
    after = edited(VM, *edit) if edit else VM
    before, then = only([SMALL, VM], [BIGGER, after], Settings(emit=emit)).sizes
    assert before == Size(2, 2 << 30, "small")
    assert then == Size(2, memory << 30, "small")


def test_an_edit_of_the_vm_is_nearer_than_a_setting_of_the_cluster() -> None:
    """liveupdate: memory that is no multiple of 2Mi is not plugged in, whatever the settings say."""
    resources = (*_DOMAIN, "resources")
    odd, even = (
        edited(PLAIN, {"requests": {"memory": amount}}, *resources) for amount in ("1024M", "1Gi")
    )
    for vm in (odd, even):
        tree.remove(vm, *_DOMAIN, "memory")
    settings = [cluster(liveUpdateConfiguration={"maxHotplugRatio": ratio}) for ratio in (2, 4)]
    found = only([settings[0], odd], [settings[1], even])
    cause = change(found, "spec.domain.memory.maxGuest").cause
    assert cause is not None
    assert (cause.resource.kind, cause.path[-1]) == ("VirtualMachine", "memory")


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_definition_is_not_to_blame_for_a_vm_that_was_refused_before(emit: Any) -> None:
    """Nothing of it ever ran; who edits the VM itself is told that it is refused still."""
    disks = [{"name": "init", "disk": {"bus": "ide"}}]
    refused = edited(VM, disks, *_DOMAIN, "devices", "disks")
    assert only([SMALL, refused], [BIGGER, refused], Settings(emit=emit)).effects == ("same",)
    named = edited(refused, "web", *_DOMAIN[:-1], "hostname")
    assert only([SMALL, refused], [SMALL, named], Settings(emit=emit)).effects == ("refused",)


def test_a_vm_that_is_refused_does_not_come() -> None:
    found = only([], [edited(PLAIN, "Sometimes", *HALTED)])
    assert (found.effects, found.sizes) == (("refused", "new"), (None, None))


def test_what_comes_was_not_there_before() -> None:
    """A VM without a namespace is another one than that which an Application put into the namespace of before."""
    nowhere = edited(PLAIN, {"name": "web"}, "metadata")
    machines = compare([PLAIN], [nowhere], Settings(namespace="prod"), Settings()).machines
    sizes = {machine.effects: machine.sizes for machine in machines}
    known = Size(1, 4 << 30)
    assert sizes == {("new",): (None, known), ("gone",): (known, None)}


def test_making_anew_is_no_way_out_where_the_cluster_refuses_that() -> None:
    """The VM goes on from its revisions; a new one would not meet the preference that was edited."""
    preference = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "linux", "namespace": "prod"},
        "spec": {"requirements": {"cpu": {"guest": 1}}, "preferredSubdomain": "a"},
    }
    matcher = {"name": "linux", "kind": "VirtualMachinePreference"}
    vm = edited(VM, matcher, "spec", "preference")
    wanted = edited(
        edited(preference, "b", "spec", "preferredSubdomain"),
        4,
        "spec",
        "requirements",
        "cpu",
        "guest",
    )
    assert only(
        [vm, SMALL, preference], [vm, SMALL, edited(preference, "b", "spec", "preferredSubdomain")]
    ).effects == ("recreate",)
    found = only([vm, SMALL, preference], [vm, SMALL, wanted])
    assert found.effects == ("none",)
    (message,) = found.messages
    assert message.startswith("made anew, the VM would not run: failure checking preference")
    assert message.endswith("provided by instance type, preference requires 4 vCPU")


def test_a_manifest_that_the_cluster_cannot_read_is_refused_and_the_vm_runs_on() -> None:
    broken = edited(PLAIN, "much", *_DOMAIN, "memory", "guest")
    found = only([PLAIN], [broken])
    assert found.effects == ("refused",)
    assert any("much" in message for message in found.messages)
    assert found.sizes == (Size(1, 4 << 30, ""),) * 2
    assert only([PLAIN], [broken], Settings(emit="vm")).effects == ("unrenderable",)


@pytest.mark.parametrize("requested", [None, "4Gi"])
def test_a_request_that_follows_from_the_guest_is_blamed_on_that(requested: str | None) -> None:
    before = edited(PLAIN, "amd64", "spec", "template", "spec", "architecture")
    if requested:
        before = edited(before, {"requests": {"memory": requested}}, *_DOMAIN, "resources")
    after = edited(before, "8Gi", *_DOMAIN, "memory", "guest")
    live = cluster(
        vmRolloutStrategy="LiveUpdate",
        developerConfiguration={"featureGates": ["VMLiveUpdateFeatures"]},
    )
    found = only([before, live], [after, live], Settings(emit="source", kubevirt="1.4"))
    cause = change(found, "spec.domain.resources.requests.memory").cause
    assert cause is not None
    assert cause.path == (*_DOMAIN, "memory", "guest")


def test_max_guest_is_blamed_on_the_request_that_it_follows_from() -> None:
    before = edited(PLAIN, {"requests": {"memory": "4Gi"}}, *_DOMAIN, "resources")
    tree.remove(before, *_DOMAIN, "memory")
    before = edited(before, {"cores": 2}, *_DOMAIN, "cpu")
    after = edited(before, {"requests": {"memory": "8Gi"}}, *_DOMAIN, "resources")
    cause = change(only([before], [after]), "spec.domain.memory.maxGuest").cause
    assert cause is not None
    assert cause.path[: len(_DOMAIN) + 1] == (*_DOMAIN, "resources")


def test_what_becomes_of_data_volumes_of_new_and_old_templates() -> None:
    storage = {"resources": {"requests": {"storage": "1Gi"}}}
    spec = {"storage": storage, "source": {"blank": {}}}
    template = {"metadata": {"name": "web-root"}, "spec": spec}
    volumes = [{"name": "root", "dataVolume": {"name": "web-root"}}]
    without = edited(PLAIN, volumes, "spec", "template", "spec", "volumes")
    vm = edited(without, [template], "spec", "dataVolumeTemplates")
    assert only([without], [vm]).made == ("web-root",)
    assert only([vm], [without]).left == ("web-root",)
    # Whose a DataVolume is that two VMs have a template for, and with whom it goes, nobody knows.
    for name, namespace, left in (("b", "prod", ()), ("b", "dev", ("web-root",))):
        second = edited(edited(vm, name, "metadata", "name"), namespace, "metadata", "namespace")
        for states in (([vm, second], [without, second]), ([vm, second], [without])):
            for emit in ("source", "vm"):
                machines = compare(*states, Settings(emit=emit)).machines
                (found,) = (each for each in machines if each.resource.name == "web")
                assert (found.left, found.made, found.stale) == (left, (), ())
    later = edited(
        vm, {"kubevirt.io/immediate-data-volume-creation": "false"}, "metadata", "annotations"
    )
    assert only([without], [later]).made == ()
    other = edited(vm, "high", "spec", "template", "spec", "priorityClassName")
    assert only([vm], [other]).stale == ("web-root",)


def preference(**cpu: Any) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "linux"},
        "spec": {"cpu": cpu} if cpu else {},
    }


@pytest.mark.parametrize("settings", [SOURCE, Settings()])
@pytest.mark.parametrize(
    ("before", "after"), [("sockets", "cores"), ("cores", "sockets"), ("cores", "")]
)
def test_vcpus_that_are_laid_out_otherwise_come_of_the_preference(
    settings: Settings, before: str, after: str
) -> None:
    """The instancetype says as many as before; where that changes too, it is the cause."""
    machine = edited(VM, {"name": "linux"}, "spec", "preference")
    old, new = (
        preference(preferredCPUTopology=text) if text else preference() for text in (before, after)
    )
    found = only([machine, SMALL, old], [machine, SMALL, new], settings)
    assert causes(found) == {"VirtualMachineClusterPreference linux spec.cpu.preferredCPUTopology"}
    more = edited(SMALL, 4, "spec", "cpu", "guest")
    found = only([machine, SMALL, old], [machine, more, new], settings)
    assert causes(found) == {"VirtualMachineInstancetype prod/small spec.cpu.guest"}


def causes(found: MachineImpact) -> set[str]:
    return {
        f"{change.cause.resource} {change.cause.field}" for change in found.changes if change.cause
    }


def test_a_vm_that_the_schema_refuses_for_a_missing_field_changes_nothing() -> None:
    """KubeVirt's own code reads it as empty, but never sees it; nothing is printed of it either."""
    volume = ("spec", "template", "spec", "volumes", 0)
    good = edited(VM, {"name": "init", "containerDisk": {"image": "quay.io/a/b:1"}}, *volume)
    bad = edited(good, {"imagePullPolicy": "Always"}, *volume, "containerDisk")
    halted = edited(bad, "Halted", "spec", "runStrategy")

    def effects(before: list[Json], after: list[Json], settings: Settings) -> tuple[str, ...]:
        (machine,) = compare([*before, SMALL], [*after, SMALL], settings).machines
        assert all('missing field "image"' in message for message in machine.messages)
        return machine.effects

    rows: tuple[tuple[list[Json], list[Json], tuple[str, ...], tuple[str, ...]], ...] = (
        ([good], [bad], ("refused",), ("unrenderable",)),
        ([bad], [bad], ("same",), ("unrenderable",)),
        ([bad], [halted], ("refused",), ("unrenderable",)),
        ([bad], [good], ("repaired",), ("repaired",)),
        ([], [bad], ("refused", "new"), ("new", "unrenderable")),
    )
    for before, after, as_written, rendered in rows:
        assert effects(before, after, SOURCE) == as_written
        assert effects(before, after, Settings()) == rendered
