"""Stages for what a machine names by older means: ``spec.flavor``, and the flavour of a VM of the store."""

from render.convert import flavors
from render.diagnostics.codes import (
    INSTANCETYPE_NOT_FOUND,
    INVALID_MATCHER,
    NOT_CONVERTIBLE,
    REVISION_UNFIT,
    UNEXPECTED_KIND,
    UNKNOWN_FIELD,
)
from render.diagnostics.diagnostic import Related
from render.kubevirt import preset_mutator
from render.legacy import defaults, flavours, machines
from render.machine import Machine, place_in, ref_of
from render.model import tree
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, INSTANCETYPE
from render.model.provenance import Provenance
from render.model.resource import FLAVOR_GROUP, TEMPLATE
from render.model.tree import Tree
from render.pipeline.outcomes import Outcome
from render.pipeline.stages import pins
from render.resolve.find import Missing, find

_FLAVOR: FieldPath = ("spec", "flavor")
_FLAVOUR: FieldPath = ("metadata", "annotations", machines.FLAVOUR)


def find_flavor(machine: Machine) -> None:
    """Find what ``spec.flavor`` means; from here on the flavor is the VM's instancetype."""
    flavor = machine.spec.get("flavor")
    if flavor is None:
        return
    if "instancetype" in machine.spec:
        machine.report(
            INVALID_MATCHER,
            _FLAVOR,
            "the VM has a flavor and an instancetype",
            help="remove spec.flavor: instancetypes are its successors",
        )
        return
    pins.use_flavor(machine, flavor)
    definition = machine.pinned.get(FLAVOR.word) or _flavor(machine, flavor)
    if definition is None:
        return
    pins.check_revision(machine, FLAVOR.word, definition)
    chosen = flavors.choose(definition.spec, flavor.get("profile", ""))
    if isinstance(chosen, str):
        machine.report(
            INSTANCETYPE_NOT_FOUND,
            _FLAVOR,
            f"Could not find flavor profile: {chosen}",
            Related(
                f"{ref_of(definition)} has these profiles", place_in(definition, ("profiles",))
            ),
        )
        return
    machine.flavor = definition
    machine.instancetype = definition._replace(spec=chosen)
    draft = Draft(machine.vm)
    draft.remove(_FLAVOR)
    matcher = {"name": definition.name, "kind": flavors.SUCCESSORS[definition.kind]}
    draft.put(("spec", INSTANCETYPE.word), matcher)
    machine.vm = draft.tree


def refuse(machine: Machine, outcome: Outcome) -> None:
    """Say why the machine cannot be printed in this mode, which is its *outcome* there."""
    path: FieldPath = _FLAVOR if "flavor" in machine.spec else ("apiVersion",)
    cure = "render with --emit vm, which writes a machine of today"
    if path == _FLAVOR:
        cure = "let `virt-render migrate` write instancetypes first, or render with --emit vm"
    machine.report(NOT_CONVERTIBLE, path, outcome.words, help=cure)


def refuse_flavor(machine: Machine) -> None:
    """What KubeVirt itself says of ``spec.flavor`` today; the field is gone from its answer."""
    if "flavor" in machine.spec:
        machine.report(
            UNKNOWN_FIELD,
            _FLAVOR,
            'unknown field "flavor": spec.flavor in body is a forbidden property',
            help="no KubeVirt since v0.56 knows it; the other emit modes render it",
        )
        draft = Draft(machine.vm)
        draft.remove(_FLAVOR)
        machine.vm = draft.tree


def _flavor(machine: Machine, flavor: Tree) -> Definition | None:
    """The flavor that *flavor*, a matcher, names, with all its profiles."""
    name, written_kind = flavor.get("name", ""), flavor.get("kind", "")
    kind = FLAVOR.kind_of(written_kind)
    if not kind:
        machine.report(
            UNEXPECTED_KIND,
            (*_FLAVOR, "kind"),
            f"got unexpected kind in FlavorMatcher: {written_kind}",
            help=f"use one of {', '.join(sorted(flavors.KINDS))}",
        )
        return None
    if flavor.get("revisionName"):
        return _stored(machine, flavor, kind)
    scope = "" if kind == FLAVOR.cluster else machine.namespace
    definition = machine.context.catalogue.definition(Key(kind, scope, name))
    if definition is None:
        machine.report(
            INSTANCETYPE_NOT_FOUND,
            (*_FLAVOR, "name") if name else _FLAVOR,
            f'Could not find flavor: {kind.lower()}s.{FLAVOR_GROUP} "{name}" not found',
            help=f"add the {kind} to the input, or name the file or folder where it is: --catalog PATH",
        )
    return definition


def _stored(machine: Machine, flavor: Tree, kind: str) -> Definition | None:
    catalogue = machine.context.catalogue
    revision = catalogue.revisions.get((machine.namespace, flavor["revisionName"]))
    whole = isinstance(revision, Definition) and revision.kind in flavors.KINDS
    kind_class = FLAVOR if whole else INSTANCETYPE
    definition = find(kind_class, flavor, {}, machine.namespace, catalogue, machine.context.release)
    if isinstance(definition, Missing):
        machine.report(
            definition.code,
            (*_FLAVOR, "revisionName"),
            definition.message,
            help=definition.suggest(),
        )
        return None
    return definition._replace(kind=kind, name=flavor.get("name", definition.name))


def fill_flavour(machine: Machine) -> None:
    """Fill what a stored VM leaves open from what its annotation ``kubevirt.io/flavour`` names."""
    name = tree.get(machine.vm, *_FLAVOUR)
    if name is None:
        return
    if not name:
        machine.report(
            INVALID_MATCHER,
            _FLAVOUR,
            "the flavour has no name",
            help=f"name a flavor, an instancetype or a preset, or remove {machines.FLAVOUR}",
        )
        return
    definition = _meant(machine, name)
    if definition is None:
        return
    machine.flavor = definition
    if "Preset" in definition.kind:
        preset_mutator.report_unpinned(machine, definition.resource)
    else:
        pins.demand_flavour(machine, definition, _FLAVOUR)
    fragment = flavours.fragment(definition, machine.context.release)
    if isinstance(fragment, str):
        machine.report(REVISION_UNFIT, _FLAVOUR, fragment)
    else:
        _fill(machine, definition, fragment)


def _meant(machine: Machine, name: str) -> Definition | None:
    """The one definition that the annotation means by *name*; None after a report where there is not one."""
    pinned = pins.use_flavour(machine, name, _FLAVOUR)
    namespace, context = machine.namespace, machine.context
    candidates = flavours.candidates(
        context.catalogue, context.presets.get(namespace, ()), namespace, name
    )
    if pinned:
        pins.report_other_meaning(machine, pinned, candidates, _FLAVOUR)
        candidates = [pinned]
    if len(candidates) == 1:
        return candidates[0]
    machine.report(
        INSTANCETYPE_NOT_FOUND,
        _FLAVOUR,
        f"flavour {name} is ambiguous: it may be "
        + " or ".join(str(ref_of(candidate)) for candidate in candidates)
        if candidates
        else f"flavour {name} is no flavor, no instancetype and no preset of namespace "
        f"{machine.namespace}",
        *(
            Related(f"{ref_of(candidate)} is one", place_in(candidate, ()))
            for candidate in candidates
        ),
        help="let one object have this name"
        if candidates
        else "add the object to the input, or name the file or folder where it is: --catalog PATH",
    )
    return None


def _fill(machine: Machine, definition: Definition, fragment: flavours.Fragment) -> None:
    """Fill what the VM leaves open from the *fragment* of *definition*."""
    draft = Draft(machine.spec.get("template") or {})
    filled = flavours.fill(draft, fragment)
    index = place_in(definition, ()).index
    machine.provenance += (
        Provenance(
            machine.resource.ref, (*machine.template, *path), ref_of(definition), source, index
        )
        for place in filled
        for path, source in fragment.sources_of(place)
    )
    vm = Draft(machine.vm)
    vm.put(TEMPLATE, draft.tree)
    machine.vm = vm.tree


def fill_memory(machine: Machine) -> None:
    """The memory that a VM got in the time of the store if nobody gave it any."""
    machine.vm = defaults.with_memory(machine.vm)


def fill_defaults(machine: Machine) -> None:
    """The defaults of the time of kubevirt.io/v1alpha1."""
    machine.vmi = defaults.with_defaults(machine.vmi, machine.resource.name)
