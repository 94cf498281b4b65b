"""What is written to a name that means no file of its own: a stream that is open, a pipe, a link."""

import os
import subprocess
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.system import writing
from tests.support import process
from tests.support.manifests import vm

NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vm.yaml").write_text(vm(memory="1Gi"), encoding="utf-8")
    return tmp_path


def written(folder: Path, *words: str, before: bytes = b"before\n") -> bytes:
    """What a file holds to which standard output was redirected behind something else."""
    with (folder / "out").open("wb") as out:
        out.write(before)
        out.flush()
        subprocess.run(
            process.argv(*words, "--quiet"),
            cwd=folder, env=process.environ(), stdout=out, check=True,
        )  # fmt: skip
        os.write(out.fileno(), b"after\n")
    return (folder / "out").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_that_is_a_file_is_written_from_where_it_stands(name: str, folder: Path) -> None:
    inode = (folder / "vm.yaml").stat().st_ino
    printed = process.run("build", "vm.yaml", "--quiet", cwd=folder).stdout.encode()
    assert written(folder, "build", "vm.yaml", "-o", name) == b"before\n" + printed + b"after\n"
    report = written(folder, "check", "vm.yaml", "--json-file", name)
    assert report.startswith(b"before\n{")
    assert report.endswith(b"}\nafter\n")
    assert (folder / "vm.yaml").stat().st_ino == inode
    assert sorted(os.listdir(folder)) == ["out", "vm.yaml"]


def test_a_stream_that_is_not_open_is_refused(folder: Path) -> None:
    done = process.run("build", "vm.yaml", "-o", "/dev/fd/99", cwd=folder)
    assert done.returncode != 0
    assert "cannot write /dev/fd/99: Bad file descriptor" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("target", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "../outside"])
def test_no_link_of_a_repository_leads_to_a_stream(
    target: str, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A lock, say, that somebody committed as a link."""
    (folder / ".git").mkdir()
    (folder / "link").symlink_to(target)
    out = tmp_path_factory.mktemp("out") / "out"
    with out.open("wb") as stream:
        done = subprocess.run(
            process.argv("build", "vm.yaml", "-o", "link"),
            cwd=folder, env=process.environ(), stdout=stream, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert b"a link of the repository leads out of it" in done.stderr
    assert out.read_bytes() == b""
    assert not (folder.parent / "outside").exists()


def test_a_link_elsewhere_is_written_to_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    writing.write_atomic(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"


def test_of_several_pipes_the_one_that_is_waited_for_is_named(folder: Path) -> None:
    for name in ("first", "second"):
        os.mkfifo(folder / name)
    files = "--json-file", "first", "--sarif-file", "second"
    done = process.run("check", "vm.yaml", *files, "--deadline", "2", cwd=folder)
    waiting = "the deadline of 2 s has passed while waiting for a reader of the named pipe first"
    assert waiting in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--json-file", "a.json", "--sarif-file", "pipe"),
        ("build", "--json-file", "-", "--sarif-file", "pipe", "-o", "out.yaml"),
        ("build", "--json-file", "a.json", "-o", "pipe"),
    ],
)
def test_a_deadline_passes_after_another_file_was_written(
    words: tuple[str, ...], folder: Path
) -> None:
    """Which then says so, too."""
    os.mkfifo(folder / "pipe")
    done = process.run(words[0], "vm.yaml", *words[1:], "--deadline", "2", cwd=folder)
    assert done.returncode == Exit.DEADLINE
    waiting = "the deadline of 2 s has passed while waiting for a reader of the named pipe pipe"
    assert waiting in done.stdout + done.stderr
    if "a.json" in words:
        assert waiting in (folder / "a.json").read_text(encoding="utf-8")
    assert not (folder / "out.yaml").exists()


def test_a_report_says_that_it_waits_for_the_reader_of_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    done = process.run("check", "vm.yaml", "--json-file", "pipe", "--deadline", "2", cwd=folder)
    assert done.returncode != 0
    waiting = "the deadline of 2 s has passed while waiting for a reader of the named pipe pipe"
    assert waiting in done.stdout
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = process.run("check", "vm.yaml", "--json-file", "pipe", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert os.read(reader, 1 << 16).startswith(b"{")
    finally:
        os.close(reader)
