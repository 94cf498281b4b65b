"""A field of a pod that the API server refuses, and its words for that.

Upstream: k8s.io/apimachinery/pkg/util/validation/field/errors.go, path.go.
"""

from collections.abc import Iterable, Iterator

from render.model.apimachinery.go import quoted
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple


class MapKey(str):
    """A key of a map, which Kubernetes writes in brackets: ``limits[cpu]``."""

    __slots__ = ()


class UnnamedKey(str):
    """A key of a map that Kubernetes leaves out of the path: here it says where the value stands."""

    __slots__ = ()


class PodRefusal(NamedTuple):
    """The *path* of the field in the pod, and *why* it is refused, both as the API server says it."""

    path: FieldPath
    why: str

    def __str__(self) -> str:
        return f"{_written(self.path)}: {self.why}"


Refusals = Iterator[PodRefusal]


def _written(path: FieldPath) -> str:
    steps = (
        f"[{step}]" if isinstance(step, int | MapKey) else f".{step}"
        for step in path
        if not isinstance(step, UnnamedKey)
    )
    return "".join(steps).removeprefix(".")


def invalid(path: FieldPath, value: str | int, detail: str) -> PodRefusal:
    """A *value* that breaks a rule."""
    text = quoted(value) if isinstance(value, str) else str(value)
    return PodRefusal(path, f"Invalid value: {text}: {detail}")


def required(path: FieldPath, detail: str = "") -> PodRefusal:
    """A value that is not there."""
    return PodRefusal(path, f"Required value: {detail}" if detail else "Required value")


def duplicate(path: FieldPath, value: str) -> PodRefusal:
    """A *value* that stands there twice."""
    return PodRefusal(path, f"Duplicate value: {quoted(value)}")


def not_found(path: FieldPath, value: str, detail: str = "") -> PodRefusal:
    """A *value* that names nothing."""
    text = f"Not found: {quoted(value)}"
    return PodRefusal(path, f"{text}: {detail}" if detail else text)


def unsupported(path: FieldPath, value: str, supported: Iterable[str]) -> PodRefusal:
    """A *value* that is none of those *supported*."""
    values = ", ".join(map(quoted, supported))
    return PodRefusal(path, f"Unsupported value: {quoted(value)}: supported values: {values}")


def all_invalid(path: FieldPath, value: str, details: Iterable[str]) -> Refusals:
    """A *value* that breaks several rules."""
    return (invalid(path, value, detail) for detail in details)
