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


_WORDS = {"in": "In", "notin": "NotIn"}


def parsed(text: str) -> Tree:
    """A LabelSelector of what ``kubectl -l`` takes: ``wave=1,tier!=db,env in (a,b),size,!legacy``.

    Raises SelectorError. Upstream: Parse, without ``<`` and ``>``, which no LabelSelector has.
    """
    expressions = []
    rest = text.strip()
    while rest:
        requirement, rest = _requirement(rest)
        expressions.append(requirement)
        rest = rest.lstrip()
        if not rest:
            break
        if not rest.startswith(",") or not rest[1:].strip():
            raise SelectorError(f"{quoted(rest)} is in the place of a comma and another label")
        rest = rest[1:].lstrip()
    if not expressions:
        raise SelectorError("it names no label")
    return {"matchExpressions": expressions}


def _requirement(text: str) -> tuple[Tree, str]:
    """What *text* asks of one label, and the rest of it."""
    absent = text.startswith("!")
    key, rest = _word(text[1:].lstrip() if absent else text)
    if not key:
        raise SelectorError(f"{quoted(text)} begins with no label")
    for sign, operator in (("!=", "NotIn"), ("==", "In"), ("=", "In")):
        if rest.startswith(sign) and not absent:
            value, rest = _word(rest[len(sign) :].lstrip())
            return {"key": key, "operator": operator, "values": [value]}, rest
    word, after = _word(rest)
    if word in _WORDS and not absent:
        values, rest = _values(after)
        return {"key": key, "operator": _WORDS[word], "values": values}, rest
    return {"key": key, "operator": "DoesNotExist" if absent else "Exists"}, rest


def _values(text: str) -> tuple[list[str], str]:
    """The values in brackets that *text* begins with, and what is behind them."""
    inside, closed, rest = text[1:].partition(")")
    if not text.startswith("(") or not closed:
        raise SelectorError(f"{quoted(text)} is in the place of values in brackets")
    return [value.strip() for value in inside.split(",")], rest


def _word(text: str) -> tuple[str, str]:
    """What *text* begins with up to what means something in a selector, and the rest without blanks before it."""
    end = next(
        (at for at, character in enumerate(text) if character.isspace() or character in ",()=!<>"),
        len(text),
    )
    return text[:end], text[end:].lstrip()


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
    expressions = [
        _expression(expression, release) for expression in selector.get("matchExpressions") or ()
    ]
    return lambda labels: (
        all(labels.get(key) == value for key, value in wanted.items())
        and all(holds(labels) for holds in expressions)
    )


def _expression(expression: Tree, release: Version) -> Holds:
    """Upstream: k8s.io/apimachinery/pkg/labels/selector.go (NewRequirement)."""
    key, values = expression.get("key", ""), expression.get("values") or ()
    listing = variant(_LISTINGS, release)
    match expression.get("operator", ""):
        case "In" | "NotIn" as operator:
            fault = f"{listing(values)}: for 'in', 'notin' operators, values set can't be empty"
            _refuse(_label_faults(key, values, "" if values else fault))
            inside, known = operator == "In", frozenset(values)
            return lambda labels: (labels.get(key) in known) is inside
        case "Exists" | "DoesNotExist" as operator:
            fault = f"{listing(values)}: values set must be empty for exists and does not exist"
            _refuse(_label_faults(key, values, fault if values else ""))
            present = operator == "Exists"
            return lambda labels: (key in labels) is present
        case operator:
            raise SelectorError(f"{quoted(operator)} is not a valid label selector operator")


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
