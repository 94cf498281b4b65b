"""What is said of the guest of a VM: at which place, with which severity, and with no word of a text."""

import base64
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from render import Diagnostic, Settings, compare, render
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.guest import texts
from render.guest.texts import TextVerdict
from render.pipeline.stages import guest
from tests.support.manifests import put
from tests.support.process import environ

Json = dict[str, Any]
HEADLESS = "hostname: web\n"
SOUND = "#cloud-config\nhostname: web\n"
WRONG = "#cloud-config\npackages: nginx\n"


def vm(source: Json | None = None, kind: str = "cloudInitNoCloud", **parts: Any) -> Json:
    """A VM with one volume for cloud-init, or the *volumes* among its *parts*."""
    metadata: Json = {"name": "web", "namespace": "prod"}
    if "ignore" in parts:
        metadata["annotations"] = {f"virt-render.dev/ignore.{parts.pop('ignore')}": "on purpose"}
    template: Json = {"metadata": {"annotations": parts.pop("annotations", {})}}
    devices = {"interfaces": parts.pop("interfaces")} if "interfaces" in parts else {}
    devices |= parts.pop("devices", {})
    preference = {"preference": parts.pop("preference")} if "preference" in parts else {}
    volumes = parts.pop("volumes", [{"name": "ci", kind: source}])
    domain = {"memory": {"guest": "1Gi"}, "devices": devices}
    template["spec"] = {"domain": domain, "volumes": volumes, **parts}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": "Always", **preference, "template": template},
    }


def held(kind: str = "Secret", name: str = "web", **keys: Any) -> Json:
    metadata = {"name": name, "namespace": "prod"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **keys}


def findings(*objects: Json, level: Any = "warning", **settings: Any) -> list[Diagnostic]:
    found = render(list(objects), Settings(emit="source", guest=level, **settings)).diagnostics
    return [diagnostic for diagnostic in found if diagnostic.code == "VR450"]


def checks(*objects: Json, **settings: Any) -> list[str]:
    return [finding.check.removeprefix("guest/") for finding in findings(*objects, **settings)]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("kind", ["cloudInitNoCloud", "cloudInitConfigDrive"])
@pytest.mark.parametrize(
    "objects",
    [
        [{"userData": HEADLESS}],
        [{"userDataBase64": encoded(HEADLESS)}],
        [{"secretRef": {"name": "web"}}, held(stringData={"userdata": HEADLESS})],
        [{"secretRef": {"name": "web"}}, held(data={"userData": encoded(HEADLESS)})],
        [
            {"secretRef": {"name": "web"}},
            held(stringData={"userdata": HEADLESS}, data={"userdata": encoded(SOUND)}),
        ],
    ],
)
def test_user_data_are_found_wherever_they_stand(kind: str, objects: list[Json]) -> None:
    assert checks(vm(objects[0], kind), *objects[1:]) == ["first-line"]


def test_of_several_volumes_the_first_counts() -> None:
    first = {"name": "a", "cloudInitConfigDrive": {"userData": SOUND}}
    second = {"name": "b", "cloudInitNoCloud": {"userData": HEADLESS}}
    assert checks(vm(volumes=[first, second])) == []
    assert checks(vm(volumes=[second, first])) == ["first-line"]


@pytest.mark.parametrize(
    "object_",
    [
        vm({"userData": SOUND}),
        vm({"userDataBase64": base64.b64encode(b"\x1f\x8b\x08\x00").decode()}),
        vm({"userDataBase64": "no base64"}),
        vm({"secretRef": {"name": "elsewhere"}}),
        vm({"userData": WRONG}, preference={"name": "windows.11"}),
        vm({"userData": WRONG}, annotations={"vm.kubevirt.io/os": "windows10"}),
        vm(volumes=[{"name": "root", "containerDisk": {"image": "x"}}]),
        vm(volumes=[]),
    ],
)
def test_nothing_is_said_where_nothing_is_wrong_or_known(object_: Json) -> None:
    assert checks(object_) == []


@pytest.mark.parametrize(
    ("level", "admission", "severities"),
    [
        ("warning", "full", ["warning"]),
        ("error", "full", ["error"]),
        ("off", "full", []),
        ("error", "off", []),
    ],
)
def test_how_much_it_matters_is_for_the_setting_to_say(
    level: str, admission: Any, severities: list[str]
) -> None:
    found = findings(vm({"userData": WRONG}), level=level, admission=admission)
    assert [str(diagnostic.severity) for diagnostic in found] == severities


def test_a_note_stays_one_whatever_the_setting_says() -> None:
    (found,) = findings(vm({"userData": f"{SOUND}runcmds: []\n"}), level="error")
    assert str(found.severity) == "info"


def test_errors_leave_the_result_there() -> None:
    rendered = render([vm({"userData": WRONG})], Settings(guest="error"))
    assert len(rendered.resources) == 1


@pytest.mark.parametrize("code", ["VR450", "VR450.user-data-schema"])
def test_the_vms_annotation_silences_it(code: str) -> None:
    assert checks(vm({"userData": WRONG}, ignore=code)) == []


@pytest.mark.parametrize("level", ["warning", "off"])
def test_a_suppression_is_idle_only_where_it_was_looked_for(level: Any) -> None:
    settings = Settings(guest=level)
    found = render([vm({"userData": SOUND}, ignore="VR450")], settings).diagnostics
    assert ("VR120" in [diagnostic.code for diagnostic in found]) is (level == "warning")


@pytest.mark.parametrize(
    "annotation",
    ['{"ignition": {"version": "3.3.0"}}', "no such thing", '{"ignition": {{ .Values.x }}}'],
)
def test_ignition_that_may_be_meant(annotation: str) -> None:
    assert checks(vm(volumes=[], annotations={"kubevirt.io/ignitiondata": annotation})) == []


def test_ignition_is_json() -> None:
    broken = '{"ignition": {"version": "3.3.0",}}'
    assert checks(vm(volumes=[], annotations={"kubevirt.io/ignitiondata": broken})) == ["ignition"]
    assert checks(vm({"userData": broken}, "cloudInitConfigDrive")) == ["ignition"]


@pytest.mark.parametrize(
    ("holder", "messages"),
    [
        (held("ConfigMap", data={"Autounattend.xml": "<unattend/>"}), []),
        (held("ConfigMap", data={"UNATTEND.XML": "<unattend/>", "x.cmd": "x"}), []),
        (held("ConfigMap", data={"autounattend.xml": "<unattend>"}), ["sysprep-xml"]),
        (held("ConfigMap", data={"answers.xml": "<unattend/>"}), ["sysprep-key"]),
        (held("ConfigMap"), []),
        (held("ConfigMap", binaryData={"unattend.xml": encoded("<unattend>")}), ["sysprep-xml"]),
    ],
)
def test_answer_files(holder: Json, messages: list[str]) -> None:
    volume = {"name": "sysprep", "sysprep": {"configMap": {"name": "web"}}}
    assert checks(vm(volumes=[volume]), holder) == messages


def test_answer_files_in_secrets() -> None:
    volume = {"name": "sysprep", "sysprep": {"secret": {"name": "web"}}}
    machine = vm(volumes=[volume])
    assert checks(machine, held(stringData={"unattend.xml": "<a>"})) == ["sysprep-xml"]
    assert checks(machine, held(data={"unattend.xml": encoded("<a/>")})) == []
    assert checks(machine, held(data={"unattend.xml": "ENC[AES256_GCM,x]"})) == []
    assert checks(machine, held(data={"x": encoded("<a/>")})) == ["sysprep-key"]


MAC = "02:00:5e:00:53:01"
BY_MAC = f'version: 2\nethernets: {{a: {{match: {{macaddress: "{MAC}"}}}}}}\n'
BY_MAC_1 = f'version: 1\nconfig: [{{type: physical, name: a, mac_address: "{MAC}"}}]\n'


@pytest.mark.parametrize("text", [BY_MAC, BY_MAC_1])
@pytest.mark.parametrize(
    ("parts", "messages"),
    [
        ({"interfaces": [{"name": "a", "bridge": {}, "macAddress": "02:00:5e:00:53:02"}]}, ["address"]),
        ({"interfaces": [{"name": "a", "bridge": {}, "macAddress": MAC}]}, []),
        ({"interfaces": [{"name": "a", "bridge": {}, "macAddress": "02-00-5E-00-53-01"}]}, []),
        ({"interfaces": [{"name": "a", "bridge": {}}]}, []),
        ({}, []),
        (
            {
                "interfaces": [{"name": "a", "bridge": {}, "macAddress": "02:00:5e:00:53:02"}],
                "devices": {"hostDevices": [{"name": "nic", "deviceName": "x/nic"}]},
            },
            [],
        ),
    ],
)  # fmt: skip
def test_addresses_that_no_interface_has(text: str, parts: Json, messages: list[str]) -> None:
    networks = [{"name": "a", "multus": {"networkName": "a"}}] if "interfaces" in parts else []
    assert checks(vm({"networkData": text}, networks=networks, **parts)) == messages


def credential(method: str) -> Json:
    way: Json = {method: {}}
    return {
        "sshPublicKey": {"source": {"secret": {"secretName": "keys"}}, "propagationMethod": way}
    }


def test_keys_come_by_the_volume_that_kubevirt_fills() -> None:
    volumes = [
        {"name": "a", "cloudInitNoCloud": {"userData": SOUND}},
        {"name": "b", "cloudInitConfigDrive": {"userData": SOUND}},
    ]
    for method, text in (("noCloud", []), ("configDrive", ["credentials"])):
        machine = vm(volumes=volumes, accessCredentials=[credential(method)])
        assert checks(machine) == text


@pytest.mark.parametrize(
    ("users", "messages"), [("[default]", []), ("[{name: joe}]", ["credentials"]), ("[]", [])]
)
def test_keys_are_for_the_default_user(users: str, messages: list[str]) -> None:
    source = {"userData": f"#cloud-config\nusers: {users}\n"}
    assert checks(vm(source, accessCredentials=[credential("noCloud")])) == messages


def test_a_pool_has_the_findings_of_its_vms_at_its_template() -> None:
    machine = vm({"userData": WRONG})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": machine["spec"]}
    template["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}
    pool = {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "virtualMachineTemplate": template},
    }
    (found,) = findings(pool, level="error")
    assert found.field.startswith("spec.virtualMachineTemplate.spec.template.spec.volumes[0]")


def test_an_error_is_no_refusal_of_an_edit() -> None:
    before, after = vm({"userData": SOUND}), vm({"userData": WRONG})
    impact = compare([before], [after], Settings(emit="source", guest="error"))
    assert "refused" not in impact.machines[0].effects
    assert [diagnostic.code for diagnostic in impact.after if diagnostic.is_error] == ["VR450"]


TEXT = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {memory: {guest: 1Gi}, devices: {}}
      volumes:
      - name: ci
        cloudInitNoCloud:
          USERDATA
          networkDataSecretRef: {name: net}
---
apiVersion: v1
kind: Secret
metadata: {name: net, namespace: prod}
NETWORKDATA
"""


BLOCK = """\
userData: |
            #cloud-config
            users:
            - name: x
              lock_passwd: canary"""


@pytest.mark.parametrize(
    ("user", "network", "places"),
    [
        (
            BLOCK,
            "stringData:\n  networkdata: |\n    version: 2\n    ethernets:\n      canary: {dhcp4: canary}",
            ["16:15", "26:16"],
        ),
        (
            f"userDataBase64: {encoded(WRONG)}",
            f"data:\n  networkdata: {encoded('version: 2 canary: 1')}",
            ["12:11", "19:3"],
        ),
        (
            '"userData": "#cloud-config\\npackages: canary\\n"',
            'stringData: {networkdata: "version: 2\\nethernets: canary\\n"}',
            ["12:11", "18:14"],
        ),
        (
            "userData: >-\n            #cloud-config\n\n            packages: canary",
            "stringData:\n  networkdata: |2\n    version: [canary",
            ["12:11", "22:3"],
        ),
    ],
)
def test_places_are_those_of_the_manifest(  # noqa: PLR0913, PLR0917
    user: str,
    network: str,
    places: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    put(tmp_path / "vm.yaml", TEXT.replace("USERDATA", user).replace("NETWORKDATA", network))
    monkeypatch.chdir(tmp_path)
    execute(Call("check", ("vm.yaml",), {"--format": "json"}), {})
    printed = capfd.readouterr()
    found = [
        diagnostic
        for diagnostic in json.loads(printed.out)["diagnostics"]
        if diagnostic["code"] == "VR450"
    ]
    assert [f"{diagnostic['line']}:{diagnostic['column']}" for diagnostic in found] == places
    assert "canary" not in printed.out + printed.err


def test_many_vms_share_one_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str] = []

    def judge(text: str) -> TextVerdict:
        requested.append(text)
        return texts.user_data(text)

    monkeypatch.setitem(guest.JUDGES, "user", judge)
    machines = [vm({"userData": WRONG}) for _ in range(20)]
    for number, machine in enumerate(machines):
        machine["metadata"]["name"] = f"web{number}"
    assert len(findings(*machines)) == 20
    assert requested == [WRONG]


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        ("containerDisk: {image: x}", set()),
        ("cloudInitNoCloud: {userData: '#!/bin/sh'}", {"render.guest"}),
        (f"cloudInitNoCloud: {{userData: {json.dumps(SOUND)}}}", {"render.guest"}),
        (f"cloudInitNoCloud: {{userData: {json.dumps(WRONG)}}}", {"render.guest", "jsonschema"}),
    ],
)
def test_what_nobody_needs_is_not_imported(source: str, imported: set[str], tmp_path: Path) -> None:
    text = TEXT.partition("---")[0].partition("        cloudInitNoCloud")[0]
    put(tmp_path / "vm.yaml", f"{text}        {source}\n")
    words = [sys.executable, "-X", "importtime", "-m", "render", "check", "vm.yaml"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environ(), capture_output=True, encoding="utf-8", check=True
    )
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert names & {"render.guest", "jsonschema"} == imported


def test_what_is_not_looked_into_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts_of_guests = {"userData": "#!/bin/sh\n", "networkData": "version: 2\nethernets: {{ x }}\n"}
    put("vm.json", json.dumps(vm(texts_of_guests)))
    execute(Call("check", ("vm.json",), {"--format": "json"}), {})
    assert json.loads(capfd.readouterr().out)["summary"]["unseen"] == {"guest text": 2}
    execute(Call("check", ("vm.json",), {"--verbose": True}), {})
    assert "user data not looked into: script" in capfd.readouterr().out


def test_a_compressed_text_is_counted_as_not_looked_into() -> None:
    packed = base64.b64encode(gzip.compress(b"hostname: web")).decode()
    for source, *more in (
        [{"userDataBase64": packed}],
        [{"secretRef": {"name": "web"}}, held(data={"userdata": packed})],
    ):
        diagnostics = render([vm(source), *more], Settings(guest="warning")).diagnostics
        assert [
            diagnostic.code for diagnostic in diagnostics if diagnostic.code.startswith("VR45")
        ] == ["VR451"]
        assert "compressed text" in diagnostics[-1].message
