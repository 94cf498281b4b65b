"""One repository written in many ways: notations of a document, and documents over files, drawn by hypothesis."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from render.yaml import scalars, writer

Json = dict[str, Any]
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_/.@%+-]*(:[A-Za-z0-9_/.@%+-]+)*")


class Emitter:
    """YAML in a hand of its own: quotes, flow and block, anchors and comments as *draw* decides."""

    def __init__(self, draw: st.DrawFn, body: Json) -> None:
        self.flow = draw(st.booleans())
        self.anchors = draw(st.booleans())
        self.merge = draw(st.booleans())
        self.comments = draw(st.booleans())
        self.indented = draw(st.booleans())  # the dashes of lists
        self.quote = draw(st.sampled_from(["plain", "single", "double"]))
        self.seen: dict[str, str] = {}
        self.repeated = Counter(_containers(body)) if self.anchors else Counter[str]()

    def text(self, value: str) -> str:
        if (
            self.quote == "plain"
            and _PLAIN.fullmatch(value)
            and scalars.kubectl(value) == value == scalars.kustomize(value)
        ):
            return value
        if self.quote != "double" and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value, ensure_ascii=self.quote == "double")

    def scalar(self, value: Any) -> str:
        return self.text(value) if isinstance(value, str) else json.dumps(value)

    def alias(self, value: Any) -> tuple[str, bool]:
        """What stands before *value*, and whether it is all that stands there."""
        key = json.dumps(value)
        if self.repeated[key] < 2 or not value:
            return "", False
        if key in self.seen:
            return f"*{self.seen[key]}", True
        self.seen[key] = f"a{len(self.seen)}"
        return f"&{self.seen[key]} ", False

    def inline(self, value: Any) -> str:
        if not isinstance(value, dict | list):
            return self.scalar(value)
        before, whole = self.alias(value)
        if whole:
            return before
        if isinstance(value, list):
            return f"{before}[{', '.join(map(self.inline, value))}]"
        pairs = (f"{self.text(key)}: {self.inline(item)}" for key, item in value.items())
        return f"{before}{{{', '.join(pairs)}}}"

    def block(self, value: Any, indent: str) -> str:
        """What follows ``KEY:`` or ``-``, with its line break."""
        if not isinstance(value, dict | list) or not value or (self.flow and len(indent) > 2):
            return f" {self.inline(value)}\n"
        before, whole = self.alias(value)
        if whole:
            return f" {before}\n"
        head = f" {before.rstrip()}\n" if before else "\n"
        if isinstance(value, list):
            dash = indent if self.indented else indent[:-2]
            return head + "".join(f"{dash}-{self.block(item, dash + '  ')}" for item in value)
        return head + self.mapping(value, indent)

    def mapping(self, value: Json, indent: str) -> str:
        """The lines of a mapping; two thirds of it may come by way of ``<<``."""
        lines = f"{indent}# of {len(value)}\n" if self.comments else ""
        items = list(value.items())
        merged = dict(items[1:]) if self.merge and len(indent) > 2 and len(items) > 2 else {}
        for key, item in items[:1] if merged else items:
            lines += f"{indent}{self.text(key)}:{self.block(item, indent + '  ')}"
        if merged:
            lines += f"{indent}<<: {self.inline(merged)}\n"
        return lines


def _containers(value: Any) -> list[str]:
    if not isinstance(value, dict | list):
        return []
    children = value.values() if isinstance(value, dict) else value
    return [json.dumps(value), *(found for child in children for found in _containers(child))]


@st.composite
def notations(
    draw: st.DrawFn,
    body: Json,
    kinds: Sequence[str] = ("ours", "json", "indented", "drawn", "drawn", "drawn"),
) -> str:
    """*body* as a YAML document, without its separator."""
    kind = draw(st.sampled_from(kinds))
    if kind == "ours":
        return writer.dump(body)
    if kind == "drawn":
        return Emitter(draw, body).mapping(body, "")
    return json.dumps(body, indent=2 if kind == "indented" else None) + "\n"


def _kind_of_list(bodies: list[Json]) -> Json:
    kinds = {(body["apiVersion"], body["kind"]) for body in bodies}
    if len(kinds) == 1 and (version := next(iter(kinds)))[0].split("/")[0].endswith("kubevirt.io"):
        return {"apiVersion": version[0], "kind": f"{version[1]}List"}
    return {"apiVersion": "v1", "kind": "List"}


@st.composite
def files(draw: st.DrawFn, bodies: list[Json]) -> dict[str, bytes]:
    """*bodies* over files, in any order and grouping; some of them in Lists, some of those in Lists."""
    left = draw(st.permutations(bodies))
    found: dict[str, bytes] = {}
    while left:
        size = draw(st.integers(1, len(left)))
        taken, left = left[:size], left[size:]
        documents: list[Json] = list(taken)
        for _ in range(draw(st.integers(0, 2))):  # the second time around, a List of a List
            cut = draw(st.integers(0, len(documents)))
            wrapped = documents[cut:]
            if wrapped:
                documents = [*documents[:cut], {**_kind_of_list(wrapped), "items": wrapped}]
        folder = draw(st.sampled_from(["", "b/", "a/deep er/", "é/"]))
        name = f"{folder}{draw(st.sampled_from('zxm'))}{len(found)}"
        if len(documents) == 1 and draw(st.booleans()):
            found[f"{name}.json"] = json.dumps(
                documents[0], indent=draw(st.sampled_from([None, 1]))
            ).encode()
            continue
        text = draw(st.sampled_from(["", "---\n", "# all of it\n---\n"]))
        text += draw(st.sampled_from(["---\n", "...\n---\n", "---\n# next\n"])).join(
            draw(notations(document)) for document in documents
        )
        if draw(st.booleans()):
            text = text.replace("\n", "\r\n")
        mark = draw(st.sampled_from(["", "", "\ufeff"]))
        found[f"{name}.{draw(st.sampled_from(['yaml', 'yml']))}"] = (mark + text).encode()
    return found
