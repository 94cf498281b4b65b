import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from render.diagnostics.diagnostic import Severity
from render.manifests import discover


def tree(folder: Path, files: Mapping[str, str]) -> None:
    """Make *files* below *folder*: name -> text, or ``-> TARGET`` for a symbolic link."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_text(text)


def walk(top: str, *, plain: bool = False, allowed: tuple[str, ...] = (".",)) -> discover.Discovery:
    return discover.walk(top, [os.path.realpath(path) for path in allowed], plain=plain)


def names(found: discover.Discovery) -> list[str]:
    return [file for file, _ in found.files]


def notes(found: discover.Discovery) -> dict[str, str]:
    return {
        diagnostic.location.file: diagnostic.message
        for diagnostic in found.diagnostics
        if diagnostic.severity is Severity.INFO
    }


def errors(found: discover.Discovery) -> dict[str, str]:
    return {
        diagnostic.location.file: diagnostic.message
        for diagnostic in found.diagnostics
        if diagnostic.is_error
    }


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_yaml_and_json_files_sorted_with_names_as_given(folder: Path) -> None:
    tree(folder, dict.fromkeys(["b/z.yml", "b/a.json", "a.yaml", "README.md", "b-c/x.yaml"], ""))
    assert names(walk(".")) == ["a.yaml", "b-c/x.yaml", "b/a.json", "b/z.yml"]
    assert names(walk("b")) == ["b/a.json", "b/z.yml"]
    assert names(walk(str(folder))) == [f"{folder}/{name}" for name in names(walk("."))]
    assert notes(walk(".")) == errors(walk(".")) == {}


@pytest.mark.parametrize(
    ("stated", "printed"),
    [
        (".", "."),
        ("./", "."),
        ("./a/", "a"),
        (".//a", "a"),
        ("../a", "../a"),
        ("/", "/"),
        ("/a/", "/a"),
    ],
)
def test_names_are_tidied(stated: str, printed: str) -> None:
    assert discover.tidy(stated) == printed


def test_hidden_files_helm_templates_and_large_endings_are_left_out_with_a_note(
    folder: Path,
) -> None:
    tree(
        folder,
        dict.fromkeys(
            [
                ".git/config.yaml", ".hidden.yaml", ".hidden.txt", "chart/Chart.yaml",
                "chart/templates/vm.yaml", "chart/crds/crd.yaml", "templates/vm.yaml", "VM.YAML",
            ],
            "",
        ),
    )  # fmt: skip
    found = walk(".")
    assert names(found) == ["chart/Chart.yaml", "chart/crds/crd.yaml", "templates/vm.yaml"]
    assert notes(found) == {
        ".git": ".git skipped: hidden",
        ".hidden.yaml": ".hidden.yaml skipped: hidden",
        "VM.YAML": "VM.YAML skipped: kubectl and Argo CD read names that end in small letters",
        "chart/templates": "chart/templates skipped: the templates of a Helm chart",
    }


def test_files_below_a_kustomization_belong_to_it(folder: Path) -> None:
    tree(
        folder,
        dict.fromkeys(
            ["app/kustomization.yaml", "app/vm.yaml", "app/deep/vm.yaml", "app/deep/sub/Kustomization",
             "loose.yaml"], "",
        ),
    )  # fmt: skip
    found = walk(".")
    assert names(found) == ["loose.yaml"]
    assert found.kustomizations == ["app", "app/deep/sub"]
    plain = walk(".", plain=True)
    assert names(plain) == ["app/deep/vm.yaml", "app/vm.yaml", "loose.yaml"]
    assert list(notes(plain)) == ["app/kustomization.yaml"]


def test_links_inside_are_followed_and_nothing_is_read_twice(folder: Path) -> None:
    tree(
        folder,
        {
            "..data": "-> .v1",  # as a mounted ConfigMap has it
            ".v1/vm.yaml": "",
            "vm.yaml": "-> ..data/vm.yaml",
            "a.yaml": "-> z.yaml",
            "z.yaml": "",
            "deep/self": "-> ..",
            "deep/b.yaml": "",
        },
    )
    found = walk(".")
    assert names(found) == ["deep/b.yaml", "vm.yaml", "z.yaml"]
    assert errors(found) == {}
    assert notes(found)["a.yaml"] == "a.yaml skipped: a link to a file that is read already"
    assert "deep/self" in notes(found)


def test_links_that_leave_are_refused_unless_their_goal_was_named_too(folder: Path) -> None:
    tree(folder.parent, {"outside/vm.yaml": "", "outside/notes.txt": ""})
    tree(
        folder,
        {
            "vm.yaml": "-> ../outside/vm.yaml",
            "all": "-> ../outside",
            "notes.txt": "-> ../outside/notes.txt",
            "app/kustomization.yaml": "",
            "app/vm.yaml": "-> ../../outside/vm.yaml",
        },
    )
    found = walk(".")
    assert names(found) == []
    assert sorted(errors(found)) == ["all", "vm.yaml"]
    assert all("leads out of the folder" in text for text in errors(found).values())
    both = walk(".", allowed=(".", "../outside"))
    assert names(both) == ["all/vm.yaml"]
    assert errors(both) == {}


def test_what_cannot_be_read_is_an_error_if_it_could_be_a_manifest(folder: Path) -> None:
    tree(folder, {"gone.yaml": "-> nowhere", "gone": "-> nowhere", "loop.yaml": "-> loop.yaml"})
    os.mkfifo(folder / "pipe.yaml")
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"\xff.yaml")).write_text("")
    found = walk(".")
    assert names(found) == []
    assert errors(found) == {
        "gone.yaml": "cannot read gone.yaml: No such file or directory",
        "loop.yaml": "cannot read loop.yaml: Too many levels of symbolic links",
        "pipe.yaml": "cannot read pipe.yaml: neither a regular file nor a folder",
        "\\xff.yaml": "cannot read \\xff.yaml: its name is not UTF-8",
    }


def test_a_folder_that_vanishes_is_an_error() -> None:
    assert errors(walk("gone")) == {"gone": "cannot read gone: No such file or directory"}
