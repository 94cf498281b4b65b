"""A repository that turns its own checks down, or leaves a part of itself out, is heard in every format."""

import io
import json
import resource
import tarfile
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch
from render.frontends.request.config import Layout
from render.report.formats import FORMATS
from render.settings import OPTIONS, Source
from tests.support.manifests import put, vm
from tests.support.process import run
from tests.support.repository import Repository

HEAD = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"
SILENT = f'{HEAD}  exclude: ["*"]\n  admission: off\n  emit: expand\n'
LINE = "waived: emit expand, admission off, exclude * by .virt-render.yaml\n"
LOCK = (
    "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\nspec: {kubevirt: '1.9', pins: []}\n"
)
REFUSED = vm("web", memory="1Gi").replace("domain:", "domain:\n        cpu: {sockets: -1}", 1)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a VM that KubeVirt would take."""
    made = Repository(tmp_path / "repository")
    made.write("vms/web.yaml", vm("web", memory="1Gi"))
    made.commit("a VM")
    return made


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_turned_down_is_said_in_every_format(repository: Repository, form: str) -> None:
    repository.write(".virt-render.yaml", SILENT)
    for words in (("check", "."), ("check", "-q", ".")):
        done = repository.run(*words, "--format", form)
        assert done.returncode == 0
        assert LINE in done.stderr
    repository.write(".virt-render.yaml", f"{HEAD}  admission: full\n")
    assert "waived" not in repository.run("check", ".", "--format", form).stderr


def test_the_json_report_has_it(repository: Repository) -> None:
    repository.write(".virt-render.yaml", SILENT)
    repository.write("vms/odd.yaml", vm("odd", memory="1Gi").replace(
        "metadata:", "metadata:\n  annotations: {virt-render.dev/ignore.VR420: because}", 1))  # fmt: skip
    summary = json.loads(repository.run("check", ".", "--format", "json").stdout)["summary"]
    assert summary["waived"] == [
        {"setting": "emit", "value": "expand", "source": ".virt-render.yaml"},
        {"setting": "admission", "value": "off", "source": ".virt-render.yaml"},
        {"setting": "exclude", "value": ["*"], "source": ".virt-render.yaml"},
    ]
    repository.write(".virt-render.yaml", HEAD.replace("spec:\n", "spec: {}\n"))
    done = repository.run("check", ".", "--format", "json")
    assert json.loads(done.stdout)["summary"]["ignoring"] == 1
    assert "waived: annotations of 1 object that ignore findings\n" in done.stderr
    for annotation in ("VR301: because", "VR420: ''", "VR999: because"):
        text = vm("odd", memory="1Gi").replace(
            "metadata:", f"metadata:\n  annotations: {{virt-render.dev/ignore.{annotation}}}", 1
        )
        repository.write("vms/odd.yaml", text)
        done = repository.run("check", ".", "--format", "json")
        assert "that ignore findings" not in done.stderr


def test_what_is_cut_of_the_line_is_counted(repository: Repository) -> None:
    names = ["doc" * 100, *(f"docs{number}" for number in range(400)), "vms"]
    repository.write(".virt-render.yaml", f"{HEAD}  exclude: [{', '.join(names)}]\n")
    done = repository.run("check", ".", "--format", "json")
    first = ("doc" * 100)[:60]
    assert f"waived: exclude {first}... and 401 more by .virt-render.yaml\n" in done.stderr
    assert json.loads(done.stdout)["summary"]["waived"][0]["value"] == names
    repository.write(".virt-render.yaml", f"{HEAD}  exclude: [{', '.join(names[-8:])}]\n")
    done = repository.run("check", "-q", ".")
    listing = ", ".join(names[-8:-2])
    assert done.stderr == f"waived: exclude {listing} and 2 more by .virt-render.yaml\n"
    compared = repository.run("diff", "HEAD").stdout
    assert f".virt-render.yaml changed: exclude none -> {listing} and 2 more" in compared


#: Each setting of a repository that leaves out or turns down something, in the words of the line.
WAIVED = {
    "emit: expand": "emit expand",
    "pins: ignore": "pins ignore",
    "presetConflicts: override": "presetConflicts override",
    "admission: off": "admission off",
    "guest: off": "guest off",
    "allowEmpty: true": "allowEmpty on",
    "exclude: [elsewhere]": "exclude elsewhere",
    "roots: [elsewhere]": "roots elsewhere",
    "shared: [elsewhere]": "shared elsewhere",
}
#: The others: how it is printed, and of which cluster and which values that is true.
NOT_WAIVED = (
    *(f"emit: {form}" for form in ("vm", "vmi", "pod", "hashed", "revisions", "source")),
    "stored: true", "defaults: cluster", "catalog: [more]", "values: [values.yaml]", "fileParameters: [a=values.yaml]",
    "releaseName: a", "pins: require", "pins: auto", "presetConflicts: fail", "firmwareUuid: stable", "namespace: n",
    "annotations: false", "kubevirt: '1.8'", "admission: full", "admission: strict", "guest: error", "guest: warning",
    "clusterConfig: kubevirt.yaml", "lock: other.lock.yaml", "launcherImage: a/b:c", "allowEmpty: false",
)  # fmt: skip


def test_each_setting_is_in_one_of_the_tables() -> None:
    named = {text.partition(":")[0] for text in (*WAIVED, *NOT_WAIVED)}
    assert named == {option.spelled(Source.FILE) for option in OPTIONS} | {*Layout._fields}
    for option in OPTIONS:
        values = {
            text.split(": ")[1]
            for text in WAIVED
            if text.startswith(f"{option.spelled(Source.FILE)}:")
        }
        assert values == {str(value).lower() for value in option.waives}


@pytest.mark.parametrize("text", [*WAIVED, *NOT_WAIVED])
def test_each_setting(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    put(tmp_path / ".virt-render.yaml", f"{HEAD}  {text}\n")
    put(tmp_path / "vms/web.yaml", vm("web", memory="1Gi"))
    put(tmp_path / "more/x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    put(tmp_path / "values.yaml", "a: b\n")
    put(
        tmp_path / "kubevirt.yaml",
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: k}\nspec: {}\n",
    )
    put(tmp_path / "other.lock.yaml", LOCK)
    content = WAIVED.get(text)
    command = (
        "build" if text == "allowEmpty: true" else "check"
    )  # where it is not what holds anyway
    dispatch.invoke([command, ".", "--quiet"])
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("waived: ")]
    assert lines == ([f"waived: {content} by .virt-render.yaml"] if content else [])
    dispatch.invoke([command, ".", "--format", "json"])
    printed = capfd.readouterr()
    if command == "check":
        assert [line for line in printed.err.splitlines() if line.startswith("waived: ")] == lines
        report = json.loads(printed.out)
    else:
        report = json.loads(printed.err)
    waived = report["summary"].get("waived", [])
    assert [item["setting"] for item in waived] == ([content.split()[0]] if content else [])


@pytest.mark.parametrize(
    "words", [("build", "vms"), ("explain", "web", "."), ("report", "-o", "page.html", "."), ("pin", "--check", ".")]
)  # fmt: skip
def test_every_command_says_it(repository: Repository, words: tuple[str, ...]) -> None:
    repository.write(".virt-render.yaml", f"{HEAD}  presetConflicts: override\n")
    repository.write("vms/.virt-render.yaml", f"{HEAD}  presetConflicts: override\n")
    assert "waived: presetConflicts override by " in repository.run(*words).stderr


def test_who_runs_the_program_waives_nothing(repository: Repository) -> None:
    repository.write(".virt-render.yaml", f"{HEAD}  admission: off\n")
    for words in (("--admission", "full"), ("--admission", "off")):
        assert "waived" not in repository.run("check", ".", *words).stderr
    (repository.folder / ".virt-render.yaml").rename(repository.folder / "named.yaml")
    assert "waived" not in repository.run("check", ".", "--config", "named.yaml").stderr


def test_an_application_is_heard(repository: Repository) -> None:
    folder = repository.folder / "vms"
    parameters: dict[str, Any] = {
        "ARGOCD_APP_PARAMETERS": json.dumps([{"name": "admission", "string": "off"}])
    }
    done = run("argocd", "generate", cwd=folder, **parameters)
    assert done.returncode == 0
    assert "waived: admission off by the Application (parameter)\n" in done.stderr
    done = run("argocd", "generate", cwd=folder, ARGOCD_ENV_VIRT_RENDER_PINS="ignore")
    assert "by the Application (environment variable)\n" in done.stderr
    done = run("argocd", "generate", cwd=folder, VIRT_RENDER_PINS="ignore")
    assert "waived" not in done.stderr


def test_a_baseline_is_heard(repository: Repository) -> None:
    repository.write("vms/web.yaml", REFUSED)
    repository.run("check", ".", "--json-file", "known.json")
    done = repository.run("check", ".", "--baseline", "known.json")
    assert done.returncode == 0
    assert "waived: 1 finding accepted by the baseline\n" in done.stderr


@pytest.mark.parametrize(
    "name", ["exclude", "roots", "shared", "admission", "emit", "pins", "catalog", "guest"]
)
def test_every_option_can_be_locked(repository: Repository, name: str) -> None:
    values = {
        "admission": "off",
        "emit": "vmi",
        "pins": "ignore",
        "catalog": "none",
        "guest": "error",
    }
    repository.write(".virt-render.yaml", f"{HEAD}  {name}: {values.get(name, '[a]')}\n")
    for command in ("check", "report", "diff"):
        done = run(command, ".", cwd=repository.folder, VIRT_RENDER_LOCKED=name)
        assert (done.returncode, name in done.stdout + done.stderr) == (2, True)
        assert (
            f"configuration key {name} is locked by who runs virt-render"
            in done.stdout + done.stderr
        )


def test_excluded_is_not_gone(repository: Repository) -> None:
    repository.write(".virt-render.yaml", f"{HEAD}  exclude: [vms]\n  admission: off\n")
    done = repository.run("diff", "HEAD")
    assert "gone" not in done.stdout
    counts, header = done.stdout.splitlines()[:2]
    assert counts == "1 VM: 1 same"
    assert header.endswith(
        "; .virt-render.yaml changed: admission none -> off (not for this change: what it turns off is"
        " checked as before), exclude none -> vms"
    )
    repository.commit("nothing to see")
    assert "no longer" not in repository.run("diff", "HEAD~1..HEAD").stdout
    # The other way round it is not new either: who excludes it may have it in the cluster.
    (repository.folder / ".virt-render.yaml").unlink()
    assert "1 VM: 1 same" in repository.run("diff", "HEAD").stdout
    repository.write(".virt-render.yaml", f"{HEAD}  exclude: [vms]\n  admission: off\n")
    assert "0 VMs" in repository.run("diff", "HEAD").stdout


def test_changed_settings_are_in_every_form_of_diff(repository: Repository) -> None:
    repository.write(".virt-render.yaml", f"{HEAD}  catalog: [more]\n")
    repository.write("more/x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    found = json.loads(repository.run("diff", "HEAD", "--format", "json").stdout)
    assert found["settings"] == [
        {"key": "catalog", "before": None, "after": ["more"], "applied": True, "adopted": False}
    ]
    for form in ("text", "markdown", "html"):
        output = repository.run("diff", "HEAD", "--format", form).stdout
        assert ".virt-render.yaml changed: catalog none" in output
    put(repository.folder.parent / "same/.virt-render.yaml", f"{HEAD}  catalog: [more]\n")
    put(
        repository.folder.parent / "same/more/x.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
    )
    assert "changed" not in run("diff", "repository", "same", cwd=repository.folder.parent).stdout


HIDDEN = {
    "admission": "devices: {disks: [{name: root, disk: {bus: ide}}]}",
    "guest": "devices: {disks: [{name: init, disk: {}}]}",
}
INIT = """\
      volumes:
      - name: init
        cloudInitNoCloud: {userData: "#cloud-config\\nusers: 1"}
"""


@pytest.mark.parametrize("setting", HIDDEN)
def test_a_change_turns_off_no_check_of_itself(repository: Repository, setting: str) -> None:
    first = repository.commit("before")
    text = vm("hidden", memory="1Gi").replace("devices: {}", HIDDEN[setting])
    repository.write("vms/hidden.yaml", text + INIT * (setting == "guest"))
    repository.write(".virt-render.yaml", f"{HEAD}  {setting}: off\n")
    second = repository.commit("a VM that hides itself")
    words = ("diff", f"{first}..{second}", "--format", "json")
    told = json.loads(repository.run(*words).stdout)
    assert told["settings"] == [
        {"key": setting, "before": None, "after": False, "applied": False, "adopted": False}
    ]
    assert told["diagnostics"]["after"]
    done = repository.run("diff", f"{first}..{second}")
    assert "not for this change" in done.stdout
    assert "waived" not in done.stderr
    assert f"waived: {setting} off by " in repository.run("diff", f"{second}..{second}").stderr
    # The settings of the work tree are neither those of the one commit nor of the other.
    (repository.folder / ".virt-render.yaml").unlink()
    assert f"waived: {setting} off by " in repository.run("diff", f"{second}..{second}").stderr
    repository.write(".virt-render.yaml", f"{HEAD}  {setting}: off\n")
    assert "waived" not in repository.run("diff", f"{first}..{first}").stderr
    # Who runs the program may turn it off, and where it was off it stays so.
    told = json.loads(repository.run(*words, f"--{setting}", "off").stdout)
    assert not told["diagnostics"]["after"]
    (repository.folder / "vms/hidden.yaml").unlink()
    off = repository.commit("off")
    told = json.loads(repository.run("diff", f"{off}..{second}", "--format", "json").stdout)
    assert not told["diagnostics"]["after"]


@pytest.mark.parametrize("form", ["json", "sarif", "junit"])
def test_a_document_on_standard_error_stays_one(repository: Repository, form: str) -> None:
    repository.write(".virt-render.yaml", f"{HEAD}  admission: off\n")
    done = repository.run("build", ".", "--format", form)
    assert done.returncode == 0
    if form == "junit":
        assert "<system-out>waived: admission off by .virt-render.yaml</system-out>" in done.stderr
        ET.fromstring(done.stderr)  # noqa: S314 - written by us
    else:
        assert "admission" in json.dumps(json.loads(done.stderr))


def test_many_patterns_cost_nothing(repository: Repository) -> None:
    for count, exit_status in ((20_000, 2), (500, 0)):
        patterns = ", ".join(f"a{number}/**/b" for number in range(count))
        repository.write(".virt-render.yaml", f"{HEAD}  exclude: [{patterns}]\n")
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = repository.run("check", ".")
        assert done.returncode == exit_status, done.stdout
        assert ("patterns, and may have 500" in done.stdout) is (exit_status == 2)
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 10


CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
#: How a change takes a VM out of sight: the files that it writes in the place of ``vms/web.yaml``, and what is said.
OUT_OF_SIGHT = {
    "a hidden file": ({"vms/.web.yaml": REFUSED}, "1 hidden VM file"),
    "a hidden folder": ({".vms/web.yaml": REFUSED}, "1 hidden VM file"),
    "a hidden kustomization": (
        {".vms/web.txt": REFUSED, ".vms/kustomization.yaml": "resources: [web.txt]\n"},
        "1 hidden kustomization",
    ),
    "the name of a test": (
        {"vms/web.virt-test.yaml": REFUSED},
        "1 VM file with the name of a test",
    ),
    "a kustomization with charts": (
        {
            "vms/web.yaml": REFUSED,
            "vms/kustomization.yaml": "resources: [web.yaml]\nhelmCharts: [{name: x}]\n",
        },
        "1 helmCharts kustomization",
    ),
    "a chart that wants for values": (
        {
            "vms/Chart.yaml": CHART,
            "vms/templates/web.yaml": '{{ required "x" .Values.x }}\n' + REFUSED,
        },
        "1 Helm chart",
    ),
    "a chart that is off": (
        {
            "vms/Chart.yaml": CHART,
            "vms/templates/web.yaml": "{{ if .Values.on }}\n" + REFUSED + "{{ end }}\n",
        },
        "1 Helm chart without a VM by default",
    ),
}


@pytest.mark.parametrize(("files", "words"), OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
@pytest.mark.usefixtures("helm", "kustomize")
def test_what_is_out_of_sight_is_said_in_every_format(
    repository: Repository, files: dict[str, str], words: str
) -> None:
    repository.write("good.yaml", vm("good", memory="1Gi"))
    repository.commit("another VM")
    (repository.folder / "vms/web.yaml").unlink()
    for name, text in files.items():
        repository.write(name, text)
    for form in FORMATS:
        done = repository.run("check", ".", "--format", form)
        assert done.returncode == 0
        assert f"; not looked at: {words} (-v)\n" in done.stderr, form
        if form == "json":
            unseen = json.loads(done.stdout)["summary"]["unseen"]
            assert sorted(unseen) == [part.partition(" ")[2] for part in words.split(", ")]
        quiet = repository.run("check", "-q", ".", "--format", form)
        assert quiet.stderr == f"not looked at: {words} (-v)\n", form
    compared = repository.run("diff", "HEAD").stdout
    assert compared.startswith("2 VMs: 1 gone, 1 same\n")
    assert f"not looked at: {words}\n" in compared


def test_a_chart_in_a_folder_hides_no_vm_around_its_templates(
    repository: Repository, helm: str
) -> None:
    repository.write("vms/web.yaml", REFUSED)
    repository.write("vms/Chart.yaml", CHART)
    repository.write("vms/templates/a.yaml", "# kubevirt.io\n")
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == 1
    assert "vms/web.yaml:10:" in done.stdout
    assert "not looked at: 1 Helm chart without a VM by default (-v)" in done.stderr


def test_a_chart_hides_no_vm_beside_its_templates(repository: Repository, helm: str) -> None:
    repository.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("templates/a.yaml", "# kubevirt.io\n")
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == 0
    assert "1 VM file beside the templates of a chart (-v)" in done.stderr


@pytest.mark.parametrize(
    "version",
    [r'"kubevirt\u002eio/v1"', '"kubevirt.\\\n  io/v1"', "!!binary a3ViZXZpcnQuaW8vdjE="],
    ids=["an escape", "two lines", "base64"],
)
def test_a_vm_counts_however_its_version_is_written(repository: Repository, version: str) -> None:
    repository.write("vms/web.yaml", REFUSED.replace("kubevirt.io/v1", version, 1))
    done = repository.run("check", ".")
    assert done.returncode == 1
    assert "vms/web.yaml:" in done.stderr + done.stdout


@pytest.mark.parametrize(
    "fields", ["[apiVersion]", "\n    - apiVersion"], ids=["a flow", "a block"]
)
def test_a_vm_counts_whose_version_kustomize_puts_together(
    repository: Repository, kustomize: str, fields: str
) -> None:
    repository.write("vms/web.yaml", REFUSED.replace("kubevirt.io/v1", "widget.io/v1", 1))
    repository.write(
        "vms/kustomization.yaml",
        "resources: [web.yaml]\nreplacements:\n- sourceValue: kubevirt\n  targets:\n"
        f"  - select: {{kind: VirtualMachine}}\n    options: {{delimiter: .}}\n    fieldPaths: {fields}\n",
    )
    done = repository.run("check", ".", "--kustomize", kustomize)
    assert done.returncode == 1
    assert "domain.cpu.sockets" in done.stdout


COMPOSED = {
    "a value": ("{{ .Values.version }}", "VirtualMachine", "version: kubevirt.io/v1\n"),
    "a piece of it a value": ("{{ .Values.group }}.io/v1", "VirtualMachine", "group: kubevirt\n"),
    "pieces": ('{{ print "kube" "virt" }}.io/v1', "VirtualMachine", ""),
    "pieces of the kind too": (
        '{{ print "kube" "virt.io" }}/v1',
        '{{ print "Virtual" "Machine" }}',
        "",
    ),
    "behind text": ('kube{{ "virt" }}.io/v1', 'Virtual{{ "Machine" }}', ""),
}


@pytest.mark.parametrize(("version", "kind", "values"), COMPOSED.values(), ids=COMPOSED)
def test_a_vm_counts_whose_version_a_chart_puts_together(
    repository: Repository, helm: str, version: str, kind: str, values: str
) -> None:
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("chart/values.yaml", values)
    template = REFUSED.replace("kubevirt.io/v1", version, 1)
    template = template.replace("kind: VirtualMachine\n", f"kind: {kind}\n", 1)
    repository.write("chart/templates/web.yaml", template)
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == 1
    assert "domain.cpu.sockets" in done.stdout


def test_a_vm_counts_that_stands_in_a_packed_chart(repository: Repository, helm: str) -> None:
    """helm fills in what is in ``charts/`` as it is; what cannot be unpacked has no word of KubeVirt's."""
    chart = "apiVersion: v2\nname: NAME\nversion: 0.1.0\n"
    repository.write("chart/Chart.yaml", chart.replace("NAME", "c"))
    repository.write("chart/charts/none.tgz", "no archive")
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == 0
    (repository.folder / "chart/charts/none.tgz").unlink()
    with tarfile.open(repository.folder / "chart/charts/d.tgz", "w:gz") as archive:
        for name, text in {
            "Chart.yaml": chart.replace("NAME", "d"),
            "templates/web.yaml": REFUSED,
        }.items():
            entry = tarfile.TarInfo(f"d/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == 1
    assert "domain.cpu.sockets" in done.stdout


def test_a_vm_counts_whose_version_is_a_parameter(repository: Repository) -> None:
    repository.write(
        "template.yaml",
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\n"
        "parameters: [{name: G, value: kubevirt}]\nobjects:\n"
        + textwrap.indent(REFUSED.replace("kubevirt.io/v1", "${G}.io/v1", 1), "  ").replace(
            "  ", "- ", 1
        ),
    )
    done = repository.run("check", ".")
    assert done.returncode == 1
    assert "domain.cpu.sockets" in done.stdout


@pytest.mark.parametrize("words", [("check", "."), ("build", "--set", "B=x", ".")])
def test_parameters_of_a_template_become_no_gigabytes(
    repository: Repository, words: tuple[str, ...]
) -> None:
    """133 KB were ten gigabytes."""
    uses = "${A}" * 500
    machine = (
        f'- {{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {{name: "{uses}"}}}}\n'
    )
    repository.write(
        "template.yaml",
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\n"
        f"parameters: [{{name: A, value: {'x' * 100_000}}}, {{name: B}}]\nobjects:\n{machine * 20}",
    )
    done = repository.run(*words)
    assert done.returncode == 3
    printed = done.stdout + done.stderr
    assert "VR111" in printed
    assert "Template t has parameters so often that what it makes is too large" in printed
