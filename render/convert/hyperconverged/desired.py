"""What a HyperConverged asks for, and where the two API versions keep it.

Upstream: api/v1beta1/conversion.go of the hyperconverged-cluster-operator. v1 sorts the fields of
v1beta1 into sections; what they hold is the same.
"""

from collections.abc import Iterable

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, Windowed, in_force, since, until
from render.model.tree import Tree


class Desired(NamedTuple):
    """A HyperConverged on its way: *spec* in the form of *api_version*, and the *annotations*."""

    api_version: str
    release: Version
    spec: Tree
    annotations: dict[str, str]

    def get(self, setting: "Setting", *path: str | int) -> Any:
        """The value of *setting*, and below it at *path*; None where there is none."""
        start = setting.of(self.api_version)
        return None if start is None else tree.get(self.spec, *start, *path)


class Setting(NamedTuple):
    """A field in both API versions, below ``spec``; None where a version has no such field."""

    v1beta1: FieldPath | None
    v1: FieldPath | None

    def of(self, api_version: str) -> FieldPath | None:
        """The path of the field in *api_version*."""
        return self.v1beta1 if api_version == "v1beta1" else self.v1


def setting(v1beta1: str, v1: str) -> Setting:
    """A field by its two dotted paths; an empty one stands for none."""
    return Setting(_path(v1beta1), _path(v1))


def _path(dotted: str) -> FieldPath | None:
    return tuple(dotted.split(".")) if dotted else None


_STORED: tuple[str | Windowed[str], ...] = (until("1.9", "v1beta1"), since("1.9", "v1"))


def stored_version(release: Version) -> str:
    """The API version in which *release* keeps a HyperConverged, and its operator reads it."""
    return in_force(_STORED, release)[0]


def sorted_into(desired: Desired, api_version: str, settings: Iterable[Setting]) -> Tree:
    """The *settings* of *desired*, as a spec of *api_version*."""
    groups: Tree = {}
    for each in settings:
        target = each.of(api_version)
        value = desired.get(each)
        if target is not None and value is not None:
            tree.put(groups, target, tree.copy(value))
    return groups
