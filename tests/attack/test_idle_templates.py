"""A template with VMs of which helm prints none, since its condition wants for a cluster, is counted."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from render.manifests.charts import templating
from tests.support.manifests import instancetype, vm
from tests.support.repository import Repository

CONDITIONS = (
    ".Release.IsUpgrade",
    "gt (int .Release.Revision) 1",
    'lookup "v1" "Namespace" "" "kube-system"',
    '.Capabilities.APIVersions.Has "route.openshift.io/v1"',
    'contains "eks" .Capabilities.KubeVersion.GitVersion',
)
VM = vm(memory="1Gi")
IDLE = f"{{{{- if .Release.IsUpgrade }}}}\n{VM}{{{{- end }}}}\n"
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
EXPORT = """\
apiVersion: export.kubevirt.io/v1
kind: VirtualMachineExport
metadata: {name: web}
spec:
  source:
    apiGroup: kubevirt.io
    kind: VirtualMachine
    name: web
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME, namespace: argocd}
spec:
  destination: {namespace: prod}
  source: {repoURL: "https://git.example.com/x/r", path: c, helm: {valuesObject: {isOn: IS_ON}}}
"""
TEST = '  annotations: {"helm.sh/hook": test}\n'


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "repository")
    repository.write("c/Chart.yaml", CHART)
    repository.write("c/templates/size.yaml", instancetype())
    return repository


def last_line(repository: Repository, helm: str, path: str = ".") -> str:
    done = repository.run("check", path, "--helm", helm)
    assert done.returncode == 0, done.stdout
    return done.stderr


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_that_a_cluster_fulfils(
    repository: Repository, helm: str, condition: str
) -> None:
    repository.write("c/templates/vm.yaml", IDLE.replace(".Release.IsUpgrade", condition))
    counts = "not looked at: 1 VM template whose condition does not hold (-v)"
    assert counts in last_line(repository, helm)
    assert counts in last_line(repository, helm, "c")
    (repository.folder / "c/templates/size.yaml").unlink()
    assert "1 Helm chart without a VM by default (-v)" in last_line(repository, helm)
    repository.write("a.yaml", APPLICATION.replace("NAME", "a").replace("IS_ON", "true"))
    assert counts in last_line(repository, helm)


def test_one_that_prints_vms_for_somebody(repository: Repository, helm: str) -> None:
    repository.write("c/templates/vm.yaml", IDLE.replace(".Release.IsUpgrade", ".Values.isOn"))
    for name in ("false", "true"):
        application = APPLICATION.replace("NAME", f"is-{name}").replace("IS_ON", name)
        repository.write(f"{name}.yaml", application)
    line = last_line(repository, helm)
    assert line.startswith("1 VM in ")
    assert "not looked at" not in line
    (repository.folder / "true.yaml").unlink()
    assert "1 VM template whose condition does not hold" in last_line(repository, helm)


OTHERS: Mapping[str, Mapping[str, str]] = {
    "a partial": {"templates/_vm.tpl": IDLE},
    "notes": {"templates/NOTES.txt": f"{VM}\n"},
    "a test": {"templates/tests/vm.yaml": VM.replace("metadata:\n", f"metadata:\n{TEST}")},
    "a comment": {"templates/x.yaml": f"{{{{- /*\n{VM}*/ -}}}}\n{instancetype('other')}"},
    "a library": {
        "charts/lib/Chart.yaml": f"{CHART}type: library\n".replace("name: c", "name: lib"),
        "charts/lib/templates/vm.yaml": VM,
    },
    "a reference": {"templates/x.yaml": f"{{{{- if .Release.IsUpgrade }}}}\n{EXPORT}{{{{- end }}}}\n"},
    "a loop": {"templates/x.yaml": f"{{{{- range list 1 2 }}}}\n---\n{VM}-{{{{ . }}}}\n{{{{- end }}}}\n".replace(
        "name: web\n", "name: web-{{ . }}\n").replace("1Gi\n-{{ . }}", "1Gi")},
    "a condition that holds once": {"templates/x.yaml": f"{IDLE}---\n{VM}"},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_such_template(repository: Repository, helm: str, name: str) -> None:
    for file, text in OTHERS[name].items():
        repository.write(f"c/{file}", text)
    assert "not looked at" not in last_line(repository, helm)


@pytest.mark.parametrize("piece", ["{{/*", "{{/* */", "/*", "helm.sh/hook: ", "kind: \n", "---\n"])
def test_the_text_of_a_template_is_looked_through_once(piece: str) -> None:
    """Where it is looked through for each comment that begins in it, a megabyte takes minutes."""
    text = piece * (1_000_000 // len(piece))
    assert templating.makes_machines(f"{text}\n---\n{VM}{text}".encode())
