"""Slips in the objects of Argo CD and Flux that fill in others."""

import pytest

from render.manifests.uses.slips.objects import kind_slip, slips
from render.model import fieldpath
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  project: vms
  destination: {server: https://kubernetes.default.svc, namespace: prod}
  source:
    repoURL: https://git.example.com/fleet.git
    path: charts/vm
    helm: {valueFiles: [prod.yaml], values: "size: {{ .Values.size }}"}
"""
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  goTemplate: true
  generators: [{list: {elements: [{app: web}]}}]
  template:
    metadata: {name: "{{.app}}"}
    spec:
      project: vms
      destination: {namespace: "{{ .app }}{{if .x}}y{{end}}"}
      sources: [{repoURL: https://git.example.com/fleet.git, path: "apps/{{.app}}"}]
"""
KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./apps
  targetNamespace: prod
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substitute: {a: b}}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  chart: {spec: {chart: charts/vm, valuesFiles: [a.yaml], sourceRef: {kind: GitRepository, name: a}}}
  values: {a: b}
"""


def document(text: str) -> Document:
    (only,) = read(text.encode(), "a.yaml", Limits()).documents
    return only


@pytest.mark.parametrize("text", [APPLICATION, SET, KUSTOMIZATION, RELEASE])
def test_nothing_is_said_of_what_is_right(text: str) -> None:
    assert kind_slip(document(text)) is None
    assert [*slips(document(text))] == []


@pytest.mark.parametrize(
    ("text", "edit", "at", "cure"),
    [
        (APPLICATION, ("valueFiles", "valueFile"), "spec.source.helm.valueFile", "valueFiles"),
        (APPLICATION, ("  source:", "  sourc:"), "spec.sourc", "did you mean source?"),
        (APPLICATION, ("  source:", "  sources:"), "spec.sources", "begin it with -"),
        (APPLICATION, ("namespace: prod", "namespce: prod"), "spec.destination.namespce", "namesp"),
        (
            APPLICATION,
            ("project: vms", "syncPolicy: {automated: {selfheal: true}}"),
            "spec.syncPolicy.automated.selfheal",
            "did you mean selfHeal?",
        ),
        (
            SET,
            ("project: vms", "syncPolicy: {syncOption: [Replace=true]}"),
            "spec.template.spec.syncPolicy.syncOption",
            "did you mean syncOptions?",
        ),
        (APPLICATION, ("helm:", "kustomize:"), "", ""),
        (APPLICATION, ("helm: {", "plugin: {nam: a, "), "spec.source.plugin.nam", "name?"),
        (
            APPLICATION,
            ("helm: {", "kustomize: {nameprefix: a, "),
            "spec.source.kustomize.namep",
            "eP",
        ),
        (SET, ('.app}}"}]', 'app}}"}]'), "spec.template.spec.sources[0].path", "write {{.app}}"),
        (SET, ("  goTemplate: true\n", ""), "spec.template.metadata.name", "set goTemplate: true"),
        (SET, ("list:", "lst:"), "spec.generators[0].lst", "did you mean list?"),
        (SET, ("[{list: {elements: [{app: web}]}}]", "{git: {}}"), "spec.generators", "begin it"),
        (
            SET,
            ("list: {elements: [{app: web}]}", "matrix: {generators: [{git: {directory: a}}]}"),
            "spec.generators[0].matrix.generators[0].git.directory",
            "did you mean directories?",
        ),
        (
            SET,
            ("list: {elements: [{app: web}]}", "git: {files: [{pth: a}]}"),
            "spec.generators[0].git.files[0].pth",
            "did you mean path?",
        ),
        (APPLICATION, ("[prod.yaml]", "prod.yaml"), "spec.source.helm.valueFiles", ""),
        (
            APPLICATION,
            ("prod.yaml", "$values/a.yaml"),
            "spec.source.helm.valueFiles[0]",
            "give the",
        ),
        (
            APPLICATION,
            ("values: ", "parameters: [{name: a, value: 3}], values: "),
            "spec.source.helm.parameters[0].value",
            "write it in quotes",
        ),
        (
            APPLICATION,
            ('values: "size: {{ .Values.size }}"', "values: {a: b}"),
            "spec.source.helm.values",
            "|",
        ),
        (APPLICATION, ("  source:\n", "  source:\n  -\n"), "spec.source", "write sources"),
        (SET, ("path:", "pth:"), "spec.template.spec.sources[0].pth", "did you mean path?"),
        (KUSTOMIZATION, ("targetName", "targetname"), "spec.targetname", "did you mean targetName"),
        (KUSTOMIZATION, ("substitute:", "substitutes:"), "spec.postBuild.subst", "substitute?"),
        (RELEASE, ("valuesFiles", "valueFiles"), "spec.chart.spec.valueFiles", "valuesFiles?"),
        (RELEASE, ("  values:", "  value:"), "spec.value", "did you mean values?"),
        (RELEASE, ("  values:", "  others:"), "", ""),
        (KUSTOMIZATION, ("GitRepository", "GitRepo"), "spec.sourceRef.kind", "GitRepository?"),
        (KUSTOMIZATION, ("Namespace: prod", "Namespace: ops_prod"), "spec.targetNames", "RFC 1123"),
        (KUSTOMIZATION, ("targetNamespace: prod", "targetNamespace: ${name}"), "", ""),
        (
            KUSTOMIZATION,
            ("substitute: {a: b}", "substituteFrom: [{kind: Configmap, name: a}]"),
            "spec.postBuild.substituteFrom[0].kind",
            "did you mean ConfigMap?",
        ),
        (RELEASE, ("GitRepository", "GitRepositry"), "spec.chart.spec.sourceRef.kind", "GitRepo"),
        (
            APPLICATION,
            ("namespace: prod", "namespace: Prod"),
            "spec.destination.namespace",
            "lower",
        ),
    ],
)
def test_a_slip_is_told_with_what_was_meant(
    text: str, edit: tuple[str, str], at: str, cure: str
) -> None:
    assert edit[0] in text
    found = [*slips(document(text.replace(*edit)))]
    assert len(found) == bool(at)
    for slip in found:
        assert fieldpath.text(slip.path).startswith(at)
        assert cure in slip.help


@pytest.mark.parametrize(
    ("text", "edit", "cure"),
    [
        (APPLICATION, ("kind: App", "kind: Ap"), "did you mean Application?"),
        (APPLICATION, ("v1alpha1", "v1"), "write argoproj.io/v1alpha1"),
        (SET, ("ationSet", "ationset"), "did you mean ApplicationSet?"),
        (KUSTOMIZATION, ("io/v1", "io/v2"), "write kustomize.toolkit.fluxcd.io/v1"),
        (RELEASE, ("io/v2", "io/v1"), "write helm.toolkit.fluxcd.io/v2"),
        (APPLICATION, ("Application", "Rollout"), ""),
        (APPLICATION, ("Application", "AppProject"), ""),
        (KUSTOMIZATION, ("kustomize.toolkit.fluxcd.io/v1", "kustomize.config.k8s.io/v1beta1"), ""),
    ],
)
def test_a_kind_that_its_group_does_not_have_is_told(
    text: str, edit: tuple[str, str], cure: str
) -> None:
    slip = kind_slip(document(text.replace(*edit)))
    assert (slip.help if slip else "") == cure
