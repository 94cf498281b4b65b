"""What a lock says of VMs that name a ControllerRevision themselves: no cluster takes an edit of one."""

from typing import Any

import pytest

from render import Rendered, Settings, render
from render.model import tree
from render.model.resource import from_body
from render.pipeline import pinning
from render.revisions import lockfile

#: By the word of the matcher: the object that a revision holds, and an edit of it.
HELD: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "instancetype": (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachineInstancetype",
        {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
        {"cpu": {"guest": 6}, "memory": {"guest": "2Gi"}},
    ),
    "preference": (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachinePreference",
        {"devices": {"preferredDiskBus": "virtio"}},
        {"devices": {"preferredDiskBus": "sata"}},
    ),
    "flavor": (
        "flavor.kubevirt.io/v1alpha1",
        "VirtualMachineFlavor",
        {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
        {"cpu": {"guest": 6}, "memory": {"guest": "2Gi"}},
    ),
}
WORDS = sorted(HELD)


def revision(word: str, name: str = "one", *, edited: bool = False) -> dict[str, Any]:
    version, kind, old, new = HELD[word]
    held = {"apiVersion": version, "kind": kind, "metadata": {"name": "small"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": name},
        "data": {**held, "spec": new if edited else old},
        "revision": 0,
    }


def vm(word: str, named: str = "one", *, pooled: bool = False) -> dict[str, Any]:
    """A VM that names a ControllerRevision, or with ``""`` the object; or a pool of such."""
    matcher = {"name": "small", "kind": HELD[word][1]} | ({"revisionName": named} if named else {})
    inner: dict[str, Any] = {"domain": {"devices": {"disks": [{"name": "root", "disk": {}}]}}}
    inner["volumes"] = [{"name": "root", "containerDisk": {"image": "registry.example.com/root"}}]
    if word == "preference":
        inner["domain"]["memory"] = {"guest": "1Gi"}
    labels = {"app": "web"}
    spec = {"runStrategy": "Always", word: matcher}
    spec["template"] = {"metadata": {"labels": labels}, "spec": inner}
    metadata = {"name": "web"}
    if not pooled:
        return {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec
        }  # fmt: skip
    return {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": metadata,
        "spec": {
            "selector": {"matchLabels": labels},
            "virtualMachineTemplate": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def lock_of(*bodies: dict[str, Any]) -> dict[str, Any]:
    made = pinning.pin([from_body(body, n) for n, body in enumerate(bodies)], Settings())
    assert not [diagnostic for diagnostic in made.diagnostics if diagnostic.is_error]
    return lockfile.document(made.lock)


def of_before(lock: dict[str, Any], word: str) -> dict[str, Any]:
    """The lock as it was written before it knew the names of revisions."""
    older: dict[str, Any] = tree.copy(lock)
    (pin,) = older["pins"].values()
    del pin[f"{word}RevisionName"]
    return older


def messages(found: Rendered) -> list[tuple[str, str]]:
    """What was found about pins."""
    return [
        (diagnostic.code, diagnostic.severity.value)
        for diagnostic in found.diagnostics
        if diagnostic.code.startswith("VR6")
    ]


MODES = [
    ("vm", "auto"),
    ("vm", "require"),
    ("vmi", "require"),
    ("hashed", "auto"),
    ("revisions", "auto"),
    ("source", "auto"),
    ("source", "require"),
]


@pytest.mark.parametrize("pooled", [False, True], ids=["VM", "pool"])
@pytest.mark.parametrize(("emit", "pins"), MODES)
@pytest.mark.parametrize("word", WORDS)
def test_edit_of_a_named_revision_is_an_error(
    word: str, emit: Any, pins: Any, *, pooled: bool
) -> None:
    machine = vm(word, pooled=pooled)
    lock = lock_of(revision(word), machine)
    settings = Settings(lock=lock, emit=emit, pins=pins)
    if word != "flavor" or emit in ("vm", "vmi"):  # the other modes refuse flavors
        assert messages(render([revision(word), machine], settings)) == []
        found = render([revision(word, edited=True), machine], settings)
        assert messages(found) == [("VR621", "error")]
        (error,) = (diagnostic for diagnostic in found.diagnostics if diagnostic.code == "VR621")
        (other,) = error.related
        assert other.location.resource is not None
        assert other.location.resource.kind == "ControllerRevision"
    assert messages(render([revision(word), machine], settings._replace(pins="ignore"))) == []


@pytest.mark.parametrize(("pins", "severity"), [("auto", "warning"), ("require", "error")])
@pytest.mark.parametrize("word", WORDS)
def test_another_name_or_a_first_one_ends_the_pin(word: str, pins: Any, severity: str) -> None:
    first, two = revision(word), revision(word, "two", edited=True)
    plain = {**first["data"]}
    ended = [("VR607", severity)]
    settings = Settings(pins=pins)
    for before, after, expected in [
        ("one", "two", ended),
        ("", "two", ended),
        ("", "one", []),  # what it holds is what the VM is pinned to
        ("one", "", []),  # KubeVirt has recorded in the status what the VM runs
    ]:
        lock = lock_of(first, two, plain, vm(word, before))
        found = render([first, two, plain, vm(word, after)], settings._replace(lock=lock))
        assert messages(found) == expected, (before, after)


@pytest.mark.parametrize(("pins", "severity"), [("auto", "warning"), ("require", "error")])
@pytest.mark.parametrize("word", WORDS)
def test_lock_that_has_no_names_of_revisions_is_read(word: str, pins: Any, severity: str) -> None:
    """It cannot tell an edit of the revision from another name; that the content is another, it can."""
    lock = of_before(lock_of(revision(word), vm(word)), word)
    settings = Settings(lock=lock, pins=pins)
    assert messages(render([revision(word), vm(word)], settings)) == []
    found = render([revision(word, edited=True), vm(word)], settings)
    assert messages(found) == [("VR607", severity)]


def test_what_a_stored_vm_runs_is_compared_where_the_lock_decides() -> None:
    """KubeVirt's expand-vm-spec knows no lock."""
    lock = lock_of(revision("instancetype"), vm("instancetype"))
    bodies = [revision("instancetype", edited=True), vm("instancetype")]
    requested = Settings(lock=lock, emit="expand")
    assert messages(render(bodies, requested)) == [("VR620", "info")]
    assert messages(render(bodies, requested._replace(stored=True))) == [("VR621", "error")]


def test_inferred_matcher_does_not_ask_the_revision_that_it_names() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "root", "labels": {"instancetype.kubevirt.io/default-instancetype": "u1.small"}},
    }  # fmt: skip
    machine = vm("instancetype")
    machine["spec"]["instancetype"] = {"inferFromVolume": "root", "revisionName": "one"}
    machine["spec"]["template"]["spec"]["volumes"] = [
        {"name": "root", "persistentVolumeClaim": {"claimName": "root"}}
    ]
    lock = lock_of(revision("instancetype"), claim, machine)
    found = render(
        [revision("instancetype", edited=True), claim, machine], Settings(lock=lock, pins="require")
    )
    assert messages(found) == []
    assert found.resources[-1]["metadata"]["annotations"][
        "virt-render.dev/instancetype"
    ].startswith("VirtualMachineClusterInstancetype/u1.small@")


def test_one_revision_may_hold_a_flavor_and_an_instancetype() -> None:
    """What v0.55 to v0.57 stored does not say its kind: two VMs may take it for what each of them names."""
    spec = "eyJjcHUiOnsiZ3Vlc3QiOjJ9LCJtZW1vcnkiOnsiZ3Vlc3QiOiIyR2kifX0="
    wrapped = {"apiVersion": "flavor.kubevirt.io/v1alpha1", "spec": spec}
    held = {**revision("instancetype"), "data": wrapped}
    flavored, other = vm("flavor"), vm("instancetype")
    other["metadata"] = {"name": "other"}
    lock = lock_of(held, flavored, other)
    assert sorted(next(iter(revision)) for revision in lock["revisions"].values()) == [
        "flavor",
        "instancetype",
    ]
    assert messages(render([held, flavored, other], Settings(lock=lock, pins="require"))) == []
