"""``virt-render factor --write`` where several inputs of a repository apply the same VM, each by itself."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.frontends.dispatch import invoke
from render.manifests.relevance import Scope
from render.manifests.sources import loading
from render.manifests.sources.reading import Reading
from render.yaml.budget import Limits
from tests.differential.test_factor import same, vmis
from tests.unit.frontends.test_factor import KUSTOMIZATION, put, repository, texts, vm

pytestmark = pytest.mark.process

__all__ = ("repository",)

APPLICATION = """\
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec: {{source: {{repoURL: https://github.com/acme/fleet, path: {path}{options}}}}}
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec: {path: ./a, sourceRef: {kind: GitRepository, name: flux-system}}
"""
NEW = vm(memory="5Gi")
BASE = {"a/kustomization.yaml": KUSTOMIZATION, "a/vm.yaml": NEW}
OVER = {**BASE, "b/kustomization.yaml": "resources: [../a]\n"}
PATCH = """\
resources: [../a]
patches:
- target: {kind: VirtualMachine}
  patch: |-
    - {op: replace, path: /spec/template/spec/domain/memory/guest, value: 8Gi}
"""


def applied(*paths: str, options: str = "") -> dict[str, str]:
    made = (
        APPLICATION.format(name=path.replace("/", "-"), path=path, options=options)
        for path in paths
    )
    return {"apps/apps.yaml": "".join(made)}


def inputs() -> dict[str, Any]:
    """What each input of the repository starts by itself, and the errors there are about that."""
    reading = Reading(Limits(), scope=Scope(drop=False), helm="never")
    found = {}
    for loaded in loading.load_all(["."], reading):
        assert [diagnostic for diagnostic in loaded.diagnostics if diagnostic.is_error] == []
        found[loaded.name] = vmis([document.body for document in loaded.documents])
    return found


class Layout(NamedTuple):
    """The *files* of a repository, the *paths* that are factored, and which files *change*; *why* others do not."""

    files: dict[str, str]
    change: set[str]
    why: str = ""
    paths: tuple[str, ...] = (".",)


REWRITTEN = {"a/vm.yaml", "a/kustomization.yaml", "a/definitions.yaml"}
LAYOUTS = {
    "a base that is applied has its definitions": Layout(
        {**OVER, **applied("a", "b")}, REWRITTEN, "a/vm.yaml is rewritten with a"
    ),
    "flux": Layout({**OVER, "flux/web.yaml": FLUX}, REWRITTEN),
    "a chain": Layout(
        {**OVER, "c/kustomization.yaml": "resources: [../b]\n", **applied("a", "b")}, REWRITTEN
    ),
    "an overlay alone": Layout(OVER, {"a/vm.yaml", "b/kustomization.yaml", "b/definitions.yaml"}),
    "an overlay that is named": Layout(
        {**OVER, **applied("a", "b")}, set(), "a uses a/vm.yaml, and would be without b/", ("b",)
    ),
    "an overlay with a prefix": Layout(
        {**OVER, "b/kustomization.yaml": "namePrefix: x-\nresources: [../a]\n", **applied("a")},
        set(),
        "in b: ",
    ),
    "an overlay that changes what a definition would bring": Layout(
        {**OVER, "b/kustomization.yaml": PATCH, **applied("a")}, set(), "b cannot be built: "
    ),
    "a base that is named": Layout(
        {**OVER, "b/kustomization.yaml": PATCH}, set(), "b cannot be built: ", ("a",)
    ),
    "a file that is named": Layout(
        BASE, set(), "a uses a/vm.yaml, and would be without a/definitions.yaml", ("a/vm.yaml",)
    ),
    "an overlay whose own VM has the same definitions": Layout(
        {
            **OVER,
            "b/kustomization.yaml": "resources: [../a, own.yaml]\n",
            "b/own.yaml": vm("own", memory="5Gi"),
            **applied("a"),
        },
        {*REWRITTEN, "b/own.yaml"},
    ),
    "an overlay whose own VM has others": Layout(
        {
            **OVER,
            "b/kustomization.yaml": "resources: [../a, own.yaml]\n",
            "b/own.yaml": vm("own", memory="7Gi"),
            **applied("a"),
        },
        {*REWRITTEN, "b/own.yaml", "b/kustomization.yaml", "b/definitions.yaml"},
    ),
    "an overlay that nobody builds": Layout(
        {
            **OVER,
            "b/kustomization.yaml": "resources: [../a, gone.yaml]\n",
            **applied("a"),
        },
        set(),
        "b cannot be built: ",
        ("a",),
    ),
    "an Application that edits what another applies": Layout(
        {
            **OVER,
            "apps/x.yaml": APPLICATION.format(
                name="x", path="a", options=", kustomize: {namePrefix: x-}"
            ),
        },
        set(),
        "in b: ",
    ),
    "two Applications that edit it": Layout(
        {
            **BASE,
            "apps/x.yaml": "".join(
                APPLICATION.format(name=name, path="a", options=f", kustomize: {{namePrefix: {name}-}}")
                for name in ("x", "z")
            ),
        },
        set(),
        "a (Application argocd/x), a (Application argocd/z) use a/vm.yaml",
    ),
    "files that are applied as they are": Layout(
        {
            "kustomization.yaml": "resources: [a/vm.yaml]\n",
            "a/vm.yaml": NEW,
            "apps/kustomization.yaml": "resources: [apps.yaml]\n",
            **applied("a"),
        },
        set(),
        "a (Application argocd/a) uses a/vm.yaml, and would be without definitions.yaml",
    ),
    "folders of loose files": Layout(
        {"v/x/vm.yaml": NEW, "v/y/vm.yaml": vm("other", memory="5Gi"), **applied("v/x", "v/y")},
        set(),
        "v/x (Application argocd/v-x) uses v/x/vm.yaml, and would be without v/definitions.yaml",
    ),
    "a folder of loose files that is named": Layout(
        {"v/x/vm.yaml": NEW, "v/y/vm.yaml": vm("other", memory="5Gi"), **applied("v/x", "v/y")},
        {"v/x/vm.yaml", "v/x/definitions.yaml"},
        "",
        ("v/x",),
    ),
    "a folder of loose files that is applied whole": Layout(
        {
            "v/x/vm.yaml": NEW,
            "v/y/vm.yaml": vm("other", memory="5Gi"),
            **applied("v", options=", directory: {recurse: true}"),
        },
        {"v/x/vm.yaml", "v/y/vm.yaml", "v/definitions.yaml"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_input_starts_what_it_did(
    repository: Path, capfd: pytest.CaptureFixture[str], layout: Layout
) -> None:
    """Each alone: what stands in another one is applied elsewhere, or not at all."""
    put(repository, layout.files)
    is_sound = "gone.yaml" not in str(layout.files)
    before = inputs() if is_sound else {}
    assert invoke(["factor", "--write", *layout.paths]) == 0
    assert layout.why in capfd.readouterr().out
    after = texts(repository)
    assert {name for name in after if layout.files.get(name) != after[name]} == layout.change
    now = inputs() if is_sound else {}
    assert now.keys() == before.keys()
    for name, (started, errors) in now.items():
        assert same(before[name][0], started), name
        assert errors <= before[name][1], name
    invoke(["factor", "--write", *layout.paths])
    assert texts(repository) == after
