"""Input of which each further line or character would once have cost more than the one before.

Each is so large that work with its square takes hours. What is right takes a second, and so the bound is no measure of
speed: whatever the machine, one of the two is far beyond it.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.manifests import NAMESPACED, instancetype, vm
from tests.support.process import run

ENOUGH = 120
VM = vm("a", memory="1Gi")


def quantity() -> str:
    """Zeros that might belong to three parts of a quantity, and are none."""
    return vm(memory='"' + "0" * 50_000 + 'x"')


def placeholders() -> str:
    """Nothing but openings."""
    return vm(memory='"}}' + "{{" * 200_000 + '"')


def secret_key() -> str:
    """A line to be shown with a word that may be a key until its last letter."""
    return vm(memory="[" + "a" * 2_000_000)


def unknown_fields() -> str:
    """As many findings as keys of one mapping."""
    return VM + "".join(f"  k{number}: 1\n" for number in range(30_000))


def indented_list() -> str:
    """A finding in each item, and all of the lines above further in than the List's own."""
    lines = VM.replace("runStrategy", "runStrategyy").splitlines()
    item = "".join(f"  {'  ' if number else '- '}{line}\n" for number, line in enumerate(lines))
    items = "".join(item.replace("name: a", f"name: a{number}") for number in range(4000))
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


def merges() -> str:
    """A missing field that 2^60 ways lead to."""
    aliases = "".join(
        f"a{number}: &a{number} {{<<: [*a{number - 1}, *a{number - 1}]}}\n"
        for number in range(1, 60)
    )
    head = VM.partition("spec:")[0]
    return f"a0: &a0 {{runStrategy: Always}}\n{aliases}{head}spec:\n  <<: *a59\n"


def kinds() -> str:
    """A limit that is met where objects of a kind each merge the same mapping, and a line of it to be shown."""
    merged = "".join(f"  k{number}: 1\n" for number in range(20_000))
    items = "".join(f"- {{kind: K{number}, <<: *a}}\n" for number in range(20_000))
    return f"{VM}a: &a\n{merged}items:\n{items}"


FINDINGS: dict[Callable[[], str], str] = {
    quantity: "VR108",
    placeholders: "VR108",
    secret_key: "VR101",
    unknown_fields: "VR105",
    indented_list: "VR105",
    merges: "VR107",
    kinds: "VR111",
}


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(*words, cwd=cwd, timeout=ENOUGH)


@pytest.mark.parametrize("text", FINDINGS, ids=lambda text: text.__name__)
def test_findings(tmp_path: Path, text: Callable[[], str]) -> None:
    (tmp_path / "a.yaml").write_text(text(), encoding="utf-8")
    done = command("check", "a.yaml", cwd=tmp_path)
    status = 3 if FINDINGS[text] == "VR111" else 1
    assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr  # the last line
    assert f"error {FINDINGS[text]} " in done.stdout


def test_what_is_no_manifest(tmp_path: Path) -> None:
    """Each names KubeVirt once, since `check` leaves out what does not."""
    (tmp_path / "gaps.yaml").write_text(
        "a: [kubevirt.io\n" + "\n" * 200_000 + "x", encoding="utf-8"
    )
    templates = "# kubevirt.io\n" + 'x: {{ y }}\nz: "[\n---\n' * 60_000
    (tmp_path / "templates.yaml").write_text(templates, encoding="utf-8")
    (tmp_path / "vm.yaml").write_text(VM, encoding="utf-8")
    done = command("check", "-v", ".", cwd=tmp_path)
    assert "templates.yaml skipped: a template, not yet YAML" in done.stdout
    assert "gaps.yaml:1:4: error VR101" in done.stdout


def test_objects_in_two_files(tmp_path: Path) -> None:
    """Each finding is about both, and reading one of them again costs a lot."""
    count = 4000
    machine = vm("a", instancetype="a", kind=NAMESPACED, memory="1Gi")
    other = instancetype("a", kind=NAMESPACED)
    for name, text in (("vm.yaml", machine), ("instancetype.yaml", other)):
        texts = (text.replace("name: a", f"name: a{number}") for number in range(count))
        padding = f"# {'x' * 40_000_000}\n"
        (tmp_path / name).write_text(padding + "---\n".join(texts), encoding="utf-8")
    done = command("check", ".", cwd=tmp_path)
    assert done.stdout.count("error VR301") == count


def test_migrate(tmp_path: Path) -> None:
    """Blank lines behind a key that may be taken one by one or all at once."""
    preset = VM.replace("VirtualMachine", "VirtualMachineInstancePreset").partition("spec:")[0]
    gap = "\n" * 100_000
    preset += f"spec:\n{gap}  selector: {{}}\n  domain:\n    devices: {{}}\n    features:\n      acpi: {{}}\n"
    (tmp_path / "a.yaml").write_text(f"{preset}---\n{VM}", encoding="utf-8")
    done = command("migrate", "a.yaml", cwd=tmp_path)
    assert done.returncode == 0
    assert "kind: VirtualMachinePreference\n" in (tmp_path / "a.yaml").read_text(encoding="utf-8")
