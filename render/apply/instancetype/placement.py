"""Node selector and scheduler (upstream: pkg/instancetype/apply/nodeselector.go, scheduler.go)."""

from collections.abc import Iterable

from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Conflict, Edit, Result, Rule, claim, custom, spec


def _node_selector(definition: Tree, draft: Draft) -> Iterable[Result]:
    selector, place = definition.get("nodeSelector"), spec("nodeSelector")
    if selector is None:
        return
    if draft.get(*place) is not None:
        # An empty selector of the instancetype conflicts too, although it writes nothing.
        yield Conflict(place, ("nodeSelector",), place)
    elif selector:
        yield Edit(place, selector, ("nodeSelector",))


RULES: tuple[Rule, ...] = (
    custom(_node_selector, reads=("nodeSelector",), writes=("nodeSelector",)),
    claim("schedulerName", "schedulerName"),
)
