"""Patches of a kustomization for an object of KubeVirt's that it has not: kustomize leaves these out without a word.

Upstream: kustomize's api/types/selector.go, api/internal/builtins/PatchTransformer.go.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import kustomization
from render.manifests.blame import origins
from render.manifests.blame.selection import selects
from render.manifests.kustomization import KnownKustomizations, Reach
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_slip
from render.model.resource import MACHINES, from_body, text_at
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

#: Kinds of which one may be meant for another.
_ALIKE = (MACHINES, INSTANCETYPES, PREFERENCES)
#: What is no name alone selects objects of which there may be none.
_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SELECTORS = ("labelSelector", "annotationSelector")
_LISTS = ("patches", "patchesJson6902")
#: Of so many targets that nothing has is said what they were meant for: each is compared with all objects.
_MOST = 100
#: What makes or renames objects in ways that nobody follows here.
_MAKERS = ("generators", "transformers", "replacements", "helmcharts", "vars")


class _Object(NamedTuple):
    """What a target selects by."""

    group: str
    version: str
    kind: str
    names: tuple[str, ...]


def unmatched(
    built: Sequence[Document], reach: Reach, limits: Limits, known: KnownKustomizations
) -> Iterator[Diagnostic]:
    """The targets of patches in *reach* that none of the objects *built* of it has, but for a slip.

    What the kustomizations say is *known*.

    A patch may be meant for what is there in other environments alone: only a name that is nearly that of an object, or
    one that is there with another kind, group or version, is a mistake for certain. A component is for whoever has it.
    """
    if reach.inflates or reach.remotes or reach.bare:
        return
    written = _written(reach, limits, known)
    if not written:
        return
    objects = [*_objects(built, reach)]
    known_objects = _by_name(objects)
    missed = [each for each in written if not _is_selected(each[1], known_objects)]
    if not missed:
        return
    sources = _by_name(_sources(reach, limits))
    for place, target in missed[:_MOST]:
        if _is_selected(target, sources):
            continue  # it is deleted on the way
        cure = _meant(target, objects)
        if cure:
            kind, name = text_at(target, "kind"), text_at(target, "name")
            yield codes.PATCH_UNMATCHED.at(
                place,
                f"this patch is for {kind} {name}, which is not there: kustomize leaves it out without a word",
                help=cure,
            )


def _written(
    reach: Reach, limits: Limits, known: KnownKustomizations
) -> list[tuple[Location, Tree]]:
    """The targets that name one object of KubeVirt's, each with its place; none where objects come from `_MAKERS`.

    With those of what others add to the kustomization.
    """
    found = [*_added(reach, limits)]
    for file in reach.kustomizations:
        loaded = known.load(file, limits)
        for document in loaded.documents:
            if any(str(key).casefold() in _MAKERS for key in document.body):
                return []
            if kustomization.is_component(document.body):
                continue
            for path, target in _targets(document.body):
                if _names_one(target):
                    line, column = locate(loaded.data, document.origin, path)
                    found.append((Location(file=file, line=line, column=column), target))
    return found


def _added(reach: Reach, limits: Limits) -> Iterator[tuple[Location, Tree]]:
    """The targets of the patches that an object of Argo CD or Flux adds, as it says them."""
    for patch in reach.patches:
        target, file = patch.entry.get("target"), patch.origin.file
        if not (patch.is_written and isinstance(target, dict) and _names_one(target)):
            continue
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, bytes):
            line, column = locate(data, patch.origin, (*patch.path, "target"))
            yield Location(file=file, line=line, column=column), target


def _targets(body: Tree) -> Iterator[tuple[FieldPath, Tree]]:
    for key in _LISTS:
        entries = body.get(key)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            target = entry.get("target") if isinstance(entry, dict) else None
            if isinstance(target, dict):
                yield (key, index, "target"), target


def _names_one(target: Tree) -> bool:
    is_plain = not any(target.get(key) for key in _SELECTORS)
    kind, name = text_at(target, "kind"), text_at(target, "name")
    return is_plain and bool(_alike(kind)) and bool(re.fullmatch(_NAME, name))


@lru_cache(maxsize=64)
def _alike(kind: str) -> frozenset[str]:
    """The kinds of which one may be meant by *kind*, with a slip in it or without; none where it is no such kind."""
    found = (
        kinds for kinds in _ALIKE if kind in kinds or any(is_slip(kind, each) for each in kinds)
    )
    return frozenset(next(found, ()))


def _objects(built: Iterable[Document], reach: Reach) -> Iterator[_Object]:
    for document in built:
        resource = from_body(document.body, 0)
        names = tuple(origins.former_names(resource.name, reach))
        yield _Object(resource.group, resource.version, resource.kind, names)


def _sources(reach: Reach, limits: Limits) -> Iterator[_Object]:
    """The objects as the files of *reach* have them, those of lists too."""
    for file in dict.fromkeys(reach.resources):
        data = files.read(file, file, limits.file_bytes)
        for document in read(data, file, limits).documents if isinstance(data, bytes) else ():
            items = document.body.get("items")
            bodies = (
                [item for item in items if isinstance(item, dict)]
                if isinstance(items, list)
                else []
            )
            for body in chain([document.body], bodies):
                resource = from_body(body, 0)
                yield _Object(resource.group, resource.version, resource.kind, (resource.name,))


def _by_name(objects: Iterable[_Object]) -> Mapping[tuple[str, str], list[_Object]]:
    """*objects* by kind and each of their names."""
    found: dict[tuple[str, str], list[_Object]] = {}
    for known in objects:
        for name in known.names:
            found.setdefault((known.kind, name), []).append(known)
    return found


def _is_selected(target: Tree, known: Mapping[tuple[str, str], list[_Object]]) -> bool:
    return any(
        selects(text_at(target, "group"), (each.group,))
        and selects(text_at(target, "version"), (each.version,))
        for each in known.get((text_at(target, "kind"), text_at(target, "name")), ())
    )


def _meant(target: Tree, objects: Iterable[_Object]) -> str:
    """The object that *target* misses by a slip, as a cure; ``""`` for none."""
    kind, name = text_at(target, "kind"), text_at(target, "name")
    alike = _alike(kind)
    for known in objects:
        if known.kind not in alike:
            continue
        if name in known.names:
            version = f"{known.group}/{known.version}" if known.group else known.version
            return f"{name} is a {known.kind} of {version}: say that in the target, or leave its version out"
        near = next((other for other in known.names if is_slip(name, other)), "")
        if near and (kind == known.kind or kind not in alike):
            return f"did you mean {near}?"
    return ""
