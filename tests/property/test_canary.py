"""A secret, wherever it stands and however it is written, is never printed by any command in any format.

Each repository has a mistake, so that there is something to say and no manifest to print.
"""

import base64
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from render import Settings, compare
from render.report.formats import FORMATS, IMPACT_FORMATS
from render.yaml.reader import read
from tests.support.manifests import put
from tests.support.process import run, run_inside

CANARY = "hunter2canary"
ENCODED = base64.b64encode(CANARY.encode()).decode()

#: Documents; KEY and VALUE stand at the place of the secret, MORE where a mistake may be.
HOLDERS = {
    "cloud-init": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        devices: {}
      volumes:
      - name: init
        cloudInitNoCloud:
          KEY: VALUE
          MORE: 1
""",
    "ignition": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  annotations:
    kubevirt.io/ignitiondata: VALUE
    MORE: 1
spec:
  template:
    spec:
      domain: {devices: {}}
""",
    "secret": """\
apiVersion: v1
kind: Secret
metadata:
  name: s
stringData:
  any: VALUE
  MORE: 1
""",
    "secret-first": """\
stringData:
  any: VALUE
  MORE: 1
kind: Secret
metadata: {name: s}
apiVersion: v1
""",
    "secret-of-a-list": """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: "Secret"
  metadata:
    name: s
  data:
    any: VALUE
    MORE: 1
""",
    "secret-list": """\
apiVersion: v1
kind: SecretList
items:
- metadata:
    name: s
  data:
    any: VALUE
    MORE: 1
""",
    "tagged-kind": """\
apiVersion: v1
kind: !!str Secret
metadata: {name: s}
data:
  any: VALUE
  MORE: 1
""",
    "escaped-kind": """\
apiVersion: v1
"k\\x69nd": "Sec\\x72et"
metadata: {name: s}
data:
  any: VALUE
  MORE: 1
""",
    "merged-kind": """\
x: &x {kind: Secret, apiVersion: v1}
<<: *x
metadata: {name: s}
data:
  any: VALUE
  MORE: 1
""",
    "sysprep": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: sysprep
data:
  autounattend.xml: VALUE
  MORE: 1
""",
    "environment": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
spec:
  template:
    spec:
      containers:
      - name: c
        env:
        - name: ANY
          value: VALUE
          MORE: 1
""",
    "access-credentials": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  template:
    spec:
      domain: {devices: {}}
      accessCredentials:
      - userPassword:
          password: VALUE
          MORE: 1
""",
}
VALUES = {
    "plain": CANARY,
    "single": f"'{CANARY}'",
    "double": f'"{CANARY}"',
    "escaped": '"' + "".join(f"\\x{ord(c):02x}" for c in CANARY) + f'{CANARY}"',
    "literal": f"|\n              a\n\n              {CANARY}",
    "folded": f">-\n              a\n              {CANARY}",
    "several-lines": f'"a\n\n              {CANARY}"',
    "plain-lines": f"a\n              {CANARY}",
    "anchored": f"&a {CANARY}",
    "tagged": f"!!str {CANARY}",
    "list": f"[a, {CANARY}]",
    "mapping": f"{{a: b, c: {CANARY}}}",
    "base64": ENCODED,
    "binary": f"!!binary {ENCODED}",
    "commented": f"{CANARY} # {CANARY}",
}
KEYS = (
    "userData",
    '"userData"',
    '"user\\x44ata"',
    "? userData\n          ",
    "networkDataBase64",
    "password",
)
#: What stands where MORE does, or is added in the end.
MISTAKES = {
    "twice": "MORE: 1\n{indent}MORE",
    "in-one-line": "MORE: {{x: 1, x: 2}}\n{indent}y",
    "unknown": "fieldd",
    "unclosed": 'x: "\n{indent}y',
    "tab": "x: 1\n\t y",
    "alias": "x: *nobody\n{indent}y",
    "bracket": "x: ]\n{indent}y",
}
COMMANDS = [
    *(f"check --format {name}" for name in FORMATS),
    "check -v", "build", "argocd generate", "pin", "verify", "migrate --diff", "build --emit vmi --explain",
    *(f"explain web --format {name}" for name in ("text", "json")), "report",
    *(f"diff . . --format {name}" for name in IMPACT_FORMATS),
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> str:
    holder = HOLDERS[draw(st.sampled_from(sorted(HOLDERS)))]
    key = draw(st.sampled_from(KEYS))
    value = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    mistake = MISTAKES[draw(st.sampled_from(sorted(MISTAKES)))]
    line = next(line for line in holder.split("\n") if "MORE" in line)
    indent = line[: len(line) - len(line.lstrip())]
    text = holder.replace("MORE", mistake.format(indent=indent))
    text = text.replace("KEY: VALUE", f"{key}: {value}").replace("VALUE", value)
    if draw(st.booleans()):
        text = "".join(f"  {line}\n" for line in text.splitlines())
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text


@st.composite
def json_documents(draw: st.DrawFn) -> str:
    """JSON has fewer notations: in one line or many, with escapes in keys and values."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"a": CANARY},
    }
    volume = {"name": "i", "cloudInitNoCloud": {"userData": CANARY, "x": 1}}
    machine = {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "v"},
        "spec": {"template": {"spec": {"domain": {"devices": {}}, "volumes": [volume]}}},
    }  # fmt: skip
    patch = [{"op": "add", "path": "/spec/x", "value": CANARY}]
    body = draw(
        st.sampled_from([secret, machine, {"kind": "List", "items": [secret, machine]}, patch])
    )
    text = json.dumps(body, indent=draw(st.sampled_from([None, 1])))
    if draw(st.booleans()):
        text = text.replace("userData", "user\\u0044ata").replace("Secret", "Se\\u0063ret")
    broken = draw(st.sampled_from(["", ",", "}", "{}", '{"kind": 1, "kind": 2}', "\n---\n{"]))
    return draw(st.sampled_from([text + broken, text[: len(text) - 1] + broken, text[:-2] + " }"]))


def told(folder: str, command: str) -> str:
    """What *command* says; manifests that are right are printed as they are, and do not count."""
    done = run_inside(*command.split(), cwd=Path(folder))
    is_rendered = done.returncode == 0 and command.startswith(("build", "argocd generate"))
    return done.stderr if is_rendered else done.stderr + done.stdout


@given(st.one_of(documents(), json_documents()), st.sampled_from(COMMANDS))
@example(
    HOLDERS["secret"].replace("VALUE", "|\n    a\n").replace("MORE", f"---\n{CANARY}"), "check"
)
def test_nothing_is_printed(text: str, command: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/.git")
        put(f"{folder}/a.yaml", text)
        content = told(folder, command)
        assert CANARY not in content, content
        assert ENCODED not in content, content


PATCH = f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web}}
spec: {{template: {{spec: {{volumes: [{{name: init, cloudInitNoCloud: {{userData: "{CANARY}"}}}}]}}}}}}
"""
BUILTIN = "apiVersion: builtin\nkind: {}\nmetadata: {{name: p}}\n"
#: What is added to `resources: [vm.yaml]`, with a mistake of which kustomize tells, and the files beside it.
KUSTOMIZATIONS: dict[str, tuple[str, dict[str, str]]] = {
    "literal": (f"secretGenerator: [{{name: s, literals: ['{CANARY}']}}]", {}),
    "literals": (f"secretGenerator: [{{name: s, literals: [a=b, '{CANARY}=', '={CANARY}']}}]", {}),
    "inline-patch": (f"patches: [{{patch: {json.dumps(PATCH + '  x')}}}]", {}),
    "inline-block": ("patches:\n- patch: |-\n" + "".join(f"    {line}\n" for line in (PATCH + " x").splitlines()), {}),
    "no-target": (f"patches: [{{patch: {json.dumps(PATCH.replace('web', 'nobody'))}}}]", {}),
    "strategic": (f"patchesStrategicMerge: [{json.dumps(PATCH + '  x')}]", {}),
    "operations": (
        "patches: [{target: {kind: VirtualMachine}, patch: '"
        + json.dumps([{"op": "replace", "path": "/no/userData", "value": CANARY}])
        + "'}]", {},
    ),
    "operations-broken": (
        f"patches: [{{target: {{kind: VirtualMachine}}, patch: '[{{\"op\": \"add\", \"value\": \"{CANARY}\"'}}]", {},
    ),
    "patch-file": ("patches: [{path: p.yaml}]", {"p.yaml": PATCH + "  x"}),
    "env-file": ("secretGenerator: [{name: s, envs: [e.env]}]", {"e.env": f"a=b\n{CANARY} x=1\n"}),
    "env-file-bytes": ("secretGenerator: [{name: s, envs: [e.env]}]", {"e.env": f"{CANARY}\udcff=1\n"}),
    "plugin": (
        "transformers: [t.yaml]",
        {"t.yaml": BUILTIN.format("PatchTransformer") + f"patch: |\n  password: {CANARY}\n"},
    ),
    "plugin-nothing": (
        "transformers: [t.yaml]",
        {"t.yaml": f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: p}}\npassword: {CANARY}\n"},
    ),
    "plugin-type": (
        "generators: [t.yaml]",
        {"t.yaml": BUILTIN.format("SecretGenerator") + f"literals: password={CANARY}\n"},
    ),
    "secret-broken": ("", {"vm.yaml": f"kind: Secret\nstringData:\n  a: {CANARY}\n b: c\n"}),
    "secret-type": ("", {"vm.yaml": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {{a: {CANARY}}}}}\n"}),
    "url": ("components: ['https://user:" + CANARY + "@example.com/a/b']", {}),
    "url-slash": ("components: ['https://user:a/" + CANARY + "@example.com/a/b']", {}),
    "url-blank": ("bases: ['https://user:a " + CANARY + "@example.com/a/b']", {}),
    "url-lines": ('components: ["https://user:a\\n' + CANARY + '@example.com/a/b"]', {}),
    "chart-url": ("helmCharts: [{name: x, repo: 'https://user:a/" + CANARY + "@example.com/a'}]", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", KUSTOMIZATIONS)
@pytest.mark.parametrize("command", ["build", "check --format json", "argocd generate", "pin"])
def test_nor_by_kustomize(tmp_path: Path, kustomize: str, name: str, command: str) -> None:
    text, files = KUSTOMIZATIONS[name]
    files = {
        "vm.yaml": HOLDERS["cloud-init"].replace("KEY: VALUE\n          MORE: 1", "userData: x"),
        **files,
    }
    for file, content in {"kustomization.yaml": f"resources: [vm.yaml]\n{text}\n", **files}.items():
        (tmp_path / file).write_bytes(content.encode("utf-8", "surrogateescape"))
    done = run(*command.split(), cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    output = done.stderr if done.returncode == 0 else done.stdout + done.stderr
    assert CANARY not in output, output


#: A VM with a secret in each place that has one, and a password in a text of its own.
SECRETIVE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  template:
    metadata:
      annotations: {kubevirt.io/ignitiondata: CANARY, example.com/notes: "password: CANARY"}
    spec:
      domain: {devices: {}}
      volumes:
      - {name: a, cloudInitNoCloud: {userData: "CANARY", networkData: "CANARY"}}
      - {name: b, cloudInitConfigDrive: {userDataBase64: ENCODED, networkDataBase64: ENCODED}}
"""
WITH_BEFORE = (
    "resources: [vm.yaml]\npatches:\n- target: {kind: VirtualMachine}\n  patch: '[{"
    '"op": "replace", "path": "/spec/template/spec/volumes/0/cloudInitNoCloud/userData", "value": '
    f'"{CANARY}-patched"}}]\'\n'
)


def secretive(number: int) -> str:
    word = f"{CANARY}{number}"
    encoded = base64.b64encode(word.encode()).decode()
    return SECRETIVE.replace("CANARY", word).replace("ENCODED", encoded)


@pytest.mark.parametrize("kustomized", [False, True])
@pytest.mark.parametrize("command", ["explain web", "explain web --format json", "report"])
def test_nor_by_who_decides(
    tmp_path: Path, kustomize: str, command: str, *, kustomized: bool
) -> None:
    put(tmp_path / "vm.yaml", secretive(1))
    if kustomized:
        put(tmp_path / "kustomization.yaml", WITH_BEFORE)
    done = run(
        *command.split(), "--admission", "off", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize
    )
    assert done.returncode == 0, done.stderr
    assert "(hidden)" in done.stdout
    assert CANARY not in done.stdout + done.stderr
    assert ENCODED[:-4] not in done.stdout + done.stderr


@pytest.mark.parametrize("kustomized", [False, True])
def test_nor_in_a_comment(tmp_path: Path, kustomize: str, *, kustomized: bool) -> None:
    put(tmp_path / "vm.yaml", secretive(1))
    if kustomized:
        put(tmp_path / "kustomization.yaml", WITH_BEFORE)
    words = ("build", "--emit", "vmi", "--admission", "off")
    plain, output = (
        run(*words, *more, cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize).stdout
        for more in ((), ("--explain",))
    )
    assert output.count(CANARY) == plain.count(CANARY) > 0
    assert output.count("lost: (hidden)") == kustomized


@pytest.mark.parametrize("emit", ["vm", "source", "vmi"])
def test_nor_in_an_impact(emit: Literal["vm", "source", "vmi"]) -> None:
    before, after = (
        [document.body for document in read(secretive(number).encode(), "f").documents]
        for number in (1, 2)
    )
    found = compare(before, after, Settings(emit=emit, admission="off"))
    assert "(hidden, changed)" in repr(found)
    assert CANARY not in repr(found)
    assert ENCODED[:-4] not in repr(found)


def test_history_names_what_changed(tmp_path: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("no git")
    import subprocess

    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    text = HOLDERS["cloud-init"].replace("          MORE: 1\n", "")
    for value in (f"{CANARY}1", f"{CANARY}2"):
        put(tmp_path / "vm.yaml", text.replace("KEY: VALUE", f"userData: {value}"))
        assert run("pin", "--admission", "off", cwd=tmp_path).returncode == 0
        git("add", ".")
        git("commit", "-qm", "edit")
    done = run("history", "web", "--admission", "off", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cloudInitNoCloud.userData: (hidden, changed)" in done.stdout
    assert CANARY not in done.stdout


def test_a_migration_shows_no_secret_around_what_it_changes(tmp_path: Path) -> None:
    text = HOLDERS["cloud-init"].replace("KEY: VALUE\n          MORE: 1", f"userData: {CANARY}")
    put(tmp_path / "vm.yaml", text.replace("runStrategy: Always", "running: true"))
    old = (
        "apiVersion: kubevirt.io/v1alpha3\nkind: VirtualMachineInstancePreset\nmetadata: {name: p}\n"
        "spec: {selector: {}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
        f"stringData:\n  a: {CANARY}\n---\n"
        "apiVersion: kubevirt.io/v1alpha3\nkind: VirtualMachine\nmetadata: {name: v}\n"
        "spec: {running: false, template: {spec: {domain: {devices: {}}}}}\n"
    )
    put(tmp_path / "old.yaml", old)
    done = run("migrate", "--diff", "--kustomize", "never", cwd=tmp_path)
    assert "-apiVersion: kubevirt.io/v1alpha3" in done.stdout
    assert CANARY not in done.stdout + done.stderr
