"""From input objects to what the stages work on: decoded, validated, indexed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from render import requirements, schemas
from render.convert import flavors, machines
from render.diagnostics.codes import (
    CODES,
    DEPRECATED_FIELD,
    DEPRECATED_VERSION,
    DUPLICATE_OBJECT,
    INVALID_INSTANCETYPE,
    INVALID_PREFERENCE,
    INVALID_PRESET,
    MISSING_FIELD,
    NOT_AN_OBJECT,
    PRESET_PART_IGNORED,
    Code,
)
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.model import topology, tree
from render.model.catalogue import Definition, Key
from render.model.resource import FLAVOR, INSTANCETYPE, KUBEVIRT, OWN, Resource
from render.model.tree import Tree
from render.pipeline import kinds, placeholders
from render.settings import Settings

if TYPE_CHECKING:
    from render.presets import Preset

#: Kinds that a front end consumes and never emits, by group.
CONSUMED = frozenset({OWN, "kustomize.config.k8s.io"})
INSTANCETYPES = frozenset({"VirtualMachineInstancetype", "VirtualMachineClusterInstancetype"})
PREFERENCES = frozenset({"VirtualMachinePreference", "VirtualMachineClusterPreference"})
PRESET = "VirtualMachineInstancePreset"
VM = "VirtualMachine"
VMI = "VirtualMachineInstance"
_SERVED = {KUBEVIRT: ("v1", "v1alpha3"), INSTANCETYPE: ("v1beta1",)}


class Loaded:
    """What the machines of an input may refer to, decoded, by what it is for."""

    __slots__ = ("clusters", "definitions", "diagnostics", "presets", "refused")

    def __init__(self) -> None:
        self.definitions: dict[Key, Definition] = {}
        self.presets: dict[str, list[Preset]] = {}
        self.clusters: list[Resource] = []
        self.diagnostics: list[Diagnostic] = []
        self.refused: set[int] = set()

    def report(self, resource: Resource, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep findings about one object; some keep the object out of the result."""
        for diagnostic in diagnostics:
            self.diagnostics.append(diagnostic)
            if _withholds(diagnostic):
                self.refused.add(resource.index)


def _withholds(diagnostic: Diagnostic) -> bool:
    # KubeVirt's own code reads a missing field of a list entry as its zero value: the VM is still worth showing.
    in_list = any(isinstance(step, int) for step in diagnostic.location.path)
    lenient = diagnostic.code == MISSING_FIELD.number and in_list
    return diagnostic.is_error and CODES[diagnostic.code].withholds and not lenient


def load(resources: Sequence[Resource], settings: Settings) -> Loaded:
    """Decode every object of ours but the machines, and check what its own webhook checks."""
    loaded = Loaded()
    _check_identity(resources, loaded, settings)
    flavours = {
        (vm.namespace or settings.namespace, machines.flavour(vm))
        for vm in resources
        if machines.era(vm) == "store"
    }
    for resource in resources:
        if resource.index in loaded.refused:
            continue
        unknown = kinds.check(resource, settings.kubevirt)
        if unknown is not None:
            loaded.report(resource, [unknown])
        elif is_preset(resource):
            key = (resource.namespace or settings.namespace, resource.name)
            decoded = decode(resource, loaded)
            _load_preset(resource, decoded, loaded, settings, is_flavour=key in flavours)
        elif resource.group == KUBEVIRT and resource.kind == "KubeVirt":
            loaded.clusters.append(resource)
        elif is_definition(resource):
            _load_definition(resource, decode(resource, loaded), loaded, settings)
    return loaded


def is_machine(resource: Resource) -> bool:
    """Whether *resource* is a VM or a VMI, of any time."""
    served = resource.group == KUBEVIRT and resource.version in _SERVED[KUBEVIRT]
    return (served and resource.kind in (VM, VMI)) or machines.era(resource) != ""


def is_preset(resource: Resource) -> bool:
    """Whether *resource* is a preset, of any time."""
    if resource.group != KUBEVIRT:
        return False
    historic = resource.kind == machines.PRESET and resource.version == machines.VERSION
    return historic or resource.kind == PRESET


def is_definition(resource: Resource) -> bool:
    """Whether *resource* is an instancetype, a flavor or a preference."""
    if resource.group == FLAVOR:
        return resource.kind in flavors.KINDS | PREFERENCES
    return resource.group == INSTANCETYPE and resource.kind in INSTANCETYPES | PREFERENCES


def _check_identity(resources: Sequence[Resource], loaded: Loaded, settings: Settings) -> None:
    seen: dict[tuple[str, str, str, str], Resource] = {}
    for resource in resources:
        if resource.kind and resource.group in CONSUMED:
            continue  # what such an object is called means nothing
        if not resource.kind or not (resource.name or _generates_name(resource)):
            lacks = "kind" if not resource.kind else "metadata.name"
            loaded.report(
                resource,
                [NOT_AN_OBJECT.at(at(resource), f"the object has no {lacks}", help=f"add {lacks}")],
            )
            continue
        if not resource.name:
            continue
        ours = resource.group in (KUBEVIRT, INSTANCETYPE, FLAVOR)
        namespace = resource.namespace or (settings.namespace if ours else "")
        key = (resource.group, resource.kind, namespace, resource.name)
        first = seen.setdefault(key, resource)
        if first is not resource:
            loaded.report(
                resource,
                [
                    DUPLICATE_OBJECT.at(
                        at(resource, ("metadata", "name")),
                        f"{resource.ref} is there twice",
                        Related("the other one", at(first, ("metadata", "name"))),
                        help="remove or rename one of the two",
                    )
                ],
            )


def _generates_name(resource: Resource) -> bool:
    return bool(tree.get(resource.body, "metadata", "generateName"))


def decode(resource: Resource, loaded: Loaded) -> Tree:
    """*resource* in today's types; findings about it go to *loaded*.

    A machine is decoded when its turn comes: many trees at once cost more memory, and so time, than one after the
    other.
    """
    served = _SERVED.get(resource.group, ())
    if resource.version in served and "flavor" not in resource.spec:
        decoded, diagnostics = schemas.decode_resource(resource)
    else:
        from render.pipeline import legacy

        decoded, diagnostics = legacy.decode(resource)
    unfilled = tuple(placeholders.find(resource))
    if unfilled:
        # What a placeholder is instead of says nothing about the value that it stands for.
        paths = {diagnostic.location.path for diagnostic in unfilled}
        diagnostics = [found for found in diagnostics if found.location.path not in paths]
    loaded.report(resource, (*unfilled, *diagnostics))
    if resource.version in served[1:]:
        loaded.report(
            resource,
            [
                DEPRECATED_VERSION.at(
                    at(resource, ("apiVersion",)),
                    f"{resource.group}/{resource.version} is now deprecated and will be removed in "
                    "a future release.",
                    help=f"write apiVersion: {resource.group}/{served[0]}",
                )
            ],
        )
    return decoded


def _load_preset(
    resource: Resource, decoded: Tree, loaded: Loaded, settings: Settings, *, is_flavour: bool
) -> None:
    """*is_flavour*: a VM of the old store takes the preset whole, so that no part of it is without effect."""
    from render import presets

    spec = decoded.get("spec") or {}
    if spec.get("domain") is None:
        loaded.report(
            resource,
            [INVALID_PRESET.at(at(resource, ("spec",)), "missing domain.", help="add spec.domain")],
        )
        return
    for path, message in presets.validate(spec["domain"]):
        place = at(resource, ("spec", "domain", *path))
        loaded.report(resource, [INVALID_PRESET.at(place, message)])
    ignored = () if is_flavour else presets.never_merged(spec["domain"])
    loaded.report(
        resource,
        [
            PRESET_PART_IGNORED.at(
                at(resource, ("spec", "domain", *path)),
                f"KubeVirt takes no {'.'.join(map(str, path))} from a preset: it reaches no VM",
                help="write it into the VMs, an instancetype or a preference",
            )
            for path in ignored
        ],
    )
    # Quantities are compared as they are written.
    given = tree.get(resource.body, "spec", "domain", "resources", "requests") or {}
    known = tree.get(spec, "domain", "resources", "requests") or {}
    written = {key: str(given[key]) for key in known}
    namespace = resource.namespace or settings.namespace
    loaded.presets.setdefault(namespace, []).append(presets.Preset(resource, spec, written))


def _load_definition(resource: Resource, decoded: Tree, loaded: Loaded, settings: Settings) -> None:
    spec = decoded.get("spec") or {}
    selector = resource.spec.get("nodeSelector")
    if resource.kind in INSTANCETYPES and selector == {}:
        # QUIRK(pkg/instancetype/apply/nodeselector.go): an empty selector, read from the live object, conflicts too.
        spec = {**spec, "nodeSelector": {}}
    namespaced = "Cluster" not in resource.kind
    scope = (resource.namespace or settings.namespace) if namespaced else ""
    key = Key(resource.kind, scope, resource.name)
    definition = Definition(resource.kind, resource.name, spec, resource)
    if resource.group == FLAVOR:
        # A preference of this group stands back behind one that has moved on.
        loaded.definitions.setdefault(key, definition)
        return
    loaded.definitions[key] = definition
    if resource.kind in INSTANCETYPES:
        findings = requirements.validate_instancetype(spec)
        loaded.report(resource, _invalid(resource, INVALID_INSTANCETYPE, findings))
        loaded.report(resource, _deprecated_launch_security(resource, spec))
    else:
        findings = requirements.validate_preference(spec)
        loaded.report(resource, _invalid(resource, INVALID_PREFERENCE, findings))
        loaded.report(resource, _deprecated_topology(resource, spec))


def _invalid(
    resource: Resource, code: Code, findings: Iterable[requirements.Finding]
) -> Iterable[Diagnostic]:
    return [code.at(at(resource, finding.path), finding.message) for finding in findings]


def _deprecated_launch_security(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    if spec.get("launchSecurity") is not None:
        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "launchSecurity")),
            "launchSecurity is deprecated and will be removed in a future release. Use preference "
            "instead.",
            help="use spec.preferredLaunchSecurity of a preference",
        )


def _deprecated_topology(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    preferred = tree.get(spec, "cpu", "preferredCPUTopology")
    if preferred in topology.SUCCESSORS:
        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "cpu", "preferredCPUTopology")),
            f"PreferredCPUTopology {preferred} is deprecated for removal in a future release, "
            f"please use {topology.SUCCESSORS[preferred]} instead",
        )
