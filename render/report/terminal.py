"""Text for a terminal: lines no wider than it is, and colours."""

import os
import re
import shutil
from collections.abc import Iterator

BOLD, RED, GREEN, DIM = "1", "31", "32", "2"

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
#: A line of a manifest and the caret below it, whose columns mean something.
_EXCERPT = re.compile(r"\s+\d* +\| ")
#: Narrower than this, words are broken anyway.
_LEAST = 40


def is_coloured(stream: int) -> bool:
    """Whether *stream* is a terminal that wants colours."""
    return os.isatty(stream) and not os.environ.get("NO_COLOR")


def width(stream: int) -> int:
    """How many columns the terminal behind *stream* has, 0 where there is none."""
    return max(_LEAST, shutil.get_terminal_size().columns) if os.isatty(stream) else 0


def painted(text: str, style: str, *, colour: bool) -> str:
    """*text* in *style*, the numbers of an escape sequence, if in *colour*."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour and text else text


def fold(text: str, columns: int) -> str:
    """*text* with its lines broken at blanks to fit *columns*, the rest of each further to the right; 0 breaks none."""
    if not columns:
        return text
    return "".join(f"{part}\n" for line in text.splitlines() for part in _folded(line, columns))


def _folded(line: str, columns: int) -> Iterator[str]:
    if _length(line) <= columns or _EXCERPT.match(line):
        yield line
        return
    indent = len(line) - len(line.lstrip(" "))
    first, *words = line[indent:].split(" ")
    current = f"{' ' * indent}{first}"
    for word in words:
        if _length(current) + 1 + _length(word) > columns and current.strip():
            yield current.rstrip()
            current = f"{' ' * (indent + 4)}{word}"
        else:
            current = f"{current} {word}"
    yield current


def _length(text: str) -> int:
    """How many columns *text* takes."""
    return len(_STYLE.sub("", text))
