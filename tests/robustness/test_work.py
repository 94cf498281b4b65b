"""How much work is done, counted and not timed: what is imported, and how calls grow with the input."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from render import rules
from render.frontends import execute
from render.frontends.request.request import Call
from render.manifests.documents import Documents
from render.manifests.sources import loading
from render.manifests.sources.reading import Reading
from render.model.release import VERSIONS
from render.model.resource import Resource, from_body
from render.pipeline.capacity import fleet as fleet_of_pods
from render.pipeline.factor import retirement
from render.pipeline.factor.fleet import FactorOptions, Factory
from render.pipeline.migration import plan as migration_plan
from render.pipeline.run import run
from render.settings import Settings
from render.yaml import writer
from render.yaml.budget import Limits
from scripts.bench import fleet
from scripts.bench.fleet import Tree
from tests.conftest import ROOT
from tests.support.calls import calls_of_ours

#: dataclasses and inspect cost as much as a hundred modules of ours, typing as much as forty.
HEAVY = {"click", "jsonschema", "ruamel.yaml", "dataclasses", "inspect", "typing", "_ruamel_yaml"}
#: What few VMs need, or another way of input: the figures of a cold start are made without any of it.
RARE = {
    f"render.{name}"
    for name in (
        "apply.flavor", "admission.configuration", "convert.flavors", "convert.hyperconverged", "convert.presets",
        "convert.templates", "diff", "kubevirt.vmi_controller", "launcher", "manifests.charts.helm",
        "manifests.boxed.kustomize", "manifests.repository.neighbours",
        "manifests.blame.origins", "manifests.blame.patches", "manifests.repository.roots",
        "manifests.charts.templating", "model.provenance",
        "pipeline.drift", "pipeline.input.cluster_settings",
        "kubevirt.controller_revisions", "pipeline.input.elsewhere", "legacy.decoding",
        "pipeline.input.lock_in_force", "pipeline.lock_roles", "pipeline.reach", "pipeline.stages.companions",
        "legacy.defaults", "legacy.flavours", "pipeline.stages.flavors",
        "kubevirt.replicas", "kubevirt.preset_mutator", "pipeline.templates",
        "presets", "report.findings", "report.impact", "report.tested", "revisions.lockfile", "system.programs.box",
        "system.programs.processes", "system.writing",
    )
}  # fmt: skip
#: How many modules of ours a VM may take that has nothing rare: finding and loading one costs a seven hundredth of it.
MODULES = {"off": 163, "full": 210}
LOADED = """
import sys
from render.frontends import dispatch
status = dispatch.invoke(sys.argv[1:])
print(status, *sorted(sys.modules), file=sys.stderr)
"""


def modules(words: list[str], stdin: str = "") -> tuple[int, set[str]]:
    """The exit status, and what was imported on the way."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], cwd=ROOT, input=stdin, capture_output=True, check=True, encoding="utf-8"
    )  # fmt: skip
    status, *names = done.stderr.splitlines()[-1].split()
    return int(status), set(names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository."""
    path = tmp_path_factory.mktemp("fleet")
    fleet.write(str(path), Tree(3))
    (path / "kustomization.yaml").unlink()
    return path


@pytest.mark.parametrize("command", ["build", "check --guest off", "argocd generate", "krm"])
def test_a_rendering_imports_nothing_heavy(command: str, folder: Path) -> None:
    words, stdin = [*command.split(), str(folder)], ""
    if command == "krm":
        items = [document.body for document in load(folder).documents]
        body = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
        words, stdin = ["krm"], writer.dump(body)
    status, loaded = modules(words, stdin)
    assert status == 0
    assert "render.pipeline.order" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("admission", ["off", "full"])
def test_a_cold_start_imports_what_its_vm_needs(admission: str, folder: Path) -> None:
    assert all(find_spec(name) for name in RARE), "a name that is no module guards nothing"
    status, loaded = modules(["build", str(folder), "--admission", admission])
    assert status == 0
    assert loaded & RARE == set()
    ours = sorted(name for name in loaded if name.split(".")[0] == "render")
    assert len(ours) <= MODULES[admission], f"a module more has to be worth it: {' '.join(ours)}"


QUOTED = """
import gc, sys, typing
from render.frontends import dispatch
dispatch.invoke(sys.argv[1:])
print(*(one.__forward_arg__ for one in gc.get_objects() if type(one) is typing.ForwardRef), file=sys.stderr)
"""


def test_a_cold_start_compiles_no_annotation(folder: Path) -> None:
    """The first quoted type of a tuple's field costs as much as fourteen tuples: Python makes its syntax tree ready."""
    command = [sys.executable, "-c", QUOTED, "build", "-q", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    assert done.stderr.strip() == ""


def test_the_door_imports_nothing_but_itself() -> None:
    code = "import sys, render.frontends.dispatch; print(*(m for m in sys.modules if m.startswith('render')))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    assert "render.pipeline" not in done.stdout.split()


def load(path: Path) -> Documents:
    return loading.load([str(path)], Reading(Limits(), kustomize="never"))


@pytest.fixture(scope="module", params=["off", "full"])
def admission(request: pytest.FixtureRequest) -> str:
    """What of KubeVirt's admission is checked."""
    return str(request.param)


@pytest.fixture(scope="module")
def counted(admission: str, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Counter[str]]:
    """The calls of whole renderings, by the number of VMs; the first run, which fills memos, does not count."""
    found = {}
    for vms in (50, 50, 100, 200):
        path = tmp_path_factory.mktemp("fleet")
        fleet.write(str(path), Tree(vms))
        call = Call(
            "build",
            (str(path),),
            {"--kustomize": "never", "--output": str(path / "out.yaml"), "--admission": admission},
        )
        rules._bound.clear()  # noqa: SLF001 - made for these objects, and full at any time after other tests
        found[vms] = calls_of_ours(lambda call=call: execute.execute(call, {}))  # type: ignore[misc]
    return found


def test_work_grows_in_proportion(counted: dict[int, Counter[str]]) -> None:
    for name in counted[200]:
        first, second = (
            counted[100][name] - counted[50][name],
            counted[200][name] - counted[100][name],
        )
        assert second <= 2.1 * first + 60, (
            name
        )  # lines are remembered, so that some work is less than linear


def test_work_a_machine(admission: str, counted: dict[int, Counter[str]]) -> None:
    """A quarter above what it takes today: whoever adds a walk over every tree should notice."""
    assert (counted[200].total() - counted[100].total()) / 100 < CALLS[admission]


CALLS = {"off": 920, "full": 1600}


def test_overlays_share_what_is_known_of_their_base(kustomize: str, tmp_path: Path) -> None:
    found: dict[int, Counter[str]] = {}
    for count in (3, 3, 6):
        path = tmp_path / f"repository-{len(found)}-{count}"
        fleet.write_overlays(str(path), count)
        call = Call("check", (str(path),), {"--kustomize": kustomize})
        found[count] = calls_of_ours(lambda call=call: execute.execute(call, {}))  # type: ignore[misc]
    more = found[6] - found[3]
    assert more["rules.py:Bound.__init__"] == 0
    looked_up = "manifests/repository/neighbours.py:_in_namespace"
    assert found[6][looked_up] == 2 * found[3][looked_up]
    assert more["manifests/kustomization.py:load"] == 3
    assert more["yaml/reader.py:read"] == 2 * 3  # the overlay, and what is made of it
    assert more["guest/texts.py:user_data"] == 0


def test_few_of_the_entries_that_lead_nowhere_are_looked_for(
    kustomize: str, tmp_path: Path
) -> None:
    """Each was compared with all names around, after all others were resolved: a thousand took fifteen seconds."""
    found: list[Counter[str]] = []
    for count in (200, 200, 400):
        top = tmp_path / f"{len(found)}"
        for folder in (".git", "app", *(f"other-{number}" for number in range(50))):
            (top / folder).mkdir(parents=True)
        entries = "".join(f"- ../base-{number}\n" for number in range(count))
        (top / "app" / "kustomization.yaml").write_text(f"resources:\n{entries}")
        call = Call("check", (str(top),), {"--kustomize": kustomize})
        found.append(calls_of_ours(lambda call=call: execute.execute(call, {})))  # type: ignore[misc]
    _, first, second = found
    assert first["manifests/blame/missing.py:near"] == second["manifests/blame/missing.py:near"] > 1
    assert first["model/nearest.py:is_slip"] == second["model/nearest.py:is_slip"] > 1
    assert second["system/files.py:real_path"] <= 2.1 * first["system/files.py:real_path"]


def test_no_folder_of_a_hidden_one_is_resolved_anew(tmp_path: Path) -> None:
    """Each step of the way was looked at again, from the root: 500 folders below 700 took a minute."""
    found: list[Counter[str]] = []
    for count in (10, 10, 50):
        top = tmp_path / f"{len(found)}"
        for number in range(count):
            (top / ".hidden" / f"{number}").mkdir(parents=True)
            (top / ".hidden" / f"{number}" / "note.txt").write_text("")
        (top / ".git").mkdir()
        fleet.write(str(top), Tree(1))
        call = Call("check", (str(top),), {"--kustomize": "never"})
        found.append(calls_of_ours(lambda call=call: execute.execute(call, {})))  # type: ignore[misc]
    _, first, second = found
    assert first["manifests/sources/hidden.py:look"] == 1
    assert first["system/files.py:real_path"] == second["system/files.py:real_path"]


def test_a_page_reads_a_kustomization_once_for_all_of_its_files(
    kustomize: str, tmp_path: Path
) -> None:
    """A kustomization without a patch had none known, and so was read anew for each object."""
    fleet.write(str(tmp_path), Tree(30))
    call = Call(
        "report",
        (str(tmp_path),),
        {"--kustomize": kustomize, "--output": str(tmp_path / "fleet.html")},
    )
    done = calls_of_ours(lambda: execute.execute(call, {}))
    assert done["manifests/blame/patches.py:PatchedBuild._looked_up"] >= 30
    assert done["manifests/blame/patches.py:_patches"] == 1
    assert done["manifests/kustomization.py:load"] <= 10


def test_only_rules_with_something_to_say_are_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = load(folder).documents
    resources = [from_body(document.body, index) for index, document in enumerate(documents)]
    requested: list[int] = []
    bound = rules.bound

    def counted(*stated: Any) -> rules.Bound:
        requested.append(len(bound(*stated).steps))
        return bound(*stated)

    monkeypatch.setattr(rules, "bound", counted)
    run(resources, Settings())
    machines = sum(resource.kind == "VirtualMachine" for resource in resources)
    assert machines == 3
    assert 0 < sum(requested) / machines <= 16


def presets_and_machines(count: int, labels: Callable[[int], dict[str, str]]) -> list[Resource]:
    """As many presets as VMs in a namespace: each preset wants the labels of its number, each VM has them."""
    domain: dict[str, Any] = {"features": {"acpi": {}}, "devices": {}}
    bodies: list[dict[str, Any]] = []
    for number in range(count):
        instance = {"metadata": {"labels": labels(number)}, "spec": {"domain": {"devices": {}}}}
        specs: dict[str, Any] = {
            "VirtualMachineInstancePreset": {"selector": {"matchLabels": labels(number)}, "domain": domain},
            "VirtualMachine": {"runStrategy": "Always", "template": instance},
        }  # fmt: skip
        bodies += (
            {"apiVersion": "kubevirt.io/v1", "kind": kind, "metadata": {"name": f"n{number}"}, "spec": spec}
            for kind, spec in specs.items()
        )  # fmt: skip
    return [from_body(body, index) for index, body in enumerate(bodies)]


def test_releases_are_asked_only_for_what_a_machine_is_refused_for() -> None:
    """Where nobody says which one runs: with settings that each has read once for all machines."""
    template = {"spec": {"domain": {"devices": {"inputs": [{"name": "a", "type": "mouse"}]}}}}
    bodies: list[dict[str, Any]] = [
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": f"vm-{number}"},
            "spec": {"runStrategy": "Always", "template": template},
        }
        for number in range(20)
    ]
    bodies.append(
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "KubeVirt",
            "metadata": {"name": "kubevirt"},
            "spec": {"configuration": {"cpuModel": "host-model"}},
        }
    )
    resources = [from_body(body, index) for index, body in enumerate(bodies)]
    found = []
    done = calls_of_ours(lambda: found.append(run(resources, Settings())))
    assert sum(each.check == "inputs/type" for each in found[0].diagnostics) == 20
    assert done["model/cluster_config.py:from_kubevirt"] == 1 + len(VERSIONS)
    assert done["admission/checks.py:judged.<locals>.evaluate"] <= 20 * 20
    unrelated = "admission/vmi/domain/machine.py:_supported.<locals>.evaluate"
    assert done[unrelated] == 2 * 20, "of each as a VM and as a VMI, in the release that is assumed"


COMPILED = "model/apimachinery/selectors.py:compiled"
REQUESTED = "model/apimachinery/selectors.py:compiled.<locals>.<lambda>"


def test_presets_are_compared_once_for_all_machines_that_match_the_same() -> None:
    resources = presets_and_machines(30, lambda _: {"os": "any"})
    done = calls_of_ours(lambda: run(resources, Settings()))
    assert done["presets.py:merge"] == 30 * 30
    assert done["presets.py:differences"] == 30 * 30
    assert (done[COMPILED], done[REQUESTED]) == (30, 30 * 30)


def test_a_machine_asks_only_presets_that_may_select_it() -> None:
    resources = presets_and_machines(30, lambda number: {"os": "any", "app": f"n{number}"})
    done = calls_of_ours(lambda: run(resources, Settings()))
    assert (done[COMPILED], done[REQUESTED], done["presets.py:merge"]) == (30, 30, 30)


def test_a_selector_is_read_once_where_no_machine_is() -> None:
    inputs = presets_and_machines(3, lambda _: {"os": "any"})
    elsewhere = [
        from_body(
            {
                **document.body,
                "metadata": {"name": document.name, "namespace": document.kind.lower()},
            },
            document.index,
        )
        for document in inputs
    ]
    done = calls_of_ours(lambda: run(elsewhere, Settings()))
    assert (
        done["presets.py:index"] == 4
    )  # of the namespace with the VMs, and of each preset that reaches nothing
    assert done[COMPILED] == 3  # to say of each that it reaches nothing


def test_a_quota_is_compared_once_with_all_pods_that_are_alike() -> None:
    template = {"spec": {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}}}
    bodies: list[dict[str, Any]] = [
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": f"vm-{number}"},
            "spec": {"runStrategy": "Always", "template": template},
        }
        for number in range(40)
    ]
    bodies += (
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": f"quota-{number}"},
            "spec": {"hard": {"pods": "1"}},
        }
        for number in range(20)
    )
    resources = [from_body(body, index) for index, body in enumerate(bodies)]
    found = []
    counted = calls_of_ours(lambda: found.append(run(resources, Settings())))
    assert sum(each.code == "VR444" for each in found[0].diagnostics) == 20
    assert counted["pipeline/capacity/fleet.py:Capacity._judged_in"] <= 20 * len(VERSIONS)


def machines_and_quotas(count: int) -> list[Resource]:
    """So many VMs, each of another size, and as many quotas that are too small for them."""
    bodies: list[dict[str, Any]] = []
    for number in range(count):
        template = {"spec": {"domain": {"memory": {"guest": f"{1024 + number}Mi"}, "devices": {}}}}
        bodies += (
            {
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "metadata": {"name": f"vm-{number}"},
                "spec": {"runStrategy": "Always", "template": template},
            },
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": f"quota-{number}"},
                "spec": {"hard": {"pods": "1", "requests.memory": f"{number + 1}Mi"}},
            },
        )
    return [from_body(body, index) for index, body in enumerate(bodies)]


def test_machines_of_many_sizes_and_quotas_take_work_with_their_sum() -> None:
    work = []
    for count in (15, 30):
        resources = machines_and_quotas(count)
        found = []
        done = calls_of_ours(lambda: found.append(run(resources, Settings())))  # noqa: B023 - called at once
        assert sum(each.code == "VR444" for each in found[0].diagnostics) == count
        work.append(
            sum(
                number
                for name, number in done.items()
                if name.startswith(("room/", "model/apimachinery/quantity", "pipeline/capacity/"))
                and not name.endswith("<genexpr>")
            )
        )
    assert work[1] < 2.3 * work[0]


def test_comparisons_of_pods_with_quotas_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_of_pods, "MOST_COMPARED", 8)
    codes = [each.code for each in run(machines_and_quotas(3), Settings()).diagnostics]
    assert codes.count("VR111") == 1
    assert "VR444" not in codes  # the sums would be those of some VMs
    monkeypatch.setattr(fleet_of_pods, "MOST_COMPARED", 9)
    codes = [each.code for each in run(machines_and_quotas(3), Settings()).diagnostics]
    assert codes.count("VR444") == 3
    assert "VR111" not in codes


def test_a_migration_reads_each_machine_once_for_all_presets() -> None:
    resources = presets_and_machines(30, lambda number: {"app": f"n{number}"})
    done = calls_of_ours(lambda: list(migration_plan.plan(resources, Settings(), [])))
    assert done["legacy/decoding.py:decode"] == len(resources)


def factored_presets(count: int, labels: Callable[[int], dict[str, str]]) -> Counter[str]:
    """The calls of `factor` for as many presets as VMs."""
    settings = Settings(catalog="none", admission="off")
    resources = presets_and_machines(count, labels)
    factory = Factory(resources, settings, FactorOptions())
    return calls_of_ours(factory.factoring)


def test_factor_tries_the_machines_of_a_preset_alone() -> None:
    """All VMs were rendered again without each preset, and asked for their labels."""
    few, more = (
        factored_presets(count, lambda number: {"os": "any", "app": f"n{number}"})
        for count in (10, 20)
    )
    assert more["pipeline/run.py:run"] == few["pipeline/run.py:run"]
    assert more["pipeline/factor/retirement.py:_differing"] == 20
    for name in more:
        assert more[name] <= 2.1 * few[name] + 60, name


def test_factor_tries_presets_of_the_same_machines_within_a_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resources = presets_and_machines(4, lambda _: {"os": "any"})
    factory = Factory(resources, Settings(catalog="none", admission="off"), FactorOptions())
    step = len(resources) + 4 * 4  # a round has one of them, which all VMs have
    monkeypatch.setattr(retirement, "MOST_TRIAL_STEPS", 3 * step)
    found = factory.factoring().presets
    assert [preset.reason.partition(" more ")[0] for preset in found[3:]] == [
        "not tried: it would take"
    ]
    assert found[3].reason.endswith("steps in this input; name fewer folders")
    assert not any("not tried" in preset.reason for preset in found[:3])
