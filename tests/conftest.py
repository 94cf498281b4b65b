import gc
import io
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from render.frontends import dispatch
from tests.support import checks, goldens, manifests, memory, releases, turns, updates
from tests.support.asking import Ask, Output
from tests.support.tools import required

ROOT = Path(__file__).parents[1]
IN_MEMORY = "/dev/shm"

# A shell lets its jobs in the background ignore ctrl-C, and nohup a hang-up; so would do whatever the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)


def keep_in_memory() -> None:
    """Have temporary folders in memory, unless the caller says where: a disk has its part in each of ten thousands.

    Only where there is room (a run has less than 1 GiB at a time), and programs may be started from there.
    """
    if "TMPDIR" not in os.environ and os.access(IN_MEMORY, os.W_OK | os.X_OK):
        found = os.statvfs(IN_MEMORY)
        if found.f_bavail * found.f_frsize >= 4 << 30 and not found.f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = IN_MEMORY
            tempfile.tempdir = None  # pytest has asked for it already


keep_in_memory()

# pip would compile all modules of what tests install, of which those few count that a hook or two imports.
os.environ.setdefault("PIP_COMPILE", "0")

# A rendering leaves no cycles behind: a fifth of its time went into looking for them.
gc.set_threshold(50_000, 20, 50)

#: ``HYPOTHESIS_PROFILE=deep pytest tests/property`` takes hours, and is run before a release.
hypothesis.settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.register_profile(
    "deep", parent=hypothesis.settings.get_profile("ci"), max_examples=20_000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="rewrite the expected files of the cases"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update") and os.environ.get("CI") == "true":
        raise pytest.UsageError("--update writes what tests expect: not in CI")


#: By these a test module has all recorded answers.
ANSWERS = (checks, goldens, goldens.cases, releases, releases.cases, updates, updates.cases)


@cache
def has_answers(module: ModuleType | None) -> bool:
    """Whether the tests of *module* look at recorded answers."""
    values = list(vars(module).values()) if module else []
    return any(value is known for value in values for known in ANSWERS)


@pytest.hookimpl(trylast=True)  # of those that are not left out: else the parts end elsewhere
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Recorded answers come last: they make a process large, and starting another program copies its page tables.

    xdist begins with a part of the same length for each process, and has one that is done help out at the end of
    another one's: without a share of the answers there, it would be large and start programs.
    """
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = turns.dealt(
        items,
        processes,
        group=lambda item: item.nodeid.partition("::")[0],
        is_last=lambda item: has_answers(getattr(item, "module", None)),
    )


def pytest_collection_finish() -> None:
    """The collector passes over what stays until the end, modules and thousands of tests; a new process shares it."""
    gc.collect()
    gc.freeze()
    memory.collapse()


def pytest_sessionfinish() -> None:
    """A process that ends need not look for cycles: with the recorded answers that took it five seconds."""
    gc.freeze()


@pytest.fixture(scope="session")
def kustomize() -> str:
    """The kustomize binary."""
    return required("kustomize")


@pytest.fixture(scope="session")
def helm() -> str:
    """The helm binary."""
    return required("helm")


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run a command line in a folder of its own, with *files* in it and *stdin*."""
    monkeypatch.chdir(tmp_path)

    def answer(*argv: str, files: Mapping[str, str] = {}, stdin: str = "") -> Output:
        for name, text in files.items():
            manifests.put(tmp_path / name, text)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        exit_ = dispatch.invoke(argv)
        captured = capfd.readouterr()
        return Output(exit_, captured.out, captured.err)

    return answer
