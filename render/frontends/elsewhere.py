"""Where in the repository a definition stands that the paths of a call do not reach, and how the call would find it."""

import os
from collections.abc import Iterator

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.frontends.parts import FleetPart
from render.manifests import discover
from render.model import tree
from render.model.kinds import KIND_CLASSES
from render.model.resource import INSTANCETYPE_GROUP, from_body
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import read

_MISSED = frozenset({codes.INSTANCETYPE_NOT_FOUND.number, codes.PREFERENCE_NOT_FOUND.number})
_Wanted = tuple[str, str, str]
"""The kind of a definition, its name, and its namespace if it has one."""


class DefinitionPlaces:
    """The files of repositories that define something, read once something is missed."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, dict[_Wanted, str]] = {}

    def name_in(self, part: FleetPart) -> None:
        """Have the help of what is found in *part* name the file where that stands which a VM misses."""
        part.diagnostics = [self._placed(found, part) for found in part.diagnostics]

    def _placed(self, found: Diagnostic, part: FleetPart) -> Diagnostic:
        is_missed = found.code in _MISSED and found.is_error
        wanted = _missed(found, part) if is_missed else None
        if wanted is None:
            return found
        top = files.repository(os.path.realpath(part.loaded.folder))
        if top and top not in self._known:
            self._known[top] = dict(_definitions(top, part.request.reading.limits))
        file = self._known.get(top, {}).get(wanted)
        if (
            file is None or file in part.loaded.data
        ):  # what was read and does not count has another reason
            return found
        cure = f"{wanted[0]} {wanted[1]} stands in {file}: add that to the input, or look it up there: --catalog {file}"
        return found._replace(help=cure, fixes=())


def _missed(found: Diagnostic, part: FleetPart) -> _Wanted | None:
    """The definition that the VM of *found* asks for."""
    index, path = found.location.index, found.location.path
    resources = part.resources
    if index is None or index >= len(resources) or path[-1:] != ("name",):
        return None
    vm = resources[index]
    matcher = tree.get(vm.body, *path[:-1])
    kind_class = next((each for each in KIND_CLASSES if each.word == path[-2]), None)
    if not isinstance(matcher, dict) or kind_class is None:
        return None
    kind = kind_class.kind_of(str(matcher.get("kind") or ""))
    return kind, str(matcher.get("name")), vm.namespace if kind == kind_class.namespaced else ""


def _definitions(top: str, limits: Limits) -> Iterator[tuple[_Wanted, str]]:
    """The definitions that stand in files of the repository *top*, the first of several that are alike last."""
    here = os.path.relpath(top)
    for file, real in reversed(discover.walk(here, (top,), plain=True).files):
        data = files.read(real, file, limits.file_bytes)
        if isinstance(data, bytes) and INSTANCETYPE_GROUP.encode() in data:
            for document in read(data, file).documents:
                resource = from_body(document.body, 0)
                if resource.group == INSTANCETYPE_GROUP:
                    yield (resource.kind, resource.name, resource.namespace), file
