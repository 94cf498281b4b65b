"""Change one thing in the code, see whether a test notices: a sample of such mutations, the same for the same seed.

Usage: mutate.py [COUNT [SEED [TESTS...]]] (300, 1, all). Works in a copy of the tree below .mutate. The tests run
once, and coverage says which of them execute which line, in the processes that they start too; a mutation is then tried
with those that come by its line, the quickest first, until one fails. Survivors are listed at the end, and make the
status 1. One that changes no meaning is for people to tell.

All tests take long: begin with the quick ones (tests/unit tests/test_cases.py), and give what was printed as
SURVIVORS=FILE to a second run with the same count, seed and code and other tests: it tries what survived the first.
"""

import ast
import bisect
import gc
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "apply", "defaults", "resolve", "admission", "pipeline", "manifests", "yaml", "system", "revisions",
)  # fmt: skip
TESTS = (
    "tests/unit", "tests/test_cases.py", "tests/differential", "tests/contract", "tests/attack",
    "tests/property", "tests/robustness", "tests/fuzz",
)  # fmt: skip
#: So many seconds of a mutation's tests are run, as long as they took at first.
BOUND = 120.0
MEMORY = 6 << 30
#: What became of a mutation, and the status that says that it runs at import, where all has been imported.
_NOTICED, _PASSES, _UNTRIED, _NOT_HERE = b"0", b"1", b"?", 99
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
_PHASE = re.compile(r" \((setup|call|teardown)\)$")  # of PYTEST_CURRENT_TEST
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class Mutation(NamedTuple):
    """The characters *start* to *end* of *file* (by its path in the tree) become *text*.

    *lines* are those of the statement, if it is one of a function; else it runs at import.
    """

    file: str
    line: int
    start: int
    end: int
    text: str
    was: str
    lines: range

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.was} -> {self.text}"


def mutations(file: Path) -> Iterator[Mutation]:
    """Everything that may be changed in *file*."""
    source = file.read_bytes().decode()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    name = file.relative_to(ROOT).as_posix()
    encoded = source.encode()
    for node, lines in _with_lines(ast.parse(source), range(0)):
        changed = _changed(node)
        if changed is None or not isinstance(node, ast.expr):
            continue
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[end_line - 1] + end_column
        was, text = ast.unparse(node), ast.unparse(changed)
        if was != text and _says(encoded[start:end], was):
            yield Mutation(name, node.lineno, start, end, f"({text})", was, lines)


def _with_lines(node: ast.AST, lines: range) -> Iterator[tuple[ast.AST, range]]:
    """Every node below *node*, with the lines of the innermost statement or lambda of a function around it."""
    for child in ast.iter_child_nodes(node):
        inner = lines
        if isinstance(node, ast.FunctionDef) and child in node.body:
            inner = range(1)  # its own lines follow
        if isinstance(child, ast.stmt) and inner:
            body = getattr(child, "body", None)
            last = body[0].lineno - 1 if body else child.end_lineno
            inner = range(child.lineno, max(last or 0, child.lineno) + 1)
        elif isinstance(child, ast.Lambda) and not lines:
            inner = range(child.body.lineno, (child.body.end_lineno or 0) + 1)
        yield child, inner
        yield from _with_lines(child, inner)


def _says(text: bytes, expected: str) -> bool:
    """Whether *text* is *expected*: places in f-strings are not always right."""
    try:
        return ast.unparse(ast.parse(b"(" + text + b")", mode="eval")) == expected
    except SyntaxError:
        return False


def _changed(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Compare(left, [op], [right]):
            return ast.Compare(left, [_COMPARED[type(op)]()], [right])
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            return ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() as value):
            return ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Call(ast.Name("any"), arguments, keywords):
            return ast.Call(ast.Name("all"), arguments, keywords)
        case ast.Call(ast.Name("all"), arguments, keywords):
            return ast.Call(ast.Name("any"), arguments, keywords)
        case _:
            return None


class Reach(NamedTuple):
    """What a first run of all tests showed: which there are, how long each took, and which executed each line.

    Tests are known by their place in *tests*; the quickest come first.
    """

    tests: list[str]
    seconds: list[float]
    lines: "dict[str, dict[int, array[int]]]"

    def of(self, mutation: Mutation) -> list[int]:
        """The tests that come by the changed line; for what runs at import those of the file and its importers."""
        if mutation.lines:
            reached = self.lines.get(mutation.file, {})
            return sorted({test for line in mutation.lines for test in reached.get(line, ())})
        return sorted(
            {
                test
                for file in (mutation.file, *importers(mutation.file))
                for tests in self.lines.get(file, {}).values()
                for test in tests
            }
        )

    def bounded(self, mutation: Mutation) -> list[int]:
        """The same, as many as are run in `BOUND` seconds."""
        tests = self.of(mutation)
        spent = itertools.accumulate(self.seconds[test] for test in tests)
        return tests[: bisect.bisect_left(list(spent), BOUND)]

    def spent(self, tests: Sequence[int]) -> float:
        """The seconds of *tests*."""
        return sum(self.seconds[test] for test in tests)


class Recorder:
    """A plugin of pytest that says how long each test took, and to coverage which test runs."""

    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """The hook of that name."""
        self._measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """The hook of that name."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


class Chosen:
    """A plugin of pytest that leaves only *tests*, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: number for number, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """The hook of that name."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order),
            key=lambda item: self._order[item.nodeid],
        )


def importers(file: str) -> list[str]:
    """The files that name the module in *file* in an import."""
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    named = re.compile(
        rf"from {re.escape(module)} import|import {re.escape(module)}\b"
        rf"|from {re.escape(package)} import [^#]*?\b{name}\b"
    )
    return [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "render").rglob("*.py"))
        if named.search(path.read_text())
    ]


def recorded(tree: Path, folder: Path, chosen: Sequence[str]) -> Reach:
    """Run *chosen* tests in *tree* once, with what they start, and see which line each executes; the same but once."""
    answer = folder / f"reach-{digest(chosen)}.json"
    if not answer.exists():
        _recording(tree, folder, answer, chosen)
    tests, seconds, lines = json.loads(answer.read_text())
    return Reach(
        tests,
        seconds,
        {
            file: {int(line): array("I", which) for line, which in of.items()}
            for file, of in lines.items()
        },
    )


def _recording(tree: Path, folder: Path, answer: Path, chosen: Sequence[str]) -> None:
    settings = folder / "coverage.ini"
    settings.write_text(
        f"[run]\nparallel = true\ndata_file = {folder}/data\ninclude = {tree}/render/*\n"
        "context = ${PYTEST_CURRENT_TEST-}\npatch = _exit\ndisable_warnings = no-data-collected\n"
    )
    if (process := os.fork()) == 0:
        _enter(tree, folder / "recording.log")
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        _record(tree, str(settings), answer, chosen)
        os._exit(0)
    os.waitpid(process, 0)


def _record(tree: Path, settings: str, answer: Path, chosen: Sequence[str]) -> None:
    import coverage

    measured = coverage.Coverage(config_file=settings)
    recorder = Recorder(measured)
    measured.start()
    pytest.main([*OPTIONS, *chosen], plugins=[recorder])
    measured.stop()
    measured.save()
    measured.combine()
    spent = {test: time for test, time in recorder.seconds.items() if test not in recorder.failed}
    tests = sorted(spent, key=lambda test: (spent[test], test))
    number = {test: index for index, test in enumerate(tests)}
    data = measured.get_data()
    lines = {}
    for file in data.measured_files():
        of = {}
        for line, contexts in data.contexts_by_lineno(file).items():
            known = {_PHASE.sub("", context.lstrip("|")) for context in contexts} & number.keys()
            of[line] = sorted(number[test] for test in known)
        lines[Path(file).relative_to(tree).as_posix()] = of
    answer.write_text(json.dumps([tests, [spent[test] for test in tests], lines]))


def _enter(tree: Path, log: Path) -> None:
    """Make this new process one that works in *tree* and writes to *log*."""
    with log.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.chdir(tree)
    prefix = str(tree.parent / "bytecode")
    os.environ |= {"PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": prefix}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix, sys.dont_write_bytecode = prefix, False
    sys.path.insert(0, str(tree))


class Trial:
    """A plugin of pytest that runs no test, but has all at hand for one mutation after the other.

    What pytest and the tests import is so imported once. Each mutation has a process of its own, forked from here, in
    which functions get the changed code; *numbers* says the number of one in the sample, *answers* takes the answer.
    """

    def __init__(self, sample: list[Mutation], reach: Reach, numbers: int, answers: int) -> None:
        self._sample, self._reach = sample, reach
        self._numbers, self._answers = numbers, answers
        self._items: dict[str, Any] = {}
        self._functions: dict[str, list[FunctionType]] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        """The hook of that name."""
        self._items = {item.nodeid: item for item in session.items}
        for instance in gc.get_objects():
            if isinstance(instance, FunctionType):
                self._functions.setdefault(instance.__code__.co_filename, []).append(instance)
        gc.freeze()  # else each process would copy all of it
        with os.fdopen(self._numbers) as numbers:
            for line in numbers:
                os.write(self._answers, self._tried(self._sample[int(line)]))
        return True

    def _tried(self, mutation: Mutation) -> bytes:
        """What the tests make of *mutation*, which the file has by now."""
        tests = self._reach.bounded(mutation)
        if (process := os.fork()) == 0:
            os.setsid()
            os._exit(self._status(mutation, [self._reach.tests[test] for test in tests]))
        return {0: _PASSES, _NOT_HERE: _UNTRIED}.get(
            _status(process, self._reach.spent(tests)), _NOTICED
        )

    def _status(self, mutation: Mutation, tests: list[str]) -> int:
        """The status of this process, which is that of one mutation."""
        if not self._changed(mutation):
            return _NOT_HERE
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        items = [self._items[test] for test in tests if test in self._items]
        for item, following in itertools.zip_longest(items, items[1:]):
            if any(
                report.failed for report in runtestprotocol(item, log=False, nextitem=following)
            ):
                return 1
        return 0

    def _changed(self, mutation: Mutation) -> bool:
        """Give the functions of a file that was imported the code that it has now; whether that is all of it."""
        if not mutation.lines:
            return False
        path = os.path.abspath(mutation.file)
        functions = self._functions.get(path)
        if functions is None:
            return True  # it will be imported as it is now
        try:
            now = compile(Path(path).read_bytes(), path, "exec")
        except SyntaxError:
            return False
        then = compile((ROOT / mutation.file).read_bytes(), path, "exec")
        for old, new in _codes(then, now):
            for function in functions:
                if function.__code__ == old:
                    function.__code__ = new
        return True


def _codes(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of each function in both that is no longer the same."""
    inner = [
        [const for const in code.co_consts if isinstance(const, CodeType)] for code in (old, new)
    ]
    for then, now in zip(*inner, strict=False):
        if then != now and then.co_freevars == now.co_freevars:
            yield then, now
            yield from _codes(then, now)


def passes(tests: list[str], seconds: float, tree: Path) -> bool:
    """Whether all of *tests* pass in *tree* in a new interpreter as far as they are concerned, in a bound of time."""
    if not tests:
        return True
    if (process := os.fork()) == 0:
        os.setsid()
        _enter(tree, tree.parent / "last.log")
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        files = sorted({test.partition("::")[0] for test in tests})
        os._exit(pytest.main([*OPTIONS, "-x", *files], plugins=[Chosen(tests)]))
    return _status(process, seconds) == 0


def _status(process: int, seconds: float) -> int:
    """The exit status of *process*, which is killed after much more than *seconds*."""
    until = time.monotonic() + 60 + 6 * seconds
    while time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return -signal.SIGKILL


def trial(
    sample: list[Mutation], reach: Reach, tree: Path, chosen: Sequence[str]
) -> Callable[[int], bytes]:
    """A process that tries mutations of *sample* in *tree*; the answer asks it what became of one."""
    numbers, asking = os.pipe()
    answers, answering = os.pipe()
    if os.fork() == 0:
        os.close(asking)
        os.close(answers)
        _enter(tree, tree.parent / "trial.log")
        os._exit(
            pytest.main([*OPTIONS, *chosen], plugins=[Trial(sample, reach, numbers, answering)])
        )
    os.close(numbers)
    os.close(answering)

    def ask(number: int) -> bytes:
        os.write(asking, b"%d\n" % number)
        answer = os.read(answers, 1)
        if not answer:
            sys.exit(f"the tests cannot be collected: see {tree.parent / 'trial.log'}")
        return answer

    return ask


def survives(
    mutation: Mutation, number: int, reach: Reach, tree: Path, ask: Callable[[int], bytes]
) -> bool:
    """Whether no test notices *mutation*, the *number* in the sample, in the copy *tree*."""
    file = tree / mutation.file
    source, times = file.read_bytes(), file.stat()
    file.write_bytes(source[: mutation.start] + mutation.text.encode() + source[mutation.end :])
    os.utime(file, (number, number))  # so that no bytecode is taken for that of another
    try:
        answer = ask(number)
        if answer != _UNTRIED:
            return answer == _PASSES
        tests = reach.bounded(mutation)
        return passes([reach.tests[test] for test in tests], reach.spent(tests), tree)
    finally:
        file.write_bytes(source)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def copied(folder: Path) -> Path:
    """A copy of the tree."""
    tree = folder / "tree"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", ".fuzz", ".mutate", ".tools", "__pycache__", ".*_cache", "dist"
    )
    shutil.copytree(ROOT, tree, symlinks=True, ignore=ignored)
    (tree / ".git").mkdir()
    (tree / ".tools").symlink_to(ROOT / ".tools")
    return tree


def digest(chosen: Sequence[str]) -> str:
    """What code and tests are now, and which tests are *chosen*."""
    files = sorted(path for name in ("render", "tests") for path in (ROOT / name).rglob("*.py"))
    named = "\0".join(chosen).encode()
    return hashlib.sha256(named + b"".join(path.read_bytes() for path in files)).hexdigest()


def main(count: int = 300, seed: int = 1, *, chosen: Sequence[str] = ()) -> int:
    """Try *count* mutations with the *chosen* tests; the exit status."""
    chosen = chosen or TESTS
    files = sorted(path for name in PACKAGES for path in (ROOT / "render" / name).rglob("*.py"))
    found = [mutation for file in files for mutation in mutations(file)]
    sample = random.Random(seed).sample(found, min(count, len(found)))  # noqa: S311 - no secret
    if before := os.environ.get("SURVIVORS"):
        survived = {
            line.removeprefix("survived: ") for line in Path(before).read_text().splitlines()
        }
        sample = [mutation for mutation in sample if str(mutation) in survived]
    folder = ROOT / ".mutate"
    shutil.rmtree(folder / "tree", ignore_errors=True)
    folder.mkdir(exist_ok=True)
    tree = copied(folder)
    reach = recorded(tree, folder, chosen)
    print(f"{len(reach.tests)} tests, {sum(reach.seconds):.0f} s", flush=True)
    ask = trial(sample, reach, tree, chosen)
    alive: list[Mutation] = []
    for number, mutation in enumerate(sample):
        lives = survives(mutation, number, reach, tree, ask)
        print(f"{number + 1:>4} {'SURVIVED' if lives else 'noticed '} {mutation}", flush=True)
        alive += [mutation] * lives
    shutil.rmtree(tree)
    print(f"{len(sample) - len(alive)} of {len(sample)} noticed, of {len(found)} (seed {seed})")
    for mutation in alive:
        print(f"survived: {mutation}")
    return 1 if alive else 0


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    sys.exit(main(*numbers, chosen=sys.argv[3:]))
