"""Patterns that others wrote, matched in time that grows with pattern and text alone: no way is tried twice.

A pattern becomes the automaton of Glushkov: a position for each character that it asks for, and for each position those
that may come after it. What cannot be said so (backreferences, looking around) Go's ``regexp`` does not know either.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from render.model.named_tuple import NamedTuple

_MOST_POSITIONS = 500
"""Of a pattern; a larger one, like one that is wrong, matches nothing."""
_MOST_STEPS = 5_000
"""Characters of a pattern that are read, those that are repeated each time."""
_DEEPEST = 50
_MOST_WORK = 500_000
"""Positions times characters; a text for which there would be more is not matched."""
_LONGEST_REPEAT = 1_000  # as in Go's regexp/syntax
_CLASSES = {"d": "09", "w": "09AZaz__", "s": "\t\n\f\f\r\r  "}
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class PatternError(Exception):
    """The pattern is none, or none that is matched here."""


class Characters(NamedTuple):
    """Those between pairs of *ends*, or all others."""

    ends: str
    is_negated: bool = False

    def has(self, character: str) -> bool:
        """Whether *character* is one of them."""
        ends = self.ends
        known = any(ends[n] <= character <= ends[n + 1] for n in range(0, len(ends), 2))
        return known is not self.is_negated


class PatternPart(NamedTuple):
    """A part of a pattern: whether it matches nothing at all, and the positions where it begins and ends, as bits."""

    is_nullable: bool
    first: int = 0
    last: int = 0


EMPTY = PatternPart(is_nullable=True)


class Automaton:
    """A pattern while it is put together, and afterwards."""

    __slots__ = ("_end", "_follow", "_start", "_tests", "_whole")

    def __init__(self) -> None:
        self._tests: list[Characters] = []
        self._follow: list[int] = []
        self._whole = EMPTY

    def character(self, test: Characters) -> PatternPart:
        """One of the characters *test*. Raises PatternError where these are too many."""
        if len(self._tests) >= _MOST_POSITIONS:
            raise PatternError
        bit = 1 << len(self._tests)
        self._tests.append(test)
        self._follow.append(0)
        return PatternPart(False, bit, bit)  # noqa: FBT003 - as the field says

    def sequence(self, part: PatternPart, other: PatternPart) -> PatternPart:
        """*part* and then the *other*."""
        self._join(part.last, other.first)
        return PatternPart(
            part.is_nullable and other.is_nullable,
            part.first | (other.first if part.is_nullable else 0),
            other.last | (part.last if other.is_nullable else 0),
        )

    def repeated(self, part: PatternPart) -> PatternPart:
        """*part* as often as may be, at least once."""
        self._join(part.last, part.first)
        return part

    def _join(self, before: int, after: int) -> None:
        for position in _bits(before):
            self._follow[position] |= after

    def of(self, whole: PatternPart) -> "Automaton":
        """The same, of which *whole* is the pattern."""
        self._whole = whole
        return self

    def matches(self, text: str) -> bool:
        """Whether the whole *text* is as the pattern says."""
        if len(text) * len(self._tests) > _MOST_WORK:
            return False
        if not text:
            return self._whole.is_nullable
        reachable, reached = self._whole.first, 0
        for character in text:
            reached = 0
            after = 0
            for position in _bits(reachable):
                if self._tests[position].has(character):
                    reached |= 1 << position
                    after |= self._follow[position]
            if not reached:
                return False
            reachable = after
        return reached & self._whole.last != 0


def _bits(positions: int) -> Iterator[int]:
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


def either(part: PatternPart, other: PatternPart) -> PatternPart:
    """*part* or the *other*."""
    return PatternPart(
        part.is_nullable or other.is_nullable, part.first | other.first, part.last | other.last
    )


@lru_cache(maxsize=256)
def regular(pattern: str) -> Automaton | None:
    """The automaton of a regular expression of Go that has to match a whole text; None where it is none, or too much.

    Of its syntax what stands for characters, with ``^`` at the beginning and ``$`` at the end.
    """
    reading = _Expression(pattern.removeprefix("^"))
    try:
        whole = reading.alternatives(0)
    except (PatternError, IndexError):
        return None
    return reading.automaton.of(whole) if reading.is_at_end() else None


class _Expression:
    """A regular expression while it is read."""

    __slots__ = ("_at", "_left", "_text", "automaton")

    def __init__(self, text: str) -> None:
        is_anchored = text.endswith("$") and not text.endswith("\\$")
        self._text = text[:-1] if is_anchored else text
        self._at = 0
        self._left = _MOST_STEPS
        self.automaton = Automaton()

    def is_at_end(self) -> bool:
        """Whether all of it was read."""
        return self._at == len(self._text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        self._left -= 1
        if self._left < 0:
            raise PatternError
        character = self._text[self._at]
        self._at += 1
        return character

    def alternatives(self, depth: int) -> PatternPart:
        """Sequences with ``|`` between them."""
        if depth > _DEEPEST:
            raise PatternError
        whole = self._sequence(depth)
        while self._peek() == "|":
            self._next()
            whole = either(whole, self._sequence(depth))
        return whole

    def _sequence(self, depth: int) -> PatternPart:
        whole = EMPTY
        while self._peek() not in {"", "|", ")"}:
            start = self._at
            part = self._atom(depth)
            whole = self.automaton.sequence(whole, self._quantified(part, start, depth))
        return whole

    def _quantified(self, part: PatternPart, start: int, depth: int) -> PatternPart:
        """*part*, which is read from *start* on, as often as what follows says."""
        sign = self._peek()
        if sign == "{":
            part = self._counted(part, start, depth)
        elif sign and sign in "*+?":
            self._next()
            part = part if sign == "?" else self.automaton.repeated(part)
            part = part if sign == "+" else part._replace(is_nullable=True)
        else:
            return part
        if self._peek() == "?":  # how much is taken first changes nothing for the whole
            self._next()
        if self._peek() and self._peek() in "*+?{":
            raise PatternError
        return part

    def _counted(self, part: PatternPart, start: int, depth: int) -> PatternPart:
        """*part* as often as ``{2}``, ``{2,}`` or ``{2,3}`` says; each time it is read again."""
        end = self._text.index("}", self._at) if "}" in self._text[self._at :] else -1
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if end < 0 or not low.isdecimal() or (high and not high.isdecimal()):
            raise PatternError  # to Go these are plain characters
        least, most = int(low[:9]), int(high[:9] or low[:9])
        if max(least, most) > _LONGEST_REPEAT or most < least:
            raise PatternError
        whole = part if least else part._replace(is_nullable=True)
        for number in range(1, max(most, 1)):
            self._at = start
            again = self._atom(depth)
            optional = number >= least
            whole = self.automaton.sequence(
                whole, again._replace(is_nullable=True) if optional else again
            )
            part = again
        if comma and not high:
            self.automaton.repeated(part)
        self._at = end + 1
        return whole if most or (comma and not high) else EMPTY

    def _atom(self, depth: int) -> PatternPart:
        character = self._next()
        if character == "(":
            if self._peek() == "?":
                self._flags()
            inner = self.alternatives(depth + 1)
            if self._next() != ")":
                raise PatternError
            return inner
        if character in "*+?{^$":
            raise PatternError
        if character == "[":
            return self.automaton.character(self._class())
        if character == ".":
            return self.automaton.character(Characters("\n\n", is_negated=True))
        if character == "\\":
            return self.automaton.character(_escaped(self._next()))
        return self.automaton.character(Characters(character * 2))

    def _flags(self) -> None:
        """``?:``, the one of what may follow on a bracket that changes nothing."""
        if self._text[self._at : self._at + 2] != "?:":
            raise PatternError
        self._next()
        self._next()

    def _class(self) -> Characters:
        is_negated = self._peek() == "^"
        if is_negated:
            self._next()
        ends = ""
        while (character := self._next()) != "]" or not ends:
            if character == "[" and self._peek() == ":":
                raise PatternError
            is_plain = character != "\\"
            low = Characters(character * 2) if is_plain else _escaped(self._next())
            is_range = self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]"
            if is_range and not low.is_negated and low.ends[0] == low.ends[-1]:
                self._next()
                high = self._next()
                if high == "\\":
                    high = _escaped(self._next()).ends[0]
                if high < low.ends[0]:
                    raise PatternError
                ends += low.ends[0] + high
            elif low.is_negated:
                raise PatternError
            else:
                ends += low.ends
        return Characters(ends, is_negated)


def _escaped(character: str) -> Characters:
    """What a backslash and *character* stand for. Raises PatternError for what is no single character."""
    if character.lower() in _CLASSES:
        return Characters(_CLASSES[character.lower()], is_negated=character.isupper())
    if character in _ESCAPES:
        return Characters(_ESCAPES[character] * 2)
    if character.isalnum():
        raise PatternError
    return Characters(character * 2)


Test = Characters | None
"""What a character of a file name has to be, None for any number of characters."""


def automaton_of(tests: Iterator[Test], anything: Characters) -> Automaton | None:
    """The automaton of *tests* in a row, of which None is any number of *anything*; None where that is too much."""
    automaton = Automaton()
    whole = EMPTY
    try:
        for test in tests:
            part = automaton.character(test or anything)
            if test is None:
                part = automaton.repeated(part)._replace(is_nullable=True)
            whole = automaton.sequence(whole, part)
    except PatternError:
        return None
    return automaton.of(whole)


@lru_cache(maxsize=256)
def named(pattern: str) -> Callable[[str], bool]:
    """Whether the name of a file matches *pattern*, as in a .gitignore: ``*``, ``?`` and ``[a-z]``, ``[!a]``.

    Python looks but once for what stands between two stars, and a hundred times as fast as an automaton of ours.
    """
    if "*" not in pattern and "?" not in pattern and "[" not in pattern:
        return pattern.__eq__
    tests = list(_name_tests(pattern))
    if len(tests) > _MOST_POSITIONS:
        return _never
    pieces = [""]
    for test in tests:
        if test is not None:
            pieces[-1] += _in_re(test)
        elif pieces[-1] or len(pieces) == 1:
            pieces.append("")
    first, *others = pieces
    # What is found first is best: no other place of it leaves more to what follows.
    found = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    end = f".*{others[-1]}" if others else ""
    whole = re.compile(f"(?s:{first}{found}{end})").fullmatch
    most = _MOST_WORK // len(tests)
    return lambda text: len(text) <= most and whole(text) is not None


def _in_re(test: Characters) -> str:
    """*test* as Python's ``re`` writes it."""
    ends = test.ends
    if not ends:
        return "." if test.is_negated else "(?!)"
    ranges = (
        f"{re.escape(low)}-{re.escape(high)}"
        for low, high in zip(ends[::2], ends[1::2], strict=True)
    )
    return f"[{'^' if test.is_negated else ''}{''.join(ranges)}]"


def _never(_text: str) -> bool:
    return False


def _name_tests(pattern: str) -> Iterator[Test]:
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            yield None
        elif character == "?":
            yield Characters("", is_negated=True)
        elif (
            character == "["
            and (end := pattern.find("]", at + 1 + (pattern[at : at + 1] in "!^"))) > 0
        ):
            inside = pattern[at:end]
            is_negated = inside[0] in "!^"
            yield Characters(_ends(inside[is_negated:]), is_negated)
            at = end + 1
        else:
            yield Characters(character * 2)


def _ends(inside: str) -> str:
    """The pairs of ends of what stands between brackets."""
    ends, at = "", 0
    while at < len(inside):
        is_range = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        high = inside[at + 2] if is_range else inside[at]
        ends += inside[at] + high if inside[at] <= high else ""
        at += 3 if is_range else 1
    return ends
