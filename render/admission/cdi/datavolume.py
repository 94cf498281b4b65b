"""DataVolumes: where their data go, and where they come from.

Upstream: of the containerized data importer pkg/apiserver/webhooks/datavolume-validate.go.
"""

from collections.abc import Iterator

from render.admission.cdi import sources
from render.admission.cdi.sources import SpecPlace
from render.diagnostics.cause import Cause
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.dns1123 import too_long
from render.model.apimachinery.go import TRUE
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.tree import Tree

_LONGEST_NAME = 253
_MIB = 1 << 20
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ADOPTION = "cdi.kubevirt.io/allowClaimAdoption"
_POPULATED = "cdi.kubevirt.io/storage.populatedFor"


class Existing(NamedTuple):
    """What is there before a DataVolume: the *claim* of its name, if one is, and whether claims are *adopted*.

    *adopted* is None where nothing says so.
    """

    claim: Tree | None = None
    adopted: bool | None = None


def name_length(name: str, most: int, place: SpecPlace) -> Iterator[Cause]:
    """A name that is longer than *most* bytes."""
    if too_long(name, most):
        text = f"Name cannot be longer than {most} characters"
        yield Cause("cdi/name", (), text, "shorten it", place=place[1])


def causes(body: Tree, version: Version) -> Iterator[Cause]:
    """What the webhook of DataVolumes refuses of *body*, which the schema has passed."""
    name = (body.get("metadata") or {}).get("name", "")
    long = tuple(name_length(name, _LONGEST_NAME, SpecPlace(((), ("metadata", "name")))))
    yield from long or of_spec(body["spec"], SpecPlace((("spec",), ("spec",))), version)


def claim_causes(metadata: Tree, existing: Existing) -> Iterator[Cause]:
    """A claim that is there before the DataVolume with this *metadata*, and is none of it."""
    if existing.claim is not None and not _may_exist(metadata, existing):
        yield Cause(
            "cdi/claim-exists",
            ("DataVolume", "Name"),
            f"Destination PVC {metadata.get('namespace', '')}/{metadata.get('name', '')} already exists",
            f'rename one of the two, or let CDI adopt the claim: the annotation {_ADOPTION}: "true"',
            place=("metadata", "name"),
        )


def _may_exist(metadata: Tree, existing: Existing) -> bool:
    claim = existing.claim or {}
    populated = tree.get(claim, "metadata", "annotations", _POPULATED)
    if populated == metadata.get("name", "") or _has_importer(claim):
        return True
    adoption = tree.get(metadata, "annotations", _ADOPTION)
    return adoption in TRUE if adoption is not None else bool(existing.adopted)


def _has_importer(claim: Tree) -> bool:
    """Whether a DataVolume is the controller of *claim*."""
    owners = tree.get(claim, "metadata", "ownerReferences") or ()
    controllers = [owner for owner in owners if owner.get("controller") is True]
    return bool(controllers) and controllers[0].get("kind") == "DataVolume"


def of_spec(spec: Tree, place: SpecPlace, version: Version) -> Iterator[Cause]:
    """What is refused of the *spec* of a DataVolume, also of one in a DataImportCron: the first rule that it breaks."""
    for judge in (_target, _size, _storage_class, _access_modes):
        refused = tuple(judge(spec, place))
        yield from refused
        if refused:
            return
    target = spec.get("pvc") or spec.get("storage") or {}
    if target.get("dataSource") is not None or target.get("dataSourceRef") is not None:
        yield from _population(spec, target, place)
        return
    source, reference = spec.get("source"), spec.get("sourceRef")
    if (source is None) == (reference is None):
        text = "Data volume should have either Source or SourceRef, or be externally populated"
        cure = "keep source or sourceRef (`blank: {}` makes an empty disk)"
        yield place.cause("one-source", ("source",), text, cure)
        return
    if reference is not None:
        yield from _reference(reference, place)
        return
    for refused in (
        tuple(sources.count(source, "Data volume", place)),
        tuple(sources.content_type(spec.get("contentType"), place)),
    ):
        yield from refused
        if refused:
            return
    yield from sources.causes(spec, place, version)


def _target(spec: Tree, place: SpecPlace) -> Iterator[Cause]:
    if spec.get("pvc") is None and spec.get("storage") is None:
        cure = "say how large it is under storage"
        yield place.cause("target", ("PVC",), "Missing Data volume PVC", cure, ())
    elif spec.get("pvc") is not None and spec.get("storage") is not None:
        text = "Duplicate storage definition, both target storage and target pvc defined"
        yield place.cause("target", ("PVC", "Storage"), text, "keep storage and drop pvc", ("pvc",))


def _size(spec: Tree, place: SpecPlace) -> Iterator[Cause]:
    """The size that is asked for; of a clone that of its source is known."""
    key, name = ("pvc", "PVC") if spec.get("pvc") is not None else ("storage", "Storage")
    size = tree.get(spec, key, "resources", "requests", "storage")
    if size is None:
        fault = "" if key == "storage" and _is_clone(spec) else "size is missing"
        cure = "add resources.requests.storage"
    else:
        number = quantity.value(size)
        is_none = quantity.is_zero(size) or number < 0
        fault = "size can't be equal or less than zero" if is_none else ""
        if not fault and number < _MIB:
            fault = "size should be at least 1MiB"
        cure = "ask for 1Mi or more"
    if fault:
        named = (name, "resources", "requests", "size")
        written = (key, "resources", "requests", "storage")
        yield place.cause("size", named, f"{name} {fault}", cure, written)


def _is_clone(spec: Tree) -> bool:
    source = spec.get("source") or {}
    return spec.get("sourceRef") is not None or any(
        source.get(key) is not None for key in ("pvc", "snapshot")
    )


def _storage_class(spec: Tree, place: SpecPlace) -> Iterator[Cause]:
    key = "pvc" if spec.get("pvc") is not None else "storage"
    written = (*place[1], key, "storageClassName")
    name = spec[key].get("storageClassName") or ""
    yield from name_length(name, _LONGEST_NAME, SpecPlace(((), written)))


def _access_modes(spec: Tree, place: SpecPlace) -> Iterator[Cause]:
    is_claim = spec.get("pvc") is not None
    key = "pvc" if is_claim else "storage"
    modes: list[str] = spec[key].get("accessModes") or []
    fault, cure = "", "keep one access mode"
    if is_claim and not modes:
        fault, cure = "Required value: at least 1 access mode is required", "add ReadWriteOnce"
    elif is_claim and len(modes) > 1:
        fault = "PVC multiple accessModes"
    elif not set(modes) <= set(_ACCESS_MODES):
        # QUIRK(datavolume-validate.go): the first mode is named, whichever is wrong.
        supported = ", ".join(f'"{mode}"' for mode in _ACCESS_MODES)
        fault = f'Unsupported value: "{modes[0]}": supported values: {supported}'
        cure = f"use one of {', '.join(_ACCESS_MODES)}"
    if fault:
        # QUIRK(datavolume-validate.go): the field is called so for storage, too.
        yield place.cause("access-modes", ("PVC", "accessModes"), fault, cure, (key, "accessModes"))


def _population(spec: Tree, target: Tree, place: SpecPlace) -> Iterator[Cause]:
    if spec.get("source") is not None or spec.get("sourceRef") is not None:
        text = "External population is incompatible with Source and SourceRef"
        cure = "drop the dataSource of the target, or the source"
        yield place.cause("population", ("source",), text, cure)
    source, reference = target.get("dataSource"), target.get("dataSourceRef")
    key = "pvc" if spec.get("pvc") is not None else "storage"
    if source is not None and reference is not None:
        # QUIRK(datavolume-validate.go): two Go types are compared, which are never equal.
        text, cure = "DataSourceRef and DataSource must match", "keep dataSourceRef"
        yield Cause("cdi/population", (), text, cure, place=(*place[1], key, "dataSource"))
    if source is not None:
        yield from _populator(source, "dataSource", key, place)
    if reference is not None:
        yield from _populator(reference, "dataSourceRef", key, place)


def _populator(reference: Tree, name: str, target: str, place: SpecPlace) -> Iterator[Cause]:
    """What a reference to something that fills a claim lacks."""
    label = f"D{name[1:]}"
    if name == "dataSourceRef" and reference.get("namespace"):
        text = f"Invalid value: {label} namespace not supported"
        written = (target, name, "namespace")
        yield place.cause("population", (name, "namespace[]"), text, "leave it out", written)
    is_claim = reference.get("kind") == "PersistentVolumeClaim"
    for key, step, is_present in (
        ("name", "name[]", bool(reference.get("name"))),
        ("kind", "kind", bool(reference.get("kind"))),
        ("apiGroup", "apiGroup[]", is_claim or bool(reference.get("apiGroup"))),
    ):
        if not is_present:
            when = " when kind is not 'PersistentVolumeClaim'" if key == "apiGroup" else ""
            text = f"Required value: {label} {key}{when}"
            yield place.cause("population", (name, step), text, f"add {key}", (target, name))


def _reference(reference: Tree, place: SpecPlace) -> Iterator[Cause]:
    kind = reference.get("kind") or ""
    if kind != "DataSource":
        text = (
            f"Unsupported sourceRef kind {kind}, currently only DataSource is supported"
            if kind
            else "Missing sourceRef kind"
        )
        cure = "write kind: DataSource"
        yield place.cause("source-ref", ("sourceRef", "Kind"), text, cure, ("sourceRef", "kind"))
    elif not reference.get("name"):
        text, cure = "Missing sourceRef name", "name the DataSource"
        yield place.cause("source-ref", ("sourceRef", "Name"), text, cure, ("sourceRef", "name"))
