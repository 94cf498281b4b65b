"""Mandatory annotations (upstream: pkg/instancetype/apply/annotations.go)."""

from collections.abc import Iterable

from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Conflict, Edit, Result, Rule, custom


def _annotations(definition: Tree, draft: Draft) -> Iterable[Result]:
    present = draft.get("metadata", "annotations") or {}
    # Upstream walks a Go map, in random order; here the keys are sorted.
    for key, value in sorted((definition.get("annotations") or {}).items()):
        place = ("metadata", "annotations", key)
        if key not in present:
            yield Edit(place, value, ("annotations", key))
        elif present[key] != value:
            # QUIRK(pkg/instancetype/apply/annotations.go): the path lacks the base that all others have.
            yield Conflict(place, ("annotations", key), ("annotations", key))


RULES: tuple[Rule, ...] = (custom(_annotations, reads=("annotations",), writes=()),)
