"""Change one thing in the code, see whether a test notices: a sample of such mutations, the same for the same seed.

Usage: mutate.py [COUNT [SEED]] (300, 1). Works in a copy of the tree; survivors are listed at the end, and make the
status 1. One that changes no meaning is for people to tell.
"""

import ast
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "apply", "defaults", "resolve", "admission", "pipeline", "manifests", "yaml", "system", "revisions",
)  # fmt: skip
#: What is tried first, by package: the nearest tests. All of `LAST` is tried on what they leave alive.
NEAR = {
    "apply": ("tests/test_cases.py", "tests/unit/test_edges.py"),
    "defaults": ("tests/test_cases.py", "tests/unit/test_edges.py"),
    "admission": ("tests/test_cases.py", "tests/unit/test_edges.py"),
    "pipeline": ("tests/test_cases.py", "tests/unit/pipeline"),
    "resolve": ("tests/unit/resolve", "tests/test_cases.py", "tests/unit/test_edges.py"),
    "manifests": ("tests/unit/manifests", "tests/contract/test_kustomize_build.py", "tests/attack"),
    "yaml": ("tests/unit/yaml", "tests/property/test_plain_reader.py", "tests/robustness/test_shapes.py"),
    "system": ("tests/unit/system", "tests/unit/test_edges.py", "tests/robustness/test_stopping.py"),
    "revisions": ("tests/unit/revisions", "tests/property/test_lock.py", "tests/contract/test_pins.py"),
}  # fmt: skip
LAST = (
    "tests/unit", "tests/test_cases.py", "tests/differential", "tests/contract", "tests/attack",
    "tests/property", "tests/robustness",
)  # fmt: skip
SECONDS = 1800
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class Mutation(NamedTuple):
    """The characters *start* to *end* of *file* (by its path in the tree) become *text*."""

    file: str
    line: int
    start: int
    end: int
    text: str
    was: str

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
    for node in ast.walk(ast.parse(source)):
        changed = _changed(node)
        if changed is None or not isinstance(node, ast.expr):
            continue
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[end_line - 1] + end_column
        was, text = ast.unparse(node), ast.unparse(changed)
        if was != text and encoded[start:end].strip():
            yield Mutation(name, node.lineno, start, end, f"({text})", was)


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


def survives(mutation: Mutation, tree: Path) -> bool:
    """Whether no test notices *mutation* in the copy *tree*."""
    file = tree / mutation.file
    source = file.read_bytes()
    file.write_bytes(source[: mutation.start] + mutation.text.encode() + source[mutation.end :])
    try:
        near = NEAR[mutation.file.split("/")[1]]
        return all(_passes(tests, tree) for tests in (near, LAST))
    finally:
        file.write_bytes(source)


def _passes(tests: tuple[str, ...], tree: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, check=False, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def copied(folder: str, number: int) -> Path:
    """A copy of the tree, for one mutation at a time."""
    tree = Path(folder) / str(number)
    ignored = shutil.ignore_patterns(".git", ".venv", ".fuzz", "__pycache__", ".*_cache", "dist")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=ignored)
    (tree / ".git").mkdir()
    return tree


def main(count: int, seed: int) -> int:
    """Try *count* mutations; the exit status."""
    files = sorted(path for name in PACKAGES for path in (ROOT / "render" / name).rglob("*.py"))
    found = [mutation for file in files for mutation in mutations(file)]
    sample = random.Random(seed).sample(found, min(count, len(found)))  # noqa: S311 - no secret
    workers = max(1, (os.cpu_count() or 2) // 2)
    alive: list[Mutation] = []
    with tempfile.TemporaryDirectory() as folder:
        free = [copied(folder, number) for number in range(workers)]

        def tried(mutation: Mutation) -> bool:
            tree = free.pop()
            try:
                return survives(mutation, tree)
            finally:
                free.append(tree)

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for number, (mutation, lives) in enumerate(
                zip(sample, pool.map(tried, sample), strict=True), 1
            ):
                print(f"{number:>4} {'SURVIVED' if lives else 'noticed '} {mutation}", flush=True)
                alive += [mutation] * lives
    print(f"{len(sample) - len(alive)} of {len(sample)} noticed, of {len(found)} (seed {seed})")
    for mutation in alive:
        print(f"survived: {mutation}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in (*sys.argv[1:], *("300", "1")[len(sys.argv) - 1 :]))))
