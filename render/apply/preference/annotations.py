"""Preferred annotations (upstream: pkg/instancetype/preference/apply/annotations.go)."""

from collections.abc import Iterable

from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom


def _annotations(definition: Tree, draft: Draft) -> Iterable[Result]:
    present = draft.get("metadata", "annotations") or {}
    for key, value in (definition.get("annotations") or {}).items():
        if key not in present:
            yield Edit(("metadata", "annotations", key), value, ("annotations", key))


RULES: tuple[Rule, ...] = (custom(_annotations, reads=("annotations",), writes=()),)
