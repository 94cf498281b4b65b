"""What the real kustomize makes of our folders, and what we let it do."""

import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.manifests.boxed import kustomize as module
from render.manifests.boxed.program import ProgramBounds
from render.manifests.documents import Documents
from render.manifests.kustomization import Reach
from render.manifests.sources.loading import load, load_all
from render.manifests.sources.reading import Reading
from render.system.programs import processes
from render.yaml.budget import Limits
from render.yaml.positions import locate
from tests.support.manifests import put

VM = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: {}\nspec:\n  running: true\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def build(path: str, kustomize: str, *, allow_remote: bool = False) -> Documents:
    return load([path], Reading(Limits(), None, kustomize, allow_remote))


def origins(loaded: Documents) -> dict[str, str]:
    """Name of the built object -> file and line of its source."""
    return {
        document.body["metadata"]["name"]: f"{document.origin.file}:{document.origin.line}"
        for document in loaded.documents
    }


@pytest.fixture
def overlay() -> None:
    put("base/kustomization.yaml", "resources: [vms.yaml]\n")
    put("base/vms.yaml", VM.format("web") + "---\n" + VM.format("db"))
    put("base/unused.yaml", VM.format("unused"))
    put(
        "prod/kustomization.yaml",
        "resources: [../base, own.yaml]\nnamespace: prod\nnamePrefix: p-\nnameSuffix: '-1'\n"
        "patches: [{path: patch.yaml, target: {kind: VirtualMachine}}]\n",
    )
    put("prod/own.yaml", "# a comment\n" + VM.format("own"))
    put("prod/patch.yaml", "- op: remove\n  path: /spec/running\n")


@pytest.mark.usefixtures("overlay")
def test_an_overlay_is_built_and_its_objects_point_at_their_sources(kustomize: str) -> None:
    found = build("prod", kustomize)
    assert found.diagnostics == []
    assert origins(found) == {
        "p-web-1": "base/vms.yaml:1",
        "p-db-1": "base/vms.yaml:8",
        "p-own-1": "prod/own.yaml:2",
    }
    assert all(document.body["metadata"]["namespace"] == "prod" for document in found.documents)
    assert all("running" not in document.body["spec"] for document in found.documents)
    assert found.files == [
        "base/kustomization.yaml", "base/vms.yaml", "prod/kustomization.yaml", "prod/own.yaml",
        "prod/patch.yaml",
    ]  # fmt: skip
    database = next(
        document for document in found.documents if document.body["metadata"]["name"] == "p-db-1"
    )
    place = locate(found.data["base/vms.yaml"], database.origin, ("metadata", "name"))
    assert place == (11, 3)


@pytest.mark.usefixtures("overlay")
def test_the_documents_are_what_kustomize_prints(kustomize: str) -> None:
    printed = subprocess.run([kustomize, "build", "prod"], capture_output=True, check=True).stdout
    found = build("./prod/", kustomize)
    assert found.data["prod (kustomize build)"] == printed
    assert "---\n".join(document.text or "" for document in found.documents) == printed.decode()


@pytest.mark.usefixtures("overlay")
def test_check_builds_each_root_and_reads_the_loose_files(kustomize: str) -> None:
    put("test/kustomization.yaml", "resources: [../base]\n")
    put("loose.yaml", VM.format("loose"))
    found = load_all(["."], Reading(Limits(), kustomize=kustomize))
    assert [sorted(origins(item)) for item in found] == [
        ["loose"], ["p-db-1", "p-own-1", "p-web-1"], ["db", "web"],
    ]  # fmt: skip
    assert [item.diagnostics for item in found] == [[], [], []]


@pytest.mark.usefixtures("overlay")
def test_the_only_root_below_is_built_beside_the_loose_files(kustomize: str) -> None:
    put("loose.yaml", VM.format("loose"))
    assert sorted(origins(build(".", kustomize))) == ["loose", "p-db-1", "p-own-1", "p-web-1"]


@pytest.mark.usefixtures("overlay")
def test_kustomize_is_found_on_the_path(kustomize: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(kustomize))
    assert len(build("prod", "auto").documents) == 3
    monkeypatch.setenv("PATH", "")
    assert [diagnostic.code for diagnostic in build("prod", "auto").diagnostics] == ["VR117"]


def test_origin_annotations_decide(kustomize: str) -> None:
    put("a/kustomization.yaml", "resources: [vm.yaml]\nnamespace: a\n")
    put("a/vm.yaml", VM.format("web"))
    put("b/kustomization.yaml", "resources: [vm.yaml]\nnamespace: b\n")
    put("b/vm.yaml", "\n" + VM.format("web"))
    put("all/kustomization.yaml", "resources: [../a, ../b]\n")
    blind = build("all", kustomize)
    assert [document.origin.file for document in blind.documents] == ["all (kustomize build)"] * 2
    put("all/kustomization.yaml", "resources: [../a, ../b]\nbuildMetadata: [originAnnotations]\n")
    found = build("all", kustomize)
    assert {
        document.body["metadata"]["namespace"]: document.origin.file for document in found.documents
    } == {
        "a": "a/vm.yaml",
        "b": "b/vm.yaml",
    }
    assert {document.origin.line for document in found.documents} == {1, 2}


def test_what_has_no_source_points_into_the_output(kustomize: str) -> None:
    put("kustomization.yaml", "configMapGenerator: [{name: a, literals: [x=y]}]\n")
    (found,) = build(".", kustomize).documents
    assert found.origin.file == ". (kustomize build)"


def test_a_failing_kustomize_is_quoted_without_absolute_paths(kustomize: str) -> None:
    put("app/kustomization.yaml", "resources: [vm.yaml]\nbogus: true\n")
    found = build("app", kustomize)
    assert found.documents == []
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.location.file) == ("VR116", "app")
    assert 'unknown field "bogus"' in diagnostic.message
    put("app/kustomization.yaml", "resources: [vm.yaml]\n")
    (diagnostic,) = build("app", kustomize).diagnostics
    assert "no such file or directory" in diagnostic.message
    assert os.getcwd() not in diagnostic.message


def test_what_is_no_kustomize_is_quoted_too(tmp_path: Path) -> None:
    put("app/kustomization.yaml", "resources: []\n")
    tool = tmp_path / "tool"
    for script, words in (
        ("#!/bin/sh\necho 'no such flag' >&2; exit 3\n", "no such flag"),
        ("#!/bin/sh\nexit 3\n", "exit status 3"),
        ("#!/bin/sh\nkill -SEGV $$\n", "ended by signal 11"),
        ("#!/no/such/interpreter\n", "cannot start"),
    ):
        tool.write_text(script)
        tool.chmod(0o755)
        (diagnostic,) = build("app", str(tool)).diagnostics
        assert diagnostic.code == "VR116"
        assert words in diagnostic.message


def test_a_kustomize_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    tool.chmod(0o755)
    found = processes.finish(
        module.building(
            module.KustomizeBuild(
                ".",
                str(tool),
                Reach(),
                ProgramBounds(Limits(), 1 << 20),
                allow_remote=False,
                seconds=0.2,
            )
        )
    )
    assert not isinstance(found, bytes)
    assert found.message == "kustomize build .: stopped after 0.2 seconds"


def test_a_folder_named_like_a_repository_is_a_folder(kustomize: str) -> None:
    put("github.com/org/app/kustomization.yaml", "resources: [vm.yaml]\n")
    put("github.com/org/app/vm.yaml", VM.format("a"))
    found = build("github.com/org/app", kustomize)
    assert origins(found) == {"a": "github.com/org/app/vm.yaml:1"}


def test_plugins_do_not_run(kustomize: str) -> None:
    put(
        "kustomization.yaml",
        "resources: [vm.yaml]\ntransformers:\n- |\n  apiVersion: a/v1\n  kind: A\n  metadata:\n    name: a\n"
        "    annotations:\n      config.kubernetes.io/function: 'exec: {path: ./touch.sh}'\n",
    )
    put("vm.yaml", VM.format("a"))
    put("touch.sh", "#!/bin/sh\ntouch ran\ncat\n")
    Path("touch.sh").chmod(0o755)
    assert [diagnostic.code for diagnostic in build(".", kustomize).diagnostics] == ["VR116"]
    assert not Path("ran").exists()


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A web server with one VM, and the paths that were asked for."""
    requested: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(VM.format("remote").encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/vm.yaml", requested
        running.shutdown()


def test_a_remote_resource_is_fetched_only_if_allowed(
    kustomize: str, server: tuple[str, list[str]]
) -> None:
    url, requested = server
    put("base/kustomization.yaml", f"resources:\n- {url}\n")
    put("app/kustomization.yaml", "resources: [../base]\n")
    refused = build("app", kustomize)
    assert [diagnostic.code for diagnostic in refused.diagnostics] == ["VR122"]
    assert requested == []
    found = build("app", kustomize, allow_remote=True)
    assert list(origins(found)) == ["remote"]
    assert requested == ["/vm.yaml"]


@pytest.mark.skipif(not shutil.which("git"), reason="no git on this machine")
def test_without_the_network_kustomize_finds_no_git_either(kustomize: str) -> None:
    subprocess.run(["git", "init", "-q", "repo"], check=True)
    put("repo/kustomization.yaml", "resources: [vm.yaml]\n")
    put("repo/vm.yaml", VM.format("a"))
    git = ["git", "-C", "repo", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a"], check=True)
    put("app/kustomization.yaml", f"resources: ['file://{os.getcwd()}/repo']\n")
    assert list(origins(build("app", kustomize, allow_remote=True))) == ["a"]
    second_lock = processes.finish(
        module.building(
            module.KustomizeBuild(
                "app", kustomize, Reach(), ProgramBounds(Limits(), 1 << 20), allow_remote=False
            )
        )
    )
    assert not isinstance(second_lock, bytes)
    assert "git" in second_lock.message
