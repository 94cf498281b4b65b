"""Editing YAML text: what is not edited stays, and so do comments, order and quotes.

The one place that uses ruamel's round trip. Only documents that change are written anew.
"""

import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from render.model.edits import Move, Operation, Put, Remove, edited
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.yaml import reader, stream
from render.yaml.budget import Limits
from render.yaml.editing import spans
from render.yaml.stream import Chunk

_WIDTH = 1 << 20
_DASH = pattern(
    r"^( *)(?:[^\s#-][^#\n]*:|-[ \t][^#\n]*:)[ ]*(?:#.*)?\n(?:[ \t\r]*+(?:#.*)?\n)*+( *)- ",
    re.MULTILINE,
)
#: Comments at the top, up to the last blank line among them.
_HEAD = pattern(r"(?:#[^\n]*\n|[ \t\r]*\n)*[ \t\r]*\n")


class Unwritten(NamedTuple):
    """Why a text cannot be rewritten."""

    why: str


Edits = Mapping[int, Sequence[tuple[FieldPath, Operation]]]
"""By document pairs of the way to an object in it (of a List) and an edit of that object."""


def rewritten(data: bytes, file: str, edits: Edits, limits: Limits) -> str | Unwritten:
    """The text of *file*, which says *data*, with *edits*: as somebody would have typed them, and saying nothing else.

    It is read again: where it does not say what the objects with their edits say, there is no new text.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Unwritten("it is not UTF-8")
    if not is_yaml(text):
        return Unwritten("it is JSON, which is not rewritten")
    after = rewrite(text, edits)
    if isinstance(after, Unwritten):
        return after
    meant = []
    for document in reader.read(data, file, limits).documents:
        origin = document.origin
        route = origin.route
        own = (edit for way, edit in edits.get(origin.document, ()) if way == route)
        try:
            meant.append(edited(document.body, own))
        except (LookupError, TypeError, AttributeError):
            return Unwritten("what is to be edited does not stand in it")
    if [document.body for document in reader.read(after.encode(), file, limits).documents] == meant:
        return after
    return Unwritten("anchors, aliases or merge keys in it would make it say something else")


def without(data: bytes, file: str, numbers: Collection[int], limits: Limits) -> str | Unwritten:
    """The text of *file*, which says *data*, without the documents of these *numbers* and their comments.

    A comment at the top of the file that a blank line sets apart stays.
    """
    text = data.decode()
    if not is_yaml(text):
        return Unwritten("it is JSON, which is not rewritten")
    chunks = list(stream.split(text))
    ends = [0, *(min(chunk.start + len(chunk.text), len(text)) for chunk in chunks)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    kept = [part for number, part in enumerate(parts) if number not in numbers]
    if 0 in numbers and (head := _HEAD.match(parts[0])):
        kept.insert(0, head[0])
    after = "".join((*kept, text[ends[-1] :]))
    meant = [
        document.body
        for document in reader.read(data, file, limits).documents
        if document.origin.document not in numbers
    ]
    if [document.body for document in reader.read(after.encode(), file, limits).documents] == meant:
        return after
    return Unwritten("what is to go does not stand in it alone")


class LineChange(NamedTuple):
    """The lines of *file* from *first* (from 1) to the one before *end* give way to *text*."""

    file: str
    first: int
    end: int
    text: str


def changed_lines(
    chunks: Sequence[Chunk], file: str, edits: Edits, limits: Limits
) -> tuple[LineChange, ...] | Unwritten:
    """The lines that *edits* change in *file*, whose documents are *chunks*; those without any are not read."""
    changes: list[LineChange] = []
    for number, own in sorted(edits.items()):
        if number >= len(chunks):
            return Unwritten("what is to be edited does not stand in it")
        chunk = chunks[number]
        if not is_yaml(chunk.text):
            return Unwritten("it is JSON, which is not rewritten")
        after = rewritten(chunk.text.encode(), file, {0: own}, limits)
        if isinstance(after, Unwritten):
            return after
        for start, stop, text in spans.hunks(chunk.text, after):
            first, end = (
                chunk.line + chunk.text.count("\n", 0, offset) for offset in (start, stop)
            )
            changes.append(LineChange(file, first, end, text))
    return tuple(changes)


def rewrite(text: str, edits: Edits) -> str | Unwritten:
    """*text* with *edits*.

    No comment is lost: where one would be, there is no new text. Neither is there where ruamel takes less for YAML than
    kubectl does.
    """
    from ruamel.yaml.error import YAMLError

    parts: list[str] = []
    done = 0
    for index, chunk in enumerate(stream.split(text)):
        start = text.find(chunk.text.removesuffix("\n"), done)
        if index not in edits:
            continue
        end = min(start + len(chunk.text), len(text))
        try:
            new = _document(chunk.text, list(edits[index]))
        except (YAMLError, ValueError, RecursionError) as error:
            new = Unwritten(_unread(error, chunk))
        if isinstance(new, Unwritten):
            return new
        if end == len(text) and not text.endswith("\n"):
            new = new.removesuffix("\n").removesuffix("\r")
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


def _unread(error: Exception, chunk: Chunk) -> str:
    """Why there is no rewriting *chunk*, which made ruamel raise *error*."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {chunk.position(mark.line, mark.column)[0]}" if mark else "it"
    if isinstance(error, RecursionError):
        problem = "it is nested too deep"
    else:
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"ruamel.yaml, which keeps the comments, cannot read {where}: {problem}"


def is_yaml(text: str) -> bool:
    """Whether *text* can be rewritten: JSON is another notation."""
    return all(chunk.value is stream.MISSING for chunk in stream.split(text))


def _document(text: str, edits: Sequence[tuple[FieldPath, Operation]]) -> str | Unwritten:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    small = spans.replace(text, edits)
    if small is not None and not any(_lost_comments(text, small)):
        return small
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    plain = text.replace("\r\n", "\n")
    if _is_indented(plain):
        yaml.indent(mapping=2, sequence=4, offset=2)
    root = _load(yaml, plain)
    before = _comments(root)
    try:
        for prefix, edit in edits:
            _edit(_at(root, prefix), edit)
    except (LookupError, TypeError, ValueError, AttributeError):
        return Unwritten("anchors, aliases or merge keys stand in the way: write them out")
    lost = before - _comments(root)
    written = io.StringIO()
    yaml.dump(root, written)
    # A comment whose place is gone stays with the document.
    rewritten = (
        "".join(f"{line}\n" for line in lost.elements()) + written.getvalue().rstrip("\n") + "\n"
    )
    try:
        lost_comment = next(_lost_comments(plain, rewritten), None)
    except YAMLError:  # `{}` below a comment, of a mapping whose only entry has gone
        return Unwritten(
            "ruamel.yaml, which keeps the comments, would make no YAML of it: edit it by hand"
        )
    if lost_comment:
        return Unwritten(
            f"the comment {lost_comment} would be lost: let it stand on a line above a key"
        )
    return rewritten if plain == text else rewritten.replace("\n", "\r\n")


def _load(yaml: Any, text: str) -> Any:
    """What *yaml* makes of *text*, or a YAMLError."""
    from ruamel.yaml.error import YAMLError

    yaml.composer.warn_double_anchors = False  # kubectl takes them too
    try:
        return yaml.load(text)
    except (ValueError, LookupError) as error:  # the 13th month, say, which is text for kubectl
        message = f"a value that looks like a number or a date is none ({error})"
        raise YAMLError(message) from error


def _is_indented(text: str) -> bool:
    """Whether the items of the first list are further in than its key."""
    match = _DASH.search(text)
    return match is not None and len(match[2]) > len(match[1])


def _at(node: Any, path: FieldPath) -> Any:
    for step in path:
        node = node[step]
    return node


def _edit(body: Any, edit: Operation) -> None:
    match edit:
        case Put(path, value):
            _put(_parent(body, path), path[-1], value)
        case Remove(path):
            _pop(_at(body, path[:-1]), path[-1])
        case Move(path, to) if path[-1] not in _at(body, path[:-1]) and to[-1] in _at(
            body, to[:-1]
        ):
            pass  # what an alias stands for was edited where another one stands for it
        case Move(path, to) if path[:-1] == to[:-1]:
            mapping = _at(body, path[:-1])
            place = list(mapping).index(path[-1])
            value, comment = _pop(mapping, path[-1])
            mapping.insert(place, to[-1], value)
            _comment(mapping, to[-1], comment)
        case Move(path, to):
            value, comment = _pop(_at(body, path[:-1]), path[-1])
            mapping = _parent(body, to)
            mapping[to[-1]] = value
            _comment(mapping, to[-1], comment)


def _put(parent: Any, step: str | int, value: Any) -> None:
    if isinstance(parent, list) and step == len(parent):
        parent.append(value)
    else:
        parent[step] = value


def _parent(body: Any, path: FieldPath) -> Any:
    from ruamel.yaml.comments import CommentedMap

    for step in path[:-1]:
        if isinstance(step, str) and body.get(step) is None:
            body[step] = CommentedMap()
        body = body[step]
    return body


def _pop(mapping: Any, key: Any) -> tuple[Any, Any]:
    comment = mapping.ca.items.pop(key, None)
    return mapping.pop(key), comment


def _comment(mapping: Any, key: Any, comment: Any) -> None:
    if comment is not None:
        mapping.ca.items[key] = comment


def _comments(root: Any) -> Counter[str]:
    """How often each line of a comment stands in *root*."""
    tokens = {id(token): token for token in _tokens(root)}
    lines = (line.strip() for token in tokens.values() for line in token.value.splitlines())
    return Counter(line for line in lines if line)


def _tokens(node: Any) -> Iterator[Any]:
    """The comments attached to *node* and to what is below it, some of them several times."""
    attached = getattr(node, "ca", None)
    if attached is not None:
        yield from _flat([attached.comment, *attached.items.values(), attached.end])
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in children:
        yield from _tokens(child)


def _flat(nested: Any) -> Iterator[Any]:
    if isinstance(nested, list):
        for item in nested:
            yield from _flat(item)
    elif hasattr(nested, "value"):  # the comment beside the head of a block scalar is a bare text
        yield nested


def _lost_comments(before: str, after: str) -> Iterator[str]:
    """The comments of the document *before* that the document *after* has not, or not as often."""
    return (_comments_of(before) - _comments_of(after)).elements()


def _comments_of(text: str) -> Counter[str]:
    if "#" not in text:
        return Counter()
    return Counter(f"# {words[1:].strip()}" for _, words in spans.comments(text))
