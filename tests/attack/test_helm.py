"""What a chart has helm load by its schema of values: an address, or a file from anywhere."""

import gzip
import json
import re
import resource
import subprocess
import tarfile
from pathlib import Path

import pytest

from render.manifests.discover import HelmRelease
from render.manifests.sources.loading import load
from render.manifests.sources.reading import Reading
from render.manifests.sources.texts import Texts
from render.yaml.budget import Limits
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm
from tests.support.process import run

CONFIG = {"apiVersion": "virt-render.dev/v1alpha1", "kind": "RenderConfig"}
PRINTED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: all}
data: {all: {{ toJson .Values | quote }}}
"""
DRAFT = '"$schema": "http://json-schema.org/draft-07/schema#"'
#: Each is the whole schema, or stands deeper in one.
REFERENCES = (
    '{"$ref": "URL/a"}',
    '{"$ref": "file://FOLDER/outside.json"}',
    '{"$schema": "URL/a"}',
    '{"$schema": "http://json-schema.org@127.0.0.1/draft-07/schema"}',
    '{"$id": "URL/a", "$ref": "other.json"}',
    '{"\\u0024ref": "URL/a"}',
    '{"$dynamicRef": "URL/a#b"}',
    '{DRAFT, "properties": {"a": {"allOf": [{"$ref": "file://FOLDER/outside.json#/properties/a"}]}}}',
)


def chart(folder: Path, schema: str) -> None:
    put(folder / "Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    put(folder / "templates/vm.yaml", vm(memory="1Gi"))
    put(folder / "values.yaml", "a: 5\n")
    put(folder / "values.schema.json", schema)


@pytest.fixture(autouse=True)
def _no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the kernel forbids them."""
    monkeypatch.setattr("render.system.programs.box._confining", lambda *_: None)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_schema_loads_nothing(
    tmp_path: Path, helm: str, loopback: Loopback, reference: str
) -> None:
    put(tmp_path / "outside.json", json.dumps({"properties": {"a": {"const": "outside-canary"}}}))
    text = reference.replace("URL", loopback.url).replace("FOLDER", str(tmp_path))
    for number, place in enumerate(("chart", "chart/charts/sub")):
        repository = tmp_path / f"repository-{number}"
        (repository / ".git").mkdir(parents=True)
        chart(repository / "chart", "{}")
        chart(repository / place, text.replace("DRAFT", DRAFT))
        found = load([str(repository / "chart")], Reading(Limits(), helm=helm, chart=HelmRelease()))
        assert found.diagnostics == []
        assert found.documents


def test_a_schema_of_its_own_is_asked(tmp_path: Path, helm: str) -> None:
    (tmp_path / ".git").mkdir()
    own = {"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {"const": 4}}}
    chart(tmp_path, json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **own}))
    (found,) = load([str(tmp_path)], Reading(Limits(), helm=helm, chart=HelmRelease())).diagnostics
    assert found.code == "VR127"
    assert "value must be 4" in found.message


def test_a_template_says_of_no_file_elsewhere_that_it_came_from_there(
    tmp_path: Path, helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "chart/.git/HEAD", "")
    chart(tmp_path / "chart", "{}")
    put(
        tmp_path / "chart/templates/vm.yaml",
        f"# Source: c/../../elsewhere.yaml\n{vm(memory='1Gi')}",
    )
    found = load(["chart"], Reading(Limits(), helm=helm, chart=HelmRelease()))
    assert [document.origin.file for document in found.documents] == ["chart/templates/vm.yaml"]


SPELLINGS = (
    r"a\=d=OUTSIDE",
    r"a\=d=chart/decoy,b=OUTSIDE",
    "a,b=OUTSIDE",
    "a={OUTSIDE}",
    "a[0]=d=OUTSIDE",
    "a=../link",
    "a=d/../../../outside",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_file_parameter_reads_nothing_but_the_repository(
    tmp_path: Path, helm: str, spelling: str
) -> None:
    r"""Helm parses ``NAME=FILE`` by itself: it sees another file than we do where a name holds ``\=``."""
    outside = tmp_path / "outside"
    put(outside, "outside-canary")
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    folder = repository / "chart"
    chart(folder, "{}")
    put(folder / "templates/all.yaml", PRINTED)
    spec = {"fileParameters": [spelling.replace("OUTSIDE", str(outside))]}
    (repository / "link").symlink_to(outside)
    for decoy in (f"d={outside}", f"d,b={outside}"):  # what we take to be the file
        put(folder / decoy, "decoy")
    put(folder / ".virt-render.yaml", json.dumps({**CONFIG, "spec": spec}))
    parameters = [{"name": "file-parameters", "array": spec["fileParameters"]}]
    for command, words in (
        ("build", ""),
        ("check", ""),
        ("argocd generate", json.dumps(parameters)),
    ):
        if words:
            (folder / ".virt-render.yaml").unlink()
        done = run(
            *command.split(),
            cwd=folder,
            VIRT_RENDER_HELM=helm,
            ARGOCD_APP_PARAMETERS=words or "[]",
        )
        assert "outside-canary" not in done.stdout + done.stderr
        assert (done.returncode, done.stdout) == (3, "") or command == "check", done.stderr
        assert "VR127" in done.stdout + done.stderr


def test_what_is_out_of_the_repository_is_told_alike_whether_it_is_there_or_not(
    tmp_path: Path, helm: str
) -> None:
    put(tmp_path / "there", "x")
    (tmp_path / "repository/.git").mkdir(parents=True)
    folder = tmp_path / "repository/chart"
    chart(folder, "{}")
    told = set()
    for name in ("there", "gone"):
        release = HelmRelease(file_parameters=(f"x={tmp_path / name}",))
        (found,) = load([str(folder)], Reading(Limits(), helm=helm, chart=release)).diagnostics
        told.add(found.message.replace(name, "NAME"))
    assert len(told) == 1, told


def test_texts_and_values_reach_helm_as_copies(tmp_path: Path, helm: str) -> None:
    (tmp_path / ".git").mkdir()
    chart(tmp_path, "{}")
    put(tmp_path / "templates/all.yaml", PRINTED)
    put(tmp_path / 'te"x,t\\=.txt', "text")
    put(tmp_path / 'va"l,ues', "b: [")
    release = HelmRelease(file_parameters=('deep.key_1-x=te"x,t\\=.txt',))
    documents = load([str(tmp_path)], Reading(Limits(), helm=helm, chart=release)).documents
    printed = {document.body["metadata"]["name"]: document.body for document in documents}["all"]
    assert json.loads(printed["data"]["all"])["deep"] == {"key_1-x": "text"}
    broken = HelmRelease(values=(f'{tmp_path}/va"l,ues',))
    (fault,) = load([str(tmp_path)], Reading(Limits(), helm=helm, chart=broken)).diagnostics
    assert 'va"l,ues: error converting YAML' in fault.message


HOSTILE = {
    "a long list": "{{ range until 100000000 }}{{ end }}",
    "a long text": '{{ $a := repeat 10000000 "xxxxxxxxxx" }}{{ repeat 100 $a | sha256sum }}',
    "many keys": '{{ range until 10000 }}# {{ genPrivateKey "rsa" | sha256sum }}\n{{ end }}',
    "a template that calls itself": '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}',
    "much output": '{{ range until 10000000 }}# {{ repeat 100 "x" }}\n{{ end }}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_chart_takes_no_more_than_it_is_given(tmp_path: Path, helm: str, name: str) -> None:
    """It takes itself away, and the VM beside it is looked at."""
    put(tmp_path / "chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    put(tmp_path / "chart/templates/vm.yaml", f"# kubevirt.io\n{HOSTILE[name]}\n")
    put(tmp_path / "vms/vm.yaml", vm(memory="1Gi"))
    words = ("--max-chart-seconds", "2", "--max-total-bytes", "50000000")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("check", ".", *words, "-v", cwd=tmp_path, VIRT_RENDER_HELM=helm, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # helm ends the fourth itself, or is short of memory first; of the last what is printed may be too much.
    assert done.returncode == 3 or name in [*HOSTILE][3:], done.stdout
    assert "VR901" not in done.stdout + done.stderr
    assert "1 VM" in done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 12
    output = re.search("VR127 helm-failed: helm template chart: stopped|VR111", done.stdout)
    assert bool(output) is (done.returncode == 3), done.stdout


@pytest.mark.parametrize(
    "name", ["a\\0b", "a\\nb", "../../x", "..", "-x", "templates", "x" * 300, "{{ .Values }}"]
)
def test_a_dependency_has_the_name_of_a_file_or_none(tmp_path: Path, helm: str, name: str) -> None:
    """A chart that stands in for one that is not there is laid out by its name."""
    put(
        tmp_path / "chart/Chart.yaml",
        "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies:\n"
        f'- {{name: "{name}", version: "1", repository: "https://example.invalid", condition: x.on}}\n',
    )
    put(tmp_path / "chart/values.yaml", "x: {on: false}\n")
    put(tmp_path / "chart/templates/vm.yaml", vm("web", memory="1Gi"))
    done = run("check", "--helm", helm, ".", cwd=tmp_path)
    assert done.returncode in {0, 1, 3}
    assert "VR901" not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chart"]


def test_a_link_out_of_the_repository_is_told_and_not_followed(tmp_path: Path, helm: str) -> None:
    """helm would take all files below it for the chart's."""
    repository = tmp_path / "repository"
    put(repository / ".git/HEAD", "ref: refs/heads/main\n")
    chart(repository / "c", "{}")
    put(tmp_path / "outside/secret-name.yaml", "a: 5\n")
    (repository / "c/link").symlink_to(tmp_path / "outside")
    done = run("check", ".", cwd=repository, VIRT_RENDER_HELM=helm)
    assert "c/link: error VR127 helm-failed: c/link is not in the repository" in done.stdout
    assert "secret-name" not in done.stdout + done.stderr


def pack(folder: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(to, "w:gz") as packed:
        packed.add(folder, folder.name)


def test_a_chart_packed_in_a_packed_one_is_looked_into(tmp_path: Path, helm: str) -> None:
    about = "apiVersion: v2\nname: {0}\nversion: 0.1.0\n"
    bad = vm(memory="1Gi").replace("devices: {}", "devices: {disks: [{name: a, disk: {bus: ide}}]}")
    put(tmp_path / "out/inner/Chart.yaml", about.format("inner"))
    put(tmp_path / "out/inner/templates/vm.yaml", bad)
    put(tmp_path / "out/outer/Chart.yaml", about.format("outer"))
    pack(tmp_path / "out/inner", tmp_path / "out/outer/charts/inner-0.1.0.tgz")
    put(tmp_path / "r/c/Chart.yaml", about.format("c"))
    pack(tmp_path / "out/outer", tmp_path / "r/c/charts/outer-0.1.0.tgz")
    done = run("check", ".", cwd=tmp_path / "r", VIRT_RENDER_HELM=helm)
    assert "VR420" in done.stdout


def test_packed_charts_unfold_to_no_more_than_may_be_read_together(tmp_path: Path) -> None:
    """Of thirty, 3 MB in all, 2 GB were held at once, each less than a file may have; helm may see what is in them."""
    for number in range(3):
        put(tmp_path / f"charts/{number}.tgz", "")
        (tmp_path / f"charts/{number}.tgz").write_bytes(gzip.compress(b"a: b\n" * 200))
    assert not Texts(Limits(total_bytes=3_100)).in_chart(str(tmp_path))
    assert Texts(Limits(total_bytes=2_900)).in_chart(str(tmp_path))
    assert Texts(Limits(total_bytes=2_000)).in_chart(str(tmp_path))


def test_a_chart_that_is_too_deep_is_that_and_no_more(tmp_path: Path, helm: str) -> None:
    chart(tmp_path / "c", "{}")
    put(tmp_path / "bad.yaml", vm("bad", memory="1Gi").replace("devices: {}", "devises: {}"))
    deep = tmp_path / "c"
    try:
        for _ in range(1_100):  # more than Python has calls for
            deep /= "d"
            deep.mkdir()
        (deep / "file").write_text("")
        done = run("check", ".", cwd=tmp_path, VIRT_RENDER_HELM=helm)
    finally:  # pytest calls itself for each folder that it removes
        subprocess.run(["rm", "-r", str(tmp_path / "c")], check=True)
    assert "VR901" not in done.stdout + done.stderr
    assert "VR105" in done.stdout
    assert (
        "c: error VR111 limit-exceeded: a file of the chart c is below more than 200 folders"
        in done.stdout
    )
