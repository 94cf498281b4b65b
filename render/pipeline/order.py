"""The order of the stages, one tuple an emit mode: the one place that knows it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from render.diagnostics import codes, suppression
from render.diagnostics.codes import MISSING_FIELD
from render.diagnostics.diagnostic import Diagnostic, Location, ordered
from render.kubevirt import instancetype, vm_controller, vm_mutator
from render.legacy import machines
from render.machine import Companion, Context, Machine
from render.model import tree
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline import outcomes
from render.pipeline.input import definitions
from render.pipeline.input.context import bundled_names, shared
from render.pipeline.input.releases import Target
from render.pipeline.obsolete import Obsolete
from render.pipeline.outcomes import Outcome, Verdict
from render.pipeline.result import Rendered
from render.pipeline.stages import emit, pins, stamping
from render.resolve import renames
from render.schemas import served
from render.settings import Settings
from render.settings import faults as settings_faults

if TYPE_CHECKING:
    from render.model.provenance import Provenance
    from render.pipeline.clashes import Clashes
    from render.pipeline.drift import PinDrift
    from render.pipeline.input.unchanged import Unchanged
    from render.pipeline.reach import PresetReach
    from render.pipeline.templates import Parts

_TEMPLATES = frozenset({"Template", "VirtualMachineTemplate"})
Stage = Callable[[Machine], None]
Emit = Callable[[Machine], Tree]


# What few VMs need is imported with the first that does: most processes render one or two.


def _find_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline.stages import historic

        historic.find_flavor(machine)


def _refuse_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline.stages import historic

        historic.refuse_flavor(machine)


def _refused(outcome: Outcome) -> Stage:
    def refuse(machine: Machine) -> None:
        from render.pipeline.stages import historic

        historic.refuse(machine, outcome)

    return refuse


def _merge_presets(machine: Machine) -> None:
    if machine.context.presets:
        from render.kubevirt import preset_mutator

        preset_mutator.merge_presets(machine)


def _admit_vm(machine: Machine) -> None:
    if machine.context.settings.admission != "off":
        from render.kubevirt import admitters

        admitters.admit_vm(machine)


def _check_schema(machine: Machine) -> None:
    """What the schema refuses of an object that gets no further."""
    machine.failed = True
    if machine.context.settings.admission != "off" and not machine.resource.older:
        from render.kubevirt import admitters

        admitters.check_schema(machine)


def _admit_expanded(machine: Machine) -> None:
    """What KubeVirt would refuse of a VM that is expanded here, and stored as it is."""
    sent = machine.under(machine.context.settings._replace(emit="vm"))
    sent.diagnostics = []
    sent.provenance = []
    for stage in stages(sent.resource, sent.context.settings)[0]:
        if not sent.failed:
            stage(sent)
    machine.diagnostics += (one for one in sent.diagnostics if one.check)


def _find_definitions(machine: Machine) -> None:
    """Find the definitions in force, and compare what stored revisions hold with what the lock says of them."""
    instancetype.resolve(machine)
    pins.check_revisions(machine)


def _resolve(machine: Machine) -> None:
    """KubeVirt admits a VM whose definitions are missing as if it had no matchers."""
    _find_definitions(machine)
    if machine.failed:
        instancetype.check_spread(machine)
        instancetype.check_requirements(machine)
        vm_controller.check_network(machine)
        _admit_vm(machine)


def _admit_vmi(machine: Machine) -> None:
    if machine.context.settings.admission != "off":
        from render.kubevirt import admitters

        admitters.admit_vmi(machine)


#: The first stage that is about the VMI of a start alone: what the ones before it refuse, no VM is stored with.
FIRST_OF_VMI: Stage = _merge_presets
#: What the VM webhooks do, and demand before they apply anything.
_ADMISSION: tuple[Stage, ...] = (
    vm_mutator.check_running,
    vm_mutator.check_matchers,
    pins.use,
    vm_mutator.infer_matchers,
    vm_mutator.set_defaults,
    _resolve,
    instancetype.check_spread,
    instancetype.check_crashes,
)
#: From there to the VMI before its defaults. What the VM's webhook checks is made of the VMI: one application for both.
_START: tuple[Stage, ...] = (
    *_ADMISSION,
    _find_flavor,
    vm_controller.create_vmi,
    instancetype.check_requirements,
    _admit_vm,
    _merge_presets,
    _admit_vmi,
)
_EXPAND: tuple[Stage, ...] = (
    _refuse_flavor,
    _find_definitions,
    instancetype.check_crashes,
)
_EXPAND_STORED: tuple[Stage, ...] = (
    vm_mutator.check_matchers,
    pins.use,
    vm_mutator.infer_matchers,
    vm_mutator.set_defaults,
    *_EXPAND,
)


def _adopt(machine: Machine) -> None:
    """A bare VMI is its own template."""
    machine.vmi = {key: machine.vm[key] for key in ("metadata", "spec") if key in machine.vm}


_BARE: tuple[Stage, ...] = (_adopt, _merge_presets, _admit_vmi)


def _older(kind: outcomes.MachineKind) -> tuple[Stage, ...]:
    """The stages of a VM of kubevirt.io/v1alpha1, which was what a VMI is today, or from the store before that."""
    from render.kubevirt import preset_mutator
    from render.pipeline.stages import historic

    if kind == "store":
        return (historic.fill_flavour, historic.fill_memory, *_START)
    # What it becomes is a VMI, into which a cluster of today merges the presets of today.
    return (
        _adopt,
        preset_mutator.merge_historic_presets,
        historic.fill_defaults,
        _merge_presets,
        _admit_vmi,
    )


def stages(resource: Resource, settings: Settings) -> tuple[tuple[Stage, ...], Emit | None]:
    """The stages for a VM or a bare VMI, and what it becomes; None leaves it as it is."""
    kind = outcomes.machine_kind(resource)
    outcome = outcomes.MACHINES[kind].outcomes[settings.emit]
    # KubeVirt has words of its own for a flavor.
    if settings.emit == "expand" and kind in ("vm", "flavored"):
        return (_EXPAND_STORED if settings.stored else _EXPAND), emit.expand
    if outcome.verdict is Verdict.REFUSED:
        return (_refused(outcome),), None
    if kind in ("store", "runtime", "vmi"):
        steps = _BARE if kind == "vmi" else _older(kind)
        modes = {"vm": stamping.vm if kind == "store" else stamping.bare_vmi, "vmi": emit.vmi}
        if settings.emit == "expand":
            steps = ()
        return steps, modes.get(settings.emit)
    match settings.emit:
        case "vmi":
            return _START, emit.vmi
        case "vm":
            return _START, stamping.vm
        case "hashed" | "revisions":
            from render.pipeline.stages import companions

            return _START, companions.hashed if settings.emit == "hashed" else companions.revisions
        case _:
            return _START, None


def render(resources: Iterable[Tree], settings: Settings = Settings()) -> Rendered:  # noqa: B008 - frozen
    """Render plain Kubernetes objects; none of them is changed, nor shared with the result.

    Lists are taken apart, as the command line does; positions (`Location.index`, `Provenance.position`,
    `Rendered.sources`) then are those of the List. Never raises for what the objects hold: that is in the
    diagnostics, also that something is no object. TypeError where *resources* is itself one object and not a list.
    Reads no environment and no file but the package's own data.
    """
    from render.pipeline.input import library

    objects = library.parse(resources)
    settings, faults = library.parse_catalog(settings)
    rendered = run(objects.resources, settings, traced=True)
    has_others = not isinstance(settings.catalog, str) or settings.cluster_config is not None
    rendered = library.answered(rendered, objects, elsewhere=has_others)
    return Rendered(
        [tree.copy(body) for body in rendered.resources],
        ordered((*faults, *rendered.diagnostics)) if faults else rendered.diagnostics,
        rendered.provenance,
        rendered.sources,
    )


def run(  # noqa: PLR0913 - what is rendered, and who is told
    resources: Sequence[Resource],
    settings: Settings,
    observe: Callable[[Machine, Tree], None] | None = None,
    *,
    sink: Callable[[Tree, int | None], None] | None = None,
    traced: bool = False,
    unchanged: "Unchanged | None" = None,
) -> Rendered:
    """Render *resources*, whose indexes are their positions. The result shares trees with the input.

    *observe* is told each machine, failed or not, and what became of it; *sink* gets each resource and its source as
    soon as they are there, and `Rendered.resources` stays empty; *traced*: with provenance, which costs time and much
    memory. *unchanged* machines, which another rendering with the same *settings* made, are not made again: only where
    these leave VMs as they are (``source``), and without provenance.
    """
    refused = settings_faults(settings)
    if refused:
        return Rendered([], refused, (), ())
    observe = observe or _ignore
    output = _Output(resources, sink)
    start = len(resources)
    if settings.parameters:
        from render.pipeline import templates

        resources, output.parts, output.diagnostics = templates.expand(resources, settings)
    given = resources
    resources = renames.follow(
        resources, settings.namespace, lambda: bundled_names(given, settings)
    )
    resources = [machines.modernise(one) for one in resources]
    loaded = definitions.load(resources, settings)
    context = shared(resources, loaded, settings, start, traced=traced)
    drift, reach, obsolete = _drift(context), _reach(context), Obsolete(context)
    asked = (drift, output, obsolete, reach)
    observers: list[_Observer] = [one for one in asked if one is not None]
    clashing = _clashes(settings)
    all_observers = observers if clashing is None else [*observers, clashing]
    for resource in resources:
        if resource.group in definitions.CONSUMED or resource.index in loaded.refused:
            continue
        if definitions.is_machine(resource):
            same = unchanged.find(resource, context) if unchanged else None
            if same is not None:
                _conclude(same, same.raw, output, all_observers, observe)
                continue
            known = len(loaded.diagnostics)
            machine = _machine_of(resource, context, loaded)
            is_refused = resource.index in loaded.refused
            if is_refused:
                read = loaded.diagnostics[known:]
                output.diagnostics += _check_unfilled(resource, read, resources, context)
            _render_machine(
                machine,
                output,
                observers if is_refused else all_observers,
                _ignore if is_refused else observe,
                is_refused=is_refused,
            )
        elif resource.kind in outcomes.HOLDERS and _is_holder(resource):
            _render_replica(resource, context, output, all_observers, observe)
        else:
            output.diagnostics += _check_template(resource, resources, context)
            if not obsolete.collects(resource):
                output.put(served.current(resource, context.release), resource.index)
    diagnostics = (
        *loaded.diagnostics,
        *output.diagnostics,
        *output.left_out(),
        *(drift.diagnostics() if drift else ()),
        *(reach.diagnostics(resources) if reach else ()),
        *obsolete.diagnostics(),
        *(clashing.diagnostics(resources) if clashing else ()),
        *output.add_companions(context),
    )
    counted = suppression.suppress(
        machines.located(diagnostics, resources),
        resources,
        asks_admission=_asks_admission(settings),
        is_looked_through=_is_no_template,
    )
    diagnostics = output.relocated(counted)
    return Rendered(
        output.bodies, ordered(diagnostics), tuple(output.provenance), tuple(output.sources)
    )


_MOST_ERRORS = 10_000
"""Of a run: nothing is printed then, and nobody reads more."""


def _drift(context: Context) -> "PinDrift | None":
    if not context.pins:
        return None
    from render.pipeline.drift import PinDrift

    return PinDrift(context)


def _reach(context: Context) -> "PresetReach | None":
    if not context.presets:
        return None
    from render.pipeline.reach import PresetReach

    return PresetReach(context)


def _asks_admission(settings: Settings) -> bool:
    """Whether the checks of the cluster's admission run."""
    return settings.admission == "strict" or (
        settings.admission == "full" and settings.emit != "expand"
    )


def _clashes(settings: Settings) -> "Clashes | None":
    """Beyond KubeVirt's own words: with its admission, or not at all."""
    if settings.admission == "off" or settings.emit == "expand":
        return None
    from render.pipeline.clashes import Clashes

    return Clashes()


def _render_machine(
    machine: Machine,
    output: "_Output",
    observers: "Sequence[_Observer]",
    observe: Callable[[Machine, Tree], None],
    *,
    is_refused: bool,
) -> None:
    """Take *machine* through its stages; of one whose manifest *is_refused* only the schema says more."""
    if is_refused:
        _check_schema(machine)
    body = machine.raw if is_refused else _render(machine)
    _conclude(machine, body, output, observers, observe)


def _conclude(
    machine: Machine,
    body: Tree,
    output: "_Output",
    observers: "Sequence[_Observer]",
    observe: Callable[[Machine, Tree], None],
) -> None:
    """Tell all that *machine* became *body*, and keep that."""
    for observer in observers:
        observer.observe(machine)
    observe(machine, body)
    if not machine.failed:
        output.put(body, machine.resource.index)


def _ignore(_machine: Machine, _body: Tree) -> None:
    """Nobody wants to be told what became of a machine."""


def _machine_of(resource: Resource, context: Context, loaded: definitions.Definitions) -> Machine:
    """The machine that *resource* is, before its stages; findings about its manifest go to *loaded*."""
    known = len(loaded.diagnostics)
    machine = Machine(context, resource, definitions.decode(resource, loaded))
    machine.is_doubted = len(loaded.diagnostics) > known
    machine.missing = tuple(
        machines.in_machine(resource, one.location.path)
        for one in loaded.diagnostics[known:]
        if one.code == MISSING_FIELD.number
    )
    return machine


def _check_template(
    resource: Resource, resources: Sequence[Resource], context: Context
) -> list[Diagnostic]:
    if resource.kind not in _TEMPLATES:
        return []
    from render.convert.templates import is_template
    from render.pipeline import templates

    return templates.check(resource, resources, context, _render) if is_template(resource) else []


def _is_no_template(resource: Resource) -> bool:
    """Whether all of *resource* is known: a template is filled in when it is used."""
    return resource.kind not in _TEMPLATES


def _check_unfilled(
    resource: Resource,
    read: Sequence[Diagnostic],
    resources: Sequence[Resource],
    context: Context,
) -> list[Diagnostic]:
    """What else is wrong with a machine that placeholders alone keep from its stages, by what was *read* of it."""
    faults = {one.code for one in read if definitions.withholds(one)}
    if faults != {codes.PLACEHOLDER.number} or resource.older:
        return []
    from render.pipeline import templates

    found = templates.check_unfilled(resource, resources, context, _render)
    return [one for one in found if one not in read]


def _is_holder(resource: Resource) -> bool:
    from render.kubevirt import replicas

    return replicas.is_holder(resource)


def _render_replica(
    resource: Resource,
    context: Context,
    output: "_Output",
    observers: "Sequence[_Observer]",
    observe: Callable[[Machine, Tree], None],
) -> None:
    """Render what a pool or a replica set makes, in its template; with ``vmi`` an instance takes its place."""
    from render.kubevirt import pool_admitter, replicas

    settings = context.settings
    expands = settings.emit == "expand"
    asked = _asks_admission(settings)
    fault = replicas.incomplete(resource)
    if fault is not None:
        output.diagnostics.append(fault)
        if asked and pool_admitter.defaults_to_empty(resource):
            output.diagnostics += pool_admitter.check(resource, context)
        return
    outcome = outcomes.HOLDERS[resource.kind].outcomes[settings.emit]
    diagnostics = pool_admitter.check(resource, context) if asked else []
    one = replicas.first_replica(
        resource, numbered_by=context.release if settings.emit == "vmi" else None
    )
    is_flavored = outcomes.machine_kind(one) == "flavored"
    if expands:
        diagnostics.append(pool_admitter.unexpanded(resource))
    if expands and not asked and not is_flavored:
        output.diagnostics += diagnostics
        output.put(resource.body, resource.index)
        return
    read = definitions.Definitions(Target(context.release))
    machine = Machine(context, one, definitions.decode(one, read))
    machine.failed = bool(read.refused) or any(map(definitions.withholds, diagnostics))
    body = one.body if machine.failed else _render(machine)
    refused = any(diagnostic.is_error for diagnostic in diagnostics)
    inner = [
        replicas.relocated(resource, said) for said in (*read.diagnostics, *machine.diagnostics)
    ]
    diagnostics += (said for said in inner if not said.is_error)
    if not refused:  # it would only be said again
        diagnostics += pool_admitter.unusable(resource, (said for said in inner if said.is_error))
    machine.diagnostics = diagnostics
    template = replicas.template_of(resource)
    machine.provenance = [
        said._replace(field=(*template, *said.field)) for said in machine.provenance
    ]
    for observer in observers:
        observer.observe(machine)
    observe(machine, body)
    if machine.failed:
        return
    if outcome.verdict is Verdict.LEFT:
        body = resource.body
    elif settings.emit != "vmi":
        body = replicas.with_replica(resource, one, body)
    output.put(body, resource.index)


class _Observer(Protocol):
    """What wants to know each machine after its stages."""

    def observe(self, machine: Machine) -> None:
        """Look at *machine*."""


class _Output:
    """What came of the resources so far; *given* are these as they came, *sink* gets the bodies if anybody wants them.

    *companions*: what is to be emitted beside the machines in the end; *parts*: what templates of the input made.
    """

    def __init__(
        self, given: Sequence[Resource], sink: Callable[[Tree, int | None], None] | None
    ) -> None:
        self.bodies: list[Tree] = []
        self.sources: list[int | None] = []
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0
        self.provenance: list[Provenance] = []
        self.companions: list[Companion] = []
        self.parts: Parts = {}
        self._given = given
        self._sink = sink or (lambda body, _: self.bodies.append(body))

    def put(self, body: Tree, index: int) -> None:
        """Keep *body*, made of the resource at *index*."""
        is_given = index < len(self._given) and body is self._given[index].body
        source = index if is_given else None
        self.sources.append(source)
        self._sink(body, source)

    def observe(self, machine: Machine) -> None:
        """Keep what *machine* has to say."""
        for diagnostic in machine.diagnostics:
            self.errors += diagnostic.is_error
            if self.errors <= _MOST_ERRORS or not diagnostic.is_error:
                self.diagnostics.append(diagnostic)
        resource = machine.resource
        self.provenance += (
            (
                one._replace(field=machines.in_manifest(resource, one.field))
                for one in machine.provenance
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

        self.provenance = [templates.attributed(one, self.parts) for one in self.provenance]
        return tuple(templates.relocated(one, self.parts) for one in diagnostics)

    def left_out(self) -> Iterator[Diagnostic]:
        """How many errors are not kept."""
        if self.errors > _MOST_ERRORS:
            message = f"and {self.errors - _MOST_ERRORS:,} more errors"
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


def _render(machine: Machine) -> Tree:
    settings = machine.context.settings
    if settings.emit == "expand" and settings.admission == "strict":
        _admit_expanded(machine)
    steps, emitter = stages(machine.resource, settings)
    for stage in steps:
        stage(machine)
        if machine.failed:
            return machine.raw
    if emitter is None:
        return machine.raw
    body = emitter(machine)
    if machine.context.traced and not machine.failed:
        machine.leave_out_absent(body)
    return body
