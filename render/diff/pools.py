"""What an edit of a pool does to the VMs that the pool has made, and one of a replica set to its VMIs.

Upstream: pkg/virt-controller/watch/pool/pool.go (update, isOutdatedVM, isOutdatedVMI),
pkg/virt-controller/watch/replicaset/replicaset.go, which updates no VMI.
"""

from collections.abc import Sequence

from render.diff.compare import Difference
from render.model import tree
from render.model.hints import Literal
from render.model.release import Version, holds, since
from render.model.tree import Tree
from render.model.types import VM_TYPE

#: What becomes of the VMs: see the texts of `render.report.impact.review`.
Outcome = Literal[
    "refused", "unusable", "repaired", "new", "gone", "withdrawn", "emptied", "replaced", "restarted", "updated",
    "later", "scaled",
]  # fmt: skip

_TEMPLATE = ("spec", "template")
_VOLUMES = ("spec", "dataVolumeTemplates")
_REPLACES_VMS = since("1.6", "VMs whose DataVolumes would be others are made anew")
_HAS_STRATEGIES = since("1.7", "a pool has an update strategy")


def replicas(holder: Tree) -> int:
    """How many a pool or replica set makes; one where it does not say."""
    count = tree.get(holder, "spec", "replicas")
    return 1 if count is None else int(count)


def deleted(was: Tree, now: Tree) -> int:
    """How many a holder deletes of what it has made, as it was, since it is to have fewer now."""
    strategy = tree.get(now, "spec", "scaleInStrategy") or {}
    waits = strategy.keys() & {"unmanaged", "opportunistic"}
    selects = tree.get(strategy, "proactive", "selectionPolicy", "selectors") is not None
    return 0 if waits or selects else max(0, replicas(was) - replicas(now))


def outcome(found: Sequence[Difference], go_type: str, holder: Tree, release: Version) -> Outcome:
    """What becomes of what the *holder* of now has made, VMs or VMIs of *go_type*, of which *found* differs."""
    if go_type != VM_TYPE:
        return "later"
    strategy = _strategy(holder, release)
    if strategy.get("unmanaged") is not None:
        return "later"
    if strategy.get("opportunistic") is not None:
        return "updated"
    routes = {difference.route[:2] for difference in found}
    if _VOLUMES in routes and holds(_REPLACES_VMS, release):
        return "replaced"
    return "restarted" if _TEMPLATE in routes else "updated"


def rolls_out(holder: Tree, release: Version) -> bool:
    """Whether a pool restarts VMs that it has made once their template is another one."""
    strategy = _strategy(holder, release)
    waits = strategy.get("unmanaged") is not None or strategy.get("opportunistic") is not None
    return replicas(holder) > 0 and not waits


def is_selective(holder: Tree, release: Version) -> bool:
    """Whether a pool updates only VMs that it selects."""
    place = ("proactive", "selectionPolicy", "selectors")
    return tree.get(_strategy(holder, release), *place) is not None


def _strategy(holder: Tree, release: Version) -> Tree:
    known = holds(_HAS_STRATEGIES, release)
    return (tree.get(holder, "spec", "updateStrategy") if known else None) or {}
