"""What the webhooks refuse of an update and not of a new VM.

Upstream: pkg/instancetype/webhooks/vm/mutator.go (validateMatcherUpdate), pkg/network/admitter/validator.go (Validate
runs on an update too, ValidateCreation does not). Every other check judges the updated VM as it does a new one. Whether
a snapshot or a restore is running, which also counts, only the cluster knows.
"""

from collections.abc import Callable, Iterable

from render.admission.vmi.network import discontinued
from render.admission.vmi.network.bindings import without_one_binding
from render.diagnostics.cause import Cause
from render.model import tree
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.release import Version, Windowed, in_force, since
from render.model.tree import Tree


class UpdateCheck(NamedTuple):
    """A rule on the stored VM before and after an update; *name* is ``CONCERN/RULE``."""

    name: str
    evaluate: Callable[[Tree, Tree], Iterable[Cause]]


def _check_revision_names(before: Tree, after: Tree) -> Iterable[Cause]:
    for kind_class in KIND_CLASSES:
        old = tree.get(before, "spec", kind_class.word) or {}
        new = tree.get(after, "spec", kind_class.word) or {}
        revision = old.get("revisionName")
        if (
            new
            and revision
            and revision == new.get("revisionName")
            and old.get("name") != new.get("name")
        ):
            yield Cause(
                "matchers/revision-follows-name",
                ("spec", kind_class.word, "revisionName"),
                "the Matcher Name has been updated without updating the RevisionName",
                "drop revisionName, or name the revision of the other object",
            )


def _check_bindings(_before: Tree, after: Tree) -> Iterable[Cause]:
    template = ("spec", "template", "spec")
    return without_one_binding(tree.get(after, *template) or {}, template)


CHECKS: tuple[UpdateCheck | Windowed[UpdateCheck], ...] = (
    UpdateCheck("matchers/revision-follows-name", _check_revision_names),
    # Of a new VM a binding that is discontinued is refused before its interface is asked for another.
    since("1.9", UpdateCheck("network/binding", _check_bindings)),
)


def only_on_creation(release: Version) -> tuple[str, ...]:
    """The names of the checks that *release* makes of a new VM and of a VMI that starts, but not of an update."""
    return tuple(check.name for check in in_force(discontinued.CHECKS, release))


def refused(
    before: Tree, after: Tree, release: Version, others: Iterable[Version] = ()
) -> list[Cause]:
    """The causes for which the stored VM *before* cannot become *after*: in *release*, and in each of *others*."""
    names = [{check.name for check in in_force(CHECKS, other)} for other in others]
    return [
        cause
        for check in in_force(CHECKS, release)
        if all(check.name in known for known in names)
        for cause in check.evaluate(before, after)
    ]
