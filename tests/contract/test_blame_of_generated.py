"""What a kustomization generates is told where its author wrote it: the file, the entry, the line of the variables."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support import manifests, process
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

SECRET = "k3ep-quiet"  # noqa: S105 - nobody's
USER_DATA = f"#cloud-config\npassword: {SECRET}\npackage_update: maybe\n"
VM = (
    manifests.vm("web", memory="1Gi")
    + """\
      volumes:
        - name: init
          cloudInitNoCloud:
            secretRef: {name: p-init}
"""
)
UNHASHED = "generatorOptions: {disableNameSuffixHash: true}\n"
ROWS = [
    ("files: [userdata=init.yaml]", "base/init.yaml:3:1"),
    ("files:\n      - userdata", "base/userdata:3:1"),
    (
        'literals:\n      - x=y\n      - "userdata=#cloud-config\\nx: ["',
        "base/kustomization.yaml:6:9",
    ),
]


@pytest.fixture
def repository(tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    for name, text in {
        "base/vm.yaml": VM,
        "base/init.yaml": USER_DATA,
        "base/userdata": USER_DATA,
        "base/init.env": f"other={SECRET}\nuserdata={SECRET}\n",
        "prod/kustomization.yaml": "resources: [../base]\nnamePrefix: p-\nnamespace: prod\n",
    }.items():
        manifests.put(tmp_path / name, text)
    return tmp_path


def generate(repository: Path, entry: str, kind: str = "secret") -> None:
    text = f"resources: [vm.yaml]\n{kind}Generator:\n  - name: init\n    {entry}\n{UNHASHED}"
    manifests.put(repository / "base/kustomization.yaml", text)


@pytest.mark.parametrize(("entry", "place"), ROWS)
def test_user_data_is_told_in_its_file(repository: Path, entry: str, place: str) -> None:
    generate(repository, entry)
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith(f"{place}: warning VR450 "), done.stdout
    assert SECRET not in done.stdout + done.stderr
    assert "[redacted]" not in done.stdout


def test_a_variable_is_told_in_its_line(repository: Path, ask: Ask) -> None:
    made = RepositoryInProcess(repository, ask)
    generate(repository, "envs: [init.env]")
    made.commit("a VM")
    made.write("base/init.env", "other=x\nuserdata=y\n")
    text = made.run("diff").stdout
    assert "  base/init.env:2:1 Secret prod/p-init data.userdata\n" in text
    assert SECRET not in text


def test_a_part_of_a_config_map_is_told_in_its_file(repository: Path) -> None:
    text = VM.replace("cloudInitNoCloud", "sysprep").replace("secretRef", "configMap")
    manifests.put(repository / "base/vm.yaml", text)
    manifests.put(repository / "base/init.yaml", "<unattend>\n  <settings>\n</unattend>\n")
    generate(repository, "files: [autounattend.xml=init.yaml]", "configMap")
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith("base/init.yaml:3:"), done.stdout


def test_diff_names_the_file(repository: Path, ask: Ask) -> None:
    made = RepositoryInProcess(repository, ask)
    generate(repository, "files: [userdata=init.yaml]")
    made.commit("a VM")
    made.write("base/init.yaml", USER_DATA.replace(SECRET, "ano+her"))
    text = made.run("diff").stdout
    assert "  base/init.yaml:1:1 Secret prod/p-init data.userdata\n" in text
    assert SECRET not in text


def test_a_name_with_a_hash_is_that_of_the_entry(repository: Path, kustomize: str) -> None:
    generate(repository, "files: [userdata=init.yaml]")
    file = repository / "base/kustomization.yaml"
    file.write_text(file.read_text().removesuffix(UNHASHED))
    command = [kustomize, "build", "prod"]
    built = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    (name,) = re.findall(r"name: (p-init-\w{10})\n", built.stdout)
    manifests.put(repository / "base/vm.yaml", VM.replace("p-init", name))
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith("base/init.yaml:3:1: warning VR450 "), done.stdout
