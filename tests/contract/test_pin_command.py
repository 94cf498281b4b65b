"""``pin`` and ``verify`` as processes: where the lock is, what it takes from a cluster, what is refused."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from render import Settings, render
from render.diagnostics.exits import Exit
from render.yaml import writer
from tests.support import manifests
from tests.support.asking import Ask
from tests.support.repository import LOCK, Repository, documents, vm_in

KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{resources}]
"""
#: A VM of a cluster, which KubeVirt pinned when small had two vCPUs.
RUNNING = """\
apiVersion: v1
kind: List
items:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: web, namespace: prod}
  spec:
    runStrategy: Always
    instancetype: {name: small, kind: VirtualMachineInstancetype}
    template: {spec: {domain: {devices: {}}}}
  status:
    instancetypeRef:
      name: small
      kind: VirtualMachineInstancetype
      controllerRevisionRef: {name: web-small-v1beta1-1-1}
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: db, namespace: prod}
  spec:
    runStrategy: Always
    instancetype: {name: small, kind: VirtualMachineInstancetype, revisionName: db-small-v1beta1-1-1}
    template: {spec: {domain: {devices: {}}}}
- apiVersion: apps/v1
  kind: ControllerRevision
  metadata:
    name: web-small-v1beta1-1-1
    namespace: prod
    labels: {instancetype.kubevirt.io/object-name: small}
  data:
    apiVersion: instancetype.kubevirt.io/v1beta1
    kind: VirtualMachineInstancetype
    metadata: {name: small}
    spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
  revision: 0
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "repository")
    found.instancetype("small")
    found.vm("web")
    return found


def sockets(text: str, name: str = "web") -> object:
    return vm_in(text, name)["spec"]["template"]["spec"]["domain"]["cpu"]["sockets"]


def test_lock_is_the_same_whatever_the_machine(repository: Repository, tmp_path: Path) -> None:
    repository.fine("pin")
    copy = tmp_path / "elsewhere"
    shutil.copytree(repository.folder, copy)
    (copy / LOCK).unlink()
    repository.fine("pin", str(copy), "--namespace", "other")
    assert (copy / LOCK).read_bytes() == repository.lock.read_bytes()


def test_pinning_again_writes_nothing(repository: Repository) -> None:
    repository.fine("pin")
    before = repository.lock.stat()
    assert repository.fine("pin") == "nothing moved\n"
    after = repository.lock.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_errors_leave_the_lock_alone(repository: Repository) -> None:
    repository.fine("pin")
    before = repository.lock.read_bytes()
    repository.vm("new", instancetype="nothing")
    done = repository.run("pin")
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR201" in done.stderr
    way = "--baseline FILE goes on with those that a report has"
    assert f"no lock was written: 1 error; {way}\n" in done.stderr
    assert (
        f"no lock would be written: 1 error; {way}\n" in repository.run("pin", "--dry-run").stderr
    )
    assert repository.lock.read_bytes() == before
    repository.run("check", "--json-file", "accepted.json")
    done = repository.run("pin", "--baseline", "accepted.json")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "not pinned: prod/new (VR201)")


@pytest.mark.parametrize(
    "flaw",
    [
        ("kind: RevisionLock", "kind: Lock"),
        ("v1alpha1", "v1"),
        ("pins:", "<<<<<<< HEAD\npins:"),
        ("guest: 2\n", "guest: 3\n"),
        ("    revision: 1\n", ""),
        ("pins:", "pins: ["),
    ],
)
def test_lock_that_is_not_understood_is_not_overwritten(
    repository: Repository, flaw: tuple[str, str]
) -> None:
    repository.fine("pin")
    text = repository.lock.read_text(encoding="utf-8")
    flawed = text.replace(*flaw)
    assert flawed != text
    repository.lock.write_text(flawed, encoding="utf-8")
    for words in (("pin",), ("pin", "--upgrade-all"), ("pin", "--check"), ("build",)):
        done = repository.run(*words)
        assert done.returncode == 1, words
        assert done.stdout == ""
        assert repository.lock.read_text(encoding="utf-8") == flawed


def test_empty_lock_is_not_overwritten(repository: Repository) -> None:
    repository.lock.write_text("", encoding="utf-8")
    assert repository.run("pin").returncode == 1
    assert repository.lock.read_text(encoding="utf-8") == ""


def test_vms_that_are_gone_leave_the_lock(repository: Repository) -> None:
    repository.vm("db")
    repository.fine("pin")
    (repository.folder / "vms/db.yaml").unlink()
    assert "which is not in the input" in repository.run("pin", "--check").stderr
    assert "prod/db  -         no longer in the input" in repository.fine("pin")
    assert list(repository.pins) == ["prod/web"]


def test_nothing_to_pin_is_an_error(tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    empty.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert empty.run("pin").returncode == 1
    assert not empty.lock.exists()
    empty.fine("pin", "--allow-empty")
    assert empty.pins == {}


def test_vms_in_templates_are_not_pinned_and_that_is_said(tmp_path: Path) -> None:
    made = Repository(tmp_path / "templates")
    vm = json.dumps(documents(manifests.vm("web", memory="1Gi"))[0])
    head = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: web}\n"
    made.write("template.yaml", f"{head}objects: [{vm}]\n")
    done = made.run("pin")
    assert done.returncode == 1
    assert "no VirtualMachine in the input but what 1 Template would make" in done.stderr
    assert not made.lock.exists()


def test_unknown_vm(repository: Repository) -> None:
    done = repository.run("pin", "--upgrade", "wbe")
    assert done.returncode == 2
    assert "no VirtualMachine wbe" in done.stderr
    assert "did you mean" in done.stderr
    assert not repository.lock.exists()


def test_upgrade_by_name_needs_one_vm(repository: Repository) -> None:
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    repository.write("other.yaml", text.replace("prod", "test"))
    kind = (repository.folder / "instancetypes/small.yaml").read_text(encoding="utf-8")
    repository.write("small.yaml", kind.replace("prod", "test"))
    repository.fine("pin")
    done = repository.run("pin", "--upgrade", "web")
    assert done.returncode == 2
    assert "prod/web or test/web" in done.stderr
    repository.fine("pin", "--upgrade", "test/web")


def test_lock_of_another_name_and_standard_input(repository: Repository) -> None:
    manifests = repository.fine("build", "--emit", "source")
    assert repository.run("pin", "-", stdin=manifests).returncode == 2
    assert repository.run("pin", "-", "--lock", "pins.yaml", stdin=manifests).returncode == 0
    repository.instancetype("small", cpus=4)
    edited = repository.fine("build", "--emit", "source", "--pins", "ignore")
    done = repository.run("build", "-", "--lock", "pins.yaml", stdin=edited)
    assert sockets(done.stdout) == 2
    assert sockets(repository.run("build", "-", stdin=edited).stdout) == 4
    assert repository.run("build", "-", "--lock", "nowhere.yaml", stdin=edited).returncode == 3


def test_named_lock_takes_the_place_of_the_one_in_the_folder(repository: Repository) -> None:
    repository.fine("pin")
    shutil.copy(repository.lock, repository.folder.parent / "old.yaml")
    repository.instancetype("small", cpus=4)
    repository.fine("pin", "--upgrade-all")
    assert sockets(repository.fine("build")) == 4
    assert sockets(repository.fine("build", "--lock", "../old.yaml")) == 2


def test_lock_in_a_stream(repository: Repository) -> None:
    repository.fine("pin")
    manifests = repository.fine("build", "--emit", "source")
    assert "RevisionLock" not in manifests
    stream = f"{manifests}---\n{repository.lock.read_text(encoding='utf-8')}"
    stream = stream.replace("  cpu:\n    guest: 2\n  memory", "  cpu:\n    guest: 4\n  memory", 1)
    done = repository.run("build", "-", stdin=stream)
    assert done.returncode == 0, done.stderr
    assert sockets(done.stdout) == 2
    assert "RevisionLock" not in done.stdout


@pytest.mark.parametrize("listed", [False, True])
def test_kustomize_overlay(repository: Repository, kustomize: str, *, listed: bool) -> None:
    def fine(*words: str) -> str:
        return repository.fine(*words, "--kustomize", kustomize)

    for folder in ("instancetypes", "vms"):
        shutil.copytree(repository.folder / folder, repository.folder / "base", dirs_exist_ok=True)
        shutil.rmtree(repository.folder / folder)
    resources = "small.yaml, web.yaml"
    repository.write("base/kustomization.yaml", KUSTOMIZATION.format(resources=resources))
    repository.write("overlay/kustomization.yaml", KUSTOMIZATION.format(resources="../base"))
    fine("pin", "overlay")
    assert (repository.folder / "overlay" / LOCK).exists()
    if listed:
        text = KUSTOMIZATION.format(resources=f"../base, {LOCK}") + "commonLabels: {a: b}\n"
        repository.write("overlay/kustomization.yaml", text)
    text = (repository.folder / "base/small.yaml").read_text(encoding="utf-8")
    repository.write("base/small.yaml", text.replace("guest: 2\n", "guest: 4\n"))
    output = fine("build", "overlay")
    assert sockets(output) == 2
    assert "RevisionLock" not in output
    assert "VR608" in fine("check", "overlay")
    # The base has no lock of its own.
    assert sockets(fine("build", "base")) == 4


def test_adopting_a_running_fleet(repository: Repository) -> None:
    repository.vm("db")
    repository.instancetype("small", cpus=4)
    repository.write("../fleet.yaml", RUNNING)
    done = repository.run("pin", "--from", "../fleet.yaml")
    assert done.returncode == 1
    assert 'controllerrevisions.apps "db-small-v1beta1-1-1" not found' in done.stderr
    assert done.stderr.startswith("../fleet.yaml:21:5: error VR207 ")
    assert not repository.lock.exists()
    (repository.folder / "vms/db.yaml").unlink()
    assert "new, instancetype small@f79c7m9t64" in repository.fine("pin", "--from", "../fleet.yaml")
    output = repository.fine("build", "--pins", "require")
    assert sockets(output) == 2
    # It is what the cluster starts from its own objects.
    (vmi, *_) = render(documents(RUNNING), Settings(emit="vmi", catalog="none")).resources
    (ours,) = (
        body
        for body in documents(repository.fine("build", "--emit", "vmi"))
        if body["kind"] == "VirtualMachineInstance"
    )
    assert ours == vmi


def test_adopting_refuses_a_revision_that_the_cluster_has_otherwise(
    repository: Repository,
) -> None:
    revision = """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-small-v1beta1-1-1, namespace: prod}
data:
  apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {name: small}
  spec: {cpu: {guest: 7}, memory: {guest: 2Gi}}
revision: 0
"""
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    kind = "    kind: VirtualMachineInstancetype\n"
    named = text.replace(kind, f"{kind}    revisionName: web-small-v1beta1-1-1\n")
    repository.write("vms/web.yaml", named)
    repository.write("../fleet.yaml", RUNNING)
    repository.write("revision.yaml", revision)
    done = repository.run("pin", "--from", "../fleet.yaml")
    assert (done.returncode, repository.lock.exists()) == (1, False)
    assert done.stderr.count("error VR621") == 1
    repository.write("revision.yaml", revision.replace("guest: 7", "guest: 2"))
    assert "of ControllerRevision web-small-v1beta1-1-1" in repository.fine(
        "pin", "--from", "../fleet.yaml"
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("{}", "lacks the label instancetype.kubevirt.io/object-name"),
        ("{instancetype.kubevirt.io/object-name: large}", "belongs to large by its label"),
    ],
)
def test_adopting_names_what_a_revision_lacks(
    repository: Repository, labels: str, message: str
) -> None:
    dump = RUNNING.replace("{instancetype.kubevirt.io/object-name: small}", labels)
    repository.write("../fleet.yaml", dump)
    done = repository.run("pin", "--from", "../fleet.yaml")
    assert done.returncode == 1
    assert f"ControllerRevision web-small-v1beta1-1-1 {message}" in done.stderr
    assert "label it in the dump: instancetype.kubevirt.io/object-name: small" in done.stderr
    assert done.stderr.startswith("../fleet.yaml:9:5: error VR207 ")


def test_stamped_vms_are_verified(repository: Repository) -> None:
    output = repository.fine("build")
    done = repository.run("verify", "-", stdin=output)
    assert (done.returncode, done.stdout) == (0, "1 VirtualMachine verified\n")
    later = output.replace("runStrategy: Always", "runStrategy: Halted").replace(
        "    metadata:\n", "    metadata:\n      labels:\n        team: a\n"
    )
    assert later != output
    assert repository.run("verify", "-", stdin=later).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('guest: "2Gi"\n        cpu', 'guest: "3Gi"\n        cpu', "VR613"),
        ("virt-render.dev/rendered: sha256:", "virt-render.dev/rendered: sha512:", "VR613"),
        ("    virt-render.dev/rendered", "    other/rendered", "VR613"),
        ("  template:", "  preference:\n    name: fedora\n  template:", "VR612"),
    ],
)
def test_what_is_not_verified(repository: Repository, old: str, new: str, code: str) -> None:
    output = repository.fine("build")
    edited = output.replace(old, new)
    assert edited != output
    done = repository.run("verify", "-", stdin=edited)
    assert done.returncode == 1
    assert code in done.stdout


def test_vms_that_were_never_rendered(repository: Repository) -> None:
    assert repository.run("verify").returncode == 1
    assert repository.run("verify", "--allow-matchers").returncode == 0
    hashed = repository.fine("build", "--emit", "hashed")
    assert repository.run("verify", "--allow-matchers", "-", stdin=hashed).returncode == 0
    plain = repository.fine("build", "--no-annotations")
    assert repository.run("verify", "-", stdin=plain).returncode == 0
    assert repository.run("verify", "-", stdin="").returncode == 1


@pytest.mark.parametrize("option", [("--defaults", "cluster"), ("--firmware-uuid", "stable")])
def test_additions_are_verified_too(repository: Repository, option: tuple[str, str]) -> None:
    repository.fine("pin")
    output = repository.fine("build", *option)
    assert repository.run("verify", "-", stdin=output).returncode == 0
    annotations = vm_in(output, "web")["metadata"]["annotations"]
    assert annotations["virt-render.dev/revision"] == "1"
    assert annotations["virt-render.dev/rendered"] != repository.pins["prod/web"]["rendered"]


def test_rendering_again_keeps_the_stamps(repository: Repository) -> None:
    repository.fine("pin")
    output = repository.fine("build")
    again = repository.run("build", "-", stdin=output)
    assert again.stdout == output
    # An edit after the rendering is not covered up by rendering again.
    edited = output.replace('guest: "2Gi"\n        cpu', 'guest: "3Gi"\n        cpu')
    again = repository.run("build", "-", stdin=edited)
    assert again.stdout == edited
    assert repository.run("verify", "-", stdin=again.stdout).returncode == 1


def test_written_lock_is_what_the_library_takes(repository: Repository) -> None:
    repository.fine("pin")
    (lock,) = documents(repository.lock.read_text(encoding="utf-8"))
    repository.instancetype("small", cpus=4)
    bodies = documents(repository.fine("build", "--emit", "source", "--pins", "ignore"))
    rendered = render(bodies, Settings(lock=lock))
    assert sockets(writer.write(rendered.resources)) == 2
    assert sockets(writer.write(render([*bodies, lock]).resources)) == 2
    assert sockets(writer.write(render(bodies, Settings(lock=lock, pins="ignore")).resources)) == 4


def test_function_takes_the_lock_out(repository: Repository) -> None:
    repository.fine("pin")
    (lock,) = documents(repository.lock.read_text(encoding="utf-8"))
    repository.instancetype("small", cpus=4)
    items = [*documents(repository.fine("build", "--emit", "source", "--pins", "ignore")), lock]
    message = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    done = repository.run("krm", stdin=writer.dump(message))
    assert done.returncode == 0, done.stderr
    # A ResourceList is a list to the reader: its items are the documents.
    assert "RevisionLock" not in done.stdout
    assert "sockets: 2" in done.stdout


@pytest.mark.parametrize("emit", ["vm", "hashed", "revisions"])
def test_pins_follow_what_kustomize_renamed(repository: Repository, emit: str) -> None:
    repository.fine("pin")
    (lock,) = documents(repository.lock.read_text(encoding="utf-8"))
    repository.instancetype("small", cpus=4)
    bodies = documents(repository.fine("build", "--emit", "source", "--pins", "ignore"))
    for body in bodies:
        metadata = body["metadata"]
        metadata["annotations"] = {
            "internal.config.kubernetes.io/previousNames": metadata["name"],
            "internal.config.kubernetes.io/previousNamespaces": "prod",
            "internal.config.kubernetes.io/previousKinds": body["kind"],
        }
        metadata["name"] = f"dev-{metadata['name']}"
        metadata["namespace"] = "dev"
    rendered = render([*bodies, lock], Settings(emit=emit))  # type: ignore[arg-type] # one of them
    assert [found.code for found in rendered.diagnostics] == ["VR608"]
    started = render(rendered.resources, Settings(emit="vmi"))
    (vmi,) = (
        resource for resource in started.resources if resource["kind"] == "VirtualMachineInstance"
    )
    assert vmi["spec"]["domain"]["cpu"]["sockets"] == 2


@pytest.mark.parametrize("emit", ["vm", "revisions", "hashed", "source"])
def test_no_lock_hides_that_a_named_revision_is_missing(repository: Repository, emit: str) -> None:
    """KubeVirt would not start that VM, whatever a lock says."""
    repository.fine("pin")
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    name = "    kind: VirtualMachineInstancetype\n"
    repository.write("vms/web.yaml", text.replace(name, f"{name}    revisionName: web-small-1\n"))
    for words in (("build", "--emit", emit), ("pin",)):
        done = repository.run(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert "VR207" in done.stderr


def test_what_goes_out_as_it_came_needs_the_objects_themselves(repository: Repository) -> None:
    repository.fine("pin")
    assert repository.fine("build", "--emit", "source", "--pins", "require")
    (repository.folder / "instancetypes/small.yaml").unlink()
    assert sockets(repository.fine("build")) == 2
    done = repository.run("build", "--emit", "source")
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR201" in done.stderr


def test_hashed_brings_along_what_a_hashed_name_stands_for(repository: Repository) -> None:
    """A matcher that names a content stays as it is; the lock has the content where the object is gone."""
    hashed = repository.fine("build", "--emit", "hashed")
    repository.write("all.yaml", hashed)
    shutil.rmtree(repository.folder / "vms")
    shutil.rmtree(repository.folder / "instancetypes")
    repository.fine("pin")
    vm = next(part for part in hashed.split("---\n") if "kind: VirtualMachine\n" in part)
    repository.write("all.yaml", vm)
    kinds = [body["kind"] for body in documents(repository.fine("build", "--emit", "hashed"))]
    assert sorted(kinds) == ["VirtualMachine", "VirtualMachineInstancetype"]


def test_only_kustomize_is_blamed_where_it_fails(repository: Repository, kustomize: str) -> None:
    repository.fine("pin")
    before = repository.lock.read_bytes()
    text = KUSTOMIZATION.format(resources=f"vms/web.yaml, {LOCK}, nowhere.yaml")
    repository.write("kustomization.yaml", text)
    for command in ("build", "pin"):
        done = repository.run(command, ".", "--kustomize", kustomize)
        assert (done.returncode, done.stdout) == (3, "")
        assert "VR116" in done.stderr
        assert "VR6" not in done.stderr
    assert repository.lock.read_bytes() == before


def test_listed_lock_that_is_not_there_yet(repository: Repository, kustomize: str) -> None:
    text = KUSTOMIZATION.format(resources=f"vms/web.yaml, instancetypes/small.yaml, {LOCK}")
    repository.write("kustomization.yaml", text)
    done = repository.run("pin", "--kustomize", kustomize)
    assert done.returncode == 3
    assert f"virt-render pin writes {LOCK}: list it among the resources afterwards" in done.stderr


def test_pinning_where_a_function_renders(repository: Repository, kustomize: str) -> None:
    """kustomize, told to run plugins but no programs, leaves the function out: that is the input of ``pin``."""
    function = (
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nmetadata:\n  name: render\n"
        "  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: virt-render}\n"
    )
    repository.write("render.yaml", function)
    resources = "vms/web.yaml, instancetypes/small.yaml"
    text = KUSTOMIZATION.format(resources=resources) + "transformers: [render.yaml]\n"
    repository.write("kustomization.yaml", text)
    done = repository.run("pin", "--kustomize", kustomize)
    assert done.returncode == 3
    assert f"virt-render pin --lock {LOCK} -" in done.stderr
    repository.write("locks/web.yaml", "")
    done = repository.run("build", "--kustomize", kustomize, "--lock", "locks/web.yaml")
    assert "virt-render pin --lock locks/web.yaml -" in done.stderr
    built = subprocess.run(
        [kustomize, "build", "--enable-alpha-plugins", "."],
        cwd=repository.folder, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    done = repository.run("pin", "--lock", LOCK, "-", stdin=built.stdout)
    assert done.returncode == 0, done.stderr
    assert list(repository.pins) == ["prod/web"]


def test_function_says_how_to_pin_what_it_gets(repository: Repository) -> None:
    repository.fine("pin")
    items = documents(repository.fine("build", "--emit", "source"))
    message = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": {
            "apiVersion": "virt-render.dev/v1alpha1", "kind": "RenderConfig", "spec": {"pins": "require"},
        },
        "items": items,
    }  # fmt: skip
    done = repository.run("krm", stdin=json.dumps(message))
    assert done.returncode == 1
    assert "VR606" in done.stderr
    assert f"--enable-alpha-plugins . | virt-render pin --lock {LOCK} -" in done.stderr


def test_path_that_is_not_there(repository: Repository) -> None:
    done = repository.run("pin", "nowhere")
    assert (done.returncode, done.stdout) == (3, "")
    assert "VR110" in done.stderr
    assert "cannot read nowhere: No such file or directory" in done.stderr
    assert repository.run("build", "nowhere").stderr.startswith(done.stderr)


@pytest.mark.parametrize(
    "metadata", ["{name: 12}", "{}", "[]", "{namespace: other, labels: {a: b}}"]
)
def test_what_a_lock_is_called_means_nothing(repository: Repository, metadata: str) -> None:
    repository.fine("pin")
    text = repository.lock.read_text(encoding="utf-8")
    named = text.replace("metadata:\n  name: virt-render-lock\n", f"metadata: {metadata}\n")
    assert named != text
    repository.lock.write_text(named, encoding="utf-8")
    assert sockets(repository.fine("build", "--pins", "require")) == 2


@pytest.mark.parametrize("name", ['"not a vm!!"', "prod/DB/x", '""', "prod/"])
def test_pins_of_what_cannot_be_a_vm(repository: Repository, name: str) -> None:
    repository.fine("pin")
    text = repository.lock.read_text(encoding="utf-8")
    repository.lock.write_text(text.replace("prod/web:", f"{name}:"), encoding="utf-8")
    done = repository.run("build")
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR601" in done.stderr


@pytest.mark.parametrize("name", ['"a b"', "a/b/c"])
def test_no_lock_is_written_that_could_not_be_read(repository: Repository, name: str) -> None:
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    repository.write("vms/web.yaml", text.replace("name: web\n", f"name: {name}\n"))
    done = repository.run("pin")
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR109" in done.stderr
    assert not repository.lock.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_table_that_cannot_be_written(repository: Repository) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "render", "pin"],
            cwd=repository.folder, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert (
        f"cannot write the table to standard output: No space left on device; {LOCK} was written"
        in done.stderr
    )
    assert repository.pins


def test_check_fails_where_pin_would_write(repository: Repository) -> None:
    repository.fine("pin")
    right = repository.lock.read_bytes()
    repository.lock.write_bytes(right.replace(b"\n", b"\r\n"))
    repository.fine("pin", "--check")
    repository.lock.write_bytes(right.replace(b"pins:\n", b"# by hand\npins:\n"))
    done = repository.run("pin", "--check")
    assert done.returncode == 1
    assert f"{LOCK} is not as virt-render pin writes it" in done.stderr
    assert repository.fine("pin") == "nothing moved\n"
    assert repository.lock.read_bytes() == right
    repository.fine("pin", "--check")


def test_faulty_lock_is_all_that_is_said(repository: Repository) -> None:
    """In a stream as in the function: a VM is not called unpinned because the lock cannot be read."""
    repository.fine("pin")
    manifests = repository.fine("build", "--emit", "source")
    edited = repository.lock.read_text(encoding="utf-8").replace("guest: 2\n", "guest: 3\n")
    done = repository.run("build", "-", "--pins", "require", stdin=f"{manifests}---\n{edited}")
    assert done.returncode == 1
    assert "VR603" in done.stderr
    assert "VR606" not in done.stderr


def test_pin_says_once_what_the_vms_of_several_locks_keep(ask: Ask) -> None:
    """As `check` does."""
    folders = ("prod", "test")
    listed = {
        f"{at}/kustomization.yaml": f"resources: [vm.yaml]\nnamespace: {at}\n" for at in folders
    }
    machines = {f"{at}/vm.yaml": manifests.vm("web", instancetype="small") for at in folders}
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": manifests.instancetype("small"),
    }
    assert ask("pin", ".", files={**files, **listed, **machines}).exit == Exit.OK
    Path("platform/small.yaml").write_text(
        manifests.instancetype("small", cpus=4), encoding="utf-8"
    )
    answer = ask("pin", "--check", ".")
    told = answer.out + answer.err
    assert told.count("VR608") == 1
    assert "differs from what prod/web, test/web are pinned to" in told
