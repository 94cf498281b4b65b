"""A use of a chart or a folder: the object that asks for it, and what it fills in."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.diagnostics.diagnostic import Diagnostic
from render.manifests.discover import HelmRelease
from render.manifests.uses.patterns import DirectoryPatterns
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin, text_at
from render.model.tree import get
from render.system import files
from render.system.files import real_path
from render.yaml.reader import Document

#: Revisions by which the branch is meant, most likely, that is read.
BRANCHES = frozenset({"", "HEAD", "main", "master"})
#: What kustomize puts before and behind names.
AFFIXES = ("namePrefix", "nameSuffix")


class VariablePlace(NamedTuple):
    """Where a variable has its value: the *path* in the object of *origin*."""

    origin: Origin
    path: FieldPath


class Variables(NamedTuple):
    """What Flux substitutes after a build; *is_complete*: every variable that there is is among the *values*.

    *places*: where each of them stands.
    """

    values: Mapping[str, str]
    is_complete: bool
    places: Mapping[str, VariablePlace] = MappingProxyType({})


class DemandedConfigMap(NamedTuple):
    """What an object cannot do without that it refers to: its name, if it is *known*, and what is wrong where not."""

    name: str
    is_known: bool
    fault: Diagnostic


class KustomizationEdit(NamedTuple):
    """What an Application or a Kustomization of Flux edits in a kustomization: its *options*.

    *files* are those that its patches stand in, *components* are the folders that it adds. *place* is the
    path of what has its patches in the object that says so, empty where that is not known.
    """

    options: Mapping[str, Any]
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    place: FieldPath = ()

    def affixes(self) -> tuple[str, str]:
        """What is put before and behind names."""
        before, after = (text_at(self.options, key) for key in AFFIXES)
        return before, after


class PluginUse(NamedTuple):
    """What our plugin is told that renders *folder*: *parameters*, and *variables*, which are weaker, as written.

    *place* is the path of all this in the object of *document*. *told* is the same for uses that are told the same.
    """

    folder: str
    parameters: tuple[tuple[str, Any], ...]
    variables: tuple[tuple[str, Any], ...]
    document: Document
    place: FieldPath
    told: str = ""


class FolderUse(NamedTuple):
    """What the object *title* makes of *folder*: a *release* of the chart there, a build with *variables* or an *edit*.

    *document* is that object. *is_complete*: all values are known. *assumptions*: what was taken for granted, in words.
    *is_deep*: where nothing builds the folder, those below it count too. *namespace* is that of what names none, ``""``
    where the object does not say. *references*: the ConfigMaps that it cannot do without, by their names and keys.
    *patterns*: which of the files count, where nothing builds the folder. *plugin*: what our plugin is told that
    renders it; None where it does not. *places*: where in the object each file of values is named. *revision*: from
    which address and revision it takes the folder, or `SUSPENDED`. *is_server_side*: it is applied so for certain.
    *stands*: where objects of this title stand that make the same of it.
    """

    title: str
    document: Document
    folder: str
    release: HelmRelease | None = None
    variables: Variables | None = None
    is_complete: bool = True
    assumptions: tuple[str, ...] = ()
    edit: KustomizationEdit | None = None
    is_deep: bool = False
    revision: str = ""
    namespace: str = ""
    references: Mapping[str, DemandedConfigMap] = MappingProxyType({})
    patterns: DirectoryPatterns = DirectoryPatterns()
    plugin: PluginUse | None = None
    places: Mapping[str, FieldPath] = MappingProxyType({})
    is_server_side: bool = False
    stands: tuple[str, ...] = ()

    def applying(self) -> Callable[[str], bool]:
        """What tells of a resolved file whether it is applied with the folder, where nothing builds that."""
        around = real_path(self.folder)

        def applies(real: str) -> bool:
            is_in = (
                files.is_below(real, around) if self.is_deep else os.path.dirname(real) == around
            )
            return is_in and self.patterns.select(os.path.relpath(real, around))

        return applies

    @property
    def is_plain(self) -> bool:
        """Whether the folder is applied as it is written."""
        return self.release is None and self.variables is None and self.edit is None


class UnevaluatedError(Exception):
    """The use of something of this repository that is not evaluated: *reason* counts its kind, in the singular.

    *use*: the folder that it fills in and the object that does, where these are known; ``""`` is the folder of a set of
    which no Application is known. *fault*: what is wrong with a file, if that is the reason.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.use = ("", "")
        self.fault: Diagnostic | None = None


class AbsentError(UnevaluatedError):
    """Nothing is in this repository where an object says: nothing of that is applied, and nothing deleted.

    *folder* is what is not there, *place* the field that says so; *is_certain*: it means this repository as it is read,
    if all is so that is *assumed*.
    """

    def __init__(self, reason: str, folder: str, place: FieldPath) -> None:
        super().__init__(reason, f"{reason}: {folder}")
        self.folder = folder
        self.place = place
        self.is_certain = False
        self.assumed: tuple[str, ...] = ()


class UnmatchedError(UnevaluatedError):
    """A pattern of a generator that matches nothing in this repository, so that no Application is made of it.

    *folder* is the first step that is not there, ``""`` where all is that the *pattern* spells out, *place* the field
    that has the pattern. It is so if all is so that is *assumed*.
    """

    def __init__(
        self, pattern: str, folder: str, place: FieldPath, assumed: tuple[str, ...]
    ) -> None:
        super().__init__("pattern without a match", f"{pattern} matches nothing in this repository")
        self.pattern = pattern
        self.folder = folder
        self.place = place
        self.assumed = assumed


class UnsaidError(UnevaluatedError):
    """A set asks with *expression* for what no generator says; *help* has what was probably meant, if that is known."""

    def __init__(self, expression: str, help_: str = "") -> None:
        reason = "ApplicationSet whose template asks for what no generator says"
        super().__init__(reason, f"no generator says what {expression} is")
        self.expression = expression
        self.help = help_


class ElsewhereError(Exception):
    """What is used stands in another repository, or nowhere in one."""


#: What is said of an object that names another repository, and a path that this one has too: which is meant?
UNEVALUATED = "unevaluated"
"""Stands for the revision of what a set applies of which nobody knows the Applications."""
EMPTIED = "emptied"
"""Stands for that of what a set applies that makes no Application, and has those deleted that it made."""
SUSPENDED = "suspended"
"""Stands for the revision of what an object of Flux does not apply for now."""
OF_ANOTHER = "another repository, at a path with VMs in this one"


def named(document: Document) -> str:
    """What the object of *document* is called: its kind, its namespace if it has one, and its name."""
    body = document.body
    namespace, name = (text_at(body.get("metadata"), key) for key in ("namespace", "name"))
    return f"{text_at(body, 'kind')} {f'{namespace}/' if namespace else ''}{name}"


def title_of_made(name: str, made_by: str) -> str:
    """What the Application *name* is called that the set *made_by* makes."""
    return f"Application {name} of {made_by}"


def is_made_by(title: str, made_by: str) -> bool:
    """Whether *title*, with its place or without, is that of an Application which the set *made_by* makes."""
    return f" of {made_by} " in f"{title} "


def mappings(tree: Any, *path: str | int) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    """The mappings in the list at *path* of *tree*, each with its path."""
    value = get(tree, *path)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield (*path, index), item


def texts(tree: Any, *path: str | int) -> Sequence[str]:
    """The texts in the list at *path* of *tree*."""
    value = get(tree, *path)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
