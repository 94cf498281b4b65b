"""``virt-render migrate`` in repositories with kustomizations: no build starts other VMs than before."""

from pathlib import Path
from typing import Any

import pytest

from render import Settings, render
from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from render.manifests.sources.loading import load
from render.manifests.sources.reading import Reading
from render.yaml.budget import Limits

pytestmark = pytest.mark.process
FLAVOR = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: two}
spec: {cpu: {guest: 2}, memory: {guest: 1Gi}}
"""
FLAVOR_VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  running: true
  flavor: {name: two, kind: VirtualMachineFlavor}
  template: {spec: {domain: {devices: {}}}}
"""
PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: p}
spec:
  selector: {matchLabels: {size: big}}
  domain: {features: {smm: {}}}
"""


def vm(name: str, label: str) -> str:
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: {name}}}
spec:
  runStrategy: Halted
  template:
    metadata: {{labels: {{{label}}}}}
    spec: {{domain: {{devices: {{}}}}}}
"""


def any_vm(op: str) -> str:
    return (
        f"resources: [vms.yaml]\npatches:\n- target: {{kind: VirtualMachine}}\n  patch: '- {op}'\n"
    )


CASES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "a target by a regular expression": (
        {
            "kustomization.yaml": "resources: [vms.yaml]\npatches:\n"
            '- target: {kind: "VirtualMachineF.*"}\n'
            "  patch: '- {op: replace, path: /spec/cpu/guest, value: 8}'\n",
            "vms.yaml": f"{FLAVOR}---\n{FLAVOR_VM}",
        },
        (".",),
    ),
    "labels of an overlay": (
        {
            "a/kustomization.yaml": "resources: [vms.yaml]\n",
            "a/vms.yaml": f"{PRESET}---\n{vm('web', 'a: b')}---\n{vm('db', 'size: big')}",
            "b/kustomization.yaml": "resources: [../a]\n"
            "labels:\n- pairs: {size: big}\n"
            "  fields: [{path: spec/template/metadata/labels, kind: VirtualMachine, create: true}]\n",
        },
        ("a", "b"),
    ),
    "a prefix": (
        {
            "a/kustomization.yaml": "resources: [vms.yaml]\n",
            "a/vms.yaml": f"{PRESET}---\n{vm('db', 'size: big')}",
            "b/kustomization.yaml": "resources: [../a]\nnamePrefix: dev-\n",
        },
        ("a", "b"),
    ),
    "a preset of one build only": (
        {
            "a/kustomization.yaml": "resources: [vms.yaml]\n",
            "a/vms.yaml": vm("db", "size: big"),
            "b/kustomization.yaml": "resources: [../a, ps.yaml]\n",
            "b/ps.yaml": PRESET,
        },
        ("a", "b"),
    ),
    "requests of an overlay": (
        {
            "kustomization.yaml": any_vm(
                "{op: add, path: /spec/template/spec/domain/resources, value: {requests: {memory: 2Gi}}}"
            ),
            "vms.yaml": f"{FLAVOR}---\n{FLAVOR_VM}",
        },
        (".",),
    ),
    "a target by version": (
        {
            "kustomization.yaml": "resources: [vms.yaml]\npatches:\n"
            '- target: {version: "v1a.*1"}\n'
            "  patch: '- {op: replace, path: /spec/cpu/guest, value: 8}'\n",
            "vms.yaml": f"{FLAVOR}---\n{FLAVOR_VM}",
        },
        (".",),
    ),
    "a JSON pointer in other words": (
        {
            "kustomization.yaml": any_vm('{op: add, path: "/spec/fl\\x61vor/name", value: other}'),
            "vms.yaml": f"{FLAVOR}---\n{FLAVOR.replace('two', 'other').replace('2', '4')}---\n{FLAVOR_VM}",
        },
        (".",),
    ),
}


def started(folders: tuple[str, ...], kustomize: str) -> list[Any]:
    found = []
    for folder in folders:
        loaded = load([folder], Reading(Limits(), kustomize=kustomize))
        assert not [diagnostic for diagnostic in loaded.diagnostics if diagnostic.is_error]
        bodies = [document.body for document in loaded.documents]
        rendered = render(bodies, Settings(emit="vmi", preset_conflicts="override"))
        machines = [b for b in rendered.resources if b["kind"] == "VirtualMachineInstance"]
        found.append([(m["metadata"]["name"], m["spec"]) for m in machines])
    return found


def lay(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_every_build_starts_the_same_vms(
    case: str, kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, folders = CASES[case]
    monkeypatch.chdir(tmp_path)
    lay(files)
    before = started(folders, kustomize)
    assert all(before)
    assert invoke(["migrate", "--kustomize", kustomize]) is Exit.OK
    assert started(folders, kustomize) == before
    assert invoke(["migrate", "--check", "--kustomize", kustomize]) is Exit.OK


def test_what_changes_in_no_build_is_written(
    kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the suffix, the VM of b finds its flavor neither before nor after: what is about both stays."""
    monkeypatch.chdir(tmp_path)
    lay(
        {
            "a/kustomization.yaml": "resources: [vms.yaml]\n",
            "a/vms.yaml": f"{FLAVOR}---\n{FLAVOR_VM}",
            "b/kustomization.yaml": "resources: [../a]\nnameSuffix: -dev\n",
        }
    )
    before = started(("a",), kustomize)
    assert invoke(["migrate", "--kustomize", kustomize]) is Exit.OK
    made = Path("a/vms.yaml").read_text(encoding="utf-8")
    assert made == f"{FLAVOR}---\n{FLAVOR_VM.replace('running: true', 'runStrategy: Always')}"
    assert started(("a",), kustomize) == before


def test_of_a_repository_every_build_counts(
    kustomize: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    files, folders = CASES["labels of an overlay"]
    lay(files)
    before = started(folders, kustomize)
    assert invoke(["migrate", "a", "--kustomize", kustomize]) is Exit.OK
    assert started(folders, kustomize) == before
    assert Path("a/vms.yaml").read_text(encoding="utf-8") == files["a/vms.yaml"]
    text = capfdbinary.readouterr().err.decode()
    assert "a VM that kustomize builds from b would change" in text


def test_a_patch_that_adds_what_was_renamed(
    kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KubeVirt refuses a VM with both ``running`` and ``runStrategy``, though it would start the same VMI."""
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    text = FLAVOR_VM.replace("  flavor: {name: two, kind: VirtualMachineFlavor}\n", "")
    lay(
        {
            "base/kustomization.yaml": "resources: [vms.yaml]\n",
            "base/vms.yaml": text,
            "ov/kustomization.yaml": "resources: [../base]\npatches:\n- patch: |\n"
            "    apiVersion: kubevirt.io/v1\n    kind: VirtualMachine\n"
            "    metadata: {name: web}\n    spec: {running: false}\n",
        }
    )
    assert invoke(["migrate", "base", "--kustomize", kustomize]) is Exit.OK
    assert Path("base/vms.yaml").read_text(encoding="utf-8") == text


def test_without_kustomize_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"kustomization.yaml": "resources: [vms.yaml]\n", "vms.yaml": FLAVOR_VM}
    lay(files)
    assert invoke(["migrate", "--kustomize", "no-such-kustomize"]) is Exit.USAGE
    assert b"VR117" in capfdbinary.readouterr().err
    assert Path("vms.yaml").read_text(encoding="utf-8") == FLAVOR_VM


def test_a_build_that_fails_tells_nothing(
    kustomize: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    lay({"kustomization.yaml": "resources: [vms.yaml, none.yaml]\n", "vms.yaml": FLAVOR_VM})
    assert invoke(["migrate", "--kustomize", kustomize]) is Exit.OK
    assert Path("vms.yaml").read_text(encoding="utf-8") == FLAVOR_VM
    assert b"nothing tells what it does to the VMs: kustomize build ." in (
        capfdbinary.readouterr().err
    )
