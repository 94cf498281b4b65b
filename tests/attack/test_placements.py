"""A secret in each place that can hold one, with a finding at it and beside it: no format of any command shows it.

`tests.property.test_canary` varies how one is written; here each place has a secret of its own, so that one run of a
command tells which of them all it shows.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from render.report.formats import FLEET_FORMATS, FORMATS, IMPACT_FORMATS
from tests.property.test_canary import told
from tests.support import process
from tests.support.editor import driven, opened
from tests.support.manifests import put, vm
from tests.support.repository import Repository

CLOUD_CONFIG = {
    "chpasswd": "chpasswd: {list: 'root:SECRET', oops: 1}",
    "chpasswd-users": "chpasswd: {users: [{name: a, password: SECRET, type: oops}]}",
    "password": "password: [SECRET]\noops: 1",
    "passwd": "users: [{name: a, passwd: SECRET, oops: 1}]",
    "hashed_passwd": "users: [{name: a, hashed_passwd: {a: SECRET}}]",
    "plain_text_passwd": "users: [{name: a, plain_text_passwd: SECRET, lock_passwd: oops}]",
    "ssh_authorized_keys": "users: [{name: a, ssh_authorized_keys: 'ssh-rsa SECRET', oops: 1}]",
    "write_files": "write_files: [{path: /a, content: SECRET, permissions: 644, oops: 1}]",
    "runcmd": "runcmd: [[curl, -u, SECRET], {a: SECRET}]",
    "bootcmd": "bootcmd: SECRET oops",
    "ssh_keys": "ssh_keys: {rsa_private: SECRET, rsa_oops: SECRET}",
    "ca_certs": "ca_certs: {trusted: SECRET, oops: 1}",
    "apt": "apt: {sources: {a: {source: 'deb https://u:SECRET@h/x b', oops: 1}}}",
    "yum_repos": "yum_repos: {a: {baseurl: 'https://u:SECRET@h/x', password: SECRET}, b: SECRET}",
    "rh_subscription": "rh_subscription: {username: a, password: SECRET, oops: SECRET}",
    "phone_home": "phone_home: {url: 'https://u:SECRET@h', post: SECRET}",
    "no-yaml": "users: [{passwd: SECRET",
    "no-header": "SECRET: [a",
}
#: Texts of other kinds, none of which is what its place wants.
TEXTS = {
    **{f"cloud-config-{name}": f"#cloud-config\n{text}\n" for name, text in CLOUD_CONFIG.items()},
    "no-first-line": "chpasswd: {list: 'root:SECRET'}\nusers: 1\n",
    "script": "#!/bin/sh\necho SECRET | passwd --stdin\n",
    "network-1": "version: 1\nconfig: [{type: oops, name: a, password: SECRET}]\n",
    "network-2": "version: 2\nwifis: {a: {access-points: {b: {password: SECRET}}, oops: 1}}\n",
    "auth": "network: {version: 2, ethernets: {a: {auth: {password: SECRET}, oops: SECRET}}}\n",
    "ignition-files": json.dumps({
        "ignition": {"version": "3.3.0"}, "oops": 1,
        "storage": {"files": [{"path": "a", "contents": {"source": "data:,SECRET"}, "mode": "SECRET"}]},
    }),
    "ignition-users": json.dumps({
        "ignition": {"version": "9.9.9", "config": {"merge": [{"source": "https://u:SECRET@h/x"}]}},
        "passwd": {"users": [{"name": "a", "passwordHash": "SECRET", "sshAuthorizedKeys": "SECRET"}]},
    }),
    "unattend": "<unattend><Password><Value>SECRET</Value></oops>",
}  # fmt: skip
#: Each field of a volume that holds such a text, and the beginnings of the names of those that stand there here.
HOLDERS = {
    "cloudInitNoCloud.userData": ("",),
    "cloudInitNoCloud.userDataBase64": ("cloud-config-no", "cloud-config-w", "ignition", "script"),
    "cloudInitNoCloud.networkData": ("network", "auth", "no-first"),
    "cloudInitNoCloud.networkDataBase64": ("network", "auth"),
    "cloudInitConfigDrive.userData": ("ignition", "cloud-config-no", "cloud-config-passwd"),
    "cloudInitConfigDrive.userDataBase64": ("ignition", "no-first"),
    "cloudInitConfigDrive.networkData": ("network",),
}
HTTP = (
    "apiVersion: cdi.kubevirt.io/v1beta1\nkind: DataVolume\nmetadata: {name: NAME}\n"
    "spec: {pvc: {oops: 1}, source: SOURCE}\n"
)
#: What else stands in the spec of a VM.
FIELDS = {
    "probe": "readinessProbe: {exec: {command: [curl, SECRET, 5]}, oops: 1}",
    "headers": "livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: A, value: SECRET, oops: 1}]}}",
    "credentials": "accessCredentials: [{userPassword: {password: SECRET, oops: 1}}]",
    "ssh": "accessCredentials: [{sshPublicKey: {privateKey: SECRET, oops: 1}}]",
    "image": "volumes: [{name: a, containerDisk: {image: 'u:SECRET@reg/x', oops: 1}}]",
    "image-slash": "volumes: [{name: a, containerDisk: {image: 'docker://u:a/SECRET@reg/x', oops: 1}}]",
    "out-of-place": "volumes: [{name: a, cloudInitNoCloud: SECRET}]",
    "list": "volumes: [{name: a, cloudInitNoCloud: {userData: [SECRET]}}]",
    "mapping": "volumes: [{name: a, cloudInitNoCloud: {userData: {a: SECRET}, oops: 1}}]",
    "sysprep": "volumes: [{name: a, sysprep: {secret: {name: x, unattend: SECRET}}}]",
    "secret": "volumes: [{name: a, secret: {secretName: x, password: SECRET}}]",
    "kernel": "domain: {firmware: {kernelBoot: {kernelArgs: 'token=SECRET', container: {oops: 1}}}}",
    "api-key": "domain: {oops: {apiKey: SECRET, access_key: SECRET}}",
}
#: What else may stand beside VMs.
OBJECTS = {
    "data": "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\ndata: {userdata: SECRET, oops: [SECRET]}\n",
    "string-data": "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData: {a: SECRET, a: SECRET}\n",
    "config-map": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {autounattend.xml:"
        " SECRET, a: [SECRET]}\n"
    ),
    "environment": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME}\nspec: {template: {spec: {containers:"
        " [{name: c, env: [{name: A, value: SECRET, value: SECRET}]}]}}}\n"
    ),
    "http": HTTP.replace(
        "SOURCE", "{http: {url: 'https://u:SECRET@h/x', extraHeaders: ['A: SECRET'], oops: 1}}"
    ),
    "http-slash": HTTP.replace("SOURCE", "{http: {url: 'https://u:a/SECRET@h/x', oops: 1}}"),
    "http-blank": HTTP.replace("SOURCE", "{http: {url: 'https://u:a SECRET@h/x', oops: 1}}"),
    "http-lines": HTTP.replace("SOURCE", '{http: {url: "https://u:a\\nSECRET@h/x", oops: 1}}'),
    "http-token": HTTP.replace(
        "SOURCE", "{http: {url: 'https://h/x?token=SECRET#sig=SECRET', oops: 1}}"
    ),
    "registry": HTTP.replace("SOURCE", "{registry: {url: 'docker://u:SECRET@h/x', oops: 1}}"),
    "s3": HTTP.replace("SOURCE", "{s3: {url: 'https://u:SECRET@h/x', accessKey: SECRET}}"),
    "imageio": HTTP.replace("SOURCE", "{imageio: {url: 'https://u:SECRET@h/x', diskId: [1]}}"),
    "vddk": HTTP.replace("SOURCE", "{vddk: {url: 'https://u:SECRET@h/x', thumbprint: [1]}}"),
    "proxy": (
        "apiVersion: cdi.kubevirt.io/v1beta1\nkind: CDI\nmetadata: {name: NAME}\nspec: {config: {importProxy:"
        " {HTTPProxy: 'http://u:SECRET@p', oops: 1}}}\n"
    ),
    "component-patch": (
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: NAME, namespace: kubevirt}\nspec:"
        ' {customizeComponents: {patches: [{patch: \'{"password": "SECRET"}\', oops: 1}]}, oops: 1}\n'
    ),
    "parameter": (
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: NAME}\nparameters: [{name: A_PASSWORD,"
        " value: SECRET, oops: 1}]\nobjects: [{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a},"
        " spec: {template: {spec: {domain: {devices: {}}, oops: '${A_PASSWORD}'}}}}]\n"
    ),
    "application": (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: NAME}\nspec: {source: {path: nowhere,"
        " repoURL: 'https://u:SECRET@h/x', helm: {parameters: [{name: password, value: SECRET}], values: 'password:"
        " SECRET: oops', valuesObject: {password: SECRET}}}}\n"
    ),
    "release": (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: NAME}\nspec: {chart: {spec: {chart:"
        " ./nowhere}}, values: {password: SECRET, b: [SECRET}}\n"
    ),
    "substitute": (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME}\nspec:"
        " {path: ./nowhere,"
        " postBuild: {substitute: {password: SECRET, oops: [SECRET]}}, sourceRef: {kind: GitRepository, name: a}}\n"
    ),
    "broken": "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData: {kubevirt.io: SECRET\n",
}  #: Annotations of a VM, of itself and of its template.
ANNOTATIONS = {
    "ignition": 'kubevirt.io/ignitiondata: \'{"ignition": {"version": "SECRET"}, "oops": 1}\'',
    "sidecars": 'hooks.kubevirt.io/hookSidecars: \'[{"args": ["--password=SECRET"], "image": 5}]\'',
    "applied": "kubectl.kubernetes.io/last-applied-configuration: {data: SECRET}",
    "password": "example.com/password: [SECRET]",
}
#: What is added to `resources: [vm.yaml]`, in a folder of its own with an ``env`` file.
KUSTOMIZATIONS = {
    "literals": "secretGenerator: [{name: s, literals: ['a=SECRET', 'SECRET'], oops: 1}]",
    "literals-map": "configMapGenerator: [{name: s, literals: ['a=SECRET', 'a=SECRET']}]",
    "envs": "secretGenerator: [{name: s, envs: [env, env]}]",
    "patch": (
        "patches: [{patch: '{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata:"
        " {name: x}, spec: {password: SECRET}}'}]"
    ),
    "operation": "patches: [{target: {kind: VirtualMachine}, patch: '[{op: add, path: /a/b/c, value: SECRET}]'}]",
    "url": "components: ['https://u:a/SECRET@h/x']",
    "chart": "helmCharts: [{name: x, repo: 'https://u:a/SECRET@h/x', valuesInline: {password: SECRET}}]",
}
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
#: Templates of a chart whose values have ``password: SECRET``.
TEMPLATES = {
    "user-data": "volumes: [{name: a, cloudInitNoCloud: {userData: '{{ .Values.password }}', oops: 1}}]",
    "fails": "a: {{ fail .Values.password }}",
    "no-yaml": "a: {{ .Values.password }}: b",
}


class Placements:
    """A secret for each place, which begins with *word*; with *has_mistakes* a field that nobody knows beside it."""

    def __init__(self, word: str, *, has_mistakes: bool) -> None:
        self._word = word
        self.beside = ", oops: 1" if has_mistakes else ""
        self._secrets: dict[str, list[str]] = {}

    def fill(self, place: str, text: str) -> str:
        """*text* with the secret of *place*, and with a number of its own for what has a name."""
        number = len(self._secrets)
        secret = f"{self._word}{number:03}z"
        encoded = base64.b64encode(secret.encode()).decode().rstrip("=")[:-1]
        self._secrets[place] = [secret, encoded]
        return (
            text.replace("SECRET", secret)
            .replace("NAME", f"n{number}")
            .replace(", oops: 1", self.beside)
        )

    def encoded(self, place: str, text: str) -> str:
        """The same in base64, of which nothing may be shown either."""
        encoded = base64.b64encode(self.fill(place, text).encode()).decode()
        self._secrets[place].append(encoded.rstrip("=")[12:-1])
        return encoded

    @property
    def number(self) -> int:
        """That of the last place."""
        return len(self._secrets)

    def leaks(self, output: str) -> list[str]:
        """The places whose secrets stand in *output*."""
        return [
            place
            for place, notations in self._secrets.items()
            if any(notation in output for notation in notations)
        ]


def machine(name: str, spec: str = "", annotations: str = "") -> str:
    text = vm(name, memory="1Gi").replace(
        "devices: {}", "devices: {disks: [{name: b, disk: {bus: ide}}]}"
    )
    if annotations:
        text = text.replace("metadata:", f"metadata:\n  annotations:\n    {annotations}", 1)
        text = text.replace(
            "    spec:", f"    metadata: {{annotations: {{{annotations}}}}}\n    spec:", 1
        )
    return text + (f"      {spec}\n" if spec else "")


def files(placements: Placements) -> Iterator[tuple[str, str]]:
    """A file for each place, with its name."""
    for holder, beginnings in HOLDERS.items():
        source, _, field = holder.partition(".")
        for name in (name for name in TEXTS if name.startswith(beginnings)):
            place = f"{holder}-{name}"
            fill = placements.encoded if field.endswith("Base64") else placements.fill
            text = json.dumps(fill(place, TEXTS[name]))
            spec = f"volumes: [{{name: a, {source}: {{{field}: {text}{placements.beside}}}}}]"
            yield f"vms/{place}.yaml", machine(f"v{placements.number}", spec)
    for name, text in TEXTS.items():
        key = "unattend.xml" if name == "unattend" else "userdata"
        reference = (
            "sysprep: {secret: {name: NAME}}"
            if name == "unattend"
            else "cloudInitNoCloud: {secretRef: {name: NAME}}"
        )
        filled = placements.fill(f"referred-{name}", text)
        secret = f"s{placements.number}"
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": secret},
            "stringData": {key: filled},
        }
        spec = f"volumes: [{{name: a, {reference.replace('NAME', secret)}}}]"
        yield f"vms/referred-{name}.yaml", f"{machine(secret, spec)}---\n{json.dumps(body)}\n"
    for name, text in FIELDS.items():
        spec = placements.fill(name, text)
        yield f"vms/field-{name}.yaml", machine(f"v{placements.number}", spec)
    for name, text in ANNOTATIONS.items():
        filled = placements.fill(f"annotation-{name}", text)
        yield f"vms/annotation-{name}.yaml", machine(f"v{placements.number}", annotations=filled)
    for name, text in OBJECTS.items():
        filled = placements.fill(f"object-{name}", text)
        yield f"objects/{name}.yaml", f"{filled}---\n{machine(f'o{placements.number}')}"
    for name, text in KUSTOMIZATIONS.items():
        filled = placements.fill(f"kustomization-{name}", text)
        yield f"k/{name}/kustomization.yaml", f"resources: [vm.yaml]\n{filled}\n"
        yield f"k/{name}/vm.yaml", machine(f"k{placements.number}")
        yield f"k/{name}/env", placements.fill(f"env-{name}", "a=SECRET\nSECRET x=1\n")
    for name, text in TEMPLATES.items():
        yield f"c/{name}/Chart.yaml", CHART
        yield f"c/{name}/values.yaml", placements.fill(f"chart-{name}", "password: SECRET\n")
        yield f"c/{name}/templates/vm.yaml", machine(f"c{placements.number}", text)


#: Each format of each command, once with the mistakes beside, once without: then guests are looked into.
COMMANDS = {
    True: [
        *(f"check . --format {name}" for name in FORMATS), "check . --fix --unsafe-fixes --diff",
        "diff HEAD --format json", "diff HEAD --format text", "migrate --diff .", "verify .",
    ],
    False: [
        "check . -v", "check . --format json", "check . --kubevirt 1.4 --kubevirt 1.9",
        *(f"diff HEAD --format {name}" for name in IMPACT_FORMATS), "explain v0",
        *(f"report --format {name} -o - ." for name in FLEET_FORMATS), "build vms", "argocd generate", "pin --dry-run",
    ],
}  # fmt: skip


class Places(NamedTuple):
    """A repository, and the places of the secrets in its commit and in its work tree."""

    folder: str
    states: tuple[Placements, Placements]


def _places(folder: Path, *, has_mistakes: bool) -> Places:
    """All secrets differ in the work tree."""
    repository = Repository(folder)
    committed, changed = (
        Placements(word, has_mistakes=has_mistakes) for word in ("hunter2canary", "hunter3canary")
    )
    for name, text in files(committed):
        repository.write(name, text)
    repository.commit("secrets")
    for name, text in files(changed):
        repository.write(name, text)
    return Places(str(repository.folder), (committed, changed))


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Places]:
    """One with mistakes beside the secrets, and one without."""
    return {
        has_mistakes: _places(tmp_path_factory.mktemp("placements"), has_mistakes=has_mistakes)
        for has_mistakes in (True, False)
    }


@pytest.mark.parametrize(
    ("has_mistakes", "command"),
    [(word, command) for word, commands in COMMANDS.items() for command in commands],
)
@pytest.mark.usefixtures("helm", "kustomize")
def test_no_format_shows_a_secret(
    repositories: dict[bool, Places], command: str, *, has_mistakes: bool
) -> None:
    places = repositories[has_mistakes]
    output = told(places.folder, command)
    assert "VR901" not in output
    assert [placements.leaks(output) for placements in places.states] == [[], []]


def test_no_editor_shows_a_secret(tmp_path: Path) -> None:
    """Neither what it underlines, nor the hovers of the lines of a few words."""
    put(tmp_path / "bad.yaml", vm())
    placements = Placements("hunter2canary", has_mistakes=True)
    texts = {name: text for name, text in files(placements) if name.startswith(("vms", "objects"))}

    async def work() -> None:
        async with opened(tmp_path) as editor:
            editor.open("bad.yaml")
            for name, text in texts.items():
                editor.type("bad.yaml", text)
                answers = [
                    await editor.hover("bad.yaml", word)
                    for word in ("name", "oops", "hunter2canary", "bus")
                    if word in text
                ]
                answers += [finding.message for finding in editor.diagnostics["bad.yaml"]]
                assert placements.leaks("\n".join(answers)) == [], name
            assert editor.logged == []

    driven(work)


@pytest.mark.parametrize(
    "stated",
    [
        "parameters: [{name: password, value: SECRET}]",
        "valuesObject: {password: SECRET}",
        "values: 'password: SECRET'",
        "parameters: [{name: password, value: '48151623', forceString: true}]",
    ],
)
@pytest.mark.parametrize("command", [["check"], ["check", "--format", "json"], ["report"]])
def test_no_value_that_an_application_states_is_in_what_helm_says(
    command: list[str], stated: str, tmp_path: Path
) -> None:
    put(tmp_path / "ch/Chart.yaml", CHART)
    put(tmp_path / "ch/templates/vm.yaml", f"{vm(name='web', memory='1Gi')}{TEMPLATES['fails']}\n")
    source = f"{{repoURL: https://example.com/x/y, path: ch, helm: {{{stated}}}}}"
    put(
        tmp_path / "app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n"
        f"spec: {{destination: {{namespace: prod}}, source: {source}}}\n".replace(
            "SECRET", "CANARY7731"
        ),
    )
    answer = process.run(*command, ".", cwd=tmp_path)
    output = answer.stdout + answer.stderr
    assert "execution error" in output
    assert not re.search("CANARY|48151623", output)
