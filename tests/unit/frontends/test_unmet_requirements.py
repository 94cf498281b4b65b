"""What is said to a VM that lacks what its preference requires, and what no fix guesses."""

from pathlib import Path

import pytest

from render.frontends.dispatch import invoke
from tests.support.manifests import instancetype

PREFERENCE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {{name: p}}
spec:
  cpu: {cpu}
  requirements: {{memory: {{guest: 2Gi}}, cpu: {{guest: 4}}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web}}
spec:
  runStrategy: Always
  preference: {{name: p}}
  template: {{spec: {{domain: {{devices: {{}}, cpu: {topology}, memory: {{guest: {memory}}}}}}}}}
"""
PLACE = "spec.template.spec.domain.cpu"
SPREAD = "{preferredCPUTopology: spread}"


def checked(folder: Path, cpu: str, topology: str, memory: str) -> str:
    file = folder / "vm.yaml"
    file.write_text(PREFERENCE.format(cpu=cpu, topology=topology, memory=memory))
    assert invoke(["check", "--unsafe-fixes", str(file)]) == 1
    return file.read_text()


def test_memory_without_a_unit_is_for_its_author_to_mend(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """4096 of what, nobody knows: it was replaced by what the preference requires at least."""
    after = checked(tmp_path, "{}", "{sockets: 4}", "4096")
    assert "guest: 4096}" in after
    assert "help: the unit is missing, most likely: Mi or Gi\n" in capfd.readouterr().out


def test_memory_with_a_unit_is_raised(tmp_path: Path) -> None:
    file = tmp_path / "vm.yaml"
    file.write_text(PREFERENCE.format(cpu="{}", topology="{sockets: 4}", memory="1Gi"))
    assert invoke(["check", "--unsafe-fixes", str(file)]) == 0
    assert file.read_text().count("guest: 2Gi") == 2


@pytest.mark.parametrize(
    ("cpu", "topology", "cure"),
    [
        ("{}", "{cores: 8}", f"set {PLACE}.sockets to 4: cores do not count, and are better left out"),
        ("{preferredCPUTopology: cores}", "{cores: 2}", f"set {PLACE}.cores to 4"),
        (
            "{preferredCPUTopology: any}",
            "{cores: 2}",
            f"have cores, sockets, threads of {PLACE} make 4, multiplied",
        ),
        (
            SPREAD,
            "{threads: 8}",
            f"have sockets, cores of {PLACE} make 4, multiplied: threads do not count, and are better left out",
        ),
    ],
)  # fmt: skip
def test_the_help_says_which_field_counts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], cpu: str, topology: str, cure: str
) -> None:
    checked(tmp_path, cpu, topology, "2Gi")
    assert f"help: {cure}\n" in capfd.readouterr().out


def test_an_instancetype_without_the_amount_is_mended_first(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Others were offered, as if that one were too small."""
    texts = (
        instancetype("small").replace("  cpu:\n    guest: 1\n", "  cpu: {}\n"),
        instancetype("big", cpus=8),
    )
    machine = PREFERENCE.format(cpu="{}", topology="{}", memory="").replace(
        "domain: {devices: {}, cpu: {}, memory: {guest: }}", "domain: {devices: {}}"
    )
    file = tmp_path / "vm.yaml"
    wanted = machine.replace("  preference: ", "  instancetype: {name: small}\n  preference: ")
    file.write_text("---\n".join([*texts, wanted]))
    assert invoke(["check", str(file)]) == 1
    text = capfd.readouterr().out
    assert "help: mend VirtualMachineClusterInstancetype small first: it has no cpu.guest\n" in text
    assert "these would do" not in text
