"""instancetype.kubevirt.io/v1alpha1 and v1alpha2, objects and ControllerRevisions, as v1beta1.

Upstream, until KubeVirt v1.6: staging/src/kubevirt.io/api/instancetype/v1alpha1/conversion.go, v1alpha2/conversion.go,
pkg/instancetype/compatibility/compatibility.go. The JSON of the three versions differs in nothing but the fields that
the older ones lack: the API server rewrote the version of an object and kept the rest.
"""

import json
from collections.abc import Iterable

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.tree import Tree

OLDER = ("v1alpha1", "v1alpha2")
#: What KubeVirt calls the object of a wrapped spec, by the kind that it turns out to be: its name was not stored.
ANONYMOUS = {
    "VirtualMachinePreference": "old-version-of-preference-object",
    "VirtualMachineInstancetype": "old-version-of-instancetype-object",
}

#: Fields that only v1beta1 has.
_NEW_IN_INSTANCETYPES = (
    ("nodeSelector",),
    ("schedulerName",),
    ("cpu", "maxSockets"),
    ("memory", "overcommitPercent"),
    ("memory", "maxGuest"),
    ("ioThreads",),
    ("annotations",),
)
_NEW_IN_PREFERENCES = (
    ("cpu", "spreadOptions"),
    ("cpu", "preferredCPUFeatures"),
    ("devices", "preferredInterfaceMasquerade"),
    ("devices", "preferredPanicDeviceModel"),
    ("devices", "preferredVideoType"),
    ("firmware", "preferredEfi"),
    ("preferredSubdomain",),
    ("preferredTerminationGracePeriodSeconds",),
    ("requirements",),
    ("annotations",),
    ("preferSpreadSocketToCoreRatio",),
    ("preferredArchitecture",),
    ("preferredLaunchSecurity",),
)
#: Fields that v1alpha2 has and v1alpha1 lacks.
_NEW_IN_V1ALPHA2 = (("volumes",),)
_DEEPEST = 200
_CPU_FLAGS = ("dedicatedCPUPlacement", "isolateEmulatorThread")


def newer_fields(kind: str, version: str, spec: Tree) -> list[FieldPath]:
    """Fields of *spec*, of an object of *kind*, that the older *version* does not know."""
    unknown: tuple[FieldPath, ...] = _NEW_IN_INSTANCETYPES
    if "Preference" in kind:
        unknown = _NEW_IN_PREFERENCES
        if version == "v1alpha1":
            unknown = (*unknown, *_NEW_IN_V1ALPHA2)
    return [path for path in unknown if tree.get(spec, *path) is not None]


def without(spec: Tree, paths: Iterable[FieldPath]) -> Tree:
    """A copy of *spec* that lacks *paths*, as the API server of an older version pruned it."""
    pruned: Tree = tree.copy(spec)
    for path in paths:
        tree.remove(pruned, *path)
    return pruned


def by_converter(spec: Tree) -> Tree:
    """An instancetype *spec* (decoded) as Go's converters made it out of an older revision.

    QUIRK(staging/src/kubevirt.io/api/instancetype/v1alpha2/conversion.go): model and two flags become pointers that are
    never nil, so that a VM which sets one of them conflicts even where the author of the instancetype did not.
    """
    converted: Tree = tree.copy(spec)
    cpu = converted.setdefault("cpu", {})
    cpu.setdefault("model", "")
    for flag in _CPU_FLAGS:
        cpu.setdefault(flag, False)
    return converted


def unwrap(data: Tree) -> Any:
    """The spec inside a revision ``{apiVersion, spec: base64}``, None where *data* is none.

    What its ``apiVersion`` says was never looked at by the last release that read such revisions.
    """
    wrapped = data.get("spec")
    if not data.keys() <= {"apiVersion", "spec"} or not isinstance(wrapped, str):
        return None
    import base64

    try:
        # As Go does: line breaks count for nothing.
        text = base64.b64decode(wrapped.replace("\r", "").replace("\n", ""), validate=True)
        content = json.loads(text, object_pairs_hook=_strict)
    except (ValueError, RecursionError):  # also that of base64
        return None
    return None if _is_deep(content) else content


def _is_deep(value: Any) -> bool:
    """Whether *value* is nested deeper than any spec is, and than what is read from a file may be."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True


def _strict(pairs: list[tuple[str, Any]]) -> Tree:
    """A JSON object, which must not have a key twice (ValueError)."""
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key is there twice")
    return body
