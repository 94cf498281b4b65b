"""Label selectors, and whether they match labels.

Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), pkg/labels/selector.go.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from render.model.apimachinery.labels import key_faults, value_faults
from render.model.tree import Tree


class SelectorError(ValueError):
    """A selector is invalid; the message is apimachinery's."""


#: Whether labels are those that are wanted.
Holds = Callable[[dict[str, str]], bool]


def selects(selector: Tree, labels: dict[str, str]) -> bool:
    """Whether a LabelSelector matches *labels*; an empty one matches everything. Raises SelectorError."""
    return compiled(selector)(labels)


def compiled(selector: Tree) -> Holds:
    """A LabelSelector as a function. Raises SelectorError."""
    wanted = selector.get("matchLabels") or {}
    for key, value in wanted.items():
        _refuse(_label_faults(key, (value,)))
    expressions = [_expression(given) for given in selector.get("matchExpressions") or ()]
    return lambda labels: (
        all(labels.get(key) == value for key, value in wanted.items())
        and all(holds(labels) for holds in expressions)
    )


def _expression(given: Tree) -> Holds:
    """Upstream: k8s.io/apimachinery/pkg/labels/selector.go (NewRequirement)."""
    key, values = given.get("key", ""), given.get("values") or ()
    match given.get("operator", ""):
        case "In" | "NotIn" as operator:
            fault = "null: for 'in', 'notin' operators, values set can't be empty"
            _refuse(_label_faults(key, values, "" if values else fault))
            inside = operator == "In"
            return lambda labels: (labels.get(key) in values) is inside
        case "Exists" | "DoesNotExist" as operator:
            fault = f"{_json(values)}: values set must be empty for exists and does not exist"
            _refuse(_label_faults(key, values, fault if values else ""))
            present = operator == "Exists"
            return lambda labels: (key in labels) is present
        case operator:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')


def _label_faults(key: str, values: Sequence[str], fault: str = "") -> Iterator[str]:
    """What is wrong with the *key* and the *values* of a requirement, of which *fault* is known already."""
    wrong = "; ".join(key_faults(key))
    if wrong:
        yield f"key: Invalid value: {_json(key)}: {wrong}"
    if fault:
        yield f"values: Invalid value: {fault}"
    for index, value in enumerate(values):
        wrong = "; ".join(value_faults(value))
        if wrong:
            yield f"values[{index}][{key}]: Invalid value: {_json(value)}: {wrong}"


def _refuse(faults: Iterator[str]) -> None:
    unique = list(dict.fromkeys(faults))
    if unique:
        raise SelectorError(unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
