"""``check --fix``: files mended where there is one way out, and no VMI becomes another."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from render.frontends.dispatch import invoke
from render.yaml.reader import read

VM = """\
# the shop
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
spec:
  {running} # at once
  template:
    spec:
      domain:
        devices: {{}}
        memory: {{guest: 1Gi}} # enough
"""


def vm(name: str = "web", running: str = "running: true") -> str:
    return VM.format(name=name, running=running)


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_fix_is_made_in_its_line(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(repository, {"vm.yaml": vm()})
    assert invoke(["check", "--fix", "."]) == 0
    assert (repository / "vm.yaml").read_text() == vm(running="runStrategy: Always")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("fixed: vm.yaml:7:3: VirtualMachine web: write runStrategy: Always\n")


def _written(path: Path) -> tuple[int, int, int]:
    """What a write changes of a file; who reads it may change when it was read last."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def test_a_patch_is_shown_and_nothing_written(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm()})
    before = _written(repository / "vm.yaml")
    assert invoke(["check", "--diff", "."]) == 0
    out, err = capfd.readouterr()
    assert "-  running: true # at once\n+  runStrategy: Always # at once\n" in out
    assert err.startswith("would fix: ")
    assert _written(repository / "vm.yaml") == before
    assert invoke(["check", "."]) == 0
    assert "VR502" in capfd.readouterr().out


def test_what_remains_decides_the_exit_status(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(
        repository, {"vm.yaml": vm().replace("guest: 1Gi", "guest: 1Gi, hugepage: {pageSize: 2Mi}")}
    )
    assert invoke(["check", "--fix", "."]) == 1
    assert "runStrategy: Always" in (repository / "vm.yaml").read_text()
    out, _ = capfd.readouterr()
    assert "VR105" in out
    assert "VR502" not in out


def test_an_unsafe_fix_wants_to_be_asked_for(repository: Path) -> None:
    text = vm(running="runStrategy: Always").replace("memory:", "memmory:")
    put(repository, {"vm.yaml": text})
    assert invoke(["check", "--fix", "."]) == 1
    assert (repository / "vm.yaml").read_text() == text
    assert invoke(["check", "--unsafe-fixes", "."]) == 0
    assert (repository / "vm.yaml").read_text() == text.replace("memmory", "memory")


def fixes_by_code(capfd: pytest.CaptureFixture[str]) -> dict[str, list[Any]]:
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    return {diagnostic["code"]: diagnostic["fixes"] for diagnostic in found if diagnostic["fixes"]}


def test_findings_have_their_fixes(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(repository, {"vm.yaml": vm().replace("name: web", "name: web\n  labels: {a: 1_0}")})
    invoke(["check", "--format", "json", "."])
    fixes = fixes_by_code(capfd)
    edit = {"file": "vm.yaml", "document": 0}
    assert fixes["VR106"] == [
        {
            "title": "put the value in quotes",
            "safe": True,
            "edits": [
                {**edit, "field": "metadata.labels.a", "action": "set", "value": "1_0"},
            ],
        }
    ]
    put(repository, {"vm.yaml": vm()})
    invoke(["check", "--format", "json", "."])
    fixes = fixes_by_code(capfd)
    renamed, put_ = fixes["VR502"][0]["edits"]
    assert renamed == {**edit, "field": "spec.running", "action": "rename", "value": "runStrategy"}
    assert put_ == {**edit, "field": "spec.runStrategy", "action": "set", "value": "Always"}


KUSTOMIZATION = "resources: [{}]\n"


def test_the_base_of_one_overlay_is_fixed(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {
        "base/kustomization.yaml": KUSTOMIZATION.format("vm.yaml"),
        "base/vm.yaml": vm(),
        "prod/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\n",
    }
    put(repository, files)
    assert invoke(["check", "--fix", "."]) == 0
    assert (repository / "base/vm.yaml").read_text() == vm(running="runStrategy: Always")
    assert "VR502" not in capfd.readouterr().out


def test_a_base_that_overlays_share_is_left_alone(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {
        "base/kustomization.yaml": KUSTOMIZATION.format("vm.yaml"),
        "base/vm.yaml": vm(),
        "prod/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\n",
        "test/kustomization.yaml": "namePrefix: test-\nresources: [../base]\n",
    }
    put(repository, files)
    assert invoke(["check", "--fix", "."]) == 0
    assert (repository / "base/vm.yaml").read_text() == vm()
    out, err = capfd.readouterr()
    assert "VR502" in out
    assert "not done: prod, test use base/vm.yaml" in err
    assert invoke(["check", "--fix", "prod"]) == 0  # the other one is there all the same
    assert (repository / "base/vm.yaml").read_text() == vm()


def test_what_a_patch_wrote_is_left_alone(repository: Path) -> None:
    patch = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec: {running: true}\n"
    files = {
        "kustomization.yaml": "resources: [vm.yaml]\npatches: [{path: patch.yaml}]\n",
        "patch.yaml": patch,
        "vm.yaml": vm().replace("running: true # at once\n  ", ""),
    }
    put(repository, files)
    assert invoke(["check", "--fix", "."]) == 0
    assert {name: (repository / name).read_text() for name in files} == files


def test_a_second_run_has_nothing_to_do(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = vm().replace("name: web", "name: web\n  labels: {a: 1, b: yes}")
    put(repository, {"vm.yaml": text})
    assert invoke(["check", "--fix", "."]) == 0
    after = (repository / "vm.yaml").read_text()
    assert 'labels: {a: "1", b: "yes"}' in after
    capfd.readouterr()
    assert invoke(["check", "--fix", "."]) == 0
    assert (repository / "vm.yaml").read_text() == after
    out, err = capfd.readouterr()
    assert out == ""
    assert "fixed" not in err


def test_sarif_has_the_lines_of_a_fix(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(repository, {"vm.yaml": f"# first\n---\n{vm()}"})
    invoke(["check", "--format", "sarif", "."])
    (found,) = json.loads(capfd.readouterr().out)["runs"][0]["results"]
    region = found["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 9, "startColumn": 3, "endLine": 9, "endColumn": 16}
    (fix,) = found["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 9, "startColumn": 1, "endLine": 10, "endColumn": 1},
            "insertedContent": {"text": "  runStrategy: Always # at once\n"},
        }
    ]
    assert fix["properties"] == {"safe": True}


def test_sarif_has_a_file_eight_times_at_most(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each fix of a document on one line takes all of it, and with as many of them the report would be its square."""
    labels = ", ".join(f'"{"a" * 70}{number}": {"b" * 70}' for number in range(300))
    put(repository, {"vm.yaml": vm().replace("spec:", f"  labels: {{{labels}}}\nspec:", 1)})
    invoke(["check", "--format", "sarif", "."])
    results = json.loads(capfd.readouterr().out)["runs"][0]["results"]
    texts = [
        replacement["insertedContent"]["text"]
        for result in results
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
        for replacement in change["replacements"]
    ]
    assert len(results) > 300
    assert 1 < len(texts) < len(results) // 2
    assert sum(map(len, texts)) < 8 * (repository / "vm.yaml").stat().st_size + (64 << 10)


def test_github_is_told_what_to_write(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(repository, {"vm.yaml": vm()})
    invoke(["check", "--format", "github", "."])
    text = capfd.readouterr().out
    assert "%0Afix: write runStrategy: Always, in place of line 7:%0A  runStrategy: Always" in text


def test_no_report_shows_the_secret_beside_what_is_fixed(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = "running: true\n  dataVolumeTemplates: []"
    text = vm(running=spec).replace(
        "devices: {}", "devices: {disks: [{name: d, disk: {bus: VirtIO}}]}"
    )
    text += "      volumes: [{name: d, cloudInitNoCloud: {userData: 'users: [top-secret]'}}]\n"
    text = text.replace("      domain:", "      hostname: Web\n      domain:")
    put(repository, {"vm.yaml": text})
    for name in ("json", "sarif", "github", "text"):
        invoke(["check", "--format", name, "."])
        assert "top-secret" not in capfd.readouterr().out
    invoke(["check", "--unsafe-fixes", "--diff", "."])
    assert "top-secret" not in "".join(capfd.readouterr())


def test_a_label_whose_key_looks_like_a_boolean(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The value gets its quotes; of the key nobody knows what is meant."""
    text = vm(running="runStrategy: Always").replace("name: web", "name: web\n  labels: {on: yes}")
    put(repository, {"vm.yaml": text})
    assert invoke(["check", "--fix", "."]) == 0
    assert (repository / "vm.yaml").read_text() == text.replace("yes", '"yes"')
    assert "VR113" in capfd.readouterr().out


def test_the_text_says_what_an_option_mends(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where a fix would be made: a base that two overlays share is left alone, and not counted."""
    wrong = vm().replace("guest: 1Gi", "gest: 1Gi, guest: 1Gi, hugepage: {pageSize: 2Mi}")
    files = {
        "vm.yaml": wrong,
        "base/kustomization.yaml": KUSTOMIZATION.format("vm.yaml"),
        "base/vm.yaml": vm("base"),
        "prod/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\n",
        "test/kustomization.yaml": "namePrefix: test-\nresources: [../base]\n",
    }
    put(repository, files)
    assert invoke(["check", "."]) == 1
    out, err = capfd.readouterr()
    assert "  help: write runStrategy: Always (--fix)\n" in out
    assert '  help: did you mean "hugepages"? (--unsafe-fixes)\n' in out
    assert "; 1 fixable with --fix, 1 more with --unsafe-fixes; " in err
    invoke(["check", "--format", "json", "."])
    summary = json.loads(capfd.readouterr().out)["summary"]
    assert (summary["fixable"], summary["fixableUnsafely"]) == (1, 1)
    assert invoke(["build", "vm.yaml"]) == 1
    assert "-fix" not in "".join(capfd.readouterr())


def test_no_option_is_named_for_what_it_would_not_mend(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither before, of JSON and of a shared base, nor after it was tried: merge keys say the same twice."""
    old = vm()
    files = {
        "vm.json": json.dumps(read(old.encode(), "vm.yaml").documents[0].body),
        "base/kustomization.yaml": KUSTOMIZATION.format("vm.yaml"),
        "base/vm.yaml": vm("base"),
        "prod/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\n",
        "test/kustomization.yaml": "namePrefix: test-\nresources: [../base]\n",
    }
    put(repository, files)
    assert invoke(["check", "."]) == 0
    out, err = capfd.readouterr()
    assert "VR502" in out
    assert "--fix" not in out + err
    merged = vm("first").replace("spec:", "spec: &spec", 1)
    second = (
        "- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata: {name: second}\n"
        "  spec: {<<: *spec, running: false}\n"
    )
    listed = "".join(f"  {line}\n" for line in merged.splitlines())
    put(repository, {"list.yaml": f"kind: List\napiVersion: v1\nitems:\n-{listed[1:]}{second}"})
    invoke(["check", "."])
    assert "2 fixable with --fix" in capfd.readouterr().err
    assert invoke(["check", "--fix", "."]) == 0
    out, err = capfd.readouterr()
    assert "list.yaml cannot be rewritten" in err
    assert "fixable" not in err
    assert "--fix" not in out


PREFERENCE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: linux}
spec:
  devices: {preferedDiskBus: virtio}
"""
DISK = """\
        devices: {disks: [{name: root, disk: {}}]}
        memory: {guest: 1Gi} # enough
      volumes: [{name: root, containerDisk: {image: example.com/os}}]
"""


@pytest.mark.parametrize("is_used", [True, False])
def test_what_changes_vms_of_other_files_is_not_offered_either(
    *, is_used: bool, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    machine = vm(running="preference: {name: linux}\n  runStrategy: Always")
    machine = machine[: machine.index("        devices")] + DISK
    put(
        repository,
        {
            "vm.yaml": machine if is_used else vm(running="runStrategy: Always"),
            "linux.yaml": PREFERENCE,
        },
    )
    assert invoke(["check", "."]) == 1
    out, err = capfd.readouterr()
    assert 'did you mean "preferredDiskBus"?' in out
    assert ("(--unsafe-fixes)" in out) is not is_used
    assert ("1 fixable with --unsafe-fixes" in err) is not is_used
    assert int(invoke(["check", "--unsafe-fixes", "."])) == int(is_used)
    assert ("not done: a VMI would change" in capfd.readouterr().err) is is_used


INSTANCETYPE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: {name: four}
spec: {cpu: {guest: 4}, memory: {guest: 1Gi}}
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: linux}
spec: {cpu: {preferredCPUTopology: TOPOLOGY}}
"""


@pytest.mark.parametrize(
    ("cpu", "preferred", "told"),
    [
        ("{cores: 4}", "sockets", "1 socket, 4 cores -> 4 sockets"),
        ("{cores: 4}", "cores", ""),
        ("{sockets: 4}", "sockets", ""),
        ("{sockets: 4, cores: 1, threads: 1}", "any", ""),
        ("{sockets: 2, cores: 2}", "spread", ""),
        ("{cores: 2}", "sockets", "2 -> 4"),
    ],
)
def test_vcpus_are_left_to_the_instancetype_where_the_guest_sees_the_same(
    cpu: str, preferred: str, told: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Sockets are not cores: what is licensed by the socket, or runs on two of them only, is another guest."""
    machine = vm(
        running="instancetype: {name: four}\n  preference: {name: linux}\n  runStrategy: Always"
    )
    machine = machine.replace("        memory: {guest: 1Gi} # enough\n", f"        cpu: {cpu}\n")
    definitions = INSTANCETYPE.replace("TOPOLOGY", preferred)
    put(repository, {"vm.yaml": machine, "four.yaml": definitions})
    assert invoke(["check", "."]) == 1
    assert f"({'--unsafe-fixes' if told else '--fix'})" in capfd.readouterr().out
    assert invoke(["check", "--fix", "."]) == int(bool(told))
    assert invoke(["check", "--unsafe-fixes", "."]) == 0
    err = capfd.readouterr().err
    title = "to VirtualMachineClusterInstancetype four"
    assert f"{title}: {told}\n" in err if told else f"{title}\n" in err
    assert "cpu" not in (repository / "vm.yaml").read_text()


INDENTED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices:
          disks:
            - name: root
              disk: {bus: virtio}
          interfaces:
            - name: default
              masquerade: {}
      networks:
        - name: default
          pod: {}
      volumes:
        - name: root
          containerDisk: {image: x}
"""


def test_a_field_that_is_elsewhere_is_moved_and_not_added_empty(repository: Path) -> None:
    """``devices`` beside ``domain``: an empty one would be in the way, and what names its disks would go."""
    wrong = INDENTED.replace("        devices:", "      devices:")
    put(repository, {"vm.yaml": wrong})
    invoke(["check", "--fix", "."])
    assert (repository / "vm.yaml").read_text() == wrong
    assert invoke(["check", "--unsafe-fixes", "."]) == 0
    mended, right = (
        [document.body for document in read(data, "vm.yaml").documents]
        for data in ((repository / "vm.yaml").read_bytes(), INDENTED.encode())
    )
    assert mended == right


def test_nothing_is_taken_away_beside_a_field_that_nobody_could_put_in_its_place(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = INDENTED.replace("        devices:", "        devices: {}\n      devices:")
    put(repository, {"vm.yaml": wrong})
    assert invoke(["check", "--unsafe-fixes", "."]) == 1
    assert (repository / "vm.yaml").read_text() == wrong
    err = capfd.readouterr().err
    assert "drop the network: not done: an unknown field of the object may be what it misses" in err


def test_an_empty_field_stays_while_one_beside_it_is_unknown(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = vm(running="runStrategy: Always").replace(
        "devices: {}", "devices:\n        disks: [] # none"
    )
    (repository / "vm.yaml").write_text(text)
    assert invoke(["check", "--fix", "vm.yaml"]) == 1
    assert (repository / "vm.yaml").read_text() == text
    # Nothing tells where this one belongs.
    other = text.replace("disks: []", "zzz: []").replace("devices:", "devices: {}\n        cpu:")
    (repository / "vm.yaml").write_text(other)
    assert invoke(["check", "--fix", "vm.yaml"]) == 1
    assert (repository / "vm.yaml").read_text() == other
    assert "not done: an unknown field" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "meant"),
    [("shop.linux", "linux"), ("rhel.11", "rhel.10"), ("linx", "linux"), ("lniux", "linux")],
)
def test_the_name_of_another_thing_is_only_suggested(
    name: str, meant: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where the cluster may well have what is named; a slip of one or two letters is mended."""
    wrong = INDENTED.replace("Always\n", f"Always\n  preference: {{name: {name}}}\n")
    put(repository, {"vm.yaml": wrong})
    assert invoke(["check", "."]) == 1
    assert f"help: did you mean {meant}?" in capfd.readouterr().out
    is_slip = name in ("linx", "lniux")
    assert invoke(["check", "--unsafe-fixes", "."]) == int(not is_slip)
    mended = wrong.replace(name, meant) if is_slip else wrong
    assert (repository / "vm.yaml").read_text() == mended
