"""Pins and stamps of machines of every time: no edit of a definition changes one, and no edit of one is overlooked."""

from collections import Counter
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from render import Rendered, Settings, render
from render.frontends.commands.verify import examined
from render.kubevirt import replicas
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import from_body
from render.pipeline import pinning
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
    groups = [f"instancetype.kubevirt.io/{version}" for version in VERSIONS]
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


REVISION = "ControllerRevision"
LABELS = {"size": "wide"}
SELECTOR = {"matchLabels": LABELS}
PRESETS = {
    "VirtualMachineInstancePreset": "kubevirt.io/v1",
    "VirtualMachinePreset": "kubevirt.io/v1alpha1",
}
#: Kinds of machines, and of what holds some.
KINDS = ["vm", "flavored", "store", "runtime", "vmi", "pool", "flavored pool", "replica set"]
MODES = ["vm", "vmi", "expand", "hashed", "revisions", "source"]


def preset(kind: str) -> dict[str, Any]:
    """A preset that selects the machines."""
    domain = {"ioThreadsPolicy": "auto", "devices": {}}
    return definition(PRESETS[kind], kind, "preset", spec={"selector": SELECTOR, "domain": domain})


def stored(body: dict[str, Any]) -> dict[str, Any]:
    """The ControllerRevision that holds *body*."""
    kind, name = body["kind"].lower(), body["metadata"]["name"]
    return definition("apps/v1", REVISION, f"{kind}-{name}", data=tree.copy(body), revision=0)


@st.composite
def named(draw: st.DrawFn, body: dict[str, Any], used: list[dict[str, Any]]) -> dict[str, str]:
    """A matcher of *body*, which may name a ControllerRevision that holds it; what it needs is added to *used*."""
    matcher = {"name": body["metadata"]["name"], "kind": body["kind"]}
    if draw(st.booleans()):
        used.append(body)
        return matcher
    used.append(stored(body))
    return {**matcher, "revisionName": used[-1]["metadata"]["name"]}


@st.composite
def vms(
    draw: st.DrawFn, kind: str, name: str, inner: dict[str, Any], used: list[dict[str, Any]]
) -> dict[str, Any]:
    """The spec of a VM of today around *inner*; its definitions are added to *used*."""
    del inner["domain"]["resources"]
    vm: dict[str, Any] = {
        "runStrategy": "Always",
        "template": {"metadata": {"labels": LABELS}, "spec": inner},
    }
    if kind.startswith("flavored"):
        flavor = draw(flavors(name))
        vm["flavor"] = draw(named(flavor, used))
        if "profiles" in flavor:
            inner["domain"]["memory"] = {"guest": "1Gi"}
    elif draw(st.booleans()):
        vm["instancetype"] = draw(named(draw(instancetypes(name)), used))
    else:
        vm["instancetype"] = {"name": "u1.medium"}
    if draw(st.booleans()):
        vm["preference"] = draw(named(draw(preferences(name)), used))
    return vm


@st.composite
def inputs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A machine of any kind, or what makes some, last, and what it is made of."""
    kind = draw(st.sampled_from(KINDS))
    name = draw(st.sampled_from(NAMES))
    inner: dict[str, Any] = {
        "domain": {"devices": {}, "resources": {"requests": {"memory": "1Gi"}}}
    }
    if draw(st.booleans()):
        inner["volumes"] = [
            {"name": "root", "containerDisk": {"image": "registry.example.com/root"}}
        ]
        inner["domain"]["devices"]["disks"] = [{"name": "root", "disk": {}}]
    metadata: dict[str, Any] = {"name": "machine", "labels": LABELS}
    labelled = {"metadata": {"labels": LABELS}}
    own = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata}
    if kind == "vmi":
        return [{**own, "kind": "VirtualMachineInstance", "spec": inner}]
    if kind == "replica set":
        spec = {"selector": SELECTOR, "template": {**labelled, "spec": inner}}
        return [{**own, "kind": "VirtualMachineInstanceReplicaSet", "spec": spec}]
    used: list[dict[str, Any]] = []
    if kind in ("store", "runtime"):
        own |= {
            "apiVersion": "kubevirt.io/v1alpha1",
            "kind": draw(st.sampled_from(["VM", "VirtualMachine"]))
            if kind == "store"
            else "VirtualMachine",
        }
        if kind == "store":
            inner["restartPolicy"] = "always"
            used.append(draw(st.one_of(flavors(name), instancetypes(name))))
            metadata["annotations"] = {ANNOTATION: name}
        return [*used, {**own, "spec": inner}]
    vm = draw(vms(kind, name, inner, used))
    if kind.endswith("pool"):
        own |= {"apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool"}
        vm = {"selector": SELECTOR, "virtualMachineTemplate": {**labelled, "spec": vm}}
    return [*used, {**own, "spec": vm}]


def built(
    bodies: list[dict[str, Any]], lock: dict[str, Any] | None = None, **settings: Any
) -> Rendered:
    return render(bodies, Settings(lock=lock, admission="off", **settings))


def machines(found: Rendered) -> list[dict[str, Any]]:
    """What became of the machine; VMIs of a pool and a replica set are called after it."""
    names = [tree.get(body, "metadata", "name") or "" for body in found.resources]
    names = [
        name or tree.get(body, "metadata", "generateName")
        for name, body in zip(names, found.resources, strict=True)
    ]
    return [
        body
        for name, body in zip(names, found.resources, strict=True)
        if name in ("machine", "machine-0")
    ]


def errors(found: Rendered) -> list[str]:
    return [diagnostic.code for diagnostic in found.diagnostics if diagnostic.is_error]


def verified(body: dict[str, Any], *, allow_matchers: bool = False) -> list[str]:
    """The codes of what verify has to say of *body*."""
    tally: Counter[tuple[str, str]] = Counter()
    found = examined(from_body(body, 0), tally, allow_matchers=allow_matchers)
    return [diagnostic.code for diagnostic in found]


def pinned(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    resources = [from_body(body, index) for index, body in enumerate(bodies)]
    made = pinning.pin(resources, Settings(admission="off"))
    assert not [diagnostic for diagnostic in made.diagnostics if diagnostic.is_error]
    return lockfile.document(made.lock)


@st.composite
def edited(draw: st.DrawFn, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with one definition edited or gone."""
    index = draw(st.integers(0, len(bodies) - 2))
    others = [body for position, body in enumerate(bodies) if position != index]
    if draw(st.booleans()):
        return others
    changed = tree.copy(bodies[index])
    body = changed["data"] if changed["kind"] == REVISION else changed
    if "Preference" in body["kind"]:
        body["spec"] = {"devices": {"preferredInputBus": "usb"}}
    elif "profiles" in body:
        body["profiles"][0]["cpu"] = {"cores": 7}
    else:
        key = "guest" if "guest" in body["spec"]["cpu"] else "sockets"
        body["spec"]["cpu"][key] = 7
        body["spec"]["memory"] = {"guest": draw(st.sampled_from(["7Gi", "9Gi"]))}
    return [changed, *others]


@given(st.data())
def test_no_edit_of_a_definition_reaches_a_pinned_machine(data: st.DataObject) -> None:
    bodies = data.draw(inputs())
    assume(len(bodies) > 1)
    lock = pinned(bodies)
    settings = {"emit": data.draw(st.sampled_from(MODES[:2] + MODES[3:5])), "pins": "require"}
    before = built(bodies, lock, **settings)
    refused = "VR503" in errors(before) or "VR441" in errors(before)
    assert refused or not errors(before)
    assume(not refused)
    edit = data.draw(edited(bodies))
    after = built(edit, lock, **settings)
    if any(body["kind"] == REVISION and body not in edit for body in bodies):
        # Nothing is printed, as KubeVirt would not start that machine, or the cluster not take that revision.
        assert set(errors(after)) & {"VR207", "VR441", "VR621"}
        return
    assert not errors(after)
    assert machines(after) == machines(before)
    assert len(machines(after)) == 1
    assert {diagnostic.code for diagnostic in after.diagnostics} & {"VR608", "VR609"}
    assert not {diagnostic.code for diagnostic in before.diagnostics} & {"VR608", "VR609"}


@given(st.data())
def test_whatever_is_printed_is_verified(data: st.DataObject) -> None:
    """Each object of each output, where the mode keeps matchers with leave to do so."""
    bodies = data.draw(inputs())
    lock = pinned(bodies) if data.draw(st.booleans()) else None
    presets = data.draw(st.sampled_from([[], *([preset(kind)] for kind in PRESETS)]))
    emit = data.draw(st.sampled_from(MODES))
    found = built([*bodies, *presets], lock, emit=emit)
    assume(not errors(found))
    for body in found.resources:
        assert not verified(body, allow_matchers=emit not in ("vm", "vmi")), body


@given(st.data())
def test_no_edit_of_a_rendered_field_is_verified(data: st.DataObject) -> None:
    bodies = data.draw(inputs())
    lock = pinned(bodies) if data.draw(st.booleans()) else None
    presets = data.draw(st.sampled_from([[], [preset("VirtualMachineInstancePreset")]]))
    found = built([*bodies, *presets], lock)
    assert not errors(found)
    (machine,) = machines(found)
    template: FieldPath = ()
    if replicas.is_holder(from_body(machine, 0)):
        template = replicas.template_of(from_body(machine, 0))
    inner = tree.get(machine, *template)
    if not presets and bodies[0]["kind"].startswith("VirtualMachineInstance") and len(bodies) == 1:
        return  # nothing decided anything about it
    assert "virt-render.dev/rendered" in inner["metadata"]["annotations"]
    places = [
        place
        for place, value in trees.places(inner["spec"])
        if place and not isinstance(value, dict | list)
        if place[0] != "runStrategy" and place[:2] != ("template", "metadata")
    ]
    assume(places)
    changed: dict[str, Any] = tree.copy(machine)
    tree.put(changed, (*template, "spec", *data.draw(st.sampled_from(places))), "edited")
    assert verified(machine) == []
    assert verified(changed) == ["VR613"]
    assert set(verified(bodies[-1])) == ({"VR612"} if lacks_rendering(bodies[-1]) else set())


def lacks_rendering(body: dict[str, Any]) -> bool:
    """Whether *body* tells that it was not rendered: a VMI, and what makes VMIs, does not."""
    return not body["kind"].startswith("VirtualMachineInstance")
