"""``virt-render migrate``: files rewritten, VMs unchanged."""

import importlib
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from render import Settings, render
from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from render.manifests.sources.loading import load
from render.manifests.sources.reading import Reading
from render.yaml.budget import Limits
from tests.support.cases import CASES
from tests.support.manifests import put, vm

OLD = {
    "instancetypes.yaml": """\
# sizes
apiVersion: instancetype.kubevirt.io/v1alpha1 # of 2022
kind: VirtualMachineInstancetype
metadata: {name: small}
spec:
  cpu: {guest: 2} # two
  memory: {guest: 1Gi}
---
apiVersion: instancetype.kubevirt.io/v1alpha2
kind: VirtualMachinePreference
metadata: {name: fedora}
spec:
  cpu:
    preferredCPUTopology: preferCores # one socket
  firmware:
    # boots securely
    preferredUseEfi: true
    preferredUseSecureBoot: false
""",
    "flavors.yaml": """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: tiny}
spec:
  cpu: {guest: 1}
  memory: {guest: 128Mi} # enough
---
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachinePreference
metadata: {name: virtio}
spec:
  devices:
    preferredDiskBus: virtio
    preferredAutoattachGraphicsDevice: false # without effect
""",
    "presets.yaml": """\
apiVersion: kubevirt.io/v1alpha3
kind: VirtualMachineInstancePreset
metadata: {name: windows}
spec:
  selector: {matchLabels: {os: windows}} # all of them
  domain:
    features:
      apic: {} # the clock needs it
      # for speed
      hyperv:
        relaxed: {}
    devices: {}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: roomy}
spec:
  selector: {matchLabels: {size: large}}
  domain:
    resources: {requests: {memory: 8Gi}}
    devices: {}
""",
    "vms.yaml": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: by-instancetype}
spec:
  # never stopped
  running: true
  instancetype: {name: small, kind: VirtualMachineInstancetype}
  preference: {name: fedora, kind: VirtualMachinePreference}
  template: {spec: {domain: {devices: {}}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: by-flavor}
spec:
  running: false # for now
  flavor:
    name: tiny # the smallest
    kind: virtualmachineflavor
  preference: {name: virtio, kind: VirtualMachinePreference}
  template:
    spec:
      domain: {devices: {}}
      volumes:
        - name: root
          containerDisk: {image: "example.com/root:1"}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: by-preset}
spec:
  runStrategy: Manual
  template:
    metadata: {labels: {os: windows, size: large}}
    spec: {domain: {devices: {}}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: stored}
spec: {restartPolicy: never, domain: {os: {type: {os: hvm}}}} # of 2017
""",
}
NAMING = (
    "virtualmachinepreset.kubevirt.io/",
    "kubevirt.io/instancetype-name",
    "kubevirt.io/preference-name",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in OLD.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def texts() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in Path().glob("*.*")}


def started() -> list[Any]:
    """The VMIs of the current folder, without the names of what they were made from."""
    loaded = load(["."], Reading(Limits()))
    bodies = [document.body for document in loaded.documents]
    rendered = render(bodies, Settings(emit="vmi", preset_conflicts="override"))
    found = [body for body in rendered.resources if body["kind"] == "VirtualMachineInstance"]
    for body in found:
        annotations = body["metadata"]["annotations"]
        body["metadata"]["annotations"] = {
            key: value for key, value in annotations.items() if not key.startswith(NAMING)
        }
    return found


@pytest.mark.usefixtures("folder")
def test_rewrites_what_has_a_successor_and_changes_no_vm(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    before = started()
    assert len(before) == 4
    assert invoke(["migrate"]) is Exit.OK
    assert started() == before
    made = {name: re.sub(r"(\S) +#", r"\1 #", text) for name, text in texts().items()}
    assert "v1alpha1 " not in made["instancetypes.yaml"]
    assert (
        "    # boots securely\n    preferredEfi:\n      secureBoot: false\n"
        in made["instancetypes.yaml"]
    )
    assert "preferredCPUTopology: cores # one socket" in made["instancetypes.yaml"]
    assert "kind: VirtualMachineInstancetype" in made["flavors.yaml"]
    assert "preferredAutoattachGraphicsDevice" not in made["flavors.yaml"]
    assert "  # never stopped\n  runStrategy: Always\n" in made["vms.yaml"]
    assert "  instancetype:\n    name: tiny # the smallest\n" in made["vms.yaml"]
    assert "preference:\n    name: windows\n    kind: VirtualMachinePreference" in made["vms.yaml"]
    assert " # for speed\n    preferredHyperv:\n      relaxed: {}\n" in made["presets.yaml"]
    report = capfdbinary.readouterr()
    assert b"vms.yaml: VirtualMachine by-flavor: runStrategy: Halted\n" in report.out
    assert b"VirtualMachineInstancePreset roomy stays a preset" in report.err
    assert b"VM stored stays as it is" in report.err


POOL = """\
apiVersion: pool.kubevirt.io/v1alpha1
kind: VirtualMachinePool
metadata: {name: pool}
spec:
  selector: {matchLabels: {a: b}}
  virtualMachineTemplate:
    metadata: {labels: {a: b}}
    spec:
      running: true # as ever
      template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}
"""
OPENSHIFT = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: linux}
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
- apiVersion: kubevirt.io/v1alpha3
  kind: VirtualMachine
  metadata: {name: "${NAME}"}
  spec:
    running: false # until it is wanted
    template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}
- apiVersion: other.example.com/v1
  kind: VirtualMachine
  metadata: {name: other}
  spec: {running: true}
parameters: [{name: NAME, required: true}]
"""
KUBEVIRTS = """\
apiVersion: template.kubevirt.io/v1beta1
kind: VirtualMachineTemplate
metadata: {name: linux}
spec:
  virtualMachine:
    metadata: {name: "${NAME}"}
    spec:
      running: ${{RUN}}
      template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}
  parameters: [{name: NAME, required: true}, {name: RUN, value: "true"}]
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (POOL, POOL.replace("running: true", "runStrategy: Always")),
        (
            OPENSHIFT,
            OPENSHIFT.replace("running: false", "runStrategy: Halted").replace("v1alpha3", "v1"),
        ),
        (
            KUBEVIRTS.replace("${{RUN}}", "true"),
            KUBEVIRTS.replace("running: ${{RUN}}", "runStrategy: Always"),
        ),
        (KUBEVIRTS, KUBEVIRTS),
    ],
)
def test_vms_in_pools_and_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, wanted: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("vms.yaml").write_text(text)
    assert invoke(["migrate"]) is Exit.OK
    assert Path("vms.yaml").read_text() == wanted


@pytest.mark.usefixtures("folder")
def test_comments_survive_and_a_second_run_changes_nothing() -> None:
    invoke(["migrate"])
    made = texts()
    for name, text in OLD.items():
        for line in text.splitlines():
            _, found, comment = line.partition("# ")
            assert not found or f"# {comment}" in made[name], comment
    invoke(["migrate"])
    assert texts() == made


@pytest.mark.usefixtures("folder")
def test_check_and_diff_write_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert invoke(["migrate", "--check"]) is Exit.FINDINGS
    assert invoke(["migrate", "--diff"]) is Exit.OK
    assert texts() == OLD
    assert b"-  running: true\n+  runStrategy: Always\n" in capfdbinary.readouterr().out
    invoke(["migrate"])
    assert invoke(["migrate", "--check", "--diff"]) is Exit.OK


@pytest.mark.usefixtures("folder")
def test_a_change_by_which_a_vm_would_differ_is_not_made(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The old field filled the secure boot of a VM's own EFI, its successor does not."""
    vms = OLD["vms.yaml"].replace(
        "template: {spec: {domain: {devices: {}}}}",
        "template: {spec: {domain: {firmware: {bootloader: {efi: {}}}, devices: {}}}}",
        1,
    )
    Path("vms.yaml").write_text(vms, encoding="utf-8")
    before = started()
    assert invoke(["migrate"]) is Exit.OK
    assert started() == before
    assert "preferredUseEfi: true" in texts()["instancetypes.yaml"]
    assert "instancetype.kubevirt.io/v1beta1" in texts()["instancetypes.yaml"]
    assert b"with preferredEfi, a VM would change" in capfdbinary.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("inline", [True, False])
def test_what_a_patch_looks_for_stays(
    inline: bool,  # noqa: FBT001 - a case
    kustomize: str,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """A patch with ``running`` on a base with ``runStrategy`` would make a VM that KubeVirt refuses."""
    patch = "[{op: replace, path: /spec/running, value: false}]"
    head = (
        "kind: Kustomization\nresources: [vms.yaml]\npatches:\n- target: {kind: VirtualMachine}\n"
    )
    Path("stop.yaml").write_text(patch, encoding="utf-8")
    Path("kustomization.yaml").write_text(
        head + (f"  patch: '{patch}'\n" if inline else "  path: stop.yaml\n"), encoding="utf-8"
    )
    assert invoke(["migrate", "--kustomize", kustomize]) is Exit.OK
    made = texts()
    assert "running: true" in made["vms.yaml"]
    assert "v1alpha2" not in made["instancetypes.yaml"]
    culprit = "kustomization.yaml" if inline else "stop.yaml"
    text = capfdbinary.readouterr().err.decode()
    assert f"stays as it is: {culprit} patches running, which it would not find any more" in text


@pytest.mark.usefixtures("folder")
def test_a_vm_that_cannot_be_rendered_tells_nothing(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The flavor's own VM conflicts with it: whether the instancetype would do better is not for us to say."""
    vms = OLD["vms.yaml"].replace("domain: {devices: {}}", "domain: {cpu: {}, devices: {}}")
    Path("vms.yaml").write_text(vms, encoding="utf-8")
    assert invoke(["migrate"]) is Exit.OK
    assert "kind: VirtualMachineFlavor" in texts()["flavors.yaml"]
    assert "VirtualMachine by-flavor, which it may be about, cannot be rendered" in (
        capfdbinary.readouterr().err.decode()
    )


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"
EDITS: dict[str, tuple[str, str | None]] = {
    "a comment": ("vms.yaml", OLD["vms.yaml"] + "# by hand\n"),
    "half of it": ("vms.yaml", "apiVersion: [\n"),
    "no UTF-8 any more": ("vms.yaml", "\udcff"),
    "taken away": ("vms.yaml", None),
    "one that stays as it is": ("other.yaml", "kind: ConfigMap"),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(
    "moment", ["render.manifests.sources.loading.load", "render.pipeline.migration.migrate.migrate"]
)
def test_an_edit_in_the_meantime_is_not_overwritten(
    edit: str, moment: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:  # fmt: skip
    Path("other.yaml").write_text(f"{CONFIG_MAP}# of kubevirt.io\n", encoding="utf-8")
    name, text = EDITS[edit]
    module, _, function = moment.rpartition(".")
    original = getattr(importlib.import_module(module), function)
    edited: dict[str, bytes] = {}

    def and_somebody_edits(*stated: Any, **named: Any) -> Any:
        done = original(*stated, **named)
        if text is None:
            Path(name).unlink()
        else:
            Path(name).write_bytes(text.encode("utf-8", "surrogateescape"))
        edited.update((path.name, path.read_bytes()) for path in Path().iterdir())
        return done

    monkeypatch.setattr(moment, and_somebody_edits)
    assert invoke(["migrate"]) is Exit.UNREADABLE
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == edited
    told = capfdbinary.readouterr()
    message = f"nothing was written, since {name} has changed after it was read"
    assert f"{name}: error VR121 unwritable: {message}\n" in told.err.decode()
    assert b"help: run the same command again\n" in told.err
    assert told.out == b""


@pytest.mark.usefixtures("folder")
def test_a_file_that_cannot_be_read_stops_everything() -> None:
    Path("broken.yaml").write_text("apiVersion: kubevirt.io/v1\nkind: [\n", encoding="utf-8")
    assert invoke(["migrate"]) is Exit.FINDINGS
    assert {name: text for name, text in texts().items() if name in OLD} == OLD


def test_revisions_stay_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: old}
data:
  apiVersion: instancetype.kubevirt.io/v1alpha2
  kind: VirtualMachineInstancetype
  metadata: {name: small}
  spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}
revision: 1
"""
    Path("old.yaml").write_text(text, encoding="utf-8")
    assert invoke(["migrate", "--check"]) is Exit.OK
    assert texts() == {"old.yaml": text}
    assert b"ControllerRevision old stays as it is" in capfdbinary.readouterr().err


def test_vms_of_a_list_that_share_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
apiVersion: v1
kind: List
items:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: a}
  spec: &s {running: false, template: {spec: {domain: {devices: {}}}}}
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: b}
  spec: *s
"""
    Path("all.yaml").write_text(text, encoding="utf-8")
    assert invoke(["migrate"]) is Exit.OK
    assert texts() == {"all.yaml": text.replace("running: false", "runStrategy: Halted")}


def test_a_comment_that_would_be_lost_keeps_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {
  # who pays
  name: a, # for all
  labels: {a: b} # of this
}
spec:
  running: # why
    # in the morning
    false
  template: {spec: {domain: {devices: {}}}}
"""
    Path("vm.yaml").write_text(text, encoding="utf-8")
    assert invoke(["migrate"]) is Exit.OK
    (made,) = texts().values()
    for line in text.splitlines():
        _, found, comment = line.partition("# ")
        assert not found or f"# {comment}" in made


def test_json_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        '{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "a"},'
        ' "spec": {"running": true, "template": {"spec": {"domain": {"devices": {}}}}}}'
    )
    Path("vm.json").write_text(text, encoding="utf-8")
    assert invoke(["migrate"]) is Exit.OK
    assert texts() == {"vm.json": text}


RUNNING = vm("other").replace("runStrategy: Always", "running: true")


@pytest.mark.parametrize("old", ["running: true\t# a tab", "running:\ttrue"])
def test_what_cannot_be_rewritten_does_not_keep_other_files(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text = RUNNING.replace("other", "one").replace("running: true", old)
    put("a.yaml", text)
    put("b.yaml", RUNNING)
    assert invoke(["migrate"]) is Exit.OK
    assert texts() == {"a.yaml": text, "b.yaml": vm("other")}
    told = capfdbinary.readouterr()
    assert told.out == b"b.yaml: VirtualMachine other: runStrategy: Always\n"
    assert "VirtualMachine one stays as it is" in told.err.decode()
    assert (
        "a.yaml cannot be rewritten: ruamel.yaml, which keeps the comments, cannot read line 6"
        in (told.err.decode())
    )


#: Where it is run, what is given, and the folder in which the patch is applied, with what it names.
PATCHED: dict[str, tuple[str, list[str], str, list[str]]] = {
    "below": ("repo", ["base"], "repo", ["base/a.yaml"]),
    "below, by its whole name": ("repo/base", ["{top}/repo/base/a.yaml"], "repo/base", ["a.yaml"]),
    "beside": ("repo/ov", ["../base/a.yaml"], "repo", ["base/a.yaml"]),
    "below and beside": ("repo/ov", [".", "../base"], "repo", ["base/a.yaml", "ov/b.yaml"]),
    "below, through a link": ("repo", ["link/a.yaml"], "repo", ["base/a.yaml"]),
    "out of the repository": ("repo", ["../c.yaml"], "/", ["{top}/c.yaml"]),
    "in and out of it": ("repo", ["base", "../c.yaml"], "/", ["{top}/c.yaml", "{top}/repo/base/a.yaml"]),
    "another repository": ("repo", ["{top}/more/d.yaml"], "more", ["d.yaml"]),
    "two repositories": ("repo/ov", ["../base", "../../more"], "/", ["{top}/more/d.yaml", "{top}/repo/base/a.yaml"]),
}  # fmt: skip


@pytest.mark.parametrize("case", PATCHED)
def test_git_and_patch_find_the_files(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:  # fmt: skip
    here, inputs, where, names = PATCHED[case]
    files = [tmp_path / name for name in ("repo/base/a.yaml", "repo/ov/b.yaml", "c.yaml", "more/d.yaml")]  # fmt: skip
    for file in files:
        put(file, RUNNING.replace("other", file.stem))
    (tmp_path / "repo" / "link").symlink_to("base")
    for name in ("repo", "more"):
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
    monkeypatch.chdir(tmp_path / here)
    inputs = [item.format(top=tmp_path) for item in inputs]
    assert invoke(["migrate", "--kustomize", "never", "--diff", *inputs]) is Exit.OK
    diff = capfdbinary.readouterr().out
    wanted = [name.format(top=str(tmp_path)[1:]) for name in names]
    assert re.findall(r"^--- a/(\S+)$", diff.decode(), re.MULTILINE) == wanted
    assert re.findall(r"^\+\+\+ b/(\S+)$", diff.decode(), re.MULTILINE) == wanted
    applied = ["patch", "-s", "-p1", "-d", "/"] if where == "/" else ["git", "apply", "-"]
    subprocess.run(applied, cwd=tmp_path / where, input=diff, check=True)
    changed = {str(file)[1:] for file in files if "runStrategy: Always" in file.read_text("utf-8")}
    assert changed == {
        str(tmp_path / where / name)[1:] if where != "/" else name for name in wanted
    }


def test_a_name_does_not_drive_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    put("esc\x1b[31m\n.yaml", RUNNING)
    assert invoke(["migrate"]) is Exit.OK
    told = capfdbinary.readouterr().out.decode()
    assert told == "esc\ufffd[31m .yaml: VirtualMachine other: runStrategy: Always\n"


@pytest.mark.parametrize(
    "case",
    sorted(path.parent for path in CASES.glob("legacy/*/expected.yaml")),
    ids=lambda p: p.name,
)
def test_golden_inputs_start_the_same_vms(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (case / "input").iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    before = started()
    assert invoke(["migrate"]) is Exit.OK
    assert started() == before
    once = texts()
    assert invoke(["migrate", "--check"]) is Exit.OK
    assert texts() == once


def test_a_preset_whose_selector_is_none_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        OLD["presets.yaml"]
        .partition("---")[0]
        .replace("{matchLabels: {os: windows}}", "{matchLabels: [os]}")
    )
    Path("presets.yaml").write_text(text, encoding="utf-8")
    assert invoke(["migrate"]) is Exit.OK
    content = capfdbinary.readouterr().err.decode()
    assert (
        "VirtualMachineInstancePreset windows stays a preset: expected a mapping, got a list"
        in content
    )


def test_what_of_a_preset_reaches_no_vm_keeps_it_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    idle = (
        "    memory: {guest: 8Gi}\n    firmware: {bootloader: {efi: {}}}\n"
        "    devices: {disks: [{name: a, disk: {}}]}\n    resources: {limits: {cpu: 2}}\n"
    )
    preset = OLD["presets.yaml"].partition("---")[0].replace("    devices: {}\n", idle)
    Path("presets.yaml").write_text(preset, encoding="utf-8")
    vm = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: by-preset}\nspec:\n"
        "  runStrategy: Always\n  template:\n    metadata: {labels: {os: windows}}\n"
        "    spec: {domain: {devices: {}}}\n"
    )
    Path("vm.yaml").write_text(vm, encoding="utf-8")
    before = started()
    assert invoke(["migrate"]) is Exit.OK
    made = texts()
    assert "kind: VirtualMachinePreference" in made["presets.yaml"]
    assert "8Gi" not in made["presets.yaml"]
    assert started() == before
    words = capfdbinary.readouterr().out.decode()
    assert "without memory, devices.disks, resources.limits, firmware, which reached no VM" in words
