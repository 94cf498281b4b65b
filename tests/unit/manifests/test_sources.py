import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from render.manifests.buffers import Buffers
from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.sources.loading import load, load_all
from render.manifests.sources.reading import Reading
from render.yaml.budget import Limits
from tests.support.manifests import put

DEFAULT = Limits()
VM = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: {}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(
    *paths: str, stdin: BinaryIO | None = None, limits: Limits = DEFAULT, kustomize: str = "auto"
) -> Documents:
    return load(paths, Reading(limits, stdin, kustomize))


def names(loaded: Documents) -> list[str]:
    return [document.body["metadata"]["name"] for document in loaded.documents]


def messages(loaded: Documents) -> list[str]:
    """Each diagnostic as CODE PLACE."""
    return [
        f"{diagnostic.code} {diagnostic.location.file}"
        + (f":{diagnostic.location.line}" if diagnostic.location.line else "")
        for diagnostic in loaded.diagnostics
    ]


def test_the_order_is_that_of_the_paths_then_of_the_names_then_of_the_documents() -> None:
    put("b/2.yaml", VM.format("b2") + "---\n" + VM.format("b2b"))
    put("b/1.json", '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b1"}}')
    put("a.yaml", VM.format("a"))
    found = read("b", "a.yaml", "-", stdin=io.BytesIO(VM.format("stream").encode()))
    assert names(found) == ["b1", "b2", "b2b", "a", "stream"]
    assert [document.origin.file for document in found.documents] == [
        "b/1.json", "b/2.yaml", "b/2.yaml", "a.yaml", "<stdin>",
    ]  # fmt: skip
    assert found.files == ["a.yaml", "b/1.json", "b/2.yaml"]
    assert found.data["<stdin>"] == VM.format("stream").encode()
    assert found.data["a.yaml"] == VM.format("a").encode()
    assert set(found.data) == {"<stdin>", *found.files}
    assert found.diagnostics == []


def test_a_file_named_twice_is_read_once() -> None:
    put("a.yaml", VM.format("a"))
    assert names(read(".", "a.yaml", "./a.yaml", os.path.abspath("a.yaml"))) == ["a"]


def test_a_file_that_has_gone_since_has_no_bytes() -> None:
    put("a.yaml", VM.format("a"))
    found = read("a.yaml")
    Path("a.yaml").unlink()
    assert "a.yaml" in found.data
    assert found.data["a.yaml"] == b""
    assert "b.yaml" not in found.data


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("a: 1\n", "no document with", id="other-yaml"),
        pytest.param("apiVersion: v2\nname: chart\n", "no document with", id="a-chart"),
        pytest.param("kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n", "no document with", id="a-tool"),
        pytest.param("- hosts: all\n  kind: play\n", "no document with", id="a-list"),
        pytest.param("key: !vault |\n  a\n", "no document with", id="a-tag-of-a-tool"),
        pytest.param("replicas: 1\nreplicas: 2\n", "no document with", id="a-key-twice"),
        pytest.param('{{- range .vms }}\n{{ include "vm" . }}\n{{- end }}\n', "a template", id="a-template"),
        pytest.param("replicas: {{ .Values.n }}\n", "a template", id="values-to-fill-in"),
        pytest.param("", "no document with", id="empty"),
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_left_out_of_a_folder_with_a_note(text: str, why: str) -> None:
    put("a.yaml", text)
    found = read(".")
    assert messages(found) == ["VR118 a.yaml"]
    assert found.diagnostics[0].message.startswith("a.yaml skipped: ")
    assert why in found.diagnostics[0].message
    assert found.documents == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            VM.format("a") + "spec:\n  userData: |\n    {{ ds }}\n\t- a\n", "VR101 a.yaml:8", id="template-within"
        ),
        pytest.param(VM.format("a") + '---\n{{ include "x" . }}\n', "VR101 a.yaml:6", id="template-beside"),
        pytest.param(VM.format("{{ .Values.name }}"), "VR101 a.yaml:4", id="name-to-fill-in"),
        pytest.param("{{- if .vm }}\n" + VM.format("a") + "{{- end }}\n", "VR101 a.yaml:1", id="condition"),
        pytest.param("broken: [", "VR101 a.yaml:1", id="list-without-end"),
        pytest.param("metadata:\n\tname: web\n", "VR101 a.yaml:2", id="tab"),
        pytest.param("metadata: {name: a}\nkind: Pod\nkind: Pod\n", "VR102 a.yaml:3", id="kind-twice"),
        pytest.param(VM.format("a").encode("utf-16"), "VR101 a.yaml:1", id="utf-16"),
        pytest.param(VM.format("a").encode("utf-16-le"), "VR101 a.yaml:1", id="utf-16-without-a-mark"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", [".", "a.yaml"])
def test_what_may_hold_an_object_is_never_left_out(
    text: str | bytes, expected: str, path: str
) -> None:
    Path("a.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert messages(read(path)) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: 1\n", "VR104 a.yaml:1", id="other-yaml"),
        pytest.param("{{ .Values.vm }}\n", "VR101 a.yaml:1", id="a-template"),
        pytest.param("key: [\n", "VR101 a.yaml:1", id="not-readable"),
    ],
)
@pytest.mark.parametrize("path", ["a.yaml", "-"])
def test_the_same_in_a_file_that_was_named_is_an_error(text: str, expected: str, path: str) -> None:
    put("a.yaml", text)
    found = read(path, stdin=io.BytesIO(text.encode()))
    assert messages(found) == [expected.replace("a.yaml", "<stdin>" if path == "-" else path)]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("kind: VirtualMachine\nmetadata: {name: b}\n", (6, 1), "apiVersion of VirtualMachine b is missing"),
        ("kind: VirtualMachinePool\n", (6, 1), "apiVersion of VirtualMachinePool is missing"),
        ("kind: Pod\nmetadata: {name: b}\n", (6, 1), "apiVersion is missing"),
        ("apiVersion: kubevirt.io/v1\nspec: {}\n", (6, 1), "kind is missing"),
        ("apiVersion: v1\nkind: [Pod]\n", (7, 1), "kind is not a string"),
        ("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n", (6, 1), "metadata.name of VirtualMachine is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n", (8, 12), "metadata.name of Pod is not a string"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: null\n", (9, 3), "metadata.name of Pod is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: []\n", (8, 1), "metadata of Pod is not a mapping"),
        ("a: 1\n", (6, 1), "apiVersion is missing"),
    ],
)  # fmt: skip
def test_every_document_beside_an_object_must_be_one(
    text: str, place: tuple[int, int], message: str
) -> None:
    put("a.yaml", VM.format("a") + "---\n" + text)
    found = read(".")
    assert [(d.location.line, d.location.column) for d in found.diagnostics] == [place]
    assert found.diagnostics[0].message == f"not a Kubernetes object: {message}"
    assert found.diagnostics[0].help
    assert names(found) == ["a"]


def test_generated_names_and_our_own_kinds_need_no_name() -> None:
    put("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n")
    put("lock.yaml", "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\n")
    found = read(".")
    assert [document.body["kind"] for document in found.documents] == ["Pod", "RevisionLock"]
    assert found.diagnostics == []


def test_a_broken_manifest_in_a_folder_is_an_error_though_its_user_data_is_a_template() -> None:
    put(
        "a.yaml",
        VM.format("a") + "spec:\n  userData: |\n    {{ ds.meta_data }}\n\n\n\n  a: b\n  c: d: e\n",
    )
    assert messages(read(".")) == ["VR101 a.yaml:12"]


def test_a_missing_path_is_an_error() -> None:
    found = read("gone", "gone.yaml", "-")
    assert messages(found) == ["VR110 gone", "VR110 gone.yaml", "VR110 <stdin>"]


def test_the_limit_of_one_file_and_of_all() -> None:
    for name in "abcd":
        put(f"{name}.yaml", VM.format(name))
    size = len(VM.format("a"))
    assert messages(read(".", limits=Limits(file_bytes=size - 1))) == [
        f"VR111 {n}.yaml" for n in "abcd"
    ]
    found = read(".", limits=Limits(total_bytes=2 * size))
    assert (names(found), messages(found)) == (["a", "b"], ["VR111 c.yaml"])
    stream = read("-", stdin=io.BytesIO(b"a" * 100), limits=Limits(file_bytes=99))
    assert messages(stream) == ["VR111 <stdin>"]
    text = VM.format("a").encode()
    stream = read("-", stdin=io.BytesIO(text), limits=Limits(file_bytes=size))
    assert (names(stream), messages(stream)) == (["a"], [])


def test_patches_are_no_resources_when_kustomize_is_not_used() -> None:
    put("app/kustomization.yaml", "resources: [vm.yaml]\npatches: [{path: patch.yaml}]\n")
    put("app/vm.yaml", VM.format("a"))
    put("app/patch.yaml", VM.format("a"))
    found = read("app", kustomize="never")
    assert names(found) == ["a"]
    assert messages(found) == ["VR118 app/kustomization.yaml", "VR118 app/patch.yaml"]
    assert "app/kustomization.yaml refers to it" in found.diagnostics[1].message


def test_a_patch_or_kustomization_that_is_named_is_left_out() -> None:
    put("app/kustomization.yaml", "patches: [{path: deep/patch.yaml}]\n")
    put("app/deep/patch.yaml", "spec: {}\n")
    put("app/vm.yaml", VM.format("a"))
    found = read("app/deep/patch.yaml", "app/kustomization.yaml", "app/vm.yaml")
    assert names(found) == ["a"]
    assert messages(found) == ["VR118 app/deep/patch.yaml", "VR118 app/kustomization.yaml"]


def test_several_kustomizations_are_listed_and_not_built() -> None:
    put("prod/kustomization.yaml", "resources: [../base]\n")
    put("test/kustomization.yaml", "resources: [../base]\n")
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vm.yaml", VM.format("loose"))
    found = read(".", kustomize="no-such-kustomize")
    assert messages(found) == ["VR119 ."]
    assert "prod, test" in found.diagnostics[0].message
    assert names(found) == ["loose"]


def test_without_a_kustomize_binary() -> None:
    put("app/kustomization.yaml", "resources: [vm.yaml]\n")
    (found,) = load_all(["."], Reading(Limits(), kustomize="no-such-kustomize"))
    assert messages(found) == ["VR117 app"]
    assert "no-such-kustomize" in found.diagnostics[0].message


def test_nothing_at_all_is_one_empty_answer() -> None:
    (found,) = load_all(["."], Reading(Limits()))
    assert (found.documents, found.diagnostics, found.files) == ([], [], [])


def test_a_text_that_is_known_is_not_parsed_again(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(text)
    (tmp_path / "c.yaml").write_text("apiVersion: [")
    how = Reading(Limits(), kustomize="never", known={})
    first, second = (load([str(tmp_path)], how) for _ in range(2))
    assert [document.origin.file for document in second.documents] == [
        str(tmp_path / name) for name in ("a.yaml", "b.yaml")
    ]
    assert {id(document.body) for document in first.documents} == {
        id(document.body) for document in second.documents
    }
    assert len({id(document.body) for document in first.documents}) == 1
    assert first.diagnostics == second.diagnostics
    assert first.diagnostics
    other = load([str(tmp_path)], how._replace(limits=Limits(depth=5)))
    assert other.documents[0].body is not first.documents[0].body


def buffered(**texts: str) -> Reading:
    return Reading(
        Limits(), buffers=Buffers({f"{name}.yaml": text for name, text in texts.items()})
    )


def test_what_an_editor_has_open_wins_over_the_disk() -> None:
    put("a.yaml", VM.format("saved"))
    put("b.yaml", VM.format("b"))
    reading = buffered(a="# typed\n" + VM.format("typed"))
    for found in (load(["."], reading), *load_all(["."], reading), load(["./a.yaml"], reading)):
        assert names(found)[0] == "typed"
        assert found.data["a.yaml"].startswith(b"# typed\n")
        assert "a.yaml" in found.files
        assert len(found.data) == len(set(found.data)) == len(found.files)


def test_a_file_that_nobody_has_saved_counts_where_one_would(folder: Path) -> None:
    put("a.yaml", VM.format("a"))
    put("built/kustomization.yaml", "resources: []\n")
    texts = {
        "new.yaml": VM.format("new"),
        "built/owned.yaml": VM.format("owned"),
        ".hidden.yaml": VM.format("hidden"),
        "notes.txt": VM.format("text"),
        "kustomization.yaml": "resources: [a.yaml]\n",
        "nowhere/b.yaml": VM.format("b"),
        str(folder.parent / "outside.yaml"): VM.format("outside"),
    }
    found = load(["."], Reading(Limits(), kustomize="never", buffers=Buffers(texts)))
    assert names(found) == ["a", "owned", "new"]
    (loose,) = load_all(["."], Reading(Limits(), scope=Scope(), buffers=Buffers(texts)))
    assert names(loose) == ["a", "new"]
    assert names(load(["nowhere/b.yaml"], Reading(Limits(), buffers=Buffers(texts)))) == ["b"]


def test_a_buffer_counts_under_each_name_of_its_file() -> None:
    put("folder/a.yaml", VM.format("saved"))
    os.symlink("folder", "link")
    reading = Reading(Limits(), buffers=Buffers({"link/a.yaml": VM.format("typed")}))
    assert names(load(["folder"], reading)) == names(load(["link/a.yaml"], reading)) == ["typed"]


def test_a_buffer_has_the_limits_of_a_file_and_its_faults() -> None:
    large = buffered(a=VM.format("a" * 200))._replace(limits=Limits(file_bytes=100))
    put("a.yaml", VM.format("a"))
    assert messages(load(["."], large)) == ["VR111 a.yaml"]
    assert messages(load(["."], buffered(a="{"))) == ["VR101 a.yaml:1"]
    assert messages(load(["."], buffered(a="# nothing\na: \ud800\n"))) == ["VR101 a.yaml:2"]


def test_what_kustomize_builds_is_what_is_saved(kustomize: str) -> None:
    put("kustomization.yaml", "resources: [a.yaml]\n")
    put("a.yaml", VM.format("saved"))
    reading = buffered(a="\n\n" + VM.format("typed"))._replace(kustomize=kustomize)
    found = load(["."], reading)
    assert names(found) == ["saved"]
    assert found.data["a.yaml"] == VM.format("saved").encode()


def test_a_lock_that_is_not_saved_counts_beside_a_kustomization(kustomize: str) -> None:
    put("kustomization.yaml", "resources: [a.yaml]\n")
    put("a.yaml", VM.format("a"))
    lock = "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\npins: {}\n"
    buffers = Buffers({"virt-render.lock.yaml": lock})
    found = load(["."], Reading(Limits(), kustomize=kustomize, buffers=buffers))
    assert [document.body["kind"] for document in found.documents] == [
        "VirtualMachine",
        "RevisionLock",
    ]
