import os
from pathlib import Path
from typing import Any

import pytest

from render.manifests import output
from render.yaml.budget import Limits
from render.yaml.reader import read

Tree = dict[str, Any]


def thing(kind: str, name: str, namespace: str = "", api: str = "v1", key: str = "name") -> Tree:
    metadata = {key: name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def test_the_folder_of_a_file_is_known_by_its_name() -> None:
    web = thing("VirtualMachine", "web", "prod", "kubevirt.io/v1")
    assert output.folder_of(web, "out/prod/virtualmachine-web.yaml") == "out/"
    assert output.folder_of(web, "a/out/prod/virtualmachine-web.yaml") == "a/out/"
    for other in ("prod/virtualmachine-web.yaml", "out/virtualmachine-web.yaml", "out/web.yaml"):
        assert not output.folder_of(web, other)


def files_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize(
    ("objects", "names"),
    [
        pytest.param(
            [thing("VirtualMachine", "web", "prod", "kubevirt.io/v1")],
            ["prod/virtualmachine-web.yaml"],
            id="a-folder-a-namespace",
        ),
        pytest.param([thing("Namespace", "prod")], ["namespace-prod.yaml"], id="no-namespace"),
        pytest.param(
            [thing("VirtualMachineClusterPreference", "p", "prod")],
            ["virtualmachineclusterpreference-p.yaml"],
            id="a-namespace-on-a-cluster-scoped-kind-is-ignored",
        ),
        pytest.param(
            [thing("Service", "a", "n"), thing("Service", "a", "n", "serving.knative.dev/v1")],
            ["n/service-a.yaml", "n/service.serving.knative.dev-a.yaml"],
            id="the-group-tells-kinds-of-one-name-apart",
        ),
        pytest.param(
            [thing("Role", "A"), thing("Role", "a"), thing("Role", "a")],
            ["role-A.yaml", "role-a-2.yaml", "role-a-3.yaml"],
            id="names-that-differ-in-case-only-are-told-apart",
        ),
        pytest.param(
            [thing("Pod", "x-", key="generateName"), thing("Pod", "x-", key="generateName")],
            ["pod-x-.yaml", "pod-x--2.yaml"],
            id="generated-names",
        ),
        pytest.param(
            [thing("A/B", "../../x", "..")],
            ["%2E./a%2Fb-%2E.%2F..%2Fx.yaml"],
            id="nothing-leads-out-of-the-folder",
        ),
        pytest.param(
            [thing("Role", "system:ünï")], ["role-system%3A%C3%BCn%C3%AF.yaml"], id="odd-letters"
        ),
    ],
)
def test_file_names(objects: list[Tree], names: list[str]) -> None:
    assert output.file_names(objects) == names


def test_one_file_holds_everything(tmp_path: Path) -> None:
    objects = [thing("Pod", "a"), thing("Pod", "b")]
    target = str(tmp_path / "out.yaml")
    text = "apiVersion: v1\nkind: Pod # kept\nmetadata: {name: b}\n"
    assert output.save(target, [(objects[0], objects[0]), (objects[1], text)]) is None
    written = (tmp_path / "out.yaml").read_bytes()
    assert [document.body for document in read(written, "out.yaml", Limits()).documents] == objects
    assert b"# kept" in written


@pytest.mark.parametrize("target", ["new/", "old", "old/"])
def test_a_folder_gets_one_file_a_resource(tmp_path: Path, target: str) -> None:
    (tmp_path / "old").mkdir()
    objects = [thing("Pod", "a", "n"), thing("Namespace", "n")]
    assert output.save(f"{tmp_path}/{target}", [(body, body) for body in objects]) is None
    folder = tmp_path / target
    assert files_in(folder) == ["n/pod-a.yaml", "namespace-n.yaml"]
    written = read((folder / "n/pod-a.yaml").read_bytes(), "", Limits())
    assert [document.body for document in written.documents] == [objects[0]]


def test_a_folder_without_resources_is_made_and_empty(tmp_path: Path) -> None:
    assert output.save(f"{tmp_path}/new/", []) is None
    assert os.listdir(tmp_path / "new") == []


@pytest.mark.parametrize(
    ("target", "file", "words"),
    [
        pytest.param("no/such/out.yaml", "no/such/out.yaml", "No such file or directory", id="no-folder"),
        pytest.param("file/", "file", "File exists", id="a-file-in-the-place-of-the-folder"),
        pytest.param("half/", "half/n", "File exists", id="a-file-in-the-place-of-a-folder-within"),
        pytest.param("blocked", "blocked/n/pod-b.yaml", "Is a directory", id="a-folder-in-the-place-of-a-file"),
        pytest.param(
            "new/", f"new/other/pod-{'c' * 300}.yaml", "File name too long", id="a-name-too-long-for-the-file-system"
        ),
    ],
)  # fmt: skip
def test_all_or_nothing_is_written(tmp_path: Path, target: str, file: str, words: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "half").mkdir()
    (tmp_path / "half/n").write_text("")
    (tmp_path / "blocked/n/pod-b.yaml").mkdir(parents=True)
    objects = [thing("Pod", "a", "n"), thing("Pod", "b", "n")]
    if target == "new/":
        objects.append(thing("Pod", "c" * 300, "other"))
    before = sorted(tmp_path.rglob("*"))
    found = output.save(f"{tmp_path}/{target}", [(body, body) for body in objects])
    assert found is not None
    assert found.code == "VR121"
    assert found.message == f"cannot write {tmp_path}/{file}: {words}"
    assert sorted(tmp_path.rglob("*")) == before
