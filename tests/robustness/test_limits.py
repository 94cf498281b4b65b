"""What a hostile or vanishing input may do: a diagnostic, the documented status, no output, nothing left behind."""

import contextlib
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support import process
from tests.support.manifests import vm
from tests.support.process import argv, environ

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"


def build(
    *words: str,
    cwd: Path,
    stdin: bytes = b"",
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv("build", *words), cwd=cwd, input=stdin, capture_output=True, check=False,
        env=environ(), preexec_fn=before, timeout=120,
    )  # fmt: skip


def refuse(done: subprocess.CompletedProcess[bytes], status: Exit, *words: str) -> None:
    """The run failed as it should: *status*, a diagnostic with *words*, no output."""
    report = done.stderr.decode()
    assert done.returncode == status, report
    assert done.stdout == b""
    assert " error VR" in report or report.startswith("virt-render: ")
    assert "Traceback" not in report
    for word in words:
        assert word in report


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing may appear."""
    work = tmp_path / "work"
    work.mkdir()
    yield work
    assert [path.name for path in tmp_path.rglob("*") if ".virt-render-" in path.name] == []


def test_billion_laughs(folder: Path) -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    refuse(
        build("-", cwd=folder, stdin="\n".join(lines).encode()), Exit.UNREADABLE, "aliases expand"
    )


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 10_000,
        "a: " + "[" * 10_000 + "]" * 10_000,
        "a: " + "{b: " * 10_000,
        '{"a": ' + "[" * 10_000 + "]" * 10_000 + "}",
        "".join("  " * n + "a:\n" for n in range(1_000)),
        "- " * 10_000 + "a",
    ],
    ids=["open", "closed", "mappings", "json", "block", "dashes"],
)
def test_nested_brackets(folder: Path, text: str) -> None:
    refuse(build("-", cwd=folder, stdin=text.encode()), Exit.UNREADABLE, "nested deeper than 200")


def test_long_texts_behind_aliases_count_by_their_length(folder: Path) -> None:
    aliases = "".join(f"  k{number}: *x\n" for number in range(1000))
    text = f"{OBJECT}data:\n  x: &x {'y' * 100_000}\n{aliases}"
    done = build("-", cwd=folder, stdin=text.encode())
    refuse(done, Exit.UNREADABLE, "<stdin>:", "aliases expand to more than 200,000 values")


def test_no_limit_on_nesting_that_python_cannot_keep(folder: Path) -> None:
    refuse(build("--max-depth", "401", cwd=folder), Exit.USAGE, "--max-depth: 401 is more than 400")
    text = f"{OBJECT}data: {'[' * 398}{']' * 398}\n"
    done = build("--max-depth", "400", "-", cwd=folder, stdin=text.encode())
    assert (done.returncode, done.stderr) == (Exit.OK, b"no VM among 1 object: no findings\n")


def test_a_file_of_200_megabytes_is_not_read(folder: Path) -> None:
    with (folder / "huge.yaml").open("wb") as file:
        file.truncate(200 << 20)
    started = time.monotonic()

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

    refuse(build(".", cwd=folder, before=small), Exit.UNREADABLE, "huge.yaml is larger than")
    assert time.monotonic() - started < 30
    with (folder / "huge.yaml").open("rb") as huge:
        done = subprocess.run(
            argv("build", "-"), cwd=folder, stdin=huge, capture_output=True, check=False
        )
    refuse(done, Exit.UNREADABLE, "larger than")


def test_the_total_of_many_files_is_limited(folder: Path) -> None:
    for number in range(3):
        (folder / f"{number}.yaml").write_text(OBJECT.replace("c\n", f"c{number}\n"))
    done = build("--max-total-bytes", "100", ".", cwd=folder)
    refuse(done, Exit.UNREADABLE, "larger than the limit of 100 bytes in total")


def test_a_million_documents(folder: Path) -> None:
    refuse(
        build("-", cwd=folder, stdin=b"---\nkind: a\n" * 1_000_000),
        Exit.UNREADABLE,
        "more than 500,000 documents",
    )


def test_symbolic_links_that_loop(folder: Path) -> None:
    (folder / "c.yaml").write_text(OBJECT)
    (folder / "again").symlink_to(".")
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to("..")
    done = build(".", cwd=folder)
    assert (done.returncode, done.stdout.decode()) == (0, f"---\n{OBJECT}")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    refuse(build(".", cwd=folder), Exit.UNREADABLE, "cannot read loop.yaml")


def test_symbolic_links_that_lead_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("password: hunter2\n")
    (folder / "c.yaml").write_text(OBJECT)
    (folder / "link.yaml").symlink_to("../secret.yaml")
    done = build(".", cwd=folder)
    refuse(done, Exit.UNREADABLE, "leads out of the folder")
    assert b"hunter2" not in done.stderr


@pytest.mark.parametrize("name", ["pipe.yaml", "socket.yaml"])
def test_what_is_no_regular_file(folder: Path, name: str) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        if name.startswith("pipe"):
            os.mkfifo(folder / name)
        else:
            server.bind(os.path.relpath(folder / name))
        refuse(build(".", cwd=folder), Exit.UNREADABLE, "neither a regular file nor a folder")


#: What kustomize would open, with its name in the place of NAME: for a pipe it would wait for ever.
LISTED = {
    "resources": "resources: [vm.yaml, NAME]\n",
    "patches": "patches: [{path: NAME}]\n",
    "files": "configMapGenerator: [{name: c, files: [key=NAME]}]\n",
    "envs": "secretGenerator: [{name: c, envs: [NAME]}]\n",
    "openapi": "openapi: {path: NAME}\n",
    "crds": "crds: [NAME]\n",
    "replacements": "replacements: [{path: NAME}]\n",
    "a transformer": "transformers: [NAME]\n",
    "what a transformer loads": "transformers: [transformer.yaml]\n",
    "a base": "resources: [vm.yaml, base]\n",
}
TRANSFORMER = (
    "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: special.yaml\n"
)


@pytest.mark.parametrize("command", ["build", "check"])
@pytest.mark.parametrize("text", LISTED.values(), ids=LISTED)
@pytest.mark.parametrize("kind", ["pipe", "socket", "sparse"])
@pytest.mark.usefixtures("kustomize")
def test_kustomize_opens_no_file_that_is_none(
    folder: Path, kind: str, text: str, command: str
) -> None:
    import socket

    (folder / "base").mkdir()
    at = folder / "base" if "base" in text else folder
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(at):
        if kind == "pipe":
            os.mkfifo("special.yaml")
        elif kind == "socket":
            server.bind("special.yaml")
        else:
            with open("special.yaml", "wb") as stream:
                os.truncate(stream.fileno(), 10 << 30)
    (folder / "transformer.yaml").write_text(TRANSFORMER)
    (folder / "base/kustomization.yaml").write_text("resources: [special.yaml]\n")
    (folder / "vm.yaml").write_text(vm(memory="1Gi"))
    more = "" if "resources" in text else "resources: [vm.yaml]\n"
    (folder / "kustomization.yaml").write_text(text.replace("NAME", "special.yaml") + more)
    done = process.run(command, ".", cwd=folder, timeout=60)
    report = done.stdout + done.stderr
    assert done.returncode == Exit.UNREADABLE, report
    fault = (
        "is larger than the limit" if kind == "sparse" else "neither a regular file nor a folder"
    )
    assert f"special.yaml {fault}" in report.replace(":", "")


def build_held_back(*words: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """As somebody whom permissions hold back, though root may run the tests."""
    done = process.run("build", *words, cwd=cwd, VIRT_RENDER_TESTS_HELD_BACK="1")
    output = done.stdout.encode(), done.stderr.encode()
    return subprocess.CompletedProcess(done.args, done.returncode, *output)


def test_unreadable_files_and_folders(folder: Path) -> None:
    (folder / "c.yaml").write_text(OBJECT)
    assert build_held_back(".", cwd=folder).returncode == 0
    (folder / "secret.yaml").write_text(OBJECT.replace("c\n", "d\n"))
    (folder / "secret.yaml").chmod(0)
    done = build_held_back(".", cwd=folder)
    refuse(done, Exit.UNREADABLE, "cannot read secret.yaml: Permission denied")
    (folder / "secret.yaml").unlink()
    (folder / "closed").mkdir(mode=0)
    done = build_held_back(".", cwd=folder)
    refuse(done, Exit.UNREADABLE, "cannot read closed: Permission denied")


def test_everything_is_read_only(folder: Path) -> None:
    (folder / "vm.yaml").write_text(vm(memory="1Gi"))
    folder.chmod(0o555)
    done = build_held_back(".", cwd=folder)
    assert done.returncode == 0, done.stderr
    for target in ("out.yaml", "out/"):
        done = build_held_back("-o", target, ".", cwd=folder)
        refuse(
            done,
            Exit.UNREADABLE,
            f"cannot write out{target[3:].rstrip(chr(47))}: Permission denied",
        )
    assert os.listdir(folder) == ["vm.yaml"]


def fleet(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"{number:04}.yaml").write_text(vm(f"vm-{number}", memory="1Gi"))


def test_a_folder_that_changes_while_it_is_read(folder: Path) -> None:
    fleet(folder, 400)
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            for path in sorted(folder.iterdir(), reverse=True)[:200]:
                path.rename(path.with_suffix(".gone"))
            for path in folder.glob("*.gone"):
                path.rename(path.with_suffix(".yaml"))

    churning = threading.Thread(target=churn)
    churning.start()
    try:
        for _ in range(8):
            found = build(".", cwd=folder)
            if found.returncode:
                refuse(found, Exit.UNREADABLE, "No such file or directory")
            else:
                assert found.stdout.count(b"\nkind: VirtualMachine\n") == found.stdout.count(
                    b"---\n"
                )
    finally:
        done.set()
        churning.join()


def test_a_closed_pipe(folder: Path) -> None:
    fleet(folder, 300)
    with subprocess.Popen(
        argv("build", "."),
        cwd=folder,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.close()
        assert process.wait(60) == Exit.BROKEN_PIPE
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk(folder: Path) -> None:
    fleet(folder, 50)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            argv("build", "."),
            cwd=folder,
            env=environ(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == Exit.UNREADABLE
    assert b"No space left on device" in done.stderr
    refuse(build("-o", "/dev/full", ".", cwd=folder), Exit.UNREADABLE, "No space left on device")


@pytest.mark.parametrize("listener", ["/dev/full", "closed"])
def test_a_report_that_nobody_can_read(folder: Path, listener: str) -> None:
    """The exit status tells, and what is good is printed."""
    (folder / "vm.yaml").write_text(vm(instancetype="u1.medium"))
    redirected = "2>&-" if listener == "closed" else f"2>{listener}"
    for command, status in (("build", Exit.OK), ("build --catalog none", Exit.FINDINGS)):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {redirected}', "sh", *argv(*command.split(), ".")],
            cwd=folder,
            env=environ(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == status
        assert (b"kind: VirtualMachine" in done.stdout) is (status is Exit.OK)


def test_a_disk_that_fills_up_on_the_way(folder: Path) -> None:
    fleet(folder, 300)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    (folder.parent / "out.yaml").write_text("as it was\n")
    done = build("-o", "../out.yaml", ".", cwd=folder, before=little_room)
    refuse(done, Exit.UNREADABLE, "cannot write ../out.yaml: File too large")
    assert (folder.parent / "out.yaml").read_text() == "as it was\n"
    assert sorted(os.listdir(folder.parent)) == ["out.yaml", "work"]
