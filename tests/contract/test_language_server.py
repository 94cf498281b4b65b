"""The language server, driven by a client over the standard streams of a real process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.support import manifests
from tests.support.editor import driven, opened
from tests.support.manifests import NAMESPACED, instancetype, put, vm
from tests.support.process import argv, environ, run

SMALL = vm("web", instancetype="small")
CONFLICT = vm("web", instancetype="small", memory="4Gi")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a VM and its instancetype."""
    top = (tmp_path / "repository").resolve()
    put(top / "vms/web.yaml", SMALL)
    put(top / "platform/instancetypes.yaml", instancetype())
    return top


def test_findings_while_typing(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])
            (finding,) = editor.diagnostics["vms/web.yaml"]
            assert (
                editor.texts["vms/web.yaml"].split("\n")[finding.range.start.line]
                == "          guest: 4Gi"
            )
            assert finding.range.end.character - finding.range.start.character == len("guest")
            assert finding.severity is types.DiagnosticSeverity.Error
            assert finding.source == "virt-render instancetype-conflict"
            (other,) = finding.related_information or ()
            assert other.location.uri == editor.uri("platform/instancetypes.yaml")
            assert other.location.range.start.line == 8
            editor.type("vms/web.yaml", SMALL)
            await editor.until(lambda: editor.codes("vms/web.yaml") == [])
            assert editor.logged == []

    driven(work)


def test_an_open_buffer_counts_for_other_files_until_it_is_closed(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("platform/instancetypes.yaml")
            editor.type("platform/instancetypes.yaml", instancetype("large"))
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR201"])
            editor.close("platform/instancetypes.yaml")
            await editor.until(lambda: editor.codes("vms/web.yaml") == [])

    driven(work)


def test_half_a_document_hides_nothing_of_the_others(folder: Path) -> None:
    put(folder / "vms/other.yaml", vm("other", instancetype="small", memory="2Gi"))

    async def work() -> None:
        async with opened(folder) as editor:
            await editor.until(lambda: editor.codes("vms/other.yaml") == ["VR301"])
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", SMALL.replace("spec:", "spec: ["))
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR101"])
            assert editor.codes("vms/other.yaml") == ["VR301"]
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])
            assert editor.codes("vms/other.yaml") == ["VR301"]

    driven(work)


def test_a_new_file_and_one_that_is_gone(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/new.yaml", vm("web", instancetype="small"))
            await editor.until(
                lambda: "VR103" in editor.codes("vms/web.yaml") + editor.codes("vms/new.yaml")
            )
            editor.type("vms/new.yaml", vm("new", instancetype="small"))
            await editor.until(lambda: not any(editor.diagnostics.values()))
            (folder / "platform/instancetypes.yaml").unlink()
            editor.client.workspace_did_change_watched_files(
                types.DidChangeWatchedFilesParams(
                    [
                        types.FileEvent(
                            editor.uri("platform/instancetypes.yaml"), types.FileChangeType.Deleted
                        )
                    ]
                )
            )
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR201"])
            assert editor.codes("vms/new.yaml") == ["VR201"]

    driven(work)


def test_columns_are_those_of_the_client(folder: Path) -> None:
    text = CONFLICT.replace(
        "        memory:\n          guest: 4Gi\n", '        memory: {"😀": 1, guest: 4Gi}\n'
    )

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", text)
            await editor.until(lambda: "VR301" in editor.codes("vms/web.yaml"))
            finding = next(
                diagnostic
                for diagnostic in editor.diagnostics["vms/web.yaml"]
                if diagnostic.code == "VR301"
            )
            assert finding.range.start == editor.at("vms/web.yaml", "guest")

    driven(work)


def test_a_kustomization_is_built_on_save(folder: Path, kustomize: str) -> None:  # noqa: ARG001 - on the PATH
    put(folder / "base/vm.yaml", vm("shop", instancetype="small"))
    put(folder / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(folder / "prod/kustomization.yaml", "resources: [../base]\nnamePrefix: prod-\n")

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("base/vm.yaml")
            editor.type("base/vm.yaml", vm("shop", instancetype="small", memory="4Gi"))
            await editor.hover("base/vm.yaml", "shop")
            assert editor.codes("base/vm.yaml") == []
            editor.save("base/vm.yaml")
            await editor.until(lambda: editor.codes("base/vm.yaml") == ["VR301"])
            editor.type("base/vm.yaml", "# above\n" + editor.texts["base/vm.yaml"])
            await editor.until(lambda: editor.diagnostics["base/vm.yaml"][0].range.start.line == 14)

    driven(work)


class Tokens:
    """Programs in *programs* that do nothing but take a token in *folder*: in its box each can read, and not write."""

    def __init__(self, programs: Path, folder: Path, *names: str) -> None:
        self._descriptors: dict[str, int] = {}
        for name in names:
            token = folder / f".token-{name}"
            put(programs / name, f"#!/bin/sh\nread -r token < {token}\nexit 1\n")
            (programs / name).chmod(0o755)
            os.mkfifo(token)
            self._descriptors[name] = os.open(token, os.O_RDWR | os.O_NONBLOCK)
            os.write(self._descriptors[name], b"\n" * 100)  # so that nobody waits for one

    def takers(self) -> set[str]:
        """The names of those that took some."""
        with_fewer = set()
        for name, number in self._descriptors.items():
            left = os.read(number, 1000)
            os.write(number, left)
            if len(left) < 100:
                with_fewer.add(name)
        return with_fewer


def test_nothing_is_started_in_a_folder_that_is_not_trusted(folder: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    put(folder / ".git/HEAD", "")
    tokens = Tokens(programs, folder, "git", "kustomize", "helm")
    put(folder / "prod/kustomization.yaml", "resources: [vm.yaml]\n")
    put(folder / "prod/vm.yaml", vm("shop", instancetype="none"))
    put(folder / "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    put(folder / "chart/templates/vm.yaml", vm("chart"))
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    async def work(*, trusted: bool) -> None:
        async with opened(folder, trusted=trusted, environ=path) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])
            editor.save("vms/web.yaml")
            assert await editor.references("vms/web.yaml", "small")
            assert editor.codes("prod/vm.yaml") == []
            left = "1 kustomization and 1 Helm chart not looked at"
            assert [left in item for item in editor.messages] == ([] if trusted else [True])

    async def untrusted() -> None:
        await work(trusted=False)

    async def trusting() -> None:
        await work(trusted=True)

    driven(untrusted)
    assert tokens.takers() == set()
    driven(trusting)
    assert tokens.takers() == {"git", "kustomize", "helm"}


def test_hovers(folder: Path) -> None:
    put(
        folder / "platform/preferences.yaml",
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\nmetadata:\n"
        "  name: linux\nspec:\n  devices:\n    preferredDiskBus: virtio\n  requirements:\n    cpu:\n      guest: 1\n",
    )
    text = (
        vm("web", instancetype="small")
        .replace("  template:", "  preference:\n    name: linux\n  template:")
        .replace(
            "devices: {}",
            "devices:\n          disks:\n          - name: root\n            disk:\n              bus: sata",
        )
        + "      volumes:\n      - name: root\n        containerDisk:\n          image: example.com/os\n"
    )

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", text)
            sizes = await editor.hover("vms/web.yaml", "name: small", 7)
            assert sizes.startswith(
                "VirtualMachineClusterInstancetype small: 1 vCPU, 1Gi memory (platform/instancetypes.yaml)"
            )
            assert "starts with 1 vCPU, 1,024 MiB" in await editor.hover(
                "vms/web.yaml", "instancetype"
            )
            assert "at least 1 vCPU" in await editor.hover("vms/web.yaml", "linux")
            bus = await editor.hover("vms/web.yaml", "bus")
            assert bus == (
                "- `spec.domain.devices.disks[root].disk.bus`: `sata`: vms/web.yaml:18:15\n"
                "  - lost: `virtio`: platform/preferences.yaml:7:5 VirtualMachineClusterPreference linux"
                " spec.devices.preferredDiskBus"
            )
            domain = await editor.hover("vms/web.yaml", "domain")
            assert "`spec.domain.memory.guest`: `1Gi`: platform/instancetypes.yaml:9:5" in domain
            assert (
                "`spec.domain.devices.interfaces[default].masquerade`" not in domain
            )  # the first twelve
            assert await editor.hover("vms/web.yaml", "metadata") == ""

    driven(work)


def test_hovers_explain_codes(folder: Path) -> None:
    ignored = CONFLICT.replace(
        "  name: web\n",
        "  name: web\n  annotations:\n    virt-render.dev/ignore.VR115: it is filled in\n",
    )

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", ignored)
            await editor.until(lambda: "VR301" in editor.codes("vms/web.yaml"))
            assert (await editor.hover("vms/web.yaml", "guest")).startswith(
                "**VR301 instancetype-conflict**: The VM"
            )
            text = await editor.hover("vms/web.yaml", "virt-render.dev/ignore")
            assert "**VR115 unfilled-placeholder**" in text

    driven(work)


def test_no_name_is_a_link_in_a_hover(folder: Path) -> None:
    """GitHub's Markdown makes links of words that begin with ``www.``."""
    put(folder / "vms/named.yaml", manifests.instancetype("www.example.com"))

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml", manifests.vm("web", instancetype="www.example.com"))
            printed = await editor.hover("vms/web.yaml", "www.example.com", 5)
            assert "www\\.example.com" in printed
            assert "www.example" not in re.sub(r"`[^`]*`", "", printed)

    driven(work)


def test_hovers_hold_no_secret(folder: Path) -> None:
    cloud = (
        "      volumes:\n      - name: init\n        cloudInitNoCloud:\n          userData: |\n"
        "            #cloud-config\n            password: hunter2\n          networkData: hunter2\n"
    )
    text = (
        SMALL.replace(
            "devices: {}",
            "devices:\n          disks:\n          - name: init\n            disk: {}",
        )
        + cloud
    )
    other = "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: key\nstringData:\n"
    other += "  userdata: hunter2\n"

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", text + other)
            words = [line.strip("- ").partition(":")[0] for line in (text + other).split("\n")]
            content = [
                await editor.hover("vms/web.yaml", word)
                for word in dict.fromkeys(filter(None, words))
            ]
            assert any("image" in item or "disks" in item for item in content)
            assert not any(
                "hunter2" in item or "](" in item or "command:" in item for item in content
            )

    driven(work)


LINKED = {
    "vms/web.yaml": """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  namespace: prod
spec:
  runStrategy: Always
  instancetype:
    name: small
    kind: VirtualMachineInstancetype
    revisionName: small-1
  preference:
    name: linux
  dataVolumeTemplates:
  - metadata:
      name: web-root
    spec:
      sourceRef:
        kind: DataSource
        name: fedora
        namespace: images
      storage: {}
  template:
    metadata:
      labels:
        tier: front
    spec:
      domain:
        devices:
          disks:
          - name: init
            disk: {}
      volumes:
      - name: init
        cloudInitNoCloud:
          secretRef:
            name: init-data
""",
    "platform/objects.yaml": """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata:
  name: small
  namespace: prod
spec:
  cpu:
    guest: 1
  memory:
    guest: 1Gi
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata:
  name: linux
spec: {}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: small-1
  namespace: prod
---
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataSource
metadata:
  name: fedora
  namespace: images
spec:
  source:
    pvc:
      name: fedora-43
      namespace: images
---
apiVersion: v1
kind: Secret
metadata:
  name: init-data
  namespace: prod
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata:
  name: front
  namespace: prod
spec:
  selector:
    matchLabels:
      tier: front
""",
    "virt-render.lock.yaml": """\
apiVersion: virt-render.dev/v1alpha1
kind: RevisionLock
metadata:
  name: virt-render-lock
revisions:
  sha256:f79c7a9e64da788712a490ecf9061c27917353153098369ecf300ea9cc6d4dc1:
    instancetype:
      cpu:
        guest: 2
      memory:
        guest: "2Gi"
pins:
  prod/web:
    revision: 1
    instancetype: VirtualMachineInstancetype/small@HASH
    rendered: sha256:0000000000000000000000000000000000000000000000000000000000000000
""".replace("HASH", "sha256:f79c7a9e64da788712a490ecf9061c27917353153098369ecf300ea9cc6d4dc1"),
}  # fmt: skip


def test_definitions_and_references(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name, text in LINKED.items():
        put(folder / name, text)
    web, objects, lock = LINKED
    pins = f"{lock}:15"

    async def work() -> None:
        async with opened(folder) as editor:
            for name in LINKED:
                editor.open(name)
            for word, line in (
                ("small\n", 4),
                ("linux", 15),
                ("small-1", 21),
                ("fedora", 27),
                ("init-data", 38),
                ("tier", 44),
            ):
                assert await editor.definition(web, word) == [f"{objects}:{line}"], word
            assert await editor.references(objects, "small") == [pins, f"{web}:9"]
            assert await editor.references(objects, "linux") == [f"{web}:13"]
            assert await editor.references(objects, "small-1") == [f"{web}:11"]
            assert await editor.references(objects, "fedora") == [f"{web}:20"]
            assert await editor.references(objects, "init-data") == [f"{web}:37"]
            assert await editor.references(objects, "front") == [f"{web}:25"]
            assert await editor.references(web, "web") == [f"{lock}:13"]
            assert await editor.definition(lock, "prod/web") == [f"{web}:4"]
            assert await editor.definition(lock, "VirtualMachineInstancetype/small") == [
                f"{objects}:4",
                f"{lock}:6",
            ]
            assert await editor.references(lock, "sha256:f79c") == [pins]
            assert await editor.definition(objects, "fedora-43") == []
            assert await editor.definition(web, "runStrategy") == []

    driven(work)


def test_completion(folder: Path) -> None:
    put(
        folder / "platform/more.yaml",
        instancetype("tiny", kind=NAMESPACED, namespace="prod", memory="512Mi"),
    )
    put(
        folder / "platform/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: init-data\n",
    )
    text = SMALL.replace(
        "devices: {}",
        "devices:\n          disks:\n          - name: root\n            disk:\n              bus: \n          ",
    )
    text += "      volumes:\n      - name: init\n        cloudInitNoCloud:\n          secretRef:\n            name: \n"

    async def work() -> None:
        async with opened(folder, "--kubevirt", "1.6") as editor:
            editor.open("vms/web.yaml")
            names = await editor.complete("vms/web.yaml", "small", 2)
            assert next(iter(names.items())) == ("small", "1 vCPU, 1Gi memory")
            assert names["u1.medium"] == "1 vCPU, 4Gi memory"
            assert "tiny" not in names
            editor.type(
                "vms/web.yaml", vm("web", namespace="prod", instancetype="ti", kind=NAMESPACED)
            )
            assert await editor.complete("vms/web.yaml", "name: ti", 8) == {
                "tiny": "1 vCPU, 512Mi memory"
            }
            editor.type("vms/web.yaml", text)
            buses = await editor.complete("vms/web.yaml", "bus: ", 5)
            assert list(buses) == ["virtio", "scsi", "sata", "usb"]
            editor.type("vms/web.yaml", text.replace("disk:\n              bus: ", "cache: no"))
            assert "writethrough" in await editor.complete("vms/web.yaml", "cache: ", 7)
            editor.type("vms/web.yaml", text)
            strategies = await editor.complete("vms/web.yaml", "Always")
            assert "RerunOnFailure" in strategies
            fields = await editor.complete("vms/web.yaml", "domain", 2)
            assert fields["networks"] == "list of Network"
            assert "utilityVolumes" not in fields  # of a later release
            assert "volumes" not in fields  # is there
            assert "init-data" in await editor.complete(
                "vms/web.yaml", "secretRef:\n            name: ", 29
            )
            assert await editor.complete("vms/web.yaml", "apiVersion: ku", 14) == {}

    driven(work)


def test_code_actions(folder: Path) -> None:
    text = SMALL.replace("  name: web\n", "  name: web\n  labels:\n    zone: 1 # of the house\n")

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.type("vms/web.yaml", text)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR106"])
            (finding,) = editor.diagnostics["vms/web.yaml"]
            (action,) = await editor.actions("vms/web.yaml", finding)
            assert action.title == "put the value in quotes"
            assert action.kind == types.CodeActionKind.QuickFix
            assert action.is_preferred
            assert list(action.diagnostics or ()) == [finding]
            editor.apply(action)
            assert editor.texts["vms/web.yaml"] == text.replace("zone: 1 #", 'zone: "1" #')
            await editor.until(lambda: editor.codes("vms/web.yaml") == [])

    driven(work)


def test_nothing_but_the_protocol_is_on_standard_output(folder: Path) -> None:
    """Whatever the files hold, and whoever prints."""
    put(folder / "vms/bad.yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nx: [\n")
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"capabilities": {}, "processId": None, "rootUri": folder.as_uri()},
        },
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    data = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        data += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    done = subprocess.run(
        argv("lsp"),
        cwd=folder,
        env=environ(VIRT_RENDER_DEBUG="1"),
        input=data,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    rest, answers = done.stdout, []
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        size = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        answers.append(json.loads(rest[:size]))
        rest = rest[size:]
    assert [answer["id"] for answer in answers if "id" in answer] == [1, 2]
    assert any(answer.get("method") == "textDocument/publishDiagnostics" for answer in answers)


def test_without_the_extra(tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['pygls'] = None; sys.argv[1:] = ['lsp'];"
        " from render.frontends.dispatch import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environ(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "the language server needs pygls" in done.stderr
    assert "pip install '.[editor]'" in done.stderr


def test_no_other_command_imports_it(folder: Path) -> None:
    check = (
        "import sys; from render.frontends.dispatch import invoke; invoke(['check', '.']);"
        " print('pygls' in sys.modules, 'lsprotocol' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environ(),
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "False False"


def test_usage(tmp_path: Path) -> None:
    done = run("lsp", "--kubevirt", "0.1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "kubevirt" in done.stderr


def test_it_says_what_check_says(folder: Path, kustomize: str, helm: str) -> None:  # noqa: ARG001 - on the PATH
    """Of a repository with two roots, a lock, a chart, a patch, and parts that cannot be read."""
    put(folder / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(folder / "base/vm.yaml", vm("shop", instancetype="small"))
    put(folder / "prod/kustomization.yaml", "resources: [../base]\n")
    assert run("pin", ".", cwd=folder).returncode == 0
    assert (folder / "prod/virt-render.lock.yaml").exists()
    put(folder / "clusters/a/vm.yaml", vm("same", instancetype="small"))
    put(folder / "clusters/b/vm.yaml", vm("same", instancetype="small", memory="3Gi"))
    put(folder / "broken/kustomization.yaml", "resources: [gone.yaml, vm.yaml]\n")
    put(folder / "broken/vm.yaml", vm("broken"))
    put(folder / "prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n")
    put(folder / "prod/patch.yaml", vm("shop", memory="4Gi"))
    put(folder / "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    put(folder / "chart/values.yaml", "memory: 5Gi\n")
    put(
        folder / "chart/templates/vm.yaml",
        vm("chart", instancetype="small", memory="{{ .Values.memory }}"),
    )
    put(folder / "bad.yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nx: [\n")
    checked = json.loads(run("check", ".", "--format", "json", cwd=folder).stdout)["diagnostics"]
    errors = sorted(
        diagnostic["code"] for diagnostic in checked if diagnostic["severity"] == "error"
    )
    assert len(errors) > len({"VR101", "VR116"})

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            await editor.hover("vms/web.yaml", "small")
            codes = [
                str(diagnostic.code)
                for several in editor.diagnostics.values()
                for diagnostic in several
                if diagnostic.severity is types.DiagnosticSeverity.Error
            ]
            assert sorted(codes) == errors
            assert editor.codes("prod/patch.yaml") == ["VR301"]
            assert editor.codes("broken/kustomization.yaml") == ["VR116"]

    driven(work)
