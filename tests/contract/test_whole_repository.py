"""``check .`` at the root of a repository: right about VMs, and silent about everything else."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from render.revisions import hashes
from tests.support import manifests, process, surroundings
from tests.support.calls import calls
from tests.support.manifests import NAMESPACED, instancetype, vm
from tests.support.repository import documents

MANY = 20_000
#: For each file; to parse a small one takes thousands.
MOST_CALLS = 150
CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"


def check(folder: Path, *words: str, kustomize: str = "never") -> tuple[int, dict[str, str]]:
    """The exit status of ``check``, and the code of each error and warning by file."""
    done = process.run("check", "--format", "json", "--kustomize", kustomize, *words, cwd=folder)
    found = json.loads(done.stdout)["diagnostics"]
    diagnostics = [diagnostic for diagnostic in found if diagnostic["severity"] != "info"]
    pairs = {(diagnostic["file"], diagnostic["code"]) for diagnostic in diagnostics}
    assert len(dict(pairs)) == len(pairs), diagnostics
    return done.returncode, dict(pairs)


def test_only_what_is_planted_is_found(tmp_path: Path, kustomize: str) -> None:
    surroundings.write(tmp_path)
    assert check(tmp_path, kustomize=kustomize) == (Exit.FINDINGS, surroundings.PLANTED)


def test_named_files_that_do_not_matter_are_fine(tmp_path: Path, kustomize: str) -> None:
    surroundings.write(tmp_path)
    names = [
        "values/prod.yaml",
        "ansible/playbook.yml",
        "broken/kustomization.yaml",
        "jinja/vm.yaml",
    ]
    done = process.run("check", "--kustomize", kustomize, "--", *names, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (Exit.OK, "")


def test_reading_past_what_does_not_matter_costs_little(
    tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is parsed of it: the calls for a file more are those that find it, open it and search it."""
    surroundings.write(tmp_path, MANY)
    monkeypatch.chdir(tmp_path)

    def checked(folder: str) -> int:
        return calls(lambda: invoke(["check", "--kustomize", kustomize, "--", folder]))

    assert checked(".") - checked("vms") <= MOST_CALLS * MANY
    assert check(tmp_path, kustomize=kustomize)[1] == surroundings.PLANTED


def test_the_same_name_in_folders_side_by_side_is_fine(tmp_path: Path) -> None:
    for team, memory in (("a", ""), ("b", ""), ("c", "2Gi")):
        text = vm(namespace="prod", instancetype="own", kind=NAMESPACED, memory=memory)
        manifests.put(tmp_path / f"vms/team-{team}/vm.yaml", text)
        own = instancetype("own", namespace="prod", kind=NAMESPACED)
        manifests.put(tmp_path / f"vms/team-{team}/own.yaml", own)
    assert check(tmp_path) == (Exit.FINDINGS, {"vms/team-c/vm.yaml": "VR301"})
    manifests.put(tmp_path / "vms/team-a/again.yaml", vm(namespace="prod", memory="1Gi"))
    assert check(tmp_path)[1] == {
        "vms/team-a/vm.yaml": "VR103", "vms/team-c/vm.yaml": "VR301",
    }  # fmt: skip


def test_roots_can_be_said(tmp_path: Path) -> None:
    manifests.put(tmp_path / "vms/a/vm.yaml", vm(memory="1Gi"))
    manifests.put(tmp_path / "vms/a/b/vm.yaml", vm(memory="1Gi"))
    assert check(tmp_path)[1] == {"vms/a/vm.yaml": "VR103"}
    output = process.run("check", cwd=tmp_path).stdout
    assert "or name folders that are applied apart as roots in .virt-render.yaml" in output
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  roots: [vms/a, vms/a/*]\n")
    assert check(tmp_path) == (Exit.OK, {})
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  roots: [vms]\n")
    assert check(tmp_path)[1] == {"vms/a/vm.yaml": "VR103"}


@pytest.mark.parametrize("pattern", ["old", "old/", "vms/old/*", "**/bad.yaml", "vms/**", "*/o?d"])
def test_what_is_excluded_is_not_read(tmp_path: Path, pattern: str) -> None:
    manifests.put(tmp_path / "vms/old/bad.yaml", vm(instancetype="gone"))
    assert check(tmp_path)[1] == {"vms/old/bad.yaml": "VR201"}
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  exclude: ['{pattern}']\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert check(tmp_path) == (Exit.OK, {})
    assert check(tmp_path, "vms/old/bad.yaml") == (Exit.OK, {})
    assert check(tmp_path / "vms", ".") == (Exit.OK, {})


def test_patterns_that_match_nothing_are_said_once(tmp_path: Path) -> None:
    manifests.put(tmp_path / "vms/a/vm.yaml", vm(memory="1Gi"))
    config = f"{CONFIG}  roots: [vms/*, vm/*]\n  shared: [vms/a/vm.yaml, b]\n  exclude: [c]\n"
    manifests.put(tmp_path / ".virt-render.yaml", config)
    done = process.run("check", "--verbose", "--format", "json", cwd=tmp_path)
    diagnostics = [
        diagnostic
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["code"] == "VR803"
    ]
    assert [
        (diagnostic["line"], diagnostic["column"], diagnostic["severity"], diagnostic["message"])
        for diagnostic in diagnostics
    ] == [
        (4, 18, "warning", "roots: vm/* matches no file and no folder"),
        (5, 27, "warning", "shared: b matches no file and no folder"),
        (6, 13, "info", "exclude: c matches no file and no folder"),
    ]
    assert done.returncode == Exit.OK
    assert check(tmp_path / "vms")[1] == {}  # what is further up is not asked about here


def test_what_cannot_be_read_is_counted_in_the_last_line(tmp_path: Path) -> None:
    """Links to elsewhere, and what stands under the name of a manifest and is none."""
    manifests.put(tmp_path / "out/vm.yaml", vm("other", memory="1Gi"))
    manifests.put(tmp_path / "repo/vm.yaml", vm(memory="1Gi"))
    (tmp_path / "repo/link.yaml").symlink_to("../out/vm.yaml")
    (tmp_path / "repo/folder").symlink_to("../out")
    (tmp_path / "repo/gone.yaml").symlink_to("nowhere")
    done = process.run("check", ".", cwd=tmp_path / "repo")
    assert done.returncode == Exit.OK
    unread = "not looked at: 2 links out of the folder, 1 path that cannot be read (-v)"
    assert "1 VM: no findings" in done.stderr
    assert unread in done.stderr


def test_settings_further_below_count_where_their_folder_is_named(tmp_path: Path) -> None:
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  admission: full\n")
    manifests.put(tmp_path / "vms/vm.yaml", vm(memory="1Gi"))
    manifests.put(tmp_path / "vms/.virt-render.yaml", f"{CONFIG}  emit: nonsense\n")
    done = process.run("check", "--verbose", cwd=tmp_path)
    assert done.returncode == Exit.OK
    assert "skipped: these settings count where vms itself is named" in done.stdout
    assert "not looked at: 1 nested .virt-render.yaml file (-v)" in done.stderr
    done = process.run("check", "vms", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("'nonsense' is not one of")) == (Exit.USAGE, 1)


def test_the_nearest_settings_above_count_in_their_repository(tmp_path: Path) -> None:
    def release(path: str, at: str) -> str:
        done = process.run("build", path, cwd=tmp_path / at)
        assert done.returncode == Exit.OK, done.stderr
        return done.stdout.partition("kubevirt-v")[2][:3]

    def configure(folder: str, kubevirt: str) -> None:
        text = f'{CONFIG}  kubevirt: "{kubevirt}"\n  catalog: [bundled, types]\n'
        manifests.put(tmp_path / folder / ".virt-render.yaml", text)

    web = "repo/apps/web"
    manifests.put(tmp_path / web / "vm.yaml", vm(instancetype="u1.small"))
    configure(".", "1.5")
    (tmp_path / "types").mkdir()
    assert release(".", at=web) == "1.9"  # nothing above the working directory
    assert release(web, at=".") == "1.5"
    (tmp_path / "repo/.git").mkdir()
    assert release(".", at=web) == "1.9"  # nor above the repository
    configure("repo", "1.6")
    manifests.put(tmp_path / "repo/types/small.yaml", instancetype("small"))
    manifests.put(tmp_path / web / "other.yaml", vm("other", instancetype="small"))
    assert release(".", at=web) == release(web, at=".") == release("apps/web", at="repo") == "1.6"
    configure("repo/apps", "1.7")
    (tmp_path / "repo/types").rename(tmp_path / "repo/apps/types")
    assert release(".", at=web) == release(web, at=".") == release("web", at="repo/apps") == "1.7"


def test_a_named_patch_that_nobody_lists_any_more_is_told_to_be_listed(
    tmp_path: Path, kustomize: str
) -> None:
    patch = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
    manifests.put(tmp_path / "vms/vm.yaml", vm(memory="1Gi"))
    manifests.put(tmp_path / "vms/kustomization.yaml", "resources: [vm.yaml]\n")
    manifests.put(tmp_path / "vms/size.yaml", f"{patch}spec: {{template: {{spec: {{}}}}}}\n")
    manifests.put(tmp_path / "loose/size.yaml", f"{patch}spec: {{template: {{spec: {{}}}}}}\n")
    (tmp_path / ".git").mkdir()
    for folder, is_told in (("vms", True), ("loose", False)):
        done = process.run(
            "check", f"{folder}/size.yaml", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize
        )
        assert f"{folder}/size.yaml:4:19: error VR107" in done.stdout
        assert ("list it among the patches of vms/kustomization.yaml" in done.stdout) == is_told


def test_patterns_have_to_be_a_list(tmp_path: Path) -> None:
    for key in ("exclude", "roots", "shared"):
        manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  {key}: vms\n")
        done = process.run("check", cwd=tmp_path)
        assert done.returncode == Exit.USAGE
        assert done.stdout.startswith(
            ".virt-render.yaml:4:3: error VR801"
        ) or done.stdout.startswith(".virt-render.yaml:4:")


def test_a_folder_that_git_ignores_is_read_where_it_is_named(tmp_path: Path) -> None:
    manifests.put(tmp_path / ".gitignore", "out/\n")
    manifests.put(tmp_path / "out/vm.yaml", vm(instancetype="gone"))
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert check(tmp_path) == (Exit.OK, {})
    assert check(tmp_path, "out")[1] == {"out/vm.yaml": "VR201"}


def test_definitions_of_other_folders_are_seen(tmp_path: Path, kustomize: str) -> None:
    kind = "VirtualMachinePreference"
    preference = instancetype("p", namespace="prod", kind=kind).partition("spec:")[0] + "spec: {}\n"
    text = vm(namespace="prod", instancetype="small", memory="2Gi")
    text = text.replace("  template:", f"  preference: {{name: p, kind: {kind}}}\n  template:", 1)
    manifests.put(tmp_path / "app/kustomization.yaml", "resources: [vm.yaml]\n")
    manifests.put(tmp_path / "app/vm.yaml", text)
    manifests.put(tmp_path / "types/kustomization.yaml", "resources: [small.yaml, p.yaml]\n")
    manifests.put(tmp_path / "types/small.yaml", instancetype("small"))
    manifests.put(tmp_path / "types/p.yaml", preference)
    assert check(tmp_path, kustomize=kustomize)[1] == {"app/vm.yaml": "VR301"}
    done = process.run("check", "--kustomize", kustomize, cwd=tmp_path)
    assert (
        "types/small.yaml:9:5: VirtualMachineClusterInstancetype small sets memory.guest: 1Gi"
        in done.stdout
    )


def test_the_nearest_definition_counts_and_as_near_ones_are_named(tmp_path: Path) -> None:
    roots = "  roots: [clusters/*, clusters/*/vms]\n"
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}{roots}")
    for cluster, guest in (("a", "1Gi"), ("b", "3Gi")):
        manifests.put(
            tmp_path / f"clusters/{cluster}/types.yaml", instancetype("small", memory=guest)
        )
    manifests.put(tmp_path / "clusters/a/vms/vm.yaml", vm(instancetype="small", memory="1Gi"))
    done = process.run("check", cwd=tmp_path)
    assert "clusters/a/types.yaml:9:5: " in done.stdout
    assert "VR212" not in done.stdout
    manifests.put(tmp_path / "clusters/c/vm.yaml", vm("other", instancetype="small"))
    assert check(tmp_path)[1] == {
        "clusters/a/types.yaml": "VR212", "clusters/a/vms/vm.yaml": "VR301",
    }  # fmt: skip
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}{roots}  shared: [clusters/a]\n")
    assert check(tmp_path)[1] == {"clusters/a/vms/vm.yaml": "VR301"}


def test_a_flavour_of_another_folder_is_seen(tmp_path: Path) -> None:
    manifests.put(
        tmp_path / "cluster/flavor.yaml",
        "apiVersion: flavor.kubevirt.io/v1alpha1\nkind: VirtualMachineFlavor\n"
        "metadata: {name: small, namespace: prod}\nspec: {cpu: {guest: 2}, memory: {guest: 2Gi}}\n",
    )
    manifests.put(
        tmp_path / "vms/stored.yaml",
        "apiVersion: kubevirt.io/v1alpha1\nkind: VM\nmetadata:\n  {name: stored, namespace: prod, "
        "annotations: {kubevirt.io/flavour: small}}\nspec: {domain: {}}\n",
    )
    manifests.put(tmp_path / ".virt-render.yaml", f"{CONFIG}  roots: [cluster, vms]\n")
    done = process.run("check", cwd=tmp_path)
    assert done.returncode == Exit.OK, done.stdout + done.stderr
    text = (tmp_path / "vms/stored.yaml").read_text()
    manifests.put(tmp_path / "vms/stored.yaml", text.replace("flavour: small", "flavour: none"))
    done = process.run("check", cwd=tmp_path)
    assert "flavour none is no flavor" in done.stdout + done.stderr


def test_cluster_settings_of_another_folder_are_seen(tmp_path: Path, kustomize: str) -> None:
    manifests.put(tmp_path / "app/kustomization.yaml", "resources: [vm.yaml]\n")
    manifests.put(tmp_path / "app/vm.yaml", vm(memory="1Gi"))
    manifests.put(tmp_path / "infra/kustomization.yaml", "resources: [kubevirt.yaml]\n")
    text = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\nspec: {}\n"
    manifests.put(tmp_path / "infra/kubevirt.yaml", text)
    done = process.run("check", "--kustomize", kustomize, "-v", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == Exit.OK
    assert [diagnostic["file"] for diagnostic in found if diagnostic["code"] == "VR708"] == [
        "infra/kubevirt.yaml"
    ]
    old = text.replace("spec: {}", "spec: {}\nstatus: {observedKubeVirtVersion: v1.6.2}")
    manifests.put(tmp_path / "infra/kubevirt.yaml", old)
    done = process.run("check", "--kustomize", kustomize, "-v", "--format", "json", cwd=tmp_path)
    found = [
        diagnostic
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["code"] == "VR711"
    ]
    assert {item["file"] for item in found} == {"infra/kubevirt.yaml"}
    assert "1.6" in found[0]["message"]


OPERATOR = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: virt-operator, namespace: kubevirt, labels: {kubevirt.io: virt-operator}}
spec: {template: {spec: {containers: [{name: virt-operator, image: "quay.io/kubevirt/virt-operator:v1.6.2"}]}}}
"""
DOWNLOADED = "https://github.com/kubevirt/kubevirt/releases/download/v1.6.2/kubevirt-operator.yaml"
PLAIN = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec: {}
"""


@pytest.mark.parametrize(
    ("files", "release"),
    [
        ({"op.yaml": OPERATOR, "kustomization.yaml": "resources: [op.yaml]\n"}, "1.6"),
        ({"op.yaml": OPERATOR, "cr.yaml": PLAIN}, "1.6"),
        ({"op.yaml": OPERATOR, "cr.yaml": PLAIN.replace("{}", "{imageTag: v1.7.1}")}, "1.7"),
        ({"kustomization.yaml": f"resources: [{DOWNLOADED}]\n"}, "1.6"),
        ({"kustomization.yaml": f"resources: [{DOWNLOADED}, cr.yaml]\n", "cr.yaml": PLAIN}, "1.6"),
        ({"kustomization.yaml": f"resources: [{DOWNLOADED.replace('operator', 'cr')}]\n"}, "1.9"),
    ],
)
def test_what_installs_kubevirt_says_which_release_runs(
    tmp_path: Path, kustomize: str, files: dict[str, str], release: str
) -> None:
    """The operator, wherever it stands, or by its URL; a KubeVirt with a tag of its own wins."""
    manifests.put(tmp_path / "app/kustomization.yaml", "resources: [vm.yaml]\n")
    manifests.put(tmp_path / "app/vm.yaml", vm(memory="1Gi"))
    for name, text in files.items():
        manifests.put(tmp_path / "infra" / name, text)
    done = process.run("check", "--kustomize", kustomize, cwd=tmp_path)
    assert f"for KubeVirt {release}, since" in done.stderr
    assert done.returncode == Exit.OK


def test_two_clusters_that_install_different_releases_say_nothing(
    tmp_path: Path, kustomize: str
) -> None:
    manifests.put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    for version in ("6", "8"):
        url = DOWNLOADED.replace("1.6", f"1.{version}")
        manifests.put(tmp_path / version / "kustomization.yaml", f"resources: [{url}]\n")
    done = process.run("check", "--kustomize", kustomize, cwd=tmp_path)
    assert "for KubeVirt 1.9, since nothing says which release runs" in done.stderr


def test_a_claim_without_a_label_is_read_where_a_vm_infers_from_it(tmp_path: Path) -> None:
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: root, namespace: prod}\n"
    manifests.put(tmp_path / "claim.yaml", claim)
    infer = "  instancetype: {inferFromVolume: root}\n  template:"
    text = vm(namespace="prod").replace("  template:", infer)
    volumes = "      volumes: [{name: root, persistentVolumeClaim: {claimName: root}}]\n"
    manifests.put(tmp_path / "vm.yaml", text + volumes)
    done = process.run("check", cwd=tmp_path)
    assert (
        "unable to find required instancetype.kubevirt.io/default-instancetype label" in done.stdout
    )


def test_migrate_is_not_held_up_by_what_is_none_of_its_business(tmp_path: Path) -> None:
    surroundings.write(tmp_path)
    old = vm("old", memory="1Gi").replace("kubevirt.io/v1", "kubevirt.io/v1alpha3", 1)
    manifests.put(tmp_path / "legacy/older.yaml", old)
    done = process.run("migrate", "--kustomize", "never", cwd=tmp_path)
    assert done.returncode == Exit.OK, done.stderr
    assert "legacy/older.yaml: VirtualMachine old" in done.stdout
    assert (tmp_path / "legacy/older.yaml").read_text(encoding="utf-8") == vm("old", memory="1Gi")


DATA_SOURCE = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataSource
metadata:
  name: fedora
  namespace: prod
  labels:
    instancetype.kubevirt.io/default-instancetype: own
    instancetype.kubevirt.io/default-instancetype-kind: VirtualMachineInstancetype
spec: {source: {pvc: {name: fedora, namespace: prod}}}
"""
INFERRED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {inferFromVolume: root}
  dataVolumeTemplates:
  - metadata: {name: web-root}
    spec:
      sourceRef: {kind: DataSource, name: fedora, namespace: prod}
      storage: {resources: {requests: {storage: 10Gi}}}
  template:
    spec:
      domain: {devices: {}}
      volumes: [{name: root, dataVolume: {name: web-root}}]
"""
POOL = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {name: pool, namespace: prod}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  virtualMachineTemplate:
    metadata: {labels: {a: b}}
    spec:
      runStrategy: Always
      instancetype: {name: own, kind: VirtualMachineInstancetype}
      template: {metadata: {labels: {a: b}}, spec: {domain: {devices: {}}}}
"""


def lay_out(folder: Path, *roots: str) -> None:
    """Say that these *roots* are there, and make them."""
    manifests.put(folder / ".virt-render.yaml", f"{CONFIG}  roots: [{', '.join(roots)}]\n")
    for root in roots:
        (folder / root).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("beside", ["images", "vms"])
def test_what_is_inferred_is_found_in_other_folders_too(tmp_path: Path, beside: str) -> None:
    lay_out(tmp_path, "vms", "images", "types")
    manifests.put(tmp_path / "vms/vm.yaml", INFERRED)
    manifests.put(tmp_path / beside / "fedora.yaml", DATA_SOURCE)
    assert check(tmp_path) == (Exit.FINDINGS, {"vms/vm.yaml": "VR201"})
    own = instancetype("own", namespace="prod", kind=NAMESPACED)
    manifests.put(tmp_path / "types/own.yaml", own)
    assert check(tmp_path) == (Exit.OK, {})


def test_what_a_pool_names_is_found_in_other_folders_too(tmp_path: Path) -> None:
    lay_out(tmp_path, "vms", "types")
    manifests.put(tmp_path / "vms/pool.yaml", POOL)
    assert check(tmp_path) == (Exit.FINDINGS, {"vms/pool.yaml": "VR441"})
    own = instancetype("own", namespace="prod", kind=NAMESPACED)
    manifests.put(tmp_path / "types/own.yaml", own)
    assert check(tmp_path) == (Exit.OK, {})


@pytest.mark.parametrize("other", ["kubevirt", "main"])
def test_settings_of_two_clusters_are_unclear_to_roots_with_vms_alone(
    tmp_path: Path, other: str
) -> None:
    lay_out(tmp_path, "types", "vms", "one", "two")
    for cluster, name, strategy in (("one", "kubevirt", "None"), ("two", other, "LiveMigrate")):
        text = (
            "apiVersion: kubevirt.io/v1\nkind: KubeVirt\n"
            f"metadata: {{name: {name}, namespace: kubevirt}}\n"
            f"spec: {{configuration: {{evictionStrategy: {strategy}}}}}\n"
        )
        manifests.put(tmp_path / cluster / "kubevirt.yaml", text)
    manifests.put(tmp_path / "types/own.yaml", instancetype("own", namespace="prod"))
    assert check(tmp_path) == (Exit.OK, {})
    manifests.put(tmp_path / "vms/vm.yaml", vm(namespace="prod", memory="1Gi"))
    assert check(tmp_path) == (Exit.OK, {"one/kubevirt.yaml": "VR212"})


def test_a_rendered_vm_is_left_out_where_its_source_is_read(tmp_path: Path) -> None:
    """Its stamp has to be true, and hides nothing by itself."""
    manifests.put(tmp_path / "web.yaml", vm("web", namespace="prod", instancetype="small"))
    manifests.put(tmp_path / "small.yaml", instancetype())
    rendered = process.run("build", ".", cwd=tmp_path).stdout
    assert "kind: VirtualMachineClusterInstancetype" in rendered
    manifests.put(tmp_path / "out/web.yaml", rendered)
    done = process.run("check", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "not looked at: 1 rendered VM whose source is read too (-v)" in done.stderr
    manifests.put(tmp_path / "out/web.yaml", rendered.replace("1Gi", "2Gi"))
    assert "VR103" in process.run("check", ".", cwd=tmp_path).stdout
    (tmp_path / "web.yaml").unlink()
    (tmp_path / "small.yaml").unlink()
    manifests.put(tmp_path / "out/web.yaml", rendered)
    assert process.run("check", ".", cwd=tmp_path).stderr.startswith("1 VM")


def test_a_rendered_vm_that_changes_is_told(tmp_path: Path) -> None:
    """Its stamp is true, and it is not what its source renders to: it may be what a cluster gets."""
    for state, size in (("old", "1Gi"), ("new", "2Gi")):
        sources = vm("web", namespace="prod", instancetype="small"), instancetype()
        manifests.put(tmp_path / state / "web.yaml", sources[0])
        manifests.put(tmp_path / state / "small.yaml", sources[1].replace("1Gi", size))
        rendered = process.run("build", "--emit", "vm", state, cwd=tmp_path).stdout
        manifests.put(tmp_path / state / "out/web.yaml", rendered)
        manifests.put(tmp_path / state / "small.yaml", sources[1])
    copy = "rendered VM whose source is read too"
    done = process.run("diff", "--format", "json", "old", "new", cwd=tmp_path)
    assert json.loads(done.stdout)["unseen"] == {f"changed {copy}": 1}
    assert json.loads(done.stdout)["unseenBefore"] == {}
    done = process.run("diff", "--format", "json", "old", "old", cwd=tmp_path)
    assert json.loads(done.stdout)["unseen"] == {copy: 1}


@pytest.mark.parametrize("is_stamp_true", [False, True])
def test_a_rendered_vm_that_somebody_edits_says_so_itself(
    tmp_path: Path,
    is_stamp_true: bool,  # noqa: FBT001 - parametrized
) -> None:
    """Who applies the folder gets the edit, whatever its stamp says: it was a new VM, or the same."""
    for state, size in (("old", "1Gi"), ("new", "2Gi")):
        manifests.put(
            tmp_path / state / "src/web.yaml", vm("web", namespace="prod", instancetype="small")
        )
        manifests.put(tmp_path / state / "src/small.yaml", instancetype())
        done = process.run("build", "-q", "-o", "out/", "src", cwd=tmp_path / state)
        assert done.returncode == 0
        copy = tmp_path / state / "out/prod/virtualmachine-web.yaml"
        text = copy.read_text(encoding="utf-8").replace("1Gi", size)
        if is_stamp_true:
            (document,) = documents(text)
            stamp = hashes.rendered_hash(document["spec"])
            text = re.sub(r"(rendered: )\S+", rf"\g<1>{stamp}", text)
        manifests.put(copy, text)
    for states, effects in (
        (("old", "new"), {"restart": 1, "same": 1}),
        (("old", "old"), {"same": 1}),
    ):
        done = process.run("diff", "--format", "json", *states, cwd=tmp_path)
        counts = json.loads(done.stdout)["counts"]
        assert {effect: count for effect, count in counts.items() if count} == effects
    done = process.run("diff", "old", "new", cwd=tmp_path)
    assert re.search(
        r"1Gi -> 2Gi \(restart\)  new/out/prod/virtualmachine-web\.yaml:\d+", done.stdout
    )
    # What is rendered anew is told at its source.
    manifests.put(tmp_path / "new/src/small.yaml", instancetype().replace("1Gi", "2Gi"))
    shutil.rmtree(tmp_path / "new/out")
    process.run("build", "-q", "-o", "out/", "src", cwd=tmp_path / "new")
    assert (
        "1 changed rendered VM whose source is read too"
        in process.run("diff", "old", "new", cwd=tmp_path).stdout
    )


@pytest.mark.parametrize("labelled", ["", "x: y"])
def test_a_vm_that_is_rendered_of_what_its_source_does_not_name_says_so_itself(
    tmp_path: Path, labelled: str
) -> None:
    """Its stamp is true, and its source may have another edit: that one does not speak for it."""
    source = vm("web", namespace="prod", instancetype="u1.medium")
    for state, size, label in (("old", "u1.medium", ""), ("new", "u1.2xlarge", labelled)):
        labels = f"metadata:\n  labels: {{{label}}}\n"
        manifests.put(tmp_path / state / "src/web.yaml", source.replace("metadata:\n", labels, 1))
        manifests.put(tmp_path / "work/web.yaml", source.replace("u1.medium", size))
        (tmp_path / state / "out").mkdir()
        done = process.run(
            "build", "-q", "-o", f"../{state}/out/web.yaml", "web.yaml", cwd=tmp_path / "work"
        )
        assert done.returncode == 0
    done = process.run("diff", "old", "new", cwd=tmp_path)
    assert re.search(r"4Gi -> 32Gi.* new/out/web\.yaml:\d+", done.stdout)
    manifests.put(tmp_path / "new/src/web.yaml", source.replace("u1.medium", "u1.2xlarge"))
    done = process.run("diff", "old", "new", cwd=tmp_path)
    assert "1 changed rendered VM whose source is read too" in done.stdout


def test_rendered_vms_of_one_file_are_all_counted(tmp_path: Path) -> None:
    for name in ("web", "db", "mail"):
        manifests.put(tmp_path / f"{name}.yaml", vm(name, namespace="prod", instancetype="small"))
    manifests.put(tmp_path / "small.yaml", instancetype())
    rendered = process.run("build", ".", cwd=tmp_path).stdout
    manifests.put(tmp_path / "out/all.yaml", rendered)
    done = process.run("check", ".", cwd=tmp_path)
    assert "not looked at: 3 rendered VMs whose source is read too (-v)" in done.stderr


def test_what_was_printed_with_a_rendered_vm_is_left_out_in_its_folder(tmp_path: Path) -> None:
    """A file each, of which only those of VMs carry a stamp."""
    manifests.put(tmp_path / "web.yaml", vm("web", namespace="prod", instancetype="small"))
    manifests.put(tmp_path / "small.yaml", instancetype())
    assert process.run("build", "-q", "-o", "out/", ".", cwd=tmp_path).returncode == 0
    copy = tmp_path / "out" / "virtualmachineclusterinstancetype-small.yaml"
    done = process.run("check", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "not looked at: 1 rendered VM whose source is read too (-v)" in done.stderr
    moved = copy.rename(tmp_path / "out" / "other.yaml")
    assert "VR103" in process.run("check", ".", cwd=tmp_path).stdout, "it is called otherwise"
    moved.rename(copy)
    manifests.put(copy, copy.read_text(encoding="utf-8").replace("1Gi", "2Gi"))
    assert "VR103" in process.run("check", ".", cwd=tmp_path).stdout, "it says something else"


@pytest.mark.parametrize("paths", [(".",), ("out/web.yaml",), ("--kubevirt", "1.8", ".")])
def test_a_rendered_vm_has_to_be_right_by_itself(tmp_path: Path, paths: tuple[str, ...]) -> None:
    """Anybody can write a true stamp, and the copy may be what is applied."""
    (tmp_path / ".git").mkdir()
    source = vm("web", namespace="prod", instancetype="u1.medium")
    manifests.put(tmp_path / "web.yaml", source)
    refused = source.replace("devices: {}", "devices: {disks: [{name: r, disk: {bus: ide}}]}")
    assert refused != source
    options = ("build", "--admission", "off", "-")
    forged = process.run(*options, cwd=tmp_path, stdin=refused).stdout
    for copy in ("out", "more"):
        manifests.put(tmp_path / copy / "web.yaml", forged)
    done = process.run("check", *paths, cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(
        r"^out/web\.yaml:\d+:\d+: error VR420 disks/ide-bus", done.stdout, re.MULTILINE
    )
    assert "VR103" not in done.stdout
    number = "1 rendered VM" if paths == ("out/web.yaml",) else "2 rendered VMs"
    assert f"not looked at: {number} whose source is read too" in done.stderr


def test_a_vm_in_parameters_of_tekton_is_counted(tmp_path: Path) -> None:
    """E15."""
    text = "\n".join(f"        {line}" for line in manifests.vm("web", memory="1Gi").splitlines())
    manifests.put(
        tmp_path / "run.yaml",
        "apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: run}\nspec:\n  params:\n"
        f"    - name: manifest\n      value: |\n{text}\n",
    )
    done = process.run("check", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert "not looked at: 1 Tekton object with a VM in its parameters (-v)" in done.stderr


_MISNAMED = (
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\n"
)


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        ("kustomize.yaml", _MISNAMED, True),
        ("kustomization.YAML", "resources: [../base]\n", True),
        ("Kustomization.yml", _MISNAMED, True),
        ("kustomisation.yaml", _MISNAMED, True),
        ("kustomization", _MISNAMED, True),
        ("kustomize.yaml", _MISNAMED.replace("base", "notes"), False),
        (
            "kustomize.yaml",
            _MISNAMED.replace("kustomize.config.k8s", "kustomize.toolkit.fluxcd"),
            False,
        ),
        ("kustomize.yaml", "resources: [../base]\nother: 1\n", False),
        ("kustomization.yaml.tmpl", _MISNAMED, False),
    ],
)
def test_a_kustomization_whose_name_kustomize_does_not_read_is_counted(
    name: str,
    text: str,
    is_told: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Its VMs would be checked as they stand, without what it says. Where there is another that is read, it is none."""
    manifests.put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    manifests.put(tmp_path / "base/vm.yaml", vm("web", memory="1Gi"))
    manifests.put(
        tmp_path / "notes/note.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    )
    manifests.put(tmp_path / "prod" / name, text)
    what = "not looked at: 1 kustomization with another name than kustomize reads (-v)"
    assert (what in process.run("check", ".", cwd=tmp_path).stderr) == is_told
    told = process.run("check", ".", cwd=tmp_path)
    why = f"prod/{name}:1:1: warning VR133 kustomization-misnamed: kustomize does not read prod/{name}"
    assert (why in told.stdout, told.returncode) == (is_told, 0)
    manifests.put(tmp_path / "prod/kustomization.yaml", "resources: [../base]\n")
    assert what not in process.run("check", ".", cwd=tmp_path).stderr
