"""Parameters of an ApplicationSet that lack their quotes, so that the file is no YAML any more.

Upstream: argo-cd applicationset/generators (list.go, cluster.go, git.go: which parameters each generator has).
"""

import re
from collections.abc import Iterator

from render.diagnostics.diagnostic import Diagnostic
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import get
from render.yaml.budget import Limits
from render.yaml.reader import read

_EXPRESSION = pattern(rb"\{\{-?([^{}]*)\}\}")
_WORD = pattern(rb"(?<![\w.\"'])\.?([A-Za-z_]\w*)")
#: A scalar with an expression in it that no quote opens.
_BARE = pattern(r"(?:^|[\s,{\[])([^\s,'\"{}\[\]]*\{\{[^{}]*\}\}[^\s,'\"{}\[\]]*)")
_SEPARATOR = pattern(rb"^---(?=\s|$)", re.MULTILINE)
#: In so many lines before it may stand what the parser stumbles over.
_NEAR = 3
#: What generators say beside what their authors write.
_OF_GENERATORS = {"clusters": ("metadata", "name", "nameNormalized", "server"), "git": ("path",)}


def of_sets(
    diagnostics: list[Diagnostic], data: bytes, limits: Limits
) -> Iterator[tuple[Diagnostic, bool]]:
    """*diagnostics*, errors of syntax in a file that says *data*, and which of them a set's own parameters bring.

    Of these the help is to put the parameter in quotes: the file is no template of others.
    """
    for diagnostic in diagnostics:
        line = diagnostic.location.line
        is_own = bool(line) and _is_of_set(_document_around(data, line), limits)
        if not is_own:
            yield diagnostic, False
            continue
        texts = data.decode("utf-8", "replace").split("\n")[max(line - _NEAR, 0) : line]
        bare = next((match[1] for text in reversed(texts) if (match := _BARE.search(text))), "")
        cure = f"write '{bare}', in quotes" if bare else "put what has {{ }} in quotes"
        yield diagnostic._replace(help=cure), True


def _document_around(data: bytes, line: int) -> bytes:
    """The document of *data* in which *line* (from 1) stands."""
    start = 0
    for number, text in enumerate(data.split(b"\n"), 1):
        end = start + len(text)
        if number == line:
            break
        start = end + 1
    marks = [0, *(mark.start() for mark in _SEPARATOR.finditer(data)), len(data)]
    before = max(mark for mark in marks if mark <= start)
    return data[before : min((mark for mark in marks if mark > start), default=len(data))]


def _is_of_set(text: bytes, limits: Limits) -> bool:
    """Whether *text* is an ApplicationSet once its expressions are words, and all of them ask for its parameters."""
    expressions = [
        {*map(bytes.decode, _WORD.findall(match))} for match in _EXPRESSION.findall(text)
    ]
    documents = read(_EXPRESSION.sub(b"x", text), "", limits).documents if expressions else ()
    for document in documents:
        body = document.body
        group = text_at(body, "apiVersion").partition("/")[0]
        if (group, text_at(body, "kind")) != ("argoproj.io", "ApplicationSet"):
            continue
        known = {*_parameters(get(body, "spec", "generators"))}
        return all(not known.isdisjoint(words) for words in expressions)
    return False


def _parameters(value: Any) -> Iterator[str]:
    """The keys in the generators *value*, and what these say beside them."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            for key, below in each.items():
                yield from (str(key), *_OF_GENERATORS.get(str(key), ()))
                pending.append(below)
        elif isinstance(each, list):
            pending += each
