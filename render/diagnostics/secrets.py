"""What a message or a quoted source line must not show: cloud-init data, passwords, the content of Secrets."""

import re
from functools import lru_cache

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.regex import pattern

MASK = "[redacted]"
_ASSIGNING = (":", "=", "\n", '"')
_WORDS = (
    r"(?:user_?-?data|network_?-?data|ignition_?-?data)(?:base64)?|passw(?:or)?d|passphrase|chpasswd|token"
    r"|(?:private|secret|api|access|encryption)[_-]?key|stringdata|literals|(?:extra|http)_?-?headers"
)
_SECRET_KEY = pattern(f"(?:{_WORDS})$", re.IGNORECASE)
_SPEAKING = pattern(f"{_WORDS}|secret|ignition", re.IGNORECASE)
# Possessive, and from the beginning of a word only: a line may have millions of characters.
_KEY = pattern(r"""["']?(?<![\w./-])([\w./-]++)["']?\s*+:(?=\s|$|["'{\[])""")
#: Of a URL whose password nobody has escaped: slashes are part of it, and no character of %s. Digits alone are a port.
_UNESCAPED = r"""(?<=://)[^/\s@:"'`\[]*+:(?!\d++(?:[/?#\s"'`]|\Z))(?:(?!://)[^%s"'`])*"""
#: Of a URL, of a whole value, of a word of a text.
_ESCAPED = (
    r"""(?:(?<=//)[^/\s@]++|^[^/\s@:]++:[^/\s@]++|(?<![^\s"'`/])[^/\s@:"'`]++:[^/\s@"'`]++)"""
    r"""(?:@[^/\s@"'`]++)*"""
)


def _before_host(line_end: str) -> str:
    """A pattern for the user and password before a host; no character of the class *line_end* is in the password."""
    alternatives = "|".join((_UNESCAPED % r"\s", _ESCAPED, _UNESCAPED % line_end))
    return f"(?:{alternatives})(?=@(?!sha256:|sha512:))"


#: A user and password before a host, up to the last ``@``: in a value or a message, and in lines of many of these.
_CREDENTIALS = pattern(_before_host(""))
_CREDENTIALS_IN_LINES = pattern(_before_host(r"\n"))
_OF_GO_YAML = pattern(r"(unknown anchor) '[^'\n]*+'|(!!?[\w./:-]++) `[^`\n]*+`")
_PARAMETER = pattern(r"""(?<=[?&#])([\w.%-]++)=([^\s&#"'\[\]]++)""")
_SIGNING = pattern(r"token|sig|credential|key|passw|secret|auth", re.IGNORECASE)
#: What is run, by probes and containers, with passwords among its words.
_COMMANDS = frozenset({"command", "args"})
#: What holds user data, or might be given it right away, however the rest of its name is spelled.
_DATA_HOLDER = pattern(r"cloud[_-]?init|sysprep", re.IGNORECASE)
#: What there is no secret itself: references, of which a name is known.
_REFERENCES = frozenset(
    {"secretRef", "userDataSecretRef", "networkDataSecretRef", "secret", "configMap"}
)
_HOLDERS = {
    "Secret": frozenset({"data", "stringData"}),
    "ConfigMap": frozenset(
        {"data", "binaryData"}
    ),  # sysprep's answer files, and whole configurations
}


@lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Whether the value under *key* is not for other eyes (a reference such as ``secretName`` is not one)."""
    return _SECRET_KEY.search(key) is not None


def is_secret(path: FieldPath, kind: str = "") -> bool:
    """Whether the field at *path* of an object of *kind* is, or lies within, something secret."""
    if kind == "Secret" and path[:1] in (("data",), ("stringData",)):
        return True
    names = [step for step in path if isinstance(step, str)]
    if any(map(is_secret_key, names)):
        return True
    holder = next((at for at, name in enumerate(names) if holds_data(name)), len(names))
    if any(is_datum(name, is_mapping=True) for name in names[holder + 1 :]):
        return True
    return not _COMMANDS.isdisjoint(path)


@lru_cache(maxsize=4096)
def holds_data(key: str) -> bool:
    """Whether what stands below *key* is what a guest boots with: secret under whatever name, but for references."""
    return _DATA_HOLDER.search(key) is not None


def is_datum(key: str, *, is_mapping: bool) -> bool:
    """Whether the value under *key* of what `holds_data` is what a guest boots with, and no reference to it."""
    return key != "name" and not (is_mapping and key in _REFERENCES)


def is_unquoted(key: str, *, is_mapping: bool) -> bool:
    """Whether no quoted line shows the value under *key*, and what it is: words of a command, a text out of place."""
    return key in _COMMANDS or (holds_data(key) and not is_mapping)


def is_content(kind: str, key: str) -> bool:
    """Whether *key* of an object of *kind* holds contents, which no quoted line shows."""
    return key in _HOLDERS.get(kind, ())


def holder(kind: str) -> str:
    """The *kind* of an object that holds contents or of a list of such, nothing for all others."""
    return kind if kind.removesuffix("List") in _HOLDERS else ""


def speaks_of_secrets(text: str) -> bool:
    """Whether *text* names something secret somewhere: then what of it is one cannot be told without its structure."""
    without_nulls = text.replace("\0", "")  # UTF-16 that is read as UTF-8 has them
    return _SPEAKING.search(without_nulls) is not None


def may_contain_secrets(text: str) -> bool:
    """Whether a text is a document of its own (a patch, a configuration), or says itself what is secret in it."""
    if ":" in text and ("\n" in text or text.lstrip()[:1] in ("{", "[")):
        return True
    return any(sign in text for sign in _ASSIGNING) and speaks_of_secrets(text)


def redacted(value: Any, mask: str = MASK, *, in_data: bool = False) -> Any:
    """*value*, a JSON tree, with *mask* for what is secret in it; *in_data*: it stands in what `holds_data`.

    Of a URL the rest is kept, see `without_credentials`.
    """
    if isinstance(value, dict):
        return {
            k: mask
            if is_secret_key(k)
            or k in _COMMANDS
            or (in_data and is_datum(k, is_mapping=isinstance(item, dict)))
            else redacted(item, mask, in_data=in_data or holds_data(k))
            for k, item in value.items()
        }
    if isinstance(value, list):
        return [redacted(item, mask, in_data=in_data) for item in value]
    if not isinstance(value, str):
        return value
    return mask if may_contain_secrets(value) else without_credentials(value)


def without_values(text: str) -> str:
    """What go-yaml says, without the values and names of anchors that it quotes: a password may begin with ``*``."""
    return _OF_GO_YAML.sub(lambda match: match[1] or match[2], text)


def without_credentials(text: str) -> str:
    """*text* with `MASK` for the user and password in its URLs, and for what signs them: ``?token=``."""
    if "@" in text:
        text = _CREDENTIALS.sub(MASK, text)
    return _PARAMETER.sub(_unsigned, text) if "?" in text or "#" in text else text


def credentials(text: str) -> list[tuple[int, int]]:
    """Where `without_credentials` hides something of *text*, which has lines with values: none goes over their ends."""
    spans = [match.span() for match in _CREDENTIALS_IN_LINES.finditer(text)] if "@" in text else []
    if "?" in text or "#" in text:
        spans += (match.span(2) for match in _PARAMETER.finditer(text) if _signs(match))
    return spans


def _signs(parameter: re.Match[str]) -> bool:
    return _SIGNING.search(parameter[1]) is not None


def _unsigned(parameter: re.Match[str]) -> str:
    return f"{parameter[1]}={MASK}" if _signs(parameter) else parameter[0]


def masked(line: str) -> str:
    """*line*, of which nothing but the text is known, without credentials in a URL and what follows a secret key."""
    line = without_credentials(line)
    for match in _KEY.finditer(line):
        rest = line[match.end() :].strip()
        if is_secret_key(match[1]) and rest and not rest.startswith(MASK):
            return f"{line[: match.end()]} {MASK}"
    return line
