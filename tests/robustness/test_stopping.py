"""Being asked to end, at any moment: said in one line, nothing half printed, nothing left behind."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.manifests import output
from render.system import signals, writing
from tests.support import process
from tests.support.manifests import vm
from tests.support.process import argv, ended, environ

OLD = vm("vm-1", namespace="ns-1", memory="1Gi").replace("/v1\n", "/v1alpha3\n")
SIGNALS = {
    signal.SIGTERM: Exit.TERMINATED,
    signal.SIGINT: Exit.INTERRUPTED,
    signal.SIGHUP: Exit.HUNG_UP,
}
WORDS = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted", signal.SIGHUP: "hung up"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """The folder for temporary files, which has to be empty in the end."""
    path = tmp_path / "tmp"
    path.mkdir()
    yield path
    assert os.listdir(path) == []


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(folder: Path, temporary: Path) -> Iterator[Start]:
    """What starts us in the folder; whoever still runs in the end is killed."""
    with ended() as started:

        def start(*words: str, under: Sequence[str] = ()) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [*under, *argv(*words)], cwd=folder, env=environ(TMPDIR=str(temporary)),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            started.append(process)
            return process

        yield start


def fleet(folder: Path, count: int) -> None:
    for number in range(count):
        text = vm(f"vm-{number}", namespace=f"ns-{number % 7}", memory="1Gi")
        (folder / f"{number:04}.yaml").write_text(text)


def waiting(pipe: int) -> int:
    """How many bytes are in *pipe*, written and not read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)


def until(is_so: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    while not is_so():
        assert process.poll() is None
        time.sleep(0.005)


def read_a_line(process: "subprocess.Popen[bytes]") -> None:
    """Let *process* read a line of its standard input, and wait for more."""
    assert process.stdin
    process.stdin.write(b"# more to come\n")
    process.stdin.flush()
    descriptor = process.stdin.fileno()
    until(lambda: waiting(descriptor) == 0, process)


STREAMING = [
    "build -",
    "check -",
    "verify -",
    "pin --lock x.yaml -",
    "krm",
    "argocd generate -",
    "show x -",
]


@pytest.mark.parametrize("number", SIGNALS, ids=WORDS.values())
@pytest.mark.parametrize("command", STREAMING)
def test_while_it_reads_a_stream(command: str, number: signal.Signals, start: Start) -> None:
    process = start(*command.split())
    read_a_line(process)
    process.send_signal(number)
    printed, text = process.communicate(timeout=60)
    assert (process.returncode, printed) == (SIGNALS[number], b"")
    lines = text.decode().splitlines()
    assert lines[0] == f"virt-render: {WORDS[number]} while reading standard input"
    if command.startswith("argocd"):
        assert f'"status": {SIGNALS[number]}' in lines.pop()
    assert len(lines) == 1


BUILDING = {
    "build": "building . with kustomize",
    "check": "reading .",
    "argocd generate": "building . with kustomize",
    "argocd inputs": "building . with kustomize",
    "pin": "reading .",
    "verify": "building . with kustomize",
    "migrate": "migrating 1 object",
    "show vm-1": "building . with kustomize",
}


@pytest.mark.parametrize("number", SIGNALS, ids=WORDS.values())
@pytest.mark.parametrize("command", BUILDING)
def test_while_kustomize_runs(
    command: str, number: signal.Signals, start: Start, folder: Path, tmp_path: Path
) -> None:
    """The child ends too."""
    (folder / "vm.yaml").write_text(OLD)
    (folder / "kustomization.yaml").write_text("resources: [vm.yaml]\n")
    slow, pipe = tmp_path / "slow", tmp_path / "pipe"
    os.mkfifo(pipe)  # outside of any box
    named = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    slow.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec /bin/sleep 600\n")
    slow.chmod(0o755)
    process = start(*command.split(), "--allow-remote", "--kustomize", str(slow))
    until(lambda: waiting(named), process)
    child = int(os.read(named, 100))
    os.close(named)
    process.send_signal(number)
    printed, text = process.communicate(timeout=60)
    assert (process.returncode, printed) == (SIGNALS[number], b"")
    assert (
        text.decode().splitlines()[0] == f"virt-render: {WORDS[number]} while {BUILDING[command]}"
    )
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert sorted(os.listdir(folder)) == ["kustomization.yaml", "vm.yaml"]
    assert (folder / "vm.yaml").read_text() == OLD


IN_BETWEEN = """
import os, signal, subprocess, sys
from render.system import signals
from render.system.programs import processes

class Popen(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        os.getpid()  # a handler would have run by now

subprocess.Popen = Popen
signals.arm()
try:
    processes.run(["/bin/sleep", "600"], folder=".", environ={})
except signals.Terminated:
    print("terminated")
"""


def test_between_the_start_of_a_child_and_our_knowing_of_it(folder: Path) -> None:
    printed = run_script(IN_BETWEEN, folder).split()
    assert printed[1] == "terminated"
    with pytest.raises(ProcessLookupError):
        os.kill(int(printed[0]), 0)


SWALLOWED = """
import os, signal, time
from render.system import signals

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.{0})
        os.getpid()

signals.arm()
{1}
try:
    Finalized()
    time.sleep(60)
except signals.STOPPED as stopped:
    print(type(stopped).__name__)
"""
AGAIN = """
import sys

def once_more(frame, event, _):
    if event == "call" and frame.f_back and frame.f_back.f_code.co_name == "swallowed":
        sys.setprofile(None)
        os.kill(os.getpid(), signal.{0})
        os.getpid()

sys.setprofile(once_more)
"""


@pytest.mark.parametrize(
    ("number", "raised"), [("SIGTERM", "Terminated"), ("SIGINT", "KeyboardInterrupt")]
)
def test_where_python_swallows_what_is_raised(number: str, raised: str, folder: Path) -> None:
    """Also where it comes again while that is being told: the process would not end."""
    for then in ("", AGAIN.format(number)):
        assert run_script(SWALLOWED.format(number, then), folder) == f"{raised}\n"


def run_script(script: str, folder: Path) -> str:
    """What *script* prints; it says nothing on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environ(),
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode()


def test_where_python_wraps_what_is_raised() -> None:
    class Named:
        def __set_name__(self, _owner: type, _name: str) -> None:
            raise signals.Terminated

    def make() -> type:
        return type("Owner", (), {"named": Named()})

    with pytest.raises((RuntimeError, signals.Terminated)) as caught:
        make()
    assert isinstance(signals.behind(caught.value), signals.Terminated)
    assert signals.behind(KeyError()) is None


@pytest.mark.parametrize("number", SIGNALS, ids=WORDS.values())
def test_at_any_moment(number: signal.Signals, start: Start, folder: Path) -> None:
    fleet(folder, 40)
    started = time.monotonic()
    whole, last_line = start("build", ".").communicate()
    spent = time.monotonic() - started
    said_so = 0
    for moment in range(40):
        process = start("build", ".")
        time.sleep(spent * moment / 40)
        process.send_signal(number)
        printed, text = process.communicate(timeout=60)
        text = text.replace(last_line, b"")
        if process.returncode == SIGNALS[number]:
            said_so += 1
            assert printed == (whole if b"after printing everything" in text else b"")
            assert text.startswith(f"virt-render: {WORDS[number]} ".encode())
            assert text.count(b"\n") == 1
        elif process.returncode == Exit.OK:
            assert printed == whole
            # Before a line of ours was run, an import may swallow what Python's own handler raises.
            assert text == b"" or text.startswith(b"Exception ignored in")
        else:  # before a line of ours was run, or after the last
            assert printed in (b"", whole)
            assert process.returncode in (-number, 1)
    assert said_so


def stalled(process: "subprocess.Popen[bytes]") -> None:
    """Wait until *process* has filled the pipe that nobody reads."""
    assert process.stdout
    descriptor = process.stdout.fileno()
    room = fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
    until(lambda: waiting(descriptor) == room, process)


def krm_message(folder: Path) -> bytes:
    items = "".join(
        "- " + path.read_text().replace("\n", "\n  ").rstrip() + "\n"
        for path in sorted(folder.iterdir())
    )
    return f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}".encode()


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="the size of a pipe is not known")
@pytest.mark.parametrize("number", SIGNALS, ids=WORDS.values())
@pytest.mark.parametrize("command", ["build", "argocd generate", "krm"])
def test_what_is_being_printed_is_printed_whole(
    command: str, number: signal.Signals, start: Start, folder: Path
) -> None:
    fleet(folder, 600)
    sent = krm_message(folder) if command == "krm" else b""
    whole, _ = start(*command.split()).communicate(sent)
    process = start(*command.split())
    assert process.stdin
    process.stdin.write(sent)
    process.stdin.close()
    process.stdin = None
    stalled(process)
    process.send_signal(number)
    process.send_signal(number)  # as `timeout` does: to the process, and to its group
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    printed, text = process.communicate(timeout=60)
    assert process.returncode == SIGNALS[number]
    assert printed == whole
    first = text.decode().splitlines()[0]
    assert first == f"virt-render: {WORDS[number]} after printing everything"


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="the size of a pipe is not known")
def test_a_second_request_does_not_wait_for_the_reader(start: Start, folder: Path) -> None:
    fleet(folder, 600)
    process = start("build")
    stalled(process)
    process.send_signal(signal.SIGTERM)
    time.sleep(1.1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == Exit.TERMINATED
    assert process.stderr
    assert process.stderr.read() == b"virt-render: terminated while printing\n"


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="the size of a pipe is not known")
@pytest.mark.parametrize("command", ["argocd generate", "build"])
def test_no_deadline_tears_what_is_being_printed(start: Start, folder: Path, command: str) -> None:
    fleet(folder, 600)
    whole = start("build").communicate(timeout=60)[0]
    process = start(*command.split(), "--deadline", "4")
    stalled(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(5)
    printed, text = process.communicate(timeout=60)
    assert (process.returncode, printed) == (Exit.OK, whole)
    assert b"VR902" not in text


@pytest.mark.parametrize("command", ["build", "check", "pin", "verify", "migrate"])
def test_a_deadline_for_every_command_that_reads(start: Start, folder: Path, command: str) -> None:
    pipe = folder / "kustomize"
    pipe.write_text(f"#!/bin/sh\nexec {shutil.which('sleep')} 60\n")
    pipe.chmod(0o755)
    (folder / "kustomization.yaml").write_text("resources: [vm.yaml]\n")
    (folder / "vm.yaml").write_text(vm().replace("/v1\n", "/v1alpha3\n"))
    process = start(command, "--kustomize", str(pipe), "--deadline", "2")
    printed, text = process.communicate(timeout=60)
    assert process.returncode == Exit.DEADLINE
    assert b"error VR902 deadline-exceeded: the deadline of 2 s has passed while " in printed + text
    assert sorted(os.listdir(folder)) == ["kustomization.yaml", "kustomize", "vm.yaml"]


def test_a_deadline_for_a_function_of_kustomize(start: Start) -> None:
    process = start("krm", "--deadline", "1")
    assert process.wait(60) == Exit.DEADLINE  # nobody closes its standard input
    printed, text = process.communicate()
    assert printed == b""
    assert b"error VR902 deadline-exceeded: the deadline of 1 s has passed while " in text


@pytest.mark.parametrize("written", [0, 1, 50, 400])
def test_while_it_writes_files(written: int, start: Start, folder: Path) -> None:
    fleet(folder, 1_000 + 5 * written)  # so many that whoever counts them is done long before
    out = folder.parent / "out" / "of" / "it"
    process = start("build", "-o", "../out/of/it/", ".")
    until(lambda: out.is_dir() and sum(1 for _ in out.rglob("*.*")) >= written, process)
    process.send_signal(signal.SIGTERM)
    printed, text = process.communicate(timeout=60)
    assert (process.returncode, printed) == (Exit.TERMINATED, b"")
    assert text == b"virt-render: terminated while writing ../out/of/it/\n"
    left = [path for path in (folder.parent / "out").rglob("*") if path.is_file()]
    assert all(path.suffix == ".yaml" and path.read_text().endswith("\n") for path in left)
    assert left or not (folder.parent / "out").exists(), "no empty folder either"


def test_no_folder_is_left_where_nothing_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise signals.Terminated

    monkeypatch.setattr(writing, "write_all", stop)
    (tmp_path / "out").mkdir()
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}
    with pytest.raises(signals.Terminated):
        output.save(f"{tmp_path}/out/new/", [(body, body)])
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(tmp_path / "out") == []


def test_a_signal_that_was_ignored_stays_so(start: Start) -> None:
    """As under nohup, or in a job in the background of a script."""
    ignoring = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    process = start("build", "--allow-empty", "-", under=ignoring)
    read_a_line(process)
    process.send_signal(signal.SIGINT)
    printed, text = process.communicate(timeout=60)
    assert (process.returncode, printed) == (Exit.OK, b"")
    assert text == b"no VM among 0 objects in 0 files: no findings\n"


@pytest.mark.parametrize("stopped", signals.STOPPED)
def test_at_the_very_end_a_signal_changes_nothing(
    stopped: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while the handlers are taken away, and all is printed."""
    taken = []

    def take(number: int, _handler: object) -> None:
        taken.append(number)
        raise stopped

    monkeypatch.setattr("render.system.signals.signal.signal", take)
    signals.disarm()
    assert {*taken} == {*SIGNALS}


def test_who_writes_to_a_named_pipe_says_that_its_reader_is_waited_for(tmp_path: Path) -> None:
    """Opening it waits, as for any program; with a reader the answer goes there."""
    (tmp_path / "vm.yaml").write_text(vm(memory="1Gi"), encoding="utf-8")
    os.mkfifo(tmp_path / "out")
    command = ["build", "vm.yaml", "-o", "out"]
    alone = process.run(*command, "--deadline", "4", cwd=tmp_path)
    assert alone.returncode != 0
    waiting = "the deadline of 4 s has passed while waiting for a reader of the named pipe out"
    assert waiting in alone.stderr
    reader = os.open(tmp_path / "out", os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = process.run(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert b"kind: VirtualMachine" in os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    assert process.run("build", "vm.yaml", "-o", os.devnull, cwd=tmp_path).returncode == 0
    words = argv("build", "vm.yaml", "-o", "/dev/stdout")
    piped = subprocess.run(words, cwd=tmp_path, env=environ(), stdout=subprocess.PIPE, check=True)
    assert piped.stdout.decode() == process.run("build", "vm.yaml", cwd=tmp_path).stdout
