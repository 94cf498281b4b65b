"""A real git repository with VMs in it, and virt-render as a process in it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from render.manifests.reader import read

INSTANCETYPE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata:
  name: {name}
  namespace: prod
spec:
  cpu:
    guest: {cpus}
  memory:
    guest: {memory}
"""
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
  namespace: prod
spec:
  runStrategy: Always
  instancetype:
    name: {instancetype}
    kind: VirtualMachineInstancetype
  template:
    spec:
      domain:
        devices: {{}}
"""
LOCK = "virt-render.lock.yaml"


class Repository:
    """A folder under git, without the settings of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, check: bool = True) -> str:
        """What git prints."""
        settings = {
            "user.name": "Test",
            "user.email": "test@example.com",
            "commit.gpgsign": "false",
        }
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *options, *words],
            cwd=self.folder, env=environ, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, subject: str) -> str:
        """Commit everything; the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD").strip()

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Virt-render as a process in the folder."""
        return subprocess.run(
            [sys.executable, "-m", "render", *words],
            cwd=self.folder, input=stdin, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip

    def fine(self, *words: str) -> str:
        """What virt-render prints where it succeeds."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def instancetype(self, name: str, cpus: int = 2, memory: str = "2Gi") -> None:
        """Write an instancetype of namespace prod."""
        text = INSTANCETYPE.format(name=name, cpus=cpus, memory=memory)
        self.write(f"instancetypes/{name}.yaml", text)

    def vm(self, name: str, instancetype: str = "small") -> None:
        """Write a VM of namespace prod."""
        self.write(f"vms/{name}.yaml", VM.format(name=name, instancetype=instancetype))

    @property
    def lock(self) -> Path:
        """The lock."""
        return self.folder / LOCK

    @property
    def pins(self) -> dict[str, Any]:
        """What the lock says, by VM."""
        (document,) = read(self.lock.read_bytes(), LOCK).documents
        pins: dict[str, Any] = document.body["pins"]
        return pins


def documents(text: str) -> list[Any]:
    """The objects in a stream."""
    found = read(text.encode(), "text")
    assert not found.diagnostics
    return [document.body for document in found.documents]


def vm_in(text: str, name: str) -> Any:
    """The VM *name* in a stream."""
    (found,) = (
        body
        for body in documents(text)
        if body["kind"] == "VirtualMachine" and body["metadata"]["name"] == name
    )
    return found
