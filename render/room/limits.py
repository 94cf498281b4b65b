"""What LimitRanges fill in, and what they refuse.

Upstream: plugin/pkg/admission/limitranger/admission.go, pkg/apis/core/v1/defaults.go (SetDefaults_LimitRangeItem).
"""

from collections.abc import Callable, Iterable, Iterator

from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import Quantity, text_of
from render.model.resource import Resource
from render.model.tree import Tree
from render.room import amounts
from render.room.amounts import Amounts

_CONTAINER, _POD = "Container", "Pod"
_GROUPS = ("containers", "initContainers")


def filled(spec: Tree, limit_range: Tree) -> Tree:
    """A pod *spec* with what *limit_range* fills in where a container says nothing."""
    items = [item for item in _items(limit_range) if item.get("type") == _CONTAINER]
    defaults: dict[str, Tree] = {"limits": {}, "requests": {}}
    for item in items:
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        defaults["limits"] |= limits
        defaults["requests"] |= requests
    groups = {
        group: [_filled(container, defaults) for container in spec[group]]
        for group in _GROUPS
        if spec.get(group)
    }
    return {**spec, **groups}


def filled_by_all(spec: Tree, limit_ranges: Iterable[Resource]) -> Tree:
    """A pod *spec* with what all *limit_ranges* of its namespace fill in, one after the other."""
    for limit_range in limit_ranges:
        spec = filled(spec, limit_range.body)
    return spec


def _filled(container: Tree, defaults: dict[str, Tree]) -> Tree:
    resources = container.get("resources") or {}
    merged = {
        key: {**defaults[key], **(resources.get(key) or {})}
        for key in ("limits", "requests")
        if defaults[key] or resources.get(key)
    }
    return {**container, "resources": {**resources, **merged}}


def _items(limit_range: Tree) -> list[Tree]:
    return tree.get(limit_range, "spec", "limits") or []


def refusal(spec: Tree, limit_range: Tree) -> str:
    """Why *limit_range* refuses a pod *spec* that it has filled in, ``""`` if it does not."""
    # What holds for several containers is said once.
    faults = [
        *dict.fromkeys(fault for item in _items(limit_range) for fault in _of_item(spec, item))
    ]
    return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]" if faults else ""


def _of_item(spec: Tree, item: Tree) -> Iterator[str]:
    kind = item.get("type")
    if kind == _CONTAINER:
        for group in _GROUPS:
            for container in spec.get(group) or ():
                requests = amounts.of_container(container, "requests")
                limits = amounts.of_container(container, "limits")
                yield from _constraints(item, _CONTAINER, requests, limits)
    elif kind == _POD:
        spec = {
            key: spec[key] for key in _GROUPS if key in spec
        }  # the overhead of a runtime does not count
        requests, limits = amounts.of_pod(spec, "requests"), amounts.of_pod(spec, "limits")
        yield from _constraints(item, _POD, requests, limits)


_Judge = Callable[[str, Quantity, Quantity | None, Quantity | None], str]


def _constraints(item: Tree, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for key, judge in _CONSTRAINTS:
        for name, bound in amounts.read(item.get(key)).items():
            lead = f"{name} {{}} per {kind} is {text_of(bound)}"
            fault = judge(lead, bound, requests.get(name), limits.get(name))
            if fault:
                yield fault


def _least(lead: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    text = f"minimum {lead.format('usage')}"
    if request is None:
        return f"{text}.  No request is specified"
    if quantity.order(request, bound) < 0:
        return f"{text}, but request is {text_of(request)}"
    if limit is not None and quantity.order(limit, bound) < 0:
        return f"{text}, but limit is {text_of(limit)}"
    return ""


def _most(lead: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    text = f"maximum {lead.format('usage')}"
    if limit is None:
        return f"{text}.  No limit is specified"
    if quantity.order(limit, bound) > 0:
        return f"{text}, but limit is {text_of(limit)}"
    if request is not None and quantity.order(request, bound) > 0:
        return f"{text}, but request is {text_of(request)}"
    return ""


def _ratio(lead: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    text = lead.format("max limit to request ratio")
    if request is None or not request.mantissa:
        return f"{text}, but no request is specified or request is 0"
    if limit is None or not limit.mantissa:
        return f"{text}, but no limit is specified or limit is 0"
    ratio = amounts.number(limit) / amounts.number(request)
    return (
        f"{text}, but provided ratio is {float(ratio):.6f}" if ratio > amounts.number(bound) else ""
    )


_CONSTRAINTS: tuple[tuple[str, _Judge], ...] = (
    ("min", _least),
    ("max", _most),
    ("maxLimitRequestRatio", _ratio),
)
