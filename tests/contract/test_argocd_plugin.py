"""We as a config-management plugin: what Argo CD's plugin server would get from us, for every case and in need."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from render.diagnostics.exits import Exit
from render.frontends.argocd.commands import announcements
from render.frontends.request.options import DEADLINE
from render.model.release import NEWEST, minor
from render.settings import OPTIONS, Source
from render.yaml.reader import read
from tests.support.cases import CASES, ROOT, Case, read_case
from tests.support.plugin_server import ForkingPluginServer, GenerateError, PluginServer
from tests.support.process import argv, environ

FOLDERS = sorted(path.parent for path in CASES.glob("*/*/case.yaml"))
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
spec:
  runStrategy: Always
  instancetype:
    name: u1.nano
  template:
    spec:
      domain:
        devices: {{}}
{more}"""
CONFLICT = "        memory:\n          guest: 4Gi\n"
NO_LOG = "the log of the sidecar is nothing for an Application"
NAMES = {option.spelled(Source.FLAG): option.name for option in OPTIONS}


def plugin_server(kind: type[PluginServer], tmp_path: Path) -> PluginServer:
    (document,) = read((ROOT / "plugin.yaml").read_bytes(), "plugin.yaml").documents
    work = tmp_path / "_cmp_server"
    work.mkdir(mode=0o700)
    home = tmp_path / "home"
    home.mkdir()
    environ = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return kind(document.body, environ, work)


@pytest.fixture
def server(tmp_path: Path) -> PluginServer:
    return plugin_server(PluginServer, tmp_path)


@pytest.fixture
def forking(tmp_path: Path) -> PluginServer:
    return plugin_server(ForkingPluginServer, tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "app").mkdir(parents=True)
    return folder


def environment(*parameters: tuple[str, str], **more: str) -> dict[str, str]:
    """What Argo CD passes to the command that generates."""
    announced = [{"name": name, "string": value} for name, value in parameters]
    return {
        "ARGOCD_APP_NAME": "vms",
        "ARGOCD_APP_NAMESPACE": "",
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_REVISION": "streamed",
        "ARGOCD_APP_SOURCE_PATH": "somewhere/else",
        "KUBE_VERSION": "",
        "KUBE_API_VERSIONS": "",
        "ARGOCD_APP_PARAMETERS": json.dumps(announced),
        **{f"PARAM_{name.upper().replace('-', '_')}": value for name, value in parameters},
        **more,
    }


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def codes(report: str) -> set[str]:
    return set(re.findall(r": (?:error|warning|info) (VR\d{3}) ", report))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_every_case_comes_out_as_from_the_library(
    folder: Path, forking: PluginServer, repository: Path
) -> None:
    case: Case = read_case(folder)
    shutil.rmtree(repository)
    shutil.copytree(folder, repository)
    environ = environment(*((NAMES[flag], text(value)) for flag, value in case.flags.items()))
    if not case.expected:
        with pytest.raises(GenerateError) as caught:
            forking.generate(repository, "input", environ)
        content = codes(str(caught.value))
        assert content == codes(re.sub(r".*: info VR.*", "", case.diagnostics)), (
            "notes are left out"
        )
        return
    objects, log = forking.generate(repository, "input", environ)
    expected = read(case.expected.encode(), "expected.yaml").documents
    assert objects == [document.body for document in expected]
    assert codes(log) == codes(case.diagnostics)


def test_output_is_complete_and_the_log_has_one_line(
    server: PluginServer, repository: Path
) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "app" / "run.sh").write_text("exit 1\n")
    objects, log = server.generate(repository, "app", environment(("annotations", "false")))
    assert [body["metadata"] for body in objects] == [{"name": "web"}]
    facts = json.loads(log.splitlines()[-1])
    assert isinstance(facts.pop("ms"), int)
    assert facts == {
        "msg": "virt-render argocd generate", "version": facts["version"], "app": "vms",
        "kubevirt": f"{minor(NEWEST)}, since nothing says which release runs",
        "status": 0, "files": 1, "read": 1, "printed": 1, "rendered": 1, "errors": 0, "warnings": 0,
    }  # fmt: skip
    _, log = server.generate(repository, "app", environment(("kubevirt", "1.6")))
    assert json.loads(log.splitlines()[-1])["kubevirt"] == "1.6"
    page = (ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"^{\"msg\": .*", page, re.MULTILINE)
    assert json.loads(printed).keys() == {*facts, "ms"}


def test_a_kustomization_is_built(server: PluginServer, repository: Path, kustomize: str) -> None:
    (repository / "base").mkdir()
    (repository / "base" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "base" / "kustomization.yaml").write_text("resources: [vm.yaml]\n")
    (repository / "app" / "kustomization.yaml").write_text(
        "resources: [../base]\nnamespace: prod\n"
    )
    path = f"{server.environ['PATH']}:{Path(kustomize).parent}"
    (vm,) = server.generate(repository, "app", environment(PATH=path))[0]
    assert vm["metadata"]["namespace"] == "prod"
    assert "instancetype" not in vm["spec"]


def failure(server: PluginServer, repository: Path, environ: dict[str, str]) -> str:
    with pytest.raises(GenerateError) as caught:
        server.generate(repository, "app", environ, timeout=20)
    return str(caught.value)


def test_a_conflict_comes_first_and_without_absolute_paths(
    server: PluginServer, repository: Path
) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=CONFLICT))
    text = [failure(server, repository, environment()) for _ in range(2)]
    assert text[0].startswith(
        "`virt-render argocd generate` failed exit status 1: vm.yaml:14:11: error VR301 "
    )
    assert str(server.work) not in text[0]
    assert text[0] == text[1], "an error that changes looks like a new one"


def test_an_error_is_never_longer_than_4_kib(server: PluginServer, repository: Path) -> None:
    for number in range(100):
        manifest = VM.format(name=f"vm-{number}", more=CONFLICT)
        (repository / "app" / f"{number}.yaml").write_text(manifest)
    text = failure(server, repository, environment())
    _, _, report = text.partition("exit status 1: ")
    assert len(report.encode()) <= 4096
    printed = report.count("error VR301")
    assert printed
    assert f"and {100 - printed} more; 'virt-render check' shows all" in report
    assert "{" not in report.splitlines()[-1], NO_LOG


def test_one_finding_that_is_too_long_is_cut(server: PluginServer, repository: Path) -> None:
    long = VM.format(name="web", more="").replace("u1.nano", "ä" * 9000)
    (repository / "app" / "vm.yaml").write_text(long)
    _, _, report = failure(server, repository, environment()).partition("exit status 1: ")
    assert len(report.encode()) <= 4096
    assert report.startswith("vm.yaml:8:5: error VR201 ")


def test_errors_come_before_warnings(server: PluginServer, repository: Path) -> None:
    deprecated = VM.format(name="a", more="").replace("runStrategy: Always", "running: true")
    (repository / "app" / "a.yaml").write_text(deprecated)
    (repository / "app" / "b.yaml").write_text(VM.format(name="b", more=CONFLICT))
    text = failure(server, repository, environment())
    assert text.index("error VR301") < text.index("warning VR502")


def test_nothing_is_never_printed_as_success(server: PluginServer, repository: Path) -> None:
    text = failure(server, repository, environment())
    assert "error VR112 no-objects: no Kubernetes object in the current folder" in text
    assert server.generate(repository, "app", environment(("allow-empty", "true")))[0] == []


@pytest.mark.parametrize("value", [None, "", "null", "[]"])
def test_no_parameters(value: str | None, server: PluginServer, repository: Path) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    environ = environment()
    del environ["ARGOCD_APP_PARAMETERS"]
    if value is not None:
        environ["ARGOCD_APP_PARAMETERS"] = value
    assert len(server.generate(repository, "app", environ)[0]) == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ('[{"name": "emti", "string": "vm"}]', "unknown parameter emti; did you mean emit?"),
        ('[{"name": "emit", "string": "vmx"}]', "emit: 'vmx' is not one of vm, vmi, pod, expand"),
        (
            '[{"name": "emit", "array": ["vm"]}]',
            "parameter emit is a array and should be a string",
        ),
        (
            '[{"name": "emit", "map": {"a": "b"}}]',
            "parameter emit is a map and should be a string",
        ),
        ('[{"name": "emit", "string": "vm"}, {"name": "emit", "string": "vmi"}]', "given twice"),
        ('[{"string": "vm"}]', "holds a parameter without a name"),
        ('[{"name": "annotations", "string": "yes"}]', "'yes' is neither true nor false"),
        (
            '[{"name": "kustomize", "string": "./evil"}]',
            "parameter kustomize is not for manifests and Applications to decide",
        ),
        ('{"emit": "vm"}', "ARGOCD_APP_PARAMETERS is not a list of parameters"),
        ("[", "ARGOCD_APP_PARAMETERS is not JSON"),
        ('[{"name": "emti", "string": ""}]', "unknown parameter emti; did you mean emit?"),
        ('[{"name": "emti"}]', "unknown parameter emti; did you mean emit?"),
        (
            '[{"name": "deadlin", "string": "9"}]',
            "unknown parameter deadlin; did you mean deadline?",
        ),
        ('[{"name": "x", "string": "9"}]', "launcher-image, allow-empty, deadline"),
        (
            f'[{{"name": "deadline", "string": "{"9" * 400}"}}]',
            f"'{'9' * 100}'... is too large a number",
        ),
        ('[{"name": "catalog", "string": "a\\u0000b"}]', "cannot be the name of a file"),
        ('[{"name": "lock", "string": "\\ud800"}]', "cannot be the name of a file"),
        ('[{"name": "cluster-config", "string": "\\u0000"}]', "cannot be the name of a file"),
        ('[{"name": "namespace", "string": "\\ud800"}]', "is not UTF-8, or has a NUL"),
        ('[{"name": "release-name", "string": "a\\u0000b"}]', "is not UTF-8, or has a NUL"),
        ('[{"name": "file-parameters", "array": ["x=a\\ud800"]}]', "is not UTF-8, or has a NUL"),
        (f'[{{"name": "emit", "string": "{"a" * 400}"}}]', f"emit: '{'a' * 100}'... is not one of"),
    ],
)
def test_unfit_parameters(
    parameters: str, words: str, server: PluginServer, repository: Path
) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    text = failure(server, repository, environment(ARGOCD_APP_PARAMETERS=parameters))
    assert "failed exit status 2: virt-render: error VR801 invalid-setting: " in text
    assert words in text
    assert '"status"' not in text, NO_LOG


def test_parameters_win_over_variables_and_those_over_the_file(
    server: PluginServer, repository: Path
) -> None:
    def kind(environ: dict[str, str]) -> Any:
        return server.generate(repository, "app", environ)[0][0]["kind"]

    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "app" / ".virt-render.yaml").write_text(
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {emit: vmi}\n"
    )
    assert kind(environment()) == "VirtualMachineInstance"
    variable = {"ARGOCD_ENV_VIRT_RENDER_EMIT": "source"}
    assert kind(environment(**variable)) == "VirtualMachine"
    assert kind(environment(("emit", "vmi"), **variable)) == "VirtualMachineInstance"
    assert kind(environment(("emit", ""), **variable)) == "VirtualMachine"


def test_unknown_variables_of_an_application_are_refused(
    server: PluginServer, repository: Path
) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    text = failure(server, repository, environment(ARGOCD_ENV_VIRT_RENDER_EMTI="vm"))
    assert "unknown environment variable VIRT_RENDER_EMTI; did you mean VIRT_RENDER_EMIT?" in text
    assert server.generate(repository, "app", environment(ARGOCD_ENV_OTHER="x"))[0]


def test_the_destination_is_where_names_are_looked_up(
    server: PluginServer, repository: Path
) -> None:
    named = VM.format(name="web", more="").replace(
        "    name: u1.nano\n", "    name: small\n    kind: VirtualMachineInstancetype\n"
    )
    (repository / "app" / "vm.yaml").write_text(
        f"{named}---\napiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineInstancetype\n"
        "metadata: {name: small, namespace: prod}\nspec: {cpu: {guest: 1}, memory: {guest: 1Gi}}\n"
    )
    assert len(server.generate(repository, "app", environment(ARGOCD_APP_NAMESPACE="prod"))[0]) == 2
    text = failure(server, repository, environment(ARGOCD_APP_NAMESPACE="test"))
    assert "VirtualMachineInstancetype prod/small stands here" in text


def with_slow_kustomize(repository: Path, folder: Path) -> dict[str, str]:
    """The environment of a sidecar whose kustomize, a script in *folder*, takes a minute."""
    (repository / "app" / "kustomization.yaml").write_text("resources: []\n")
    tool = folder / "slow"
    tool.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    tool.chmod(0o755)
    return environment(VIRT_RENDER_KUSTOMIZE=str(tool))


@pytest.mark.parametrize("source", ["parameter", "application", "sidecar"])
def test_the_deadline_says_what_was_being_done(
    source: str, server: PluginServer, repository: Path, tmp_path: Path
) -> None:
    environ = with_slow_kustomize(repository, tmp_path)
    match source:
        case "parameter":
            environ["ARGOCD_APP_PARAMETERS"] = '[{"name": "deadline", "string": "1"}]'
        case "application":
            environ["ARGOCD_ENV_VIRT_RENDER_DEADLINE"] = "1"
        case _:
            environ["VIRT_RENDER_DEADLINE"] = "1"
    text = failure(server, repository, environ)
    assert text.startswith(
        "`virt-render argocd generate` failed exit status 5: virt-render: error VR902 "
        "deadline-exceeded: the deadline of 1 s has passed while building . with kustomize\n"
    )


def test_without_our_deadline_argo_cd_says_nothing(
    server: PluginServer, repository: Path, tmp_path: Path
) -> None:
    environ = with_slow_kustomize(repository, tmp_path)
    with pytest.raises(GenerateError, match=r"failed signal: killed: $"):
        server.generate(repository, "app", environ, timeout=1)


def test_links_that_lead_out_are_refused(server: PluginServer, repository: Path) -> None:
    (repository / "secret.yaml").write_text(VM.format(name="secret", more=""))
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "app" / "link.yaml").symlink_to("../secret.yaml")
    assert "a symbolic link that leads out of the folder" in failure(
        server, repository, environment()
    )


@pytest.mark.parametrize(
    ("nobody_reads", "status"), [(True, Exit.BROKEN_PIPE), (False, Exit.UNREADABLE)]
)
def test_the_log_has_the_status_of_the_process(
    repository: Path, *, nobody_reads: bool, status: Exit
) -> None:
    """Where the output cannot be written, too; and no manifests were printed then."""
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    if nobody_reads:
        reader, output = os.pipe()
        os.close(reader)
    elif os.path.exists("/dev/full"):
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        pytest.skip("no /dev/full here")
    command = [sys.executable, "-m", "render", "argocd", "generate"]
    done = subprocess.run(
        command, cwd=repository / "app", stdout=output, stderr=subprocess.PIPE, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.close(output)
    (line,) = (line for line in done.stderr.splitlines() if line.startswith(b"{"))
    assert done.returncode == status
    assert {key: json.loads(line)[key] for key in ("status", "printed")} == {
        "status": status, "printed": 0,
    }  # fmt: skip


def test_many_at_once_do_not_disturb_each_other(server: PluginServer, repository: Path) -> None:
    for number in range(8):
        (repository / f"app{number}").mkdir()
        manifest = VM.format(name=f"vm-{number}", more="")
        (repository / f"app{number}" / "vm.yaml").write_text(manifest)

    def name(number: int) -> Any:
        ((vm,), _) = server.generate(repository, f"app{number}", environment())
        return vm["metadata"]["name"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(name, range(8))) == [f"vm-{number}" for number in range(8)]
    assert not list(server.work.iterdir())


def test_a_deadline_may_be_as_long_as_a_number(server: PluginServer, repository: Path) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    allowed = environment(("deadline", "9" * 15), VIRT_RENDER_MAX_DEADLINE="9" * 15)
    assert server.generate(repository, "app", allowed)[0]


def test_a_limit_of_5000_digits_is_no_number(server: PluginServer, repository: Path) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    text = failure(server, repository, environment(VIRT_RENDER_MAX_DOCUMENTS="1" * 5000))
    assert "error VR801 invalid-setting: VIRT_RENDER_MAX_DOCUMENTS: '1111" in text
    assert '"status"' not in text, NO_LOG


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "accept an empty input with the parameter allow-empty"),
        (
            "resources: ['https://example.com/vm.yaml']",
            "allow the network with VIRT_RENDER_ALLOW_REMOTE of the sidecar",
        ),
    ],
)
def test_help_names_what_an_application_has(
    text: str, words: str, server: PluginServer, repository: Path
) -> None:
    if text:
        (repository / "app" / "kustomization.yaml").write_text(text)
    content = failure(server, repository, environment())
    assert words in content
    assert " --" not in content


def test_a_closed_log_keeps_no_manifest_back(repository: Path) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m render argocd generate 2>&-"],
        cwd=repository / "app",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"kubevirt.io/cluster-instancetype-name: u1.nano" in done.stdout


def virt_render(
    folder: Path, *words: str, parameters: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "render", "argocd", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment(*(parameters or {}).items())},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_parameters_are_those_of_the_table_and_of_plugin_yaml(server: PluginServer) -> None:
    done = virt_render(ROOT, "parameters")
    announced = json.loads(done.stdout)
    assert announced == announcements() == server.plugin["spec"]["parameters"]["static"]
    assert [item["name"] for item in announced] == [
        resource.name for resource in (*OPTIONS, DEADLINE)
    ]
    assert {item["collectionType"] for item in announced} == {"string"}


@pytest.mark.parametrize(
    ("files", "printed"),
    [
        ({}, ""),
        ({"values.yaml": "a: 1\n"}, ""),
        ({"broken.yaml": "a: ["}, ""),
        ({"a.yaml": "a: 1\n", "b/vm.yaml": VM.format(name="web", more="")}, "b/vm.yaml\n"),
        ({".virt-render.yaml": "", "a.yaml": "a: 1\n"}, ".virt-render.yaml\n"),
        (
            {
                "kustomization.yaml": "resources: [../base]\n",
                "../base/kustomization.yaml": "resources: [vm.yaml]\n",
                "../base/vm.yaml": VM.format(name="web", more=""),
            },
            "../base/vm.yaml\n",
        ),
    ],
)
def test_discovery_names_a_file_or_is_silent(
    files: dict[str, str], printed: str, repository: Path
) -> None:
    for name, content in files.items():
        path = repository / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    done = virt_render(repository / "app", "discover")
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_inputs_are_the_annotation_for_refreshes(
    repository: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    for name in ("base", "base/sub", "shared"):
        (repository / name).mkdir()
    (repository / "app" / "kustomization.yaml").write_text(
        "resources: [../base, ../shared, own.yaml]\n"
    )
    (repository / "app" / "own.yaml").write_text(VM.format(name="own", more=""))
    (repository / "base" / "kustomization.yaml").write_text("resources: [vm.yaml, sub]\n")
    (repository / "base" / "vm.yaml").write_text(VM.format(name="web", more=""))
    for name in ("base/sub", "shared"):
        (repository / name / "kustomization.yaml").write_text("commonLabels: {a: b}\n")
    (repository / ".virt-render.yaml").write_text(
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {}\n"
    )
    done = virt_render(repository / "app", "inputs")
    assert done.stdout == "argocd.argoproj.io/manifest-generate-paths: .;../base;../shared\n"
    listed = virt_render(repository / "app", "inputs", "--files").stdout.splitlines()
    assert listed == [
        "../base/kustomization.yaml", "../base/sub/kustomization.yaml", "../base/vm.yaml",
        "../shared/kustomization.yaml", "kustomization.yaml", "own.yaml",
    ]  # fmt: skip
    above = virt_render(repository, "inputs", "app", "--files").stdout.splitlines()
    assert above == ["../.virt-render.yaml", *listed]


@pytest.mark.parametrize("name", [b"esc\x1b[31m", b"caf\xe9", "ünï".encode()], ids=repr)
def test_names_are_printed_as_they_are(name: bytes, tmp_path: Path) -> None:
    """Programs read them: each byte counts."""
    shared = os.fsencode(tmp_path) + b"/" + name
    os.mkdir(shared)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    for words, text in (
        ((b"--files",), b"../%s/\nvm.yaml\n"),
        ((), b"argocd.argoproj.io/manifest-generate-paths: .;../%s\n"),
    ):
        done = subprocess.run(
            [*argv("argocd", "inputs"), *words, b"--catalog", shared],
            cwd=tmp_path / "app", env=environ(), capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, text % name), done.stderr


def test_discovery_names_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "esc\x1b[31m.yaml").write_text(VM.format(name="web", more=""))
    assert virt_render(tmp_path, "discover").stdout == "esc\x1b[31m.yaml\n"


def test_inputs_hold_what_settings_name(repository: Path) -> None:
    for name in (".git", "shared/more", "platform"):
        (repository / name).mkdir(parents=True)
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "platform" / "kubevirt.yaml").write_text(
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
    )
    (repository / "app" / ".virt-render.yaml").write_text(
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n"
        "spec: {catalog: ../shared, clusterConfig: ../platform/kubevirt.yaml}\n"
    )
    done = virt_render(repository / "app", "inputs")
    assert done.stdout == "argocd.argoproj.io/manifest-generate-paths: .;../platform;../shared\n"
    listed = virt_render(repository / "app", "inputs", "--files").stdout.splitlines()
    assert listed == ["../platform/kubevirt.yaml", "../shared/", ".virt-render.yaml", "vm.yaml"]


def test_settings_at_the_root_of_the_repository_count(
    server: PluginServer, repository: Path
) -> None:
    (repository / ".git").mkdir()
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / ".virt-render.yaml").write_text(
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {emit: vmi}\n"
    )
    assert server.generate(repository, "app", environment())[0][0]["kind"] == (
        "VirtualMachineInstance"
    )
    done = virt_render(repository / "app", "inputs")
    assert done.stdout == ("argocd.argoproj.io/manifest-generate-paths: .;../.virt-render.yaml\n")


def test_inputs_hold_what_parameters_and_flags_name(repository: Path) -> None:
    (repository / ".git").mkdir()
    (repository / "shared").mkdir()
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "platform.yaml").write_text(
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
    )
    (repository / "pins.yaml").write_text("")
    named = {"catalog": "../shared", "cluster-config": "../platform.yaml", "lock": "../pins.yaml"}
    expected = ["../pins.yaml", "../platform.yaml", "../shared/", "vm.yaml"]
    done = virt_render(repository / "app", "inputs", "--files", parameters=named)
    assert done.stdout.splitlines() == expected
    flags = [word for name, value in named.items() for word in (f"--{name}", value)]
    assert virt_render(repository / "app", "inputs", "--files", *flags).stdout == done.stdout
    done = virt_render(repository / "app", "inputs", parameters={"catalgo": "../shared"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown parameter catalgo; did you mean catalog?" in done.stderr


@pytest.mark.parametrize("command", ["inputs", "ignore-differences"])
def test_a_wrong_setting_is_told_where_it_stands(command: str, repository: Path) -> None:
    (repository / "app" / "vm.yaml").write_text(VM.format(name="web", more=""))
    (repository / "app" / ".virt-render.yaml").write_text(
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {emti: vm}\n"
    )
    done = virt_render(repository / "app", command)
    assert done.returncode == 2
    assert done.stderr.startswith(".virt-render.yaml:3:8: error VR801 "), done.stderr


def test_inputs_of_what_cannot_be_read(repository: Path) -> None:
    done = virt_render(repository, "inputs", "nowhere")
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot read nowhere" in done.stderr
