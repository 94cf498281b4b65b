"""Where the value stands that Flux substituted in what kustomize has built."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests.blame.patches import Position
from render.manifests.kustomization import Reach
from render.manifests.uses.use import FolderUse, Variables
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

#: An escaped dollar, or the beginning of an expression with the name of its variable.
_NAME = pattern(r"\$\$|\$\{#?([_A-Za-z][_A-Za-z0-9]*)")

#: An escaped dollar, an expression that is nothing but the name of a variable, or any other with those in it.
_WHOLE = pattern(r"\$\$|\$\{([_A-Za-z][_A-Za-z0-9]*+)\}|\$\{(?:[^{}]|\{[^{}]*+\})*+\}")
_MOST = 20
"""Variables of one text that are told."""


def place_of_line(text: str, reached: Reach, limits: Limits) -> Location | None:
    """Where a file that is *reached* has the first line of *text* as the end of one of its own lines."""
    end = text.partition("\n")[0].rstrip("\"' ").encode()
    for file in (*reached.resources, *reached.others, *reached.kustomizations):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, Diagnostic) or end not in data:
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.rstrip(b"\"' \r").endswith(end):
                column = len(line[: line.rindex(end)].decode("utf-8", "replace")) + 1
                return Location(file=file, line=number, column=column)
    return None


def unset(text: str, use: FolderUse, reached: Reach, limits: Limits) -> Iterator[Diagnostic]:
    """The variables in the built *text* that *use* leaves empty, as it has all there are and none of that name.

    Each where a file that is *reached* has it. Comments do not count, nor what has a default.
    """
    variables = use.variables
    if variables is None or not variables.is_complete:
        return
    names: dict[str, None] = {}
    for match in _WHOLE.finditer(text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if match[1] and match[1] not in variables.values and "#" not in before:
            names.setdefault(match[1])
    for name in islice(names, _MOST):
        place = _place_of_variable(name, reached, limits)
        if place is not None:
            cure = f"set {name} there, or write $${{{name}}} where it is meant for the guest"
            yield codes.CONTENT_DROPPED.at(
                place,
                f"{use.title} substitutes no variable {name}: ${{{name}}} becomes empty",
                help=did_you_mean(name, sorted(variables.values), cure),
                severity=Severity.WARNING,
            )


def _place_of_variable(name: str, reached: Reach, limits: Limits) -> Location | None:
    """Where a file that is *reached* has the variable *name* first."""
    expression = f"${{{name}}}".encode()
    for file in (*reached.resources, *reached.others, *reached.kustomizations):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, Diagnostic) or expression not in data:
            continue
        lines = data[: data.index(expression)].decode("utf-8", "replace").split("\n")
        return Location(file=file, line=len(lines), column=len(lines[-1]) + 1)
    return None


class SubstitutedBuild:
    """The *built* documents that are printed as *display_name*: *output*, once the *variables* were substituted."""

    __slots__ = ("_before", "_built", "_display_name", "_limits", "_output", "_variables")

    def __init__(
        self,
        built: Sequence[Document],
        display_name: str,
        output: bytes,
        variables: Variables,
        limits: Limits,
    ) -> None:
        self._built = built
        self._display_name = display_name
        self._output = output
        self._variables = variables
        self._limits = limits
        self._before = cache(self._unsubstituted)

    def values(self, index: int, path: FieldPath) -> list[Position]:
        """Where the only variable in the field at *path* of the object at *index* has its value; else nothing."""
        place = self._variables.places.get(self._name(index, path))
        data = (
            files.read(place.origin.file, place.origin.file, self._limits.file_bytes)
            if place
            else b""
        )
        if place is None or isinstance(data, Diagnostic):
            return []
        return [(place.origin.file, *locate(data, place.origin, place.path))]

    def unset(self, index: int, path: FieldPath) -> str:
        """What is to be said of the only variable in that field, which is empty since nobody sets it; else nothing."""
        name = self._name(index, path)
        is_set = not self._variables.is_complete or name in self._variables.values
        if not name or is_set or tree.get(self._built[index].body, *path):
            return ""
        cure = did_you_mean(name, self._variables.values)
        return f"nobody sets the variable {name}" + (f", {cure}" if cure else "")

    def _name(self, index: int, path: FieldPath) -> str:
        """The only variable in the field at *path* of the object at *index*, `""` without one."""
        printed = self._built[index].printed if index < len(self._built) else None
        if printed is None or printed.file != self._display_name:
            return ""
        text = tree.get(self._before().get((printed.document, printed.item)), *path)
        names = set(filter(None, _NAME.findall(text))) if isinstance(text, str) else set()
        return names.pop() if len(names) == 1 else ""

    def _unsubstituted(self) -> Mapping[tuple[int, tuple[int, ...]], Tree]:
        """What each document was before, by its place in what kustomize printed."""
        documents = read(self._output, self._display_name, self._limits).documents
        return {
            (document.origin.document, document.origin.item): document.body
            for document in documents
        }
