"""Whatever stands in an older object: findings, and never an exception."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from render import Settings, render
from render.manifests.reader import Limits
from render.manifests.sources import load
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import from_body
from render.pipeline.migrating import migrate
from tests.support.cases import CASES

JUNK: list[Any] = [None, 0, -1, 1.5, True, "", "x", [], [{}], [None], {}, {"x": 1}, {"name": []}]


def inputs(folder: Path) -> list[dict[str, Any]]:
    loaded = load([str(folder / "input")], stdin=None, limits=Limits())
    return [document.body for document in loaded.documents]


def paths(value: Any, at: FieldPath = ()) -> list[FieldPath]:
    """Every place in *value* but the root."""
    found: list[FieldPath] = []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, child in items:
        found += ((*at, step), *paths(child, (*at, step)))
    return found


FOLDERS = sorted(
    path.parent for area in ("legacy", "presets") for path in CASES.glob(f"{area}/*/case.yaml")
)
BODIES = {folder: inputs(folder) for folder in FOLDERS}


@pytest.mark.parametrize("emit", ["vm", "vmi", "expand", "source"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_nothing_is_raised(emit: Any, data: st.DataObject) -> None:
    bodies = tree.copy(BODIES[data.draw(st.sampled_from(FOLDERS))])
    for _ in range(data.draw(st.integers(1, 3))):
        body = data.draw(st.sampled_from(bodies))
        places = [p for p in paths(body) if p[0] not in ("apiVersion", "kind")]
        place = data.draw(st.sampled_from(places))
        tree.put(body, place, tree.copy(data.draw(st.sampled_from(JUNK))))
    render(bodies, Settings(emit=emit))
    migrate([from_body(body, index) for index, body in enumerate(bodies)], Settings())
