"""Which recorded pod shows which rule: ``python -m tests.support.pod_rules`` writes ``fixtures/pod-rules.tsv``.

A rule is a function of `render.launcher`; a case shows it that calls it.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from render.launcher import cpu, memory, networks
from render.pipeline import pods
from render.settings import Settings
from tests.support import goldens
from tests.support.pods import MAKERS, RELEASES, answer

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "fixtures" / "pod-rules.tsv"
LAUNCHER = ROOT / "render" / "launcher"
#: What says how a number came about makes none.
_WORDS = LAUNCHER / "sums.py"


#: What makes rules when a module is loaded, what stands for a pod that was not recorded, and what remembers.
_MAKERS = frozenset({"_with_gate", "_always", "_where", "_dedicated", "_owner", "once"})


def rules() -> set[str]:
    """The functions of the package, by module and name."""
    names = set()
    for path in LAUNCHER.rglob("*.py"):
        if path != _WORDS:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and node.name not in _MAKERS:
                    names.add(f"{path.relative_to(LAUNCHER).with_suffix('')}.{node.name}")
    return names


def printed_sums(release: str, case: dict[str, object]) -> set[str]:
    """The rules that the pods of *case* in *release* call."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "/render/launcher/" in code.co_filename:
            called.add(f"{code.co_filename.partition('/render/launcher/')[2][:-3]}.{code.co_name}")

    for cached in (cpu.share, memory._summed, networks._pod_interface):  # noqa: SLF001 - else it is not called again
        cached.cache_clear()
    sys.setprofile(note)
    try:
        objects, also = case["objects"], case.get("also", ())
        assert isinstance(objects, list)
        assert isinstance(also, list | tuple)
        cluster = pods.cluster_of(objects, Settings(kubevirt=release))
        vmi = pods.decoded(case["vmi"], cluster)  # type: ignore[arg-type] # a recorded one
        for kind in ("pod", *also):
            answer(MAKERS[kind], vmi, cluster)
    finally:
        sys.setprofile(None)
    return called


def table() -> Iterator[tuple[str, str, str]]:
    """A rule, the release and the case that shows it first."""
    missing = rules()
    for step in (29, 7, 1):
        for release in reversed(RELEASES):
            for case in goldens.cases("pod")[::step]:
                found = printed_sums(release, case) & missing
                yield from ((rule, release, case["id"]) for rule in sorted(found))
                missing -= found
                if not missing:
                    return
    sys.stderr.write(f"without a case: {sorted(missing)}\n")


if __name__ == "__main__":
    TABLE.write_text("".join("\t".join(row) + "\n" for row in sorted(table())), encoding="utf-8")
