"""Clock preferences (upstream: pkg/instancetype/preference/apply/clock.go)."""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom, ensure, fill, spec


def _offset(definition: Tree, draft: Draft) -> Iterable[Result]:
    origin = ("clock", "preferredClockOffset")
    offset = tree.get(definition, *origin)
    clock = draft.get("spec", "domain", "clock") or {}
    if offset is not None and clock.get("utc") is None and clock.get("timezone") is None:
        for key, value in offset.items():
            yield Edit(spec("domain", "clock", key), value, (*origin, key))


RULES: tuple[Rule, ...] = (
    ensure("clock", "domain.clock"),
    custom(
        _offset,
        reads=("clock.preferredClockOffset",),
        writes=("domain.clock.utc", "domain.clock.timezone"),
    ),
    fill("clock.preferredTimer", "domain.clock.timer"),
)
