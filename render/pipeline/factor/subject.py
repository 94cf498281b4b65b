"""A VM that is to be factored: what its author wrote, and what it starts."""

from collections.abc import Collection, Iterator, Mapping

from render.diff import compare
from render.diff.impact import HALTED, strategy_of
from render.machine import Machine
from render.model import tree
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import TEMPLATE, Resource, ResourceRef
from render.model.topology import CPUTopology
from render.model.tree import Tree
from render.model.types import VMI_TYPE
from render.pipeline.comparison import lifecycle
from render.pipeline.factor import places
from render.presets import APPLIED, MODERN

#: The annotations with which the controller names definitions on a VMI.
NAMES = frozenset(
    f"kubevirt.io/{scope}{kind_class.annotation}"
    for kind_class in KIND_CLASSES
    for scope in ("", "cluster-")
)
_TOPOLOGY = ("sockets", "cores", "threads")
_CPU = ("spec", "domain", "cpu")


class MachineStart(NamedTuple):
    """What a VM starts as: *vmi* without the annotations that name definitions, and the rest of the stored VM.

    *applied* is its template with its definitions: if another one comes of an update, KubeVirt asks for a restart.
    Nothing for a VM that does not run.
    """

    vmi: Tree
    vm: Tree
    applied: Tree

    def same(self, after: "MachineStart", *, restarts: bool) -> bool:
        """Whether *after* is the same VMI, of a VM that is the same outside of its template.

        *restarts*: a part of the CPU topology that is left open counts as the 1 that it means to the guest.
        """
        if self.vm != after.vm:
            return False
        if not restarts and not compare.same(self.applied, after.applied, compare.TEMPLATE_SPEC):
            return False
        old, new = (_laid_out(start.vmi) if restarts else start.vmi for start in (self, after))
        return old == new or compare.same(old, new, VMI_TYPE)


def without_marks(vmi: Tree, presets: Collection[str]) -> Tree:
    """*vmi* without the annotations that say which of *presets* were merged into it."""
    marks = {APPLIED + name for name in presets}
    metadata = vmi["metadata"]
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if key not in marks}
    return {**vmi, "metadata": {**metadata, "annotations": kept}}


def _laid_out(vmi: Tree) -> Tree:
    """*vmi* with all of its CPU topology written out, as virt-launcher reads it.

    Upstream: pkg/virt-launcher/virtwrap/converter/vcpu/vcpu.go (GetCPUTopology), converter/compute/cpu.go.
    """
    draft = Draft(vmi)
    counts = {key: draft.get(*_CPU, key) or 1 for key in _TOPOLOGY}
    counts["maxSockets"] = draft.get(*_CPU, "maxSockets") or counts["sockets"]
    draft.put(_CPU, {**(draft.get(*_CPU) or {}), **counts})
    return draft.tree


class PlainMachine(NamedTuple):
    """A VM with its *template*, and *started* as it is.

    The template has what presets merge into the VMI too, the *manifest* what the author wrote; *presets* are these.
    *base* is the VMI before the defaults of KubeVirt: what a preference fills the gaps of. *applied* are the
    definitions that it has already, by the word of their kind class, None for one that it names and has not.
    *restarts*: its CPU topology may be written out, for which KubeVirt asks for a restart of a VMI that runs.
    *open*: where parameters of a template decide, with what it writes there; *template* is without these fields.
    """

    resource: Resource
    template: Tree
    manifest: Tree
    presets: tuple[ResourceRef, ...]
    base: Tree
    started: MachineStart
    release: Version
    namespace: str
    applied: dict[str, Definition | None]
    restarts: bool
    open: Mapping[FieldPath, str]

    def written(self, *path: str | int) -> Any:
        """What the author, or a preset, wrote at *path* of the spec of the VMI."""
        return tree.get(self.template, "spec", *path)

    def final(self, path: FieldPath) -> Any:
        """What the VMI has at *path*, which starts with ``spec`` or ``metadata``."""
        return tree.get(self.started.vmi, *path)

    def parameters(self, places_: Collection[FieldPath]) -> Iterator[tuple[FieldPath, str]]:
        """Those of *places_*, or around them, where a parameter of a template decides, with what it writes there."""
        for path, text in self.open.items():
            if any(place[: len(path)] == path for place in places_):
                yield path, text

    @property
    def topology(self) -> CPUTopology:
        """The sockets, cores and threads that the author wrote, 0 for none."""
        cpu = self.written("domain", "cpu") or {}
        return CPUTopology(*(cpu.get(key) or 0 for key in _TOPOLOGY))

    @property
    def is_laid_out(self) -> bool:
        """Whether the VMI has all of the topology that an instancetype writes, and so has the template, if it runs.

        Where none of it is written, KubeVirt fills it in, but asks for a restart where the template has it later.
        """
        if all(self.topology):
            return True
        cpu = self.final(("spec", "domain", "cpu")) or {}
        return not self.started.applied and all(cpu.get(key) for key in _TOPOLOGY)

    def is_same(self, after: MachineStart) -> bool:
        """Whether the VM starts *after* as it is started."""
        return self.started.same(after, restarts=self.restarts)


def subject_of(
    machine: Machine, body: Tree, open_: Mapping[FieldPath, str], *, restarts: bool
) -> PlainMachine:
    """The subject that *machine* is, which became the VMI *body*; *open_*: see `PlainMachine.open`."""
    manifest = tree.get(machine.decoded, *TEMPLATE) or {}
    started = started_of(machine, body)
    # A definition that brings what a preset says changes the template, and so needs a restart of a VM that runs.
    takes_presets = restarts or not started.applied
    template, presets = _with_presets(machine, manifest) if takes_presets else (manifest, ())
    return PlainMachine(
        machine.resource,
        places.without(template, open_) if open_ else template,
        manifest,
        presets,
        machine.vmi,
        started,
        machine.context.release,
        machine.namespace,
        {
            kind_class.word: getattr(machine, kind_class.word)
            for kind_class in KIND_CLASSES
            if machine.spec.get(kind_class.word) is not None
        },
        restarts,
        open_,
    )


def _with_presets(machine: Machine, manifest: Tree) -> tuple[Tree, tuple[ResourceRef, ...]]:
    """The template *manifest* with what presets merge into the VMI of *machine*, and these presets."""
    if not machine.merged:
        return manifest, ()
    template = Draft(manifest)
    sources: dict[ResourceRef, None] = {}
    for provenance in machine.provenance:
        if provenance.source is not None and provenance.source.kind == MODERN.kind:
            path = provenance.field[len(TEMPLATE) :]
            template.put(path, tree.get(machine.vmi, *path))
            sources[provenance.source] = None
    return template.tree, tuple(sources)


def started_of(machine: Machine, body: Tree) -> MachineStart:
    """What *machine*, which became the VMI *body*, starts as."""
    metadata = body["metadata"]
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key not in NAMES
    }
    rest = {
        key: value
        for key, value in machine.spec.items()
        if key not in ("template", "instancetype", "preference")
    }
    vmi = {**body, "metadata": {**metadata, "annotations": annotations}}
    runs = strategy_of(machine.vm) != HALTED
    applied = lifecycle.applied(machine, machine.context.release) if runs else {}
    return MachineStart(vmi, rest, applied)
