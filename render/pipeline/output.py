"""What comes of a run, object by object: bodies in the order of the input, findings, provenance."""

from collections.abc import Callable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.legacy import machines
from render.machine import Companion, Context, Machine
from render.model import tree
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.resource import KUBEVIRT, Resource
from render.model.tree import Tree
from render.yaml.budget import Budget

if TYPE_CHECKING:
    from render.model.provenance import Provenance
    from render.pipeline.templates import Parts

_MAPS = ("labels", "annotations")
_RENDERED = frozenset({"VirtualMachine", "VirtualMachineInstance"})


def _storable(body: Tree) -> Tree:
    """*body* without what an API server refuses or does not store; itself where there is none of it."""
    body = tree.without_nulls(body)
    metadata = body.get("metadata")
    if not isinstance(metadata, dict) or {} not in (metadata.get(key) for key in _MAPS):
        return body
    kept = {key: value for key, value in metadata.items() if value or key not in _MAPS}
    return {**body, "metadata": kept}


class Output:
    """What came of *resources* so far; *sink* gets the bodies, one by one.

    None: they are kept in *bodies*, and the *provenance* of their fields too.
    *as_written*: objects that no stage changes are printed as they are; else those of KubeVirt's without their nulls,
    which server-side apply refuses, and without labels and annotations that are empty, which no cluster stores.
    *companions*: what is to be emitted beside the machines in the end; *parts*: what templates of the input made.
    Errors are kept as long as *budget* has room for them.
    """

    def __init__(
        self,
        resources: Sequence[Resource],
        sink: Callable[[Tree, int | None], None] | None,
        budget: Budget,
        *,
        as_written: bool,
    ) -> None:
        self.bodies: list[Tree] = []
        self.sources: list[int | None] = []
        self.diagnostics: list[Diagnostic] = []
        self.provenance: list[Provenance] = []
        self.companions: list[Companion] = []
        self.parts: Parts = {}
        self._resources = resources
        self._budget = budget
        self._left_out_before = budget.errors_left_out
        self._as_written = as_written
        self._keeps_provenance = sink is None
        self._sink = sink or (lambda body, _: self.bodies.append(body))

    def put(self, body: Tree, index: int) -> None:
        """Keep *body*, made of the resource at *index*."""
        resource = self._resources[index] if index < len(self._resources) else None
        is_left = resource is not None and body is resource.body
        if not self._as_written and resource is not None and resource.group.endswith(KUBEVIRT):
            # Of a machine that was rendered, the types have left none.
            body = _storable(body) if is_left or resource.kind not in _RENDERED else body
        source = index if resource is not None and body is resource.body else None
        self.sources.append(source)
        self._sink(body, source)

    def observe(self, machine: Machine) -> None:
        """Keep what *machine* has to say."""
        for diagnostic in machine.diagnostics:
            if not diagnostic.is_error or self._budget.has_room_for_error():
                self.diagnostics.append(diagnostic)
        if self._keeps_provenance:
            resource = machine.resource
            self.provenance += (
                (
                    entry._replace(field=machines.in_manifest(resource, entry.field))
                    for entry in machine.provenance
                )
                if resource.older
                else machine.provenance
            )
        if not machine.failed:
            self.companions += machine.companions

    def relocated(self, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """*diagnostics* at the lines of the templates that were filled in."""
        if not self.parts:
            return diagnostics
        from render.pipeline import templates

        self.provenance = [templates.attributed(entry, self.parts) for entry in self.provenance]
        return tuple(templates.relocated(entry, self.parts) for entry in diagnostics)

    def left_out(self) -> Iterator[Diagnostic]:
        """How many errors are not kept."""
        count = self._budget.errors_left_out - self._left_out_before
        if count:
            message = f"and {counted(count, 'more error')}"
            yield codes.LIMIT_EXCEEDED.at(
                Location(), message, help="mend those that are shown first"
            )

    def add_companions(self, context: Context) -> list[Diagnostic]:
        """Put what is emitted beside the machines; the answer is what is wrong with that."""
        if not self.companions:
            return []
        from render.pipeline.stages import companions

        added, faults = companions.deduplicated(self.companions, context)
        for body in added:
            self.sources.append(None)
            self._sink(body, None)
        return faults
