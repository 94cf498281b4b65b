import os
import stat
from pathlib import Path

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import files


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\n")
    assert files.read(str(tmp_path / "a.yaml"), "a.yaml", 5) == b"a: 1\n"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        pytest.param("missing.yaml", "VR110", "No such file or directory", id="missing"),
        pytest.param("folder", "VR110", "neither a regular file nor a folder", id="a-folder"),
        pytest.param("pipe", "VR110", "neither a regular file", id="a-pipe-without-a-writer"),
        pytest.param("loop", "VR110", "Too many levels of symbolic links", id="a-link-to-itself"),
        pytest.param("large", "VR111", "limit of 5 bytes", id="too-large"),
    ],
)
def test_what_cannot_be_read_is_a_diagnostic(
    tmp_path: Path, name: str, code: str, words: str
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").write_bytes(b"123456")
    found = files.read(str(tmp_path / name), name, 5)
    assert isinstance(found, Diagnostic)
    assert (found.code, found.location.file) == (code, name)
    assert words in found.message


def test_a_device_is_refused_and_what_lies_about_its_size_is_bounded() -> None:
    zero = files.read("/dev/zero", "zero", 10)
    assert isinstance(zero, Diagnostic)
    assert zero.code == "VR110"
    status = files.read("/proc/self/status", "status", 10)  # says that it has no bytes
    assert isinstance(status, Diagnostic)
    assert status.code == "VR111"
    assert isinstance(files.read("/proc/self/status", "status", 1 << 20), bytes)


def test_a_write_replaces_the_text_and_keeps_the_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.yaml"
    target.write_text("old")
    target.chmod(0o640)
    files.write_atomic(str(target), "né\n")
    assert target.read_bytes() == "né\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.yaml"]


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_atomic(str(tmp_path / "out.yaml"), "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.yaml").stat().st_mode) == 0o640


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/out.yaml").write_text("old")
    (tmp_path / "link.yaml").symlink_to("real/out.yaml")
    files.write_atomic(str(tmp_path / "link.yaml"), "new")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real/out.yaml").read_text() == "new"


def test_a_device_is_written_not_replaced() -> None:
    files.write_atomic("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No space left"):
        files.write_atomic("/dev/full", "x")


@pytest.mark.parametrize("name", ["no/such/out.yaml", "folder"])
def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"No such file|Is a directory"):
        files.write_atomic(str(tmp_path / name), "x")
    assert os.listdir(tmp_path) == ["folder"]


def test_several_files_are_replaced_only_when_all_could_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileNotFoundError):
        files.write_all([(str(tmp_path / "a"), "new"), (str(tmp_path / "no/b"), "new")])
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / f".virt-render-{os.getpid()}-0.tmp").symlink_to("elsewhere")
    files.write_atomic(str(tmp_path / "out.yaml"), "new")
    assert (tmp_path / "out.yaml").read_text() == "new"
    assert not (tmp_path / "out.yaml").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "kept"
