"""What kustomize says about its failure, without what is secret in what it read: it quotes patches and literals."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from render.diagnostics import secrets
from render.diagnostics.diagnostic import Diagnostic
from render.manifests.kustomization import Reach
from render.model.regex import pattern
from render.system import files
from render.yaml import positions
from render.yaml.budget import Limits
from render.yaml.excerpts import lines
from render.yaml.libyaml import MAPPING, SCALAR, SEQUENCE
from render.yaml.nodes import Node, child, key_of
from render.yaml.reader import read

_LEAST = 3  # characters: what is shorter is in every word
_MARGIN = 2048
_QUOTED_CONFIGURATION = pattern(r"`[^`]*\n[^`]*(`|$)")
#: A patch of a kustomization, whole and as Go quotes it.
_QUOTED_PATCH = pattern(r'(?<=\[patch: )"(?:[^"\\]|\\.)*+(?:"|\\?$)', re.DOTALL)
_BYTES = pattern(r"\[\d{1,3}(?: \d{1,3}){3,}\]")
_CLOUD_CONFIG = pattern(r"(?:[|>][0-9+-]*\s*\n)?\s*#cloud-config\b")
#: Keys of a cloud-config whose value is no secret: whom it makes, and how.
_PUBLIC = pattern(
    r"\s*(?:- +)*(?:expire|fqdn|gecos|groups?|home_?dir|hostname|lock_passwd|name|owner|path|permissions"
    r"|primary_group|shell|ssh_pwauth|sudo|type|user(?:s|_?name)?) *:"
)
#: A key alone, which says what is secret, and nothing of it.
_KEY = pattern(r"[\w./-]+:")
#: What an operation of a JSON patch has; all but its value are words of the patch.
_OPERATION = frozenset({"op", "path", "from", "value"})
_PART = pattern(r"^\s*(?:- +|\? +|: +)*([\w./-]+ *[:=])?")


def secret_parts(reach: Reach, limits: Limits, values: Iterable[str] = ()) -> set[str]:
    """The lines, and what is assigned in them, of all that is secret in the files of *reach*, and of *values*."""
    secrets: set[str] = {part for value in values for part in _parts(value)}
    objects = {*reach.kustomizations, *reach.resources}
    for file in dict.fromkeys((*reach.kustomizations, *reach.resources, *reach.others)):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, Diagnostic):
            continue
        if file in objects or any(
            "kind" in document.body for document in read(data, file, limits).documents
        ):
            for text in lines.hidden_texts(data):
                secrets.update(_parts_of_a_patch(text))
        else:  # what generators and lists of operations hold
            secrets.update(_parts_of_a_patch(data.decode(errors="replace")))
    return secrets


def _parts_of_a_patch(text: str) -> Iterator[str]:
    """The parts of *text*; of a patch neither operation nor path, nor which object it is for: these are no values."""
    root = _root(text)
    if root is not None and root.kind == SCALAR:  # as it is written in a kustomization
        text, root = root.text, _root(root.text)
    if root is not None and _is_json_patch(root):
        for value in lines.hidden_texts(text.encode()):
            yield from _parts(value)
        return
    texts, public = [text], set()
    if root is not None and root.kind == MAPPING and child(root, "kind"):
        texts += _values(root)
        public = set(_identity(root))
    for value in texts:
        yield from (part for part in _parts(value) if part not in public)


def _root(text: str) -> Node | None:
    """The node of *text*, if that is one document that can be read."""
    data = text.encode()
    root, end = positions.document(data, 0) if len(positions.chunks(data)) == 1 else (None, -1)
    return root if end >= 0 else None


def _is_json_patch(root: Node) -> bool:
    """Whether *root* is a list of operations and nothing else."""
    return (
        root.kind == SEQUENCE
        and bool(root.children)
        and all(
            item.kind == MAPPING and _OPERATION.issuperset(key_of(key) for key, _ in item.pairs())
            for item in root.children
        )
    )


def _values(root: Node) -> Iterator[str]:
    """The scalars below *root*, but for keys."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.kind == SCALAR:
            yield node.text
        elif node.kind == MAPPING:
            pending += (value for _, value in node.pairs())
        elif node.kind == SEQUENCE:
            pending += node.children


def _identity(root: Node) -> Iterator[str]:
    """Which object the patch *root* is for, each part alone and with its key."""
    metadata = child(root, "metadata")
    holders = [(root, ("apiVersion", "kind"))]
    if metadata is not None and metadata[1].kind == MAPPING:
        holders.append((metadata[1], ("name", "namespace")))
    for holder, keys in holders:
        for key in keys:
            entry = child(holder, key)
            if entry is not None and entry[1].kind == SCALAR:
                yield from (entry[1].text, f"{key}: {entry[1].text}")


def _parts(text: str) -> Iterator[str]:
    """The lines of *text*, and what is assigned in them; user names in a cloud-config are no secret."""
    is_cloud_config = _CLOUD_CONFIG.match(text) is not None
    for line in text.splitlines():
        if is_cloud_config and _PUBLIC.match(line):
            continue
        whole = line.strip().strip("\"'`,{}[]").strip()
        value = _PART.sub("", line).strip().strip("\"'`,{}[]").strip()
        for part in (whole, value, *value.split(",")):
            if len(part) >= _LEAST and not _KEY.fullmatch(part):
                yield part


def file_names(reach: Reach) -> set[str]:
    """What the files of *reach* are called, without their folders, and these with the folder around each.

    A folder alone may be called as what is secret: then nobody knows which of both is meant.
    """
    every = (*reach.kustomizations, *reach.resources, *reach.others)
    folders = {os.path.dirname(file) for file in every}
    nested = ("/".join(folder.split("/")[-2:]) for folder in folders if "/" in folder.strip("/"))
    return {*map(os.path.basename, every), *(folder for folder in nested if ".." not in folder)}


def shortened(message: str, parts: Collection[str], most: int, names: Collection[str] = ()) -> str:
    """The beginning and the end of *message*, up to *most* characters, without any of *parts*.

    A part that is in one of the *names* of files may stay in that name.
    """
    message = _without_quotes(message)  # before it is cut: half of a quote is not known for one
    if len(message) <= most + _MARGIN:
        message = _concealed(message, parts, names)
        if len(message) <= most:
            return message
        return f"{message[: most // 2]} ... {message[-most // 2 :]}"
    half = most // 2
    first = _concealed(message[: half + _MARGIN], parts, names)[:half]
    last = _concealed(message[-half - _MARGIN :], parts, names)[-half:]
    return f"{first} ... {last}"


def _beside(message: str, names: Sequence[str], form: str) -> str:
    """*message* without *form*, but for where it is in one of *names*."""
    if not names:
        return message.replace(form, secrets.MASK)
    return names[0].join(_beside(part, names[1:], form) for part in message.split(names[0]))


def _without_quotes(message: str) -> str:
    message = _QUOTED_CONFIGURATION.sub(f"`{secrets.MASK}`", message)
    return _QUOTED_PATCH.sub(secrets.MASK, message)


def _concealed(message: str, parts: Collection[str], names: Collection[str]) -> str:
    message = _BYTES.sub(secrets.MASK, message)
    spellings = {form for part in parts for form in (part, json.dumps(part)[1:-1])}
    named = sorted((spelling for spelling in names if spelling in message), key=len, reverse=True)
    for form in sorted(
        (spelling for spelling in spellings if spelling in message), key=len, reverse=True
    ):
        around = [name for name in named if form in name]
        message = _beside(message, around, form) if around else message.replace(form, secrets.MASK)
    return "\n".join(secrets.masked(line) for line in message.split("\n"))
