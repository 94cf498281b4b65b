"""Stages for what older APIs asked for: flavors, flavours, and the defaults of kubevirt.io/v1alpha1."""

from collections.abc import Iterator
from typing import NamedTuple

from render.apply import application
from render.convert import flavors
from render.defaults import objects
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
from render.legacy import machines
from render.machine import Machine, place_in, ref_of
from render.model import tree
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, INSTANCETYPE, KindClass
from render.model.provenance import Provenance
from render.model.resource import FLAVOR_GROUP, TEMPLATE, former
from render.model.tree import Tree
from render.pipeline.outcomes import Outcome
from render.pipeline.stages import pins
from render.resolve.find import Missing, find

_FLAVOR: FieldPath = ("spec", "flavor")
_DOMAIN: FieldPath = ("spec", "domain")
_REQUESTS: FieldPath = (*_DOMAIN, "resources", "requests")
_FLAVOUR: FieldPath = ("metadata", "annotations", machines.FLAVOUR)
_TOPOLOGY = ("sockets", "cores", "threads")
_MEMORY = "8Mi"


def find_flavor(machine: Machine) -> None:
    """Find what ``spec.flavor`` means; from here on the flavor is the VM's instancetype."""
    given = machine.spec.get("flavor")
    if given is None:
        return
    if "instancetype" in machine.spec:
        machine.report(
            INVALID_MATCHER,
            _FLAVOR,
            "the VM has a flavor and an instancetype",
            help="remove spec.flavor: instancetypes are its successors",
        )
        return
    pins.use_flavor(machine, given)
    definition = machine.pinned.get(FLAVOR.word) or _flavor(machine, given)
    if definition is None:
        return
    pins.check_revision(machine, FLAVOR.word, definition)
    chosen = flavors.choose(definition.spec, given.get("profile", ""))
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


def _flavor(machine: Machine, given: Tree) -> Definition | None:
    """The flavor that the matcher *given* names, with all its profiles."""
    name, asked = given.get("name", ""), given.get("kind", "")
    kind = FLAVOR.kind_of(asked)
    if not kind:
        machine.report(
            UNEXPECTED_KIND,
            (*_FLAVOR, "kind"),
            f"got unexpected kind in FlavorMatcher: {asked}",
            help=f"use one of {', '.join(sorted(flavors.KINDS))}",
        )
        return None
    if given.get("revisionName"):
        return _stored(machine, given, kind)
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


def _stored(machine: Machine, given: Tree, kind: str) -> Definition | None:
    catalogue = machine.context.catalogue
    revision = catalogue.revisions.get((machine.namespace, given["revisionName"]))
    whole = isinstance(revision, Definition) and revision.kind in flavors.KINDS
    kind_class = FLAVOR if whole else INSTANCETYPE
    definition = find(kind_class, given, {}, machine.namespace, catalogue, machine.context.release)
    if isinstance(definition, Missing):
        machine.report(
            definition.code,
            (*_FLAVOR, "revisionName"),
            definition.message,
            help=definition.suggest(),
        )
        return None
    return definition._replace(kind=kind, name=given.get("name", definition.name))


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
    pinned = pins.use_flavour(machine, name, _FLAVOUR)
    candidates = _candidates(machine, name)
    if pinned:
        pins.report_other_meaning(machine, pinned, candidates, _FLAVOUR)
        candidates = [pinned]
    if len(candidates) != 1:
        machine.report(
            INSTANCETYPE_NOT_FOUND,
            _FLAVOUR,
            f"flavour {name} is ambiguous: it may be "
            + " or ".join(str(ref_of(one)) for one in candidates)
            if candidates
            else f"flavour {name} is no flavor, no instancetype and no preset of namespace "
            f"{machine.namespace}",
            *(Related(f"{ref_of(one)} is one", place_in(one, ())) for one in candidates),
            help="let one object have this name"
            if candidates
            else "add the object to the input, or name the file or folder where it is: --catalog PATH",
        )
        return
    (definition,) = candidates
    machine.flavor = definition
    if "Preset" in definition.kind:
        preset_mutator.report_unpinned(machine, definition.resource)
    else:
        pins.demand_flavour(machine, definition, _FLAVOUR)
    fragment = _fragment(machine, definition)
    if fragment is None:
        return
    draft = Draft(machine.spec.get("template") or {})
    _leave_to_the_vm(draft, fragment.template)
    filled = tuple(_fill(draft, fragment.template, ()))
    index = place_in(definition, ()).index
    machine.provenance += (
        Provenance(
            machine.resource.ref, (*machine.vmi_path, *path[1:]), ref_of(definition), source, index
        )
        for place in filled
        for path, source in _sources(fragment, place)
    )
    vm = Draft(machine.vm)
    vm.put(TEMPLATE, draft.tree)
    machine.vm = vm.tree


def fill_memory(machine: Machine) -> None:
    """The memory that a VM got in the time of the store if nobody gave it any (upstream at v0.6: defaults.go)."""
    domain = tree.get(machine.spec, *TEMPLATE[1:], *_DOMAIN) or {}
    amounts = (tree.get(domain, "resources", key, "memory") for key in ("requests", "limits"))
    if domain.get("memory") is None and not any(amounts):
        draft = Draft(machine.vm)
        draft.put((*TEMPLATE, *_REQUESTS, "memory"), _MEMORY)
        machine.vm = draft.tree


def _candidates(machine: Machine, name: str) -> list[Definition]:
    """What *name* may mean: flavors, else instancetypes, else presets."""
    catalogue, namespace = machine.context.catalogue, machine.namespace
    for kind_class in (FLAVOR, INSTANCETYPE):
        keys = [Key(kind_class.namespaced, namespace, name), Key(kind_class.cluster, "", name)]
        definitions = [one for one in map(catalogue.definition, keys) if one is not None]
        definitions = definitions or _renamed(machine, kind_class, name)
        if definitions:
            return definitions
    shipped = catalogue.bundled.get((INSTANCETYPE.cluster, name))
    if shipped is not None:
        return [Definition(INSTANCETYPE.cluster, name, shipped, None)]
    return [
        Definition(preset.resource.kind, name, preset.spec, preset.resource)
        for preset in machine.context.presets.get(namespace, ())
        if preset.resource.name == name
    ]


def _renamed(machine: Machine, kind_class: KindClass, name: str) -> list[Definition]:
    """The objects that were called *name* before kustomize renamed them, by its own notes."""
    scopes = {kind_class.cluster: "", kind_class.namespaced: machine.namespace}
    return [
        one
        for key, one in machine.context.catalogue.definitions.items()
        if scopes.get(key.kind) == key.namespace and one.resource is not None
        if any(name == before for _, _, before in former(one.resource))
    ]


class _Fragment(NamedTuple):
    """The *template* that a flavour makes of an empty one, and the *sources* of its fields, where they have others."""

    template: Tree
    sources: dict[FieldPath, FieldPath]


def _fragment(machine: Machine, definition: Definition) -> _Fragment | None:
    """What *definition* makes of an empty template; None where it makes nothing."""
    if "Preset" in definition.kind:
        return _Fragment({"spec": {"domain": tree.get(definition.spec, "domain") or {}}}, {})
    chosen = flavors.choose(definition.spec, "")
    if isinstance(chosen, str):
        machine.report(REVISION_UNFIT, _FLAVOUR, chosen)
        return None
    draft, rules = Draft({}), application.rules_for(definition.kind)
    applied = application.apply(draft, chosen, None, machine.context.release, rules)
    return _Fragment(draft.tree, {edit.path: edit.source for edit in applied.from_instancetype})


def _sources(fragment: _Fragment, place: FieldPath) -> list[tuple[FieldPath, FieldPath]]:
    """What *fragment* has at *place* and below, each with its source."""
    sources = [one for one in fragment.sources.items() if one[0][: len(place)] == place]
    return sources or [(place, place)]


def _leave_to_the_vm(draft: Draft, fragment: Tree) -> None:
    """Take out of *fragment* what the VM says in other words: its topology, and its memory as requests."""
    own = draft.get(*_DOMAIN, "cpu") or {}
    resources = draft.get(*_DOMAIN, "resources") or {}
    amounts = [resources.get(key) or {} for key in ("requests", "limits")]
    given = Draft(fragment)
    if any(own.get(key) for key in _TOPOLOGY) or any("cpu" in amount for amount in amounts):
        for key in _TOPOLOGY:
            given.remove((*_DOMAIN, "cpu", key))
    if any("memory" in amount for amount in amounts):
        given.remove((*_DOMAIN, "memory", "guest"))
    fragment.clear()
    fragment.update(given.tree)


def _fill(draft: Draft, given: Tree, path: FieldPath) -> Iterator[FieldPath]:
    """Put what the draft lacks of *given*, mapping by mapping; the paths that were filled."""
    for key, value in given.items():
        place = (*path, key)
        present = draft.get(*place)
        if present is None:
            draft.put(place, value)
            yield place
        elif isinstance(present, dict) and isinstance(value, dict):
            yield from _fill(draft, value, place)


def fill_defaults(machine: Machine) -> None:
    """The defaults of kubevirt.io/v1alpha1 (upstream at v0.6: pkg/api/v1/defaults.go)."""
    draft = Draft(machine.vmi)
    if "memory" not in (draft.get(*_REQUESTS) or {}):
        # QUIRK(pkg/api/v1/defaults.go at v0.6): other requests are lost.
        draft.put(_REQUESTS, {"memory": _MEMORY})
    if not draft.get(*_DOMAIN, "firmware", "uuid"):
        draft.put((*_DOMAIN, "firmware", "uuid"), machines.firmware_uuid(machine.resource.name))
    if not draft.get(*_DOMAIN, "machine", "type"):
        draft.put((*_DOMAIN, "machine", "type"), "q35")
    objects.fill(draft)
    machine.vmi = draft.tree
