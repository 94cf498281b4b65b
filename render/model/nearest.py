"""The nearest of known names, for messages about unknown ones."""

from collections.abc import Iterable
from functools import lru_cache
from operator import eq

_NEAR = 0.65
"""Of the letters of both words, how many must agree: two of three do, three of five do not."""
_LONGEST = 64
_SHORTEST = 3
_SHORTEST_OTHER = 5
"""Letters of the word in which a slip counts: fewer are as often told apart by one letter on purpose (east, west)."""
_OF_CLASS = "ClassName"
"""What names the class of something is not that: ``storage`` holds an amount, and ``storageClassName`` none."""
_SLIPS = 2
"""So many letters are left out, added, replaced, or exchanged with the next in a name that is near."""
_FEW = 4
_SOME = 200


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str:
    """The name in *known* that *word* was probably meant to be, ``""`` where none is near; case does not count."""
    if len(word) > _LONGEST:
        return ""
    from difflib import get_close_matches

    known, folded = tuple(known), word.casefold()
    of_class = f"{word}{_OF_CLASS}" if word.islower() else ""
    letters, length = _letters(folded), len(folded)
    likely: list[tuple[float, int, str]] = []
    for index, (name, other, name_letters) in enumerate(_folded(known)):
        # No more can agree than is left without the letters that only one of them has.
        most = min(
            length - (letters & ~name_letters).bit_count(),
            len(name) - (name_letters & ~letters).bit_count(),
        )
        agreement = 2 * most / ((length + len(name)) or 1)
        if agreement >= cutoff and other != of_class:
            likely.append((-agreement, index, other))
    by_fold: dict[str, str] = {}
    # Comparing letter by letter takes a hundred times as long: of those with as many letters in common, the ones that
    # have most of them in the same place.
    best = sorted(likely)[:_SOME]
    best.sort(key=lambda row: (row[0], -sum(map(eq, folded, row[2].casefold()))))
    for _, _, other in best[:_FEW]:
        by_fold.setdefault(other.casefold(), other)
    matches = get_close_matches(folded, by_fold, n=1, cutoff=cutoff)
    match = by_fold[matches[0]] if matches else ""
    if match and match[:1].casefold() != folded[:1]:  # usbHostDevices is usb, not pciHostDevices
        return next((name for name in sorted(known) if _begins(word, name)), match)
    return match


def _begins(word: str, name: str) -> bool:
    """Whether *word* is *name*, and one word more."""
    return len(name) >= _SHORTEST and word.startswith(name) and word[len(name) :][:1].isupper()


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The cure for *word*, which is none of *known*: the one that was probably meant, else what *otherwise* says."""
    near = nearest(word, known)
    return f"did you mean {near}?" if near else otherwise


def is_slip(name: str, other: str) -> bool:
    """Whether one of two names is the other with a slip: a letter too much, too few, another one, or two in turn.

    Or in another case. Numbers are no slips, nor are single letters that count what is alike (``disk-a``, ``disk-b``).
    """
    if name != other and name.casefold() == other.casefold():
        return True
    begin = 0
    while begin < min(len(name), len(other)) and name[begin] == other[begin]:
        begin += 1
    end = 0
    while end < min(len(name), len(other)) - begin and name[-1 - end] == other[-1 - end]:
        end += 1
    first, two = name[begin : len(name) - end], other[begin : len(other) - end]
    if any(character.isdigit() for character in first + two) or first == two:
        return False
    is_turned = len(first) == len(two) == 2 and first == two[::-1]  # noqa: PLR2004 - two letters
    if not is_turned and max(len(first), len(two)) > 1:
        return False
    if "-" in first + two or "." in first + two:
        return min(len(name), len(other)) > _SHORTEST_OTHER
    words = (_word(name, begin, len(first)), _word(other, begin, len(two)))
    is_other_letter = len(first) == len(two) == 1
    return min(map(len, words)) >= (_SHORTEST_OTHER if is_other_letter else _SHORTEST)


def is_near(text: str, other: str) -> bool:
    """Whether *text* becomes *other* by two slips at most (the restricted distance of Damerau and Levenshtein)."""
    if abs(len(text) - len(other)) > _SLIPS:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(text, 1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and text[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1] <= _SLIPS


def _word(name: str, begin: int, length: int) -> str:
    """The word of *name* in which *length* characters from *begin* on stand."""
    start = max(name.rfind("-", 0, begin), name.rfind(".", 0, begin)) + 1
    ends = [
        at for at in (name.find("-", begin + length), name.find(".", begin + length)) if at >= 0
    ]
    return name[start : min(ends, default=len(name))]


@lru_cache(maxsize=32)
def _folded(known: tuple[str, ...]) -> list[tuple[str, str, int]]:
    """Each name in lower case, as it is, and its letters."""
    return [(name.casefold(), name, _letters(name.casefold())) for name in sorted(known)]


def _letters(text: str) -> int:
    letters = 0
    for character in text:
        letters |= 1 << (ord(character) & 127)
    return letters
