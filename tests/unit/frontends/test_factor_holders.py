"""``virt-render factor`` of VMs that stand in templates and pools."""

import json
from pathlib import Path
from typing import Any

import pytest

from render import FactorOptions, Settings, factor, render
from render.frontends.dispatch import invoke
from render.model import tree
from render.model.edits import edited
from tests.differential.test_factor import same, vmis
from tests.unit.frontends.test_factor import objects, put, repository, texts

pytestmark = pytest.mark.process

__all__ = ("repository",)

TEMPLATE = """\
# ours
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: server}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata:
    name: ${NAME} # filled in
  spec:
    runStrategy: Always
    template:
      spec:
        domain:
          cpu: {sockets: 1, cores: N, threads: 1}
          memory: {guest: 2Gi}
          devices:
            disks:
            - name: root
              disk: {bus: "B"}
        volumes:
        - name: root
          containerDisk: {image: "${IMAGE}"}
parameters:
- {name: NAME, generate: expression, from: "server-[a-z0-9]{16}"}
- {name: IMAGE, required: true}
- {name: BUS, value: virtio}
- {name: CORES, value: "1"}
"""
POOL = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {name: web, namespace: prod}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  virtualMachineTemplate:
    metadata: {labels: {app: web}}
    spec:
      runStrategy: Always
      template:
        metadata: {labels: {app: web}}
        spec:
          domain:
            # so many
            cpu: {sockets: 3, cores: 1, threads: 1}
            memory: {guest: 5Gi}
            devices:
              disks: [{name: root, disk: {bus: virtio}}]
          volumes: [{name: root, containerDisk: {image: registry/disk}}]
"""


def template(cores: str = "1", bus: str = "virtio") -> str:
    return TEMPLATE.replace("cores: N", f"cores: {cores}").replace('bus: "B"', f'bus: "{bus}"')


def filled(folder: Path, *parameters: tuple[str, str]) -> Any:
    """What the VMs start that the template makes."""
    values = (("NAME", "one"), ("IMAGE", "registry/disk"), *parameters)
    return vmis(objects(folder), Settings(annotations=False, parameters=values))


def test_a_vm_of_a_template_is_factored_in_its_place(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"template.yaml": template()})
    before = filled(repository)
    assert invoke(["factor", "--write", "."]) == 0
    out = capfd.readouterr().out
    assert "new    Template server objects[0]  template.yaml:6:3" in out
    text = (repository / "template.yaml").read_text()
    assert "2Gi" not in text
    assert 'bus: "virtio"' not in text
    assert "name: u1.small" in text
    assert "name: ${NAME} # filled in" in text
    assert '{image: "${IMAGE}"}' in text
    definitions = (repository / "definitions.yaml").read_text()
    assert "kind: VirtualMachineClusterPreference" in definitions
    after = filled(repository)
    assert same(before[0], after[0])
    assert after[1] <= before[1]
    assert len(after[0]) == 1
    written = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == written
    assert "1 done" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["{generateName: server-}", "{name: 9.lives-}", "{name: Ä}"])
def test_a_template_may_have_any_name(
    repository: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    put(repository, {"template.yaml": template().replace("{name: server}", name)})
    assert invoke(["factor", "."]) == 0
    assert "u1.small" in capfd.readouterr().out


def test_errors_that_only_examples_have_are_said(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = template(bus="nonsense").replace("- {name: BUS, value: virtio}\n", "")
    put(repository, {"template.yaml": text})
    assert invoke(["factor", "."]) == 0
    out = capfd.readouterr().out
    assert "there are errors about it with examples of its parameters: " in out
    assert "nonsense" in out


def test_a_parameter_in_the_way_of_a_definition_is_named(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"template.yaml": template("'${{CORES}}'", "${BUS}")})
    before = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == before
    out = capfd.readouterr().out
    field = "objects[0].spec.template.spec.domain"
    assert f"{field}.cpu.cores: ${{{{CORES}}}} stands here, and an instancetype holds" in out
    assert f"{field}.devices.disks[0].disk.bus: ${{BUS}} stands here, and a preference" in out
    assert "template.yaml:15:" in out


@pytest.mark.parametrize("bus", ["virtio", "sata", "scsi"])
def test_what_fits_fits_whatever_is_filled_in(repository: Path, bus: str) -> None:
    """A preference that fills in a bus would do so where the parameter is empty."""
    put(repository, {"template.yaml": template(bus="${BUS}")})
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "template.yaml").read_text()
    assert "name: u1.small" in text
    assert 'bus: "${BUS}"' in text
    for value in (bus, ""):
        put(repository, {"template.yaml": template(bus="${BUS}")})
        before = filled(repository, ("BUS", value))
        put(repository, {"template.yaml": text})
        assert same(before[0], filled(repository, ("BUS", value))[0])


def test_a_whole_list_as_a_parameter_is_named(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = template().replace("cpu: {sockets: 1, cores: 1, threads: 1}", "cpu: ${{CPU}}")
    put(repository, {"template.yaml": text + "- {name: CPU}\n"})
    assert invoke(["factor", "."]) == 0
    assert "the parameter CPU stands for a whole list or mapping" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("matchers", "message"),
    [
        ("instancetype: {name: '${KIND}'}", "the parameter KIND decides its instancetype"),
        ("instancetype: {name: '${KIND}'}\n    preference: {name: linux}", "1 done"),
    ],
    ids=["one", "both"],
)
def test_a_parameter_may_decide_the_definition(
    repository: Path, capfd: pytest.CaptureFixture[str], matchers: str, message: str
) -> None:
    text = template().replace("runStrategy: Always", f"runStrategy: Always\n    {matchers}")
    put(repository, {"template.yaml": text + "- {name: KIND, required: true}\n"})
    assert invoke(["factor", "."]) == 0
    assert message in capfd.readouterr().out


def test_two_vms_of_a_template_are_told_apart(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    head, vm = template().split("objects:\n")
    vm, parameters = vm.split("parameters:\n")
    other = vm.replace("${NAME}", "${NAME}-b").replace("2Gi", "3Gi")
    put(repository, {"template.yaml": f"{head}objects:\n{vm}{other}parameters:\n{parameters}"})
    before = filled(repository)
    assert invoke(["factor", "--write", "--format", "json", "."]) == 0
    machines = json.loads(capfd.readouterr().out)["machines"]
    assert [machine["path"] for machine in machines] == ["objects[0]", "objects[1]"]
    assert all(machine["written"] for machine in machines)
    assert len(before[0]) == 2
    assert same(before[0], filled(repository)[0])


def test_presets_and_definitions_of_a_namespace_do_not_reach_a_template(repository: Path) -> None:
    """Nobody knows where its VMs will be."""
    preference = (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachinePreference\n"
        "metadata: {name: ours}\nspec: {devices: {preferredDiskBus: virtio}}\n"
    )
    preset = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstancePreset\nmetadata: {name: p}\n"
        "spec: {selector: {}, domain: {devices: {}, features: {smm: {}}}}\n"
    )
    put(repository, {"template.yaml": template(), "p.yaml": preference, "preset.yaml": preset})
    assert invoke(["factor", "--write", "--restart", "."]) == 0
    assert "name: ours" not in (repository / "template.yaml").read_text()
    assert "preferredSmm" not in (repository / "definitions.yaml").read_text()


def test_a_pool_wants_a_restart_and_so_a_word(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"pool.yaml": POOL})
    assert invoke(["factor", "--write", "."]) == 0
    assert (repository / "pool.yaml").read_text() == POOL
    assert "the pool restarts its VMs when their template is another one: see --restart" in (
        capfd.readouterr().out
    )
    before = vmis(objects(repository))
    assert invoke(["factor", "--write", "--restart", "."]) == 0
    assert "the pool restarts the VMs that it has made" in capfd.readouterr().out
    text = (repository / "pool.yaml").read_text()
    assert "# so many" in text
    assert "cpu3-5gi" in text
    assert "bus: virtio" not in text
    after = vmis(objects(repository))
    assert same(before[0], after[0])
    assert not after[1]
    assert invoke(["check", "--fail-on", "warning", "."]) == 0
    assert invoke(["factor", "--write", "--restart", "."]) == 0
    assert (repository / "pool.yaml").read_text() == text


@pytest.mark.parametrize(
    "change",
    [
        ("replicas: 3", "replicas: 0"),
        ("replicas: 3", "replicas: 3\n  updateStrategy: {opportunistic: {}}"),
        ("runStrategy: Always", "runStrategy: Halted"),
    ],
    ids=["empty", "opportunistic", "halted"],
)
def test_a_pool_that_restarts_nothing_needs_no_word(
    repository: Path, change: tuple[str, str]
) -> None:
    put(repository, {"pool.yaml": POOL.replace(*change)})
    assert invoke(["factor", "--write", "."]) == 0
    assert "cpu3-5gi" in (repository / "pool.yaml").read_text()


def test_in_python_edits_are_those_of_the_object_that_holds_the_vm(repository: Path) -> None:
    put(repository, {"pool.yaml": POOL})
    (pool,) = objects(repository)
    factoring = factor([pool], options=FactorOptions(restart=True))
    (machine,) = factoring.machines
    assert machine.index == 0
    assert machine.path == ("spec", "virtualMachineTemplate")
    assert machine.resource.kind == "VirtualMachinePool"
    assert {definition.users for definition in factoring.definitions} == {(machine.resource,)}
    after = edited(pool, machine.edits)
    assert tree.get(after, *machine.path, "spec", "instancetype", "name") == "cpu3-5gi"
    rendered = render([after, *(definition.body for definition in factoring.definitions)])
    assert not any(diagnostic.is_error for diagnostic in rendered.diagnostics)


@pytest.mark.parametrize("only", ["web", "VirtualMachinePool/prod/web"])
def test_a_pool_is_asked_for_by_its_name(repository: Path, only: str) -> None:
    put(repository, {"pool.yaml": POOL, "template.yaml": template()})
    assert invoke(["factor", "--write", "--restart", "--only", only, "."]) == 0
    assert "cpu3-5gi" in (repository / "pool.yaml").read_text()
    assert (repository / "template.yaml").read_text() == template()
