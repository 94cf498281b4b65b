"""A page of documentation as a reader would follow it: its commands run in a folder, with what it says they print.

What counts on a page, in the order in which it stands there:

- a block of ``sh`` holds commands; one of ``console`` commands behind ``$``, each with what a terminal shows of it:
  ``...`` stands for whatever is left out, alone on a line for any lines;
- a block of YAML, JSON, CSV, Python or Rego whose first line is ``# NAME`` is written to that file;
- ``<!-- run`` begins a comment that holds commands which prepare what the reader has, up to ``-->``;
- ``<!-- place: NAME -->`` goes on in a fresh repository of git with ``fixtures/NAME`` in it, committed. A NAME
  ``FOLDER/STEP`` whose STEP has a ``change.patch`` is the repository after that step and those before it.

A page begins in an empty repository. A command ends with 0, or with 1 where it is shown what it prints.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from render.frontends.dispatch import invoke
from tests.support.cases import ROOT

_STEP = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *(?P=fence) *$"
    r"|^<!-- place: (?P<place>\S+) -->$"
    r"|^<!-- run\n(?P<hidden>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"# (?P<name>[\w./-]+\.(?:ya?ml|json|csv|py|rego))\n")
_SECONDS = 60
#: What only a shell understands, outside of quotes.
_SHELL = re.compile(r"[|<>&;$`(){}*?\[\]~\\#]|^\w+=")
_QUOTED = re.compile(r"'[^']*'")
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (
        ("NAME", "Test"), ("EMAIL", "test@example.com"), ("DATE", "2026-01-01T00:00:00Z"))},
}  # fmt: skip


class PageCommand(NamedTuple):
    """A command of a page: its text, what is shown of its output (None: nothing is said of it), its line."""

    text: str
    documented: str | None
    line: int


class PageFile(NamedTuple):
    """A file that a page shows."""

    name: str
    text: str


class PagePlace(NamedTuple):
    """Where a page goes on."""

    name: str


def steps(page: str) -> Iterator[PageCommand | PageFile | PagePlace]:
    """What is to be done to follow *page*, a text in Markdown."""
    for found in _STEP.finditer(page):
        line = page.count("\n", 0, found.start()) + 2
        text = textwrap.dedent(found["text"] or found["hidden"] or "")
        if found["place"]:
            yield PagePlace(found["place"])
        elif found["hidden"]:
            yield PageCommand(text, None, line)
        elif found["language"] == "sh":
            yield from _commands(text, line)
        elif found["language"] == "console":
            yield from _documented(text, line)
        elif file := _FILE.match(text):
            yield PageFile(file["name"], text)


def shown_only(page: str) -> Iterator[str]:
    """The first lines of the blocks of *page* that whoever follows it neither runs nor writes to a file."""
    for found in _STEP.finditer(page):
        text = textwrap.dedent(found["text"] or "")
        if text and found["language"] not in {"sh", "console"} and not _FILE.match(text):
            yield text.partition("\n")[0].strip()


def _commands(text: str, line: int) -> Iterator[PageCommand]:
    """The commands of *text*, of which one may go on over several lines; with a variable, all of it is one."""
    if re.search(r"^\w+=", text, re.MULTILINE):
        yield PageCommand(text, None, line)
        return
    command = ""
    for number, text_line in enumerate(text.splitlines(), line):
        command += f"{text_line}\n"
        if _is_whole(command):
            if command.strip() and not command.lstrip().startswith("#"):
                yield PageCommand(command, None, number)
            command = ""
    assert not command, f"line {line}: {command!r} does not end"


def _is_whole(command: str) -> bool:
    """Whether nothing of *command* follows on the next line: no quote is open, no here-document, no pipe."""
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    if document := re.search(r"<<-?\s*'?(\w+)'?", command):
        return command.rstrip("\n").endswith(f"\n{document[1]}")
    return not command.rstrip().endswith(("\\", "|", "&&"))


def _documented(text: str, line: int) -> Iterator[PageCommand]:
    """Commands behind ``$``, each with the lines below it."""
    command, documented = "", ""
    at = line
    for number, text_line in enumerate(text.splitlines(), line):
        if text_line.startswith("$ ") and (not command or _is_whole(command)):
            if command:
                yield PageCommand(command, documented or None, at)
            command, documented, at = f"{text_line[2:]}\n", "", number
        elif not _is_whole(command):
            command += f"{text_line}\n"
        else:
            documented += f"{text_line}\n"
    assert command, f"line {line}: no line begins with $"
    yield PageCommand(command, documented or None, at)


def follow(page: str, folder: Path, passed_over: Callable[[str], bool]) -> int:
    """Do what *page* says below *folder*, an empty one, but for commands that are *passed_over*; how many were run.

    AssertionError for a command that does not end or print as the page says.
    """
    count = 0
    here = _opened(folder, PagePlace(""))
    for number, step in enumerate(steps(page), 1):
        if isinstance(step, PagePlace):
            here = _opened(folder / str(number), step)
        elif isinstance(step, PageFile):
            (here / step.name).parent.mkdir(parents=True, exist_ok=True)
            (here / step.name).write_text(step.text, encoding="utf-8")
        elif not passed_over(step.text):
            _tried(step, here)
            count += 1
    return count


def _tried(step: PageCommand, here: Path) -> None:
    status, printed = run(step.text, here)
    told = f"line {step.line}: {step.text.strip()}\n{printed}"
    assert status in ((0,) if step.documented is None else (0, 1)), f"status {status} of {told}"
    if step.documented is not None:
        assert fits(step.documented, printed), f"the page shows another output of {told}"


def fits(documented: str, printed: str) -> bool:
    """Whether *printed* is what is *documented*, where ``...`` stands for anything."""
    pattern = ""
    for line in documented.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("..."))) + r" *\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def _opened(folder: Path, place: PagePlace) -> Path:
    """The repository of *place* in *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    source = ROOT / "fixtures" / place.name
    is_step = (source / "change.patch").exists()
    if place.name and not is_step:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    if is_step:
        patches = [
            path for path in sorted(source.parent.glob("*/change.patch")) if path.parent <= source
        ]
        for patch in patches:
            _git(folder, "am", "--quiet", "--committer-date-is-author-date", str(patch))
    elif place.name:
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--message", "As it was")
    return folder


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env={**os.environ, **_GIT}, check=True)


def run(command: str, here: Path) -> tuple[int, str]:
    """The exit status of *command* in *here*, and what a terminal shows of it; ours alone needs no process."""
    words = shlex.split(command, comments=True)
    plain = _QUOTED.sub("", command.partition(" #")[0])
    if words[:1] == ["virt-render"] and not _SHELL.search(plain):
        return _invoked(words[1:], here)
    path = os.pathsep.join(
        (str(ROOT / ".tools" / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    )
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=here, env={**os.environ, **_GIT, "PATH": path}, encoding="utf-8", check=False, timeout=_SECONDS,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def _invoked(words: list[str], here: Path) -> tuple[int, str]:
    before, streams = Path.cwd(), (sys.stdout, sys.stderr)
    descriptors = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        for number in (1, 2):
            os.dup2(printed.fileno(), number)
        sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - given back below
        try:
            os.chdir(here)
            status = invoke(words)
        finally:
            sys.stdout.flush()
            os.chdir(before)
            sys.stdout, sys.stderr = streams
            for number, descriptor in zip((1, 2), descriptors, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
        printed.seek(0)
        return status, printed.read()
