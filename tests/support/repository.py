"""A real git repository with VMs in it, and virt-render in it."""

import atexit
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from render.yaml.reader import read
from tests.support import manifests, process
from tests.support.asking import Ask

LOCK = "virt-render.lock.yaml"
_OURS_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
#: What git says of a commit: ``[main (root-commit) ID] SUBJECT``.
_COMMITTED = re.compile(r"^\[.* ([0-9a-f]{40})\] ", re.MULTILINE)


@cache
def _new_repository() -> str:
    """What git makes of an empty folder, to be copied: git takes ten times as long, and tests make hundreds."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    command = ["git", "init", "--quiet", "--initial-branch=main", "--template=", folder.name]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(command, env={**environ, **_OURS_ALONE}, check=True)
    return folder.name


class Repository:
    """A folder under git, without the settings of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / ".git").exists():
            shutil.copytree(_new_repository(), folder, dirs_exist_ok=True)

    def git(self, *words: str, check: bool = True, stdin: str = "") -> str:
        """What git prints."""
        settings = {
            "user.name": "Test",
            "user.email": "test@example.com",
            "commit.gpgsign": "false",
            "gc.auto": "0",
            "maintenance.auto": "false",
        }
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        environ = {**os.environ, **_OURS_ALONE}
        done = subprocess.run(
            ["git", *options, *words],
            cwd=self.folder, env=environ, input=stdin, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, subject: str) -> str:
        """Commit everything; the id of the commit."""
        self.git("add", "--all")
        words = ("--allow-empty", "--no-status", "--message", subject)
        printed = self.git("-c", "core.abbrev=40", "commit", *words)
        found = _COMMITTED.search(printed)
        assert found, printed
        return found[1]

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Virt-render as a process in the folder."""
        return process.run(*words, cwd=self.folder, stdin=stdin)

    def fine(self, *words: str) -> str:
        """What virt-render prints where it succeeds."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        manifests.put(self.folder / name, text)

    def instancetype(
        self, name: str, cpus: int = 2, memory: str = "2Gi", folder: str = "instancetypes"
    ) -> None:
        """Write an instancetype of namespace prod."""
        text = manifests.instancetype(
            name, namespace="prod", kind=manifests.NAMESPACED, cpus=cpus, memory=memory
        )
        self.write(f"{folder}/{name}.yaml", text)

    def vm(self, name: str, instancetype: str = "small", folder: str = "vms") -> None:
        """Write a VM of namespace prod."""
        text = manifests.vm(
            name, namespace="prod", instancetype=instancetype, kind=manifests.NAMESPACED
        )
        self.write(f"{folder}/{name}.yaml", text)

    def kill_upgrades(self, attempts: int) -> tuple[int, bytes]:
        """Kill ``pin --upgrade-all`` at *attempts* moments of its run: how often it still ran, and the lock it makes.

        However early, the lock is the old one or the new one.
        """
        old = self.lock.read_bytes()
        began = time.monotonic()
        self.fine("pin", "--upgrade-all")
        duration = time.monotonic() - began
        new = self.lock.read_bytes()
        assert old != new
        chance = random.Random(0)  # noqa: S311 - no secret
        killed = 0
        for attempt in range(attempts):
            self.lock.write_bytes(old)
            # Half of them around the end, where the lock is written.
            earliest = 0.7 if attempt % 2 else 0.0
            upgrade = subprocess.Popen(
                process.argv("pin", "--upgrade-all"), cwd=self.folder, env=process.environ(),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            time.sleep(duration * chance.uniform(earliest, 1.0))
            upgrade.kill()
            killed += upgrade.wait() == -signal.SIGKILL
            assert self.lock.read_bytes() in (old, new)
        return killed, new

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


class RepositoryInProcess(Repository):
    """The same, where virt-render is no process of its own: *ask* is the fixture."""

    def __init__(self, folder: Path, ask: Ask) -> None:
        super().__init__(folder)
        self._ask = ask

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What virt-render does in the folder."""
        with contextlib.chdir(self.folder):
            answer = self._ask(*words, stdin=stdin)
        return subprocess.CompletedProcess(words, int(answer.exit), answer.out, answer.err)


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
