"""YAML and JSON text into Kubernetes objects, exactly as kubectl and Argo CD read them.

Stricter than they are in two ways: a key that stands twice is an error (they silently keep the last), and so is what
only one of the two would take. Nothing is raised for bad input.
"""

from collections.abc import Iterator

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Related
from render.model import lists
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING, Any
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.model.tree import Tree
from render.yaml import plain, stream
from render.yaml.budget import MISTAKES, TOO_MANY, Aliases, Limits
from render.yaml.stream import Chunk

if TYPE_CHECKING:
    from render.yaml.builder import UnbuildableError


_USUAL = Limits()


class Document(NamedTuple):
    """One object.

    *text* is what its author wrote, without separators, directives and byte order mark, if everyone reads the same in
    it as *body* says; None for an item of a List, for JSON (anything in braces), and where it has to be written anew.
    *ambiguous*: a plain scalar in the YAML document means something else to kustomize (`positions.ambiguous` lists
    them). *printed* is where it stands in the output of the program that made it, and *before* what that read.
    """

    body: Tree
    origin: Origin
    text: str | None
    ambiguous: bool = False
    printed: Origin | None = None
    before: Tree | None = None


class Read(NamedTuple):
    """What a file holds, and what is wrong with it."""

    documents: list[Document]
    diagnostics: list[Diagnostic]


def _decoded(data: bytes, file: str, limits: Limits) -> str | Diagnostic:
    """The text of *data*, or why it has none that is read."""
    if len(data) > limits.file_bytes:
        return codes.LIMIT_EXCEEDED.at(
            Location(file=file, line=1, column=1),
            f"the file has {len(data):,} bytes, more than {limits.file_bytes:,}",
            help="raise the limit on file size if this is meant to be read",
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line, column = _end_of(data[: error.start].decode())
        return codes.YAML_SYNTAX.at(
            Location(file=file, line=line, column=column),
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            help="save the file as UTF-8",
        )


def locate(
    data: bytes, origin: Origin, path: FieldPath, within: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    """As `positions.locate`, which is imported with the first place: most inputs have nothing to report."""
    from render.yaml import positions

    return positions.locate(data, origin, path, within)


def read(data: bytes, file: str, limits: Limits = _USUAL, aliases: Aliases | None = None) -> Read:
    """Every mapping in *data* as a document, Lists taken apart; empty documents are passed over.

    *file* is how diagnostics name it. A document with a mistake is left out and does not hide the others. *aliases*
    are those that the run has left for what *data* is, if that is not what is read beside the input.
    """
    contents = Read([], [])
    if aliases is None:
        aliases = limits.budget.beside if limits.budget else Aliases(limits.alias_nodes)
    aliases.read(len(data))
    text = _decoded(data, file, limits)
    if isinstance(text, Diagnostic):
        contents.diagnostics.append(text)
        return contents
    nameless = seen = 0
    for index, chunk in enumerate(stream.split(text, limits.documents)):
        nameless += sum(map(_is_nameless, contents.documents[seen:]))
        seen = len(contents.documents)
        if nameless + len(contents.diagnostics) > MISTAKES:
            contents.diagnostics.append(
                _too_many(Location(file=file, line=chunk.line, column=chunk.column))
            )
            break
        if index == limits.documents:
            contents.diagnostics.append(
                codes.LIMIT_EXCEEDED.at(
                    Location(file=file, line=chunk.line, column=chunk.column),
                    f"more than {limits.documents:,} documents in one file",
                )
            )
            break
        if chunk.value is stream.MISSING:
            _read_yaml(contents, chunk, Origin(file, index, (), chunk.line), limits, aliases)
        else:
            _read_json(contents, chunk, Origin(file, index, (), chunk.line), limits)
    return contents


def _read_yaml(
    contents: Read, chunk: Chunk, origin: Origin, limits: Limits, aliases: "Aliases"
) -> None:
    if chunk.separator:
        contents.diagnostics.append(
            codes.YAML_SYNTAX.at(
                Location(file=origin.file, line=chunk.line - 1, column=1),
                "text on the --- line, which kubectl and Argo CD refuse",
                help="begin the document on the next line",
            )
        )
        return
    known = plain.read(chunk.text, limits.depth)
    if known is not None:
        body, line = known
        if line:
            origin = origin._replace(line=chunk.line + line)
        _add_document(contents, chunk, origin, body, chunk.text)
    else:
        _parse(contents, chunk, origin, limits, aliases)


def _parse(
    contents: Read, chunk: Chunk, origin: Origin, limits: Limits, aliases: "Aliases"
) -> None:
    """Read with libyaml, which is imported only where it is needed."""
    from render.yaml import libyaml, syntax
    from render.yaml.builder import UnbuildableError, build

    try:
        built = build(chunk.text, limits.depth, aliases)
    except UnbuildableError as refusal:
        contents.diagnostics.extend(_refused(refusal, chunk, origin.file))
        return
    except libyaml.ERRORS as error:
        problem = libyaml.problem(error, chunk.text)
        contents.diagnostics.append(syntax.finding(problem, chunk, origin.file))
        return
    if built.dropped is not None:
        line, column = chunk.position(built.dropped.line, built.dropped.column)
        contents.diagnostics.append(
            codes.CONTENT_DROPPED.at(
                Location(file=origin.file, line=line, column=column),
                "what follows ... up to the next --- is read by nobody",
                help="begin the next document with ---",
            )
        )
    if built.body.__class__ is dict:
        if built.mark is not None:
            origin = origin._replace(line=chunk.line + built.mark.line)
        braces = built.mark is not None and chunk.text.startswith("{", built.mark.index)
        # Braces: JSON, with a comment perhaps.
        rewritten = braces or built.ambiguous or built.altered
        text = None if rewritten else chunk.text[: built.end]
        _add_document(contents, chunk, origin, built.body, text, ambiguous=built.ambiguous)
    elif built.body is not None:
        contents.diagnostics.append(_no_object(built.body, chunk, origin))


def _add_document(  # noqa: PLR0913 - the parts of a document
    contents: Read,
    chunk: Chunk,
    origin: Origin,
    body: Tree,
    text: str | None,
    *,
    ambiguous: bool = False,
) -> None:
    if "items" in body and lists.is_list(body):
        _unwrap(contents, chunk, body, origin, ambiguous=ambiguous)
        return
    if text is not None and "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:  # before a line break it would now be a part of it
            text = None
    # It followed a byte order mark, and would now be a separator.
    if text is not None and text.startswith("---"):
        text = None
    contents.documents.append(Document(body, origin, text, ambiguous))


def _read_json(contents: Read, chunk: Chunk, origin: Origin, limits: Limits) -> None:
    if _deeper(chunk.value, limits.depth):
        contents.diagnostics.append(
            codes.LIMIT_EXCEEDED.at(
                Location(file=origin.file, line=chunk.line, column=chunk.column),
                f"nested deeper than {limits.depth} levels",
            )
        )
    elif lists.is_list(chunk.value):
        _unwrap(contents, chunk, chunk.value, origin, ambiguous=False)
    else:
        contents.documents.append(Document(chunk.value, origin, None))


def _is_nameless(document: Document) -> bool:
    """Whether this can be no object."""
    return not isinstance(document.body.get("kind"), str)


def _is_nothing(item: Any) -> bool:
    """Whether an item of a List can be no object; its kind may come from the List."""
    return (
        not isinstance(item, dict)
        or not isinstance(item.get("kind"), str)
        or not item.get("metadata")
    )


def _too_many(place: Location) -> Diagnostic:
    return codes.LIMIT_EXCEEDED.at(place, TOO_MANY)


def _unwrap(contents: Read, chunk: Chunk, body: Tree, origin: Origin, *, ambiguous: bool) -> None:
    mistakes = 0
    for route, item in lists.items(body):
        mistakes += _is_nothing(item)
        if mistakes > MISTAKES:
            contents.diagnostics.append(
                _too_many(Location(file=origin.file, line=chunk.line, column=1))
            )
            return
        here = origin._replace(item=route)
        if isinstance(item, dict):
            contents.documents.append(Document(item, here, None, ambiguous))
            continue
        contents.diagnostics.append(_no_object(item, chunk, here, f"items[{route[-1]}]"))


def _no_object(value: Any, chunk: Chunk, origin: Origin, what: str = "the document") -> Diagnostic:
    from render.yaml import positions

    line, column = positions.place(chunk, origin.route)
    name = {list: "a list", str: "text", type(None): "null", bool: "a boolean"}.get(
        type(value), "a number"
    )
    return codes.NOT_AN_OBJECT.at(
        Location(file=origin.file, line=line, column=column),
        f"{what} is {name}, not a Kubernetes object",
        help="write a mapping with apiVersion, kind and metadata",
    )


def _refused(refusal: "UnbuildableError", chunk: Chunk, file: str) -> Iterator[Diagnostic]:
    from render.yaml import syntax

    if refusal.mark is not None:
        line, column = chunk.position(refusal.mark.line, refusal.mark.column)
        place = Location(file=file, line=line, column=column)
        written = chunk.text.splitlines()
        advice = (
            syntax.advice(written[refusal.mark.line]) if refusal.mark.line < len(written) else ""
        )
        yield refusal.code.at(place, refusal.message, help=advice)
        return
    from render.yaml import positions

    # The place of a key costs time to keep, so it is looked up again.
    unplaced = [("", (chunk.line, chunk.column), None)]
    for key, (line, column), first in (positions.bad_keys(chunk) or unplaced)[:MISTAKES]:
        place = Location(file=file, line=line, column=column)
        if first is None:
            message = refusal.message or "a mapping is no key, and a key of it stands twice"
            yield codes.YAML_SYNTAX.at(place, message)
        else:
            yield codes.DUPLICATE_KEY.at(
                place,
                f"key {key[:60]!r} is already set on line {first[0]}",
                Related("set here before", Location(file=file, line=first[0], column=first[1])),
                help="remove one of them: kubectl would silently keep the last",
            )


def _deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if child and isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _end_of(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - text.rfind("\n")
