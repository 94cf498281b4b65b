"""What is not rendered twice is compared as if it were."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render import Settings, compare
from render.model import tree
from tests.support import generated

Json = dict[str, Any]
#: Nobody reads it; but where an object differs that is neither a VM nor a definition, every VM is rendered anew.
STRANGER: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stranger"}}
_KINDS = ("Instancetype", "ClusterInstancetype", "Preference", "ClusterPreference")
_NAMES = ("one", "two")


def _definition(kind: str, name: str, size: int) -> Json:
    spec: Json = {"cpu": {"guest": size}, "memory": {"guest": f"{size}Gi"}}
    if "Preference" in kind:
        spec = {"devices": {"preferredDiskBus": ("virtio", "sata", "scsi")[size]}}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": f"VirtualMachine{kind}",
        "metadata": {"name": name} | ({} if "Cluster" in kind else {"namespace": "prod"}),
        "spec": spec,
    }


def _source(name: str, instancetype: str) -> Json:
    labels = {"instancetype.kubevirt.io/default-instancetype": instancetype}
    return {
        "apiVersion": "cdi.kubevirt.io/v1beta1",
        "kind": "DataSource",
        "metadata": {"name": name, "namespace": "prod", "labels": labels},
        "spec": {"source": {"pvc": {"name": "golden", "namespace": "prod"}}},
    }


def _machine(name: str, instancetype: Json, preference: Json, source: str) -> Json:
    reference = {"kind": "DataSource", "name": source}
    spec = {"storage": {}, "sourceRef": reference}
    template = {"metadata": {"name": f"{name}-root"}, "spec": spec}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": instancetype,
            "preference": preference,
            "dataVolumeTemplates": [template],
            "template": {
                "spec": {
                    "domain": {"devices": {"disks": [{"name": "root", "disk": {}}]}},
                    "volumes": [{"name": "root", "dataVolume": {"name": f"{name}-root"}}],
                }
            },
        },
    }


_NAMED = st.builds(
    lambda name, kind: {"name": name} | ({"kind": kind} if kind else {}),
    st.sampled_from(_NAMES),
    st.sampled_from(["", "Cluster", "Namespaced"]),
)


def _matcher(stated: Json, word: str) -> Json:
    kinds = {
        "Cluster": f"VirtualMachineCluster{word}",
        "Namespaced": f"VirtualMachine{word}",
    }
    return stated | ({"kind": kinds[stated["kind"]]} if "kind" in stated else {})


@st.composite
def _edits(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    """Two states of definitions and VMs, some of which were edited, came or went."""
    sizes = st.integers(0, 2)
    before, after = [], []
    for kind in _KINDS:
        for name in _NAMES:
            size = draw(sizes)
            old = _definition(kind, name, size + ("Preference" not in kind))
            edit = draw(st.sampled_from(["same", "same", "same", "edited", "new", "gone"]))
            before += [] if edit == "new" else [old]
            if edit != "gone":
                other = (size + 1) % 3 if edit == "edited" else size
                after.append(_definition(kind, name, other + ("Preference" not in kind)))
    for name in ("a", "b", "c"):
        instancetype = _matcher(draw(_NAMED), "Instancetype")
        if draw(st.booleans()):
            instancetype = {"inferFromVolume": "root"}
        preference = _matcher(draw(_NAMED), "Preference")
        vm = _machine(name, instancetype, preference, draw(st.sampled_from(["x", "y"])))
        before.append(vm)
        after.append(tree.copy(vm))
    sources = [_source("x", draw(st.sampled_from(_NAMES))), _source("y", "two")]
    before += sources
    after += sources
    if draw(st.booleans()):
        after.insert(0, after.pop())
    return before, after


@st.composite
def _anything(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    """Two states of a repository with any fields, whose definitions were edited or went."""
    before = draw(generated.repositories())
    after = []
    for body in before:
        is_definition = "instancetype.kubevirt.io" in body["apiVersion"]
        how = draw(st.sampled_from(["same", "edited", "gone"])) if is_definition else "same"
        if how == "edited":
            is_preference = "Preference" in body["kind"]
            specs = (
                generated.preference_specs() if is_preference else generated.instancetype_specs()
            )
            after.append({**body, "spec": draw(specs)})
        elif how == "same":
            after.append(body)
    return before, after


@given(st.one_of(_edits(), _edits(), _anything()), st.sampled_from(["source", "vm"]))
def test_it_makes_no_difference_which_machines_are_taken_over(
    edit: tuple[list[Json], list[Json]], emit: Any
) -> None:
    before, after = edit
    settings = Settings(emit=emit)
    found = compare(before, after, settings)
    assert found == compare(before, [*after, STRANGER], settings)
