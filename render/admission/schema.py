"""What the CRDs of VMs and VMIs refuse beyond types, required fields and enumerations, which decoding checks.

These are lists that are maps or sets, their lengths, and CEL rules (``x-kubernetes-validations``).

Upstream: pkg/virt-operator/resource/generate/components/validations_generated.go,
staging/src/kubevirt.io/api/core/v1/schema.go (``+kubebuilder:validation``).
"""

import json
from collections.abc import Iterator
from functools import partial

from render.admission.checks import EACH, Check, FieldValue, Subject, Violation, at_most, judged
from render.model.apimachinery import go
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since

_MOST_ITEMS = 256
_LONGEST_PATH = 4096
_PATH = ("volumes", EACH, "containerPath", "path")
_AGENT = ("sshPublicKey", "propagationMethod", "qemuGuestAgent")
_USERS = ("accessCredentials", EACH, *_AGENT, "users")


def _keys(place: FieldPath, keys: tuple[str, ...], subject: Subject) -> Iterator[Violation]:
    """Items of a list map that share their *keys* with an earlier one."""
    seen = set()
    for index, item in enumerate(subject.get(*place)):
        values = tuple(item.get(key, "") for key in keys)
        if values in seen:
            duplicate = json.dumps(dict(zip(keys, values, strict=True)), separators=(",", ":"))
            text = f"{subject.text(*place, index)}: Duplicate value: {duplicate}"
            yield Violation(subject.at(*place, index), text, "drop one of the two")
        seen.add(values)


def _list_map(place: FieldPath, *keys: str) -> Check:
    return Check("schema/unique", partial(_keys, place, keys), where=place)


def _members(place: FieldPath, subject: Subject) -> Iterator[Violation]:
    """Texts of a set that are in it already."""
    for path, values in subject.values(place):
        for index, value in enumerate(values):
            if value in values[:index]:
                text = f"{subject.text(*path, index)}: Duplicate value: {go.quoted(value)}"
                yield Violation(subject.at(*path, index), text, "drop one of the two")


def _path(subject: Subject, at: FieldValue) -> str:
    if not at.value.startswith("/"):
        return f"{subject.text(*at.path)}: path must be absolute (start with '/')"
    if ".." in at.value:
        return f"{subject.text(*at.path)}: path must not contain '..'"
    return ""


def _read_only(subject: Subject, at: FieldValue) -> str:
    if at.value:
        return ""
    return f"{subject.text(*at.path)}: readOnly must be true, write access is not supported"


def _items(place: FieldPath) -> Check:
    message = f"{{field}}: Too many: must have at most {_MOST_ITEMS} items"
    return at_most("schema/items", place, _MOST_ITEMS, message)


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("schema/unique", partial(_members, _USERS), where=_USERS),
    _list_map(("resourceClaims",), "name"),
    _list_map(("topologySpreadConstraints",), "topologyKey", "whenUnsatisfiable"),
    since("1.8", _list_map(("utilityVolumes",), "name")),
    *(
        _items(place)
        for place in (
            ("volumes",),
            ("networks",),
            ("accessCredentials",),
            ("domain", "devices", "disks"),
            ("domain", "devices", "interfaces"),
        )
    ),
    since("1.8", _items(("utilityVolumes",))),
    since("1.8", judged("schema/container-path", _PATH, _path)),
    since(
        "1.8",
        at_most(
            "schema/container-path",
            _PATH,
            _LONGEST_PATH,
            f"{{field}}: Too long: may not be more than {_LONGEST_PATH} bytes",
        ),
    ),
    since("1.8", judged("schema/container-path", (*_PATH[:-1], "readOnly"), _read_only)),
)
