"""Machines and definitions of every time: what each mode makes of them, and what is said."""

from pathlib import Path
from typing import Any

import pytest

from render import Rendered, Settings, render
from render.legacy.machines import modernise
from render.model.hints import choices
from render.model.resource import from_body
from render.pipeline import outcomes, pinning
from render.pipeline.lock_roles import TRACES, LockRole
from render.pipeline.outcomes import DEFINITIONS, HOLDERS, MACHINES
from render.revisions import lockfile
from render.settings import Emit
from render.yaml.reader import read

MODES: tuple[Any, ...] = choices(Emit)
BIG = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: big}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
"""
#: One machine of each kind.
SOURCES = {
    "vm": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm}
spec:
  runStrategy: Always
  instancetype: {name: u1.medium}
  template: {spec: {domain: {devices: {}}}}
""",
    "flavored": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm}
spec:
  runStrategy: Always
  flavor: {name: big, kind: VirtualMachineFlavor}
  template: {spec: {domain: {devices: {}}}}
""",
    "store": """\
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: vm, annotations: {kubevirt.io/flavour: big}}
spec: {restartPolicy: always, domain: {}}
""",
    "runtime": """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: vm, labels: {size: wide}}
spec: {domain: {cpu: {cores: 2}}}
""",
    "vmi": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: vm}
spec: {domain: {memory: {guest: 1Gi}, devices: {}}}
""",
}
#: One object of each kind that holds machines.
HOLDING = {
    "VirtualMachinePool": """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {name: vm}
spec:
  selector: {matchLabels: {size: wide}}
  virtualMachineTemplate:
    metadata: {labels: {size: wide}}
    spec:
      runStrategy: Always
      instancetype: {name: small, kind: VirtualMachineInstancetype}
      template: {metadata: {labels: {size: wide}}, spec: {domain: {devices: {}}}}
""",
    "VirtualMachineInstanceReplicaSet": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: vm}
spec:
  selector: {matchLabels: {size: wide}}
  template: {metadata: {labels: {size: wide}}, spec: {domain: {memory: {guest: 1Gi}, devices: {}}}}
""",
    "Template": """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: vm}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: vm}
  spec: {runStrategy: Always, template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}}
""",
}
OLDER = """\
apiVersion: instancetype.kubevirt.io/v1alpha2
kind: VirtualMachineInstancetype
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
"""
USING_OLDER = SOURCES["vm"].replace(
    "{name: u1.medium}", "{name: small, kind: VirtualMachineInstancetype}"
)
PRESET = """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachinePreset
metadata: {name: wide}
spec: {selector: {matchLabels: {size: wide}}, domain: {features: {acpi: {}}}}
"""
NEW_PRESET = PRESET.replace("v1alpha1", "v1").replace("Preset", "InstancePreset")
BIG_PRESET = (
    NEW_PRESET.replace("name: wide", "name: big")
    .replace("{size: wide}", "{no: vm}")
    .replace("{features: {acpi: {}}}", "{memory: {guest: 1Gi}, devices: {}}")
)
ANNOTATED = ", annotations: {kubevirt.io/flavour: big}"
INSTANCES = ("VirtualMachineInstance", "Pod")
OBSOLETE = {"flavor": BIG, "preset": PRESET}


LABELLED_TEMPLATE = SOURCES["vm"].replace("{spec:", "{metadata: {labels: {size: wide}}, spec:")


def labelled(kind: str) -> str:
    """The machine of *kind* with labels of its own."""
    return SOURCES[kind].replace("name: vm", "name: vm, labels: {size: wide}")


def bodies(*texts: str) -> list[dict[str, Any]]:
    found = read("---\n".join(texts).encode(), "text")
    assert not found.diagnostics
    return [document.body for document in found.documents]


def rendered(*texts: str, **settings: Any) -> Rendered:
    return render(bodies(*texts), Settings(**settings))


def lock_of(*texts: str) -> dict[str, Any]:
    """The lock that pins what is there."""
    resources = [from_body(body, index) for index, body in enumerate(bodies(*texts))]
    made = pinning.pin(resources, Settings())
    assert not [diagnostic for diagnostic in made.diagnostics if diagnostic.is_error]
    return lockfile.document(made.lock)


def codes(found: Rendered, *, errors: bool = False) -> list[str]:
    return [
        diagnostic.code for diagnostic in found.diagnostics if diagnostic.is_error or not errors
    ]


def is_of_vm(body: dict[str, Any]) -> bool:
    """Whether *body* is what became of the machine called vm: itself, or its pod."""
    metadata = body["metadata"]
    name: str = metadata.get("name") or metadata["generateName"].removeprefix("virt-launcher-")
    return name.rstrip("-") == "vm"


def domain(found: Rendered) -> dict[str, Any]:
    (body,) = (resource for resource in found.resources if resource["metadata"]["name"] == "vm")
    spec = body["spec"].get("template", body)["spec"]
    held: dict[str, Any] = spec["domain"]
    return held


def test_no_combination_is_unsaid() -> None:
    assert MACHINES.keys() == SOURCES.keys()
    assert HOLDERS.keys() == HOLDING.keys()
    assert set(TRACES) == set(MODES)
    for row in (*MACHINES.values(), *HOLDERS.values(), *DEFINITIONS.values()):
        assert set(row.outcomes) == set(MODES)
        assert all(outcome.words for outcome in row.outcomes.values())


def test_documentation_has_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs" / "emit.md").read_text(encoding="utf-8")
    for row in (*MACHINES.values(), *HOLDERS.values(), *DEFINITIONS.values()):
        assert row.title in text


@pytest.mark.parametrize("emit", MODES)
@pytest.mark.parametrize("kind", SOURCES)
def test_each_mode_does_with_each_machine_what_the_table_says(kind: Any, emit: Any) -> None:
    """No mode prints a machine that it did not render, and none that no cluster serves."""
    assert outcomes.machine_kind(modernise(from_body(bodies(SOURCES[kind])[0], 0))) == kind
    verdict = MACHINES[kind].outcomes[emit].verdict
    found = rendered(SOURCES[kind], *([BIG] if kind in ("flavored", "store") else []), emit=emit)
    if verdict == "refused":
        expected = "VR105" if (kind, emit) == ("flavored", "expand") else "VR503"
        assert expected in codes(found, errors=True)
        return
    machines = [resource for resource in found.resources if is_of_vm(resource)]
    assert len(machines) == 1
    assert machines[0]["apiVersion"] == ("v1" if emit == "pod" else "kubevirt.io/v1")
    if verdict == "left as it is":
        assert machines == bodies(SOURCES[kind])
    else:
        assert codes(found, errors=True) == []
        assert machines[0]["kind"] in ("VirtualMachine", "VirtualMachineInstance", "Pod")
        assert "flavor" not in machines[0]["spec"]


@pytest.mark.parametrize("emit", MODES)
@pytest.mark.parametrize("kind", HOLDING)
def test_each_mode_does_with_what_holds_machines_what_the_table_says(kind: str, emit: Any) -> None:
    preset = NEW_PRESET.replace("{features: {acpi: {}}}", "{ioThreadsPolicy: auto, devices: {}}")
    found = rendered(HOLDING[kind], preset, OLDER, emit=emit)
    assert codes(found, errors=True) == []
    made = [resource for resource in found.resources if resource["kind"] in (kind, *INSTANCES)]
    (body,) = made
    if HOLDERS[kind].outcomes[emit].verdict == "left as it is":
        assert made == bodies(HOLDING[kind])
    else:
        assert body not in bodies(HOLDING[kind])
        assert body["kind"] == {"vmi": "VirtualMachineInstance", "pod": "Pod"}.get(emit, kind)


@pytest.mark.parametrize("emit", MODES)
def test_flavor_in_a_pool_is_refused_where_nothing_writes_it_out(emit: Any) -> None:
    pool = HOLDING["VirtualMachinePool"].replace(
        "instancetype: {name: small, kind: VirtualMachineInstancetype}",
        "flavor: {name: big, kind: VirtualMachineFlavor}",
    )
    errors = codes(rendered(pool, BIG, emit=emit), errors=True)
    assert bool(errors) is (MACHINES["flavored"].outcomes[emit].verdict == "refused")
    # A cluster drops the field from the template: it does not refuse the VMs.
    assert set(errors) <= {"VR105", "VR503"}


@pytest.mark.parametrize(("emit", "stored"), [*((mode, False) for mode in MODES), ("expand", True)])
def test_lock_has_the_part_that_the_table_says(emit: Any, *, stored: bool) -> None:
    texts = (OLDER.replace("v1alpha2", "v1beta1"), USING_OLDER)
    lock = lock_of(*texts)
    edited = (texts[0].replace("cpu: {guest: 2}", "cpu: {guest: 7}"), texts[1])
    settings = {"emit": emit, "stored": stored}
    before, after = (rendered(*edited, lock=item, **settings) for item in (None, lock))
    role = LockRole.DECIDES if stored else TRACES[emit].lock
    assert (before.resources == after.resources) is (role is not LockRole.DECIDES)
    assert ("VR608" in codes(after)) is (role is LockRole.DECIDES)
    assert ("VR620" in codes(after)) is (role is LockRole.UNASKED)
    assert "VR620" not in codes(before)
    required = codes(rendered(*edited, lock=lock, pins="require", **settings), errors=True)
    assert required == (["VR801"] if role is LockRole.UNASKED else [])


@pytest.mark.parametrize("emit", MODES)
@pytest.mark.parametrize("kind", OBSOLETE)
def test_no_mode_prints_a_definition_that_nobody_serves(kind: Any, emit: Any) -> None:
    found = rendered(OBSOLETE[kind], SOURCES["vmi"], emit=emit, kubevirt="1.9")
    row = DEFINITIONS[kind]
    outcome = row.unused.get(emit) or row.outcomes[emit]
    assert all(is_of_vm(resource) for resource in found.resources)
    if outcome.verdict == "left out":
        assert "VR504" in codes(found)
        assert codes(found, errors=True) == []
    else:
        assert codes(found, errors=True) == ["VR503"]


@pytest.mark.parametrize("emit", MODES)
def test_definition_of_an_older_version_is_printed_as_one_of_today(emit: Any) -> None:
    found = rendered(OLDER, USING_OLDER, emit=emit, kubevirt="1.9")
    assert codes(found, errors=True) == []
    versions = {resource["apiVersion"] for resource in found.resources}
    assert versions <= {"instancetype.kubevirt.io/v1beta1", "kubevirt.io/v1", "apps/v1", "v1"}


@pytest.mark.parametrize("emit", ["hashed", "revisions"])
def test_preference_of_flavors_is_emitted_under_another_name(emit: Any) -> None:
    machine = (
        SOURCES["vm"]
        .replace(
            "instancetype: {name: u1.medium}",
            "preference: {name: rng, kind: VirtualMachinePreference}",
        )
        .replace("devices: {}", "devices: {}, memory: {guest: 1Gi}")
    )
    preference = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachinePreference
metadata: {name: rng}
spec: {devices: {preferredRng: {}}}
"""
    found = rendered(machine, preference, emit=emit)
    assert codes(found) == ["VR501", "VR504"]
    assert not [
        resource for resource in found.resources if resource["apiVersion"].startswith("flavor")
    ]
    again = render(found.resources, Settings(emit=emit))
    assert again.resources == found.resources


def test_vm_of_v1alpha1_becomes_the_vmi_that_it_is() -> None:
    found = rendered(SOURCES["runtime"], PRESET)
    (body,) = found.resources
    assert (body["apiVersion"], body["kind"]) == ("kubevirt.io/v1", "VirtualMachineInstance")
    assert body["spec"]["domain"]["features"]["acpi"] == {"enabled": True}
    assert render(found.resources).resources == found.resources


def test_presets_of_today_reach_what_becomes_a_vmi_of_today() -> None:
    smm = NEW_PRESET.replace("{features: {acpi: {}}}", "{ioThreadsPolicy: auto}")
    found = rendered(SOURCES["runtime"], smm)
    assert domain(found)["ioThreadsPolicy"] == "auto"
    assert render(found.resources).resources == found.resources


def test_two_machines_that_become_one_object_are_an_error() -> None:
    found = rendered(SOURCES["store"], BIG, SOURCES["vm"])
    assert codes(found, errors=True) == ["VR103"]
    (diagnostic,) = (diagnostic for diagnostic in found.diagnostics if diagnostic.is_error)
    assert diagnostic.message == "VirtualMachine vm and VM vm are one object once they are rendered"


@pytest.mark.parametrize(
    ("machine", "preset", "near"),
    [
        (SOURCES["vm"], PRESET, ""),
        (labelled("vm"), NEW_PRESET, "presets look at those of its template"),
        (LABELLED_TEMPLATE, PRESET, "VMs of kubevirt.io/v1alpha1 only"),
        (labelled("vmi"), PRESET, "VMs of kubevirt.io/v1alpha1 only"),
    ],
    ids=["no labels", "labels of the VM", "a VM of today", "a VMI of today"],
)
def test_preset_that_reaches_nothing_is_said(machine: str, preset: str, near: str) -> None:
    found = rendered(machine, preset)
    assert "VR704" in codes(found)  # deprecated, whomever it reaches
    (diagnostic,) = (diagnostic for diagnostic in found.diagnostics if diagnostic.code == "VR712")
    assert [text for text in diagnostic.related if near in text.message] or not near


@pytest.mark.parametrize("preset", [PRESET, NEW_PRESET], ids=["old", "new"])
def test_preset_that_reaches_a_machine_is_only_deprecated(preset: str) -> None:
    machine = SOURCES["runtime"] if preset == PRESET else LABELLED_TEMPLATE
    found = rendered(machine, preset)
    assert codes(found).count("VR704") == 1
    assert "VR712" not in codes(found)


def test_preset_is_not_said_to_reach_nothing_where_a_pool_may_have_it() -> None:
    pool = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {name: pool}
spec: {virtualMachineTemplate: {spec: {template: {metadata: {labels: {size: wide}}}}}}
"""
    assert "VR712" not in codes(rendered(pool, NEW_PRESET, admission="off"))


@pytest.mark.parametrize(
    "texts",
    [
        (SOURCES["runtime"], PRESET),
        (SOURCES["store"], BIG_PRESET),
    ],
    ids=["selected", "named as a flavour"],
)
def test_where_presets_decide_it_is_said_that_they_are_not_pinned(texts: tuple[str, str]) -> None:
    found = rendered(*texts, pins="require")
    assert codes(found, errors=True) == []
    assert codes(found).count("VR618") == 1
    assert "VR618" not in codes(rendered(*texts))


@pytest.mark.parametrize("kind", ["flavored", "store"])
def test_flavors_are_required_to_be_pinned(kind: str) -> None:
    found = rendered(SOURCES[kind], BIG, pins="require")
    assert codes(found, errors=True) == ["VR606"]


def test_devices_may_be_null_in_v1alpha1() -> None:
    text = SOURCES["store"].replace("domain: {}", "domain: {devices: }")
    assert codes(rendered(text, BIG), errors=True) == []
    assert domain(rendered(text, BIG))["devices"] == {}


CLUSTER_BIG = BIG.replace("VirtualMachineFlavor", "VirtualMachineClusterFlavor")
BIG_INSTANCETYPE = OLDER.replace("name: small", "name: big").replace("v1alpha2", "v1beta1")


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        ((BIG,), (BIG.replace("cpu: {guest: 2}", "cpu: {guest: 7}"),), ["VR608"]),
        ((BIG,), (), ["VR609"]),
        ((BIG,), (CLUSTER_BIG,), ["VR608", "VR609"]),
        ((BIG,), (BIG_INSTANCETYPE,), ["VR608", "VR609"]),
        ((BIG,), (BIG, BIG_INSTANCETYPE), []),
        ((BIG_INSTANCETYPE,), (BIG, BIG_INSTANCETYPE), ["VR608"]),
        ((BIG,), (BIG, CLUSTER_BIG), ["VR608"]),
    ],
    ids=["edit", "gone", "moved", "another sort", "later sort", "earlier sort", "second"],
)
def test_a_flavour_that_means_something_else_is_said(
    before: tuple[str, ...], after: tuple[str, ...], messages: list[str]
) -> None:
    machine = SOURCES["store"]
    lock = lock_of(machine, *before)
    found = rendered(machine, *after, lock=lock, pins="require")
    assert domain(found) == domain(rendered(machine, *before))
    assert sorted(code for code in codes(found) if code.startswith("VR6")) == messages


@pytest.mark.parametrize("pins", ["auto", "require"])
@pytest.mark.parametrize("before", [(), (BIG_PRESET,)], ids=["no flavour", "a preset"])
@pytest.mark.parametrize("now", [BIG, BIG_INSTANCETYPE], ids=["a flavor", "an instancetype"])
def test_a_flavour_that_comes_to_mean_what_can_be_pinned_is_said(
    now: str, before: tuple[str, ...], pins: str
) -> None:
    stored = SOURCES["store"]
    lock = lock_of(stored if before else stored.replace(ANNOTATED, ""), *before)
    found = rendered(stored, now, *before, lock=lock, pins=pins)
    found_codes = [
        diagnostic.code for diagnostic in found.diagnostics if diagnostic.code.startswith("VR6")
    ]
    assert found_codes == (["VR606"] if pins == "require" else ["VR607"])
    assert codes(found, errors=True) == (["VR606"] if pins == "require" else [])
    after = rendered(stored, now, *before, lock=lock_of(stored, now, *before), pins="require")
    assert not [code for code in codes(after) if code.startswith("VR60")]


@pytest.mark.parametrize("pins", ["auto", "require"])
@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("store", "flavour: big", "flavour: other"),
        ("flavored", "flavor: {name: big,", "flavor: {name: other,"),
        ("flavored", "flavor: {name: big, kind: VirtualMachineFlavor", "instancetype: {name: u1.medium"),
        ("vm", "instancetype: {name: u1.medium", "flavor: {name: big, kind: VirtualMachineFlavor"),
    ],
)  # fmt: skip
def test_a_matcher_of_another_object_ends_the_pin_of_a_flavor(
    kind: str, old: str, new: str, pins: str
) -> None:
    objects = (BIG, BIG.replace("name: big", "name: other").replace("guest: 2}", "guest: 5}"))
    lock = lock_of(SOURCES[kind], *objects)
    changed = SOURCES[kind].replace(old, new)
    assert changed != SOURCES[kind]
    found = rendered(changed, *objects, lock=lock, pins=pins)
    assert [
        diagnostic.code for diagnostic in found.diagnostics if diagnostic.code.startswith("VR6")
    ] == ["VR607"]
    assert codes(found, errors=True) == (["VR607"] if pins == "require" else [])
    assert domain(found) == domain(rendered(changed, *objects))


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (SOURCES["flavored"], BIG),
        (SOURCES["flavored"].replace("VirtualMachineFlavor", "VirtualMachineClusterFlavor"), CLUSTER_BIG),
        (SOURCES["store"], BIG),
        (SOURCES["store"], CLUSTER_BIG),
        (SOURCES["store"], BIG_INSTANCETYPE),
        (SOURCES["store"], OLDER.replace("name: small", "name: big")),
        (
            SOURCES["store"],
            NEW_PRESET.replace("name: wide", "name: big").replace(
                "{features: {acpi: {}}}", "{memory: {guest: 1Gi}, devices: {}}"
            ),
        ),
        (SOURCES["runtime"], PRESET),
        (LABELLED_TEMPLATE, NEW_PRESET.replace("{features: {acpi: {}}}", "{ioThreadsPolicy: auto, devices: {}}")),
        (USING_OLDER, OLDER),
    ],
)  # fmt: skip
def test_a_definition_of_each_kind_may_come_from_a_catalogue(machine: str, text: str) -> None:
    inside = rendered(machine, text)
    beside = rendered(machine, catalog=["bundled", *bodies(text)])
    assert codes(beside, errors=True) == []
    assert domain(beside) == domain(inside)
    assert not {"VR504", "VR704", "VR712"} & set(codes(beside))


def test_object_of_the_input_comes_before_one_of_the_catalogue() -> None:
    other = bodies(BIG.replace("guest: 2}", "guest: 9}"))
    for kind in ("flavored", "store"):
        assert domain(rendered(SOURCES[kind], BIG, catalog=other))["cpu"]["sockets"] == 2
    preset = NEW_PRESET.replace("{features: {acpi: {}}}", "{ioThreadsPolicy: auto, devices: {}}")
    other = bodies(preset.replace("auto", "shared"))
    assert domain(rendered(LABELLED_TEMPLATE, preset, catalog=other))["ioThreadsPolicy"] == "auto"


@pytest.mark.parametrize("number", ["fifteen", '"0"', "-3", '""', "0"])
def test_number_of_the_store_that_is_none_is_said(number: str) -> None:
    text = SOURCES["store"].replace("flavour: big", f"flavour: big, kubevirt.io/revision: {number}")
    (diagnostic,) = (
        diagnostic for diagnostic in rendered(text, BIG).diagnostics if diagnostic.code == "VR619"
    )
    assert (
        diagnostic.message
        == "kubevirt.io/revision is no number from 1: a lock begins to count at 1"
    )
    assert "VR619" not in codes(rendered(SOURCES["store"], BIG))


def test_flavour_without_a_name_is_an_error_of_its_own() -> None:
    found = rendered(SOURCES["store"].replace("flavour: big", 'flavour: ""'), BIG)
    assert [diagnostic.message for diagnostic in found.diagnostics if diagnostic.is_error] == [
        "the flavour has no name"
    ]


def test_fault_of_a_stored_vm_is_said_once_where_its_author_wrote_it() -> None:
    text = SOURCES["store"].replace(
        "domain: {}", "domain: {devices: {disks: [{name: x, disk: {}}]}}"
    )
    found = [diagnostic for diagnostic in rendered(text, BIG).diagnostics if diagnostic.is_error]
    assert [(item.check, item.field) for item in found] == [
        ("disks/volume", "spec.domain.devices.disks[0].name")
    ]


REVISION = """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {{name: stored}}
data: {data}
revision: 0
"""


def test_revision_may_hold_a_whole_flavor() -> None:
    held = (
        "{apiVersion: flavor.kubevirt.io/v1alpha1, kind: VirtualMachineFlavor, metadata: {name: big},"
        " spec: {cpu: {guest: 3}, memory: {guest: 3Gi}}}"
    )
    machine = SOURCES["flavored"].replace("{name: big,", "{name: big, revisionName: stored,")
    found = rendered(machine, BIG, REVISION.format(data=held))
    assert codes(found, errors=True) == []
    assert domain(found)["cpu"]["sockets"] == 3
    (stamp,) = (
        resource["metadata"]["annotations"]["virt-render.dev/flavor"]
        for resource in found.resources
        if resource["metadata"]["name"] == "vm"
    )
    assert stamp.startswith("VirtualMachineFlavor/big@")


def test_revision_that_holds_another_object_of_flavors_is_unfit() -> None:
    held = "{apiVersion: flavor.kubevirt.io/v1alpha1, kind: Other, metadata: {name: big}}"
    machine = SOURCES["flavored"].replace("{name: big,", "{name: big, revisionName: stored,")
    assert "VR208" in codes(rendered(machine, BIG, REVISION.format(data=held)), errors=True)


def test_stamp_names_what_an_old_revision_does_not() -> None:
    held = (
        "{apiVersion: instancetype.kubevirt.io/v1alpha1,"
        " spec: eyJjcHUiOnsiZ3Vlc3QiOjJ9LCJtZW1vcnkiOnsiZ3Vlc3QiOiIyR2kifX0=}"
    )
    machine = USING_OLDER.replace("{name: small,", "{name: small, revisionName: stored,")
    found = rendered(machine, REVISION.format(data=held))
    (vm,) = (resource for resource in found.resources if resource["kind"] == "VirtualMachine")
    stamp = vm["metadata"]["annotations"]["virt-render.dev/instancetype"]
    assert stamp.startswith("VirtualMachineInstancetype/small@")


def test_flavor_and_its_preference_are_followed_where_kustomize_renamed_them() -> None:
    preference = BIG.replace("Flavor", "Preference").partition("spec:")[0]
    preference += "spec: {devices: {preferredRng: {}}}\n"
    machine = SOURCES["flavored"].replace(
        "  flavor:", "  preference: {name: big, kind: VirtualMachinePreference}\n  flavor:"
    )
    objects = bodies(machine, SOURCES["store"].replace("name: vm", "name: stored"), BIG, preference)
    for body in objects:
        metadata = body["metadata"]
        metadata.setdefault("annotations", {}).update(
            {
                "internal.config.kubernetes.io/previousNames": metadata["name"],
                "internal.config.kubernetes.io/previousNamespaces": "default",
                "internal.config.kubernetes.io/previousKinds": body["kind"],
            }
        )
        metadata["name"] = f"dev-{metadata['name']}"
    found = render(objects)
    assert codes(found, errors=True) == []
    for body in found.resources:
        assert body["spec"]["template"]["spec"]["domain"]["memory"]["guest"] == "2Gi"


@pytest.mark.parametrize(("written", "first"), [("15", 15), ('"15"', 15), ("many", 1), ("-3", 1)])
def test_first_pin_goes_on_from_the_number_of_the_store(written: str, first: int) -> None:
    text = SOURCES["store"].replace("big}", f"big, kubevirt.io/revision: {written}}}")
    resources = [from_body(body, index) for index, body in enumerate(bodies(text, BIG))]
    lock = pinning.pin(resources, Settings()).lock
    assert lock.pins["vm"].revision == first
    found = rendered(text, BIG, lock=lockfile.document(lock))
    (body,) = found.resources
    assert body["metadata"]["annotations"]["virt-render.dev/revision"] == str(first)
    assert ("VR619" in codes(found)) is (first != 15)
    later = lockfile.document(lock._replace(pins={"vm": lock.pins["vm"]._replace(revision=16)}))
    found_codes = [
        diagnostic.message
        for diagnostic in rendered(text, BIG, lock=later).diagnostics
        if diagnostic.code == "VR619"
    ]
    assert [item.startswith("the lock counts revision 16") for item in found_codes] == [first == 15]


def test_the_hash_of_a_flavor_does_not_depend_on_the_release() -> None:
    flavored, flavor = SOURCES["flavored"], BIG.replace("memory:", "gpus: [], memory:")
    found = [rendered(flavored, flavor, kubevirt=release) for release in ("1.4", "1.8", "1.9")]
    stamps = [item.resources[0]["metadata"]["annotations"] for item in found]
    assert len({stamp["virt-render.dev/flavor"] for stamp in stamps}) == 1


@pytest.mark.parametrize(("metadata", "name"), [("name: other", "other"), ("labels: {}", "stored")])
def test_stamp_names_a_preference_of_flavors_as_its_revision_does(metadata: str, name: str) -> None:
    held = (
        f"{{apiVersion: flavor.kubevirt.io/v1alpha1, kind: VirtualMachinePreference, metadata: {{{metadata}}},"
        " spec: {devices: {preferredDiskBus: sata}}}"
    )
    matcher = "preference: {name: odd, kind: VirtualMachinePreference, revisionName: stored}"
    machine = SOURCES["vm"].replace("  instancetype:", f"  {matcher}\n  instancetype:")
    found = rendered(machine, REVISION.format(data=held))
    (vm,) = (resource for resource in found.resources if resource["kind"] == "VirtualMachine")
    stamp = vm["metadata"]["annotations"]["virt-render.dev/preference"]
    assert stamp.startswith(f"VirtualMachinePreference/{name}@")
