"""Label selectors, and whether they match labels.

Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), pkg/labels/selector.go.
"""

from collections.abc import Callable, Iterator, Sequence

from render.model.apimachinery.go import marshalled, quoted
from render.model.apimachinery.labels import key_faults, value_faults
from render.model.release import Items, Version, since, until, variant
from render.model.tree import Tree


class SelectorError(ValueError):
    """A selector is invalid; the message is apimachinery's."""


#: Whether labels are those that are wanted.
Holds = Callable[[dict[str, str]], bool]


def _json(values: Sequence[str]) -> str:
    """As Go's encoding/json prints it; none are ``null``."""
    return marshalled(values or None)


def _go_syntax(values: Sequence[str]) -> str:
    """As ``%#v`` prints it."""
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"


#: How a message shows the values of a requirement (k8s.io/apimachinery/pkg/util/validation/field/errors.go, ErrorBody).
_LISTINGS: Items[Callable[[Sequence[str]], str]] = (
    until("1.8", _go_syntax),
    since("1.8", _json),
)


def selects(selector: Tree, labels: dict[str, str], release: Version) -> bool:
    """Whether a LabelSelector matches *labels*; an empty one matches everything.

    Raises SelectorError, with the text of *release*.
    """
    return compiled(selector, release)(labels)


def compiled(selector: Tree, release: Version) -> Holds:
    """A LabelSelector as a function. Raises SelectorError, with the text of *release*."""
    wanted = selector.get("matchLabels") or {}
    for key, value in wanted.items():
        _refuse(_label_faults(key, (value,)))
    expressions = [_expression(given, release) for given in selector.get("matchExpressions") or ()]
    return lambda labels: (
        all(labels.get(key) == value for key, value in wanted.items())
        and all(holds(labels) for holds in expressions)
    )


def _expression(given: Tree, release: Version) -> Holds:
    """Upstream: k8s.io/apimachinery/pkg/labels/selector.go (NewRequirement)."""
    key, values = given.get("key", ""), given.get("values") or ()
    listing = variant(_LISTINGS, release)
    match given.get("operator", ""):
        case "In" | "NotIn" as operator:
            fault = f"{listing(values)}: for 'in', 'notin' operators, values set can't be empty"
            _refuse(_label_faults(key, values, "" if values else fault))
            inside = operator == "In"
            return lambda labels: (labels.get(key) in values) is inside
        case "Exists" | "DoesNotExist" as operator:
            fault = f"{listing(values)}: values set must be empty for exists and does not exist"
            _refuse(_label_faults(key, values, fault if values else ""))
            present = operator == "Exists"
            return lambda labels: (key in labels) is present
        case operator:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')


def _label_faults(key: str, values: Sequence[str], fault: str = "") -> Iterator[str]:
    """What is wrong with the *key* and the *values* of a requirement, of which *fault* is known already."""
    wrong = "; ".join(key_faults(key))
    if wrong:
        yield f"key: Invalid value: {quoted(key)}: {wrong}"
    if fault:
        yield f"values: Invalid value: {fault}"
    for index, value in enumerate(values):
        wrong = "; ".join(value_faults(value))
        if wrong:
            yield f"values[{index}][{key}]: Invalid value: {quoted(value)}: {wrong}"


def _refuse(faults: Iterator[str]) -> None:
    unique = list(dict.fromkeys(faults))
    if unique:
        raise SelectorError(unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]")
