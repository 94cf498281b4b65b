"""A run: every object of an input on its way, each machine through the stages of its emit mode."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from render.diagnostics import codes, defects, suppression
from render.diagnostics.codes import MISSING_FIELD
from render.diagnostics.diagnostic import Diagnostic, ordered
from render.legacy import machines
from render.machine import Context, Machine
from render.model import tree
from render.model.hints import TYPE_CHECKING, Protocol
from render.model.named_tuple import NamedTuple
from render.model.resource import CDI, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import order, outcomes
from render.pipeline.input import definitions, placeholders
from render.pipeline.input.context import bundled_names, shared, verdicts
from render.pipeline.input.releases import Target
from render.pipeline.obsolete import ObsoleteDefinitions
from render.pipeline.output import Output
from render.pipeline.result import Rendered, RenderedMachine, RenderedMachines
from render.resolve import renames
from render.schemas import served
from render.settings import Settings
from render.settings import faults as settings_faults
from render.yaml.budget import Budget, Limits

if TYPE_CHECKING:
    from render.pipeline.input.unchanged import Unchanged
    from render.room.figures import ClusterCapacity

_TEMPLATES = frozenset(
    {
        "Template",
        "VirtualMachineTemplate",
        "VirtualMachineTemplateVersion",
        "KubevirtMachineTemplate",
    }
)
#: Faults of single values: the others of an object can be judged without them.
_OPEN = frozenset(
    code.number for code in (codes.PLACEHOLDER, codes.WRONG_TYPE, codes.INVALID_QUANTITY)
)
#: What machines of one shape have alike before they are decoded: where that changes nothing of one, nor of the others.
_SETTLED = "spec"
Observe = Callable[[Machine, Tree], None]


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
    found = ordered((*faults, *rendered.diagnostics)) if faults else rendered.diagnostics
    return Rendered(
        [tree.copy(body) for body in rendered.resources],
        found,
        rendered.provenance,
        rendered.sources,
        RenderedMachines(lambda: _instances(objects.resources, settings, found)),
        rendered.capacity,
    )


def _instances(
    resources: Sequence[Resource], settings: Settings, found: Sequence[Diagnostic]
) -> Iterator[RenderedMachine]:
    """Each machine of *resources* with the VMI that *settings* make of it, and what was *found* about it."""
    vmis: dict[int, Tree] = {}

    def observe(machine: Machine, vmi: Tree) -> None:
        if not machine.failed:
            vmis[machine.resource.index] = vmi

    instances = settings._replace(emit="vmi", stored=False, defaults="manifest")
    run(resources, instances, observe)
    by_resource: dict[ResourceRef, list[Diagnostic]] = {}
    for diagnostic in found:
        if diagnostic.resource is not None:
            by_resource.setdefault(diagnostic.resource, []).append(diagnostic)
    for resource in filter(definitions.is_machine, resources):
        vmi = vmis.get(resource.index)
        about = tuple(by_resource.get(resource.ref, ()))
        yield RenderedMachine(resource.ref, resource.body, vmi and tree.copy(vmi), about)


def run(  # noqa: PLR0913 - what is rendered, and who is told
    resources: Sequence[Resource],
    settings: Settings,
    observe: Observe | None = None,
    *,
    sink: Callable[[Tree, int | None], None] | None = None,
    traced: bool = False,
    emitter: Callable[[Machine], Tree] | None = None,
    unchanged: "Unchanged | None" = None,
    survive: Callable[[Exception, Resource], Diagnostic] | None = None,
    budget: Budget | None = None,
) -> Rendered:
    """Render *resources*, whose indexes are their positions. The result shares trees with the input.

    *observe* is told each machine, failed or not, and what became of it; *sink* gets each resource and its source as
    soon as they are there, and `Rendered` has no resources and no provenance; *traced*: with provenance, which
    costs time and much memory; *emitter* makes of each machine what it becomes, where its emit mode does not.
    *unchanged* machines, which another rendering with the same *settings* made, are not made again: only where these
    leave VMs as they are (``source``), and without provenance. *survive* makes a finding of a fault of ours in one
    object, so that the others go on; without it, it is raised. *budget*: of what this is a part of, if anything.
    """
    refused = settings_faults(settings)
    if refused:
        return Rendered([], refused, (), ())
    budget = budget or Budget(Limits())
    output = Output(resources, sink, budget, as_written=settings.emit == "source")
    start = len(resources)
    resources = _of_today(resources, settings, output)
    loaded = definitions.load(resources, settings, budget)
    context = shared(resources, loaded, settings, start, traced=traced)._replace(emitter=emitter)
    journey = _Journey(resources, loaded, context, output, observe)
    for resource in resources:
        try:
            journey.begin(resource, unchanged)
        except defects.KINDS as error:
            if survive is None:
                raise
            output.diagnostics.append(survive(error, resource))
    answer = _answer(journey.diagnostics(), resources, output, settings)
    return answer._replace(capacity=journey.capacity())


def _of_today(resources: Sequence[Resource], settings: Settings, output: Output) -> list[Resource]:
    """*resources* with what templates among them make, under the names and in the form that they have today."""
    if settings.parameters:
        from render.pipeline import templates

        resources, output.parts, output.diagnostics = templates.expand(resources, settings)
    expanded = resources
    renamed = renames.follow(
        expanded, settings.namespace, lambda: bundled_names(expanded, settings)
    )
    return [machines.modernise(resource) for resource in renamed]


def _answer(
    diagnostics: Iterable[Diagnostic],
    resources: Sequence[Resource],
    output: Output,
    settings: Settings,
) -> Rendered:
    """What came of a run, its findings where their authors have the fields, and without those that are silenced."""
    counted = suppression.suppress(
        machines.located(diagnostics, resources),
        resources,
        is_enabled=lambda code: _is_enabled(code, settings),
        is_looked_through=_is_no_template,
    )
    diagnostics = output.relocated(counted)
    return Rendered(
        output.bodies, ordered(diagnostics), tuple(output.provenance), tuple(output.sources)
    )


class _Observer(Protocol):
    """What wants to know each machine after its stages."""

    def observe(self, machine: Machine) -> None:
        """Look at *machine*."""

    def diagnostics(self) -> Iterable[Diagnostic]:
        """What there is to say once all were seen."""


class _ObserverRow(NamedTuple):
    """Who looks at machines (``module:class``, imported where it *is_wanted*), with *of_refused* at all of them."""

    home: str
    is_wanted: Callable[[Context], object]
    of_refused: bool = True


def _asks_for_clashes(context: Context) -> bool:
    """Beyond KubeVirt's own words: with its admission, or not at all."""
    return context.settings.admission != "off" and context.settings.emit != "expand"


_OBSERVERS = (
    _ObserverRow("pipeline.drift:PinDrift", lambda context: context.pins),
    _ObserverRow("pipeline.reach:PresetReach", lambda context: context.presets),
    _ObserverRow("pipeline.clashes:Clashes", _asks_for_clashes, of_refused=False),
    _ObserverRow(
        "pipeline.capacity.watch:PodWatch",
        lambda context: order.asks_admission(context.settings),
        of_refused=False,
    ),
)


class _Journey:
    """The objects of an input on their way: what they share, who looks at each of them, and what they become."""

    def __init__(
        self,
        resources: Sequence[Resource],
        loaded: definitions.Definitions,
        context: Context,
        output: Output,
        observe: Observe | None,
    ) -> None:
        self._resources = resources
        self._loaded = loaded
        self._context = context = context._replace(verdicts=verdicts(context, resources))
        self._output = output
        self._observe = observe
        self._obsolete = ObsoleteDefinitions(context)
        self._observers: dict[_ObserverRow, _Observer] = {
            row: order.imported(row.home)(context, resources)
            for row in _OBSERVERS
            if row.is_wanted(context)
        }

    def conclude(
        self, machine: Machine, body: Tree, *, is_refused: bool = False, is_printed: bool = True
    ) -> None:
        """Tell all that *machine* became *body*, and keep that where it *is_printed*.

        Of one whose manifest *is_refused* nobody knows what it would use.
        """
        self._output.observe(machine)
        self._obsolete.observe(machine)
        for row, observer in self._observers.items():
            if row.of_refused or not is_refused:
                observer.observe(machine)
        if self._observe is not None and not is_refused:
            self._observe(machine, body)
        if not machine.failed and is_printed:
            self._output.put(body, machine.resource.index)

    def begin(self, resource: Resource, unchanged: "Unchanged | None") -> None:
        """Send *resource* on its way: what it becomes is known if it is one of the *unchanged*."""
        if resource.group in definitions.CONSUMED or resource.index in self._loaded.refused:
            return
        same = unchanged.find(resource, self._context) if unchanged else None
        if unchanged and same is not None:
            self.conclude(same, same.raw, is_printed=unchanged.is_printed)
        elif definitions.is_machine(resource):
            self.render_machine(resource)
        elif resource.kind in outcomes.HOLDERS and _is_holder(resource):
            self.render_replica(resource)
        else:
            self.leave(resource)

    def render_machine(self, resource: Resource) -> None:
        """Take the machine *resource* through its stages; of a refused manifest what does not hang on that."""
        known = len(self._loaded.diagnostics)
        machine = _machine_of(resource, self._context, self._loaded)
        if resource.index not in self._loaded.refused:
            self.conclude(machine, perform(machine))
            return
        read = self._loaded.diagnostics[known:]
        self._output.diagnostics += _check_unfilled(resource, read, self._resources, self._context)
        _check_schema(machine)
        self.conclude(machine, machine.raw, is_refused=True)

    def leave(self, resource: Resource) -> None:
        """Put what is no machine and makes none, unless nobody serves it."""
        self._output.diagnostics += _check_template(resource, self._resources, self._context)
        self._output.diagnostics += _check_import(resource, self._context)
        self._output.diagnostics += _check_claim(resource, self._context)
        if not self._obsolete.collect(resource):
            self._output.put(served.current(resource, self._context.release), resource.index)

    def render_replica(self, resource: Resource) -> None:
        """Render what a pool or a replica set makes, in its template; with ``vmi`` an instance takes its place."""
        from render.kubevirt import pool_admitter, replicas

        context, output, settings = self._context, self._output, self._context.settings
        asks = order.asks_admission(settings)
        fault = replicas.incomplete(resource)
        if fault is not None:
            output.diagnostics.append(fault)
            return
        diagnostics = pool_admitter.check(resource, context) if asks else []
        replica = replicas.first_replica(
            resource, numbered_by=context.release if settings.emit in order.INSTANCES else None
        )
        if settings.emit == "expand":
            diagnostics.append(pool_admitter.unexpanded(resource))
            if not asks and outcomes.machine_kind(replica) != "flavored":
                output.diagnostics += diagnostics
                output.put(resource.body, resource.index)
                return
        machine, body = _replica(resource, replica, context, diagnostics)
        self.conclude(machine, body, is_printed=False)
        if not machine.failed:
            output.put(_holding(resource, replica, body, settings), resource.index)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """All that was found, in what was read, on the way, and once everything was seen."""
        yield from self._loaded.diagnostics
        yield from self._output.diagnostics
        yield from self._output.left_out()
        yield from self._obsolete.diagnostics()
        for observer in self._observers.values():
            yield from observer.diagnostics()
        yield from self._output.add_companions(self._context)

    def capacity(self) -> "ClusterCapacity | None":
        """What the pods ask for, against what there is, if anything says so."""
        counting = (each for each in self._observers.values() if hasattr(each, "figures"))
        counted: Iterator[ClusterCapacity | None] = (observer.figures() for observer in counting)
        return next(counted, None)


def _replica(
    resource: Resource, replica: Resource, context: Context, diagnostics: list[Diagnostic]
) -> tuple[Machine, Tree]:
    """The machine *replica* that *resource* makes, and what it becomes; *diagnostics* are those of *resource*."""
    from render.kubevirt import pool_admitter, replicas

    read = definitions.Definitions(Target(context.release))
    machine = Machine(context, replica, definitions.decode(replica, read))
    machine.failed = bool(read.refused) or any(map(definitions.withholds, diagnostics))
    body = replica.body if machine.failed else perform(machine)
    is_refused = any(diagnostic.is_error for diagnostic in diagnostics)
    inner = [
        replicas.relocated(resource, diagnostic)
        for diagnostic in (*read.diagnostics, *machine.diagnostics)
    ]
    diagnostics += (diagnostic for diagnostic in inner if not diagnostic.is_error)
    if not is_refused:  # it would only be said again
        diagnostics += pool_admitter.unusable(
            resource, (diagnostic for diagnostic in inner if diagnostic.is_error)
        )
    machine.diagnostics = diagnostics
    template = replicas.template_of(resource)
    machine.provenance = [
        provenance._replace(field=(*template, *provenance.field))
        for provenance in machine.provenance
    ]
    return machine, body


def _holding(resource: Resource, replica: Resource, body: Tree, settings: Settings) -> Tree:
    """What becomes of the pool or replica set *resource* whose *replica* became *body*."""
    from render.kubevirt import replicas

    outcome = outcomes.HOLDERS[resource.kind].outcomes[settings.emit]
    if outcome.verdict == "left as it is":
        return resource.body
    if settings.emit in order.INSTANCES:
        return body
    return replicas.with_replica(resource, replica, body)


def _is_enabled(code: codes.Code, settings: Settings) -> bool:
    """Whether findings of this kind are looked for."""
    if code.of_guest:
        return order.asks_guest(settings)
    return order.asks_admission(settings) or not code.of_admission


def _machine_of(resource: Resource, context: Context, loaded: definitions.Definitions) -> Machine:
    """The machine that *resource* is, before its stages; findings about its manifest go to *loaded*."""
    known = len(loaded.diagnostics)
    verdicts = order.verdicts_for(context)
    shape = None if verdicts is None else order.shape_of(resource, resource.spec, context)
    is_settled = verdicts is not None and shape is not None and (_SETTLED, shape) in verdicts
    decoded = definitions.decode(resource, loaded, settled=_SETTLED if is_settled else "")
    machine = Machine(context, resource, decoded)
    machine.has_decode_findings = len(loaded.diagnostics) > known
    if verdicts is not None and not machine.has_decode_findings:
        machine.shape = shape
        if shape is not None and decoded.get(_SETTLED) is resource.spec:
            verdicts.add((_SETTLED, shape), shape, None)
    machine.missing = tuple(
        machines.in_machine(resource, diagnostic.location.path)
        for diagnostic in loaded.diagnostics[known:]
        if diagnostic.code == MISSING_FIELD.number
    )
    return machine


def _check_template(
    resource: Resource, resources: Sequence[Resource], context: Context
) -> list[Diagnostic]:
    if resource.kind not in _TEMPLATES:
        return []
    from render.convert.templates import is_template
    from render.pipeline import templates

    return templates.check(resource, resources, context, perform) if is_template(resource) else []


def _check_import(resource: Resource, context: Context) -> list[Diagnostic]:
    """What CDI refuses of *resource*; nothing where something in it is still to be filled in."""
    if resource.group != CDI or not order.asks_admission(context.settings):
        return []
    from render.kubevirt import importer

    return [] if any(placeholders.find(resource)) else importer.check(resource, context)


def _check_claim(resource: Resource, context: Context) -> list[Diagnostic]:
    """What the API server cannot read of the claim *resource*; nothing where something is still to be filled in."""
    is_claim = resource.kind == "PersistentVolumeClaim" and not resource.group
    if not is_claim or not order.asks_admission(context.settings):
        return []
    from render.pipeline.input import claims

    return [] if any(placeholders.find(resource)) else [*claims.check(resource)]


def _is_no_template(resource: Resource) -> bool:
    """Whether all of *resource* is known: a template is filled in when it is used."""
    return resource.kind not in _TEMPLATES


def _check_unfilled(
    resource: Resource,
    read: Sequence[Diagnostic],
    resources: Sequence[Resource],
    context: Context,
) -> list[Diagnostic]:
    """What else is wrong with a machine that certain values alone keep from its stages, by what was *read* of it.

    These are placeholders, and values that no field of the type can hold: nobody knows what was meant there.
    """
    faults = [diagnostic for diagnostic in read if definitions.withholds(diagnostic)]
    if not faults or resource.older or any(diagnostic.code not in _OPEN for diagnostic in faults):
        return []
    from render.pipeline import templates

    mistyped = [
        diagnostic.location.path
        for diagnostic in faults
        if diagnostic.code != codes.PLACEHOLDER.number
    ]
    unfilled = placeholders.emptied(resource, mistyped)
    if unfilled is None:
        return []
    found = templates.check_unfilled(unfilled, resources, context, perform)
    known = {(diagnostic.code, diagnostic.location.path) for diagnostic in read}
    return [
        diagnostic
        for diagnostic in found
        if (diagnostic.code, diagnostic.location.path) not in known
    ]


def _is_holder(resource: Resource) -> bool:
    from render.kubevirt import replicas

    return replicas.is_holder(resource)


def perform(machine: Machine) -> Tree:
    """Take *machine* through the stages of its emit mode; what it becomes, as it was where that fails."""
    settings = machine.context.settings
    if settings.emit == "expand" and settings.admission == "strict":
        _admit_expanded(machine)
    steps, emitter = order.stages(machine.resource, settings)
    for stage in (*order.MANIFEST, *steps):
        stage(machine)
        if machine.failed:
            return machine.raw
    if emitter is None:
        return machine.raw
    if machine.context.emitter is not None:
        return machine.context.emitter(machine)
    body = emitter(machine)
    if machine.context.traced and not machine.failed and settings.emit != "pod":
        machine.leave_out_absent(body)
    return body


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
    for stage in order.stages(sent.resource, sent.context.settings)[0]:
        if not sent.failed:
            stage(sent)
    machine.diagnostics += (diagnostic for diagnostic in sent.diagnostics if diagnostic.check)
