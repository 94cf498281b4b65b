"""Templates in a rendering: the VMs in them are checked as if their parameters were filled in, or really are.

What a template makes has an index of its own beyond those of the input and of what stands beside it, by which its
findings are brought back to the lines of the template.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from render.convert import templates
from render.convert.templates import EXAMPLES, OURS, Fill, Parameter, TemplateObject, Use
from render.diagnostics import codes, secrets
from render.diagnostics.codes import CODES, INVALID_SETTING, PARAMETER_MISSING, PLACEHOLDER
from render.diagnostics.diagnostic import Diagnostic, Location, at, with_places
from render.diagnostics.suppression import suppress
from render.legacy import machines
from render.machine import Context, Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.provenance import Provenance
from render.model.release import NEWEST, Version, tag
from render.model.resource import Resource, from_body
from render.pipeline.input import definitions, open_fields, placeholders
from render.pipeline.input.context import shared
from render.pipeline.input.releases import Target
from render.settings import Settings


class Part(NamedTuple):
    """An object that a template makes: *path* is where it stands in *outer*, *open* what nobody has filled in."""

    resource: Resource
    outer: Resource
    path: FieldPath
    open: tuple[FieldPath, ...] = ()


#: The parts by their indexes.
Parts = dict[int, Part]
#: Where the indexes of parts begin: of those that are rendered, and of those that are only tried.
_RENDERED, _TRIED = 1 << 40, 1 << 41


def relocated(diagnostic: Diagnostic, parts: Mapping[int, Part]) -> Diagnostic:
    """*diagnostic* with the places in templates that its places in *parts* are."""

    def moved(place: Location) -> Location:
        part = None if place.index is None else parts.get(place.index)
        if part is None:
            return place
        path = (*part.path, *place.path)
        return place._replace(resource=part.outer.ref, path=path, index=part.outer.index)

    return with_places(diagnostic, moved)


def attributed(provenance: Provenance, parts: Mapping[int, Part]) -> Provenance:
    """*provenance* with the position of the template, where a part of it decided."""
    part = None if provenance.position is None else parts.get(provenance.position)
    return provenance if part is None else provenance._replace(position=part.outer.index)


def expand(
    resources: Sequence[Resource], settings: Settings
) -> tuple[list[Resource], Parts, list[Diagnostic]]:
    """*resources*, those templates replaced by what they make that have one of the parameters of *settings*."""
    values = dict(settings.parameters)
    expanded: list[Resource] = []
    parts: Parts = {}
    faults: list[Diagnostic] = []
    known: set[str] = set()
    for resource in resources:
        declared = templates.parameters(resource) if templates.is_template(resource) else {}
        known |= declared.keys()
        if values.keys().isdisjoint(declared):
            expanded.append(resource)
            continue
        missing = list(_missing(resource, declared, values))
        faults += missing
        if missing:
            continue
        try:
            items = list(templates.filled(resource, _filling(declared, values), NEWEST))
        except templates.TemplateLimitError:
            faults.append(_too_large(resource))
            continue
        for item in items:
            part = _part(resource, item, _RENDERED + len(parts))
            parts[part.resource.index] = part
            expanded.append(part.resource)
    for name in sorted(values.keys() - known):
        message = f"no template of the input has a parameter {name}"
        faults.append(INVALID_SETTING.at(Location(), message, help=_known(known)))
    return expanded, parts, faults


def _too_large(template: Resource) -> Diagnostic:
    message = f"{template.ref} has parameters so often that what it makes is too large"
    return codes.LIMIT_EXCEEDED.at(at(template), message, help="let parameters stand for less")


def _known(names: Iterable[str]) -> str:
    if names:
        return f"there are {', '.join(sorted(names))}"
    return (
        "--set is for the parameters of templates; a chart takes values from a file: --values FILE"
    )


def _missing(
    template: Resource, declared: Mapping[str, Parameter], values: Mapping[str, str]
) -> Iterator[Diagnostic]:
    for parameter in declared.values():
        needed = parameter.is_required or parameter.is_generated
        if parameter.value is None and parameter.name not in values and needed:
            why = "is generated anew each time" if parameter.is_generated else "is required"
            yield PARAMETER_MISSING.at(
                at(template, parameter.path),
                f"the parameter {parameter.name} of {template.ref} {why}",
                help=f"say what it is with --set {parameter.name}=VALUE",
            )


def _filling(declared: Mapping[str, Parameter], values: Mapping[str, str]) -> Fill:
    def fill(use: Use) -> str | None:
        if use.name not in declared:
            return None
        return values.get(use.name, declared[use.name].value or "")

    return fill


def _part(template: Resource, item: TemplateObject, index: int) -> Part:
    return Part(from_body(item.body, index, template.origin), template, item.path)


def check(
    template: Resource,
    resources: Sequence[Resource],
    context: Context,
    render: Callable[[Machine], object],
) -> list[Diagnostic]:
    """What is wrong with the VMs that *template* makes, whatever its parameters are; *render* runs the stages.

    Where a parameter has no default, or a secret one, two examples are tried: what is found with both, and does not
    stand where a parameter is used, counts.
    """
    declared = templates.parameters(template)
    variants: list[list[Diagnostic]] = []
    undefined: list[Diagnostic] = []
    parts: Parts = {}
    for number in range(EXAMPLES):
        fill = _example(declared, number, context.release)
        try:
            items = list(templates.filled(template, fill, context.release))
        except templates.TemplateLimitError:
            return [_too_large(template)]
        attempts = [
            _attempt(template, item, _TRIED + position, declared)
            for position, item in enumerate(items)
        ]
        parts = {part.resource.index: part for part in attempts}
        undefined = list(_undefined(template, items, declared))
        variants.append(_findings(attempts, resources, context, render))
        if not any(part.open for part in attempts):
            break
    counted = suppress(
        _certain(variants, parts),
        (part.resource for part in parts.values()),
        is_looked_through=lambda resource: not parts[resource.index].open,
    )
    return [*undefined, *(relocated(diagnostic, parts) for diagnostic in counted)]


def check_unfilled(
    machine: Resource,
    resources: Sequence[Resource],
    context: Context,
    render: Callable[[Machine], object],
) -> list[Diagnostic]:
    """What is wrong with a *machine* with placeholders, whatever they stand for; as `check` for the other arguments.

    Nothing where one of them stands for a list or a mapping.
    """
    variants: list[list[Diagnostic]] = []
    parts: Parts = {}
    for number in range(EXAMPLES):
        filled = placeholders.filled(machine, number, context.release)
        if filled is None:
            return []
        body, open_ = filled
        part = Part(from_body(body, _TRIED, machine.origin), machine, (), open_)
        parts = {_TRIED: part}
        variants.append(_findings([part], resources, context, render))
    return [relocated(diagnostic, parts) for diagnostic in _certain(variants, parts)]


def _certain(variants: Sequence[Sequence[Diagnostic]], parts: Parts) -> list[Diagnostic]:
    """Of the findings in all *variants*, one an example, those that hold with each, and depend on and quote none."""
    last = {
        (each.code, each.location, each.message): each
        for each in (relocated(diagnostic, parts) for diagnostic in variants[-1])
    }
    certain = []
    for diagnostic in variants[0]:
        each = relocated(diagnostic, parts)
        other = last.get((each.code, each.location, each.message))
        if other is not None and not _is_open(diagnostic, parts):
            is_same = (each.help, each.fixes) == (other.help, other.fixes)
            certain.append(diagnostic if is_same else diagnostic._replace(help="", fixes=()))
    return certain


def _attempt(
    template: Resource, item: TemplateObject, index: int, declared: Mapping[str, Parameter]
) -> Part:
    """The part that *item* is, in the namespace of its template if it names none."""
    part = _part(template, item, index)
    open_ = tuple(
        use.path for use in item.uses if use.name in declared and declared[use.name].value is None
    )
    namespace = part.resource.namespace or template.namespace
    return part._replace(resource=part.resource._replace(namespace=namespace), open=open_)


def _example(declared: Mapping[str, Parameter], number: int, release: Version) -> Fill:
    def fill(use: Use) -> str | None:
        if use.name not in declared:
            return None
        # A finding might quote a password that is its value.
        value = None if secrets.is_secret_key(use.name) else declared[use.name].value
        return templates.example(use, number, release) if value is None else value

    return fill


def _undefined(
    template: Resource, items: Iterable[TemplateObject], declared: Mapping[str, Parameter]
) -> Iterator[Diagnostic]:
    """References to what is no parameter: KubeVirt refuses them, OpenShift leaves them as they are."""
    for item in items if template.kind == OURS else ():
        for use in item.uses:
            if use.name not in declared:
                yield PLACEHOLDER.at(
                    at(template, (*item.path, *use.path)),
                    f"references undefined parameter {use.name}",
                    help="declare it in spec.parameters",
                )


def _findings(
    parts: Sequence[Part],
    resources: Sequence[Resource],
    context: Context,
    render: Callable[[Machine], object],
) -> list[Diagnostic]:
    inner = [part.resource for part in parts]
    settings = context.settings._replace(emit="source", pins="ignore", parameters=())
    others = [resource for resource in inner if not definitions.is_machine(resource)]
    diagnostics: list[Diagnostic] = []
    if others:
        whole = [*filter(_is_definition, resources), *others]
        settings = settings._replace(kubevirt=tag(context.release))
        loaded = definitions.load(whole, settings)
        is_assumed = context.release_is_assumed
        context = shared(whole, loaded, settings, context.start, traced=False)
        context = context._replace(release_is_assumed=is_assumed)
        indexes = {resource.index for resource in inner}
        diagnostics += (
            diagnostic
            for diagnostic in loaded.diagnostics
            if diagnostic.location.index in indexes and not _is_outer(diagnostic, indexes)
        )
    context = context._replace(settings=settings, pins={}, contents={}, traced=False)
    has_presets = any(resource.kind == definitions.PRESET for resource in resources)
    for part in parts:
        if definitions.is_machine(part.resource) and _is_known(part):
            found = open_fields.without_unknown(
                _findings_of_machine(part.resource, context, render),
                part.open,
                has_presets=has_presets,
            )
            diagnostics += (
                diagnostic
                for diagnostic in found
                if not (CODES[diagnostic.code].follows and _is_elsewhere(part.resource, diagnostic))
            )
    return diagnostics


def _findings_of_machine(
    resource: Resource, context: Context, render: Callable[[Machine], object]
) -> list[Diagnostic]:
    read = definitions.Definitions(Target(context.release))
    modern = machines.modernise(resource)
    machine = Machine(context, modern, definitions.decode(modern, read))
    if not read.refused:
        render(machine)
    return [*machines.located((*read.diagnostics, *machine.diagnostics), [modern])]


def _is_definition(resource: Resource) -> bool:
    """Whether a VM may refer to *resource*: that is to say, whether it is neither one nor makes any."""
    return not definitions.is_machine(resource) and resource.kind not in templates.KINDS


def _is_known(part: Part) -> bool:
    """Whether no list and no mapping of the VM is what a parameter stands for."""
    values = (tree.get(part.resource.body, *path) for path in part.open)
    return not any(isinstance(value, str) and value.startswith("${{") for value in values)


def _is_outer(diagnostic: Diagnostic, indexes: Collection[int]) -> bool:
    """Whether *diagnostic* is about something that the input has too, which may be another namespace's."""
    return any(related.location.index not in indexes for related in diagnostic.related)


def _is_elsewhere(vm: Resource, missing: Diagnostic) -> bool:
    """Whether what is missing may be in the namespace where the template is used."""
    word = missing.location.path[1:2]
    kind = tree.get(vm.spec, *word, "kind") if word else None
    named = tree.get(vm.spec, *word, "inferFromVolume") or tree.get(vm.spec, *word, "revisionName")
    return bool(named) or (isinstance(kind, str) and bool(kind) and "cluster" not in kind.lower())


def _is_open(diagnostic: Diagnostic, parts: Mapping[int, Part]) -> bool:
    """Whether *diagnostic* is about a field that nobody has filled in, or comes of one."""
    places = (
        diagnostic.location,
        diagnostic.position,
        *(related.location for related in diagnostic.related),
    )
    for place in places:
        part = parts.get(place.index) if place and place.index is not None else None
        if not part or not place:
            continue
        value = tree.get(part.resource.body, *place.path)
        if open_fields.depends(diagnostic, place.path, value, _written(part)):
            return True
    return False


def _written(part: Part) -> dict[FieldPath, str]:
    """What stands in the fields of *part* that nobody has filled in; what stands elsewhere may become anything."""
    texts = ((path, tree.get(part.outer.body, *part.path, *path)) for path in part.open)
    return {path: text if isinstance(text, str) else "${X}" for path, text in texts}
