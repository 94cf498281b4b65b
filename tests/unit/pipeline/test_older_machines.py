"""Machines and definitions of every time: what each mode makes of them, and what is said."""

from pathlib import Path
from typing import Any, get_args

import pytest

from render import Rendered, Settings, render
from render.model.resource import from_body
from render.pipeline import outcomes, pinning
from render.pipeline.outcomes import DEFINITIONS, MACHINES, Verdict
from render.revisions import lockfile
from render.settings import Emit
from render.yaml.reader import read

MODES: tuple[Any, ...] = get_args(Emit)
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


def codes(found: Rendered, *, errors: bool = False) -> list[str]:
    return [one.code for one in found.diagnostics if one.is_error or not errors]


def domain(found: Rendered) -> dict[str, Any]:
    (body,) = (one for one in found.resources if one["metadata"]["name"] == "vm")
    spec = body["spec"].get("template", body)["spec"]
    held: dict[str, Any] = spec["domain"]
    return held


def test_no_combination_is_unsaid() -> None:
    assert MACHINES.keys() == SOURCES.keys()
    for row in (*MACHINES.values(), *DEFINITIONS.values()):
        assert set(row.outcomes) == set(MODES)
        assert all(outcome.words for outcome in row.outcomes.values())


def test_documentation_has_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs" / "emit.md").read_text(encoding="utf-8")
    for row in (*MACHINES.values(), *DEFINITIONS.values()):
        assert row.title in text


@pytest.mark.parametrize("emit", MODES)
@pytest.mark.parametrize("kind", SOURCES)
def test_each_mode_does_with_each_machine_what_the_table_says(kind: Any, emit: Any) -> None:
    """No mode prints a machine that it did not render, and none that no cluster serves."""
    assert outcomes.machine_kind(from_body(bodies(SOURCES[kind])[0], 0)) == kind
    verdict = MACHINES[kind].outcomes[emit].verdict
    found = rendered(SOURCES[kind], *([BIG] if kind in ("flavored", "store") else []), emit=emit)
    if verdict is Verdict.REFUSED:
        expected = "VR105" if (kind, emit) == ("flavored", "expand") else "VR503"
        assert expected in codes(found, errors=True)
        return
    machines = [one for one in found.resources if one["metadata"]["name"] == "vm"]
    assert len(machines) == 1
    assert machines[0]["apiVersion"] == "kubevirt.io/v1"
    if verdict is Verdict.LEFT:
        assert machines == bodies(SOURCES[kind])
    else:
        assert codes(found, errors=True) == []
        assert machines[0]["kind"] in ("VirtualMachine", "VirtualMachineInstance")
        assert "flavor" not in machines[0]["spec"]


@pytest.mark.parametrize("emit", MODES)
@pytest.mark.parametrize("kind", OBSOLETE)
def test_no_mode_prints_a_definition_that_nobody_serves(kind: Any, emit: Any) -> None:
    found = rendered(OBSOLETE[kind], SOURCES["vmi"], emit=emit, kubevirt="1.9")
    outcome = DEFINITIONS[kind].outcomes[emit]
    outcome = outcome.unused or outcome
    assert not [one for one in found.resources if one["metadata"]["name"] != "vm"]
    if outcome.verdict is Verdict.OMITTED:
        assert "VR504" in codes(found)
        assert codes(found, errors=True) == []
    else:
        assert codes(found, errors=True) == ["VR503"]


@pytest.mark.parametrize("emit", MODES)
def test_definition_of_an_older_version_is_printed_as_one_of_today(emit: Any) -> None:
    found = rendered(OLDER, USING_OLDER, emit=emit, kubevirt="1.9")
    assert codes(found, errors=True) == []
    versions = {one["apiVersion"] for one in found.resources}
    assert versions <= {"instancetype.kubevirt.io/v1beta1", "kubevirt.io/v1", "apps/v1"}


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
    assert not [one for one in found.resources if one["apiVersion"].startswith("flavor")]
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
    (one,) = (one for one in found.diagnostics if one.is_error)
    assert one.message == "VirtualMachine vm and VM vm are one object once they are rendered"


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
    (one,) = (one for one in found.diagnostics if one.code == "VR712")
    assert [text for text in one.related if near in text.message] or not near


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
        (
            SOURCES["store"],
            NEW_PRESET.replace("name: wide", "name: big")
            .replace("{size: wide}", "{no: vm}")
            .replace("{features: {acpi: {}}}", "{memory: {guest: 1Gi}, devices: {}}"),
        ),
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
        one["metadata"]["annotations"]["virt-render.dev/flavor"]
        for one in found.resources
        if one["metadata"]["name"] == "vm"
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
    (vm,) = (one for one in found.resources if one["kind"] == "VirtualMachine")
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
    assert "VR619" not in codes(found)
    later = lockfile.document(lock._replace(pins={"vm": lock.pins["vm"]._replace(revision=16)}))
    assert ("VR619" in codes(rendered(text, BIG, lock=later))) is (first == 15)
