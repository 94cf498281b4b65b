"""HTML pages: one file that loads nothing, and in which only our own style and script count.

Of the text of a repository nothing but text becomes: values are escaped, data stands in a JSON element that it cannot
close, and the content security policy of a page names the hashes of its style and its script.
"""

import base64
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.machinery import SourceFileLoader

from jinja2 import BaseLoader, Environment, StrictUndefined, Template, compiler
from markupsafe import Markup

from render.model.counting import counted
from render.model.hints import TYPE_CHECKING, Any, TypeVar
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef
from render.report.escaping import without_commands
from render.report.text import printable

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from types import CodeType

T = TypeVar("T")
_FOLDER = os.path.dirname(__file__)
_STYLE, _SCRIPT = "page.css", "page.js"
#: How wide a part of a bar is at least, and the gap behind it, in hundredths of the bar.
_LEAST, _GAP = 0.6, 0.15
#: Of a list that is longer than this, the first so many are open and the others folded.
_LONG, _FIRST = 12, 10


class BarPart(NamedTuple):
    """A part of a bar: what it stands for, how many, where it begins and how wide it is in hundredths, its colour."""

    value: str
    number: int
    x: str
    width: str
    css: str
    words: str = ""


def bar(counts: Iterable[tuple[str, int, str]]) -> list[BarPart]:
    """The parts of one bar, of which *counts* has values with their numbers and words; a small part can be seen too."""
    listed = [row for row in counts if row[1]]
    whole = sum(count for _, count, _ in listed)
    shares = [max(100 * count / whole, _LEAST) for _, count, _ in listed]
    parts: list[BarPart] = []
    before = 0.0
    for (value, count, words), share in zip(listed, shares, strict=True):
        width = 100 * share / sum(shares)
        css = value.replace(" ", "-")
        parts.append(BarPart(value, count, f"{before:.2f}", f"{width - _GAP:.2f}", css, words))
        before += width
    return parts


def folded(rows: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Those of *rows* that are open, and those that are folded: nobody looks for the VMs behind a hundred bars."""
    return (rows, ()) if len(rows) <= _LONG else (rows[:_FIRST], rows[_FIRST:])


def anchors(resources: Iterable[ResourceRef]) -> list[str]:
    """A name in the page for each of *resources*, which stays the same where others come and go."""
    known: Counter[str] = Counter()
    names: list[str] = []
    for ref in resources:
        name = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", word) for word in ref if word)
        known[name] += 1
        names.append(name if known[name] == 1 else f"{name}-{known[name]}")
    return names


def page(template: str, *, data: Any, more_script: str = "", **values: Any) -> str:
    """The page that *template* makes of *values*, a file beside this one like *more_script*, which follows `page.js`.

    The template finds `policy`, `style`, `script` and `data` too: what scripts read, as JSON; and the filter `counted`.
    It shows no control characters, which could reverse what is read.
    """
    style = _read(_STYLE)
    script = "".join(_read(name) for name in (_SCRIPT, more_script) if name)
    written = _template(template).render(
        values,
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - ours
        script=Markup(script),  # noqa: S704 - ours
        data=_embedded(data),
    )
    return without_commands(written, "&#91;")


def _template(name: str) -> Template:
    """The template *name*, compiled once: that takes longer than to render a page of a few VMs."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_printable,
        loader=_Templates(), optimized=False,  # few are rendered twice: looking for constants costs more
    )  # fmt: skip
    environment.filters["counted"] = counted
    return environment


class _Templates(BaseLoader):
    """The templates beside this file and below."""

    def load(
        self,
        environment: Environment,
        name: str,
        globals: "MutableMapping[str, Any] | None" = None,  # noqa: A002 - Jinja's
    ) -> Template:
        """The template *name*."""
        code = _TemplateCode(name, os.path.join(_FOLDER, name)).get_code(name)
        assert code is not None  # noqa: S101 - there is a source
        return environment.template_class.from_code(environment, code, globals or {})


class _TemplateCode(SourceFileLoader):
    """The code of a template, which Python keeps as it does that of modules: to make it takes longer than a page."""

    def path_stats(self, path: str) -> dict[str, Any]:
        """A number for when the template was changed last, and what makes it, and the size of the template."""
        makers = (os.stat(file).st_mtime for file in (__file__, compiler.__file__))
        stats = {**super().path_stats(path)}
        return stats | {"mtime": sum(makers, stats["mtime"])}

    def source_to_code(  # type: ignore[override] # of no module
        self, data: bytes, path: str, *, _optimization: int = -1
    ) -> "CodeType":
        """The code of the template that *data* are."""
        return _environment().compile(data.decode(), self.name, path)


def _printable(value: Any) -> Any:
    return printable(value) if type(value) is str else value


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    """The source expression of a content security policy that allows *text*."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _embedded(data: Any) -> Markup:
    """*data* as JSON that cannot end its element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    text = without_commands(text, "\\u005b")
    return Markup(text)  # noqa: S704 - escaped above
