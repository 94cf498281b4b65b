"""The nearest of known names, for messages about unknown ones."""

from collections.abc import Iterable

_NEAR = 0.65
"""Of the letters of both words, how many must agree: two of three do, three of five do not."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The name in *known* that *word* was probably meant to be, ``""`` where none is near; case does not count."""
    from difflib import get_close_matches

    by_fold = {name.casefold(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(word.casefold(), by_fold, n=1, cutoff=_NEAR)
    return by_fold[found[0]] if found else ""
