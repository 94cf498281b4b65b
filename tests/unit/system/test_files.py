import errno
import os
import stat
from pathlib import Path

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.system import files, writing


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


def test_a_link_that_is_taken_away_meanwhile_stands_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    resolve = os.readlink

    def taken_away(path: str) -> str:
        if path == str(link):
            link.unlink()
            link.touch()
        return resolve(path)

    monkeypatch.setattr(os, "readlink", taken_away)
    assert files.real_path(str(link)) == str(link)


@pytest.mark.parametrize(
    "name",
    [
        "folder", "folder/", "folder/file", "folder/file/", "folder/up/folder/file", "link", "link/..", "loop",
        "loop/x", "dangling", "dangling/x", "nothing/x", "pipe", "file (deleted)", "folder/\udcff", "", ".", "..",
    ],
)  # fmt: skip
def test_a_path_is_resolved_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for file in ("folder/file", "folder/\udcff", "file (deleted)"):
        (tmp_path / file).touch()
    links = {"link": "folder/file", "folder/up": "..", "loop": "loop", "dangling": "/nowhere/x"}
    for link, target in links.items():
        (tmp_path / link).symlink_to(target)
    os.mkfifo("pipe")
    assert files.real_path(name) == os.path.realpath(name)


def test_what_has_no_name_is_resolved_as_python_does() -> None:
    reading, writing = os.pipe()
    try:
        assert files.real_path(f"/dev/fd/{reading}") == os.path.realpath(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000])
def test_what_no_file_can_be_called_is_not_there(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    found = files.read(path, name, 5)
    assert isinstance(found, Diagnostic)
    assert found.code == "VR110"
    assert files.unfit(path, 5) is None
    assert files.real_path(path).endswith(name)
    assert not [*files.walk(path)]


def test_a_device_is_refused_and_what_lies_about_its_size_is_bounded() -> None:
    zero = files.read("/dev/zero", "zero", 10)
    assert isinstance(zero, Diagnostic)
    assert zero.code == "VR110"
    status = files.read("/proc/self/status", "status", 10)  # says that it has no bytes
    assert isinstance(status, Diagnostic)
    assert status.code == "VR111"
    assert isinstance(files.read("/proc/self/status", "status", 1 << 20), bytes)


def test_a_file_that_grows_is_read_no_further_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end may never come."""
    target, read = tmp_path / "a", os.read
    target.write_bytes(b"1")
    reads: list[int] = []

    def growing(descriptor: int, size: int) -> bytes:
        with target.open("ab") as stream:
            stream.write(b"1234")
        assert len(reads) < 20
        reads.append(size)
        return read(descriptor, min(size, 4))

    monkeypatch.setattr(os, "read", growing)
    found = files.read(str(target), "a", 10)
    assert isinstance(found, Diagnostic)
    assert found.code == "VR111"
    assert reads[0] == 2  # one more than it had
    assert len(reads) == 4  # 2, 6, 10 and 14 bytes


def test_a_write_replaces_the_text_and_keeps_the_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.yaml"
    target.write_text("old")
    target.chmod(0o640)
    writing.write_atomic(str(target), "né\n")
    assert target.read_bytes() == "né\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.yaml"]


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        writing.write_atomic(str(tmp_path / "out.yaml"), "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.yaml").stat().st_mode) == 0o640


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/out.yaml").write_text("old")
    (tmp_path / "link.yaml").symlink_to("real/out.yaml")
    writing.write_atomic(str(tmp_path / "link.yaml"), "new")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real/out.yaml").read_text() == "new"


def test_a_device_is_written_not_replaced() -> None:
    writing.write_atomic("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No space left"):
        writing.write_atomic("/dev/full", "x")


@pytest.mark.parametrize("name", ["no/such/out.yaml", "folder"])
def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"No such file|Is a directory"):
        writing.write_atomic(str(tmp_path / name), "x")
    assert os.listdir(tmp_path) == ["folder"]


def test_several_files_are_replaced_only_when_all_could_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileNotFoundError):
        writing.write_all([(str(tmp_path / "a"), "new"), (str(tmp_path / "no/b"), "new")])
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / f".virt-render-{os.getpid()}-0.tmp").symlink_to("elsewhere")
    writing.write_atomic(str(tmp_path / "out.yaml"), "new")
    assert (tmp_path / "out.yaml").read_text() == "new"
    assert not (tmp_path / "out.yaml").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "kept"


def test_a_strangers_temporary_file_is_left_alone(tmp_path: Path) -> None:
    """In another container a process has our number, and may be writing still."""
    for number in range(3):
        (tmp_path / f".virt-render-{os.getpid()}-{number}.tmp").write_text("of another")
    pairs = [(str(tmp_path / name), "new") for name in ("a", "b")]
    writing.write_all(pairs)
    writing.write_all(pairs)
    strangers = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert [path.read_text() for path in strangers] == ["of another"] * 3
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["new", "new"]
    assert len(os.listdir(tmp_path)) == 5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["out.yaml", "link.yaml"])
def test_a_file_keeps_its_owner_and_group(tmp_path: Path, name: str) -> None:
    target = tmp_path / "out.yaml"
    (tmp_path / "link.yaml").symlink_to("out.yaml")
    target.write_text("old")
    os.chown(target, 12345, 23456)
    target.chmod(0o664)
    writing.write_atomic(str(tmp_path / name), "new")
    status = target.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o664)
    assert target.read_text() == "new"


@pytest.mark.parametrize("allowed", [-1, None], ids=["the-group-may-be-set", "nothing-may"])
def test_who_may_not_give_files_away_writes_them_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: int | None
) -> None:
    requested: list[tuple[int, int]] = []

    def fchown(_: int, owner: int, group: int) -> None:
        requested.append((owner, group))
        if owner != allowed:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    target = tmp_path / "out.yaml"
    target.write_text("old")
    target.chmod(0o640)
    was = target.stat()
    monkeypatch.setattr(os, "fchown", fchown)
    writing.write_atomic(str(target), "new")
    assert requested == [(was.st_uid, was.st_gid), (-1, was.st_gid)]
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o640)


def test_the_text_of_a_secret_file_is_never_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []

    def fsync(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))

    target = tmp_path / "out.yaml"
    target.write_text("old")
    target.chmod(0o600)
    monkeypatch.setattr(os, "fsync", fsync)
    writing.write_atomic(str(target), "new")
    assert modes == [0o600]


@pytest.fixture
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is to be written, of which ``e`` cannot be replaced, ``b`` is new and the others are there."""
    replace = os.replace

    def refuse(source: str, target: str) -> None:
        if target.endswith("/e"):
            raise PermissionError(errno.EPERM, "Operation not permitted", source, None, target)
        replace(source, target)

    for name in "acdef":
        (tmp_path / name).write_text(f"old {name}")
    monkeypatch.setattr(os, "replace", refuse)
    return [(str(tmp_path / name), "new") for name in "abcdef"]


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_what_was_replaced_is_put_back(tmp_path: Path, blocked: list[tuple[str, str]]) -> None:
    before, inode = texts(tmp_path), (tmp_path / "a").stat().st_ino
    with pytest.raises(PermissionError) as caught:
        writing.write_all(blocked)
    assert texts(tmp_path) == before
    assert (tmp_path / "a").stat().st_ino == inode
    found = writing.unwritable(caught.value, "out")
    assert found.message == f"cannot write {tmp_path}/e: Operation not permitted"


@pytest.mark.parametrize(
    ("first", "message"), [(0, "/a, {0}/c, {0}/d"), (1, "/c, {0}/d")], ids=["three", "two"]
)
def test_what_cannot_be_put_back_is_named(
    first: int,
    message: str,
    tmp_path: Path,
    blocked: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: str) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    before = texts(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(writing.TornError) as caught:
        writing.write_all(blocked[first:])
    assert texts(tmp_path) == before | {Path(name).name: "new" for name in caught.value.replaced}
    assert writing.unwritable(caught.value, "out").message == (
        f"cannot write {tmp_path}/e: Operation not permitted; replaced already, and not put back: "
        + str(tmp_path)
        + message.format(tmp_path)
    )


@pytest.mark.parametrize(
    ("torn", "named"),
    [("abcdxyz", "a, b, c, 4 more"), ("abcd", "a, b, c, 1 more"), ("abc", "a, b, c")],
)
def test_of_many_that_cannot_be_put_back_a_few_are_named(torn: str, named: str) -> None:
    error = writing.TornError(PermissionError(errno.EPERM, "no", "e"), list(torn))
    text = f"cannot write e: no; replaced already, and not put back: {named}"
    assert writing.unwritable(error, "out").message == text


@pytest.mark.parametrize("now", ["edited", "old but longer", "", None])
def test_nothing_is_replaced_where_a_known_file_has_changed(
    tmp_path: Path, now: str | None
) -> None:
    (tmp_path / "a").write_text("old")
    if now is not None:
        (tmp_path / "b").write_text(now)
    known = [(str(tmp_path / name), b"old") for name in "ab"]
    before = texts(tmp_path)
    with pytest.raises(writing.ChangedError) as caught:
        writing.write_all([(str(tmp_path / "a"), "new")], known=known)
    assert texts(tmp_path) == before
    found = writing.unwritable(caught.value, "out")
    assert found.message == f"nothing was written, since {tmp_path}/b has changed after it was read"
    assert found.help == "run the same command again"


def test_a_pipe_without_a_name_is_written_as_dev_stdout_names_it() -> None:
    reader, writer = os.pipe()
    try:
        writing.write_atomic(f"/proc/self/fd/{writer}", "a: 1\n")
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"a: 1\n"
