"""Where an apply is server-side for certain, the API server refuses a null and a field that the schema has not."""

from pathlib import Path

import pytest

from tests.support import manifests
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec:
  path: ./prod
  sourceRef: {kind: GitRepository, name: flux-system}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/shop.git, path: prod}
  destination: {server: https://kubernetes.default.svc, namespace: prod}
"""
SERVER_SIDE = (
    f"{APPLICATION}  syncPolicy: {{syncOptions: [CreateNamespace=true, ServerSideApply=true]}}\n"
)
FILLED = KUSTOMIZATION + "  postBuild: {substitute: {unused: x}}\n"
VM = manifests.vm("web", namespace="prod", memory="1Gi")
NULL = "      nodeSelector:\n"
UNKNOWN = "      nodeSelectr: {a: b}\n"


@pytest.fixture
def repository(
    tmp_path: Path, ask: Ask, kustomize: str, monkeypatch: pytest.MonkeyPatch
) -> RepositoryInProcess:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    made = RepositoryInProcess(tmp_path, ask)
    made.git("remote", "add", "origin", "https://git.example.com/shop.git")
    made.write("prod/kustomization.yaml", "resources: [vm.yaml]\n")
    made.write("prod/vm.yaml", VM)
    return made


@pytest.mark.parametrize(
    ("user", "edit", "effect"),
    [
        (KUSTOMIZATION, NULL, "refused"),
        (KUSTOMIZATION, UNKNOWN, "refused"),
        (FILLED, NULL, "refused"),
        (SERVER_SIDE, NULL, "refused"),
        (SERVER_SIDE, UNKNOWN, "refused"),
        (APPLICATION, NULL, "restart"),
        (APPLICATION, UNKNOWN, "restart"),
        ("", NULL, "restart"),
        (SERVER_SIDE, "      nodeSelector: {a: b}\n", "restart"),
    ],
)
def test_what_a_server_side_apply_refuses(
    repository: RepositoryInProcess, user: str, edit: str, effect: str
) -> None:
    repository.write("apps/shop.yaml", user)
    repository.commit("a VM")
    repository.write("prod/vm.yaml", VM.replace("1Gi", "2Gi") + edit)
    done = repository.run("diff")
    assert done.stdout.startswith(f"1 VM: 1 {effect}\n"), done.stdout
    if edit == NULL:
        checked = repository.run("check")
        severity = "error" if effect == "refused" else "warning"
        assert f"{severity} VR114 content-dropped: VirtualMachine prod/web: " in checked.stdout
        assert ("refuses it under server-side apply, as " in checked.stdout) == (
            effect == "refused"
        )
    if effect == "refused":
        assert done.returncode == 1
        repository.commit("it is there")
        repository.write("prod/other.txt", "nothing of it")
        assert repository.run("diff").stdout.startswith("1 VM: 1 same\n")
