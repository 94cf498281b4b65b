"""What we give people to install us with: rendered, checked, and where possible run."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import render
from render.frontends.request.commands import COMMANDS
from render.frontends.request.options import DEADLINE
from render.settings import OPTIONS, Layer, Source, decide
from render.yaml.reader import read
from tests.support import shared
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm
from tests.support.plugin_server import PluginServer
from tests.support.repository import Repository

DEPLOY = ROOT / "deploy"
SCHEMA = json.loads((ROOT / "tests" / "support" / "deploy.schema.json").read_text(encoding="utf-8"))
SIDECAR = "argocd/kustomize-component/sidecar.yaml"
REPO_SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: argocd-repo-server
  namespace: argocd
spec:
  template:
    spec:
      containers:
      - name: argocd-repo-server
        image: argocd
        volumeMounts:
        - {name: plugins, mountPath: /home/argocd/cmp-server/plugins}
      initContainers:
      - name: copyutil
        image: argocd
        volumeMounts:
        - {name: var-files, mountPath: /var/run/argocd}
      volumes:
      - {name: var-files, emptyDir: {}}
      - {name: plugins, emptyDir: {}}
      - {name: tmp, emptyDir: {}}
"""
VM = vm(instancetype="small")
SMALL = instancetype()


def body(name: str) -> Any:
    """The one document of a file below deploy/."""
    found = read((DEPLOY / name).read_bytes(), name)
    assert not found.diagnostics
    (document,) = found.documents
    return document.body


def check(value: Any, definition: str) -> None:
    jsonschema.validate(
        value,
        {**SCHEMA, "$ref": f"#/$defs/{definition}"},
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


def pod() -> Any:
    """What the component adds to the pod of the repository server."""
    text = b"patch:\n" + (DEPLOY / SIDECAR).read_bytes()
    ((document,), _) = read(text, SIDECAR)
    added: dict[str, list[Any]] = {}
    for item in document.body["patch"]:
        added.setdefault(item["path"].split("/")[-2], []).append(item["value"])
    return added


def test_the_component_adds_the_sidecar_to_the_repository_server(
    kustomize: str, tmp_path: Path
) -> None:
    (tmp_path / "argocd.yaml").write_text(REPO_SERVER)
    component = os.path.relpath(DEPLOY / "argocd" / "kustomize-component", tmp_path)
    text = f"resources: [argocd.yaml]\ncomponents: [{component}]\n"
    (tmp_path / "kustomization.yaml").write_text(text)
    done = subprocess.run([kustomize, "build", str(tmp_path)], capture_output=True, check=True)
    ((deployment,), _) = read(done.stdout, "stdout")
    spec = deployment.body["spec"]["template"]["spec"]
    containers = {container["name"]: container for container in spec["containers"]}
    assert list(containers) == ["argocd-repo-server", "virt-render"], "the first one is Argo CD's"
    check(containers["virt-render"], "container")
    mounted = {volumemount["name"] for volumemount in containers["virt-render"]["volumeMounts"]}
    volumes = [volume["name"] for volume in spec["volumes"]]
    assert mounted <= set(volumes)
    assert sorted(volumes) == ["plugins", "tmp", "var-files", "virt-render-tmp"]


def test_helm_values_have_the_same_sidecar() -> None:
    text = (DEPLOY / "argocd" / "helm-values.yaml").read_bytes()
    ((document,), _) = read(text, "helm-values.yaml")
    server = document.body["repoServer"]
    assert server == {"extraContainers": pod()["containers"], "volumes": pod()["volumes"]}
    check(server["extraContainers"][0], "container")


def test_the_operator_has_the_same_sidecar_and_picks_the_user() -> None:
    (container,) = pod()["containers"]
    security = {k: v for k, v in container["securityContext"].items() if k != "runAsUser"}
    found = body("argocd/operator.yaml")
    assert found["spec"]["repo"] == {
        "sidecarContainers": [{**container, "securityContext": security}],
        "volumes": pod()["volumes"],
    }
    check(found["spec"]["repo"]["sidecarContainers"][0], "container")


def test_variables_of_the_sidecar_are_ours() -> None:
    known = {item.spelled(Source.ENVIRONMENT) for item in (*OPTIONS, DEADLINE)}
    (container,) = pod()["containers"]
    assert {item["name"] for item in container["env"]} <= known


def source_of(name: str) -> Any:
    found = body(f"argocd/{name}.yaml")
    check(found, found["kind"])
    spec = found["spec"]["template"]["spec"] if name == "applicationset" else found["spec"]
    return spec["source"]


@pytest.mark.parametrize("name", ["application", "applicationset"])
def test_applications_name_the_plugin_and_parameters_that_exist(name: str) -> None:
    plugin = source_of(name)["plugin"]
    ((configured,), _) = read((ROOT / "plugin.yaml").read_bytes(), "plugin.yaml")
    assert plugin["name"] == configured.body["metadata"]["name"]
    values = {parameter["name"]: parameter["string"] for parameter in plugin["parameters"]}
    assert not decide([Layer(Source.PARAMETER, values)]).diagnostics


def test_the_page_on_argo_cd_names_what_exists() -> None:
    page = (ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
    application, discovery = (
        read(text.encode(), "argocd.md").documents[0].body["spec"]
        for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    )
    values = {
        parameter["name"]: parameter["string"]
        for parameter in application["source"]["plugin"]["parameters"]
    }
    assert not decide([Layer(Source.PARAMETER, values)]).diagnostics
    program, *words = discovery["discover"]["find"]["command"]
    assert (program, " ".join(words) in COMMANDS) == ("virt-render", True)


def test_the_set_makes_applications_that_share_what_they_refer_to(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    for name in (".git", "platform", "vms/a", "vms/b"):
        (repository / name).mkdir(parents=True)
    (repository / "platform" / "small.yaml").write_text(SMALL)
    (repository / "vms" / "a" / "vm.yaml").write_text(VM)
    (repository / "vms" / "b" / "vm.yaml").write_text(VM)
    (tmp_path / "server").mkdir()
    ((configured,), _) = read((ROOT / "plugin.yaml").read_bytes(), "plugin.yaml")
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    server = PluginServer(configured.body, environ, tmp_path / "server")
    parameters = json.dumps(source_of("applicationset")["plugin"]["parameters"])
    for folder in ("vms/a", "vms/b"):
        (vm,), _ = server.generate(repository, folder, {"ARGOCD_APP_PARAMETERS": parameters})
        assert vm["kind"] == "VirtualMachine"
        assert vm["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "1Gi"}


def test_images_are_of_this_version() -> None:
    for path in (*DEPLOY.rglob("*.y*ml"), ROOT / "Dockerfile"):
        named = re.findall(r"registry\.example\.com/virt-render:(\S+)", path.read_text())
        assert set(named) <= {render.__version__}, path
    label = f'image.version="{render.__version__}"'
    assert label in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def dockerfile() -> list[list[str]]:
    """The instructions, as words."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_runs_as_argo_cd_and_openshift_want_it() -> None:
    text = dockerfile()
    assert ["USER", "999:0"] in text
    assert ["COPY", "plugin.yaml", "/home/argocd/cmp-server/config/plugin.yaml"] in text
    variables = [words for words in text if words[0] == "ENV"][-1]  # of the last stage
    assert {"HOME=/tmp", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"} < set(variables)
    assert any("compileall" in words for words in text)
    (programs,) = (words for words in text if words[:2] == ["COPY", "--from=tools"])
    assert programs[2:] == ["/usr/local/bin/kustomize", "/usr/local/bin/helm", "/usr/local/bin/"]
    assert "/usr/local/bin" in dict(word.split("=", 1) for word in variables[1:])["PATH"].split(":")
    bases = [words[1] for words in text if words[0] == "FROM"]
    assert bases == ["${GO_IMAGE}", "${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]


def test_what_is_installed_has_versions_and_hashes() -> None:
    arguments = dict(words[1].split("=") for words in dockerfile() if words[0] == "ARG")
    assert all(re.search(r"\d+\.\d+\.\d+", value) for value in arguments.values()), arguments
    built = [words[-1] for words in dockerfile() if words[:3] == ["RUN", "go", "install"]]
    assert [item.partition("@")[2] for item in built] == ["${KUSTOMIZE_VERSION}", "${HELM_VERSION}"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for tool in ("KUSTOMIZE", "HELM"):  # what the tests run is what the image holds
        assert f"{tool}_VERSION := {arguments[f'{tool}_VERSION']}\n" in makefile
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    image = " ".join(word for words in dockerfile() for word in words)
    diff_action = (DEPLOY / "github" / "diff" / "action.yml").read_text(encoding="utf-8")
    for text in (action, diff_action, image):
        installs = [part.split("&&")[0] for part in re.split(r"pip install|-m pip", text)[1:]]
        for install in (
            install for install in installs if "requirement" in install or ".whl" in install
        ):
            assert "--require-hashes" in install or "--no-index" in install, install
        assert installs
    pinned = requirements("dev.txt")
    for name in ("runtime.txt", "build.txt"):
        for package, (version, hashes) in requirements(name).items():
            assert hashes, package
            assert pinned[package][0] == version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[><=]", dependency)[0] for dependency in project["dependencies"]}
    assert wanted <= requirements("runtime.txt").keys()


def requirements(name: str) -> dict[str, tuple[str, list[str]]]:
    """The packages of a list: version and hashes."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {row[0].partition("==")[0].lower(): (row[0].partition("==")[2], row[1:]) for row in rows}


def test_the_context_of_the_image_is_enough_to_build_from(tmp_path: Path) -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*"
    wanted = [line[1:].rstrip("/") for line in lines if line.startswith("!")]
    copied = subprocess.run(
        ["tar", "c", "--exclude=__pycache__", *wanted], cwd=ROOT, capture_output=True, check=True
    )
    (tmp_path / "source").mkdir()
    subprocess.run(["tar", "x"], cwd=tmp_path / "source", input=copied.stdout, check=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path / "source", capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "render/frontends/argocd/generate.py" in names
    assert any(name.startswith("render/_schemas/") for name in names)


def steps(file: str = "action.yml") -> list[Any]:
    ((document,), diagnostics) = read((ROOT / file).read_bytes(), file)
    assert not diagnostics
    action = document.body
    assert action["runs"]["using"] == "composite"
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"])
    found: list[Any] = action["runs"]["steps"]
    return found


DIFF_ACTION = "deploy/github/diff"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a runner on which the action that compares has installed us, beside modules of a change."""
    variables = {"GITHUB_ACTION_PATH": str(ROOT / DIFF_ACTION)}
    install, _ = steps(f"{DIFF_ACTION}/action.yml")
    assert install["name"] == "Install virt-render"

    def make(folder: Path) -> None:
        environ = {**os.environ, **variables, "RUNNER_TEMP": str(folder)}
        change = folder / "change"
        change.mkdir()
        for name in ("venv", "pip", "logging", "subprocess", "shutil"):
            (change / f"{name}.py").write_text("raise SystemExit('this is of the change')\n")
        subprocess.run(["bash", "-e", "-c", install["run"]], cwd=change, env=environ, check=True)

    return {**variables, "RUNNER_TEMP": str(shared.folder(tmp_path_factory, "runner", make))}


def test_both_actions_install_alike_from_where_they_are() -> None:
    """One of them is run, which takes ten seconds."""
    entered, others = [], []
    for folder in (".", DIFF_ACTION):
        (install,) = (
            step for step in steps(f"{folder}/action.yml") if step["name"] == "Install virt-render"
        )
        lines = install.pop("run").splitlines()
        enter, *rest = lines
        others.append((install, rest))
        entered.append(
            subprocess.run(
                ["bash", "-e", "-c", f"{enter}\npwd -P"],
                env={**os.environ, "GITHUB_ACTION_PATH": str(ROOT / folder)},
                capture_output=True,
                encoding="utf-8",
                check=True,
            ).stdout
        )
    assert others[0] == others[1]
    assert entered == [f"{ROOT.resolve()}\n"] * 2


def test_the_action_checks_and_writes_its_reports(
    installed: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "good.yaml").write_text(VM + "---\n" + SMALL)
    (tmp_path / "bad.yaml").write_text(vm("bad", instancetype="small", memory="4Gi"))
    fields = {
        "PATHS": ".", "ARGUMENTS": "--no-verbose", "SARIF": "out.sarif", "JUNIT": "out.xml", "DEADLINE": "600",
    }  # fmt: skip
    environ = {
        **os.environ,
        **installed,
        "GITHUB_ACTION_PATH": str(ROOT),
        **fields,
    }
    assert [step["name"] for step in steps()] == ["Set up Python", "Install virt-render", "Check"]
    *_, checking = steps()
    assert set(checking["env"]) == set(fields)
    done = subprocess.run(
        ["bash", "-e", "-c", checking["run"]],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "::error file=bad.yaml,line=14,col=11,title=VR301 instancetype-conflict::" in done.stdout
    assert "::notice" not in done.stdout
    assert json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert "<failure" in (tmp_path / "out.xml").read_text()


@pytest.mark.parametrize(
    "head", ["a base that was named", "a merge", "the head of a branch", "a merge of its author"]
)
def test_the_action_says_what_a_change_does(
    installed: dict[str, str], tmp_path: Path, head: str
) -> None:
    repository = Repository(tmp_path / "repository")
    repository.instancetype("small")
    repository.vm("web")
    base = repository.commit("A VM")
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.instancetype("small", cpus=1)
    repository.commit("Smaller")
    # What others did meanwhile is no matter of this change.
    repository.git("checkout", "--quiet", "main")
    repository.vm("other")
    target = repository.commit("Another VM")
    if head == "a merge":
        repository.git("merge", "--quiet", "--no-edit", "edit")
        expected = "### 2 of 2 VMs need a restart"
    else:
        repository.git("checkout", "--quiet", "edit")
        expected = "### 1 of 1 VM needs a restart"
    merged = repository.git("rev-parse", "HEAD").strip()
    if head == "a merge of its author":  # which has the edit on both sides
        repository.git("checkout", "--quiet", "-b", "side")
        repository.git("commit", "--quiet", "--allow-empty", "--message", "Nothing")
        repository.git("checkout", "--quiet", "edit")
        repository.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    environ = {
        **os.environ,
        **installed,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_SHA": merged,
        "BASE": base if head == "a base that was named" else "",
        "TARGET": base if head == "a merge" else target,
        "FOLDER": ".",
        "ARGUMENTS": "--emit vm --fail-on restart",
        "MARKDOWN": "out.md",
        "HTML": "out.html",
        "JSON": "out.json",
        "DEADLINE": "600",
    }
    _, comparing = steps(f"{DIFF_ACTION}/action.yml")
    assert comparing["name"] == "Compare"
    assert environ.keys() >= comparing["env"].keys()
    done = subprocess.run(
        ["bash", "-e", "-c", comparing["run"]],
        cwd=repository.folder,
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(expected)
    assert summary == (repository.folder / "out.md").read_text(encoding="utf-8")
    assert json.loads((repository.folder / "out.json").read_bytes())["counts"] == {
        "restart": 1 + (head == "a merge")
    }
    assert expected.removeprefix("### ") in (repository.folder / "out.html").read_text(
        encoding="utf-8"
    )


def test_the_gitlab_job_checks_and_keeps_its_reports(tmp_path: Path) -> None:
    job = body("gitlab/virt-render.yml")
    (tmp_path / "vm.yaml").write_text(VM + "---\n" + SMALL)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (tmp_path / "virt-render.xml").symlink_to("of-the-change")
    script = "\n".join(job["virt-render"]["script"])
    environ = {**os.environ, **job["variables"], "PATH": path}
    subprocess.run(["sh", "-e", "-c", script], cwd=tmp_path, env=environ, check=True)
    assert not (tmp_path / "of-the-change").exists()
    artefacts = job["virt-render"]["artifacts"]
    for name in (*artefacts["paths"], artefacts["reports"]["junit"]):
        assert (tmp_path / name).stat().st_size
