"""libyaml, through the extension module of ``ruamel.yaml.clib``: the one place that knows how it is reached.

The extension builds every event by calling a class that it takes, by name, from ruamel's pure Python modules. Importing
those costs 20 ms and their constructors twice the time of the parsing itself, so it is imported with stand-ins for
them, which make events in the form that the reader wants. Afterwards the extension is hidden again: a later ``import
ruamel.yaml`` finds none and works in pure Python, which is all that its round trip uses. Where ruamel was imported
first, or we are a library in somebody else's process, its own events are translated: slower, and otherwise the same.

An event is one of these:

* the value of a scalar that needs no second look: a quoted one, or a plain one of `scalars.unambiguous`;
* `END`, where a mapping or sequence ends;
* a tuple that begins with `SCALAR`, `ALIAS`, `MAPPING`, `SEQUENCE`, `CLOSE` or `OTHER`.
"""

import importlib
import io
import sys
from collections.abc import Callable
from types import ModuleType

from render.model.hints import Any, Final, Protocol, TypeVar
from render.model.named_tuple import NamedTuple
from render.yaml import scalars

SCALAR: Final = 0
"""``(SCALAR, anchor, tag, mark, text, plain)``, of `marked_events` with the mark of its end behind that."""
ALIAS: Final = 1
"""``(ALIAS, anchor, None, mark)``."""
MAPPING: Final = 2
"""``(MAPPING, anchor, tag, mark)``; the same for a sequence."""
SEQUENCE: Final = 3
CLOSE: Final = 4
"""The end of a document: ``(CLOSE, explicit, None, mark)``."""
OTHER: Final = 5
"""The start of the stream or of a document."""
END: Final = object()
FINISHED: Final = object()
"""The end of the stream."""

Next = Callable[[], Any]
_T = TypeVar("_T")
_MARKED: Final = "marked"
_COLON: Final = "\ue03a"  # a private character: nobody else gives it a meaning
_BLANKS: Final = " \t\r\n\x85\u2028\u2029"
_WORD_ENDS: Final = _BLANKS + ",?[]{}"
_PATIENCE: Final = 4_000_000  # characters: a third of a second of parsing again


class Mark(Protocol):
    """A position, all from 0, in characters."""

    index: int
    line: int
    column: int


class SyntaxFault(NamedTuple):
    """What libyaml refuses: its own words, which never quote the text, and the place, from 0.

    *since*: the line and column at which that began which could not be read to its end.
    """

    words: str
    line: int
    column: int
    since: tuple[int, int] | None = None


class _ReaderError(Exception):
    def __init__(
        self, _name: str, position: int, _character: int, _encoding: str, reason: str
    ) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


class _MarkedError(Exception):
    def __init__(self, context: str | None, place: Mark | None, problem: str, mark: Mark) -> None:
        super().__init__(problem)
        self.context = context
        self.context_mark = place
        self.problem = problem
        self.problem_mark = mark


def _scalar(  # noqa: PLR0913, PLR0917 - as the extension calls it
    anchor: str | None, tag: str | None, _implicit: object, text: str, start: Any, end: object, style: str
) -> Any:  # fmt: skip
    # The stream's name is the only thing of ours that the extension hands on to an event.
    if start.name is _MARKED:
        return (SCALAR, anchor, tag, start, text, not style, end)
    if anchor is None and tag is None:
        if style:
            return text
        try:
            return scalars.UNAMBIGUOUS[text]
        except KeyError:
            value = scalars.unambiguous(text)
            if value is not scalars.AMBIGUOUS:
                return value
    return (SCALAR, anchor, tag, start, text, not style)


def _alias(anchor: str, start: Mark, _end: object) -> Any:
    return (ALIAS, anchor, None, start)


def _mapping(
    anchor: str | None, tag: str | None, _implicit: object, start: Mark, *_: object
) -> Any:
    return (MAPPING, anchor, tag, start)


def _sequence(
    anchor: str | None, tag: str | None, _implicit: object, start: Mark, *_: object
) -> Any:
    return (SEQUENCE, anchor, tag, start)


_STAND_INS: dict[str, Callable[..., Any]] = {
    "ReaderError": _ReaderError,
    "ScalarEvent": _scalar,
    "AliasEvent": _alias,
    "MappingStartEvent": _mapping,
    "SequenceStartEvent": _sequence,
    "MappingEndEvent": lambda _start, _end: END,
    "SequenceEndEvent": lambda _start, _end: END,
    "StreamStartEvent": lambda start, *_: (OTHER, None, None, start),
    "DocumentStartEvent": lambda start, *_: (OTHER, None, None, start),
    "DocumentEndEvent": lambda start, _end, explicit: (CLOSE, explicit, None, start),
    "StreamEndEvent": lambda _start, _end: FINISHED,
}
_COLLECTION = ("anchor", "ctag", "implicit", "start_mark", "end_mark", "flow_style")
_FIELDS = {
    "ScalarEvent": ("anchor", "ctag", "implicit", "value", "start_mark", "end_mark", "style"),
    "AliasEvent": ("anchor", "start_mark", "end_mark"),
    "MappingStartEvent": _COLLECTION,
    "SequenceStartEvent": _COLLECTION,
    "DocumentEndEvent": ("start_mark", "end_mark", "explicit"),
}
_SPAN = ("start_mark", "end_mark")
_PARTS = (
    "error", "reader", "scanner", "parser", "composer", "constructor",
    "emitter", "serializer", "representer", "tokens", "events", "nodes",
)  # fmt: skip


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    # What is neither listed nor an exception belongs to ways of reading that are not used here.
    module.__getattr__ = lambda attribute: _STAND_INS.get(attribute, _MarkedError)  # type: ignore[method-assign]
    return module


def _load() -> tuple[Any, bool]:
    """The extension, and whether its events are ours."""
    if "render.frontends.dispatch" not in sys.modules:  # a library: the extension is its host's too
        importlib.import_module("ruamel.yaml")
    if "ruamel.yaml" in sys.modules or "_ruamel_yaml" in sys.modules:
        return importlib.import_module("_ruamel_yaml"), False
    names = ("ruamel", "ruamel.yaml", *(f"ruamel.yaml.{part}" for part in _PARTS))
    hidden = {name: sys.modules.get(name) for name in names}
    sys.modules.update({name: _stand_in(name) for name in hidden})
    try:
        extension = importlib.import_module("_ruamel_yaml")
    finally:
        for name, module in hidden.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module
    sys.modules["_ruamel_yaml"] = None  # type: ignore[assignment]
    return extension, True


_EXTENSION, _OURS = _load()
ERRORS: tuple[type[Exception], ...] = (
    _EXTENSION.ReaderError,
    _EXTENSION.ScannerError,
    _EXTENSION.ParserError,
)
"""What a `Next` raises; `problem` explains it."""


class _Marked(io.BytesIO):
    name = _MARKED


def events(text: str) -> Next:
    """A function that returns the next event of *text* each time it is called."""
    return _next(_EXTENSION.CParser(text))


def marked_events(text: str) -> Next:
    """The same, but every scalar comes as a tuple with its mark."""
    return _next(_EXTENSION.CParser(_Marked(text.encode())))


def _next(parser: Any) -> Next:
    get: Next = parser.get_event
    if _OURS:
        return get

    def translated() -> Any:
        event = get()
        name = type(event).__name__
        return _STAND_INS[name](*(getattr(event, field) for field in _FIELDS.get(name, _SPAN)))

    return translated


def problem(error: Any, text: str) -> SyntaxFault:
    """What *error*, one of `ERRORS`, says about *text*, and where."""
    if isinstance(error, _EXTENSION.ReaderError):
        before = text.encode()[: error.position].decode(errors="ignore")
        return SyntaxFault(error.reason, before.count("\n"), len(before) - before.rfind("\n") - 1)
    words = f"{error.problem} {error.context}" if error.context else error.problem
    mark, since = error.problem_mark, error.context_mark
    began = (since.line, since.column) if since else None
    return SyntaxFault(words, mark.line, mark.column, began)


def tolerantly(text: str, parse: Callable[[str], _T]) -> tuple[_T, bool]:
    """What *parse* makes of *text*, and whether that needs `restored`; raises `ERRORS` where it does.

    Inside brackets libyaml refuses a colon within a bare word (``[nginx:1.25, 10.0.0.1:80]``), go-yaml does not. On
    such an error the colons of the word give way to a private character, and the text is parsed again; *parse* must be
    ready for that.
    """
    original, patience = text, _PATIENCE
    while True:
        try:
            return parse(text), text is not original
        except ERRORS as error:
            patience -= len(text)
            changed = None if _COLON in original or patience < 0 else _without_colons(error, text)
            if changed is None:
                raise
            text = changed


def _without_colons(error: Any, text: str) -> str | None:
    if isinstance(error, _EXTENSION.ReaderError) or error.problem != "found unexpected ':'":
        return None
    start = end = error.problem_mark.index
    while text[end] not in _WORD_ENDS:
        end += 1
    if text[end] in _BLANKS and text[end - 1] == ":":
        end -= 1  # the colon behind a key
    return text[:start] + text[start:end].replace(":", _COLON) + text[end:]


def restored(value: Any) -> Any:
    """*value*, a tree or a text, with its colons back."""
    if isinstance(value, str):
        return value.replace(_COLON, ":")
    if isinstance(value, dict):
        return {restored(key): restored(item) for key, item in value.items()}
    return [restored(item) for item in value] if isinstance(value, list) else value
