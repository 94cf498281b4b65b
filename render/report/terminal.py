"""Text for a terminal: lines no wider than it is, and colours."""

import os
import re
from collections.abc import Iterator

from render.diagnostics.diagnostic import Severity

BOLD, RED, GREEN, YELLOW, CYAN, DIM = "1", "31", "32", "33", "36", "2"
#: What stands around a quoted line, and the heads of what can be done.
GUTTER, HEAD = "1;34", "1;36"
SEVERITY_STYLES = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}

#: How the lines of a patch begin, the longer ones first.
_PATCHED = {"+++": BOLD, "---": BOLD, "@@": CYAN, "+": GREEN, "-": RED}
_STYLE = r"\x1b\[[0-9;]*m"
#: A line of a manifest and the caret below it, whose columns mean something.
_EXCERPT = r"\s+\d* +\| "
#: Narrower than this, words are broken anyway.
_LEAST = 40


def is_coloured(stream: int) -> bool:
    """Whether *stream* is a terminal that wants colours."""
    return os.isatty(stream) and not os.environ.get("NO_COLOR")


def width(stream: int) -> int:
    """How many columns the terminal behind *stream* has, 0 where there is none."""
    if not os.isatty(stream):
        return 0
    import shutil

    return max(_LEAST, shutil.get_terminal_size().columns)


def painted(text: str, style: str, *, colour: bool) -> str:
    """*text* in *style*, the numbers of an escape sequence, if in *colour*."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour and text and style else text


def painted_patch(text: str, *, colour: bool) -> str:
    """*text*, a unified diff, with its lines as git paints them, if in *colour*."""
    if not colour:
        return text
    return "".join(
        f"{painted(line, _patch_style(line), colour=True)}\n"
        for line in text.removesuffix("\n").split("\n")
    )


def _patch_style(line: str) -> str:
    return next((style for start, style in _PATCHED.items() if line.startswith(start)), "")


def fold(text: str, columns: int) -> str:
    """*text* with its lines broken at blanks to fit *columns*, the rest of each further to the right; 0 breaks none."""
    if not columns:
        return text
    return "".join(f"{part}\n" for line in text.splitlines() for part in _folded(line, columns))


def _folded(line: str, columns: int) -> Iterator[str]:
    if _length(line) <= columns or re.match(_EXCERPT, re.sub(_STYLE, "", line)):
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
    return len(re.sub(_STYLE, "", text))
