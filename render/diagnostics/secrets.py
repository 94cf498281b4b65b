"""What a message or a quoted source line must not show: cloud-init data, passwords, the content of Secrets."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from render.model.fieldpath import FieldPath

MASK = "[redacted]"
_SECRET_KEY = re.compile(
    r"(?:user_?-?data|network_?-?data)(?:base64)?$|passw(?:or)?d$|passphrase$|chpasswd$|token$"
    r"|(?:private|secret|api|access|encryption)[_-]?key$|stringdata$",
    re.IGNORECASE,
)
# Possessive, and from the beginning of a word only: a line may have millions of characters.
_KEY = re.compile(r"""["']?(?<![\w.-])([\w.-]++)["']?\s*+:(?=\s|$|["'{\[])""")
_ENTRY = re.compile(r"^(\s*)(?:-\s+)*" + _KEY.pattern)
_DATA = frozenset({"data", "stringData"})
_SECRET_KIND = re.compile(r"""^["']?kind["']?\s*:\s*["']?Secret\b""")


def is_secret_key(key: str) -> bool:
    """Whether the value under *key* is not for other eyes (a reference such as ``secretName`` is not one)."""
    return _SECRET_KEY.search(key) is not None


def is_secret(path: FieldPath, kind: str = "") -> bool:
    """Whether the field at *path* of an object of *kind* is, or lies within, something secret."""
    if kind == "Secret" and path[:1] in (("data",), ("stringData",)):
        return True
    return any(isinstance(step, str) and is_secret_key(step) for step in path)


class Masked:
    """The lines of a YAML file, with what is secret in them hidden.

    Works on the text alone, since a file with a syntax error has no fields: a line is hidden when it stands,
    by indentation, below a secret key or in the data of a Secret; else the rest of it after such a key is.
    """

    __slots__ = ("_hidden", "_lines", "_starts")

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._starts = [0, *(n for n, line in enumerate(lines) if line.startswith("---") and n)]
        self._hidden: dict[int, frozenset[int]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """Line *number*, from 1."""
        line = self._lines[number - 1]
        if number - 1 in self._hidden_around(number - 1):
            return line[: _indent(line)] + MASK
        for match in _KEY.finditer(line):
            if is_secret_key(match[1]) and line[match.end() :].strip():
                return f"{line[: match.end()]} {MASK}"
        return line

    def _hidden_around(self, number: int) -> frozenset[int]:
        """Which lines of the document with line *number* are hidden, from 0; looked at once a document."""
        index = bisect_right(self._starts, number)
        start = self._starts[index - 1]
        if start not in self._hidden:
            end = self._starts[index] if index < len(self._starts) else len(self._lines)
            self._hidden[start] = frozenset(start + n for n in _hidden(self._lines[start:end]))
        return self._hidden[start]


def _hidden(document: Sequence[str]) -> Iterator[int]:
    is_a_secret = any(map(_SECRET_KIND.match, document))
    # The lines above by indent, and whether what is further in is hidden; a blank line belongs to what precedes it.
    above: list[tuple[int, bool]] = []
    for number, line in enumerate(document):
        indent = _indent(line)
        while above and line.strip() and above[-1][0] >= indent:
            above.pop()
        hidden = bool(above) and above[-1][1]
        if hidden:
            yield number
        if line.strip():
            entry = _ENTRY.match(line)
            hides = entry is not None and (
                is_secret_key(entry[2]) or (is_a_secret and entry[2] in _DATA)
            )
            above.append((indent, hidden or hides))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
