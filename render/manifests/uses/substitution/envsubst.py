"""Variables in text, as Flux substitutes them after a build.

Upstream: fluxcd/pkg kustomize/kustomize_varsub.go, envsubst/parse/parse.go, envsubst/parse/scan.go, envsubst/funcs.go,
envsubst/path/match.go.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache

from render.model import patterns
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern

_DEEPEST = 32
_MOST_TRIMMED = 1_000
"""Characters of a value of which the beginning or the end is sought by a pattern."""
_LARGEST = 1 << 20
"""Characters of what one expression may become."""
_TOO_LARGE = f"an expression becomes more than {_LARGEST:,} characters"
_DEFAULTS = frozenset("=-?+")
_NAME = pattern("[_A-Za-z][_A-Za-z0-9]*")
_NUMBER = pattern(r"[+-]?0{0,999}[0-9]{1,18}")  # Python reads no more than thousands of digits


class SubstitutionError(Exception):
    """The text is none that Flux substitutes in, in its words, or it would become too much.

    *start*: where the expression begins that is wrong, if it is one.
    """

    start: int | None = None


class SubstitutionLimitError(SubstitutionError):
    """Flux may substitute in the text, and we do not: it would become, or take, too much."""


class _Value(NamedTuple):
    """What a part of an expression is; *is_known*: of every variable in it the value is known."""

    text: str
    is_known: bool = True


def substitute(
    text: str, variables: Mapping[str, str], *, is_complete: bool = True, most: int = sys.maxsize
) -> str:
    """*text* with each ``${...}`` in the place of which a value stands, and ``$$`` as one dollar.

    Of what becomes longer than *most* no more is made than shows it. A variable that is none of the *variables* is
    empty; where these are not *is_complete*, an expression with it stays as it is written. Raises SubstitutionError.
    """
    wrong = next((name for name in variables if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise SubstitutionError(f"{wrong!r} var name is invalid, must match '{_NAME.pattern}'")
    return _SubstitutedText(text, variables, is_complete=is_complete).all(most)


class _SubstitutedText:
    """One way through a text."""

    __slots__ = ("_at", "_depth", "_is_complete", "_text", "_variables")

    def __init__(self, text: str, variables: Mapping[str, str], *, is_complete: bool) -> None:
        self._text = text
        self._variables = variables
        self._is_complete = is_complete
        self._at = 0
        self._depth = 0

    def all(self, most: int) -> str:
        """The text with its values, up to *most* characters and a piece."""
        pieces: list[str] = []
        size = 0
        while self._at < len(self._text) and size <= most:
            size += len(pieces[-1]) if pieces else 0
            start = self._at
            if self._text.startswith("${", start):
                try:
                    value = self._expression()
                except SubstitutionError as error:
                    error.start = start
                    raise
                pieces.append(value.text if value.is_known else self._text[start : self._at])
                continue
            if self._text.startswith("$$", start):
                pieces.append("$")
                self._at += 2
                continue
            end = self._text.find("$", start + 1)
            self._at = end if end >= 0 else len(self._text)
            pieces.append(self._text[start : self._at])
        return "".join(pieces)

    def _expression(self) -> _Value:
        """The value of the expression that begins here."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SubstitutionLimitError("expressions in each other, deeper than any that is read")
        self._at += 2
        if self._peek() == "#":
            self._at += 1
            value = self._applied(self._variable("bad substitution"), _length, [])
        else:
            value = self._of_variable(self._variable("unable to parse variable name"))
        if self._peek() != "}":
            raise SubstitutionError("bad substitution")
        self._at += 1
        self._depth -= 1
        if len(value.text) > _LARGEST:
            raise SubstitutionLimitError(_TOO_LARGE)
        return value

    def _of_variable(self, variable: _Value) -> _Value:
        """The value of an expression that begins with the *variable*, up to its closing brace."""
        character = self._peek()
        if character == ":" and self._peek(1) not in _DEFAULTS:
            self._at += 1
            return self._applied(variable, _part, self._bounds())
        if character in {":", "="}:
            self._at += 1 if character == "=" else 2
            return self._applied(variable, _default, self._words())
        if character in {",", "^"}:
            return self._applied(variable, _CASES.get(self._operator(",^"), _default), [])
        if character == "/":
            return self._applied(variable, _REPLACING[self._operator("/", "/#%")], self._sides())
        if character in {"#", "%"}:
            function = _TRIMMING[self._operator(character)]
            return self._applied(variable, function, [self._argument("}")])
        if character != "}":
            raise SubstitutionError("missing closing brace")
        return variable

    def _variable(self, otherwise: str) -> _Value:
        start = self._at
        while (character := self._peek()) and (character.isalpha() or _is_in_names(character)):
            self._at += 1
        if self._at == start:
            raise SubstitutionError(otherwise)
        name = self._text[start : self._at]
        return _Value(self._variables.get(name, ""), self._is_complete or name in self._variables)

    def _operator(self, first: str, second: str = "") -> str:
        """One of the characters *first*, and one of *second* (of *first* again) if it follows."""
        operator = self._text[self._at]
        if self._peek(1) and self._peek(1) in (second or first):
            operator += self._peek(1)
        self._at += len(operator)
        return operator

    def _words(self) -> list[_Value]:
        """What stands in the place of an empty value: texts and expressions."""
        words: list[_Value] = []
        size = 0
        while self._peek() != "}":
            words.append(self._argument("}"))
            size += len(words[-1].text)
            if size > _LARGEST:
                raise SubstitutionLimitError(_TOO_LARGE)
        return words

    def _bounds(self) -> list[_Value]:
        """Where a part of a value begins, and how long it is."""
        bounds = [self._argument(":}")]
        if self._peek() != ":":
            return bounds
        while self._peek() == ":":
            self._at += 1
        return [*bounds, self._argument("}")]

    def _sides(self) -> list[_Value]:
        """What is replaced, and by what."""
        sought = self._argument("/", escapes=True)
        if self._peek() != "/":
            raise SubstitutionError("bad substitution")
        while self._peek() == "/":
            self._at += 1
        return [sought] if self._peek() == "}" else [sought, self._argument("}", escapes=True)]

    def _argument(self, ends: str, *, escapes: bool = False) -> _Value:
        """An expression, or the text up to one or to one of the characters *ends*: it is not empty."""
        if self._text.startswith("${", self._at):
            return self._expression()
        pieces: list[str] = []
        while (character := self._peek()) and not self._text.startswith("${", self._at):
            pair = character + self._peek(1)
            if escapes and pair in {"$$", "\\/", "\\\\"}:
                pieces.append(pair[1])
                self._at += 2
            elif character in ends:
                break
            else:
                pieces.append(character)
                self._at += 1
        if not pieces:
            raise SubstitutionError("unable to parse substitution within function")
        return _Value("".join(pieces))

    def _peek(self, further: int = 0) -> str:
        return self._text[self._at + further : self._at + further + 1]

    @staticmethod
    def _applied(variable: _Value, function: Callable[..., str], arguments: list[_Value]) -> _Value:
        """What *function* makes of *variable* with the *arguments*."""
        is_known = variable.is_known and all(argument.is_known for argument in arguments)
        texts = [argument.text for argument in arguments]
        return _Value(function(variable.text, *texts) if is_known else "", is_known)


def _is_in_names(character: str) -> bool:
    return character == "_" or character.isdecimal()


def _length(value: str) -> str:
    return str(len(value.encode()))


def _default(value: str, *words: str) -> str:
    return value or "".join(words)


def _part(value: str, offset: str, length: str = "") -> str:
    """The bytes of *value* from *offset* on; QUIRK(funcs.go): a number that is none leaves all of it."""
    if not _NUMBER.fullmatch(offset):
        return value
    data, start = value.encode(), int(offset)
    start = max(0, len(data) + start) if start < 0 else start
    end = len(data)
    if length:
        if not _NUMBER.fullmatch(length):
            return value
        end = min(end, start + int(length))
        if start < len(data) and end < start:
            raise SubstitutionError("a part of a value would have fewer than no characters")
    return data[start:end].decode("utf-8", "replace")


def _lower_first(value: str) -> str:
    return value[:1].lower() + value[1:]


def _upper_first(value: str) -> str:
    return value[:1].upper() + value[1:]


_CASES: Mapping[str, Callable[..., str]] = {
    ",": _lower_first,
    ",,": str.lower,
    "^": _upper_first,
    "^^": str.upper,
}


def _replaced(value: str, sought: str, by: str, count: int) -> str:
    most = value.count(sought) if count < 0 else count
    if len(value) + most * len(by) > _LARGEST:
        raise SubstitutionLimitError(_TOO_LARGE)
    return value.replace(sought, by, count)


def _replace_first(value: str, sought: str, by: str = "") -> str:
    return _replaced(value, sought, by, 1)


def _replace_all(value: str, sought: str, by: str = "") -> str:
    return _replaced(value, sought, by, -1)


def _replace_prefix(value: str, sought: str, by: str | None = None) -> str:
    is_replaced = by is not None and value.startswith(sought)
    return (by or "") + value[len(sought) :] if is_replaced else value


def _replace_suffix(value: str, sought: str, by: str | None = None) -> str:
    is_replaced = by is not None and value.endswith(sought)
    return value.removesuffix(sought) + (by or "") if is_replaced else value


_REPLACING: Mapping[str, Callable[..., str]] = {
    "/": _replace_first,
    "//": _replace_all,
    "/#": _replace_prefix,
    "/%": _replace_suffix,
}


def _without_prefix(value: str, pattern: str, *, is_shortest: bool) -> str:
    """*value* without what *pattern* matches of its beginning: at least one character, or all of it."""
    if len(value) > _MOST_TRIMMED:
        raise SubstitutionLimitError(
            f"more than {_MOST_TRIMMED:,} characters to be cut by a pattern"
        )
    matches = _matcher(pattern)
    lengths = range(1, len(value) + 1) if is_shortest else range(len(value), 0, -1)
    cut = next((length for length in lengths if matches(value[:length])), 0)
    return value[cut:]


@cache
def _matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a text matches *pattern*, whose ``*`` stands for any characters."""
    return patterns.named(re.sub(r"\[\^", "[!", pattern))


_TRIMMING: Mapping[str, Callable[..., str]] = {
    "#": lambda value, pattern: _without_prefix(value, pattern, is_shortest=True),
    "##": lambda value, pattern: _without_prefix(value, pattern, is_shortest=False),
    "%": lambda value, pattern: _without_prefix(value[::-1], pattern[::-1], is_shortest=True)[::-1],
    "%%": lambda value, pattern: _without_prefix(value[::-1], pattern[::-1], is_shortest=False)[
        ::-1
    ],
}
