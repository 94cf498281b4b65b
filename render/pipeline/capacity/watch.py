"""Which pods are looked at: all of them where the input limits any, else those that the API server may refuse.

Nothing that makes or judges a pod is imported before there is one to look at: of most inputs there is none.
"""

from collections.abc import Iterator, Mapping, Sequence

from render.diagnostics.codes import CODES, POOL_UNUSABLE, REQUIREMENT_UNMET, SPREAD_INDIVISIBLE
from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.suppression import suppress
from render.machine import CONFIGURATION, Context, Machine
from render.model import tree
from render.model.apimachinery.dns1123 import subdomain_faults
from render.model.hints import TYPE_CHECKING, Any
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.capacity.reasons import is_doubtful, is_limiting

if TYPE_CHECKING:
    from render.pipeline.capacity.fleet import Capacity
    from render.room.figures import ClusterCapacity

#: Settings that reach every pod as they are.
_SETTINGS = (
    ("supportContainerResources",), ("imagePullPolicy",), ("defaultRuntimeClass",),
    ("developerConfiguration", "nodeSelectors"), ("autoCPULimitNamespaceLabelSelector",),
)  # fmt: skip


class PodWatch:
    """Looks at each machine of a run, and judges its pod where there is a reason to."""

    def __init__(self, context: Context, _: Sequence[Resource]) -> None:
        self._context = context
        # What the cluster has beside the input counts as well.
        self._resources = [*context.catalogue.resources]
        self._capacity: Capacity | None = None
        source = context.config_source
        self._is_set = source is not None and any(
            tree.get(source.kubevirt, *CONFIGURATION, *path) for path in _SETTINGS
        )
        self._is_limited = any(map(is_limiting, self._resources))
        if self._is_limited:
            self._open()

    def _open(self) -> "Capacity":
        if self._capacity is None:
            from render.pipeline.capacity.fleet import Capacity

            self._capacity = Capacity(self._context, self._resources)
        return self._capacity

    def observe(self, machine: Machine) -> None:
        """Judge the pod of *machine*, if there is a reason to."""
        if machine.failed or not machine.vmi or (machine.pods_pass and not self._is_limited):
            return
        if _is_refused(machine):
            return
        doubtful = (
            self._is_set
            or is_doubtful(machine.resource.name, machine.vmi)
            # KubeVirt limits the CPU of a pod in a namespace with a quota for that to the CPUs of its guest.
            or (self._is_limited and "cpu" in _requests(machine.vmi))
        )
        limited = self._capacity is not None and self._capacity.concerns(machine)
        if (doubtful or limited) and not _is_refused_name(machine.resource.written.name):
            is_wrong = self._open().observe(machine, is_doubtful=doubtful)
            machine.pods_pass = not (is_wrong or self._is_limited)
        elif not doubtful:
            machine.pods_pass = not self._is_limited

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What is wrong with single pods, and with those of a namespace together."""
        return iter(()) if self._capacity is None else self._capacity.diagnostics()

    def figures(self) -> "ClusterCapacity | None":
        """What the pods ask for, against what there is; None where nothing says that, or not all could be compared."""
        is_whole = self._capacity is not None and self._capacity.is_whole()
        return (
            self._capacity.figures() if self._capacity and is_whole and self._is_limited else None
        )


def _requests(vmi: Tree) -> Mapping[str, Any]:
    return tree.get(vmi, "spec", "domain", "resources", "requests") or {}


#: What the webhooks refuse under codes of its own.
_REFUSALS = frozenset({POOL_UNUSABLE, REQUIREMENT_UNMET, SPREAD_INDIVISIBLE})


def _is_refused(machine: Machine) -> bool:
    """Whether KubeVirt's webhooks refuse *machine*, which comes to no pod then; what is silenced does not count."""
    if not any(_refuses(diagnostic) for diagnostic in machine.diagnostics):
        return False

    return any(
        _refuses(diagnostic)
        for diagnostic in suppress(machine.diagnostics, (machine.resource.written,))
    )


def _refuses(found: Diagnostic) -> bool:
    code = CODES[found.code]
    return found.is_error and ((code.of_admission and not code.beyond) or code in _REFUSALS)


def _is_refused_name(name: str) -> bool:
    """Whether no object can have this *name*: what has it comes to no pod, and that is said of the object."""
    return bool(name and subdomain_faults(name))
