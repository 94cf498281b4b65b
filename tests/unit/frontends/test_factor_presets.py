"""``virt-render factor`` and presets: definitions bring what these say, and presets that nobody needs go."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from render import FactorOptions, factor
from render.diff import compare
from render.frontends.dispatch import invoke
from render.model.types import VMI_TYPE
from render.presets import APPLIED
from tests.differential.test_factor import vmis
from tests.unit.frontends.test_factor import ROOT, objects, put, repository, texts, vm

__all__ = ("repository",)

PRESET = """\
# for clocks
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: clocked}
spec:
  selector: {matchLabels: {os: linux}}
  domain:
    devices: {}
    features: {smm: {}}
    clock: {utc: {}, timer: {hpet: {present: false}}}
"""
TOPOLOGY = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: sized}
spec:
  selector: {matchLabels: {os: linux}}
  domain:
    devices: {}
    cpu: {sockets: 2, cores: 1, threads: 1}
"""


def selected(name: str = "web", strategy: str = "Halted", **words: str) -> str:
    labels = "template:\n    metadata: {labels: {os: linux}}\n"
    return vm(name, **words).replace("template:\n", labels).replace("Always", strategy)


def unmarked(folder: Path) -> tuple[dict[Any, Any], Any]:
    """What VMs start, but for what says that presets were merged."""
    started, errors = vmis(objects(folder))
    for vmi in started.values():
        annotations = vmi["metadata"]["annotations"]
        for key in [annotation for annotation in annotations if annotation.startswith(APPLIED)]:
            del annotations[key]
    return started, errors


def same(before: Any, after: Any) -> bool:
    assert after[1] <= before[1]
    return before[0].keys() == after[0].keys() and all(
        compare.same(before[0][key], after[0][key], VMI_TYPE) for key in before[0]
    )


@pytest.mark.parametrize("strategy", ["Halted", "Always"])
@pytest.mark.parametrize("preset", [PRESET, TOPOLOGY], ids=["features", "cpu"])
def test_definitions_take_the_place_of_a_preset(
    repository: Path, capfd: pytest.CaptureFixture[str], strategy: str, preset: str
) -> None:
    text = selected(strategy=strategy)
    if preset is TOPOLOGY:
        text = text.replace("        cpu: {sockets: 2, cores: 1, threads: 1}\n", "")
    put(repository, {"vm.yaml": text, "preset.yaml": preset})
    before = unmarked(repository)
    restart = ["--restart"] if strategy == "Always" else []
    assert invoke(["factor", "--write", *restart, "."]) == 0
    out = capfd.readouterr().out
    assert "drop   VirtualMachineInstancePreset" in out
    assert "1 preset dropped" in out
    assert (repository / "preset.yaml").read_text() == ""
    assert same(before, unmarked(repository))
    assert invoke(["check", "--fail-on", "warning", "."]) == 0
    written = texts(repository)
    assert invoke(["factor", "--write", *restart, "."]) == 0
    assert texts(repository) == written


def test_a_preset_changes_no_template_of_a_vm_that_runs(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": selected(strategy="Always"), "preset.yaml": PRESET})
    assert invoke(["factor", "--write", "."]) == 0
    assert "bus: virtio" not in (repository / "vm.yaml").read_text()
    assert "preferredSmm" not in (repository / "definitions.yaml").read_text()
    assert (repository / "preset.yaml").read_text() == PRESET
    out = capfd.readouterr().out
    assert "keep   VirtualMachineInstancePreset clocked  preset.yaml:2:1" in out
    assert "VirtualMachine web would be without spec.domain.clock" in out
    assert "see --restart" in out


def test_of_two_presets_that_say_the_same_one_is_needed(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each alone could go."""
    other = PRESET.replace("clocked", "zoned")
    put(repository, {"vm.yaml": selected(strategy="Always"), "p.yaml": f"{PRESET}---\n{other}"})
    before = unmarked(repository)
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "p.yaml").read_text()
    assert text.count("kind: VirtualMachineInstancePreset") == 1
    assert same(before, unmarked(repository))
    capfd.readouterr()


OTHERS = {
    "vmi": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: bare, labels: {os: linux}}
spec: {domain: {devices: {}}}
""",
    "template": """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: bare}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: x}
  spec:
    runStrategy: Halted
    template:
      metadata: {labels: {os: linux}}
      spec: {domain: {devices: {}}}
""",
    "broken": selected("bare").replace("bus: virtio", "bus: nonsense"),
    "replicaset": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: bare}
spec:
  replicas: 1
  selector: {matchLabels: {os: linux}}
  template: {metadata: {labels: {os: linux}}, spec: {domain: {devices: {}}}}
""",
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("place", ["vm", "k/vm"])
def test_a_preset_that_something_else_may_need_stays(
    repository: Path, capfd: pytest.CaptureFixture[str], other: str, place: str
) -> None:
    files = {"vm.yaml": selected(), "preset.yaml": PRESET, f"{place}2.yaml": other}
    if place != "vm":
        files["k/kustomization.yaml"] = "namespace: default\nresources: [vm2.yaml]\n"
    put(repository, files)
    assert invoke(["factor", "--write", "."]) == 0
    assert (repository / "preset.yaml").read_text() == PRESET
    assert "keep   VirtualMachineInstancePreset clocked" in capfd.readouterr().out


def test_a_preset_beside_what_cannot_be_read_stays(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = {"k/a.yaml": vm("broken") + "a: [", "k/kustomization.yaml": "resources: [a.yaml]\n"}
    put(repository, {"vm.yaml": selected(), "preset.yaml": PRESET, **broken})
    assert invoke(["factor", "--write", "."]) == 3
    assert (repository / "preset.yaml").read_text() == PRESET
    assert "not all of the input could be read" in capfd.readouterr().out


def test_a_preset_in_a_kustomization_goes_and_it_still_builds(repository: Path) -> None:
    put(
        repository,
        {
            "k/vm.yaml": selected(),
            "k/presets.yaml": f"# ours\n\n{PRESET}---\n{PRESET.replace('linux', 'other').replace('clocked', 'other')}",
            "k/kustomization.yaml": "resources: [vm.yaml, presets.yaml]\n",
        },
    )
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "k/presets.yaml").read_text()
    assert text.startswith("# ours\n\n---\n# for clocks\n")
    assert "clocked" not in text
    assert "name: other" in text
    assert invoke(["build", "k"]) == 0


def test_a_preset_that_a_patch_looks_for_stays_and_the_vms_are_written(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    patch = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstancePreset\n"
        "metadata: {name: clocked}\nspec: {domain: {features: {smm: {enabled: true}}}}\n"
    )
    kustomization = "resources: [vm.yaml, preset.yaml]\npatches: [{path: patch.yaml}]\n"
    put(
        repository,
        {
            "k/vm.yaml": selected(),
            "k/preset.yaml": PRESET,
            "k/patch.yaml": patch,
            "k/kustomization.yaml": kustomization,
        },
    )
    assert invoke(["factor", "--write", "."]) == 0
    assert (repository / "k/preset.yaml").read_text() == PRESET
    assert "preference" in (repository / "k/vm.yaml").read_text()
    assert "not written: " in capfd.readouterr().out


def test_a_preset_in_a_list_is_left_to_the_reader(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    items = PRESET.replace("# for clocks\n", "").replace("\n", "\n  ").rstrip()
    text = f"apiVersion: v1\nkind: List\nitems:\n- {items}\n"
    put(repository, {"vm.yaml": selected(), "p.yaml": text})
    assert invoke(["factor", "--write", "."]) == 0
    assert (repository / "p.yaml").read_text() == text
    assert "preference" in (repository / "vm.yaml").read_text()
    out = capfd.readouterr().out
    assert "what it selects (1 object) starts the same without it" in out
    assert "not written: it stands in a List with others: take it out by hand" in out


def test_a_preset_of_a_vm_that_is_not_written_stays(repository: Path) -> None:
    text = selected().replace("cpu: {sockets", "cpu: &c {sockets") + "---\n" + selected("b")
    base = {"base/vm.yaml": text, "base/kustomization.yaml": "resources: [vm.yaml]\n"}
    put(repository, base)
    for name in "ab":
        put(
            repository,
            {
                f"{name}/preset.yaml": PRESET,
                f"{name}/kustomization.yaml": "resources: [../base, preset.yaml]\n",
            },
        )
    before = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == before


def test_the_answer_says_what_becomes_of_presets(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": selected(), "preset.yaml": PRESET})
    assert invoke(["factor", "--format", "json", "--dry-run", "."]) == 0
    answer = json.loads(capfd.readouterr().out)
    jsonschema.validate(answer, json.loads((ROOT / "schemas/factor.schema.json").read_text()))
    (preset,) = answer["presets"]
    assert preset["written"] is True
    assert [user["name"] for user in preset["users"]] == ["web"]
    assert (repository / "preset.yaml").read_text() == PRESET


def test_in_python_presets_are_named_with_their_positions(repository: Path) -> None:
    put(repository, {"vm.yaml": selected(strategy="Always"), "preset.yaml": PRESET})
    bodies = objects(repository)
    for restart in (False, True):
        (preset,) = factor(bodies, options=FactorOptions(restart=restart)).presets
        assert bodies[preset.index]["kind"] == "VirtualMachineInstancePreset"
        assert bool(preset.reason) is not restart
