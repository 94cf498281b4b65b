"""Which modules of checks are imported."""

import subprocess
import sys
from importlib import import_module

import pytest

from render.admission import order
from render.model.release import Windowed

SIMPLE = """
import sys
from render.admission import order
from tests.support.refusals import subject_of
found = list(order.causes(subject_of({
    "architecture": "amd64",
    "domain": {"devices": {"disks": [{"name": "a", "disk": {}}]}, "memory": {"guest": "1Gi"}},
    "volumes": [{"name": "a", "containerDisk": {"image": "a"}}],
})))
assert not found, found
print(*(name for name in sys.modules if name.startswith("render.admission.")))
"""


@pytest.mark.parametrize("concern", order.RARE)
def test_a_rare_concern_looks_nowhere_else(concern: str) -> None:
    known = [place.split(".") for place in order.RARE[concern].split()]
    for row in import_module(f"render.admission.{concern}").CHECKS:
        check = row.item if isinstance(row, Windowed) else row
        for place in (check.where, *check.also):
            assert any(list(place[: len(one)]) == one for one in known), (check.name, place)


def test_a_simple_machine_imports_none_of_them() -> None:
    run = subprocess.run([sys.executable, "-c", SIMPLE], capture_output=True, text=True, check=True)
    imported = {name.removeprefix("render.admission.") for name in run.stdout.split()}
    assert "vmi.storage.disks" in imported
    assert not imported & order.RARE.keys()
