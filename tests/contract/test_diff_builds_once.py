"""``virt-render diff`` builds once what reads the same in both states, and prints the same as if it built all twice."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from render.frontends.dispatch import invoke
from render.manifests.sources.outcomes import KnownOutcomes
from render.yaml.budget import Budget
from tests.support.manifests import vm
from tests.support.repository import Repository

OVERLAYS = ("a", "b", "c", "d", "e")
PATCH = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec: {template: {spec: {domain: {cpu: {cores: 2}}}}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  source:
    repoURL: https://git.example.com/here.git
    path: overlays/a
    kustomize: {nameSuffix: -x, components: [../../near]}
  destination: {namespace: prod}
"""
TRANSFORMER = """\
apiVersion: builtin
kind: PrefixTransformer
metadata: {name: prefix}
prefix: p-
fieldSpecs: [{path: metadata/name}]
"""


class Built(NamedTuple):
    """What a command printed, and how many programs it started for kustomizations and charts."""

    text: str
    builds: int


@pytest.fixture
def repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: str, helm: str
) -> Repository:
    """A base, a component, a chart, and five overlays."""
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    monkeypatch.setenv("VIRT_RENDER_HELM", helm)
    made.write("base/kustomization.yaml", "resources: [vm.yaml, deep]\n")
    made.write("base/vm.yaml", vm("web", memory="1Gi"))
    made.write("base/deep/kustomization.yaml", "configMapGenerator: [{name: c, files: [note]}]\n")
    made.write("base/deep/note", "first\n")
    made.write("part/kustomization.yaml", "kind: Component\npatches: [{path: patch.yaml}]\n")
    made.write("part/patch.yaml", PATCH)
    for name in OVERLAYS:
        made.write(
            f"overlays/{name}/kustomization.yaml", f"namePrefix: {name}-\nresources: [../../base]\n"
        )
    made.write(
        "overlays/b/kustomization.yaml", "resources: [../../base]\ncomponents: [../../part]\n"
    )
    return made


@pytest.fixture
def diff(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Built]:
    """``diff`` as it is; it prints the same where everything is built in both states."""

    def run(*words: str) -> Built:
        capfd.readouterr()
        started: list[Budget] = []
        begin = Budget.begin_build

        def counted(budget: Budget) -> tuple[str, str] | None:
            started.append(budget)
            return begin(budget)

        with monkeypatch.context() as patching:
            patching.setattr(Budget, "begin_build", counted)
            status = invoke(["diff", *words])
        return Built(f"{status}\n{''.join(capfd.readouterr())}", len(started))

    def compared(*words: str) -> Built:
        found = run(*words)
        with monkeypatch.context() as patching:
            patching.setattr(KnownOutcomes, "_find", lambda *_: None)
            again = run(*words)
        assert found.text == again.text
        return found

    return compared


def test_one_overlay_of_five_is_edited(repository: Repository, diff: Callable[..., Built]) -> None:
    repository.commit("first")
    repository.write("overlays/c/kustomization.yaml", "namePrefix: cc-\nresources: [../../base]\n")
    repository.write("overlays/a/README.md", "# What kustomize does not read\n")
    assert diff("HEAD").builds == 6
    repository.commit("second")
    found = diff("HEAD~1..HEAD")
    assert found.builds == 6
    assert "VirtualMachine cc-web" in found.text
    assert diff("HEAD~1..HEAD", "overlays/c").builds == 6  # what stands around, too


def test_nothing_is_edited(repository: Repository, diff: Callable[..., Built]) -> None:
    repository.commit("first")
    repository.write("notes.yaml", vm("other", memory="1Gi"))
    assert diff("HEAD").builds == 5


def test_two_folders_are_compared(
    repository: Repository, diff: Callable[..., Built], tmp_path: Path
) -> None:
    assert diff(".", ".").builds == 5
    copy = Repository(tmp_path / "copy")
    for name in ("base/kustomization.yaml", "base/vm.yaml", "overlays/a/kustomization.yaml",
                 "base/deep/kustomization.yaml", "base/deep/note"):  # fmt: skip
        copy.write(name, (repository.folder / name).read_text())
    copy.write("overlays/b/kustomization.yaml", "namePrefix: b2-\nresources: [../../base]\n")
    assert diff(".", str(copy.folder)).builds == 6


def test_clusters_are_compared(repository: Repository, diff: Callable[..., Built]) -> None:
    repository.commit("first")
    assert diff("--kubevirt", "1.6..1.8").builds == 5


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("base/vm.yaml", vm("web", memory="2Gi"), 5),
        ("base/deep/note", "other\n", 5),
        ("base/deep/kustomization.yaml", "configMapGenerator: [{name: d, files: [note]}]\n", 5),
        ("base/kustomization.yaml", "resources: [vm.yaml]\n", 5),
        ("base/deep/kustomization.yml", "resources: []\n", 0),  # two are refused, and not built
        ("part/patch.yaml", PATCH.replace("cores: 2", "cores: 3"), 1),
        ("part/kustomization.yaml", "kind: Component\n", 1),
    ],
)
def test_a_file_is_edited_of_which_overlays_are_made(
    name: str, text: str, again: int, repository: Repository, diff: Callable[..., Built]
) -> None:
    repository.commit("first")
    repository.write(name, text)
    assert diff("HEAD").builds == 5 + again


def test_a_file_is_gone(repository: Repository, diff: Callable[..., Built]) -> None:
    repository.commit("first")
    os.remove(repository.folder / "base/deep/note")
    found = diff("HEAD")
    assert found.builds > 5
    assert "note" in found.text


def test_what_fails_in_both_states_is_built_in_both(
    repository: Repository, diff: Callable[..., Built]
) -> None:
    patch = "{target: {kind: VirtualMachine}, patch: '[{op: remove, path: /spec/nothing}]'}"
    repository.write(
        "overlays/a/kustomization.yaml", f"resources: [../../base]\npatches: [{patch}]\n"
    )
    repository.commit("first")
    repository.write("notes.yaml", vm("other", memory="1Gi"))
    found = diff("HEAD")
    assert found.builds == 6
    assert "VirtualMachine other" in found.text


def relinked(repository: Repository, name: str, target: str) -> None:
    link = repository.folder / name
    link.parent.mkdir(exist_ok=True, parents=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def test_links_to_bases_change_places(repository: Repository, diff: Callable[..., Built]) -> None:
    """The same folders are read, in another order: where they lead is not what stands in any of them."""
    for name in ("one", "two"):
        repository.write(f"bases/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        repository.write(f"bases/{name}/vm.yaml", vm(name, memory="1Gi"))
    repository.write(
        "overlays/a/kustomization.yaml", "resources: [../../middle, ../../links/third]\n"
    )
    repository.write(
        "middle/kustomization.yaml",
        "namePrefix: m-\nresources: [../links/first, ../links/second]\n",
    )
    for link, name in (("first", "one"), ("second", "two"), ("third", "two")):
        relinked(repository, f"links/{link}", f"../bases/{name}")
    repository.commit("first")
    relinked(repository, "links/third", "../bases/one")
    found = diff("HEAD")
    assert found.builds == 6
    assert "VirtualMachine one" in found.text


def test_a_link_leads_out_of_the_folder_and_back(
    repository: Repository, diff: Callable[..., Built]
) -> None:
    repository.write("overlays/a/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("one", "two"):
        repository.write(f"overlays/a/{name}.yaml", vm(name, memory="1Gi"))
    relinked(repository, "overlays/a/vm.yaml", "../../links/vm.yaml")
    relinked(repository, "links/vm.yaml", "../overlays/a/one.yaml")
    repository.commit("first")
    relinked(repository, "links/vm.yaml", "../overlays/a/two.yaml")
    found = diff("HEAD")
    assert found.builds == 6
    assert "VirtualMachine two" in found.text


@pytest.mark.parametrize("field", ["configurations", "crds", "openapi", "replacements"])
def test_a_file_that_is_no_resource_is_edited(
    field: str, repository: Repository, diff: Callable[..., Built]
) -> None:
    entries = {"configurations": "[extra.yaml]", "crds": "[extra.json]", "openapi": "{path: extra.json}",
               "replacements": "[{path: extra.yaml}]"}  # fmt: skip
    name = "extra.json" if "json" in entries[field] else "extra.yaml"
    texts = {"configurations": "namePrefix: [{path: metadata/name}]\n", "replacements": "[]\n"}
    text = texts.get(field, "{}\n")
    repository.write(
        "overlays/a/kustomization.yaml", f"resources: [../../base]\n{field}: {entries[field]}\n"
    )
    repository.write(f"overlays/a/{name}", text)
    repository.commit("first")
    repository.write(f"overlays/a/{name}", f"\n{text}")
    assert diff("HEAD").builds == 6


def test_transformers_are_not_followed(repository: Repository, diff: Callable[..., Built]) -> None:
    repository.write(
        "overlays/a/kustomization.yaml", "resources: [../../base]\ntransformers: [prefix.yaml]\n"
    )
    repository.write("overlays/a/prefix.yaml", TRANSFORMER)
    repository.commit("first")
    repository.write("notes.yaml", vm("other", memory="1Gi"))
    assert diff("HEAD").builds == 6


def test_an_application_edits_a_kustomization(
    repository: Repository, diff: Callable[..., Built]
) -> None:
    """It adds a component by a link: what it says is the same, and so is what stands in every folder."""
    repository.git("remote", "add", "origin", "https://git.example.com/here.git")
    repository.write("apps/shop.yaml", APPLICATION)
    repository.write("other/kustomization.yaml", "kind: Component\nnamePrefix: other-\n")
    repository.write(
        "overlays/c/kustomization.yaml", "components: [../../other]\nresources: [../../base]\n"
    )
    relinked(repository, "near", "part")
    repository.commit("first")
    repository.write("notes.yaml", vm("other", memory="1Gi"))
    assert diff("HEAD").builds == 5
    repository.write("apps/shop.yaml", APPLICATION.replace("-x", "-y"))
    found = diff("HEAD")
    assert found.builds == 6
    assert "a-web-y" in found.text
    repository.write("apps/shop.yaml", APPLICATION)
    relinked(repository, "near", "other")
    found = diff("HEAD")
    assert found.builds == 6
    assert "VirtualMachine prod/a-other-web-x" in found.text


CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
FILLED = vm('{{ .Values.name }}{{ .Files.Get "suffix" }}', memory="1Gi")


@pytest.fixture
def chart(repository: Repository) -> Repository:
    for name in OVERLAYS:
        os.remove(repository.folder / f"overlays/{name}/kustomization.yaml")
    os.remove(repository.folder / "base/kustomization.yaml")
    os.remove(repository.folder / "base/deep/kustomization.yaml")
    repository.write("chart/Chart.yaml", CHART)
    repository.write("chart/values.yaml", "name: web\n")
    repository.write("chart/templates/vm.yaml", FILLED)
    repository.write("chart/suffix", "-x")
    repository.write("chart/.helmignore", "nothing\n")
    repository.write("values/prod.yaml", "name: prod\n")
    return repository


def test_a_chart_is_not_edited(chart: Repository, diff: Callable[..., Built]) -> None:
    chart.commit("first")
    chart.write("notes.yaml", vm("other", memory="1Gi"))
    assert diff("HEAD").builds == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chart/values.yaml", "name: other\n"),
        ("chart/templates/vm.yaml", FILLED.replace("1Gi", "2Gi")),
        ("chart/templates/more.yaml", vm("more", memory="1Gi")),
        ("chart/suffix", "-y"),
        ("chart/.helmignore", "suffix\n"),
        ("chart/Chart.lock", "dependencies: []\n"),
        ("chart/charts/inner/Chart.yaml", CHART.replace("web", "inner")),
        ("chart/values.schema.json", '{"type": "object"}'),
    ],
)
def test_a_file_of_a_chart_is_edited(
    name: str, text: str, chart: Repository, diff: Callable[..., Built]
) -> None:
    chart.commit("first")
    chart.write(name, text)
    assert diff("HEAD").builds == 2
    chart.commit("second")
    assert diff("HEAD~1..HEAD").builds == 2


def test_values_from_elsewhere_are_edited(chart: Repository, diff: Callable[..., Built]) -> None:
    chart.write(
        ".virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n"
        "spec: {values: [values/prod.yaml]}\n",
    )
    chart.commit("first")
    chart.write("notes.yaml", vm("other", memory="1Gi"))
    assert diff("HEAD").builds == 1
    chart.write("values/prod.yaml", "name: other\n")
    found = diff("HEAD")
    assert found.builds == 2
    assert "VirtualMachine other-x" in found.text


def test_a_link_of_a_chart_leads_elsewhere(chart: Repository, diff: Callable[..., Built]) -> None:
    chart.write("shared/vm.yaml", vm("more", memory="1Gi"))
    relinked(chart, "chart/templates/more.yaml", "../../shared/vm.yaml")
    chart.commit("first")
    chart.write("shared/vm.yaml", vm("most", memory="1Gi"))
    found = diff("HEAD")
    assert found.builds == 2
    assert "VirtualMachine most" in found.text


def test_random_values_of_a_chart_that_nobody_has_edited_are_no_change(
    chart: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    chart.write("chart/suffix", "")
    chart.write(
        "chart/templates/vm.yaml", FILLED.replace("1Gi", "{{ randNumeric 3 | add 1000 }}Mi")
    )
    chart.commit("first")
    assert invoke(["diff", "HEAD"]) == 0
    assert "VirtualMachine web" not in capfd.readouterr().out
