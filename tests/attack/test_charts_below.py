"""A chart that nobody fills in is passed over for want of values alone: whatever else is wrong with it is an error."""

import os
import shlex
import socket
import subprocess
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support.asking import Ask
from tests.support.manifests import vm
from tests.support.process import argv, environ
from tests.support.repository import Repository

RUNNING = "  runStrategy: Always\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "repository")
    repository.write("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("c/templates/vm.yaml", vm(memory="1Gi"))
    return repository


def test_a_key_that_it_prints_twice(repository: Repository, helm: str) -> None:
    """Helm, kubectl and Argo CD take the last one."""
    text = vm(memory="1Gi").replace(
        RUNNING, f"{{{{- if true }}}}\n{RUNNING}{{{{- end }}}}\n{RUNNING}"
    )
    repository.write("c/templates/vm.yaml", text)
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == Exit.FINDINGS
    assert "error VR102 duplicate-key: key 'runStrategy'" in done.stdout
    assert "\n  c/templates/vm.yaml:9: the template that prints it\n" in done.stdout
    assert "not looked at" not in done.stderr


def test_more_than_may_be_read(repository: Repository, helm: str) -> None:
    repository.write(
        "c/templates/vm.yaml", "{{ range until 200 }}# none\n{{ end }}\n" + vm(memory="1Gi")
    )
    done = repository.run("check", ".", "--helm", helm, "--max-file-bytes", "1000")
    assert done.returncode == Exit.UNREADABLE
    assert "error VR111 limit-exceeded: c (helm template)" in done.stdout
    assert "not looked at" not in done.stderr


@pytest.mark.parametrize(
    "ending",
    [
        ("#!/nowhere\n", "cannot start "),
        ('#!/bin/sh\nulimit -v 200000\nexec HELM "$@"\n', "fatal error: "),
        ("#!/bin/sh\nkill -s ABRT $$\n", "ended by signal 6"),
    ],
)
def test_a_system_without_room_for_helm(
    repository: Repository,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    helm: str,
    ending: tuple[str, str],
) -> None:
    script, words = ending
    monkeypatch.setattr("render.system.programs.box._confining", lambda *_: None)
    program = repository.folder.parent / "helm"
    program.write_text(script.replace("HELM", shlex.quote(helm)), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(repository.folder)
    done = ask("check", ".", "--helm", str(program))
    assert done.exit == Exit.UNREADABLE
    assert f"c: error VR127 helm-failed: helm template c: {words}" in done.out


@pytest.mark.parametrize("words", ["cannot start", "fatal error: none", "ended by signal 6"])
def test_a_value_that_it_wants_is_called_as_it_likes(
    repository: Repository, helm: str, words: str
) -> None:
    text = f'{{{{ required "{words} without .Values.a" .Values.a }}}}\n'
    repository.write("c/templates/vm.yaml", vm(memory="1Gi") + text)
    done = repository.run("check", ".", "--helm", helm)
    assert done.returncode == Exit.OK, done.stdout
    assert "not looked at: 1 Helm chart" in done.stderr


@pytest.mark.parametrize(
    "name", [".helmignore", "values.schema.json", "values.yaml", "templates/x.yaml", "charts/x.tgz"]
)
def test_a_pipe_in_the_place_of_a_file(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, helm: str, name: str
) -> None:
    """Helm would wait for somebody to write into it."""
    pipe = repository.folder / "c" / name
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    for words in ("check .", "check c", "build c"):
        done = repository.run(*words.split(), "--helm", helm)
        assert done.returncode == Exit.UNREADABLE, done.stdout + done.stderr
        fault = f"c/{name}: neither a regular file nor a folder"
        assert f"error VR110 unreadable: cannot read {fault}" in done.stdout + done.stderr
    pipe.unlink()
    monkeypatch.chdir(pipe.parent)  # the path of a socket may have 100 characters
    server = socket.socket(socket.AF_UNIX)
    server.bind(pipe.name)
    server.close()
    assert repository.run("check", ".", "--helm", helm).returncode == Exit.UNREADABLE


@pytest.mark.parametrize("most", [12, 16])
def test_a_system_that_lets_nobody_open_more_files(repository: Repository, most: int) -> None:
    repository.write("c/charts/d/charts/e/charts/f/charts/g/charts/h/charts/i/x.yaml", "x: 1\n")
    repository.write(
        "c/Chart.yaml",
        "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies: [{name: z, repository: 'file://../z'}]\n",
    )
    repository.write("z/Chart.yaml", "apiVersion: v2\nname: z\nversion: 0.1.0\n")
    done = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *argv("check", ".")],
        cwd=repository.folder, env=environ(), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == Exit.UNREADABLE, done.stderr
    assert "Too many open files" in done.stdout + done.stderr
    assert "VR901" not in done.stderr
