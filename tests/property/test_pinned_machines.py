"""Pins and stamps of machines of every time: no edit of a definition changes one, and no edit of one is overlooked."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from render import Rendered, Settings, render
from render.frontends.commands.verify import faults
from render.model import tree
from render.model.resource import from_body
from render.pipeline import pinning
from render.pipeline.input import definitions
from render.revisions import lockfile
from tests.support import trees

NAMES = ["one", "two"]
VERSIONS = ["v1beta1", "v1alpha2", "v1alpha1"]
CPUS = st.integers(1, 4)
MEMORY = st.sampled_from(["1Gi", "2Gi", "1536Mi"])
ANNOTATION = "kubevirt.io/flavour"


def definition(group: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **content}


@st.composite
def instancetypes(draw: st.DrawFn, name: str) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(["VirtualMachineInstancetype", "VirtualMachineClusterInstancetype"])
    )
    spec = {"cpu": {"guest": draw(CPUS)}, "memory": {"guest": draw(MEMORY)}}
    return definition(
        f"instancetype.kubevirt.io/{draw(st.sampled_from(VERSIONS))}", kind, name, spec=spec
    )


@st.composite
def flavors(draw: st.DrawFn, name: str) -> dict[str, Any]:
    kind = draw(st.sampled_from(["VirtualMachineFlavor", "VirtualMachineClusterFlavor"]))
    cpus = draw(CPUS)
    content: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"spec": {"cpu": {"guest": cpus}, "memory": {"guest": "2Gi"}}},
                {
                    "spec": {
                        "cpu": {"sockets": cpus, "model": "host-model"},
                        "memory": {"guest": "1Gi"},
                    }
                },
                {
                    "profiles": [
                        {"name": "a", "default": True, "cpu": {"cores": cpus}},
                        {"name": "b"},
                    ]
                },
            ]
        )
    )
    return definition("flavor.kubevirt.io/v1alpha1", kind, name, **content)


@st.composite
def preferences(draw: st.DrawFn, name: str) -> dict[str, Any]:
    kind = draw(st.sampled_from(["VirtualMachinePreference", "VirtualMachineClusterPreference"]))
    groups = [f"instancetype.kubevirt.io/{one}" for one in VERSIONS]
    group = draw(st.sampled_from([*groups, "flavor.kubevirt.io/v1alpha1"]))
    spec = draw(
        st.sampled_from(
            [
                {"devices": {"preferredRng": {}}},
                {"devices": {"preferredDiskBus": "virtio"}},
                {"features": {"preferredAcpi": {}}},
            ]
        )
    )
    return definition(group, kind, name, spec=spec)


def named(body: dict[str, Any]) -> dict[str, str]:
    return {"name": body["metadata"]["name"], "kind": body["kind"]}


@st.composite
def inputs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A machine of any kind, last, and what it is made of."""
    kind = draw(st.sampled_from(["vm", "flavored", "store", "runtime", "vmi"]))
    name = draw(st.sampled_from(NAMES))
    own = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
    volumes = [{"name": "root", "containerDisk": {"image": "registry.example.com/root"}}]
    inner: dict[str, Any] = {
        "domain": {"devices": {}, "resources": {"requests": {"memory": "1Gi"}}}
    }
    if draw(st.booleans()):
        inner["volumes"] = volumes
        inner["domain"]["devices"]["disks"] = [{"name": "root", "disk": {}}]
    spec: dict[str, Any] = {"runStrategy": "Always", "template": {"spec": inner}}
    metadata: dict[str, Any] = {"name": "machine"}
    used: list[dict[str, Any]] = []
    if kind in ("vm", "flavored"):
        del inner["domain"]["resources"]
        if kind == "flavored":
            used.append(draw(flavors(name)))
            spec["flavor"] = named(used[0])
            if "profiles" in used[0]:
                inner["domain"]["memory"] = {"guest": "1Gi"}
        elif draw(st.booleans()):
            used.append(draw(instancetypes(name)))
            spec["instancetype"] = named(used[0])
        else:
            spec["instancetype"] = {"name": "u1.medium"}
        if draw(st.booleans()):
            used.append(draw(preferences(name)))
            spec["preference"] = named(used[-1])
    elif kind == "vmi":
        own, spec = {**own, "kind": "VirtualMachineInstance"}, inner
    else:
        own = {
            "apiVersion": "kubevirt.io/v1alpha1",
            "kind": draw(st.sampled_from(["VM", "VirtualMachine"])),
        }
        spec = inner
        if kind == "store":
            spec["restartPolicy"] = "always"
            used.append(draw(st.one_of(flavors(name), instancetypes(name))))
            metadata["annotations"] = {ANNOTATION: name}
    return [*used, {**own, "metadata": metadata, "spec": spec}]


def built(
    bodies: list[dict[str, Any]], lock: dict[str, Any] | None = None, **settings: Any
) -> Rendered:
    return render(bodies, Settings(lock=lock, admission="off", **settings))


def machines(found: Rendered) -> list[dict[str, Any]]:
    return [body for body in found.resources if body["metadata"]["name"] == "machine"]


def pinned(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    resources = [from_body(body, index) for index, body in enumerate(bodies)]
    made = pinning.pin(resources, Settings(admission="off"))
    assert not [one for one in made.diagnostics if one.is_error]
    return lockfile.document(made.lock)


@st.composite
def edited(draw: st.DrawFn, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with one definition edited or gone."""
    index = draw(st.integers(0, len(bodies) - 2))
    others = [body for position, body in enumerate(bodies) if position != index]
    if draw(st.booleans()):
        return others
    body = tree.copy(bodies[index])
    if "Preference" in body["kind"]:
        body["spec"] = {"devices": {"preferredInputBus": "usb"}}
    elif "profiles" in body:
        body["profiles"][0]["cpu"] = {"cores": 7}
    else:
        key = "guest" if "guest" in body["spec"]["cpu"] else "sockets"
        body["spec"]["cpu"][key] = 7
        body["spec"]["memory"] = {"guest": draw(st.sampled_from(["7Gi", "9Gi"]))}
    return [body, *others]


@given(st.data())
def test_no_edit_of_a_definition_reaches_a_pinned_machine(data: st.DataObject) -> None:
    bodies = data.draw(inputs())
    assume(len(bodies) > 1)
    lock = pinned(bodies)
    before = built(bodies, lock, pins="require")
    assert not [one for one in before.diagnostics if one.is_error]
    after = built(data.draw(edited(bodies)), lock, pins="require")
    assert machines(after) == machines(before)
    assert len(machines(after)) == 1
    assert {one.code for one in after.diagnostics} & {"VR608", "VR609"}
    assert not {one.code for one in before.diagnostics} & {"VR608", "VR609"}


@given(st.data())
def test_whatever_is_printed_is_verified_and_no_edit_of_it_is(data: st.DataObject) -> None:
    bodies = data.draw(inputs())
    lock = pinned(bodies) if data.draw(st.booleans()) else None
    found = built(bodies, lock)
    assert not [one for one in found.diagnostics if one.is_error]
    (machine,) = machines(found)
    resource = from_body(machine, 0)
    assert definitions.is_machine(resource)
    assert not list(faults(resource, {}, allow_matchers=False))
    if len(bodies) == 1 and bodies[0]["kind"] == "VirtualMachineInstance":
        return  # nothing decided anything about it
    assert "virt-render.dev/rendered" in machine["metadata"]["annotations"]
    places = [
        place
        for place, value in trees.places(machine["spec"])
        if place and not isinstance(value, dict | list)
        if place[0] != "runStrategy" and place[:2] != ("template", "metadata")
    ]
    assume(places)
    tree.put(machine, ("spec", *data.draw(st.sampled_from(places))), "edited")
    assert [one.code for one in faults(from_body(machine, 0), {}, allow_matchers=False)] == [
        "VR613"
    ]
    unrendered = [from_body(body, 0) for body in bodies]
    assert [one.code for one in faults(unrendered[-1], {}, allow_matchers=False)][:1] == ["VR612"]
