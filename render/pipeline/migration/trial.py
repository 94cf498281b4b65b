"""Changes are tried out, and kept only if no VM changes: what machines start as, and which changes go together."""

from collections.abc import Callable, Iterator, Sequence

from render.machine import Machine
from render.model.hints import TypeVar
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.run import run
from render.presets import APPLIED
from render.settings import Settings

_NAMES = tuple(
    f"kubevirt.io/{scope}{kind_class.annotation}"
    for kind_class in KIND_CLASSES
    for scope in ("", "cluster-")
)


_T = TypeVar("_T")


def add(
    accepted: list[_T], units: Sequence[_T], why_not: Callable[[Sequence[_T]], str]
) -> Iterator[tuple[_T, str]]:
    """Add those of *units* to *accepted* that nothing speaks against; the others, with the reasons."""
    why = why_not([*accepted, *units]) if units else ""
    if not why:
        accepted += units
    elif len(units) == 1:
        yield units[0], why
    else:
        half = len(units) // 2
        yield from add(accepted, units[:half], why_not)
        yield from add(accepted, units[half:], why_not)


def comparable(settings: Settings) -> Settings:
    """*settings* by which every VM becomes the VMI that it starts, if it can."""
    return settings._replace(
        emit="vmi", preset_conflicts="override", annotations=False, pins="ignore"
    )


class Started(NamedTuple):
    """What VMs and VMIs start as, by index, without the names of what they were made from; and the errors there are.

    An error is its code and the object that it is about.
    """

    vmis: dict[int, Tree]
    errors: frozenset[tuple[str, str]]

    def becomes(self, after: "Started") -> bool:
        """Whether *after* starts the same, and no error came up that was not there."""
        same = list(self.vmis.values()) == list(after.vmis.values())
        return same and after.errors <= self.errors


def started(resources: Sequence[Resource], settings: Settings) -> Started:
    """What becomes of *resources*."""
    instances: dict[int, Tree] = {}

    def observe(machine: Machine, body: Tree) -> None:
        if not machine.failed:
            instances[machine.resource.index] = _unnamed(body)

    rendered = run(resources, comparable(settings), observe)
    errors = (
        (diagnostic.code, str(diagnostic.location.resource))
        for diagnostic in rendered.diagnostics
        if diagnostic.is_error
    )
    return Started(instances, frozenset(errors))


def _unnamed(body: Tree) -> Tree:
    metadata = body["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in _NAMES and not key.startswith(APPLIED)
    }
    return {**body, "metadata": {**metadata, "annotations": annotations}}
