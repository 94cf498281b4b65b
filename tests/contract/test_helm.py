"""What the real helm makes of our charts, and what we let it do."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.manifests.boxed.program import ProgramBounds
from render.manifests.charts import helm as module
from render.manifests.charts.layout import chart_in
from render.manifests.discover import HelmRelease
from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.sources.loading import load, load_all
from render.manifests.sources.reading import Reading
from render.system.programs import processes
from render.yaml.budget import Limits
from tests.support import process
from tests.support.manifests import put, vm

CHART = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {{ .Release.Name }}-web
  namespace: {{ .Release.Namespace }}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        devices: {}
        memory: {guest: {{ .Values.memory }}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a chart."""
    monkeypatch.chdir(tmp_path)
    put(".git/HEAD", "")
    put("chart/Chart.yaml", CHART)
    put("chart/values.yaml", "memory: 1Gi\n")
    put("chart/templates/vm.yaml", VM)
    return tmp_path


def fill(helm: str, *values: str, limits: Limits = Limits(), **release: Any) -> Documents:  # noqa: B008 - frozen
    return load(["chart"], Reading(limits, helm=helm, chart=HelmRelease(values, **release)))


def texts(loaded: Documents) -> list[str]:
    return [found.message for found in loaded.diagnostics]


def guest(loaded: Documents) -> str:
    (document,) = loaded.documents
    memory: str = document.body["spec"]["template"]["spec"]["domain"]["memory"]["guest"]
    return memory


def test_a_chart_is_rendered_and_its_objects_point_at_its_templates(helm: str) -> None:
    put("chart/templates/more/two.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n")
    found = fill(helm, namespace="prod")
    assert found.diagnostics == []
    places = {
        document.body["metadata"]["name"]: document.origin.file for document in found.documents
    }
    assert places == {
        "release-name-web": "chart/templates/vm.yaml",
        "two": "chart/templates/more/two.yaml",
    }
    assert found.documents[-1].body["metadata"]["namespace"] == "prod"


def test_the_last_values_file_wins(helm: str) -> None:
    put("one,two.yaml", "memory: 2Gi\n")
    put('a "quoted" one.yaml', "memory: 3Gi\n")
    assert guest(fill(helm)) == "1Gi"
    assert guest(fill(helm, "one,two.yaml")) == "2Gi"
    assert guest(fill(helm, "one,two.yaml", 'a "quoted" one.yaml')) == "3Gi"
    at = ("spec", "template", "spec", "domain", "memory", "guest")
    assert fill(helm, "one,two.yaml").values(0, at) == [("one,two.yaml", 1, 1)]
    put("one,two.yaml", "more: 2\n")
    assert fill(helm, "one,two.yaml").values(0, at) == [("chart/values.yaml", 1, 1)]


def test_a_chart_sees_the_cluster_of_the_release(helm: str) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}\ndata:\n"
        "  version: {{ .Capabilities.KubeVersion.Version }}\n"
        '  vm: "{{ .Capabilities.APIVersions.Has "kubevirt.io/v1/VirtualMachine" }}"\n'
        '  pool: "{{ .Capabilities.APIVersions.Has "pool.kubevirt.io/v1beta1" }}"\n'
        '  other: "{{ .Capabilities.APIVersions.Has "example.org/v1" }}"\n'
    )
    put("chart/templates/vm.yaml", text)
    seen = fill(helm).documents[0].body["data"]
    assert seen == {"version": "v1.36.0", "vm": "true", "pool": "true", "other": "false"}
    earlier = Reading(Limits(), helm=helm, chart=HelmRelease(kubevirt=(1, 4, 1)))
    seen = load(["chart"], earlier).documents[0].body["data"]
    assert (seen["version"], seen["pool"]) == ("v1.31.0", "false")


def test_helm_says_why_not(helm: str) -> None:
    put("chart/templates/vm.yaml", '{{ required "a name is needed" .Values.name }}\n')
    found = fill(helm)
    (message,) = texts(found)
    assert message.startswith("helm template chart: ")
    assert "a name is needed" in message
    assert found.unbuilt == found.diagnostics
    assert "--values" in found.diagnostics[0].help


def test_the_name_of_a_template_stays_where_a_value_is_part_of_it(helm: str) -> None:
    """Every value may be a secret, and none is said; what a file is called is no secret."""
    put("chart/Chart.yaml", CHART.replace("shop", "kubevirt-vm"))
    put("chart/values.yaml", "namespace: kubevirt\n")
    put("chart/templates/vm.yaml", "{{ if }}\n")
    assert "(kubevirt-vm/templates/vm.yaml:1)" in texts(fill(helm))[0]
    put("chart/templates/vm.yaml", '{{ fail (printf "%s-vm" .Values.namespace) }}\n')
    assert "[redacted]-vm" in texts(fill(helm))[0]


def test_dependencies_are_vendored_or_missing(helm: str) -> None:
    dependency = (
        "dependencies: [{name: sub, version: 1.0.0, repository: 'https://example.invalid'}]\n"
    )
    put("chart/Chart.yaml", CHART + dependency)
    (found,) = fill(helm).diagnostics
    assert "missing in charts/" in found.message
    assert "helm dependency build" in found.help
    put("chart/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n")
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\n"
    put("chart/charts/sub/templates/one.yaml", text)
    assert {document.origin.file for document in fill(helm).documents} == {
        "chart/templates/vm.yaml",
        "chart/charts/sub/templates/one.yaml",
    }


@pytest.mark.parametrize("repository", [".git/HEAD", ""])
def test_a_dependency_may_link_to_what_stands_in_the_chart(helm: str, repository: str) -> None:
    """Without a repository all of the chart is inside, and not only the folder of the dependency."""
    Path(".git/HEAD").unlink()
    Path(".git").rmdir()
    if repository:
        put(repository, "")
    dependency = "dependencies: [{name: sub, version: 1.0.0, repository: 'file://own/sub'}]\n"
    put("chart/Chart.yaml", CHART + dependency)
    put("chart/own/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n")
    put("chart/shared/one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\n")
    Path("chart/own/sub/templates").symlink_to("../../shared")
    filled = fill(helm)
    assert filled.diagnostics == []
    assert {document.origin.file for document in filled.documents} == {
        "chart/templates/vm.yaml",
        "chart/own/sub/templates/one.yaml",
    }


@pytest.mark.parametrize(
    "link", ["chart/templates/out.yaml", "chart/files/secret", "chart/values.yaml", "chart/crds"]
)
def test_no_file_from_outside_of_the_repository_is_read(
    helm: str, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("password: hunter2\n")
    Path(link).unlink(missing_ok=True)
    Path(link).parent.mkdir(exist_ok=True)
    Path(link).symlink_to(outside if link.endswith("crds") else outside / "secret")
    found = fill(helm)
    assert found.documents == []
    (message,) = texts(found)
    assert "is not in the repository of the chart chart" in message


@pytest.mark.parametrize(
    "named", ["../values.yaml", "/etc/hostname", "https://example.org/values.yaml", "none.yaml"]
)
def test_values_come_from_files_of_the_repository(helm: str, folder: Path, named: str) -> None:
    (folder.parent / "values.yaml").write_text("memory: 2Gi\n")
    found = fill(helm, named)
    assert found.documents == []
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["VR127"]


def packed(size: int) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in (("Chart.yaml", CHART.replace("shop", "sub")), ("big", "0" * size)):
            entry = tarfile.TarInfo(f"sub/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))
    Path("chart/charts").mkdir(exist_ok=True)
    Path("chart/charts/sub-1.0.0.tgz").write_bytes(data.getvalue())


def test_a_packed_chart_counts_unpacked(helm: str) -> None:
    limits = Limits(total_bytes=100_000)
    packed(1_000)
    assert fill(helm, limits=limits).diagnostics == []
    packed(200_000)
    (found,) = fill(helm, limits=limits).diagnostics
    assert found.code == "VR111"
    assert "chart/charts/sub-1.0.0.tgz" in found.message
    put("chart/large", "0" * 2_000)
    packed(10)
    (found,) = fill(helm, limits=Limits(file_bytes=1_000)).diagnostics
    assert found.code == "VR111"


def test_output_is_limited(helm: str) -> None:
    text = '{{ range until 100000 }}---\n# {{ repeat 100 "x" }}\n{{ end }}'
    put("chart/templates/vm.yaml", text)
    (found,) = fill(helm, limits=Limits(file_bytes=1_000_000)).diagnostics
    assert found.code == "VR111"


def test_helm_has_nothing_of_ours(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    program = folder / "spy"
    program.write_text('#!/bin/sh\nexport -p >&2\necho "$@" >&2\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("KUBECONFIG", "/srv/kube")
    monkeypatch.setenv("HELM_PLUGINS", "/srv/plugins")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    for name in ("LANG", "LC_ALL"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    bounds = ProgramBounds(Limits(), 1000)
    steps = module.template(chart_in("chart"), str(program), HelmRelease(), bounds)
    diagnostic = processes.finish(steps)
    assert isinstance(diagnostic, Diagnostic)
    assert "hunter2" not in diagnostic.message
    assert "/srv/" not in diagnostic.message
    assert (
        f"KUBECONFIG='{os.devnull}'" in diagnostic.message
        or f'KUBECONFIG="{os.devnull}"' in diagnostic.message
    )
    assert "de_DE" not in diagnostic.message
    assert "ko_KR" in diagnostic.message  # by which it starts in half of the time
    assert "--enable-dns" not in diagnostic.message
    assert "--post-renderer" not in diagnostic.message


def test_no_dns(helm: str) -> None:
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "a{{ getHostByName "localhost" }}"}\n'
    put("chart/templates/vm.yaml", text)
    assert fill(helm).documents[0].body["metadata"]["name"] == "a"


def test_what_is_missing_is_named() -> None:
    (found,) = fill("no-such-helm").diagnostics
    assert found.code == "VR128"
    assert fill("never").documents == []


@pytest.mark.parametrize(
    ("files", "is_read"),
    [
        ({"kustomization.yaml": "resources: [ns.yaml]\n"}, True),
        ({"charts/kustomization.yaml": "namespace: shop\n"}, True),
        ({"charts/app/sub/kustomization.yaml": "resources: [vm.yaml]\n"}, True),
        ({"kustomization.yaml": "configMapGenerator: [{files: [charts/app/values.yaml]}]\n"}, True),
        ({"kustomization.yaml": "helmCharts: [{name: other}]\nhelmGlobals: {chartHome: own}\n"}, True),
        ({"kustomization.yaml": "helmCharts: [{name: app}]\n"}, False),
        ({"kustomization.yaml": "helmCharts: [{name: other, repo: https://charts.example.com}]\n"}, False),
        ({"kustomization.yaml": "helmChartInflationGenerator: [{chartName: app}]\n"}, False),
        ({"kustomization.yaml": "HelmCharts: [{name: app}]\nhelmGlobals: {chartHome: ./charts/}\n"}, False),
        ({"kustomization.yaml": "helmCharts: [{name: charts/app}]\nhelmGlobals: {chartHome: .}\n"}, False),
        ({"kustomization.yaml": "namespace: a\n", "x/kustomization.yaml":
            "helmCharts: [{name: app}]\nhelmGlobals: {chartHome: ../charts}\n"}, False),
        ({"kustomization.yaml": "generators: [of.yaml]\n",
            "of.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nname: app\n"}, False),
        ({"kustomization.yaml": "generators: [of]\n", "of/kustomization.yaml": "namePrefix: a\n"}, False),
        ({"kustomization.yaml": "resources: [charts/app/templates/vm.yaml]\n"}, False),
        ({"kustomization.yaml": "namespace: a\n", "charts/app/kustomization.yaml": "namespace: a\n"}, False),
    ],
)  # fmt: skip
def test_a_chart_below_a_kustomization_that_has_nothing_of_it_is_read(
    helm: str,
    files: dict[str, str],
    is_read: bool,  # noqa: FBT001
) -> None:
    Path("chart").rename("app")
    Path("charts").mkdir()
    Path("app").rename("charts/app")
    put("ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    put("charts/app/sub/vm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    put("charts/app/charts/sub/Chart.yaml", CHART.replace("shop", "sub"))
    put("charts/app/charts/sub/templates/vm.yaml", VM.replace("-web", "-sub"))
    for name, text in files.items():
        put(name, text)
    inputs = load_all(["."], Reading(Limits(), helm=helm))
    filled = [loaded.folder for loaded in inputs if loaded.filled]
    assert filled == (["charts/app"] if is_read else [])


def test_check_takes_charts_that_hold_vms(helm: str) -> None:
    put("other/Chart.yaml", CHART)
    put("other/templates/one.yaml", "{{ fail `never run` }}")
    put("needy/Chart.yaml", CHART)
    put("needy/templates/one.yaml", "# kubevirt.io\n{{ required `a name` .Values.name }}")
    inputs = load_all(["."], Reading(Limits(), helm=helm))
    built = [loaded for loaded in inputs if loaded.documents]
    assert [document.origin.file for item in built for document in item.documents] == [
        "chart/templates/vm.yaml"
    ]
    diagnostics = [found for loaded in inputs for found in loaded.diagnostics]
    assert not [found for found in diagnostics if found.is_error]
    assert [found for found in diagnostics if "a name" in found.message]
    assert not [found for found in diagnostics if "never run" in found.message]


BROKEN = {
    "chart/templates/more.yaml": "a: {{ .Values.memory \n",
    "chart/templates/_more.tpl": "{{ nofunction }}\n",
    "chart/values.yaml": "memory: [\n",
    "chart/Chart.yaml": "version: 1.0.0\n",
    "chart/templates/other.yaml": "{{ include `no such template` . }}\n",
}


@pytest.mark.parametrize("file", BROKEN)
def test_a_chart_that_renders_with_no_values_is_an_error(helm: str, file: str) -> None:
    put(file, BROKEN[file])
    for named in (".", "chart/templates/vm.yaml", "chart"):
        done = virt_render(helm, "check", named)
        assert done.returncode == 3, named
        assert done.stdout.count("error VR127") == 1, named


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: {}\nb: {{ .Values.memory \n", "chart/templates/more.yaml:2:1: "),
        ("a: {}\nb: {{ include `nothing` . }}\n", "chart/templates/more.yaml:2:7: "),
        ("a: {}\nb: {{ .Values.a.b }}\n", "chart/templates/more.yaml:2:14: "),
        ("a: {}\nb: {{ fail `no` }}\n", "chart/templates/more.yaml:2:7: "),
        ("a: [\n", "chart/templates/more.yaml: "),
        ("{{ tpl `{{ if }}` . }}\n", "chart/templates/more.yaml:1:4: "),
    ],
)
def test_what_fails_is_said_where_helm_says_that_it_stands(
    helm: str, text: str, place: str
) -> None:
    put("chart/templates/more.yaml", text)
    done = virt_render(helm, "check", "chart")
    assert done.returncode == 3
    assert done.stdout.startswith(f"{place}error VR127 helm-failed: helm template chart: ")


def test_a_place_that_is_no_file_of_the_chart_is_none(helm: str) -> None:
    """What it depends on may stand packed in charts/."""
    put("sub/Chart.yaml", CHART.replace("shop", "sub"))
    put("sub/templates/more.yaml", "a: [\n")
    os.mkdir("chart/charts")
    with tarfile.open("chart/charts/sub.tgz", "w:gz") as packed_chart:
        packed_chart.add("sub")
    done = virt_render(helm, "check", "chart")
    assert done.stdout.startswith(
        "chart: error VR127 helm-failed: helm template chart: Error: YAML parse"
    )


def test_a_chart_that_prints_no_yaml_by_its_own_values_is_a_warning(helm: str) -> None:
    """At the template; it may only want for values, so that it stays counted among what is not looked at."""
    put("chart/templates/vm.yaml", VM.replace("    spec:", "   spec:").replace("  temp", " temp"))
    done = virt_render(helm, "check", ".")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "chart/templates/vm.yaml: warning VR127 helm-failed: helm template chart: Error: YAML parse error on "
    )
    assert "help: mend what the template prints (helm template --debug shows it" in done.stdout
    assert "1 warning; not looked at: 1 Helm chart (-v)" in done.stderr
    put("chart/templates/vm.yaml", VM + "{{ fail `YAML parse error on shop/templates/vm.yaml` }}\n")
    assert virt_render(helm, "check", ".").stdout == ""


def test_a_link_out_of_the_repository_makes_a_chart_an_error(helm: str, folder: Path) -> None:
    (folder / "chart/elsewhere").symlink_to("/etc/hostname")
    for named in (".", "chart"):
        done = virt_render(helm, "check", named)
        assert done.returncode == 3, named
        assert "chart/elsewhere is not in the repository of the chart chart" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "{{ .Values.a.b }}",
        "{{ fail `parse error at (` }}",
        "{{ include .Values.name . }}",
        "{{ index .Values.list 0 }}",
        "{{ tpl `{{ nofunction }}` . }}",
        "a: {{ .Values.name }}: {{ .Values.name }}",
    ],
)
def test_a_chart_that_may_want_for_values_is_passed_over(helm: str, text: str) -> None:
    put("chart/templates/more.yaml", f"{text}\n")
    for named in (".", "chart/templates/vm.yaml"):
        done = virt_render(helm, "check", "--verbose", named)
        assert done.returncode == 0, done.stdout
    assert virt_render(helm, "check", "chart").returncode == 3


@pytest.mark.parametrize("version", ["1.0.0", "^1.2", "~2", ">= 1.0.0", "1.x"])
@pytest.mark.parametrize("switch", ["condition: sub.enabled, other.enabled", "tags: [extra]"])
def test_a_dependency_that_values_switch_off_need_not_be_there(
    switch: str, version: str, helm: str
) -> None:
    """Argo CD and Flux fetch it, and helm leaves it out: what is printed is the same."""
    put(
        "chart/Chart.yaml",
        f"{CHART}dependencies:\n- name: sub\n  alias: other\n  version: '{version}'\n"
        f"  repository: https://example.invalid\n  {switch}\n",
    )
    put("chart/values.yaml", "memory: 1Gi\nsub: {enabled: false}\ntags: {extra: false}\n")
    filled = fill(helm)
    assert filled.diagnostics == []
    assert {document.origin.file for document in filled.documents} == {"chart/templates/vm.yaml"}
    put("chart/values.yaml", "memory: 1Gi\nsub: {enabled: true}\ntags: {extra: true}\n")
    (found,) = fill(helm).diagnostics
    assert "missing in charts/ directory: sub" in found.message


def test_values_of_a_chart_are_read_by_the_rules_of_helm(helm: str) -> None:
    """It takes the last of a key that stands there twice; unless the file holds a VM, it is no manifest."""
    put("chart/values.yaml", "memory: 1Gi\nmemory: 2Gi # kubevirt.io\n")
    done = virt_render(helm, "check", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("1 VM in 1 chart: no findings")
    put("chart/values.yaml", vm("hidden", memory="none"))
    assert "hidden" in virt_render(helm, "check", ".").stdout


def test_a_chart_whose_dependencies_are_fetched_elsewhere_is_passed_over(helm: str) -> None:
    """Argo CD and Flux run ``helm dependency build`` themselves, so that hardly anybody commits charts/."""
    dependency = (
        "dependencies: [{name: sub, version: 1.0.0, repository: 'https://example.invalid'}]\n"
    )
    put("chart/Chart.yaml", CHART + dependency)
    done = virt_render(helm, "check", "--verbose", ".")
    assert done.returncode == 0, done.stdout
    assert "chart: info VR118 file-skipped" in done.stdout
    assert "missing in charts/" in done.stdout
    assert "not looked at: 1 Helm chart (-v)" in done.stderr
    for command in ("check", "build"):
        done = virt_render(helm, command, "chart")
        assert done.returncode == 3
        assert "helm dependency build puts it into charts/" in done.stdout + done.stderr


def test_check_fills_a_chart_in_for_each_release(helm: str) -> None:
    """A chart may ask what the cluster serves; what is no chart is read once."""
    asks = '{{ .Capabilities.APIVersions.Has "pool.kubevirt.io/v1beta1" | ternary "4" "none" }}'
    put("chart/values.yaml", "memory: 1Gi\n")
    put("chart/templates/vm.yaml", VM.replace("{{ .Values.memory }}", asks))
    put("vms/vm.yaml", vm("loose", memory="none"))
    found = {
        words: {
            diagnostic["file"]: diagnostic.get("releases")
            for diagnostic in json.loads(
                virt_render(helm, "check", *words, "--format", "json", ".").stdout
            )["diagnostics"]
            if diagnostic["severity"] == "error"
        }
        for words in (
            ("--kubevirt", "1.4"),
            ("--kubevirt", "1.9"),
            ("--kubevirt", "1.9", "--kubevirt", "v1.4"),
        )
    }
    chart, loose = "chart/templates/vm.yaml", "vms/vm.yaml"
    diagnostics, newest, both = found.values()
    assert (set(diagnostics), set(newest)) == ({chart, loose}, {loose})
    assert both == {chart: ["1.4"], loose: ["1.9", "1.4"]}


def virt_render(helm: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return process.run(*words, "--helm", helm)


def test_of_what_a_chart_prints_the_objects_of_kubevirt_count_for_check(helm: str) -> None:
    """A build prints all of it, and so has to understand it."""
    put("chart/templates/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n")
    for scope, codes in ((Scope(), []), (None, ["VR104"])):
        found = load(["chart"], Reading(Limits(), helm=helm, scope=scope))
        assert [diagnostic.code for diagnostic in found.diagnostics] == codes
        assert [document.body["kind"] for document in found.documents] == ["VirtualMachine"]
    put("chart/templates/vm.yaml", VM.replace("{{ .Release.Name }}-web", '""'))
    found = load(["chart"], Reading(Limits(), helm=helm, scope=Scope()))
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["VR104"]


def test_a_release_has_a_name(helm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "name: shop-web" in virt_render(helm, "build", "chart", "--release-name", "shop").stdout
    monkeypatch.setenv("ARGOCD_APP_NAME", "team_app")
    assert "name: app-web" in virt_render(helm, "build", "chart").stdout
    assert "name: shop-web" in virt_render(helm, "build", "chart", "--release-name", "shop").stdout
    for wrong in ("--debug", "Shop"):
        done = virt_render(helm, "build", "chart", f"--release-name={wrong}")
        assert (done.returncode, done.stdout) == (3, "")
        assert "invalid release name" in done.stderr


def test_a_value_can_be_the_text_of_a_file(
    helm: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    put("sizes/a,b\\.txt", "6Gi")
    parameter = "memory=../sizes/a,b\\.txt"
    assert guest(fill(helm, file_parameters=(parameter,))) == "6Gi"
    done = virt_render(helm, "build", "chart", "--file-parameters", parameter)
    assert 'guest: "6Gi"' in done.stdout
    outside = tmp_path_factory.mktemp("outside") / "size"
    outside.write_text("7Gi")
    for wrong in (f"memory={outside}", "memory", "memory=http://127.0.0.1/size", "memory=../none"):
        found = fill(helm, file_parameters=(wrong,))
        assert [diagnostic.code for diagnostic in found.diagnostics] == ["VR127"]
        assert found.documents == []


def test_a_folder_with_one_chart_alone_is_built(helm: str) -> None:
    put("README.md", "")
    put("library/Chart.yaml", CHART)
    put("library/templates/note.yaml", "# no VM")
    assert "kind: VirtualMachine" in virt_render(helm, "build", ".").stdout
    put("other/Chart.yaml", CHART)
    put("other/templates/vm.yaml", VM)
    done = virt_render(helm, "build", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds 2 Helm charts: chart, other" in done.stderr


def test_a_configuration_names_values_and_namespace(helm: str) -> None:
    put(
        "chart/.virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n"
        "spec: {values: [../prod.yaml], namespace: prod}\n",
    )
    put("prod.yaml", "memory: 5Gi\n")
    done = virt_render(helm, "build", "chart")
    assert done.returncode == 0, done.stderr
    assert 'guest: "5Gi"' in done.stdout
    assert "namespace: prod" in done.stdout


def test_a_finding_names_the_lines_of_template_and_value(helm: str) -> None:
    put("prod.yaml", "# of production\nmemory: much\n")
    done = virt_render(helm, "build", "chart", "--values", "prod.yaml")
    assert done.returncode == 1
    assert "chart/templates/vm.yaml:12:9: error VR108" in done.stderr
    assert "prod.yaml:2:1: the value comes from here" in done.stderr
    put("chart/templates/vm.yaml", VM.replace("  runStrategy: Always", "  running: true"))
    done = virt_render(helm, "build", "chart")
    assert "chart/templates/vm.yaml:7:3: warning VR502" in done.stderr
    assert "value" not in done.stderr


@pytest.mark.parametrize(
    ("action", "values", "place"),
    [
        ("{{ .Values.own | default .Values.memory }}", "memory: 1Gi\nown: 2GB\n", "prod.yaml:2:1"),
        ("{{ .Values.own | default .Values.memory }}", "memory: 2GB\n", "prod.yaml:1:1"),
        (
            "{{ (first .Values.all).guest }}",
            "all:\n  - {guest: 2GB}\nother: 3Gi\n",
            "prod.yaml:2:6",
        ),
        ('{{ get .Values "a" }}', "a: 2GB\nb: 2GB\n", ""),
        ("{{ .Values.a }}B", "a: 2G\nb: 2GB\n", "prod.yaml:1:1"),
    ],
)
def test_the_value_is_the_one_that_is_printed(
    helm: str, action: str, values: str, place: str
) -> None:
    assert "{{ .Values.memory" in VM
    line = next(each for each in VM.splitlines() if "{{ .Values.memory" in each)
    head = line.partition(":")[0]
    put("chart/templates/vm.yaml", VM.replace(line, f"{head}: {{guest: {action}}}"))
    put("prod.yaml", values)
    done = virt_render(helm, "build", "chart", "--values", "prod.yaml")
    assert "chart/templates/vm.yaml:12:9: error VR108" in done.stderr, done.stderr
    told = f"  {place}: the value comes from here\n"
    assert (told if place else "its values come from") in done.stderr, done.stderr


def test_the_value_of_an_item_is_told_apart_from_its_default(helm: str) -> None:
    text = VM.replace(".Values", "$.Values").replace(".Release", "$.Release")
    text = text.replace("Always", "{{ $vm.run | default $.Values.run }}")
    put(
        "chart/templates/vm.yaml",
        f"{{{{- range $vm := .Values.vms }}}}\n---\n{text}{{{{- end }}}}\n",
    )
    put("chart/values.yaml", "run: Halted\nmemory: 1Gi\nvms: []\n")
    put("prod.yaml", "vms:\n  - run: Manual\n  - {}\n  - run: Halted\n")
    found = fill(helm, "prod.yaml")
    at = ("spec", "runStrategy")
    files = [("chart/values.yaml", 0, 0), ("prod.yaml", 0, 0)]
    assert found.values(0, at) == [("prod.yaml", 2, 5)]
    assert found.values(1, at) == found.values(2, at) == files, "both say the same"
    put("prod.yaml", "vms:\n  - run: Manual\n  - {}\n  - run: Manual\n")
    found = fill(helm, "prod.yaml")
    assert found.values(0, at) == found.values(2, at) == files, "so do two items"
    assert found.values(1, at) == [("chart/values.yaml", 1, 1)]


def test_where_the_line_is_not_clear_the_files_are_named(helm: str) -> None:
    above, _, _ = VM.partition("        memory:")
    put("chart/templates/vm.yaml", above + "        {{- toYaml .Values.more | nindent 8 }}\n")
    put("chart/values.yaml", "more: {memory: {guest: much}}\n")
    done = virt_render(helm, "build", "chart")
    assert done.stderr.startswith("chart/values.yaml:1:17: error VR108"), done.stderr
    assert "\n  chart/templates/vm.yaml:1:1: it is filled in here\n" in done.stderr
    put("chart/values.yaml", "more: {memory: {guest: much}}\nless: {guest: much}\n")
    done = virt_render(helm, "build", "chart")
    assert "chart/templates/vm.yaml: error VR108" in done.stderr
    assert "its values come from chart/values.yaml" in done.stderr
    put("more.yaml", "more: {memory: {guest: much}}\nless: {guest: much}\n")
    Path("chart/values.yaml").unlink()
    done = virt_render(helm, "build", "chart", "--values", "more.yaml")
    assert "its values come from more.yaml" in done.stderr, "there is no values.yaml in the chart"


def test_what_a_chart_shares_with_other_folders_stands_at_its_line(helm: str) -> None:
    put("infra/Chart.yaml", CHART)
    put("infra/values.yaml", "account:\n")
    text = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\nspec:\n"
    put("infra/templates/kubevirt.yaml", f"{text}  monitorAccount: {{{{ .Values.account }}}}\n")
    done = virt_render(helm, "check", ".")
    assert done.stdout.count("VR114") == 1
    assert "infra/templates/kubevirt.yaml:5:3: warning VR114" in done.stdout
    assert "infra/values.yaml:1:1: the value comes from here" in done.stdout


def test_a_kustomization_with_charts_says_what_to_do(kustomize: str) -> None:
    put(
        "kustomization.yaml",
        "helmCharts: [{name: chart, releaseName: web}]\nhelmGlobals: {chartHome: .}\n",
    )
    (found,) = load(["."], Reading(Limits(), kustomize=kustomize)).diagnostics
    assert found.code == "VR116"
    assert "virt-render build CHART --values FILE" in found.help


def test_a_kustomization_with_charts_that_nobody_named_is_passed_over(
    helm: str, kustomize: str
) -> None:
    """Argo CD and Flux may let kustomize run helm; whether the chart makes VMs nobody can tell."""
    chart = "helmCharts: [{name: web, repo: 'https://example.invalid', releaseName: web}]\n"
    put("remote/kustomization.yaml", chart)
    put("vms/kustomization.yaml", f"resources: [vm.yaml]\n{chart}")
    put("vms/vm.yaml", vm(memory="1Gi"))
    words = ("--kustomize", kustomize, "--verbose")
    done = virt_render(helm, "check", *words, ".")
    assert done.returncode == 0, done.stdout
    assert "remote: info VR118 file-skipped" in done.stdout
    assert "vms: info VR118 file-skipped" in done.stdout
    assert "2 helmCharts kustomizations (-v)" in done.stderr
    for command in ("check", "build", "pin"):
        done = virt_render(helm, command, *words, "vms")
        assert done.returncode == 3
        assert "error VR116" in done.stdout + done.stderr
    assert virt_render(helm, "pin", *words, ".").returncode == 3  # a lock must not miss a VM
    put("loose/vm.yaml", vm("loose", memory="1Gi"))
    put("vms/vm.yaml", "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n")
    done = virt_render(helm, "pin", *words, ".")
    assert done.returncode == 0, done.stderr
    assert "helmCharts kustomization" in done.stderr


def test_a_kustomization_with_plugins_of_others_is_passed_over(helm: str, kustomize: str) -> None:
    """Argo CD may let kustomize run them; where a VM stands in what it reads, that is an error."""
    put("policies/kustomization.yaml", "generators: [policy.yaml]\nresources: [kubevirt.yaml]\n")
    put(
        "policies/policy.yaml",
        "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\nmetadata: {name: x}\n",
    )
    put(
        "policies/kubevirt.yaml",
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: k}\n",
    )
    done = virt_render(helm, "check", "--kustomize", kustomize, ".")
    assert done.returncode == 0, done.stdout
    assert "1 kustomization with plugins of others (-v)" in done.stderr
    put("policies/kubevirt.yaml", vm(memory="1Gi"))
    done = virt_render(helm, "check", "--kustomize", kustomize, ".")
    assert "error VR116" in done.stdout


def test_an_application_names_values_in_an_array(
    helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("chart/prod.yaml", "memory: 6Gi\n")
    monkeypatch.chdir("chart")
    inputs = [{"name": "values", "array": ["prod.yaml"]}]
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps(inputs))
    done = virt_render(helm, "argocd", "generate", ".")
    assert done.returncode == 0, done.stderr
    assert 'guest: "6Gi"' in done.stdout


def test_a_word_for_yes_is_said_at_the_line_of_the_template(helm: str) -> None:
    for words in ("yes", "n"):
        put(
            "chart/templates/vm.yaml",
            VM.replace("metadata:\n", f"metadata:\n  labels:\n    app: {words}\n"),
        )
        put("loose/vm.yaml", vm("loose", memory="much"))
        for command in ("build chart", "check .", "argocd generate chart"):
            done = virt_render(helm, *command.split())
            assert done.returncode == 1, done.stderr
            assert "chart/templates/vm.yaml:5:5: warning VR113" in done.stdout + done.stderr
        done = virt_render(helm, "check", ".")
        assert "loose/vm.yaml:12:11: error VR108" in done.stdout


def test_objects_that_a_loop_prints_into_one_document_are_named_with_the_template(
    helm: str,
) -> None:
    """Each key of the second object stands twice then: that is one mistake, and where it is mended is known."""
    loop = '{{- range $name := list "a" "b" "c" }}\n%s{{- end }}\n'
    text = (
        VM.replace(".Release", "$.Release")
        .replace(".Values", "$.Values")
        .replace("-web", "-{{ $name }}")
    )
    put("chart/templates/vm.yaml", loop % text)
    loaded = fill(helm)
    assert [found.code for found in loaded.diagnostics] == ["VR102"]
    (found,) = loaded.diagnostics
    assert found.related[-1].location.file == "chart/templates/vm.yaml"
    assert "begin each, also in a loop, with a line ---" in found.help
    put("chart/templates/vm.yaml", loop % f"---\n{text}")
    assert len(fill(helm).documents) == 3
    put("chart/templates/vm.yaml", VM.replace("  name:", "  name: a\n  name:"))
    (found,) = fill(helm).diagnostics
    assert "remove one of them" in found.help


def test_of_many_equal_lines_the_neighbours_tell() -> None:
    from render.manifests.charts.templating import compared

    template = [
        "kind: A",
        "spec:",
        "  x: {{ .a }}",
        "---",
        "kind: B",
        "spec:",
        "  x: {{ .b }}{{ .c }}-d",
        "  y: {{ .e }}",
    ]
    output = ["kind: A", "spec:", "  x: 1", "kind: B", "spec:", "  x: 22-d", "  y:"]
    assert compared(template, output) == [1, 2, 3, 5, 6, 7, 8]
    assert compared(["a: {{ .b }}b{{ .c }}bc"], ["a: bbc", "a: bc", "a: xbbcx", "a: b bc"]) == [
        1,
        0,
        0,
        1,
    ]
