"""What a line holds beside what a finding is about, and what a page holds that ends up in a log."""

import re
from pathlib import Path

import pytest

from render.diagnostics import secrets
from tests.support.manifests import put, vm
from tests.support.process import run, run_inside

CANARY = "hunter2canary"
OBJECTS = {
    "a command": (
        "readinessProbe:\n        exec: {command: [curl, -u, 'admin:SECRET', 5]}",
        "VR106",
    ),
    "headers": (
        "livenessProbe:\n        httpGet: {port: 80, httpHeaders: [{name: A, value: SECRET, oops: 1}]}",
        "VR105",
    ),
    "user data out of place": (
        "volumes:\n      - {name: a, cloudInitNoCloud: '#cloud-config SECRET'}",
        "VR106",
    ),
}
VOLUME = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: dv}
spec:
  source: {http: {url: "http://x/y", extraHeaders: ["Authorization: Basic SECRET"], oops: 2}}
  storage: {resources: {requests: {storage: 1Gi}}}
"""
TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
parameters:
  - {name: DB_PASSWORD, value: SECRET}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: web}
  spec:
    runStrategy: Always
    template: {spec: {domain: {devices: {}, memory: {guest: "${DB_PASSWORD}"}}, oops: "${DB_PASSWORD}"}}
"""


def texts() -> dict[str, tuple[str, str]]:
    """Manifests with a secret, and the code that is found in the line that has it."""
    plain = vm("web", memory="1Gi")
    found = {name: (f"{plain}      {more}\n", code) for name, (more, code) in OBJECTS.items()}
    return {**found, "headers of CDI": (VOLUME, "VR460"), "a parameter": (TEMPLATE, "VR105")}


@pytest.mark.parametrize("name", texts())
def test_no_secret_stands_in_a_line_quoted_for_another_finding(tmp_path: Path, name: str) -> None:
    text, code = texts()[name]
    put(tmp_path / "a.yaml", text.replace("SECRET", CANARY))
    for words in (("check", "."), ("check", ".", "--format", "json"), ("report", "-o", "-", ".")):
        done = run_inside(*words, cwd=tmp_path)
        assert code in done.stdout
        assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize("value", [CANARY, f"'{CANARY}'", f"[{CANARY}]", f"[{{a: b}}, [{CANARY}]]"])
@pytest.mark.parametrize("above", ["", "cloudInitNoCloud:\n            "])
def test_no_value_stands_where_a_merge_takes_a_mapping(
    tmp_path: Path, value: str, above: str
) -> None:
    volumes = f"      volumes:\n        - name: a\n          {above}<<: {value}\n"
    put(tmp_path / "a.yaml", vm("web", memory="1Gi") + volumes)
    for words in ("check .", "check . --format json", "explain web", "diff . . --format json"):
        done = run_inside(*words.split(), cwd=tmp_path)
        assert "VR101" in done.stdout + done.stderr, words
        assert CANARY not in done.stdout + done.stderr, words


@pytest.mark.parametrize("key", ["userDta", "userDataBse64", "secretRf"])
@pytest.mark.parametrize("holder", ["cloudInitNoCloud", "sysprep", "cloudInitNoClod"])
def test_no_secret_stands_below_a_misspelt_field(tmp_path: Path, holder: str, key: str) -> None:
    volumes = (
        f"      volumes:\n        - name: a\n          {holder}:\n            {key}: {CANARY}\n"
    )
    put(tmp_path / "a.yaml", vm("web", memory="1Gi") + volumes)
    for words in (
        "check .", "check . --format json", "check . --format junit", "check . --format github",
        "check . --format sarif",
        "check --fix --unsafe-fixes --diff .", "build .", "report -o - .", "explain web",
    ):  # fmt: skip
        done = run_inside(*words.split(), cwd=tmp_path)
        assert done.stdout + done.stderr, words
        assert CANARY not in done.stdout + done.stderr, words


@pytest.mark.parametrize("data", ["data:", '"data" :', "binaryData:", "x: &data\ndata:"])
@pytest.mark.parametrize("head", ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", ""])
def test_no_line_of_a_broken_object_shows_its_contents(
    tmp_path: Path, head: str, data: str
) -> None:
    put(tmp_path / "vm.yaml", vm("web", memory="1Gi"))
    put(tmp_path / "a.yaml", f"{head}{data}\n  a: |\n   x\n  y\n  b: '{CANARY}\n")
    for words in ("build .", "check . -v", "argocd generate", "argocd inputs"):
        done = run_inside(*words.split(), cwd=tmp_path)
        assert CANARY not in done.stdout + done.stderr, words
    assert "a.yaml:" in run_inside("build", ".", cwd=tmp_path).stderr


def test_no_page_drives_a_runner(tmp_path: Path) -> None:
    text = vm("web", memory="1Gi").replace(
        "spec:", "  labels: {a: '##[error]##vso[a]##teamcity[b]x'}\nspec:", 1
    )
    put(tmp_path / "a.yaml", text.replace("domain:", "'##[warning]y': 1\n      domain:", 1))
    page = run_inside("report", "-o", "-", ".", cwd=tmp_path).stdout
    assert "[warning]y" in page
    assert not re.search(r"##(vso|teamcity)?\[", page)


def test_no_review_shows_the_words_of_a_command(tmp_path: Path) -> None:
    plain = vm("web", memory="1Gi")
    probe = "      readinessProbe:\n        exec: {command: [curl, -u, 'admin:SECRET']}\n"
    changed = plain + probe.replace("SECRET", CANARY)
    states = {"a": plain, "b": changed, "c": changed.replace(CANARY, f"{CANARY}2")}
    for name, text in states.items():
        put(tmp_path / name / "vm.yaml", text)
    for words in (("a", "b"), ("b", "c"), ("c", "a")):
        for form in ("text", "json", "markdown", "html"):
            done = run_inside("diff", *words, "--format", form, cwd=tmp_path)
            assert "readinessProbe" in done.stdout
            assert CANARY not in done.stdout + done.stderr
    done = run_inside("explain", "web", "readinessProbe", "b", cwd=tmp_path)
    assert "readinessProbe" in done.stdout
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "patch",
    [
        "kind: Secret\\nstringData:\\n  a: SECRET\\n [",
        "- {op: add, path: /spec/x, value: SECRET}",
        "SECRET: [" + "\\nabc: 'SECRET'" * 400,
    ],
    ids=["broken", "operations-without-a-target", "long"],
)
def test_a_patch_that_kustomize_quotes(tmp_path: Path, kustomize: str, patch: str) -> None:
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    text = patch.replace("SECRET", CANARY)
    put(tmp_path / "kustomization.yaml", f'resources: [vm.yaml]\npatches: [{{patch: "{text}"}}]\n')
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR116" in done.stdout
    assert CANARY not in done.stdout + done.stderr


MANIFEST_OF_VALUE = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: VALUE\n"
)


@pytest.mark.parametrize("value", [f"*{CANARY}", f"!!int {CANARY}", f"!!bool {CANARY}"])
@pytest.mark.parametrize("place", ["loose", "kustomize", "values", "template"])
@pytest.mark.usefixtures("helm", "kustomize")
def test_no_value_stands_in_what_yaml_says_of_it(value: str, place: str, tmp_path: Path) -> None:
    """A password that begins with a star is an alias without an anchor."""
    secret = MANIFEST_OF_VALUE.replace("VALUE", value)
    put(tmp_path / "top/vm.yaml", vm(memory="1Gi"))
    if place in {"loose", "kustomize"}:
        put(tmp_path / "top/secret.yaml", f"{secret}# kubevirt.io\n")
    if place == "kustomize":
        put(tmp_path / "top/kustomization.yaml", "resources: [vm.yaml, secret.yaml]\n")
    if place in {"values", "template"}:
        put(tmp_path / "top/Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n")
        put(tmp_path / "top/templates/vm.yaml", vm(memory="1Gi"))
        put(tmp_path / "top/values.yaml", f"password: {value}\n" if place == "values" else "{}\n")
    if place == "template":
        put(tmp_path / "top/templates/secret.yaml", secret)
    for words in (
        ("check", "top"),
        ("build", "top"),
        ("report", "top"),
        ("check", "--format", "sarif", "top"),
    ):
        done = run_inside(*words, cwd=tmp_path)
        assert CANARY not in done.stdout + done.stderr, words


SIDECARS = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  template:
    metadata:
      annotations:
        hooks.kubevirt.io/hookSidecars: 'WORDS' x
    spec: {domain: {devices: {}}}
"""


@pytest.mark.parametrize(
    "words",
    [
        f'[{{"image": "x", "args": ["--pw={CANARY}"]}}]',
        f'[{{"image": "x", "command" : ["{CANARY}"]}}]',
        f"[{{args: [--pw={CANARY}]}}]",
        f"cloudInitNoCloud: {{any: {CANARY}}}",
    ],
)
def test_no_line_of_a_broken_object_shows_the_words_of_a_command(
    tmp_path: Path, words: str
) -> None:
    put(tmp_path / "a.yaml", SIDECARS.replace("WORDS", words))
    for command in ("build .", "check . -v", "check . --format json", "report -o - ."):
        done = run_inside(*command.split(), cwd=tmp_path)
        assert "a.yaml" in done.stdout + done.stderr, command
        assert CANARY not in done.stdout + done.stderr, command


def test_a_line_of_a_broken_object_that_speaks_of_no_secret_is_shown(tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", SIDECARS.replace("WORDS", '[{"image": "argset"}]'))
    assert "argset" in run_inside("check", ".", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "value",
    [
        f"{{spec: {{any: {CANARY}}}}}",
        f"[{CANARY}, [{CANARY}]]",
        f"\n      spec:\n        any: {CANARY}",
    ],
)
def test_no_document_stands_in_the_place_of_an_annotation(tmp_path: Path, value: str) -> None:
    head, _, rest = vm("web", memory="1Gi").partition("spec:")
    key = "kubectl.kubernetes.io/last-applied-configuration"
    text = f"  annotations:\n    {key}: {value}\n"
    put(tmp_path / "a.yaml", f"{head}{text}spec:{rest}")
    for words in ("check .", "check . --format json", "report -o - ."):
        done = run_inside(*words.split(), cwd=tmp_path)
        assert "VR106" in done.stdout, words
        assert CANARY not in done.stdout + done.stderr, words


CREDENTIALS = (
    f"u:{CANARY}@reg/x",
    f"robot$x:{CANARY}@reg.example.com:5000/x/y:1",
    f"u:a@{CANARY}@reg/x",
    f"https://u:a@{CANARY}@reg/x",
    f"https://u:{CANARY * 20}@reg/x",
    f"https://{'u' * 200}:{CANARY}@reg/x",
    f"https://u:a/{CANARY}/b@reg/x",
    f"https://u:a {CANARY} b@reg/x",
)


@pytest.mark.parametrize("value", CREDENTIALS)
@pytest.mark.parametrize("entry", ["image: 'VALUE', oops: 1", "oops: 1, image: VALUE"])
def test_no_password_stands_before_a_host(tmp_path: Path, value: str, entry: str) -> None:
    volume = f"{{name: a, containerDisk: {{{entry.replace('VALUE', value)}}}}}"
    put(tmp_path / "a.yaml", f"{vm('web', memory='1Gi')}      volumes: [{volume}]\n")
    for words in (
        "check .", "check . --format json", "report -o - .", "check --unsafe-fixes --diff .",
    ):  # fmt: skip
        done = run_inside(*words.split(), cwd=tmp_path)
        assert "oops" in done.stdout + done.stderr or "[redacted]" in done.stdout, words
        assert CANARY not in done.stdout + done.stderr, words


@pytest.mark.parametrize("source", ["gcs", "s3", "registry", "imageio", "vddk", "http"])
@pytest.mark.parametrize("value", CREDENTIALS)
def test_no_password_of_a_source_stands_in_what_cdi_says(
    tmp_path: Path, source: str, value: str
) -> None:
    entry = f"source: {{{source}: {{url: '{value}', oops: 2}}}}"
    put(tmp_path / "a.yaml", re.sub("source: .*", lambda _: entry, VOLUME))
    for words in ("check .", "check . --format json", "check . --format sarif", "report -o - ."):
        done = run_inside(*words.split(), cwd=tmp_path)
        assert "oops" in done.stdout, words
        assert CANARY not in done.stdout + done.stderr, words


def test_no_password_stands_in_the_lines_around_a_fix(tmp_path: Path) -> None:
    text = vm("web", memory="1Gi").replace("runStrategy: Always", "running: true")
    around = text.replace(
        "  running", f"  dataVolumeTemplates: []\n  # https://u:{CANARY}@h/x\n  running"
    )
    put(tmp_path / "a.yaml", around)
    for words in ("migrate --diff", "check --fix --unsafe-fixes --diff .", "check . --format json"):
        done = run_inside(*words.split(), cwd=tmp_path)
        assert CANARY not in done.stdout + done.stderr, words
    assert "-  running" in run_inside("migrate", "--diff", cwd=tmp_path).stdout


def test_digests_are_no_passwords() -> None:
    for text in (
        "image: fedora:40@sha256:abc",
        "docker://reg.io@sha256:abc",
        "p0@sha256:abc,p1@sha256:def",
        "a: b@c",
    ):
        assert secrets.without_credentials(text) == text
