"""The comments of a YAML text, wherever they stand."""

from collections import Counter
from collections.abc import Iterator


def lost(before: str, after: str) -> Iterator[str]:
    """The comments of the document *before* that the document *after* has not, or not as often."""
    return (_comments(before) - _comments(after)).elements()


def _comments(text: str) -> Counter[str]:
    if "#" not in text:
        return Counter()
    found = (line.partition("#") for line in _beside_tokens(text).splitlines())
    return Counter(f"# {words.strip()}" for _, hash_, words in found if hash_)


def _beside_tokens(text: str) -> str:
    """*text* without what is no comment; of a block scalar the line where it begins may end in one."""
    from ruamel.yaml import YAML
    from ruamel.yaml.tokens import ScalarToken

    parts: list[str] = []
    done = 0
    for token in YAML(typ="safe", pure=True).scan(text):
        start, end = token.start_mark.index, token.end_mark.index
        if start >= end:
            continue
        parts.append(text[done:start])
        if isinstance(token, ScalarToken) and token.style in ("|", ">"):
            parts += (" ", text[start:end].partition("\n")[0][1:], "\n")
        done = end
    return "".join((*parts, text[done:]))
