"""From input objects to what the stages work on: decoded, validated, indexed."""

import marshal
import os
from collections.abc import Iterable, Iterator, Sequence

from render import schemas
from render.admission import metadata as api_server
from render.admission.definitions import validate_instancetype, validate_preference
from render.convert import instancetypes
from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    CODES,
    DEPRECATED_FIELD,
    DEPRECATED_VERSION,
    DUPLICATE_OBJECT,
    INVALID_INSTANCETYPE,
    INVALID_PREFERENCE,
    INVALID_PRESET,
    METADATA_REFUSED,
    MISSING_FIELD,
    NOT_AN_OBJECT,
    PRESET_PART_IGNORED,
    Code,
)
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.legacy import machines
from render.model import topology, tree
from render.model.catalogue import Definition, Key
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.kinds import FLAVOR, INSTANCETYPES, PREFERENCES, class_of
from render.model.release import NEWEST, Version, in_force, since
from render.model.release import served as versions
from render.model.resource import FLAVOR_GROUP, INSTANCETYPE_GROUP, KUBEVIRT, OWN, VM, VMI, Resource
from render.model.tree import Tree
from render.pipeline.input import exports, placeholders, releases
from render.pipeline.input.releases import Target
from render.revisions.hashes import content
from render.schemas import served
from render.settings import Settings
from render.yaml.budget import Budget

if TYPE_CHECKING:
    from render.presets import Preset

#: Kinds that a front end consumes and never emits, by group.
CONSUMED = frozenset({OWN, "kustomize.config.k8s.io"})
PRESET = "VirtualMachineInstancePreset"
_MEMORY: FieldPath = ("spec", "memory", "guest")
_VM_VERSIONS = ("v1", "v1alpha3")


class Definitions:
    """What the machines of an input may refer to, decoded, by what it is for.

    Errors are kept as long as *budget*, if there is one, has room for them.
    """

    __slots__ = (
        "_budget", "clusters", "definitions", "diagnostics", "presets", "refused", "release", "release_is_assumed",
    )  # fmt: skip

    def __init__(self, target: Target, budget: Budget | None = None) -> None:
        self._budget = budget
        self.release = target.release
        self.release_is_assumed = target.is_assumed
        self.definitions: dict[Key, Definition] = {}
        self.presets: dict[str, list[Preset]] = {}
        self.clusters: list[Resource] = []
        self.diagnostics: list[Diagnostic] = [*target.diagnostics]
        self.refused: set[int] = set()

    def report(self, resource: Resource, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep findings about one object; some keep the object out of the result."""
        budget = self._budget
        for diagnostic in diagnostics:
            if not diagnostic.is_error or budget is None or budget.has_room_for_error():
                self.diagnostics.append(diagnostic)
            if withholds(diagnostic):
                self.refused.add(resource.index)


def withholds(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* keeps the object that it is about out of the result."""
    # KubeVirt's own code reads a missing field of a list entry as its zero value: the VM is still worth showing.
    in_list = any(isinstance(step, int) for step in diagnostic.location.path)
    lenient = diagnostic.code == MISSING_FIELD.number and in_list
    return diagnostic.is_error and CODES[diagnostic.code].withholds and not lenient


def load(
    resources: Sequence[Resource], settings: Settings, budget: Budget | None = None
) -> Definitions:
    """Decode every object of ours but the machines, and check what its own webhook checks."""
    loaded = Definitions(releases.target(resources, settings), budget)
    _check_identity(resources, loaded, settings)
    flavours = {
        (vm.namespace or settings.namespace, machines.flavour(vm)) for vm in resources if vm.older
    }
    for resource in resources:
        if resource.index in loaded.refused:
            continue
        unknown = served.check(resource, loaded.release)
        if unknown is not None:
            loaded.report(resource, [unknown])
        elif is_preset(resource):
            key = (resource.namespace or settings.namespace, resource.name)
            decoded = decode(resource, loaded)
            _load_preset(resource, decoded, loaded, settings, is_flavour=key in flavours)
        elif releases.holds_settings(resource):
            loaded.clusters.append(resource)
        elif is_definition(resource):
            _load_definition(resource, decode(resource, loaded), loaded, settings)
    return loaded


def is_machine(resource: Resource) -> bool:
    """Whether *resource* is a VM or a VMI, of any time."""
    if resource.group != KUBEVIRT:
        return False
    if resource.version in _VM_VERSIONS:
        return resource.kind in (VM, VMI)
    return machines.age(resource) != ""


def is_preset(resource: Resource) -> bool:
    """Whether *resource* is a preset, of any time."""
    if resource.group != KUBEVIRT:
        return False
    historic = resource.kind == machines.PRESET and resource.version == machines.VERSION
    return historic or resource.kind == PRESET


def is_definition(resource: Resource) -> bool:
    """Whether *resource* is an instancetype, a flavor or a preference."""
    if resource.group == FLAVOR_GROUP:
        return resource.kind in PREFERENCES or class_of(resource.kind) == FLAVOR.word
    return resource.group == INSTANCETYPE_GROUP and resource.kind in INSTANCETYPES | PREFERENCES


def _check_identity(resources: Sequence[Resource], loaded: Definitions, settings: Settings) -> None:
    for resource in resources:
        if resource.kind and resource.group in CONSUMED:
            continue  # what such an object is called means nothing
        if not resource.kind or not (resource.name or _generates_name(resource)):
            lacks = "kind" if not resource.kind else "metadata.name"
            loaded.report(
                resource,
                [NOT_AN_OBJECT.at(at(resource), f"the object has no {lacks}", help=f"add {lacks}")],
            )
    for resource, first in duplicates(resources, settings):
        loaded.report(resource, [duplicate(resource, first)])


def duplicates(
    resources: Iterable[Resource], settings: Settings
) -> Iterator[tuple[Resource, Resource]]:
    """Each of *resources* whose identity one before it has already, and the first that has."""
    seen: dict[tuple[str, str, str, str], Resource] = {}
    for resource in resources:
        if not resource.kind or not resource.name or resource.group in CONSUMED:
            continue
        if placeholders.are_in_name(resource):
            continue  # nobody knows how it is called
        ours = resource.group in (KUBEVIRT, INSTANCETYPE_GROUP, FLAVOR_GROUP)
        namespace = resource.namespace or (settings.namespace if ours else "")
        key = (resource.group, resource.kind, namespace, resource.name)
        if resource.written.kind != resource.kind:  # its own, and what it is rendered to
            keys = (key, (resource.group, resource.written.kind, namespace, resource.name))
            first = next(
                (seen[candidate] for candidate in sorted(keys) if candidate in seen), resource
            )
            seen.update(dict.fromkeys(keys, first))
        else:
            first = seen.setdefault(key, resource)
        if first is not resource:
            yield resource, first


def duplicate(resource: Resource, first: Resource) -> Diagnostic:
    """That *resource* is called as *first* is."""
    return DUPLICATE_OBJECT.at(
        at(resource, ("metadata", "name")),
        f"{resource.ref} is there twice"
        if first.ref == resource.ref
        else f"{resource.ref} and {first.ref} are one object once they are rendered",
        Related("the other one", at(first, ("metadata", "name"))),
        help=_apart(resource, first),
    )


def _apart(resource: Resource, other: Resource) -> str:
    """What to do about two objects of one name."""
    cure = "remove or rename one of the two"
    files = [each.origin.file for each in (resource, other) if each.origin]
    if len({os.path.dirname(file) for file in files}) < len(files):
        return cure
    return f"{cure}, or name folders that are applied apart as roots in .virt-render.yaml"


def _generates_name(resource: Resource) -> bool:
    return bool(tree.get(resource.body, "metadata", "generateName"))


def _is_current(resource: Resource, release: Version) -> bool:
    """Whether *resource* is of a version with today's fields, so that there is nothing to convert."""
    version = resource.version
    return version in versions(resource.group, release) and version not in instancetypes.OLDER


def decode(resource: Resource, loaded: Definitions, *, settled: str = "") -> Tree:
    """*resource* in today's types; findings about it go to *loaded*.

    A machine is decoded when its turn comes: many trees at once cost more memory, and so time, than one after the
    other. *settled*: the field that is known to come back as it is.
    """
    is_plain = "flavor" not in resource.spec and not resource.older
    if is_plain and _is_current(resource, loaded.release):
        decoded, diagnostics = schemas.decode_resource(resource, loaded.release, settled=settled)
    else:
        from render.legacy import decoding

        decoded, diagnostics = decoding.decode(resource, loaded.release)
    unfilled = tuple(placeholders.find(resource.written if resource.older else resource))
    if unfilled:
        # What a placeholder is instead of says nothing about the value that it stands for.
        paths = {diagnostic.location.path for diagnostic in unfilled}
        diagnostics = [
            diagnostic for diagnostic in diagnostics if diagnostic.location.path not in paths
        ]
    loaded.report(resource, (*unfilled, *diagnostics, *_refused_metadata(resource)))
    metadata = resource.body.get("metadata")
    if isinstance(metadata, dict) and not exports.TELLING.isdisjoint(metadata):
        loaded.report(resource, exports.left_over(resource))
    if resource.group == KUBEVIRT and resource.version in _VM_VERSIONS[1:]:
        from render.convert import successors

        loaded.report(
            resource,
            [
                DEPRECATED_VERSION.at(
                    at(resource, ("apiVersion",)),
                    f"{resource.group}/{resource.version} is now deprecated and will be removed in "
                    "a future release.",
                    help=f"write apiVersion: {resource.group}/{_VM_VERSIONS[0]}",
                    fixes=successors.fixes(resource, loaded.release, ("apiVersion",)),
                )
            ],
        )
    return decoded


def _refused_metadata(resource: Resource) -> Iterator[Diagnostic]:
    """What the API server refuses of *resource*, or of the pool that makes it, which is sent in its stead."""
    sent = resource.written
    for cause in api_server.refusals(sent.body.get("metadata")):
        yield METADATA_REFUSED.at(
            at(sent, cause.path), f"{sent.ref}: {cause.message}", help=cause.help, fixes=cause.fixes
        )


def _load_preset(
    resource: Resource, decoded: Tree, loaded: Definitions, settings: Settings, *, is_flavour: bool
) -> None:
    """*is_flavour*: a VM of the old store takes the preset whole, so that no part of it is without effect."""
    from render import presets
    from render.admission import preset

    spec = decoded.get("spec") or {}
    if spec.get("domain") is None:
        loaded.report(
            resource,
            [
                INVALID_PRESET.at(
                    at(resource, ("spec", "domain")), "missing domain.", help="add spec.domain"
                )
            ],
        )
        return
    causes = preset.causes(spec["domain"], loaded.release)
    loaded.report(resource, _invalid(resource, INVALID_PRESET, causes))
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
    requests = tree.get(resource.body, "spec", "domain", "resources", "requests") or {}
    known = tree.get(spec, "domain", "resources", "requests") or {}
    written = {key: str(requests[key]) for key in known}
    namespace = resource.namespace or settings.namespace
    loaded.presets.setdefault(namespace, []).append(presets.Preset(resource, spec, written))


def _load_definition(
    resource: Resource, decoded: Tree, loaded: Definitions, settings: Settings
) -> None:
    spec = decoded.get("spec") or {}
    selector = resource.spec.get("nodeSelector")
    if resource.kind in INSTANCETYPES and selector == {}:
        # QUIRK(pkg/instancetype/apply/nodeselector.go): an empty selector, read from the live object, conflicts too.
        spec = {**spec, "nodeSelector": {}}
    namespaced = "Cluster" not in resource.kind
    scope = (resource.namespace or settings.namespace) if namespaced else ""
    key = Key(resource.kind, scope, resource.name)
    definition = Definition(resource.kind, resource.name, _one_of_alike(spec), resource)
    if loaded.release != NEWEST and resource.group != FLAVOR_GROUP:
        definition = definition._replace(whole=_whole(resource, spec))
    if resource.group == FLAVOR_GROUP:
        # A preference of this group stands back behind one that has moved on.
        loaded.definitions.setdefault(key, definition)
        return
    loaded.definitions[key] = definition
    if resource.kind in INSTANCETYPES:
        causes = validate_instancetype(spec)
        loaded.report(resource, _invalid(resource, INVALID_INSTANCETYPE, causes))
        if settings.admission != "off":
            from render.kubevirt.virt_launcher import unusable_memory

            memory = unusable_memory(resource, decoded, _MEMORY)
            loaded.report(resource, [memory] if memory else ())
        for warn in in_force(_WARNINGS, loaded.release):
            loaded.report(resource, warn(resource, spec))
    else:
        causes = validate_preference(spec)
        loaded.report(resource, _invalid(resource, INVALID_PREFERENCE, causes))
        loaded.report(resource, _deprecated_topology(resource, spec))


_SPECS: dict[bytes, Tree] = {}
_ROOM, _LARGE = 1000, 1 << 14


def _one_of_alike(spec: Tree) -> Tree:
    """The tree that stands for all like *spec*: what is remembered of it counts for every overlay of a base."""
    if len(_SPECS) >= _ROOM:
        _SPECS.clear()
    try:
        content_ = marshal.dumps(spec)
    except ValueError:  # a host's own types
        return spec
    return _SPECS.setdefault(content_, spec) if len(content_) <= _LARGE else spec


def _whole(resource: Resource, spec: Tree) -> Tree | None:
    """The *spec* of a definition as the newest release decodes it, None where that is the same."""
    decoded, _ = schemas.decode_resource(resource, NEWEST)
    whole = decoded.get("spec") or {}
    return None if whole == content(spec) else whole


def _invalid(resource: Resource, code: Code, causes: Iterable[Cause]) -> Iterable[Diagnostic]:
    return [
        code.at(at(resource, cause.path), cause.message, help=cause.help, fixes=cause.fixes)
        for cause in causes
    ]


def _deprecated_launch_security(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    if spec.get("launchSecurity") is not None:
        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "launchSecurity")),
            "launchSecurity is deprecated and will be removed in a future release. Use preference "
            "instead.",
            help="use spec.preferredLaunchSecurity of a preference",
        )


_WARNINGS = (since("1.9", _deprecated_launch_security),)


def _deprecated_topology(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    preferred = tree.get(spec, "cpu", "preferredCPUTopology")
    if preferred in topology.SUCCESSORS:
        from render.convert import successors

        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "cpu", "preferredCPUTopology")),
            f"PreferredCPUTopology {preferred} is deprecated for removal in a future release, "
            f"please use {topology.SUCCESSORS[preferred]} instead",
            fixes=successors.fixes(resource, NEWEST, ("spec", "cpu", "preferredCPUTopology")),
        )
