"""One budget for a run: what programs, aliases and findings cost together, whatever their number."""

import json
from pathlib import Path

import pytest

from render import Settings, compare, render
from render.frontends import dispatch
from render.manifests import kustomization
from render.model.release import NEWEST
from render.model.resource import from_body
from render.presets import Preset, index
from render.yaml.budget import MOST_ERRORS, Limits
from render.yaml.reader import read
from tests.support.manifests import put, vm
from tests.support.process import run

CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: many}}
spec:
  generators:
  - list: {{elements: [{elements}]}}
  template:
    metadata: {{name: 'a{{{{number}}}}'}}
    spec:
      source: {{repoURL: 'https://git.example.com/here.git', path: chart}}
      destination: {{namespace: 'n{{{{number}}}}'}}
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{path: ./folder, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""


def charts(folder: Path, count: int, template: str = "") -> None:
    """A chart, and an ApplicationSet that asks for it so many times."""
    (folder / ".git").mkdir()
    put(folder / "chart/Chart.yaml", CHART)
    put(folder / "chart/templates/vm.yaml", template + vm("web", memory="1Gi"))
    elements = ", ".join(f"{{number: '{number}'}}" for number in range(count))
    put(folder / "set.yaml", SET.format(elements=elements))


def errors(folder: Path, *words: str, exit_status: int) -> list[str]:
    """What `check` has to say against what is in *folder*."""
    done = run("check", ".", "--format", "json", *words, cwd=folder)
    assert done.returncode == exit_status, done.stderr
    return [
        diagnostic["message"]
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["severity"] == "error"
    ]


def test_an_application_set_that_asks_for_many_charts(tmp_path: Path, helm: str) -> None:
    charts(tmp_path, 8)
    words = ("--helm", helm, "--jobs", "1")
    found = errors(tmp_path, *words, "--max-builds", "5", exit_status=3)
    assert found == [
        "helm template chart: not started: this run has built 5 kustomizations and charts"
    ]
    assert errors(tmp_path, *words, "--max-builds", "8", exit_status=0) == []


def test_equal_uses_of_a_chart_or_folder_are_built_once(
    tmp_path: Path, helm: str, kustomize: str
) -> None:
    charts(tmp_path, 8)
    text = (tmp_path / "set.yaml").read_text()
    source, place = "path: chart}", "namespace: 'n{{number}}'"
    assert source in text
    assert place in text
    alike = text.replace(source, "path: chart, helm: {releaseName: a}}").replace(
        place, "namespace: n"
    )
    put(tmp_path / "set.yaml", alike)
    put(tmp_path / "folder/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "folder/vm.yaml", vm("b", memory="1Gi"))
    for name in ("c", "d"):
        put(tmp_path / f"flux-{name}.yaml", FLUX.format(name=name))
    words = ("--helm", helm, "--kustomize", kustomize, "--jobs", "2")
    assert errors(tmp_path, *words, "--max-builds", "2", exit_status=0) == []
    assert errors(tmp_path, *words, "--max-builds", "1", exit_status=3) != []


def test_what_programs_take_of_a_processor_together(tmp_path: Path, helm: str) -> None:
    charts(tmp_path, 20, "{{ range until 3000000 }}{{ end }}\n")
    words = ("--helm", helm, "--jobs", "1", "--max-build-seconds", "1")
    found = errors(tmp_path, *words, exit_status=3)
    assert found == [
        "helm template chart: not started: what was built before took 1 seconds of a processor"
    ]


def test_one_kustomization_takes_no_more_than_all_of_them_may(
    tmp_path: Path, kustomize: str
) -> None:
    names = [f"v{number}" for number in range(400)]
    put(tmp_path / "vm.yaml", "---\n".join(vm(name, memory="1Gi") for name in names))
    replacements = "".join(
        f"- source: {{kind: VirtualMachine, name: {name}, fieldPath: metadata.name}}\n"
        "  targets:\n  - select: {kind: VirtualMachine}\n"
        f"    fieldPaths: [metadata.annotations.{name}]\n    options: {{create: true}}\n"
        for name in names
    )
    put(tmp_path / "kustomization.yaml", f"resources: [vm.yaml]\nreplacements:\n{replacements}")
    (found,) = errors(tmp_path, "--kustomize", kustomize, "--max-build-seconds", "1", exit_status=3)
    assert "stopped, out of the seconds of a processor that were left for it" in found


def test_tests_start_programs_from_one_budget(tmp_path: Path, kustomize: str) -> None:
    for name in ("a", "b", "c"):
        put(tmp_path / name / "kustomization.yaml", "resources: [vm.yaml]\n")
        put(tmp_path / name / "vm.yaml", vm(name, memory="1Gi"))
        put(
            tmp_path / name / "x.virt-test.yaml",
            "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n"
            f"spec: {{expect: [{{vms: {name}, vm: {{spec: {{runStrategy: Always}}}}}}]}}\n",
        )
    done = run("test", ".", "--kustomize", kustomize, "--max-builds", "2", cwd=tmp_path)
    assert "not started: this run has built 2 kustomizations" in done.stdout + done.stderr


def test_findings_of_all_inputs_together(tmp_path: Path, kustomize: str) -> None:
    unknown = "".join(f"  k{number}: 1\n" for number in range(999))
    for place in range(13):
        put(tmp_path / f"p{place}/kustomization.yaml", "resources: [vm.yaml]\n")
        put(tmp_path / f"p{place}/vm.yaml", vm(f"v{place}", memory="1Gi") + unknown)
    found = errors(tmp_path, "--kustomize", kustomize, exit_status=3)
    assert MOST_ERRORS < len(found) <= MOST_ERRORS + 13
    assert "and 999 more errors" in found  # of each input that came too late


def test_findings_of_all_files_together(tmp_path: Path) -> None:
    broken = "kind: VirtualMachine # kubevirt.io\n  a: 1\n---\n" * 900
    for number in range(13):
        put(tmp_path / f"{number}.yaml", broken)
    found = errors(tmp_path, exit_status=3)
    assert MOST_ERRORS < len(found) <= MOST_ERRORS + 13


def test_errors_of_a_comparison_are_bounded_a_state() -> None:
    """Alike, so that none of the second state is new for lack of room in the first."""
    unknown = {f"k{number}": 1 for number in range(999)}
    bodies = [
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": f"v{number}"},
            "spec": {"runStrategy": "Always", "template": {"spec": {}}, **unknown},
        }
        for number in range(11)
    ]
    impact = compare(bodies, bodies)
    for state in (impact.before, impact.after):
        assert len([diagnostic for diagnostic in state if diagnostic.is_error]) == MOST_ERRORS + 1
    assert impact.new_errors == ()


def test_aliases_of_all_kustomizations_together(tmp_path: Path) -> None:
    """A little text each, of which aliases make as much as they may in one file."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 5)]
    for number in range(20):
        put(tmp_path / f"k{number}/kustomization.yaml", "\n".join((*lines, "resources: []\n")))
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    (found,) = errors(tmp_path, exit_status=3)
    assert found.endswith("read beside the objects expand to more than 2,000,000 values")


def test_kustomizations_that_lead_to_the_same_ones_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Overlays of one base, which is the last of a chain: each is followed through all of it."""
    (tmp_path / ".git").mkdir()
    put(tmp_path / "b0/kustomization.yaml", "resources: []\n")
    for number in range(1, 10):
        put(tmp_path / f"b{number}/kustomization.yaml", f"resources: [../b{number - 1}]\n")
        put(tmp_path / f"o{number}/kustomization.yaml", "resources: [../b9]\n")
    put(tmp_path / "vm.yaml", vm(memory="much"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kustomization, "_MOST_FOLLOWED", 50)
    dispatch.invoke(["check", "."])
    text = capfd.readouterr().out
    assert "error VR111 limit-exceeded: kustomizations lead to more than 50 others" in text
    assert "error VR108" in text
    monkeypatch.setattr(kustomization, "_MOST_FOLLOWED", 500)
    dispatch.invoke(["check", "."])
    assert "VR111" not in capfd.readouterr().out


@pytest.mark.parametrize("name", ["bytes", "errors"])
def test_another_state_has_limits_of_its_own_and_the_same_programs(name: str) -> None:
    first = Limits().of_run()
    second = first.of_state()
    assert first.budget is not None
    assert second.budget is not None
    assert second.budget.programs is first.budget.programs
    setattr(first.budget, name, 7)
    assert getattr(second.budget, name) == 0
    assert first.of_run().plain == second.plain


PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {{name: p{number}}}
spec: {{selector: {selector}, domain: {{devices: {{}}{domain}}}}}
---
"""
INSTANCE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {{name: v{number}, labels: {{app: a}}}}
spec: {{domain: {{devices: {{}}, memory: {{guest: 1Gi}}}}}}
---
"""
FEW = 60


@pytest.mark.parametrize(
    ("selector", "domain", "steps"),
    [
        ("{}", "", 21),
        ("{matchLabels: {app: a}}", "", 22),
        ("{matchExpressions: [{key: app, operator: Exists}]}", "", 22),
        ("{matchExpressions: [{key: app, operator: DoesNotExist}]}", "", 2),
        ("{}", ", resources: {requests: {example.com/a: 1}}", 31),
    ],
)
def test_many_presets_for_many_machines(
    selector: str, domain: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be had is an error of each machine, and all others are rendered as ever."""
    text = "".join(
        PRESET.format(number=number, selector=selector, domain=domain) for number in range(FEW)
    ) + "".join(INSTANCE.format(number=number) for number in range(FEW))
    bodies = [document.body for document in read(text.encode(), "f").documents]
    settings = Settings(emit="vmi")
    whole = render(bodies, settings)
    assert "VR111" not in {diagnostic.code for diagnostic in whole.diagnostics}
    monkeypatch.setattr("render.machine.MOST_PRESET_STEPS", FEW * steps * (FEW // 2))
    half = render(bodies, settings)
    refused = [diagnostic for diagnostic in half.diagnostics if diagnostic.code == "VR111"]
    assert len(refused) == FEW // 2
    assert all(diagnostic.is_error for diagnostic in refused)
    names = {diagnostic.resource and diagnostic.resource.name for diagnostic in refused}
    assert half.resources == [
        body for body in whole.resources if body["metadata"]["name"] not in names
    ]


def test_presets_with_labels_of_their_own_cost_no_product() -> None:
    """Each VM asks the presets that want one of its labels alone."""
    presets = "".join(
        PRESET.format(number=number, selector=f"{{matchLabels: {{app: a{number}}}}}", domain="")
        for number in range(FEW)
    )
    machines = "".join(
        INSTANCE.format(number=number).replace("app: a", f"app: a{number}") for number in range(FEW)
    )
    index_ = index(
        [
            Preset(from_body(document.body, number), document.body["spec"], {})
            for number, document in enumerate(read(presets.encode(), "f").documents)
        ],
        NEWEST,
    )
    labels = [
        document.body["metadata"]["labels"] for document in read(machines.encode(), "f").documents
    ]
    assert sum(map(index_.steps, labels)) == 2 * FEW
