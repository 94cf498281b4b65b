"""Whatever stands in an older object: findings, and never an exception."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render import Settings, render
from render.model import tree
from render.model.resource import from_body
from render.pipeline.migration.migrate import migrate
from tests.support import trees
from tests.support.cases import CASES, read_case

JUNK: list[Any] = [None, 0, -1, 1.5, True, "", "x", [], [{}], [None], {}, {"x": 1}, {"name": []}]
FOLDERS = sorted(
    path.parent for area in ("legacy", "presets") for path in CASES.glob(f"{area}/*/case.yaml")
)
BODIES = {folder: read_case(folder).bodies() for folder in FOLDERS}


@st.composite
def spoilt(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The objects of a case with junk in up to three places."""
    bodies: list[dict[str, Any]] = tree.copy(BODIES[draw(st.sampled_from(FOLDERS))])
    for _ in range(draw(st.integers(1, 3))):
        body = draw(st.sampled_from(bodies))
        places = [p for p, _ in trees.places(body) if p and p[0] not in ("apiVersion", "kind")]
        tree.put(body, draw(st.sampled_from(places)), tree.copy(draw(st.sampled_from(JUNK))))
    return bodies


@pytest.mark.parametrize("emit", ["vm", "vmi", "expand", "source"])
@given(bodies=spoilt())
def test_nothing_is_raised(emit: Any, bodies: list[dict[str, Any]]) -> None:
    render(bodies, Settings(emit=emit))


@given(spoilt())
def test_nothing_is_raised_by_a_migration(bodies: list[dict[str, Any]]) -> None:
    migrate([from_body(body, index) for index, body in enumerate(bodies)], Settings())
