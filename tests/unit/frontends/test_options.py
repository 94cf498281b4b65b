import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from render import frontends
from render.diagnostics.codes import status
from render.diagnostics.exits import Exit
from render.frontends.request.options import HOST_OPTIONS
from render.frontends.request.request import Call, Request, request
from render.yaml.budget import Limits
from tests.support.manifests import instancetype, put

FRONTENDS = Path(frontends.__file__).parent
CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def requested(*paths: str, environ: Mapping[str, str] | None = None, **flags: str) -> Request:
    spelled: dict[str, str | bool] = {
        f"--{name.replace('_', '-')}": value for name, value in flags.items()
    }
    return request(Call("build", paths, spelled), environ or {})


def faults(found: Request) -> list[str]:
    return [diagnostic.message for diagnostic in found.faults.diagnostics]


def test_defaults() -> None:
    found = requested()
    assert not found.faults.diagnostics
    assert (found.reading.kustomize, found.reading.allow_remote, found.reporting.format) == (
        "auto",
        False,
        "text",
    )
    assert found.reading.limits.plain == Limits()


def test_limits_can_all_be_set() -> None:
    names = [name for name in Limits._fields if name != "budget"]
    flags = {f"max_{name}": str(7 + i) for i, name in enumerate(names)}
    found = requested(environ=None, **flags)
    assert found.reading.limits.plain == Limits(*range(7, 7 + len(names)))
    assert faults(requested(max_documents="0")) == ["--max-documents: 0 is less than 1"]
    assert faults(requested(max_documents="few")) == [
        "--max-documents: 'few' is not a positive whole number"
    ]
    assert faults(requested(max_depth="-1")) == ["--max-depth: -1 is less than 1"]


def test_every_host_option_is_read() -> None:
    readers = [file for file in FRONTENDS.rglob("*.py") if file.name != "options.py"]
    read = "".join(file.read_text(encoding="utf-8") for file in readers)
    limits = {f"max_{name}" for name in Limits._fields}
    unread = [
        option.name
        for option in HOST_OPTIONS
        if option.field not in limits and f'"{option.field}"' not in read
    ]
    assert not unread, (
        f"nothing reads {unread}: `_reading` in render/frontends/request/request.py hands it on, Limits has limits"
    )


def test_every_limit_is_asked_and_can_be_set() -> None:
    package = FRONTENDS.parent
    asked_for = "".join(file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
    options = {option.field for option in HOST_OPTIONS}
    for name in set(Limits._fields) - {"budget"}:
        assert f"limits.{name}" in asked_for, f"nothing asks for Limits.{name}"
        assert f"max_{name}" in options, f"no row of HOST_OPTIONS sets Limits.{name}"


def test_environment_of_the_process_and_of_argocd() -> None:
    plain = {"VIRT_RENDER_EMIT": "vmi", "VIRT_RENDER_KUSTOMIZE": "never"}
    found = requested(environ=plain)
    assert (found.settings.emit, found.reading.kustomize) == ("vmi", "never")
    found = requested(environ={**plain, "ARGOCD_ENV_VIRT_RENDER_EMIT": "source"})
    assert found.settings.emit == "source"
    assert requested(environ=plain, emit="vm").settings.emit == "vm"


@pytest.mark.parametrize(
    "name",
    [
        "PORT", "SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_80_TCP_ADDR", "LOCKS_SERVICE_HOST",  # of Kubernetes
        "VERSION", "IMAGE", "PATHS",  # of a pipeline
        "DEBUG", "REQUIRE_TOOLS", "REQUIRE_BROWSER", "DEADLINE",  # ours, though not of this command
    ],
)  # fmt: skip
def test_a_variable_that_resembles_none_of_ours_is_somebody_elses(name: str) -> None:
    assert not requested(environ={f"VIRT_RENDER_{name}": "7"}).faults.diagnostics


@pytest.mark.parametrize(
    ("name", "near"), [("EMITT", "EMIT"), ("PIN", "PINS"), ("KUSTOMISE", "KUSTOMIZE")]
)
def test_a_variable_that_is_nearly_ours_is_misspelt(name: str, near: str) -> None:
    assert faults(requested(environ={f"VIRT_RENDER_{name}": "vmi"})) == [
        f"unknown environment variable VIRT_RENDER_{name}; did you mean VIRT_RENDER_{near}?"
    ]
    assert not requested(environ={f"VIRT_RENDER_{name}": ""}).faults.diagnostics


@pytest.mark.parametrize("value", ["vm", ""])
def test_every_variable_of_an_application_is_meant_for_us(value: str) -> None:
    """What Argo CD does not know in a value becomes empty: the name is misspelt all the same."""
    found = requested(environ={"ARGOCD_ENV_VIRT_RENDER_EMITT": value})
    assert faults(found) == [
        "unknown environment variable VIRT_RENDER_EMITT; did you mean VIRT_RENDER_EMIT?"
    ]


def test_neither_application_nor_repository_decides_what_is_executed() -> None:
    found = requested(environ={"ARGOCD_ENV_VIRT_RENDER_KUSTOMIZE": "./evil"})
    assert faults(found) == [
        "environment variable VIRT_RENDER_KUSTOMIZE is not for manifests and Applications to decide"
    ]
    assert "--kustomize" in found.faults.diagnostics[0].help
    Path(".virt-render.yaml").write_text(f"{CONFIG}  maxDepth: 9\n")
    found = requested()
    assert faults(found) == [
        "configuration key maxDepth is not for manifests and Applications to decide"
    ]
    assert (
        str(found.faults.sources.place(found.faults.diagnostics[0].location))
        == ".virt-render.yaml:4:3"
    )


def test_empty_variables_say_nothing() -> None:
    environ = {
        "VIRT_RENDER_EMIT": "",
        "ARGOCD_ENV_VIRT_RENDER_EMIT": "",
        "ARGOCD_ENV_VIRT_RENDER_KUSTOMIZE": "",
        "ARGOCD_ENV_VIRT_RENDER_DEADLINE": "",
        "ARGOCD_APP_NAMESPACE": "",
    }
    found = requested(environ=environ)
    assert not found.faults.diagnostics
    assert (found.settings.emit, found.settings.namespace) == ("vm", "default")


def test_destination_namespace_is_the_weakest() -> None:
    environ = {"ARGOCD_APP_NAMESPACE": "prod"}
    assert requested(environ=environ).settings.namespace == "prod"
    Path(".virt-render.yaml").write_text(f"{CONFIG}  namespace: staging\n")
    assert requested(environ=environ).settings.namespace == "staging"


def test_file_of_the_path_comes_before_that_of_the_working_folder() -> None:
    Path("app").mkdir()
    Path(".virt-render.yaml").write_text(f"{CONFIG}  namespace: here\n")
    assert requested("app").settings.namespace == "here"
    Path("app/.virt-render.yaml").write_text(f"{CONFIG}  namespace: there\n")
    assert requested("app").settings.namespace == "there"
    assert requested("-").settings.namespace == "here"
    assert requested("app", config=".virt-render.yaml").settings.namespace == "here"


@pytest.mark.parametrize("word", ["platfrom", "[bundled, platfrom]"])
def test_a_catalogue_that_is_not_there_is_told_where_it_is_named(word: str) -> None:
    Path("platform").mkdir()
    Path(".virt-render.yaml").write_text(f"{CONFIG}  catalog: {word}\n")
    (found,) = requested("-").faults.diagnostics
    assert found.location.file == ".virt-render.yaml"
    assert found.location.path[:2] == ("spec", "catalog")
    assert (found.code, found.help) == ("VR110", "did you mean platform?")


@pytest.mark.parametrize(
    ("setting", "message", "cure"),
    [
        (
            "clusterConfig: platform/kubevirt",
            "platform/kubevirt is a folder, and should be a file with a KubeVirt or HyperConverged",
            "",
        ),
        ("clusterConfig: platform/kubvirt", "cannot read ", "did you mean platform/kubevirt?"),
        ("catalog: [bundled, platfrom]", "cannot read ", "did you mean platform?"),
        (
            "catalog: ../other",
            "../other leads out of the repository of ../../.virt-render.yaml",
            "",
        ),
    ],
)
def test_a_wrong_path_in_settings_above_is_told_as_it_stands_there(
    setting: str, message: str, cure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("repo/.git", "repo/platform/kubevirt", "repo/apps/web"):
        Path(folder).mkdir(parents=True)
    Path("repo/.virt-render.yaml").write_text(f"{CONFIG}  {setting}\n")
    monkeypatch.chdir("repo/apps/web")
    (found,) = requested(".").faults.diagnostics
    key = setting.partition(":")[0]
    assert (found.location.file, found.location.path[:2]) == (
        "../../.virt-render.yaml",
        ("spec", key),
    )
    assert message in found.message.replace("../../platform", "platform")
    assert cure in found.help


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("apiVersion: virt-render.dev/v1alpha1\nkind: RenderConf\nspec: {}\n", 2),
        ("kind: RenderConfig\napiVersion: virt-render.dev/v1\nspec: {}\n", 2),
        ("apiVersion: virt-render.dev/v1alpha1\nkind: [a]\nspec: {}\n", 2),
        ("spec: {}\n", 1),
    ],
)
def test_settings_of_another_kind_are_told_at_that_line(text: str, line: int) -> None:
    Path(".virt-render.yaml").write_text(text)
    found = requested("-")
    (diagnostic,) = found.faults.diagnostics
    assert found.faults.sources.place(diagnostic.location).line == line


def test_settings_without_the_dot_are_not_passed_over() -> None:
    Path("virt-render.yaml").write_text(f"{CONFIG}  namespace: there\n")
    (message,) = faults(requested("-"))
    assert "virt-render.yaml is not read: settings stand in .virt-render.yaml" in message
    # What is named, what a kustomization names, and what is no settings.
    assert requested("-", config="virt-render.yaml").settings.namespace == "there"
    function = "metadata: {annotations: {config.kubernetes.io/function: ''}}\n"
    for text in (f"{CONFIG}  namespace: there\n{function}", "kind: Service\n"):
        Path("virt-render.yaml").write_text(text)
        assert not requested("-").faults.diagnostics


def test_settings_by_another_name_are_not_passed_over() -> None:
    Path("app").mkdir()
    Path("app/.virt-render.yml").write_text(f"{CONFIG}  namespace: there\n")
    (message,) = faults(requested("app"))
    assert "app/.virt-render.yml is not read: settings stand in .virt-render.yaml" in message
    assert status(requested("app").faults.diagnostics) is Exit.USAGE
    Path("app/.virt-render.yaml").write_text(CONFIG)
    assert not requested("app").faults.diagnostics
    assert not requested("-").faults.diagnostics


def test_paths_in_a_file_are_relative_to_it() -> None:
    Path("app").mkdir()
    Path("app/.virt-render.yaml").write_text(
        f"{CONFIG}  catalog: ../catalog\n  clusterConfig: kubevirt.yaml\n"
    )
    Path("app/kubevirt.yaml").write_text(
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
    )
    put("catalog/small.yaml", instancetype("small"))
    settings = requested("app").settings
    (found,) = settings.catalog
    assert isinstance(found, dict)
    assert found["metadata"]["name"] == "small"
    assert settings.cluster_config
    assert settings.cluster_config["kind"] == "KubeVirt"
    Path("app/.virt-render.yaml").write_text(f"{CONFIG}  catalog: none\n")
    assert requested("app").settings.catalog == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds 0 documents"),
        (f"{CONFIG}---\n{CONFIG}", "holds 2 documents"),
        ("kind: RenderConfig\n", "should have apiVersion virt-render.dev/v1alpha1"),
        (f"{CONFIG}emit: vm\n", "unknown key emit; the options stand below spec"),
        (f"{CONFIG}  - emit\n", "spec should be a mapping"),
        (CONFIG.replace("spec:", "spec: []"), "spec should be a mapping"),
        (CONFIG.replace("spec:", 'spec: ""'), "spec should be a mapping"),
        (f"{CONFIG}  emit: vm\n  emit: vm\n", "key 'emit' is already set on line 4"),
        (f"{CONFIG}  emit: [\n", ""),
        (f"{CONFIG}  emit: vmx\n", "'vmx' is not one of"),
        (
            f"{CONFIG}  namespace: ../../x\n",
            "'../../x' is not a DNS label: a lowercase RFC 1123 label must consist of",
        ),
        (
            f'{CONFIG}  namespace: "a\\nb"\n',
            "'a\\nb' is not a DNS label: a lowercase RFC 1123 label must consist of",
        ),
        (f"{CONFIG}  namespace: a.b\n", "'a.b' is not a DNS label: must not contain dots"),
        (
            f'{CONFIG}  namespace: "{"a" * 64}"\n',
            " is not a DNS label: must be no more than 63 characters",
        ),
        (f'{CONFIG}  catalog: "a\\0b"\n', "'a\\x00b' cannot be the name of a file"),
    ],
)
def test_unfit_file(text: str, message: str) -> None:
    Path(".virt-render.yaml").write_text(text)
    found = requested()
    (fault,) = faults(found)
    assert message in fault
    assert status(found.faults.diagnostics) is Exit.USAGE


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", (1, 1)),
        ("kind: RenderConfig\n", (1, 1)),
        (CONFIG.replace("spec:", "spec: []"), (3, 1)),
        (f"{CONFIG}emit: vm\n", (4, 1)),
    ],
)
def test_an_unfit_file_is_told_how_it_begins(text: str, place: tuple[int, int]) -> None:
    Path(".virt-render.yaml").write_text(text)
    found = requested().faults
    (fault,) = found.diagnostics
    assert fault.help.startswith("write apiVersion: virt-render.dev/v1alpha1, kind: RenderConfig")
    at = found.sources.place(fault.location)
    assert (at.line, at.column) == place


def test_no_options_at_all_are_fine() -> None:
    Path(".virt-render.yaml").write_text(CONFIG)
    assert not requested().faults.diagnostics


@pytest.mark.parametrize(
    ("text", "place", "source"),
    [(f"{CONFIG}  emit: [\n", ":4:9", "  emit: ["), (f"{CONFIG}  emit: vm\n  emit: vm\n", ":5:3", "  emit: vm")],
)  # fmt: skip
def test_the_line_of_a_syntax_error_is_shown(text: str, place: str, source: str) -> None:
    for name in (".virt-render.yaml", "kv.yaml"):
        Path(name).write_text(text)
        found = requested() if name != "kv.yaml" else requested(cluster_config=name)
        diagnostics = found.faults.sources.place(found.faults.diagnostics[-1].location)
        assert (str(diagnostics), diagnostics.source) == (f"{name}{place}", source)


KUBEVIRT = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"


@pytest.mark.parametrize(
    ("value", "leads_out"),
    [("../../kv.yaml", 1), ("{root}/kv.yaml", 1), ("link.yaml", 1), ("../kv.yaml", 0), ("kv.yaml", 0)],
)  # fmt: skip
@pytest.mark.parametrize("marker", [".git", ""])
def test_a_file_of_the_repository_does_not_lead_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, leads_out: int, marker: str
) -> None:
    Path("repo/app").mkdir(parents=True)
    for folder in (".", "repo", "repo/app"):
        Path(folder, "kv.yaml").write_text(KUBEVIRT)
    Path("repo/app/link.yaml").symlink_to("../../kv.yaml")
    text = f"{CONFIG}  clusterConfig: {value.format(root=tmp_path)}\n"
    Path("repo/app/.virt-render.yaml").write_text(text)
    if marker:
        Path("repo", marker).mkdir()
    else:
        monkeypatch.chdir("repo")  # without git, the working directory is what may be read
    path = os.path.relpath(tmp_path / "repo" / "app")
    content = faults(requested(path))
    assert len(content) == leads_out
    assert all("leads out of the repository of " in fault for fault in content)
    assert (requested(path).settings.cluster_config is None) is bool(leads_out)
    assert not faults(requested(path, config=f"{path}/.virt-render.yaml"))


def test_a_linked_file_stays_in_the_repository() -> None:
    Path("repo/app/.git").mkdir(parents=True)
    Path("repo/.virt-render.yaml").write_text(f"{CONFIG}  emit: vmi\n")
    Path("repo/app/.virt-render.yaml").symlink_to("../.virt-render.yaml")
    assert faults(requested("repo/app")) == [
        "repo/app/.virt-render.yaml is a symbolic link that leads out of its repository"
    ]
    Path("repo/app/.git").rename("repo/.git")
    assert requested("repo/app").settings.emit == "vmi"


def test_place_in_the_file_is_known() -> None:
    Path(".virt-render.yaml").write_text(f"{CONFIG}  pins: auto\n  emit: vmx\n")
    found = requested()
    place = found.faults.sources.place(found.faults.diagnostics[0].location)
    assert str(place) == ".virt-render.yaml:5:3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read kv.yaml: No such file or directory"),
        (
            "apiVersion: v1\nkind: ConfigMap\n",
            "kv.yaml holds 0 KubeVirt or HyperConverged objects and should hold one",
        ),
        ("kind: [", ""),
    ],
)
def test_unfit_cluster_config(text: str | None, message: str) -> None:
    if text is not None:
        Path("kv.yaml").write_text(text)
    (fault,) = faults(requested(cluster_config="kv.yaml"))
    assert message in fault
