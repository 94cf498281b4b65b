"""What of a quota, a LimitRange or a RuntimeClass the API server cannot read, which then is not in the cluster.

Upstream: staging/src/k8s.io/api/core/v1/types.go (ResourceQuotaSpec, LimitRangeSpec), node/v1/types.go (Overhead),
pkg/apis/core/validation/validation.go (ValidateResourceQuotaSpec, ValidateResourceQuotaResourceName), and
pkg/apis/core/helper/helpers.go (IsStandardQuotaResourceName).
"""

from collections.abc import Iterator

from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.tree import Tree

_TEXT, _AMOUNTS, _GRANTED = "text", "amounts", "granted"
_SELECTOR = {"scopeName": _TEXT, "operator": _TEXT, "values": [_TEXT]}
#: The parts that pods are judged by.
_SHAPES: dict[str, Any] = {
    "ResourceQuota": {
        "spec": {
            "hard": _GRANTED,
            "scopes": [_TEXT],
            "scopeSelector": {"matchExpressions": [_SELECTOR]},
        }
    },
    "LimitRange": {
        "spec": {
            "limits": [
                {
                    "type": _TEXT,
                    **dict.fromkeys(
                        ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio"),
                        _AMOUNTS,
                    ),
                }
            ]
        }
    },
    "RuntimeClass": {"overhead": {"podFixed": _AMOUNTS}},
}
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
#: What a quota may limit without a domain, and how else such a name may begin.
_QUOTA_RESOURCES = frozenset(
    {
        *(f"{lead}{name}" for name in _COMPUTE for lead in ("", "requests.", "limits.")),
        "requests.storage",
        "pods", "services", "services.nodeports", "services.loadbalancers", "resourcequotas",
        "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    }
)  # fmt: skip
_NEAR = 0.8
"""Names are short: a gpu is no cpu."""
_HUGE = ("hugepages-", "requests.hugepages-")
#: What stands where a shape is a mapping or a list of parts, or the name of one of the lists of resources.
_JSON: dict[type, tuple[Any, str]] = {
    dict: (dict, "a mapping"),
    list: (list, "a list"),
    str: (dict, "a mapping"),
}


class Unreadable(NamedTuple):
    """A *value* at *path* that the API server refuses, and *why*; *help*: what to write, where that is known."""

    path: FieldPath
    value: Any
    why: str
    help: str = ""


def unreadable(kind: str, body: Tree) -> Unreadable | None:
    """The first value of an object that the API server refuses; None if it reads all, or if *kind* limits no pods."""
    shape = _SHAPES.get(kind)
    return None if shape is None else next(_faults(body, shape, ()), None)


def _faults(value: Any, shape: Any, path: FieldPath) -> Iterator[Unreadable]:
    wanted: Any
    wanted, name = (str, "a text") if shape == _TEXT else _JSON[type(shape)]
    if not isinstance(value, wanted):
        yield Unreadable(path, value, f"expected {name}")
    elif isinstance(shape, dict):
        for key, part in shape.items():
            if value.get(key) is not None:
                yield from _faults(value[key], part, (*path, key))
    elif isinstance(shape, list):
        for index, item in enumerate(value):
            yield from _faults(item, shape[0], (*path, index))
    elif shape != _TEXT:
        yield from _faults_of_amounts(value, shape, path)


def _faults_of_amounts(resources: Tree, shape: str, path: FieldPath) -> Iterator[Unreadable]:
    for key, amount in resources.items():
        if shape == _GRANTED and not _is_quota_resource(key):
            why = f"{key} must be a standard resource for quota"
            near = nearest(key, _QUOTA_RESOURCES, cutoff=_NEAR)
            cure = f"did you mean {near}?" if near else "write its domain: requests.example.com/gpu"
            yield Unreadable((*path, key), key, why, cure)
        why = _fault_of_amount(amount, shape)
        if why:
            yield Unreadable((*path, key), amount, why)


def _is_quota_resource(name: str) -> bool:
    """Whether a quota may limit what is called *name*: what has no domain must be known."""
    return "/" in name or name in _QUOTA_RESOURCES or name.startswith(_HUGE)


def _fault_of_amount(amount: Any, shape: str) -> str:
    if type(amount) not in {str, int, float}:
        return "expected a quantity"
    try:
        parsed = quantity.parse(amount)
    except QuantityError as error:
        return f"this is not a quantity: {error}"
    return "must be greater than or equal to 0" if shape == _GRANTED and parsed.mantissa < 0 else ""
