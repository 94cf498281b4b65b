"""Which stages there are."""

import re
from importlib import import_module
from pathlib import Path

from render.pipeline import order


def test_stages_that_are_imported_when_they_are_wanted_exist() -> None:
    source = Path(order.__file__).read_text(encoding="utf-8")
    rare = re.findall(r'_rare\("([\w.]+):(\w+)"', source)
    assert rare
    for module, function in rare:
        assert callable(getattr(import_module(f"render.{module}"), function))
