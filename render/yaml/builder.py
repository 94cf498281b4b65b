"""libyaml's events into a plain tree, as go-yaml v2 builds it: anchors, merges, keys, and what is refused."""

import math

from render.diagnostics import codes
from render.diagnostics.codes import Code
from render.model import tree
from render.model.hints import Any
from render.yaml import libyaml, scalars
from render.yaml.budget import Aliases
from render.yaml.libyaml import ALIAS, END, FINISHED, MAPPING, SCALAR, SEQUENCE, Mark, Next

_OPEN: Any = object()
_NONE: Any = object()
_TEXT = 64  # characters that cost about as much as a value of their own


class UnbuildableError(Exception):
    """What is wrong with a document; without a *mark* the place has to be looked up (see `positions.bad_keys`)."""

    def __init__(self, code: Code, message: str, mark: Mark | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.mark = mark


def build(text: str, depth: int, aliases: Aliases) -> "Builder":
    """The document in *text*, nested up to *depth*, whose aliases are taken from *aliases*.

    Raises `UnbuildableError` and `libyaml.ERRORS`.
    """
    left = aliases.left

    def parse(text: str) -> Builder:
        aliases.left = left
        builder = Builder(text, depth, aliases)
        builder.build()
        return builder

    builder, changed = libyaml.tolerantly(text, parse)
    if changed:
        builder.body = libyaml.restored(builder.body)
        builder.altered = True
    return builder


class Builder:
    """Builds the one document of a text.

    After `build`: *body* is the value, None for an empty document; *mark* is where it stands (None for a plain scalar);
    *end* where the document's text ends (None: with the chunk); *dropped* where text begins that nobody reads;
    *ambiguous* whether a scalar means different things to kubectl and kustomize; *altered* whether for another reason
    the text does not say to everyone what *body* says.
    """

    def __init__(self, text: str, depth: int, aliases: Aliases) -> None:
        self.body: Any = None
        self.mark: Mark | None = None
        self.end: int | None = None
        self.dropped: Mark | None = None
        self.ambiguous = False
        self.altered = False
        self._get: Next = libyaml.events(text)
        self._depth = depth
        self._room = depth
        self._aliases = aliases
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[str, tuple[Any, int, int]] = {}

    def build(self) -> None:
        """Read the document; raises `UnbuildableError` and `libyaml.ERRORS`."""
        get = self._get
        get()
        if get() is FINISHED:
            return
        event = get()
        if event.__class__ is tuple:
            self.mark = event[3]
            event = self._special(event)
        self.body = event
        _, explicit, _, mark = get()
        if explicit:
            self.end = mark.index
            self.dropped = self._following(mark)
        else:
            get()  # what follows must be nothing: anything else is a syntax error

    def _following(self, end: Mark) -> Mark | None:
        try:
            return None if self._get() is FINISHED else end
        except libyaml.ERRORS:
            return end

    def _special(self, event: tuple[Any, ...]) -> Any:
        """The value that begins with *event*."""
        kind = event[0]
        if event[1] is None:
            if kind is MAPPING:
                return self._mapping(event)
            if kind is SEQUENCE:
                return self._sequence(event)
            return self._finite(event)
        if kind is ALIAS:
            return self._alias(event)
        value: Any
        if kind is SCALAR:
            value = self._finite(event)
        else:
            self._anchors[event[1]] = _OPEN
            value = self._mapping(event) if kind is MAPPING else self._sequence(event)
            if self._anchors[event[1]] is not _OPEN:
                return value  # the anchor was given away inside
        self._anchors[event[1]] = value
        return value

    def _descend(self, event: tuple[Any, ...]) -> None:
        self._room -= 1
        if self._room < 0:
            raise self._too_deep(event[3])

    def _too_deep(self, mark: Mark) -> UnbuildableError:
        message = f"nested deeper than {self._depth} levels"
        return UnbuildableError(codes.LIMIT_EXCEEDED, message, mark)

    def _sequence(self, event: tuple[Any, ...]) -> list[Any]:
        self._descend(event)
        get = self._get
        items = []
        while (item := get()) is not END:
            items.append(self._special(item) if item.__class__ is tuple else item)
        self._room += 1
        return items

    def _mapping(self, event: tuple[Any, ...]) -> dict[str, Any]:
        self._descend(event)
        get = self._get
        body: dict[str, Any] = {}
        merged: set[str] | None = None
        while (key := get()) is not END:
            if key.__class__ is not str:
                if key.__class__ is tuple and _is_merge(key):
                    merged = self._merge(body, merged, key[3])
                    continue
                key = self._key(key)
            if key in body:
                if not merged or key not in merged:
                    raise UnbuildableError(codes.DUPLICATE_KEY, "")
                merged.discard(key)
            value = get()
            body[key] = self._special(value) if value.__class__ is tuple else value
        self._room += 1
        return body

    def _key(self, event: Any) -> str:
        """The text of a key that is not plainly text."""
        value, mark = event, None
        if event.__class__ is tuple:
            mark = event[3]
            value = self._scalar(event) if event[:2] == (SCALAR, None) else self._special(event)
        if value.__class__ is not str:
            self.ambiguous = True  # kustomize takes text alone
        text = None if isinstance(value, dict | list) else scalars.key(value)
        if text is None:
            raise UnbuildableError(
                codes.YAML_SYNTAX, "a mapping key must be text, a number or a boolean", mark
            )
        return text

    def _finite(self, event: tuple[Any, ...]) -> scalars.Value:
        value = scalars.in_json(self._scalar(event))
        if isinstance(value, float) and not math.isfinite(value):
            raise UnbuildableError(
                codes.YAML_SYNTAX, "infinity and NaN are no JSON numbers", event[3]
            )
        return value

    def _scalar(self, event: tuple[Any, ...]) -> scalars.Value:
        _, _, tag, mark, text, plain = event
        if tag is not None:
            self.altered |= tag != "tag:yaml.org,2002:str"
            try:
                value = scalars.tagged(tag, text)
            except ValueError:
                raise UnbuildableError(
                    codes.YAML_SYNTAX, f"the value does not fit its tag {tag}", mark
                ) from None
            self.ambiguous |= value.__class__ is bool and scalars.kustomize(text) is not value
            return value
        if not plain:
            return str(text)
        value = scalars.resolved(text)
        self.ambiguous |= scalars.kustomize(text) != scalars.in_json(value)
        return value

    def _alias(self, event: tuple[Any, ...]) -> Any:
        _, anchor, _, mark = event
        value = self._anchors.get(anchor, _NONE)
        if value is _OPEN or value is _NONE:
            fault = "stands inside what it names" if value is _OPEN else "has no anchor before it"
            raise UnbuildableError(codes.YAML_SYNTAX, f"an alias {fault}", mark)
        known = self._sizes.get(anchor)
        # Counted where it is used, not wherever one might be.
        if known is None or known[0] is not value:
            known = self._sizes[anchor] = value, *_size(value)
        _, size, height = known
        self._aliases.left -= size
        if self._aliases.left < 0:
            self._aliases.is_exceeded = True
            message = f"aliases expand to more than {self._aliases.values:,} values"
            raise UnbuildableError(codes.LIMIT_EXCEEDED, message, mark)
        if height > self._room:
            raise self._too_deep(mark)
        return tree.copy(value)

    def _merge(self, body: dict[str, Any], merged: set[str] | None, mark: Mark) -> set[str]:
        """Merge the next value into *body*; the keys of it that came by merges alone (a later one may replace them)."""
        event = self._get()
        value = self._special(event) if event.__class__ is tuple else event
        sources = value if isinstance(value, list) and event[0] is SEQUENCE else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise UnbuildableError(
                codes.YAML_SYNTAX, "<< takes a mapping or a list of mappings", mark
            )
        merged = set() if merged is None else merged
        # QUIRK(go-yaml v2, decode.go): a merge replaces keys that stand before it; everyone else keeps those.
        for source in reversed(sources):
            for key in source:
                if key not in body:
                    merged.add(key)
                elif key not in merged:
                    self.altered = True
            body.update(source)
        return merged


def _is_merge(event: tuple[Any, ...]) -> bool:
    if event[0] is not SCALAR:
        return False
    _, _, tag, _, text, plain = event
    return bool(text == "<<" and (plain if tag is None else tag == "tag:yaml.org,2002:merge"))


def _size(value: Any) -> tuple[int, int]:
    """How many values there are in *value*, long texts counted as several, and how many levels."""
    if isinstance(value, str):
        return 1 + len(value) // _TEXT, 0
    if not isinstance(value, dict | list):
        return 1, 0
    size, height = 1, 0
    if isinstance(value, dict):
        size += sum(map(len, value)) // _TEXT
    for child in value.values() if isinstance(value, dict) else value:
        below, levels = _size(child)
        size += below
        height = max(height, levels)
    return size, height + 1
