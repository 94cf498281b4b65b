"""The nearest of known names, for messages about unknown ones."""

from collections.abc import Iterable
from functools import lru_cache
from operator import eq

_NEAR = 0.65
"""Of the letters of both words, how many must agree: two of three do, three of five do not."""
_LONGEST = 64
_SHORTEST = 3
_FEW = 4
_SOME = 200


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str:
    """The name in *known* that *word* was probably meant to be, ``""`` where none is near; case does not count."""
    if len(word) > _LONGEST:
        return ""
    from difflib import get_close_matches

    known, folded = tuple(known), word.casefold()
    letters, length = _letters(folded), len(folded)
    likely: list[tuple[float, int, str]] = []
    for index, (name, other, name_letters) in enumerate(_folded(known)):
        # No more can agree than is left without the letters that only one of them has.
        most = min(
            length - (letters & ~name_letters).bit_count(),
            len(name) - (name_letters & ~letters).bit_count(),
        )
        agreement = 2 * most / ((length + len(name)) or 1)
        if agreement >= cutoff:
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
    """Whether both are one but for a letter too many, two in the wrong order, or dashes: web-1 and web-2 are two."""
    if name.replace("-", "") == other.replace("-", ""):
        return True
    short, long = sorted((name, other), key=len)
    if len(long) == len(short):
        return any(
            short[:at] + short[at + 1 : at + 2] + short[at : at + 1] + short[at + 2 :] == long
            for at in range(len(short) - 1)
            if short[at : at + 2].isalpha()
        )
    return len(long) == len(short) + 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(len(long)) if long[at].isalpha()
    )


@lru_cache(maxsize=32)
def _folded(known: tuple[str, ...]) -> list[tuple[str, str, int]]:
    """Each name in lower case, as it is, and its letters."""
    return [(name.casefold(), name, _letters(name.casefold())) for name in sorted(known)]


def _letters(text: str) -> int:
    letters = 0
    for character in text:
        letters |= 1 << (ord(character) & 127)
    return letters
