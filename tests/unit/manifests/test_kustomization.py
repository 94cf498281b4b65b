import os
from pathlib import Path

import pytest

from render.manifests import kustomization
from render.yaml.budget import Limits


def write(folder: Path, text: str, name: str = "kustomization.yaml") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.com/a.yaml", "HTTP://example.com/a", "http:example.com", "github.com/a/b",
        "github.com:a/b", "git@example.com:a/b.git", "git::https://example.com/a/b",
        "ssh://git@example.com/a/b", "file:///srv/git/a", "user@example.com/a/b?ref=v1",
    ],
)  # fmt: skip
def test_remote_entries(entry: str) -> None:
    assert kustomization.is_remote(entry)


@pytest.mark.parametrize(
    "entry",
    ["../base", "vm.yaml", "a@b.yaml", "github.com", "git/hub", "c:drive", "/abs/github.com/a/b"],
)
def test_local_entries(entry: str) -> None:
    assert not kustomization.is_remote(entry)


def test_everything_that_a_kustomization_names_is_found() -> None:
    body = {
        "resources": ["vm.yaml", "../base"],
        "bases": ["old"],
        "components": ["part"],
        "crds": ["crd.json"],
        "configurations": ["names.yaml"],
        "transformers": ["labels.yaml", "apiVersion: builtin\nkind: PrefixTransformer\n"],
        "patchesStrategicMerge": ["smp.yaml", "kind: VirtualMachine\n"],
        "patchesJson6902": [{"path": "json.yaml", "target": {"kind": "A"}}],
        "patches": [{"path": "patch.yaml"}, {"patch": "- op: remove\n"}, "wrong"],
        "replacements": [{"path": "replace.yaml"}, {"source": {}, "targets": []}],
        "openapi": {"path": "schema.json"},
        "configMapGenerator": [
            {"files": ["key=user.data", "plain.txt"], "envs": ["a.env"], "env": "b.env"}
        ],
        "namespace": "prod",
        "generators": ["a\0b", "", 1, None],
        "labels": None,
    }
    found = list(kustomization.references(body))
    assert [reference.entry for reference in found if reference.is_resource] == [
        "vm.yaml",
        "../base",
        "old",
        "part",
    ]
    assert [reference.entry for reference in found if not reference.is_resource] == [
        "crd.json", "names.yaml", "smp.yaml", "labels.yaml", "patch.yaml", "json.yaml",
        "replace.yaml", "schema.json", "user.data", "plain.txt", "a.env", "b.env",
    ]  # fmt: skip
    assert found[1].path == ("resources", 1)
    assert next(reference.path for reference in found if reference.entry == "json.yaml") == (
        "patchesJson6902",
        0,
        "path",
    )


def test_tops_are_what_no_other_kustomization_refers_to(root: Path) -> None:
    write(root / "base", "resources: [vm.yaml]\npatches: [{path: p.yaml}]\n")
    write(root / "prod", "resources: [../base]\ncomponents: [../part]\n", "kustomization.yml")
    write(root / "test", "bases: [../base/]\n", "Kustomization")
    write(root / "part", "kind: Component\n")
    found = kustomization.survey(["base", "part", "prod", "test"], Limits())
    assert found.tops == ["prod", "test"]
    assert found.patches == {str(root.resolve() / "base/p.yaml"): "base/kustomization.yaml"}


def test_a_cycle_is_left_to_kustomize_to_report(root: Path) -> None:
    write(root / "a", "resources: [../b]\n")
    write(root / "b", "resources: [../a]\n")
    assert kustomization.survey(["a", "b"], Limits()).tops == ["a", "b"]
    write(root / "sound", "resources: [vm.yaml]\n")
    assert kustomization.survey(["a", "b", "sound"], Limits()).tops == ["a", "b", "sound"]
    reach = kustomization.reach("a", Limits(), allow_remote=False)
    assert reach.kustomizations == ["a/kustomization.yaml", "b/kustomization.yaml"]


@pytest.mark.parametrize(("levels", "builds"), [(1, 0), (18, 0), (19, 2**20 - 1), (60, 2**61 - 1)])
def test_bases_that_are_listed_twice_on_each_level(root: Path, levels: int, builds: int) -> None:
    """Each level doubles what kustomize builds: more than a million is refused."""
    for level in range(levels):
        below = f"resources: [../{level + 1}a, ../{level + 1}b]\n" if level + 1 < levels else ""
        for side in "ab":
            write(root / f"{level}{side}", f"namePrefix: {side}-\n{below}")
    write(root / "top", "resources: [../0a, ../0b]\n")
    found = kustomization.reach("top", Limits(), allow_remote=False).diagnostics
    assert [diagnostic.code for diagnostic in found] == (["VR111"] if builds else [])
    if builds:
        assert f"would build {builds:,} kustomizations for top" in found[0].message
        assert f"which are {2 * levels + 1}" in found[0].message


def test_the_reach_of_a_build(root: Path) -> None:
    write(root / "base", "resources: [vm.yaml, sub]\nnamePrefix: a-\n")
    write(root / "base/sub", "resources: [pvc.yaml]\n")
    write(root / "prod", "resources: [../base]\nnameSuffix: -z\npatches: [{path: p.yaml}]\n")
    reach = kustomization.reach("prod", Limits(), allow_remote=False)
    assert reach.resources == ["base/vm.yaml", "base/sub/pvc.yaml"]
    assert reach.others == ["prod/p.yaml"]
    assert (reach.prefixes, reach.suffixes, reach.diagnostics) == (["a-"], ["-z"], [])


def test_links_of_a_shared_base_are_followed_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "base", "resources: [vm.yaml]\n")
    overlays = [f"overlay-{number}" for number in range(3)]
    for overlay in overlays:
        write(root / overlay, "resources: [../base]\n")
    followed: list[str] = []
    realpath = os.path.realpath

    def counting(path: str) -> str:
        followed.append(path)
        return realpath(path)

    monkeypatch.setattr(os.path, "realpath", counting)
    known = kustomization.KnownKustomizations()
    for _ in range(2):
        for overlay in overlays:
            kustomization.reach(overlay, Limits(), allow_remote=True, known=known)
    assert len(followed) == len(set(followed))
    assert "base/vm.yaml" in followed


def test_a_remote_entry_is_refused_with_its_position(root: Path) -> None:
    write(root / "base", "resources:\n- vm.yaml\n- https://example.com/vm.yaml\n")
    write(root / "prod", "resources: [../base]\n")
    (found,) = kustomization.reach("prod", Limits(), allow_remote=False).diagnostics
    assert found.code == "VR122"
    assert (found.location.file, found.location.line) == ("base/kustomization.yaml", 3)
    assert "https://example.com/vm.yaml" in found.message
    assert kustomization.reach("prod", Limits(), allow_remote=True).diagnostics == []


@pytest.mark.parametrize("inline", [True, False])
def test_a_url_in_the_configuration_of_a_plugin_is_refused(root: Path, *, inline: bool) -> None:
    config = "kind: PatchTransformer\nmetadata: {name: p}\npath: http://127.0.0.1/p.yaml\n"
    write(root, config, "config.yaml")
    entry = "\n- |\n  " + config.replace("\n", "\n  ") if inline else "[config.yaml]"
    write(root, f"transformers: {entry}\n")
    (found,) = kustomization.reach(".", Limits(), allow_remote=False).diagnostics
    assert found.code == "VR122"
    assert found.location.file == "kustomization.yaml"


@pytest.mark.parametrize("key", ["generators", "transformers"])
def test_a_folder_that_makes_the_configuration_of_a_plugin_is_refused(root: Path, key: str) -> None:
    write(root / "made", "resources: [config.yaml]\nnamePrefix: a-\n")
    write(root, f"{key}: [made]\n")
    (found,) = kustomization.reach(".", Limits(), allow_remote=False).diagnostics
    assert (found.code, found.location.file) == ("VR122", "kustomization.yaml")
    text = f"made/kustomization.yaml has namePrefix, and makes configurations of {key}: "
    assert found.message.startswith(text)
    write(root / "made", "resources: [config.yaml]\n")
    assert kustomization.reach(".", Limits(), allow_remote=False).diagnostics == []


def test_of_a_folder_of_plugins_only_files_are_read_that_are_here(root: Path) -> None:
    write(root / "made", "resources: [config.yaml, missing.yaml, pipe.yaml]\n")
    write(root / "made", "kind: PrefixTransformer\n", "config.yaml")
    os.mkfifo(root / "made/pipe.yaml")
    write(root, "transformers: [made]\n")
    others = kustomization.reach(".", Limits(), allow_remote=False).others
    assert [os.path.normpath(file) for file in others] == ["made/config.yaml"]


@pytest.mark.parametrize("key", ["resources", "transformers", "generators", "validators"])
@pytest.mark.parametrize("mark", ["|", ">", "|+"])
def test_a_block_that_ends_the_file_is_a_whole_entry(root: Path, key: str, mark: str) -> None:
    """Without a line break it is all of the entry, for kustomize as for us."""
    write(root, f"{key}:\n- {mark}\n  https://example.invalid/x")
    (fault,) = kustomization.reach(".", Limits(), allow_remote=False).diagnostics
    assert fault.code == "VR122"
    write(root, f"{key}:\n- {mark}\n  a.yaml")
    write(root, "kind: x\n", "a.yaml")
    found = kustomization.reach(".", Limits(), allow_remote=False)
    assert "a.yaml" in (*found.resources, *found.others)


def test_a_kustomization_that_is_no_yaml_is_an_error(root: Path) -> None:
    write(root, "resources: [vm.yaml\n")
    (found,) = kustomization.reach(".", Limits(), allow_remote=False).diagnostics
    assert (found.code, found.location.file) == ("VR101", "kustomization.yaml")


def test_a_patch_knows_the_kustomization_above_it(root: Path) -> None:
    write(root / "repo", "patches: [{path: deep/p.yaml}]\n")
    write(root / "repo/deep", "", "p.yaml")
    (root / "repo/deep/other.yaml").touch()
    real = str(root.resolve() / "repo/deep")
    assert kustomization.user_of(f"{real}/p.yaml", Limits()) == os.path.join(
        "repo", "kustomization.yaml"
    )
    assert kustomization.user_of(f"{real}/other.yaml", Limits()) == ""
    (root / "repo/deep/.git").mkdir()  # a repository of its own
    assert kustomization.user_of(f"{real}/p.yaml", Limits()) == ""


@pytest.mark.parametrize("kind", ["[a]", "{a: 1}", "5"])
def test_a_kind_that_is_no_text_is_refused(tmp_path: Path, kind: str) -> None:
    write(tmp_path, f"kind: {kind}\nresources: [vm.yaml]\n")
    assert kustomization.is_refused(kustomization.load("kustomization.yaml", Limits()))
