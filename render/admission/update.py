"""What the webhooks refuse of an update and not of a new VM.

Upstream: pkg/instancetype/webhooks/vm/mutator.go (validateMatcherUpdate). Everything else is asked of the updated VM as
of a new one; the state of snapshots and restores, which also counts, is only in the cluster.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from render.diagnostics.cause import Cause
from render.model import tree
from render.model.kinds import KIND_CLASSES
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


#: Checks that are made of a new VM and of a VMI that starts, but not of a VM that is updated (vms-admitter.go).
CREATION: frozenset[str] = frozenset(
    {
        "network/passt-gate",
        "network/macvtap-gate",
        "network/slirp",
        "network/passt",
        "network/macvtap",
    }
)
CHECKS: tuple[UpdateCheck, ...] = (
    UpdateCheck("matchers/revision-follows-name", _check_revision_names),
)


def refused(before: Tree, after: Tree) -> list[Cause]:
    """The causes for which the stored VM *before* cannot become *after*."""
    return [cause for check in CHECKS for cause in check.evaluate(before, after)]
