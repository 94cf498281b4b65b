"""Whole repositories, strewn with edits: files, a kustomization, a chart, settings, a lock, in two commits."""

import atexit
import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

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
    """No command fails by a fault of ours, whatever stands in the files and in the history.

    One command an input, as its first byte says: all of them would take longer than a fuzzer waits.
    """
    words = _COMMANDS[(data[0] if data else 0) % len(_COMMANDS)]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _quiet():
        states = [*edited(data[1:])]
        shutil.copytree(_empty_repository(), ".git")
        _import(states)
        for name, text in states[-1].items():
            put(name, "")
            with open(name, "wb") as file:
                file.write(text)
        tools = ["--kustomize", required("kustomize"), "--helm", required("helm")]
        assert dispatch.invoke([*words, *tools]) != _INTERNAL, words


@cache
def _empty_repository() -> str:
    """What git makes of an empty folder, as it lies in ``.git``."""
    folder = tempfile.mkdtemp(prefix="virt-render-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _git("init", "--quiet", "--initial-branch=main", "--template=", folder)
    return os.path.join(folder, ".git")


def _import(states: Sequence[Mapping[str, bytes]]) -> None:
    """Commit *states*, one after the other."""
    stream = b""
    for number, files in enumerate(states):
        stream += b"commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 1\nx\n" % (
            1700000000 + number
        )
        stream += b"deleteall\n"
        for name, text in files.items():
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(text), text)
    _git("fast-import", "--quiet", stdin=stream)


def _git(*words: str, stdin: bytes = b"") -> None:
    subprocess.run(["git", *words], check=True, capture_output=True, input=stdin)


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
