"""Small edits of YAML text in place: every other character stays."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from render.model.edits import Move, Operation, Put, Remove
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.yaml import scalars, writer

_BLOCKS = ("|", ">")
_COMMENT = pattern(r"#[^\n]*")
_STEP = 2
"""How much further in the entries of a new mapping are."""
_AMOUNT = pattern(r"[0-9.]+[A-Za-z]+")
"""What the writer of whole documents puts in quotes, and nobody who writes manifests does."""


class TextEdit(NamedTuple):
    """What is to stand in place of the characters from *start* to *end*."""

    start: int
    end: int
    new: str


def replace(text: str, edits: Iterable[tuple[FieldPath, Operation]]) -> str | None:
    """The document *text* with *edits* (pairs of the way to an object and an edit of it), None if that takes more.

    Raises YAMLError.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False  # kubectl takes them too
    try:
        root = yaml.compose(text)
    except ValueError as error:  # nothing is made a value here but the escapes of a tag, twice
        message = "a tag with a % in it is no URI"
        raise YAMLError(message) from error
    if _is_shared(root):
        return None
    changes: list[TextEdit] = []
    added: set[FieldPath] = set()
    for prefix, edit in edits:
        made = _moved(text, root, prefix, edit) or [_change(text, root, prefix, edit)]
        changes += filter(None, made)
        if None in made or not added.isdisjoint(_places(prefix, edit)):
            return None
        added |= _added_place(root, prefix, edit)
    changes.sort(key=lambda change: change[:2])
    parts: list[str] = []
    done = 0
    for start, end, new in changes:
        if start < done:
            return None
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


def _is_shared(root: Any) -> bool:
    """Whether one text may stand in several places: anchors, aliases, merge keys."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if getattr(node, "anchor", None) or (node.id == "scalar" and node.value == "<<"):
            return True
        if node.id == "mapping":
            pending += (part for pair in node.value for part in pair)
        elif node.id == "sequence":
            pending += node.value
    return False


def _places(prefix: FieldPath, edit: Operation) -> Iterator[FieldPath]:
    """Where *edit* has a say, and what that stands in."""
    for way in {edit.path, edit.to if isinstance(edit, Move) else edit.path}:
        whole = (*prefix, *way)
        yield from (whole[:size] for size in range(len(whole) + 1))


def _added_place(root: Any, prefix: FieldPath, edit: Operation) -> set[FieldPath]:
    """The outermost place that *edit* adds to *root*, if it adds one: in its text nothing can be edited yet."""
    is_new = isinstance(edit, Put) or (isinstance(edit, Move) and edit.path[:-1] != edit.to[:-1])
    whole = (*prefix, *(edit.to if isinstance(edit, Move) else edit.path))
    if not is_new or _at(root, whole) is not None:
        return set()
    _, rest = _deepest(root, whole)
    return {whole[: len(whole) - len(rest) + 1]}


def _moved(text: str, root: Any, prefix: FieldPath, edit: Operation) -> list[TextEdit | None]:
    """What takes the lines of an entry of a mapping, with the comment above, to the end of another; nothing if more.

    That is made where it is not there.
    """
    if not isinstance(edit, Move) or edit.path[:-1] == edit.to[:-1]:
        return []
    parent = _at(root, (*prefix, *edit.path[:-1]))
    target, steps = _deepest(root, (*prefix, *edit.to))
    if not _is_of_lines(parent) or not _is_of_lines(target) or _pair(target, steps[0]):
        return []
    gone = _removed(text, parent, edit.path[-1])
    pair, names = _pair(parent, edit.path[-1]), [_spelled(str(step)) for step in steps]
    place = _below(text, _end(text, *target.value[-1]))
    if gone is None or pair is None or place is None or None in names or not _is_plain(pair[0]):
        return []
    key, depth = pair[0], pair[0].start_mark.column
    line = text.rfind("\n", 0, key.start_mark.index) + 1
    if text[line : key.start_mark.index].strip():  # behind the dash of an item
        return []
    start = _above(text, line, depth, _before(text, parent, pair))
    end = _inside(text, gone.end, depth)
    lines = f"{text[start : key.start_mark.index]}{names[-1]}{text[key.end_mark.index : end]}"
    column = target.value[0][0].start_mark.column
    head = _opened(names[:-1], column, "\r\n" if lines.endswith("\r\n") else "\n")
    new = _indented(lines, column + _STEP * len(steps[1:]) - depth)
    place = _inside(text, place, column)
    if new is None:
        return []
    return [TextEdit(start, end, ""), TextEdit(place, place, f"{head}{new}")]


def _deepest(root: Any, path: FieldPath) -> tuple[Any, FieldPath]:
    """What is there of all that the last of *path* stands in, the innermost, and the rest of the way."""
    count = next(n for n in range(len(path) - 1, -1, -1) if not n or _at(root, path[:n]))
    return _at(root, path[:count]), path[count:]


def _opened(names: Iterable[str | None], column: int, ending: str) -> str:
    """The lines of mappings of these *names*, each in the one before it, from *column* on."""
    return "".join(
        f"{' ' * (column + _STEP * nth)}{name}:{ending}" for nth, name in enumerate(names)
    )


def _is_of_lines(node: Any) -> bool:
    """Whether *node* is a mapping with an entry a line."""
    return node is not None and node.id == "mapping" and not node.flow_style and bool(node.value)


def _before(text: str, mapping: Any, pair: tuple[Any, Any]) -> int:
    """Where the entry before *pair* of *mapping* ends; 0 if that is the first."""
    index = mapping.value.index(pair)
    return _end(text, *mapping.value[index - 1]) if index else 0


def _above(text: str, line: int, depth: int, least: int) -> int:
    """Where the comment lines begin that stand above *line*, as far in as it, and below *least*."""
    lead = f"{' ' * depth}#"
    while line > least:
        start = text.rfind("\n", 0, line - 1) + 1
        if start < least or not text.startswith(lead, start):
            break
        line = start
    return line


def _inside(text: str, line: int, depth: int) -> int:
    """Where the comment lines end that stand from *line* on, further in than *depth*."""
    while text[line : line + depth + 1].isspace():
        end = text.find("\n", line) + 1
        if not end or not text[line:end].lstrip(" ").startswith("#"):
            break
        line = end
    return line


def _indented(text: str, by: int) -> str | None:
    """The lines of *text* so many characters further in; None where one has not as many to lose."""
    lines = text.splitlines(keepends=True)
    blanks = [len(line) - len(line.lstrip(" ")) for line in lines]
    if any(line.strip() and blank + by < 0 for line, blank in zip(lines, blanks, strict=True)):
        return None
    return "".join(
        " " * (blank + by) + line[blank:] if line.strip() else line
        for line, blank in zip(lines, blanks, strict=True)
    )


def _change(text: str, root: Any, prefix: FieldPath, edit: Operation) -> TextEdit | None:
    """Where something begins and ends, and what is to stand there."""
    match edit:
        case Move(path, to) if path[:-1] == to[:-1]:
            mapping = _at(root, (*prefix, *path[:-1]))
            pair, other = _pair(mapping, path[-1]), _pair(mapping, to[-1])
            if pair is None or other not in (None, pair) or not _is_plain(pair[0]):
                return None
            key, new = pair[0], _spelled(str(to[-1]))
            start, end = key.start_mark.index, key.end_mark.index
            key.value, key.style = to[-1], '"'  # what is edited next is found by its new name
            return None if new is None else TextEdit(start, end, new)
        case Put(path, value):
            node = _at(root, (*prefix, *path))
            if node is not None:
                return _replaced(text, node, value)
            return _added(text, _at(root, (*prefix, *path[:-1])), path[-1], value)
        case Remove(path):
            return _removed(text, _at(root, (*prefix, *path[:-1])), path[-1])
        case _:
            return None


def _replaced(text: str, node: Any, value: Any) -> TextEdit | None:
    """Another *value* for the scalar *node*."""
    start, end = node.start_mark.index, node.end_mark.index
    if node.id != "scalar" or text[start : start + 1] == "!":
        return None
    if node.style in _BLOCKS:
        return _grown(text, node, value)
    new = _scalar(value, node.style) if start < end else None  # `key:` alone is left to others
    return None if new is None else TextEdit(start, end, new)


def _grown(text: str, node: Any, value: Any) -> TextEdit | None:
    """Lines before those of the literal block *node*, if *value* has no others."""
    start, end = node.start_mark.index, node.end_mark.index
    begin = text.find("\n", start, end) + 1
    first = text[begin:].partition("\n")[0]
    header = text[start:begin].partition("#")[0].strip()
    if node.style != "|" or any(map(str.isdigit, header)) or not isinstance(value, str):
        return None
    lead = value.removesuffix(node.value)
    if not first.strip() or not lead.endswith("\n") or len(lead) == len(value):
        return None
    indent = first[: len(first) - len(first.lstrip(" "))]
    ending = "\r\n" if first.endswith("\r") else "\n"
    lines = (f"{indent}{line}{ending}" for line in lead.removesuffix("\n").split("\n"))
    return TextEdit(begin, begin, "".join(lines))


def _scalar(value: Any, style: str | None) -> str | None:
    """*value* as one line, in quotes of *style* if it is a text that may stand in them."""
    if isinstance(value, dict | list):
        return None
    if isinstance(value, str) and style == "'" and "'" not in value and value.isprintable():
        return f"'{value}'"
    if isinstance(value, str) and style is None and _AMOUNT.fullmatch(value) and _is_text(value):
        return value
    line = writer.dump({"x": value})[3:].removesuffix("\n")
    if "\n" in line:
        return None
    is_bare = isinstance(value, str) and line == value
    return f'"{line}"' if is_bare and style == '"' else line


def _is_text(word: str) -> bool:
    """Whether everybody reads the bare *word* as a text."""
    return scalars.kubectl(word) == word and scalars.kustomize(word) == word


def _added(text: str, parent: Any, step: str | int, value: Any) -> TextEdit | None:
    """A new entry behind the last one of *parent*, which must be written in lines."""
    if parent is None or parent.id == "scalar" or parent.flow_style or not parent.value:
        return None
    if isinstance(step, int):
        if parent.id != "sequence" or step != len(parent.value):
            return None
        column, body = parent.start_mark.column, writer.dump({"x": [value]}).partition("\n")[2]
        lines = [
            line.removeprefix("  ") if line.startswith("  ") else line for line in body.splitlines()
        ]
        last = (parent.value[-1], parent.value[-1])
    else:
        if parent.id != "mapping":
            return None
        column, lines = (
            parent.value[0][0].start_mark.column,
            writer.dump({step: value}).splitlines(),
        )
        last = parent.value[-1]
    place = _below(text, _end(text, *last))
    if place is None:
        return None
    ending = "\r\n" if text[:place].endswith("\r\n") else "\n"
    new = "".join(f"{' ' * column}{line}{ending}" if line else ending for line in lines)
    return TextEdit(place, place, new)


def _removed(text: str, parent: Any, step: str | int) -> TextEdit | None:
    """Without the entry of *parent* at *step*, one of several."""
    if parent is None or parent.id == "scalar" or len(parent.value) < 2:  # noqa: PLR2004 - `{}` is left to others
        return None
    if parent.id == "sequence":
        entries = [(item, item) for item in parent.value]
        index = step if isinstance(step, int) and step < len(entries) else None
    else:
        entries = parent.value
        index = next((i for i, (key, _) in enumerate(entries) if _key(key) == step), None)
    if index is None:
        return None
    start, end = entries[index][0].start_mark.index, _end(text, *entries[index])
    if parent.flow_style:
        if index:
            return TextEdit(_end(text, *entries[index - 1]), end, "")
        return TextEdit(start, entries[1][0].start_mark.index, "")
    line = text.rfind("\n", 0, start) + 1
    lead = text[line:start].strip()
    if lead == ("-" if parent.id == "sequence" else ""):
        place = _below(text, end)
        if place is None:
            return None
        return TextEdit(line, place, _only_comments(text, line, place))
    if parent.id == "mapping" and not index:  # what stands behind the dash of an item
        return TextEdit(start, entries[1][0].start_mark.index, "")
    return None


def _only_comments(text: str, line: int, end: int) -> str:
    """The comments between the beginning of *line* and *end*, each in a line as far in as that."""
    if "#" not in text[line:end]:
        return ""
    rest = text[line:end]
    indent = rest[: len(rest) - len(rest.lstrip(" "))]
    ending = "\r\n" if rest.endswith("\r\n") else "\n"
    found = (words for place, words in comments(text) if line <= place < end)
    return "".join(f"{indent}{words}{ending}" for words in found)


@lru_cache(maxsize=2)
def comments(text: str) -> tuple[tuple[int, str], ...]:
    """Where the comments of *text* begin, and what they say; kept, since many edits of one text ask for them."""
    return tuple(
        (found.start(), found[0].rstrip())
        for start, end in _gaps(text)
        for found in _COMMENT.finditer(text, start, end)
    )


def _gaps(text: str) -> Iterator[tuple[int, int]]:
    """Where comments of *text* may stand: between words, and in the line in which a block scalar begins."""
    from ruamel.yaml import YAML
    from ruamel.yaml.tokens import ScalarToken

    done = 0
    for token in YAML(typ="safe", pure=True).scan(text):
        start, end = token.start_mark.index, token.end_mark.index
        if start >= end:
            continue
        yield done, start
        if isinstance(token, ScalarToken) and token.style in _BLOCKS:
            head = text.find("\n", start, end)
            yield start + 1, head if head >= 0 else end
        done = end
    yield done, len(text)


def _end(text: str, key: Any, node: Any) -> int:
    """Where the text of *node* below *key* ends; that of a collection in lines with its last entry."""
    while node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1]
        key, node = last if node.id == "mapping" else (last, last)
    # What is empty stands where the next word does.
    if node.start_mark.index == node.end_mark.index and key is not node:
        return text.index(":", key.end_mark.index) + 1
    return int(node.end_mark.index)


def _below(text: str, end: int) -> int | None:
    """The beginning of the line below what ends at *end*, None where something else follows it in its line."""
    if text[end - 1 : end] == "\n":
        return end
    eol = text.find("\n", end)
    rest = text[end:eol].strip()
    return eol + 1 if eol >= 0 and (not rest or rest.startswith("#")) else None


_WORD = pattern(r"[A-Za-z][A-Za-z0-9./]*")
_QUOTABLE = pattern(r"[A-Za-z0-9./_ +:-]+")


def _spelled(key: str) -> str | None:
    """The *key* as one writes it, in quotes if it would be something else without them; None where that takes more."""
    if _WORD.fullmatch(key) and _is_text(key):
        return key
    return f'"{key}"' if _QUOTABLE.fullmatch(key) else None


def _is_plain(node: Any) -> bool:
    return node is not None and node.id == "scalar" and not node.style and bool(node.value)


def _at(node: Any, path: FieldPath) -> Any:
    for step in path:
        if node is None or node.id == "scalar":
            return None
        if isinstance(step, int):
            items = node.value if node.id == "sequence" else ()
            node = items[step] if 0 <= step < len(items) else None
        else:
            pair = _pair(node, step)
            node = pair[1] if pair else None
    return node


def _pair(mapping: Any, name: Any) -> tuple[Any, Any] | None:
    if mapping is None or mapping.id != "mapping":
        return None
    return next((pair for pair in mapping.value if _key(pair[0]) == name), None)


def _key(node: Any) -> Any:
    """The key that *node* is to kubectl, to which a bare ``on`` is ``true``."""
    is_bare = node.id == "scalar" and not node.style
    return scalars.key(scalars.resolved(node.value)) if is_bare else node.value


def hunks(before: str, after: str) -> Iterator[TextEdit]:
    """What differs between two texts, line by line."""
    from difflib import SequenceMatcher

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for kind, first, last, other, end in SequenceMatcher(
        a=old, b=new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            yield TextEdit(starts[first], starts[last], "".join(new[other:end]))
