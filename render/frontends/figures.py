"""What a command looked at, in figures."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from render.diagnostics.codes import BUNDLED_USED, DEFINED_ELSEWHERE, GUEST_UNREAD
from render.diagnostics.diagnostic import Diagnostic
from render.frontends.parts import FleetPart
from render.frontends.progress import in_words
from render.frontends.waived import ignoring
from render.manifests.documents import Documents
from render.model.counting import counted
from render.model.release import minor
from render.model.resource import (
    HOLDER_GROUPS,
    KUBEVIRT,
    VM,
    VMI,
    ResourceRef,
    from_body,
    text_at,
)
from render.model.tree import Tree
from render.pipeline.input import releases
from render.report.summary import Tally
from render.system.files import inside, real_path
from render.yaml.reader import Document

#: Kinds of objects that are VMs themselves.
_SINGLE = (VM, VMI, "VM")
#: Objects that are VMs, or that make them, by group and kind.
_MACHINES = frozenset(
    {
        *((KUBEVIRT, kind) for kind in _SINGLE),
        *((group, kind) for kind, group in HOLDER_GROUPS.items()),
        (f"template.{KUBEVIRT}", "VirtualMachineTemplate"),
        ("harvesterhci.io", "VirtualMachineTemplateVersion"),
        ("infrastructure.cluster.x-k8s.io", "KubevirtMachineTemplate"),
    }
)
_NOTES = frozenset({BUNDLED_USED.number, DEFINED_ELSEWHERE.number, GUEST_UNREAD.number})
#: So many folders are named.
_NAMED = 3
#: What a guest boots with, and nobody has looked into.
_TEXT = "guest text"


def tally_of(parts: Sequence[FleetPart], paths: Sequence[str] = ()) -> Tally:
    """The figures of *parts*: objects, VMs, kustomizations and charts with any of them, what was not looked at.

    And releases that nobody asked for, if they are rendered. With *paths*, only what stands in these counts.
    """
    folders, built = _named(parts, paths)
    machines = made = kustomizations = charts = loose = objects = silent = 0
    bundled: set[str] = set()
    borrowed: set[tuple[str, str]] = set()
    files: set[str] = set()
    unseen: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    apart = next(filter(None, (_apart(part.loaded, folders) for part in parts)), "")
    for part in parts:
        loaded, settings = part.loaded, part.request.settings
        documents, names = _counted(loaded, folders, built)
        number = sum(machines_in(document.body) for document in documents)
        unseen.update(loaded.unseen.counts(partial(_is_asked_for, folders) if folders else None))
        notes = list(_about(part, documents))
        unseen.update(_TEXT for note in notes if note.code == GUEST_UNREAD.number)
        bundled.update(note.message for note in notes if note.code == BUNDLED_USED.number)
        borrowed.update(_lent(loaded, notes))
        silent += ignoring(documents)
        files.update(names)
        objects, machines = objects + len(documents), machines + number
        made += _made(documents)
        kustomizations += loaded.is_built and number > 0
        charts += bool(loaded.filled) and not loaded.is_built and number > 0
        loose += number if not (loaded.is_built or loaded.filled) else 0
        if number and part.is_rendered:
            target = releases.target_of((document.body for document in loaded.documents), settings)
            if target.reason:
                reasons[minor(target.release)] = target.reason
    return Tally(
        machines, kustomizations, dict(unseen), bundled=len(bundled), objects=objects, files=len(files),
        releases=reasons, ignoring=silent, made=made, charts=charts, loose=loose, apart=apart,
        borrowed=Counter(folder for folder, _ in borrowed), unchecked=_unchecked(parts, folders),
        twice=_twice(parts, folders, built) if loose and kustomizations + charts else "",
        empty="" if objects or files or unseen else _empty(parts),
    )  # fmt: skip


def _named(parts: Sequence[FleetPart], paths: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The resolved *paths*, and which kustomizations and charts of *parts* stand in these."""
    if not paths:
        return (), ()
    folders = [real_path(path) for path in paths]
    roots = {real_path(part.loaded.folder) for part in parts if part.loaded.is_one_root}
    return folders, [root for root in roots if inside(root, folders)]


def _counted(
    loaded: Documents, folders: Sequence[str], built: Sequence[str]
) -> tuple[Sequence[Document], Collection[str]]:
    """The documents of *loaded* and the names of its own files, with *folders* (or files) only what stands in these.

    Of what kustomize or helm made, each file has a part in every object, templates too: but for those of other
    kustomizations and charts that are asked for, which are *built* by themselves.
    """
    names = {*loaded.data.own_files(), *loaded.passed}
    if not folders:
        return loaded.documents, names
    names = {name for name in names if inside(real_path(name), folders)}
    if loaded.is_one_root:
        if built and real_path(loaded.folder) not in built:
            names = {name for name in names if not inside(real_path(name), built)}
        chart = [real_path(loaded.folder)] if loaded.filled else []
        is_of_chart = any(inside(folder, chart) for folder in folders)
        return (loaded.documents if names or is_of_chart else ()), names
    return [document for document in loaded.documents if document.origin.file in names], names


def _apart(loaded: Documents, paths: Collection[str]) -> str:
    """Which folders of *loaded* are taken for roots of their own, and why, if that concerns *paths*."""
    if loaded.apart is None:
        return ""
    ref, folders = loaded.apart
    if paths and not any(_is_asked_for(paths, folder) for folder in folders):
        return ""
    names = ", ".join(folders[:_NAMED])
    more = f" and {len(folders) - _NAMED:,} more" if len(folders) > _NAMED else ""
    return f"{names}{more} taken for roots of their own, since each has {ref}"


def _is_asked_for(paths: Collection[str], place: str) -> bool:
    """Whether the file or folder *place* is in one of the resolved *paths*, or has one of them in it."""
    real = real_path(place)
    return inside(real, paths) or any(inside(path, (real,)) for path in paths)


def _about(part: FleetPart, documents: Sequence[Document]) -> Iterator[Diagnostic]:
    """What is noted of those of *documents* that count in *part*."""
    every = part.loaded.documents
    meant = {id(document) for document in documents}
    for diagnostic in part.diagnostics:
        if diagnostic.code not in _NOTES:
            continue
        index = diagnostic.location.index
        has_object = index is not None and index < len(every)
        if len(meant) == len(every) or (has_object and id(every[index or 0]) in meant):
            yield diagnostic


def _twice(parts: Sequence[FleetPart], folders: Sequence[str], built_in: Sequence[str]) -> str:
    """Which VM stands in loose files and in what kustomize or helm makes, and how many more; as for `tally_of`."""
    loose: dict[tuple[str, str, str], str] = {}
    built: dict[tuple[str, str, str], str] = {}
    for part in parts:
        loaded, namespace = part.loaded, part.request.settings.namespace
        documents, _ = _counted(loaded, folders, built_in)
        for document in documents:
            if machines_in(document.body):
                resource = from_body(document.body, 0)
                key = resource.kind, resource.namespace or namespace, resource.name
                known = built if loaded.is_one_root else loose
                known.setdefault(key, loaded.name if loaded.is_one_root else document.origin.file)
    both = sorted(key for key in loose if key in built)
    if not both:
        return ""
    kind, namespace, name = both[0]
    more = f" (and {counted(len(both) - 1, 'more VM')})" if len(both) > 1 else ""
    where = f"{loose[both[0]]} and {built[both[0]]}"
    return f"{ResourceRef(kind, namespace, name)} stands in both {where}{more}"


def _empty(parts: Sequence[FleetPart]) -> str:
    """What *parts* were looked for in, in words; nothing where that is no file or folder, or cannot be read."""
    paths = parts[0].request.paths if parts else ("-",)
    if "-" in paths or any(found.is_error for part in parts for found in part.loaded.diagnostics):
        return ""
    return "the current folder" if paths in ((), (os.curdir,)) else in_words(paths)


def _unchecked(parts: Sequence[FleetPart], folders: Sequence[str]) -> int:
    """How many VMs of *parts* stand in what cannot be read or built, with *folders* (or files) in these."""
    if not any(found.is_error for part in parts for found in part.loaded.diagnostics):
        return 0
    from render.manifests.repository import unchecked

    inputs = ((part.loaded, part.request.reading.limits) for part in parts)
    counts = unchecked.machines_by_file(inputs, machines_in)
    return sum(number for file, number in counts.items() if not folders or inside(file, folders))


def _lent(loaded: Documents, notes: Iterable[Diagnostic]) -> Iterator[tuple[str, str]]:
    """The definitions that VMs of *loaded* find in other folders, by *notes* of it: each folder, and what it lends."""
    for note in notes:
        places = [related.location.index for related in note.related]
        if note.code == DEFINED_ELSEWHERE.number and places and places[0] in loaded.borrowed:
            lender, index = loaded.borrowed[places[0]]
            file = lender.documents[index].origin.file
            folder = os.path.dirname(file) or "the current folder"
            yield lender.name if lender.is_one_root else folder, note.message


def _made(documents: Iterable[Document]) -> int:
    """How many VMs of *documents* are of pools, replica sets and templates."""
    holders = (document for document in documents if document.body.get("kind") not in _SINGLE)
    return sum(machines_in(holder.body) for holder in holders)


def machines_in(body: Tree) -> int:
    """How many VMs *body* is, or brings as a template of OpenShift."""
    kind = text_at(body, "kind")
    if kind != "Template":
        return (text_at(body, "apiVersion").rpartition("/")[0], kind) in _MACHINES
    objects = body.get("objects")
    return sum(
        machines_in(item)
        for item in (objects if isinstance(objects, list) else ())
        if isinstance(item, dict)
    )
