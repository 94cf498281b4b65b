"""``virt-render diff`` of claims, Secrets and the like that leave the repository while a VM names them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.asking import Ask
from tests.support.cases import ROOT
from tests.support.repository import RepositoryInProcess

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: db
  namespace: prod
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 2Gi}
        devices: {}
      volumes:
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: db-held, namespace: prod}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 10Gi}}}
"""
DATA_VOLUME = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: db-held, namespace: prod}
spec: {source: {blank: {}}, storage: {resources: {requests: {storage: 10Gi}}}}
"""
LOGIN = """\
apiVersion: v1
kind: Secret
metadata: {name: db-held, namespace: prod}
stringData: {userdata: "#cloud-config\\n{}"}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: db-held, namespace: prod}
data: {key: value}
"""
EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db-login, namespace: prod}
spec: {secretStoreRef: {name: vault}, target: {name: db-held}, dataFrom: [{extract: {key: db}}]}
"""
SEALED = """\
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: db-held, namespace: prod}
spec: {encryptedData: {userdata: AgB}}
"""
BY_CLAIM = "persistentVolumeClaim: {claimName: db-held}"
BY_LOGIN = "cloudInitNoCloud: {secretRef: {name: db-held}}"
HELD = {
    BY_CLAIM: CLAIM,
    "dataVolume: {name: db-held}": DATA_VOLUME,
    "ephemeral: {persistentVolumeClaim: {claimName: db-held}}": DATA_VOLUME,
    BY_LOGIN: LOGIN,
    "secret: {secretName: db-held}": LOGIN,
    "configMap: {name: db-held}": CONFIG_MAP,
    "sysprep: {configMap: {name: db-held}}": CONFIG_MAP,
}


@pytest.fixture
def repository(tmp_path: Path, ask: Ask) -> RepositoryInProcess:
    return RepositoryInProcess(tmp_path / "repository", ask)


def named_by(source: str) -> str:
    """The VM, with a volume of *source*."""
    return f"{VM}        - name: held\n          {source}\n"


def answer(repository: RepositoryInProcess, *words: str) -> Any:
    """What ``diff`` says of the one VM, in JSON."""
    document = json.loads(repository.fine("diff", "--format", "json", *words))
    schema = json.loads((ROOT / "schemas/impact.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    (machine,) = document["machines"]
    return machine


@pytest.mark.parametrize("source", HELD)
def test_what_leaves_is_told_at_both_places(repository: RepositoryInProcess, source: str) -> None:
    repository.write("vms/db.yaml", named_by(source))
    repository.write("held/db.yaml", HELD[source])
    repository.commit("A VM, and what it names")
    (repository.folder / "held/db.yaml").unlink()
    machine = answer(repository, "HEAD")
    assert (machine["effects"], machine["changes"]) == (["next"], [])
    (departed,) = machine["departed"]
    stood, use = departed["source"], departed["use"]
    assert (stood["file"], stood["line"], stood["side"]) == ("held/db.yaml", 1, "before")
    assert (use["file"], use["line"]) == ("vms/db.yaml", 15)
    kind = HELD[source].split("kind: ")[1].split()[0]
    text = repository.fine("diff", "HEAD").splitlines()
    assert text[0] == "1 VM: 1 next"
    assert (
        f"  no longer in the repository, and missing at its next start where the sync prunes:  {kind} prod/db-held"
        "  held/db.yaml:1:1"
    ) in text
    markdown = repository.fine("diff", "HEAD", "--format", "markdown")
    assert f"| `held/db.yaml:1:1` `{kind} prod/db-held` is deleted |  | 1 next |" in markdown
    assert f"| `VirtualMachine prod/db` | next | misses `{kind} prod/db-held` |" in markdown
    assert f"{kind} prod/db-held" in repository.fine("diff", "HEAD", "--format", "html")


@pytest.mark.parametrize(
    "words", ["HEAD~1..HEAD", "HEAD~1", "HEAD~1 -- vms", "../old .", "HEAD~1...HEAD"]
)
def test_it_is_told_whatever_is_compared(repository: RepositoryInProcess, words: str) -> None:
    repository.write("vms/db.yaml", named_by(BY_CLAIM))
    repository.write("held/db.yaml", CLAIM)
    repository.write("held/other.yaml", CLAIM.replace("db-held", "other"))
    repository.commit("A VM, and what it names")
    shutil.copytree(repository.folder, repository.folder.parent / "old")
    (repository.folder / "held/db.yaml").unlink()
    repository.commit("Without")
    assert answer(repository, *words.split())["effects"] == ["next"]


def _moved(repository: RepositoryInProcess) -> None:
    repository.write("elsewhere/claims.yaml", CLAIM)


def _written_as_a_data_volume(repository: RepositoryInProcess) -> None:
    repository.write("held/volume.yaml", DATA_VOLUME)


def _made_by_the_vm(repository: RepositoryInProcess) -> None:
    template = "  dataVolumeTemplates: [{metadata: {name: db-held}, spec: {source: {blank: {}}, storage: {}}}]\n"
    repository.write("vms/db.yaml", named_by(BY_CLAIM).replace("spec:\n", f"spec:\n{template}", 1))


def _sealed(repository: RepositoryInProcess) -> None:
    repository.write("held/sealed.yaml", SEALED)


def _from_outside(repository: RepositoryInProcess) -> None:
    repository.write("held/external.yaml", EXTERNAL)


def _generated(repository: RepositoryInProcess) -> None:
    repository.write(
        "apps/kustomization.yaml", "secretGenerator: [{name: db-held, literals: [userdata=x]}]\n"
    )


def _of_a_chart(repository: RepositoryInProcess) -> None:
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    repository.write(
        "chart/templates/claim.yaml", CLAIM.replace("10Gi", '{{ required "x" .Values.size }}')
    )


def _unreadable(repository: RepositoryInProcess) -> None:
    repository.write("held/broken.yaml", f"{DATA_VOLUME}  }}\n")


def _in_no_namespace(repository: RepositoryInProcess) -> None:
    repository.write("held/db.yml", CLAIM.replace(", namespace: prod", ""))


@pytest.mark.parametrize(
    "edit",
    [
        _moved, _written_as_a_data_volume, _made_by_the_vm, _sealed, _from_outside, _generated, _of_a_chart,
        _unreadable, _in_no_namespace,
    ],
)  # fmt: skip
def test_nothing_is_said_where_it_may_be_made_in_another_way(
    repository: RepositoryInProcess, edit: Callable[[RepositoryInProcess], None]
) -> None:
    by_secret = edit in (_sealed, _from_outside, _generated)
    repository.write("vms/db.yaml", named_by(BY_LOGIN if by_secret else BY_CLAIM))
    repository.write("held/db.yaml", LOGIN if by_secret else CLAIM)
    repository.commit("A VM, and what it names")
    (repository.folder / "held/db.yaml").unlink()
    edit(repository)
    done = repository.run("diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    assert machine["departed"] == []


@pytest.mark.parametrize(
    ("source", "held"),
    [
        (BY_CLAIM, CLAIM.replace("namespace: prod", "namespace: stage")),
        (BY_CLAIM, LOGIN),
        ("persistentVolumeClaim: {claimName: another}", CLAIM),
        ("configMap: {name: db-held, optional: true}", CONFIG_MAP),
        (
            BY_CLAIM,
            CLAIM.replace("prod}", 'prod, annotations: {argocd.argoproj.io/sync-options: "Delete=false,Prune=false"}}'),
        ),
        (BY_CLAIM, CLAIM.replace("prod}", "prod, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}")),
        (BY_CLAIM, CLAIM.replace("prod}", "prod, annotations: {helm.sh/resource-policy: keep}}")),
    ],
)  # fmt: skip
def test_nothing_is_said_of_what_no_vm_will_miss(
    repository: RepositoryInProcess, source: str, held: str
) -> None:
    repository.write("vms/db.yaml", named_by(source))
    repository.write("held/db.yaml", held)
    repository.commit("A VM, and something else")
    (repository.folder / "held/db.yaml").unlink()
    assert answer(repository, "HEAD")["effects"] == ["same"]


def test_what_a_vm_goes_without_from_now_on_is_not_missed(repository: RepositoryInProcess) -> None:
    repository.write("vms/db.yaml", named_by(BY_CLAIM))
    repository.write("held/db.yaml", CLAIM)
    repository.commit("A VM, and what it names")
    (repository.folder / "held/db.yaml").unlink()
    repository.write("vms/db.yaml", named_by("emptyDisk: {capacity: 1Gi}"))
    machine = answer(repository, "HEAD")
    assert machine["departed"] == []
    assert "restart" in machine["effects"]


def test_of_an_overlay_the_place_is_that_in_the_base(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    repository.write("base/db.yaml", named_by(BY_CLAIM).replace("  namespace: prod\n", ""))
    repository.write("base/claim.yaml", CLAIM.replace(", namespace: prod", ""))
    repository.write("base/kustomization.yaml", "resources: [db.yaml, claim.yaml]\n")
    repository.write(
        "overlays/prod/kustomization.yaml", "namespace: prod\nresources: [../../base]\n"
    )
    repository.commit("An overlay")
    repository.write("base/kustomization.yaml", "resources: [db.yaml]\n")
    (departed,) = answer(repository, "--kustomize", kustomize, "HEAD")["departed"]
    assert (departed["source"]["file"], departed["use"]["file"]) == (
        "base/claim.yaml",
        "base/db.yaml",
    )


NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
SECOND = NAMESPACE.replace("prod", "stage")


def _of_a_vm(repository: RepositoryInProcess, file: str, text: str = NAMESPACE) -> None:
    """Commit a VM in its folder, and *file* with a Namespace, which is *text*."""
    repository.write("vms/db.yaml", named_by("emptyDisk: {capacity: 1Gi}"))
    repository.write(file, text)
    repository.commit("A VM, and its namespace")


def _removed(repository: RepositoryInProcess) -> None:
    (repository.folder / "cluster/ns.yaml").unlink()


def _renamed(repository: RepositoryInProcess) -> None:
    repository.write("cluster/ns.yaml", SECOND)


def _not_listed(repository: RepositoryInProcess) -> None:
    repository.write("cluster/kustomization.yaml", "namespace: prod\nresources: [other.yaml]\n")


@pytest.mark.parametrize("edit", [_removed, _renamed, _not_listed])
@pytest.mark.parametrize("words", ["HEAD", "HEAD -- vms"])
def test_a_vm_goes_with_its_namespace(
    repository: RepositoryInProcess, edit: Callable[[RepositoryInProcess], None], words: str
) -> None:
    if edit is _not_listed:
        repository.write("cluster/kustomization.yaml", "resources: [ns.yaml, other.yaml]\n")
        repository.write("cluster/other.yaml", CONFIG_MAP)
    _of_a_vm(repository, "cluster/ns.yaml")
    edit(repository)
    machine = answer(repository, *words.split())
    assert machine["effects"] == ["gone"]
    (departed,) = machine["departed"]
    assert departed["source"]["file"] == "cluster/ns.yaml"
    assert (departed["use"]["file"], departed["use"]["line"]) == ("vms/db.yaml", 5)
    text = repository.fine("diff", *words.split()).splitlines()
    assert text[0] == "1 VM: 1 gone"
    words_ = "no longer in the repository, and deleted with all VMs in it where the sync prunes:"
    assert f"  {words_}  Namespace prod  cluster/ns.yaml:1:1" in text
    markdown = repository.fine("diff", "--format", "markdown", *words.split())
    assert "| `cluster/ns.yaml:1:1` `Namespace prod` is deleted |  | 1 gone |" in markdown
    assert "| gone | is deleted with `Namespace prod` |" in markdown
    assert repository.run("diff", "--fail-on", "gone", *words.split()).returncode == 1


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
        spec: {domain: {memory: {guest: 1Gi}, devices: {}}}
"""
REPLICA_SET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: web, namespace: prod}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {domain: {memory: {guest: 1Gi}, devices: {}}}
"""
MACHINE_ALONE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web, namespace: prod}
spec: {domain: {memory: {guest: 1Gi}, devices: {}}}
"""


@pytest.mark.parametrize("holder", [POOL, REPLICA_SET])
@pytest.mark.parametrize("edited", ["", "memory: {guest: 2Gi}"])
def test_a_pool_goes_with_its_namespace(
    repository: RepositoryInProcess, holder: str, edited: str
) -> None:
    repository.write("vms/web.yaml", holder)
    repository.write("cluster/ns.yaml", NAMESPACE)
    repository.commit("A pool, and its namespace")
    _removed(repository)
    repository.write(
        "vms/web.yaml", holder.replace("memory: {guest: 1Gi}", edited or "memory: {guest: 1Gi}")
    )
    document = json.loads(repository.fine("diff", "--format", "json", "HEAD"))
    jsonschema.validate(document, json.loads((ROOT / "schemas/impact.schema.json").read_bytes()))
    (found,) = document["holders"]
    (departed,) = found["departed"]
    assert (found["outcome"], found["replicas"]) == ("gone", {"before": 3, "after": 0})
    assert departed["source"]["file"] == "cluster/ns.yaml"
    assert (departed["use"]["file"], departed["use"]["line"]) == ("vms/web.yaml", 3)
    text = repository.fine("diff", "HEAD").splitlines()
    words = "3 -> 0 replicas: deleted with its Namespace where the sync prunes, and so is what it has made"
    assert f"  {found['resource']['kind']} prod/web, {words}" in text
    words = "no longer in the repository, and deleted with all VMs in it where the sync prunes:"
    assert f"    {words}  Namespace prod  cluster/ns.yaml:1:1" in text
    for form in ("markdown", "html"):
        assert words in repository.fine("diff", "--format", form, "HEAD")
    assert repository.run("diff", "--fail-on", "gone", "HEAD").returncode == 1


def test_a_vmi_goes_with_its_namespace(repository: RepositoryInProcess) -> None:
    repository.write("vms/web.yaml", MACHINE_ALONE)
    repository.write("cluster/ns.yaml", NAMESPACE)
    repository.commit("A VMI, and its namespace")
    _removed(repository)
    assert answer(repository, "HEAD")["effects"] == ["gone"]


def test_a_pool_that_moves_or_comes_is_told_as_that(repository: RepositoryInProcess) -> None:
    for folder in "ab":
        repository.write(f"{folder}/kustomization.yaml", "resources: []\n")
    repository.write("a/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("a/web.yaml", POOL)
    repository.write("cluster/ns.yaml", NAMESPACE)
    repository.commit("A pool, and its namespace")
    _removed(repository)
    (repository.folder / "a/web.yaml").rename(repository.folder / "b/web.yaml")
    repository.write("a/kustomization.yaml", "resources: []\n")
    repository.write("b/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("vms/more.yaml", POOL.replace("name: web", "name: more"))
    document = json.loads(repository.fine("diff", "--format", "json", "HEAD"))
    outcomes = {each["resource"]["name"]: each["outcome"] for each in document["holders"]}
    assert outcomes == {"web": "gone", "more": "new"}
    assert len(document["holders"]) == 2


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_namespace_that_is_built_with_its_vms_is_told(
    repository: RepositoryInProcess, *, is_listed: bool
) -> None:
    """The file that holds it is another one than the VM's, or goes on to be there."""
    repository.write("vms/kustomization.yaml", "resources: [ns.yaml, db.yaml]\n")
    _of_a_vm(repository, "vms/ns.yaml")
    if is_listed:
        repository.write("vms/ns.yaml", SECOND)
    else:
        repository.write("vms/kustomization.yaml", "resources: [db.yaml]\n")
    (departed,) = answer(repository, "HEAD")["departed"]
    assert (departed["source"]["file"], departed["source"]["line"]) == ("vms/ns.yaml", 1)


def _to_another_file(repository: RepositoryInProcess) -> None:
    repository.write("apps/all.yaml", f"{CONFIG_MAP}---\n{NAMESPACE}")


def _to_the_file_of_the_vm(repository: RepositoryInProcess) -> None:
    vm = (repository.folder / "vms/db.yaml").read_text()
    repository.write("vms/db.yaml", f"{NAMESPACE}---\n{vm}")


def _to_a_kustomization(repository: RepositoryInProcess) -> None:
    repository.write("apps/ns.yaml", NAMESPACE)
    repository.write("apps/kustomization.yaml", "resources: [ns.yaml]\n")


def _to_a_chart(repository: RepositoryInProcess) -> None:
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    repository.write("chart/values.yaml", "teams: [prod]\n")
    repository.write("chart/templates/ns.yaml", NAMESPACE.replace("prod", '"{{ .Values.teams }}"'))


def _to_who_makes_one(repository: RepositoryInProcess) -> None:
    anchor = "apiVersion: hnc.x-k8s.io/v1alpha2\nkind: SubnamespaceAnchor\n"
    repository.write("apps/anchor.yaml", f"{anchor}metadata: {{name: prod, namespace: root}}\n")


def _with_its_vm(repository: RepositoryInProcess) -> None:
    vm = (repository.folder / "vms/db.yaml").read_text()
    repository.write("vms/db.yaml", vm.replace("namespace: prod", "namespace: stage"))
    repository.write("apps/ns.yaml", SECOND)


@pytest.mark.parametrize(
    "edit",
    [
        _to_another_file, _to_the_file_of_the_vm, _to_a_kustomization, _to_a_chart, _to_who_makes_one,
        _with_its_vm,
    ],
)  # fmt: skip
def test_a_namespace_that_may_be_there_still_is_not_told(
    repository: RepositoryInProcess, edit: Callable[[RepositoryInProcess], None]
) -> None:
    _of_a_vm(repository, "cluster/ns.yaml")
    _removed(repository)
    edit(repository)
    done = repository.run("diff", "HEAD", "--format", "json")
    assert not any(machine["departed"] for machine in json.loads(done.stdout)["machines"])


@pytest.mark.parametrize(
    "kept",
    [
        'annotations: {argocd.argoproj.io/sync-options: "Delete=false, Prune=false"}',
        "annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}",
        "annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}",
        "annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}",
        "labels: {kustomize.toolkit.fluxcd.io/prune: disabled}",
        "annotations: {helm.sh/resource-policy: keep}",
    ],
)
def test_a_namespace_that_a_sync_keeps_is_not_told(
    repository: RepositoryInProcess, kept: str
) -> None:
    _of_a_vm(repository, "cluster/ns.yaml", NAMESPACE.replace("prod}", f"prod, {kept}}}"))
    _removed(repository)
    assert answer(repository, "HEAD")["effects"] == ["same"]


@pytest.mark.parametrize(
    "written",
    [
        "annotations: {argocd.argoproj.io/sync-options: prune=false}",
        "annotations: {argocd.argoproj.io/sync-options: Prune=False}",
        "annotations: {argocd.argoproj.io/sync-options: Prune = false}",
        "annotations: {argocd.argoproj.io/sync-options: Prune=true}",
        "labels: {argocd.argoproj.io/sync-options: Prune=false}",
        'annotations: {kustomize.toolkit.fluxcd.io/prune: "disabled,"}',
        'annotations: {kustomize.toolkit.fluxcd.io/prune: "false"}',
    ],
)
def test_an_option_in_another_spelling_keeps_nothing(
    repository: RepositoryInProcess, written: str
) -> None:
    """Argo CD compares its options as they are written, Flux the whole of what is annotated."""
    _of_a_vm(repository, "cluster/ns.yaml", NAMESPACE.replace("prod}", f"prod, {written}}}"))
    _removed(repository)
    assert answer(repository, "HEAD")["effects"] == ["gone"]


def test_a_namespace_without_vms_and_one_that_only_another_text_names_are_no_news(
    repository: RepositoryInProcess,
) -> None:
    """A label of its name makes no Namespace, and an object in it does not either."""
    _of_a_vm(repository, "cluster/ns.yaml", f"{NAMESPACE}---\n{SECOND}")
    repository.write("cluster/ns.yaml", NAMESPACE)
    assert answer(repository, "HEAD")["effects"] == ["same"]
    _removed(repository)
    labelled = CONFIG_MAP.replace("namespace: prod", "namespace: prod, labels: {env: prod}")
    repository.write("cluster/config.yaml", labelled)
    assert answer(repository, "HEAD")["effects"] == ["gone"]


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAME}
spec: {group: kubevirt.io, scope: Namespaced}
"""
KUBEVIRT = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec: {}
"""
OF_KUBEVIRT = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kubevirt}\n"
BLOCKED = "spec: {uninstallStrategy: BlockUninstallIfWorkloadsExist}"
KEPT = KUBEVIRT.replace("spec: {}", BLOCKED)
HCO = """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
spec: {uninstallStrategy: RemoveWorkloads}
"""
CDI = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: CDI
metadata: {name: cdi}
spec: {}
"""


@pytest.mark.parametrize(
    ("text", "after", "told"),
    [
        (CRD.replace("NAME", "virtualmachines.kubevirt.io"), "", True),
        (CRD.replace("NAME", "datavolumes.cdi.kubevirt.io"), "", True),
        (CRD.replace("NAME", "virtualmachinesnapshots.snapshot.kubevirt.io"), "", False),
        (KUBEVIRT, "", True),
        (KUBEVIRT, KUBEVIRT.replace("name: kubevirt,", "name: other,"), True),
        (KUBEVIRT, KUBEVIRT.replace("spec:", "# a comment\nspec:"), False),
        (KEPT, "", False),
        (KUBEVIRT.replace("{name", "{annotations: {KEEPS}, name"), "", False),
        (CDI, "", True),
        (f"{KUBEVIRT}---\n{OF_KUBEVIRT}", KUBEVIRT, True),
        (f"{KEPT}---\n{OF_KUBEVIRT}", KEPT, False),
        (HCO, "", True),
        (HCO.replace("{uninstallStrategy: RemoveWorkloads}", "{}"), "", False),
        (HCO.replace("v1beta1", "v1").replace("{un", "{deployment: {un").replace("ds}", "ds}}"), "", True),
    ],
)  # fmt: skip
def test_what_takes_all_vms_of_a_cluster_with_it_is_told(
    text: str, after: str, repository: RepositoryInProcess, *, told: bool
) -> None:
    keeps = "argocd.argoproj.io/sync-options: Prune=false"
    repository.write(
        "vms/db.yaml", f"{VM}      - name: root\n        emptyDisk: {{capacity: 1Gi}}\n"
    )
    repository.write("cluster/it.yaml", text.replace("KEEPS", keeps))
    repository.commit("All")
    if after:
        repository.write("cluster/it.yaml", after)
    else:
        (repository.folder / "cluster/it.yaml").unlink()
    repository.commit("It is another one")
    found = json.loads(repository.fine("diff", "HEAD~1..HEAD", "--format", "json"))
    assert bool(found["uninstalled"]) is told
    for form in ("text", "markdown", "html"):
        words = repository.fine("diff", "HEAD~1..HEAD", "--format", form)
        assert ("ll VMs of the cluster" in words) is told


def test_what_moves_to_another_file_is_not_uninstalled(repository: RepositoryInProcess) -> None:
    repository.write(
        "vms/db.yaml", f"{VM}      - name: root\n        emptyDisk: {{capacity: 1Gi}}\n"
    )
    repository.write("cluster/it.yaml", KUBEVIRT)
    repository.commit("All")
    repository.git("mv", "cluster/it.yaml", "cluster/other.yaml")
    repository.commit("Moved")
    found = json.loads(repository.fine("diff", "HEAD~1..HEAD", "--format", "json"))
    assert found["uninstalled"] == []


HOLDING = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f}\ndata: {n: prod}\n"


def _edited(old: str, new: str) -> Callable[[RepositoryInProcess], None]:
    def edit(repository: RepositoryInProcess) -> None:
        file = repository.folder / "vms/around.yaml"
        file.write_text(file.read_text().replace(old, new))

    return edit


def _left_with_a_word(repository: RepositoryInProcess) -> None:
    _edited(NAMESPACE, "")(repository)
    repository.write("x/f.yaml", HOLDING)


def _in_the_attic(repository: RepositoryInProcess) -> None:
    (repository.folder / "attic").mkdir()
    repository.git("mv", "vms/around.yaml", "attic/around.yaml")


OWNED = "ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: 11111111-2222-3333-4444-555555555555}]"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_left_with_a_word, ["1 deleted Namespace that something may make"]),
        (_in_the_attic, ["1 Namespace in another folder", "1 PersistentVolumeClaim in another folder"]),
        (
            _edited("{name: prod}", "{name: prod, annotations: {argocd.argoproj.io/hook: PostSync}}"),
            ["1 Namespace with other argocd.argoproj.io/hook"],
        ),
        (
            _edited("{name: db-held", f"{{{OWNED}, name: db-held"),
            ["1 PersistentVolumeClaim with other ownerReferences"],
        ),
        (
            _edited("{name: prod}", "{name: prod, annotations: {config.kubernetes.io/local-config: 'true'}}"),
            ["1 Namespace with other config.kubernetes.io/local-config"],
        ),
        (
            _edited("kind: Namespace", "kind: Nothing"),
            ["1 deleted Namespace that an annotation keeps"],
        ),
        (_edited("{name: prod}", "{name: prod, labels: {a: b}}"), []),
    ],
)  # fmt: skip
def test_what_else_becomes_of_a_namespace_or_a_claim_of_a_vm_is_counted(
    edit: Callable[[RepositoryInProcess], None], words: list[str], repository: RepositoryInProcess
) -> None:
    repository.write("vms/db.yaml", named_by(BY_CLAIM))
    is_kept = any("annotation keeps" in each for each in words)
    kept = "{annotations: {argocd.argoproj.io/sync-options: Prune=false}, name: prod}"
    namespace = NAMESPACE.replace("{name: prod}", kept) if is_kept else NAMESPACE
    repository.write("vms/around.yaml", f"{namespace}---\n{CLAIM}")
    repository.commit("All")
    edit(repository)
    repository.git("add", ".")
    repository.commit("Another")
    found = json.loads(repository.fine("diff", "HEAD~1..HEAD", "--format", "json"))
    told = [
        f"{number} {what}"
        for what, number in found["unseen"].items()
        if "Namespace" in what or "Claim" in what
    ]
    assert sorted(told) == sorted(words)


def test_a_claim_that_goes_with_its_vm_is_not_counted(repository: RepositoryInProcess) -> None:
    repository.write("vms/db.yaml", named_by(BY_CLAIM))
    repository.write("vms/around.yaml", CLAIM)
    repository.write(
        "vms/other.yaml",
        named_by("emptyDisk: {capacity: 1Gi}").replace("name: db", "name: other", 1),
    )
    repository.commit("All")
    for file in ("db", "around"):
        (repository.folder / f"vms/{file}.yaml").unlink()
    found = json.loads(repository.fine("diff", "HEAD", "--format", "json"))
    assert found["unseen"] == {}


def test_a_namespace_whose_file_is_listed_no_more_makes_none(
    repository: RepositoryInProcess,
) -> None:
    """Also where the file is another one than before."""
    repository.write("vms/kustomization.yaml", "resources: [db.yaml, ns.yaml]\n")
    _of_a_vm(repository, "vms/ns.yaml")
    repository.write("vms/kustomization.yaml", "resources: [db.yaml]\n")
    repository.write("vms/ns.yaml", NAMESPACE.replace("{name", "{labels: {a: b}, name"))
    assert answer(repository, "HEAD")["effects"] == ["gone"]


ON_A_NETWORK = VM.replace(
    "      volumes:\n",
    "      priorityClassName: high\n      networks: [{name: lan, multus: {networkName: prod/lan}}]\n      volumes:\n",
)
NETWORK = """\
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: lan, namespace: prod}
spec: {config: '{"vlan": 10}'}
"""
PRIORITY = (
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 5\n"
)
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: db, namespace: prod}\n"
PASSED_OVER = "# +argocd:skip-file-rendering\n"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (NETWORK, "", ["1 deleted NetworkAttachmentDefinition that VMs name"]),
        (NETWORK, NETWORK.replace("10", "20"), ["1 NetworkAttachmentDefinition with another spec"]),
        (NETWORK, f"# A comment\n{NETWORK}", []),
        (NETWORK.replace("name: lan", "name: wan"), "", []),
        (PRIORITY, "", ["1 deleted PriorityClass that VMs name"]),
        (ACCOUNT, "", ["1 deleted ServiceAccount that VMs name"]),
        (ACCOUNT.replace("name: db", "name: web"), "", []),
        (DATA_VOLUME, CLAIM, ["1 deleted DataVolume that something may make"]),
        (
            NAMESPACE,
            f"{PASSED_OVER}{NAMESPACE}",
            ["1 Namespace in a file that Argo CD passes over now"],
        ),
        (f"{PASSED_OVER}{NAMESPACE}", f"{PASSED_OVER}# A comment\n{NAMESPACE}", []),
    ],
)
def test_what_becomes_of_what_a_vm_stands_in_or_names_is_counted(
    before: str, after: str, words: list[str], repository: RepositoryInProcess
) -> None:
    volumes = (
        f"{BY_CLAIM}\n        - name: account\n          serviceAccount: {{serviceAccountName: db}}"
    )
    repository.write("vms/db.yaml", named_by(volumes).replace(VM, ON_A_NETWORK))
    repository.write("vms/around.yaml", before)
    repository.commit("All")
    repository.write("vms/around.yaml", after or "# Nothing\n")
    repository.commit("Another")
    found = json.loads(repository.fine("diff", "HEAD~1..HEAD", "--format", "json"))
    assert [f"{number} {what}" for what, number in found["unseen"].items()] == words
