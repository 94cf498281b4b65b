"""Programs that one supervisor starts, one after another: the same walls, and nothing of one for the next."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from render.system.programs import box as walls_of
from render.system.programs import processes
from render.system.programs.box import Allowance, Box, Boxes
from render.system.programs.processes import Steps, Task
from tests.attack.test_box import MEANT, TRYING, has_mount_setattr, lets_us
from tests.support import probe
from tests.support.cases import ROOT
from tests.support.loopback import Loopback

PYTHON = os.path.realpath(sys.executable)
# More than the process of the tests has, which the supervisor begins as a copy of.
ALLOWANCE = Allowance(16 << 30, 600)

pytestmark = pytest.mark.skipif(
    not (lets_us("--net", "--mount", "--pid", "--fork", "true") and has_mount_setattr()),
    reason="this system forbids namespaces",
)


@contextlib.contextmanager
def inside(boxes: Boxes, folder: Path, allowance: Allowance = ALLOWANCE) -> Iterator[Box]:
    visible = [str(folder), str(Path(sys.base_prefix)), str(Path(sys.prefix))]
    hidden = [str(folder / ".git")]
    with boxes.box(PYTHON, str(folder), visible, allowance, hidden=hidden) as its:
        yield its


def ran(
    its: Box,
    folder: Path,
    code: str,
    *words: str,
    seconds: float | None = None,
    most: int = 1 << 20,
) -> "CompletedProcess[bytes]":
    """What a program of Python does in a box."""

    def steps() -> "Steps[CompletedProcess[bytes]]":
        command, environ = [PYTHON, "-I", "-c", code, *words], {"HOME": its.home}
        task = Task(command, str(folder), environ, seconds=seconds, most=most, enter=its.enter)
        return (yield task._replace(supervisor=its.supervisor))

    return processes.finish(steps())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return probe.repository(tmp_path)


@pytest.fixture
def boxes(repository: Path) -> Iterator[Boxes]:
    """Boxes in one of which somebody was before."""
    with Boxes() as its:
        with inside(its, repository) as first:
            assert first.supervisor is None
            assert ran(first, repository, "").returncode == 0
        yield its


def test_the_same_walls(boxes: Boxes, repository: Path, loopback: Loopback) -> None:
    port = loopback.url.rpartition(":")[2]
    with inside(boxes, repository) as its:
        assert its.supervisor is not None
        words = [str(repository.parent / "outside"), str(repository), its.home, port]
        done = ran(its, repository, TRYING, *words)
        assert its.walls().all_stand
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.decode().split()) == MEANT


def test_it_starts_in_the_folder_from_where_we_are(
    boxes: Boxes, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.parent)
    with inside(boxes, repository) as its:
        assert its.supervisor is not None
        code = "print(open('vm.yaml').read(), __import__('os').getcwd())"
        done = ran(its, Path("repository"), code)
    assert done.stdout.decode() == f" {repository}\n", done.stderr


LEAVING = """
import os, time
home = os.environ["HOME"]
os.makedirs(home + "/a/b")
open(home + "/a/b/c", "w").close()
os.symlink("/", home + "/root")
if not os.fork():
    while True:
        time.sleep(0.001)
        open(home + "/late", "w").close()
"""
LOOKING = """
import os, time
time.sleep(0.05)
def is_there(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
numbers = set(filter(is_there, range(1, 1000))) - {os.getpid()}
print(os.listdir(os.environ["HOME"]), numbers, open("vm.yaml").read())
"""


def test_nothing_is_left_for_the_next(boxes: Boxes, repository: Path) -> None:
    supervisors = set()
    for code in (LEAVING, LOOKING, LEAVING, LOOKING):
        with inside(boxes, repository) as its:
            supervisors.add(its.supervisor)
            done = ran(its, repository, code)
        assert done.returncode == 0, done.stderr
        assert done.stdout == (b"[] {1} \n" if code == LOOKING else b"")
    assert len(supervisors) == 1
    assert None not in supervisors


HARMING = """
import os, resource, signal, sys
for work in (
    lambda: os.kill(1, signal.SIGKILL),
    lambda: os.kill(0, signal.SIGTERM) if signal.signal(signal.SIGTERM, signal.SIG_IGN) is not None else None,
    lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)),
):
    try:
        work()
    except OSError as error:
        print(type(error).__name__)
"""


def test_its_supervisor_is_out_of_reach(boxes: Boxes, repository: Path) -> None:
    supervisors = []
    for code in (HARMING, LOOKING):
        with inside(boxes, repository) as its:
            supervisors.append(its.supervisor)
            done = ran(its, repository, code)
        assert done.returncode == 0, done.stderr
        assert done.stdout == (b"[] {1} \n" if code == LOOKING else b"PermissionError\n" * 2)
    assert supervisors[0] is supervisors[1]


FOREVER = "import os\nos.fork()\nwhile True: print('x' * 1000, flush=True)"


@pytest.mark.parametrize("limit", ["seconds", "most"])
def test_one_that_does_not_end_is_ended(boxes: Boxes, repository: Path, limit: str) -> None:
    with inside(boxes, repository) as its:
        if limit == "seconds":
            with pytest.raises(subprocess.TimeoutExpired):
                ran(its, repository, FOREVER, seconds=0.2, most=1 << 40)
        else:
            assert len(ran(its, repository, FOREVER, most=5000).stdout) == 5001
    with inside(boxes, repository) as its:
        assert ran(its, repository, LOOKING).stdout == b"[] {1} \n"


def test_its_time_is_bounded(
    boxes: Boxes, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls_of, "_PLENTY", 0)
    with inside(boxes, repository, ALLOWANCE._replace(seconds=1)) as its:
        assert its.supervisor is not None
        done = ran(its, repository, "while True: pass")
        assert done.returncode in {-signal.SIGKILL, -signal.SIGXCPU}
    with inside(boxes, repository) as its:  # which may have more than the supervisor has left
        code = "import resource; print(resource.getrlimit(resource.RLIMIT_CPU))"
        assert ran(its, repository, code).stdout == b"(601, 601)\n"


def test_little_time_and_little_memory_need_a_process_of_their_own(
    boxes: Boxes, repository: Path
) -> None:
    for allowance in (ALLOWANCE._replace(seconds=5), ALLOWANCE._replace(memory=1 << 20)):
        with inside(boxes, repository, allowance) as its:
            assert its.supervisor is None


def test_there_are_no_more_than_can_work(boxes: Boxes, repository: Path) -> None:
    supervisors = []
    for name in "aabbcc":
        folder = repository.parent / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        with inside(boxes, folder) as its:
            assert ran(its, folder, "").returncode == 0
            supervisors.append(its.supervisor is not None)
    assert supervisors == [False, True, False, True, False, False]


def test_where_many_come_the_first_has_one_too(repository: Path) -> None:
    other = repository.parent / "other"
    (other / ".git").mkdir(parents=True)
    supervisors = []
    with Boxes(in_turn=True) as boxes:
        for folder in (repository, other, repository, other):
            with inside(boxes, folder) as its:
                assert ran(its, folder, "").returncode == 0
                assert its.walls().all_stand
                supervisors.append(its.supervisor)
    first, of_other, again, _ = supervisors
    assert first is not None
    assert of_other is None  # perhaps nobody comes back to what no other sees
    assert again is first


def test_what_is_no_program_does_not_start(boxes: Boxes, repository: Path) -> None:
    with inside(boxes, repository) as its:
        words = [str(repository / "vm.yaml")]

        def steps() -> "Steps[CompletedProcess[bytes]]":
            return (yield Task(words, str(repository), {}, supervisor=its.supervisor))

        with pytest.raises(PermissionError):
            processes.finish(steps())
    with inside(boxes, repository) as its:
        assert ran(its, repository, LOOKING).returncode == 0


def test_what_it_took_is_told(boxes: Boxes, repository: Path) -> None:
    spent: list[float] = []
    code = "import time\nwhile time.process_time() < 0.3: pass"
    for most in (1 << 20, 0):
        with inside(boxes, repository) as its:
            command = [
                PYTHON,
                "-I",
                "-c",
                f"{code}\nprint(1, flush=True)\nwhile True: time.sleep(1)",
            ]
            command = command if not most else [PYTHON, "-I", "-c", code]
            task = Task(command, str(repository), {}, most=most, spend=spent.append)
            processes.finish(_alone(task._replace(supervisor=its.supervisor)))
    assert [round(seconds, 1) for seconds in spent] == [0.3, 0.3]


def _alone(task: Task) -> "Steps[CompletedProcess[bytes]]":
    return (yield task)


ENDED = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.attack.test_supervisor import inside, ran, Boxes
folder = Path({folder!r})
with Boxes() as boxes:
    with inside(boxes, folder) as its:
        ran(its, folder, "")
    with inside(boxes, folder) as its:
        assert its.supervisor is not None
        print(its.home, flush=True)
        ran(its, folder, {code!r}, {mark!r})
"""
ALONE = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.attack.test_supervisor import inside, ran, Boxes
folder = Path({folder!r})
with Boxes() as boxes, inside(boxes, folder) as its:
    assert its.supervisor is None
    ran(its, folder, "import time; time.sleep(600)", {mark!r})
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_a_program_without_one_ends_with_us(repository: Path, number: signal.Signals) -> None:
    mark = f"alone-{os.getpid()}-{number}"
    words = ALONE.format(root=str(ROOT), folder=str(repository), mark=mark)
    with subprocess.Popen([sys.executable, "-c", words], stderr=subprocess.DEVNULL) as process:
        assert eventually(lambda: len(with_word(mark)) == 1)
        process.send_signal(number)
    assert eventually(lambda: not with_word(mark))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_it_ends_with_us(repository: Path, number: signal.Signals) -> None:
    mark = f"supervised-{os.getpid()}-{number}"
    code = "import os, time\nos.fork()\ntime.sleep(600)"
    words = ENDED.format(root=str(ROOT), folder=str(repository), code=code, mark=mark)
    with subprocess.Popen(
        [sys.executable, "-c", words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert eventually(lambda: len(with_word(mark)) == 2)
        process.send_signal(number)
    if number != signal.SIGINT:  # which leaves us no time to wait
        assert eventually(lambda: not with_word(mark))
    assert not with_word(mark)


def with_word(word: str) -> list[str]:
    """The processes that have *word* as one of theirs, but for one that has it in its code."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found


def eventually(is_so: Callable[[], bool]) -> bool:
    late = time.monotonic() + 10
    while not is_so() and time.monotonic() < late:
        time.sleep(0.01)
    return is_so()
