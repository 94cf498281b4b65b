"""Which parts of a document are for nobody to read: below which keys, and in an object of which kind."""

import re
from collections.abc import Iterator

from render.diagnostics import secrets
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.yaml import positions
from render.yaml.libyaml import ALIAS, MAPPING, SCALAR, SEQUENCE
from render.yaml.nodes import Node, child, is_merge, key_of, merged_into, target_of, value_of
from render.yaml.stream import Chunk

_NAMES = ("name", "key", "op", "path")
#: Of these the values are texts, and many a text is a document of its own: so is what stands in its place.
_ANNOTATIONS = "annotations"

_PATCH = "patch"
HOLDER = pattern(
    r"""\bvalue["']?+\s*+:|(?<![\w./-])(?:data|binaryData|command|args)["']?+\s*+:"""
    r"""|(?:cloud[_-]?init|sysprep)\w*+["']?+\s*+:""",
    re.IGNORECASE,
)
"""What holds values of patches and variables, contents of ConfigMaps and Secrets, words of commands, user data."""

_UNCERTAIN = pattern(r"""["'|>&*!?\0\r]|annotations|ConfigMap""")
"""What makes more of lines than each says, or holds texts of any kind."""
_PLACES = frozenset({"from", "op", "path"})
_OPERATION = pattern(
    r"\s*(?:- +)?(?:(?:op|from|path)\s*: *[\"']?[\w/.~*-]*[\"']?|value:)\s*", re.IGNORECASE
)
"""A line of an operation of a JSON patch that says what it does, or where, and no value."""
_VALUE = pattern(r"""\s*(?:- +)?value *: *["']?[\w.+-]{1,64}["']?\s*""")
"""A line of an operation that says its value, in a word."""
_SIZED = pattern(r"/spec/template/spec/domain/(?:cpu|memory|resources)(?:/\w+)*")
"""Where a JSON patch can lead to nothing but sizes of a VM."""
_QUANTITY = pattern(r"\d[\w.+-]{0,31}")
_LITERAL = "|"
"""How a block begins whose lines are the lines of its text."""

Span = tuple[int, int]


def spans(root: Node, end: int, chunk: Chunk, *, quotes: bool = False) -> Iterator[Span]:
    """The secret parts of the document *root*, which ends at *end*, in order.

    *quotes*: its own lines are shown, and no words about it; of a patch of a kustomization they are as in a file of its
    own, if nothing in it may be secret, and else those that say where a JSON patch does what.
    """
    if root.kind == SCALAR:  # no object at all: a password in a file of its own, perhaps
        yield root.index, end
        return
    secret, patches = _secret_nodes(root, chunk.text, quotes=quotes)
    begins = -1
    for node, ends_region in _in_order(root, secret):
        if begins >= 0:
            yield begins, _before(chunk.text, begins, node.index)
            begins = -1
        inner = _spans_of_patch(node, chunk.text) if id(node) in patches else None
        if inner is not None:
            yield from inner
        elif ends_region:
            begins = node.index
    if begins >= 0:
        yield begins, end


def _in_order(root: Node, secret: set[int]) -> Iterator[tuple[Node, bool]]:
    """Each node as it is written, and whether it is secret; what is inside of a secret one is left out."""
    pending = [root]
    while pending:
        node = pending.pop()
        is_secret = id(node) in secret and (node.kind != SCALAR or node.text != "")
        yield node, is_secret
        if not is_secret and node.kind != ALIAS:
            pending += reversed(node.children)


def scalars(root: Node) -> Iterator[Node]:
    """The secret scalars of the document *root*."""
    secret, _ = _secret_nodes(root)
    pending = [root]
    while pending:
        node = pending.pop()
        if node.kind == SCALAR and id(node) in secret:
            yield node
        elif node.kind != ALIAS:
            pending += node.children


def _before(text: str, begins: int, following: int) -> int:
    """Where a secret part ends before the next node: with the line before, if only dashes precede that one."""
    line = text.rfind("\n", begins, following)
    return line if line >= 0 and not text[line:following].strip(" -?\t\n") else following


def _secret_nodes(root: Node, text: str = "", *, quotes: bool = False) -> tuple[set[int], set[int]]:
    """The nodes whose text is for nobody to read, with what their aliases name; *text* is how they are written.

    And those of them that are patches, of which parts may be for everybody, with *quotes*.
    """
    secret: set[int] = set()
    patches: set[int] = set()
    whole: set[int] = set()
    seen: set[_Visit] = set()
    pending = [(root, _Visit(id(root), hidden=False, kind="", in_data=False))]
    while pending:
        node, visit = pending.pop()
        if node.kind != SCALAR:  # most are, and nothing follows from them
            if visit in seen:
                continue
            seen.add(visit)
        is_patch = visit.is_patch and ":" in node.text  # on one line, too
        is_secret = node.kind == SCALAR and (is_patch or _is_secret(node, text))
        is_open = is_secret and quotes and visit.is_patch and _is_open_patch(node.text)
        if visit.hidden or (is_secret and not is_open):
            secret.add(id(node))
            (patches if quotes and visit.is_patch and not visit.hidden else whole).add(id(node))
        if node.kind == MAPPING:
            pending += _entries(node, visit)
        else:
            pending += ((item, visit._replace(node=id(item))) for item in node.children)
    return secret, patches - whole


def _is_secret(node: Node, text: str) -> bool:
    """Whether a scalar says that it is secret, or has credentials that cannot be found in how it is written."""
    if secrets.may_contain_secrets(node.text):
        return True
    if secrets.without_credentials(node.text) == node.text:
        return False
    return not any(text.startswith(node.text, node.index + quote) for quote in (0, 1))


def _is_open_patch(text: str) -> bool:
    """Whether *text* is one document that can be read, with nothing in it to hide, and without a word of secrets."""
    if secrets.speaks_of_secrets(text) or secrets.credentials(text) or HOLDER.search(text):
        return False
    if _PATCH in text:  # one in another might be in a third
        return False
    data = text.encode("utf-8", "replace")
    documents = positions.chunks(data)
    root, end = positions.document(data, 0) if len(documents) == 1 else (None, -1)
    if root is None or end < 0 or root.kind == SCALAR or "\\" in text:
        return False
    return not any(spans(root, end, documents[0]))


def _spans_of_patch(node: Node, text: str) -> list[Span] | None:
    """The secret parts of the JSON patch *node*, a block in *text*; None where it is not known which those are.

    Those are all lines but for what an operation does, and where; where the patch cannot be parsed, all from the first
    such line on.
    """
    inner = node.text.removesuffix("\n")
    written = _lines_of_block(node, inner, text)
    data = inner.encode("utf-8", "replace")
    if not (written and inner.lstrip().startswith("- ") and len(positions.chunks(data)) == 1):
        return None
    root, end = positions.document(data, 0)
    is_whole = root is not None and end >= 0
    within, sizes = frozenset[int](), frozenset[int]()
    if root is not None and is_whole:
        within, sizes = _lines_in_values(root, len(written)), _lines_of_sizes(root)
    hidden: list[Span] = []
    for number, (span, line) in enumerate(zip(written, inner.split("\n"), strict=True)):
        is_said = number in sizes and _VALUE.fullmatch(line)
        if number in within or not (is_said or not line.strip() or _OPERATION.fullmatch(line)):
            if not is_whole:
                return [*hidden, (span[0], written[-1][1])]
            hidden.append(span)
    return hidden


def _lines_of_block(node: Node, inner: str, text: str) -> list[Span]:
    """Where *text* has each line of *inner*, which the literal block *node* says; none where it is another scalar."""
    spans: list[Span] = []
    begins = text.find("\n", node.index) + 1
    for line in inner.split("\n") if begins and text.startswith(_LITERAL, node.index) else ():
        end = text.find("\n", begins)
        end = end if end >= 0 else len(text)
        if text[begins:end].lstrip(" ") != line.lstrip(" "):
            return []
        spans.append((begins, end))
        begins = end + 1
    return spans


def _lines_in_values(root: Node, count: int) -> frozenset[int]:
    """The lines, from 0, of *count*, below those on which operations of the JSON patch *root* begin a value."""
    items = root.children if root.kind == SEQUENCE else ()
    keys = [key for item in items if item.kind == MAPPING for key, _ in item.pairs()]
    lines = [*(key.at[0] - 1 for key in keys), count]
    return frozenset(
        line
        for number, key in enumerate(keys)
        if key_of(key) not in _PLACES
        for line in range(lines[number] + 1, lines[number + 1])
    )


def _lines_of_sizes(root: Node) -> frozenset[int]:
    """The lines, from 0, with the sizes that operations of the JSON patch *root* set."""
    items = root.children if root.kind == SEQUENCE else ()
    return frozenset(
        key.at[0] - 1
        for item in items
        if item.kind == MAPPING
        for key, value in item.pairs()
        if key_of(key) == "value" and key.at[0] == value.at[0] and _is_size(item, value)
    )


class _Visit(NamedTuple):
    """A node on the way through a document: whether all of it is *hidden*, and the *kind* of the object it is part of.

    That kind is of use where the node is the object, or the list of its items. *in_data*: what a guest boots with
    stands around it. *is_patch*: its text may be a patch of a kustomization.
    """

    node: int
    hidden: bool
    kind: str
    in_data: bool
    is_patch: bool = False


def _is_plain(operation: Node, value: Node) -> bool:
    """Whether the *value* of an *operation* of a JSON patch is true, false or null, and its path leads to no secret."""
    path = child(operation, "path")
    place = target_of(path[1]) if path else None
    if place is None or place.kind != SCALAR or value.kind != SCALAR:
        return False
    word = value_of(value)
    return (word is None or isinstance(word, bool)) and not secrets.speaks_of_secrets(place.text)


def _is_size(operation: Node, value: Node) -> bool:
    """Whether the *value* of an *operation* of a JSON patch is a number or quantity where none can be secret."""
    path = child(operation, "path")
    place = target_of(path[1]) if path else None
    if place is None or place.kind != SCALAR or value.kind != SCALAR:
        return False
    is_open = _SIZED.fullmatch(place.text) and _QUANTITY.fullmatch(value.text)
    return bool(is_open) and not secrets.speaks_of_secrets(place.text)


def _is_scalar(value: Node) -> bool:
    target = target_of(value)
    return target is not None and target.kind == SCALAR


def _kind_below(kind: str, name: str | None) -> str:
    """What the value under *name* of an object of *kind* holds that is told by its kind."""
    if name == _ANNOTATIONS:
        return _ANNOTATIONS
    return kind.removesuffix("List") if name == "items" else ""


def _entries(node: Node, visit: _Visit) -> Iterator[tuple[Node, _Visit]]:
    """The keys and values of a mapping; of what it merges, the mappings themselves."""
    entry = child(node, "kind")
    kind_node = target_of(entry[1]) if entry else None
    kind = visit.kind
    if kind_node is not None and kind_node.kind == SCALAR:
        # What many merge is visited once a kind.
        kind = secrets.holder(str(value_of(kind_node)))
    valued = any(child(node, name) for name in _NAMES)
    for key, value in node.pairs():
        if is_merge(key):  # it takes mappings: what else stands there is a value out of place
            sources = value.children if value.kind == SEQUENCE else (value,)
            strays = (source for source in sources if source.kind not in (MAPPING, ALIAS))
            yield from (
                (stray, _Visit(id(stray), hidden=True, kind="", in_data=False)) for stray in strays
            )
            continue
        name = key_of(key)
        is_mapping = value.kind in (MAPPING, ALIAS)
        hidden = visit.hidden or (
            name is None
            or (visit.in_data and secrets.is_datum(name, is_mapping=is_mapping))
            or secrets.is_secret_key(name)
            or secrets.is_content(kind, name)
            or secrets.is_unquoted(name, is_mapping=is_mapping)
            or (name == "value" and valued and not _is_plain(node, value))
            or (visit.kind == _ANNOTATIONS and not _is_scalar(value))
        )
        in_data = visit.in_data or (name is not None and secrets.holds_data(name))
        yield key, _Visit(id(key), visit.hidden, "", in_data=False)
        is_patch = name == _PATCH and not in_data and visit.kind != _ANNOTATIONS
        yield value, _Visit(id(value), hidden, _kind_below(kind, name), in_data, is_patch)
    for source in merged_into(node):
        target = target_of(source)
        if target is not None:
            yield target, _Visit(id(target), visit.hidden, kind, visit.in_data)


def certain(text: str) -> int:
    """How much of *text*, which cannot be parsed and speaks of secrets, is sure to have none: whole lines at its top.

    They end before the first word of such, and before what is read otherwise than by the line: quotes, blocks, anchors.
    """
    holder = HOLDER.search(text)
    most = 0 if "\\" in text else holder.start() if holder else len(text)
    certain = 0
    while (end := text.find("\n", certain, most) + 1) > 0:
        line = text[certain:end]
        if _UNCERTAIN.search(line) or secrets.speaks_of_secrets(line):
            break
        certain = end
    return certain


def is_doubtful(text: str) -> bool:
    """Whether *text*, of which we do not know the structure, may say something secret; escapes may hide the word."""
    return "\\" in text or HOLDER.search(text) is not None or secrets.speaks_of_secrets(text)
