"""From the API version that a HyperConverged is written in to the one that its operator reads.

Upstream: api/v1beta1/conversion.go of the hyperconverged-cluster-operator.
"""

import json

from render.convert.hyperconverged import fields, gates
from render.convert.hyperconverged.crd import defaulted, schema
from render.convert.hyperconverged.desired import Desired, Setting, sorted_into, stored_version
from render.model import tree
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

#: Holds what only v1 has, where a cluster showed a v1 object as v1beta1.
V1_ONLY = "hco.kubevirt.io/v1-only-fields"


class Replaced(NamedTuple):
    """A gate that is a field in v1 (from 1.9): *equal* where both say the same, else the opposite."""

    gate: str
    setting: Setting
    equal: bool


REPLACED = (
    Replaced("disableMDevConfiguration", fields.MEDIATED_ENABLED, equal=False),
    Replaced("persistentReservation", fields.RESERVATION, equal=True),
    Replaced("enableMultiArchBootImageImport", fields.MULTI_ARCHITECTURE, equal=True),
)
_V1_ONLY_FIELDS = {
    "deployNetworkResourcesInjector": fields.INJECTOR,
    "mdevConfigEnable": fields.MEDIATED_ENABLED,
    "persistentReservationEnabled": fields.RESERVATION,
    "multiArchEnabled": fields.MULTI_ARCHITECTURE,
}


def stored(desired: Desired) -> Desired:
    """*desired* in the version that its release stores, with the defaults of that version."""
    target = stored_version(desired.release)
    if desired.api_version == target:
        return desired
    only = _v1_only(desired) if target == "v1" else {}
    spec: Tree = {}
    for name, field in _V1_ONLY_FIELDS.items():
        path = field.of(target)
        if path is not None and only.get(name) is not None:
            tree.put(spec, path, only[name])
    _merge(spec, sorted_into(desired, target, fields.CONVERTED))
    if target == "v1":
        for gate, field, equal in REPLACED:
            enabled, path = gates.explicit(desired, gate), field.of(target)
            if enabled is not None and path is not None:
                tree.put(spec, path, enabled is equal)
    spec["featureGates"] = gates.converted(desired, target, only.get("featureGates") or [])
    served = schema(target, desired.release)
    if served is not None:
        spec = defaulted({"spec": spec}, served)["spec"]
    return desired._replace(api_version=target, spec=spec)


def _v1_only(desired: Desired) -> Tree:
    """What the annotation of a dumped object says; ValueError where it cannot be read."""
    text = desired.annotations.get(V1_ONLY)
    try:
        fields: Any = json.loads(text) if text else {}
    except RecursionError:
        raise ValueError(f"{V1_ONLY} is nested too deep") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{V1_ONLY} is no mapping")  # noqa: TRY004 - what json raises, too
    return fields


def _merge(into: Tree, other: Tree) -> None:
    for key, value in other.items():
        present = into.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value)
        else:
            into[key] = value
