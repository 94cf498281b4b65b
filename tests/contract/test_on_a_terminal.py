"""What commands show at a real terminal: lines as wide as it is, colours if wanted, the words of a pipe."""

import fcntl
import os
import re
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support import forkserver
from tests.support.cases import ROOT
from tests.support.process import environ, run
from tests.support.tools import required

COLUMNS = 60
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_PROGRESS = re.compile(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K")
#: Lines of files, which are not folded: quoted with a caret below, and the example of a rule.
_QUOTED = re.compile(r"\s+\d* \||    .*[{$]")
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {name: u1.medium}
  template:
    spec:
      domain:
        memory: {guest: 8Gi}
        devices: {}
"""
COMMANDS = {
    "check": "check odd",
    "fixes": "check odd --fix --unsafe-fixes --diff",
    "build": "build odd",
    "diff": "diff --emit vm main",
    "explain": "explain prod/database",
    "pin": "pin --dry-run",
    "history": "history",
    "used-by": "used-by shop.database",
    "catalog": "catalog list",
    "factor": "factor",
    "migrate": "migrate web",
    "verify": "verify web",
    "rule": "rule network/interface-mac",
    "test": "test",
}
EXPECTED = """\
apiVersion: virt-render.dev/v1alpha1
kind: Test
given: {paths: [web]}
expect:
  - name: the database has memory
    vm: database
    vmi: {spec: {domain: {memory: {guest: 2Gi}}}}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with a lock, an edited instancetype and a VM that is refused."""
    required("kustomize")
    folder = tmp_path_factory.mktemp("terminal") / "shop"
    shutil.copytree(ROOT / "fixtures" / "demo", folder)
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    assert run("pin", cwd=folder).returncode == 0
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)
    subprocess.run(["git", *identity, "commit", "--quiet", "-m", "Add"], cwd=folder, check=True)
    definitions = folder / "platform" / "instancetypes.yaml"
    definitions.write_text(definitions.read_text().replace("guest: 32Gi", "guest: 33Gi"))
    (folder / "odd").mkdir()
    (folder / "odd" / "vm.yaml").write_text(VM)
    (folder / "web" / "shop.virt-test.yaml").write_text(EXPECTED)
    return folder


def at_terminal(words: str, folder: Path, **more: str) -> str:
    """What *words* show at a terminal of COLUMNS, without the line that tells how far they are."""
    ours, upstream = os.openpty()
    fcntl.ioctl(upstream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    variables = environ(TERM="xterm", **more)
    variables.pop("COLUMNS", None)
    if "NO_COLOR" not in more:
        variables.pop("NO_COLOR", None)
    with forkserver.start(words.split(), folder, variables, [upstream] * 3) as status:
        os.close(upstream)
        printed = b""
        try:
            while piece := os.read(ours, 1 << 16):
                printed += piece
        except OSError:  # Linux: nobody has the other end any more
            pass
        assert int(status.recv(64)) in {Exit.OK, Exit.FINDINGS, Exit.USAGE}
    os.close(ours)
    return _PROGRESS.sub("", printed.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_are_as_wide_as_the_terminal_and_have_the_words_of_a_pipe(
    shop: Path, name: str
) -> None:
    printed = _STYLE.sub("", at_terminal(COMMANDS[name], shop))
    assert printed
    wide = [
        line
        for line in printed.splitlines()
        if len(line) > COLUMNS and " " in line.strip() and not _QUOTED.match(line)
    ]
    assert not wide
    done = run(*COMMANDS[name].split(), cwd=shop, NO_COLOR="")
    piped = done.stdout + done.stderr
    assert "\x1b" not in piped
    assert not set(piped.split()) - set(printed.split())


def test_a_page_is_printed_to_no_terminal_that_did_not_ask_for_it(shop: Path) -> None:
    printed = _STYLE.sub("", at_terminal("report", shop))
    assert "<html" not in printed
    assert "virt-render report -o fleet.html" in printed
    assert "<html" in at_terminal("report -o -", shop)
    assert "<html" in at_terminal("report --format html", shop)
    assert at_terminal("report --format csv", shop).startswith("kind,namespace,name")
    assert "<html" in run("report", cwd=shop).stdout


@pytest.mark.parametrize("name", ["check", "fixes", "diff", "explain", "history"])
def test_colours_are_for_who_wants_them(shop: Path, name: str) -> None:
    assert _STYLE.search(at_terminal(COMMANDS[name], shop))
    assert not _STYLE.search(at_terminal(COMMANDS[name], shop, NO_COLOR="1"))
