"""What a message or a quoted source line must not show: cloud-init data, passwords, the content of Secrets."""

import re

from render.model.fieldpath import FieldPath

MASK = "[redacted]"
_SECRET_KEY = re.compile(
    r"(?:user_?-?data|network_?-?data)(?:base64)?$|passw(?:or)?d$|passphrase$|chpasswd$|token$"
    r"|(?:private|secret|api|access|encryption)[_-]?key$|stringdata$",
    re.IGNORECASE,
)
_KEY = re.compile(r"""["']?([A-Za-z_][\w.-]*)["']?\s*:(?=\s|$|["'{\[])""")
_ENTRY = re.compile(r"^(\s*)(?:-\s+)*" + _KEY.pattern)
_SECRET_KIND = re.compile(r"""^["']?kind["']?\s*:\s*["']?Secret\b""")


def is_secret_key(key: str) -> bool:
    """Whether the value under *key* is not for other eyes (a reference such as ``secretName`` is not one)."""
    return _SECRET_KEY.search(key) is not None


def is_secret(path: FieldPath, kind: str = "") -> bool:
    """Whether the field at *path* of an object of *kind* is, or lies within, something secret."""
    if kind == "Secret" and path[:1] in (("data",), ("stringData",)):
        return True
    return any(isinstance(step, str) and is_secret_key(step) for step in path)


def masked(lines: list[str], number: int) -> str:
    """Line *number* (from 1) of the YAML file *lines*, with what is secret in it hidden.

    Works on the text alone, since a file with a syntax error has no fields: a line is hidden when it stands,
    by indentation, below a secret key or in the data of a Secret; else the rest of it after such a key is.
    """
    line = lines[number - 1]
    if any(is_secret_key(key) for key in _ancestors(lines, number)) or _in_secret(lines, number):
        return line[: len(line) - len(line.lstrip())] + MASK
    for match in _KEY.finditer(line):
        if is_secret_key(match[1]) and line[match.end() :].strip():
            return f"{line[: match.end()]} {MASK}"
    return line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ancestors(lines: list[str], number: int) -> list[str]:
    """The keys under which line *number* stands, innermost first; a blank line belongs to what precedes it."""
    limit = _indent(lines[number - 1]) if lines[number - 1].strip() else 1_000_000
    keys = []
    for above in range(number - 2, -1, -1):
        line = lines[above]
        if line.startswith("---") or limit == 0:
            break
        if not line.strip() or _indent(line) >= limit:
            continue
        limit = _indent(line)
        if entry := _ENTRY.match(line):
            keys.append(entry[2])
    return keys


def _in_secret(lines: list[str], number: int) -> bool:
    """Whether line *number* is within ``data`` of a document whose kind is Secret."""
    if not {"data", "stringData"} & set(_ancestors(lines, number)):
        return False
    start = next((i for i in range(number - 1, 0, -1) if lines[i - 1].startswith("---")), 0)
    for line in lines[start:]:
        if line.startswith("---"):
            return False
        if _SECRET_KIND.match(line):
            return True
    return False
