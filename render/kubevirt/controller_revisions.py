"""What ControllerRevisions hold.

Upstream: pkg/instancetype/compatibility/compatibility.go, at v1.9 and, for the older payloads, at v1.6. v0.55 to v0.57
stored the spec alone, wrapped; since v0.58 whole objects are stored.
"""

from collections.abc import Iterable

from render import schemas
from render.convert import flavors, instancetypes
from render.diagnostics.codes import DEPRECATED_VERSION, MISSING_FIELD, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, at
from render.model import tree
from render.model.catalogue import Definition, Unfit
from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.release import NEWEST, Version, holds, served, until
from render.model.resource import (
    FLAVOR_GROUP,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    Resource,
    from_body,
    is_revision,
    text_at,
)
from render.model.tree import Tree
from render.settings import Settings

_INSTANCETYPE = "instancetype.VirtualMachineInstancetypeSpec"
_PREFERENCE = "instancetype.VirtualMachinePreferenceSpec"
#: What a decoder of Go passes over.
_IGNORED = (MISSING_FIELD.number, UNKNOWN_FIELD.number)
_DECODES_OLDER = until("1.7", "revisions with objects older than v1beta1 are decoded")


def read(
    resource: Resource, settings: Settings, release: Version
) -> tuple[Definition | Unfit, list[Diagnostic]]:
    """What the ControllerRevision *resource* holds, and what there is to say about its age.

    What *release* does not decode any more is read as v1.6 read it, except where its own answer is asked for.
    """
    strict = settings.emit == "expand" and not holds(_DECODES_OLDER, release)
    older = None if strict else _older(resource, release)
    if older is None:
        return _current(resource, release), []
    if isinstance(older, Unfit):
        return older, []
    outdated = DEPRECATED_VERSION.at(
        at(resource, ("data",)),
        f"the revision holds a {older.kind} of an API version that KubeVirt >= 1.7 does not decode",
        help=f"store it again as {INSTANCETYPE_GROUP}/v1beta1, or drop revisionName",
    )
    return older, [outdated]


def _current(resource: Resource, release: Version) -> Definition | Unfit:
    data = resource.body.get("data")
    if not isinstance(data, dict) or not data:
        return Unfit("unexpected type in ControllerRevision: <nil>")
    kind, version = text_at(data, "kind"), text_at(data, "apiVersion")
    if not kind:
        return Unfit(
            "failed to decode object in ControllerRevision: Object 'Kind' is missing in the data"
        )
    group, _, version_name = version.rpartition("/")
    current = group == INSTANCETYPE_GROUP and version_name in served(INSTANCETYPE_GROUP, release)
    if current and version_name not in instancetypes.OLDER and kind in INSTANCETYPES | PREFERENCES:
        return _whole(resource, data, release)
    if version in (f"{KUBEVIRT}/v1", f"{KUBEVIRT}/v1alpha3"):
        return Unfit(f"unexpected type in ControllerRevision: *v1.{kind}")
    return Unfit(
        f'failed to decode object in ControllerRevision: no kind "{kind}" is registered for '
        f'version "{version}"'
    )


def _whole(resource: Resource, data: Tree, release: Version) -> Definition | Unfit:
    kind = data["kind"]
    word = "Instancetype" if kind in INSTANCETYPES else "Preference"
    # The decoder ignores what it does not know and reads what is missing as zero; it refuses other types.
    contents: Tree = {key: data[key] for key in ("metadata", "spec") if key in data}
    type_name = f"instancetype.VirtualMachine{word}"
    decoded, causes = schemas.decode(contents, type_name, release)
    for cause in causes:
        if cause.check not in (MISSING_FIELD.slug, UNKNOWN_FIELD.slug):
            return Unfit(f"failed to decode object in ControllerRevision: {cause.message}")
    name = tree.get(decoded, "metadata", "name") or resource.name
    spec = decoded.get("spec") or {}
    if release == NEWEST:
        return Definition(kind, name, spec, resource)
    whole, _ = schemas.decode(contents, type_name, NEWEST)
    return Definition(kind, name, spec, resource, whole.get("spec") or {})


def _older(resource: Resource, release: Version) -> Definition | Unfit | None:
    """The content of a revision from before v1beta1, None if it is none."""
    data = resource.body.get("data")
    if not isinstance(data, dict):
        return None
    wrapped = instancetypes.unwrap(data)
    if isinstance(wrapped, dict):
        return _wrapped(resource, wrapped, release)
    group, _, version = text_at(data, "apiVersion").rpartition("/")
    if group == FLAVOR_GROUP:
        return _of_flavors(resource, data, release)
    if group != INSTANCETYPE_GROUP or version not in instancetypes.OLDER:
        return None
    if text_at(data, "kind") not in INSTANCETYPES | PREFERENCES:
        return None
    content = _whole(resource, data, release)
    if isinstance(content, Unfit):
        return content
    # Go knows the fields of the older type, and ignores others.
    newer = instancetypes.newer_fields(content.kind, version, content.spec)
    return _converted(content._replace(spec=instancetypes.without(content.spec, newer), whole=None))


def _of_flavors(resource: Resource, data: Tree, release: Version) -> Definition | Unfit:
    """A whole object of flavor.kubevirt.io, as v0.53 to v0.55 stored them."""
    from render.legacy import decoding

    flavor = from_body(data, resource.index)
    if flavor.kind not in flavors.KINDS | PREFERENCES:
        return Unfit(f"unexpected type in ControllerRevision: *v1alpha1.{flavor.kind}")
    decoded, diagnostics = decoding.decode(flavor, release)
    faults = [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.is_error and diagnostic.code not in _IGNORED
    ]
    if faults:
        return Unfit(f"failed to decode object in ControllerRevision: {faults[0].message}")
    return Definition(
        flavor.kind, flavor.name or resource.name, decoded.get("spec") or {}, resource
    )


def _wrapped(resource: Resource, wrapped: Tree, release: Version) -> Definition | None:
    """A wrapped spec of v1alpha1: a preference if it can be one, so that an empty one is."""
    for kind, name in instancetypes.ANONYMOUS.items():
        type_name = _PREFERENCE if kind in PREFERENCES else _INSTANCETYPE
        spec, causes = schemas.decode(wrapped, type_name, release)
        flawed = any(cause.check != MISSING_FIELD.slug for cause in causes)
        if not flawed and not instancetypes.newer_fields(kind, "v1alpha1", spec):
            return _converted(Definition(kind, name, spec, resource))
    return None


def _converted(definition: Definition) -> Definition:
    if definition.kind in PREFERENCES:
        return definition
    return definition._replace(spec=instancetypes.by_converter(definition.spec))


def revisions(
    resources: Iterable[Resource], settings: Settings, release: Version
) -> tuple[dict[tuple[str, str], Definition | Unfit], list[Diagnostic]]:
    """Every ControllerRevision of the input by namespace and name, and the findings about them."""
    by_name: dict[tuple[str, str], Definition | Unfit] = {}
    diagnostics: list[Diagnostic] = []
    for resource in filter(is_revision, resources):
        key = (resource.namespace or settings.namespace, resource.name)
        by_name[key], found = read(resource, settings, release)
        diagnostics += found
    return by_name, diagnostics
