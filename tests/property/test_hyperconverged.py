"""Whatever stands in a HyperConverged, there is a resource or a refusal, and never a crash."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.convert.hyperconverged import kubevirt_of
from render.model import tree
from render.model.cluster_release import release_of
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from tests.differential.test_hyperconverged import RELEASES, lines
from tests.support.trees import places

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["10m", "1Gi", "LiveMigrate", "In", "[]", "true"]),
    lambda children: st.lists(children, max_size=2) | st.dictionaries(st.text(max_size=5), children, max_size=2),
    max_leaves=4,
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> Tree:
    known = [line["hyperconverged"] for line in lines().values() if "hyperconverged" in line]
    body: Tree = tree.copy(draw(st.sampled_from(known)))
    for _ in range(draw(st.integers(1, 3))):
        ways = [path for path, _ in places(body) if path]
        _replace(body, draw(st.sampled_from(ways)), draw(JUNK))
    if draw(st.booleans()):
        body["status"] = draw(JUNK)
    return body


def _replace(body: Any, path: FieldPath, value: Any) -> None:
    for step in path[:-1]:
        body = body[step]
    body[path[-1]] = value


@given(damaged(), st.sampled_from(sorted(RELEASES.values())))
def test_there_is_always_an_answer(body: Tree, release: tuple[int, int, int]) -> None:
    found = kubevirt_of(body, release)
    assert (found.kubevirt is None) != (found.refusal is None)
    assert found.refusal is None or found.refusal.causes
    release_of(body)
