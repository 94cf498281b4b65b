"""JSON that is the same to every reader and drives no terminal."""

import json
import re

from render.model.hints import Any
from render.model.regex import pattern

#: What the runners of GitHub, Azure Pipelines and TeamCity take for a command wherever it stands in a log; whether they
#: tell capital letters from small is theirs to change.
_COMMAND = pattern(r"(?i)##(vso|teamcity)?\[")
_PAIR = 0x10000
_UNPRINTABLE = pattern(r"[^\n -~]")


def dumps(document: Any, indent: int | None = None) -> str:
    """*document* as JSON; control characters, line separators, marks of direction and half pairs are escaped."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return without_commands(_UNPRINTABLE.sub(_escaped, text), "\\u005b")


def without_commands(text: str, bracket: str) -> str:
    """*text*, in which *bracket* stands for the bracket that makes something a command for whoever reads logs."""
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}{bracket}", text) if "##" in text else text


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    code = ord(character)
    if code < _PAIR:
        return f"\\u{code:04x}"
    code -= _PAIR
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
