"""What a VM of a kustomization needs, and what stands beside that without being listed."""

from pathlib import Path

import pytest

from tests.support import manifests
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: log}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
VOLUME = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: log}
spec: {source: {blank: {}}, storage: {resources: {requests: {storage: 1Gi}}}}
"""
VOLUMES = "      volumes: [{name: log, persistentVolumeClaim: {claimName: log}}]\n"
CONFIG = (
    "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {exclude: [app/claim.yaml]}\n"
)
TOLD = "PersistentVolumeClaim log stands in app/claim.yaml, which the kustomization there does not list"


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("edits", "is_told"),
    [
        ({}, True),
        ({"app/kustomization.yaml": "resources: [vm.yaml, claim.yaml]\n"}, False),
        ({"other/claim.yaml": VOLUME}, False),
        ({"app/claim.yaml": CLAIM.replace("name: log", "name: other")}, False),
        ({"app/claim.yaml": CLAIM.replace("log}", "log, namespace: stage}")}, False),
        ({".virt-render.yaml": CONFIG}, False),
        (
            {"other/claim.yaml": CLAIM, "other/kustomization.yaml": "resources: [claim.yaml]\n"},
            False,
        ),
        ({"other/values.yaml": "claims: [log]\n"}, False),
        ({"other/claim.yaml": CLAIM.replace("name: log", "name: gol")}, True),
        ({"other/vm.yaml": manifests.vm("b", namespace="prod", memory="1Gi") + VOLUMES}, True),
    ],
)
def test_a_claim_that_a_kustomization_leaves_out_is_told(
    edits: dict[str, str], tmp_path: Path, ask: Ask, *, is_told: bool
) -> None:
    """Where nothing else of that name is in the repository."""
    repository = RepositoryInProcess(tmp_path, ask)
    machine = manifests.vm("web", namespace="prod", memory="1Gi")
    repository.write("app/vm.yaml", machine + VOLUMES)
    repository.write("app/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("app/claim.yaml", CLAIM)
    for name, text in edits.items():
        repository.write(name, text)
    done = repository.run("check", ".")
    assert done.returncode == 0, done.stdout
    assert (TOLD in done.stdout) == is_told, done.stdout
