"""Whole repositories, strewn with edits: files, a kustomization, a chart, settings, a lock, in two commits."""

import contextlib
import io
import os
import subprocess
import tempfile
from collections.abc import Iterator

from render.frontends import dispatch
from tests.support.manifests import NAMESPACED, instancetype, put, vm
from tests.support.tools import required

_KUSTOMIZATION = """\
resources: [../../vms, web.yaml]
namePrefix: a-
patches:
- target: {kind: VirtualMachine, name: 'w.*|(a|aa)+'}
  patch: |
    - {op: add, path: /spec/template/spec/domain/cpu, value: {cores: 2}}
configMapGenerator:
- {name: c, files: [web.yaml]}
"""
_TEMPLATE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: {{ .Release.Name }}-c, labels: {a: {{ .Values.word }}}}
spec:
  runStrategy: Always
  template: {spec: {domain: {devices: {}, memory: {guest: {{ .Values.memory }}}}}}
"""
_SETTINGS = """\
apiVersion: virt-render.dev/v1alpha1
kind: RenderConfig
spec: {namespace: prod, exclude: ["tmp/**"], values: [chart/prod.yaml], fileParameters: [a.b=prod.yaml]}
"""
_PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: p}
spec: {selector: {matchLabels: {a: b}}, domain: {devices: {}, cpu: {cores: 4}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: v, labels: {a: b}}
spec: {domain: {devices: {disks: [{name: d, bootOrder: 1}]}}, volumes: [{name: d, emptyDisk: {capacity: 1Gi}}]}
"""
#: What a repository is made of until it is edited.
FILES: dict[str, bytes] = {
    name: text.encode()
    for name, text in {
        "vms/web.yaml": vm("web", instancetype="small", kind=NAMESPACED),
        "vms/small.yaml": instancetype("small", kind=NAMESPACED),
        "vms/kustomization.yaml": "resources: [web.yaml, small.yaml]\n",
        "overlays/a/kustomization.yaml": _KUSTOMIZATION,
        "overlays/a/web.yaml": vm("other", memory="1Gi"),
        "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
        "chart/values.yaml": "memory: 1Gi\nword: yes\n",
        "chart/prod.yaml": "memory: 2Gi\n",
        "chart/templates/vm.yaml": _TEMPLATE,
        ".virt-render.yaml": _SETTINGS,
        "loose/presets.yaml": _PRESET,
        "loose/virt-render.lock.yaml": "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\npins: {}\n",
        "HEAD": "ref: refs/heads/main\n",
    }.items()
}
_COMMANDS = (
    ["check", "."],
    ["diff", "HEAD~1..HEAD"],
    ["build", "overlays/a"],
    ["build", "chart"],
    ["report", "-o", os.devnull],
    ["history", "web"],
)
_INTERNAL = 4


def edited(data: bytes) -> Iterator[dict[str, bytes]]:
    """Two states of a repository: with the edits in the first half of *data*, and with all."""
    files = dict(FILES)
    names = sorted(files)
    for half in (data[: len(data) // 2], data[len(data) // 2 :]):
        stream = io.BytesIO(half)
        while len(head := stream.read(5)) == 5:
            name = names[head[0] % len(names)]
            text = files[name]
            place = (head[1] << 8 | head[2]) % (len(text) + 1)
            files[name] = text[:place] + stream.read(head[4] % 64) + text[place + head[3] % 32 :]
        yield dict(files)


def repository(data: bytes) -> None:
    """No command fails by a fault of ours, whatever stands in the files and in the history."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _quiet():
        _git("init", "--quiet", "--initial-branch=main")
        for state in edited(data):
            for name, text in state.items():
                put(name, "")
                with open(name, "wb") as file:
                    file.write(text)
            _git("add", "--all")
            _git("commit", "--quiet", "--allow-empty", "--message", "Edit")
        tools = ["--kustomize", required("kustomize"), "--helm", required("helm")]
        for words in _COMMANDS:
            assert dispatch.invoke([*words, *tools]) != _INTERNAL, words


def _git(*words: str) -> None:
    who = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.com",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let nothing be printed."""
    kept = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        yield
    finally:
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(nowhere)
