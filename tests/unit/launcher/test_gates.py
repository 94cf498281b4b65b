"""The gates that pods depend on are those in the table of what virt-controller asks for."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import render
from render.launcher import cluster
from render.model.release import MAIN, VERSIONS, version

PACKAGE = Path(render.__file__).parent
TABLE = "GATES"


def _named(file: Path) -> Iterator[str]:
    """The texts in *file*, but for those of the table."""
    for statement in ast.parse(file.read_bytes()).body:
        if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == TABLE:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_gate_that_a_pod_depends_on_is_in_the_table() -> None:
    states = json.loads((PACKAGE.parent / "schemas" / "gates.json").read_text(encoding="utf-8"))
    registered = {
        gate for of_release in states.values() for gates in of_release.values() for gate in gates
    }
    of_course = set[str].intersection(*(set(of_release["GA"]) for of_release in states.values()))
    files = (*(PACKAGE / "launcher").rglob("*.py"), PACKAGE / "kubevirt" / "vmi_controller.py")
    used = (registered - of_course).intersection(name for file in files for name in _named(file))
    table = {gate for release in (*VERSIONS, version(MAIN)) for gate in cluster.GATES(release)}
    assert used <= table, (
        f"{sorted(used - table)} is no row of {TABLE} in render/launcher/cluster.py: it is never on"
    )
    assert table <= used, (
        f"no pod depends on {sorted(table - used)} of {TABLE} in render/launcher/cluster.py"
    )
