"""The order of the stages, one tuple an emit mode: the one place that knows it."""

from collections.abc import Callable, Iterable, Sequence

from render.convert import machines
from render.diagnostics import suppression
from render.diagnostics.diagnostic import Diagnostic, ordered
from render.model import tree
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline import admission, emit, kept, load, pins, stamping, start, webhook
from render.pipeline import context as shared
from render.pipeline.machine import Beside, Context, Machine
from render.pipeline.result import Provenance, Rendered
from render.resolve import renames
from render.settings import Settings
from render.settings import faults as settings_faults

Stage = Callable[[Machine], None]
Emit = Callable[[Machine], Tree]


# What few VMs need is imported with the first that does: most processes render one or two.


def _find_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline import historic

        historic.find_flavor(machine)


def _refuse_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline import historic

        historic.refuse_flavor(machine)


def _merge_presets(machine: Machine) -> None:
    if machine.context.presets:
        from render.pipeline import merging

        merging.merge_presets(machine)


#: What the VM webhooks do and demand.
_ADMISSION: tuple[Stage, ...] = (
    webhook.check_run_strategy,
    webhook.check_matchers,
    pins.use,
    webhook.infer_matchers,
    webhook.set_defaults,
    admission.resolve,
    admission.admit,
    admission.check_crashes,
)
#: From there to the VMI before its defaults.
_START: tuple[Stage, ...] = (
    *_ADMISSION,
    _find_flavor,
    start.create_vmi,
    _merge_presets,
)
_EXPAND: tuple[Stage, ...] = (
    _refuse_flavor,
    admission.resolve,
    admission.check_crashes,
)
_EXPAND_STORED: tuple[Stage, ...] = (
    webhook.check_matchers,
    pins.use,
    webhook.infer_matchers,
    webhook.set_defaults,
    *_EXPAND,
)


def _adopt(machine: Machine) -> None:
    """A bare VMI is its own template."""
    machine.template = {key: machine.vm[key] for key in ("metadata", "spec") if key in machine.vm}


_BARE: tuple[Stage, ...] = (_adopt, _merge_presets)


def _older(era: machines.Era) -> tuple[Stage, ...]:
    """The stages of a VM of kubevirt.io/v1alpha1, which was what a VMI is today, or from the store before that."""
    from render.pipeline import historic, merging

    if era == "store":
        return (historic.fill_flavour, *_START)
    return (_adopt, merging.merge_historic_presets, historic.fill_defaults)


def stages(resource: Resource, settings: Settings) -> tuple[tuple[Stage, ...], Emit | None]:
    """The stages for a VM or a bare VMI, and what it becomes; None leaves it as it is."""
    era = machines.era(resource)
    if era or resource.kind == load.VMI:
        vm = stamping.vm if era == "store" else emit.bare_vmi
        made = {"vm": vm, "vmi": emit.vmi}.get(settings.emit)
        if settings.emit == "expand":
            return (), made
        return (_older(era) if era else _BARE), made
    match settings.emit:
        case "expand":
            return (_EXPAND_STORED if settings.stored else _EXPAND), emit.expand
        case "vmi":
            return _START, emit.vmi
        case "vm":
            return _START, stamping.vm
        case "hashed" | "revisions":
            from render.pipeline import beside

            return _START, beside.hashed if settings.emit == "hashed" else beside.revisions
        case _:
            return _START, None


def render(resources: Iterable[Tree], settings: Settings = Settings()) -> Rendered:  # noqa: B008 - frozen
    """Render plain Kubernetes objects; none of them is changed, nor shared with the result.

    Lists are taken apart, as the command line does; positions (`Location.index`, `Provenance.position`,
    `Rendered.sources`) then are those of the List. Never raises for what the objects hold: that is in the
    diagnostics, also that something is no object. TypeError where *resources* is itself one object and not a list.
    Reads no environment and no file but the package's own data and a catalogue that *settings* names.
    """
    from render.pipeline import intake

    objects = intake.take(resources)
    rendered = intake.answered(run(objects.resources, settings, traced=True), objects)
    return Rendered(
        [tree.copy(body) for body in rendered.resources],
        rendered.diagnostics,
        rendered.provenance,
        rendered.sources,
    )


def run(
    resources: Sequence[Resource],
    settings: Settings,
    note: Callable[[Machine, Tree], None] | None = None,
    *,
    take: Callable[[Tree, int | None], None] | None = None,
    traced: bool = False,
) -> Rendered:
    """Render *resources*, whose indexes are their positions. The result shares trees with the input.

    *note* is told each machine that did not fail, and what became of it; *take* gets each resource and its source as
    soon as they are there, and `Rendered.resources` stays empty; *traced*: with provenance, which costs time and much
    memory.
    """
    refused = settings_faults(settings)
    if refused:
        return Rendered([], refused, (), ())
    given = resources
    resources = renames.follow(resources, settings.namespace)
    loaded = load.load(resources, settings)
    context = shared.context(resources, loaded, settings, traced=traced)
    made = _Made(given, take)
    held = kept.Kept(context)
    for resource in resources:
        if resource.group in load.CONSUMED or resource.index in loaded.refused:
            continue
        if not load.is_machine(resource):
            made.put(resource.body, resource.index)
            continue
        machine = Machine(context, resource, load.decode(resource, loaded))
        if resource.index in loaded.refused:
            continue
        body = _render(machine)
        held.note(machine)
        made.note(machine)
        if not machine.failed:
            if note is not None:
                note(machine, body)
            made.put(body, resource.index)
    found = (*loaded.diagnostics, *made.diagnostics, *held.diagnostics(), *made.settle(context))
    return Rendered(
        made.bodies,
        ordered(suppression.suppress(found, resources)),
        tuple(made.provenance),
        tuple(made.sources),
    )


class _Made:
    """What came of the resources so far; *given* are these as they came, *take* gets the bodies if anybody wants them.

    *beside*: what is to be emitted beside the machines in the end.
    """

    def __init__(
        self, given: Sequence[Resource], take: Callable[[Tree, int | None], None] | None
    ) -> None:
        self.bodies: list[Tree] = []
        self.sources: list[int | None] = []
        self.diagnostics: list[Diagnostic] = []
        self.provenance: list[Provenance] = []
        self.beside: list[Beside] = []
        self._given = given
        self._take = take or (lambda body, _: self.bodies.append(body))

    def put(self, body: Tree, index: int) -> None:
        """Keep *body*, made of the resource at *index*."""
        source = index if body is self._given[index].body else None
        self.sources.append(source)
        self._take(body, source)

    def note(self, machine: Machine) -> None:
        """Keep what *machine* has to say."""
        self.diagnostics += machine.diagnostics
        self.provenance += machine.provenance
        if not machine.failed:
            self.beside += machine.beside

    def settle(self, context: Context) -> list[Diagnostic]:
        """Put what is emitted beside the machines; the answer is what is wrong with that."""
        if not self.beside:
            return []
        from render.pipeline import beside

        added, faults = beside.settle(self.beside, context)
        for body in added:
            self.sources.append(None)
            self._take(body, None)
        return faults


def _render(machine: Machine) -> Tree:
    steps, made = stages(machine.resource, machine.context.settings)
    for stage in steps:
        stage(machine)
        if machine.failed:
            return machine.resource.body
    return machine.resource.body if made is None else made(machine)
