"""Volumes: their names, sources, and what a source must say.

Upstream: validateVolumes in vmi-create-admitter.go, ValidateContainerDisks in pkg/storage/admitters/disks.go,
ValidateUtilityVolumesNotPresentOnCreation in pkg/storage/admitters/storagehotplug.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission import faults
from render.admission.checks import EACH, Check, Subject, Violation, each, needs_gate
from render.diagnostics.cause import Cause
from render.model import fieldpath
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since
from render.model.tree import Tree

_VOLUMES = ("volumes",)
_SOURCES = frozenset(
    {
        "cloudInitConfigDrive",
        "cloudInitNoCloud",
        "configMap",
        "containerDisk",
        "containerPath",
        "dataVolume",
        "downwardAPI",
        "downwardMetrics",
        "emptyDisk",
        "ephemeral",
        "hostDisk",
        "memoryDump",
        "persistentVolumeClaim",
        "secret",
        "serviceAccount",
        "sysprep",
    }
)
#: source -> the key that must not be empty.
_NAMES = {
    "configMap": "name",
    "secret": "secretName",
    "serviceAccount": "serviceAccountName",
}
#: source of which there is one at most -> what KubeVirt calls it.
_SINGLE = {
    "serviceAccount": "serviceAccount",
    "downwardMetrics": "downwardMetric",
    "memoryDump": "memory dump",
}
_EXISTS, _CREATES = "Disk", "DiskOrCreate"


def _volumes(subject: Subject) -> Iterator[Cause]:
    first: dict[str, int] = {}
    for index, volume in enumerate(subject.spec["volumes"]):
        other = first.setdefault(volume.get("name", ""), index)
        if other != index:
            here, previous = subject.text(*_VOLUMES, index), subject.text(*_VOLUMES, other)
            yield Cause(
                "volumes/name-unique",
                subject.at(*_VOLUMES, index, "name"),
                f"{here} and {previous} must not have the same Name.",
                "give the volumes, and their disks, different names",
            )
        count = 0
        for key in volume:
            if key in _SOURCES and volume[key] is not None:
                count += 1
                if key in _DETAILS:
                    yield from _DETAILS[key](subject, (*_VOLUMES, index), key, volume[key])
        if count != 1:
            yield Cause(
                "volumes/one-source",
                subject.at(*_VOLUMES, index),
                f"{subject.text(*_VOLUMES, index)} must have exactly one source type set",
                "keep one source, or write a volume for each"
                if count
                else "give it a source, like dataVolume",
            )


def _data_volume(subject: Subject, place: FieldPath, key: str, source: Tree) -> Iterator[Cause]:
    if not source.get("name"):
        yield Cause(
            "volumes/data-volume-name",
            subject.at(*place, "name"),
            "DataVolume 'name' must be set",
            "name the DataVolume",
            place=subject.at(*place, key),
        )


def _named(subject: Subject, place: FieldPath, key: str, source: Tree) -> Iterator[Cause]:
    field = (*place, key, _NAMES[key])
    if not source.get(_NAMES[key]):
        yield Cause(
            "volumes/source-name",
            subject.at(*field),
            f"{subject.text(*field)} is a required field",
            f"name the {key}",
            place=subject.at(*place, key),
        )


def _host_disk(subject: Subject, place: FieldPath, key: str, source: Tree) -> Iterator[Cause]:
    place = (*place, key)
    kind = source.get("type", "")
    if not source.get("path"):
        yield Cause(
            "volumes/host-disk-path",
            subject.at(*place, "path"),
            f"{subject.text(*place, 'path')} is required for hostDisk volume",
            "write the path of the image on the node",
            place=subject.at(*place),
        )
    if kind not in (_EXISTS, _CREATES):
        yield Cause(
            "volumes/host-disk-type",
            subject.at(*place, "type"),
            f"{subject.text(*place, 'type')} has invalid value '{kind}', allowed are '{_EXISTS}' or '{_CREATES}'",
            f"write {_EXISTS} if the image exists, {_CREATES} if not",
        )
    capacity = source.get("capacity")
    if kind == _EXISTS and capacity is not None and quantity.parse(capacity).mantissa:
        yield Cause(
            "volumes/host-disk-capacity",
            subject.at(*place, "capacity"),
            f"{subject.text(*place, 'capacity')} is allowed to pass only with {subject.text(*place, 'type')} equal to "
            f"'{_CREATES}'",
            "drop the capacity: the image has one",
        )


_DETAILS = {
    "dataVolume": _data_volume,
    "hostDisk": _host_disk,
    **dict.fromkeys(_NAMES, _named),
}


def _single(source: str, subject: Subject) -> Iterator[Violation]:
    volumes = subject.spec["volumes"]
    having = [index for index, volume in enumerate(volumes) if volume.get(source) is not None]
    if len(having) > 1:
        yield Violation(
            subject.at(*_VOLUMES),
            f"{subject.text(*_VOLUMES)} must have max one {_SINGLE[source]} volume set",
            "keep one of them",
            place=subject.at(*_VOLUMES, having[1]),
        )


@each(_VOLUMES)
def _container_disks(_subject: Subject, volume: Tree, path: FieldPath) -> Violation | None:
    source = volume.get("containerDisk")
    file = source.get("path") if source is not None else None
    field = (*path, "containerDisk")
    message = faults.file_path(fieldpath.text(field), file) if file else ""
    return Violation(field, message, faults.PATH_HELP, place=(*field, "path")) if message else None


def _utility(subject: Subject) -> Iterator[Violation]:
    yield Violation(
        subject.at("utilityVolumes"),
        "cannot create VMI with utility volumes in spec, utility volumes can only be added via hotplug",
        "drop utilityVolumes",
    )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("volumes", _volumes, where=_VOLUMES),
    needs_gate(
        "volumes/downward-metrics-gate",
        (*_VOLUMES, EACH, "downwardMetrics"),
        "DownwardMetrics",
        "downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.",
        reported_path=(*_VOLUMES, EACH),
    ),
    needs_gate(
        "volumes/host-disk-gate",
        (*_VOLUMES, EACH, "hostDisk"),
        "HostDisk",
        "HostDisk feature gate is not enabled",
        reported_path=(*_VOLUMES, EACH),
    ),
    *(
        Check("volumes/single", partial(_single, source), where=(*_VOLUMES, EACH, source))
        for source in _SINGLE
    ),
    Check(
        "volumes/container-disk-path",
        _container_disks,
        where=(*_VOLUMES, EACH, "containerDisk", "path"),
    ),
    since("1.8", Check("volumes/utility", _utility, where=("utilityVolumes",))),
)
