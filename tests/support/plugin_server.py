"""A stand-in for Argo CD's plugin server: what it does with files, processes and output, and nothing else.

Written after Argo CD v3.5.1 (cmpserver/plugin/plugin.go, util/io/files, gitops-engine/pkg/utils/kube/kube.go).
"""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from render.yaml.reader import read
from tests.support import forkserver

_BUFFER = 0.1
_FATAL = 5


class GenerateError(Exception):
    """The text that reaches the Application after "error generating manifests: "."""


@dataclass(frozen=True)
class PluginServer:
    """*plugin* is the parsed plugin.yaml, *environ* the environment of the sidecar."""

    plugin: Any
    environ: Mapping[str, str]
    work: Path

    def generate(
        self, repository: Path, app: str, environ: Mapping[str, str], timeout: float = 60
    ) -> tuple[list[Any], str]:
        """The objects that Argo CD gets for the folder *app*, and what went to the log."""
        root = Path(tempfile.mkdtemp(dir=self.work))
        try:
            _extract(repository, root)
            command = self.plugin["spec"]["generate"]
            argv = [*command["command"], *command.get("args", ())]
            out, log = self._run(argv, root / app, environ, timeout)
            return _received(_split(out)), log
        finally:
            shutil.rmtree(root)

    def _run(
        self, argv: list[str], folder: Path, environ: Mapping[str, str], timeout: float
    ) -> tuple[str, str]:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        try:  # success takes an exit and both pipes closed: whoever holds one stalls the request
            out, log = process.communicate(timeout=timeout - _BUFFER)
        except subprocess.TimeoutExpired:
            process.kill()
            _stop_group(process.pid)
            out, log = process.communicate()
        return _answer(argv, process.returncode, out.decode(), log.decode())


class ForkingPluginServer(PluginServer):
    """The same with processes that have our modules loaded already: for what comes of them, not how they start."""

    def _run(
        self, argv: list[str], folder: Path, environ: Mapping[str, str], timeout: float
    ) -> tuple[str, str]:
        program, *words = argv
        assert program == "virt-render"
        done = forkserver.run(words, folder, {**self.environ, **environ}, "", timeout)
        return _answer(argv, done.returncode, done.stdout, done.stderr)


def _answer(argv: list[str], code: int, out: str, log: str) -> tuple[str, str]:
    text = log.strip()
    if code:
        how = f"signal: {signal.strsignal(-code)}".lower() if code < 0 else f"exit status {code}"
        raise GenerateError(f"`{' '.join(argv)}` failed {how}: {text}")
    return out.removesuffix("\n"), text


def _stop_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGTERM)
    except ProcessLookupError:
        return


def _extract(repository: Path, root: Path) -> None:
    """Regular files 0644, folders 0755, symbolic links as they are, everything else left out; new times."""
    for folder, folders, files in os.walk(repository):
        target = root / Path(folder).relative_to(repository)
        target.mkdir(mode=0o755, exist_ok=True)
        for name in (*folders, *files):
            source = Path(folder) / name
            if source.is_symlink():
                (target / name).symlink_to(os.readlink(source))
            elif stat.S_ISREG(source.lstat().st_mode):
                shutil.copyfile(source, target / name)
                (target / name).chmod(0o644)


def _split(out: str) -> list[str]:
    """First pass, in the plugin server: documents to JSON texts."""
    for line in out.splitlines():
        if line.startswith("---") and not re.fullmatch(r"---\s*(#.*)?", line):
            raise GenerateError(f"invalid Yaml document separator: {line[3:]}")
    found = read(out.encode(), "stdout")
    if found.diagnostics:
        raise GenerateError(f"failed to unmarshal manifest: {found.diagnostics[0].message}")
    return [
        json.dumps(document.body, ensure_ascii=False, sort_keys=True)
        for document in found.documents
    ]


def _received(texts: list[str]) -> list[Any]:
    """Second pass, in the repository server: each JSON text is read as YAML, and Lists are taken apart."""
    bodies: list[Any] = []
    for text in texts:
        body = YAML(typ="safe", pure=True).load(text)
        if not isinstance(body, dict) or not body.get("kind"):
            raise GenerateError(
                f"failed to convert CMP manifests: Object 'Kind' is missing in {text}"
            )
        items = body.get("items")
        bodies += items if isinstance(items, list) else [body]
    return bodies
