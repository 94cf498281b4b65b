"""HTML pages: one file that loads nothing, and in which only our own style and script count.

Of the text of a repository nothing but text becomes: values are escaped, data stands in a JSON element that it cannot
close, and the content security policy of a page names the hashes of its style and its script.
"""

import base64
import hashlib
import json
import os
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from render.report.text import printable

_FOLDER = os.path.dirname(__file__)
_STYLE, _SCRIPT = "page.css", "page.js"
#: GitHub's runner takes it for a command wherever it stands in a log.
_COMMAND = "##["


def page(template: str, *, data: Any, more_script: str = "", **values: Any) -> str:
    """The page that *template* makes of *values*, a file beside this one like *more_script*, which follows `page.js`.

    The template finds `policy`, `style`, `script` and `data` too: what scripts read, as JSON. It shows no control
    characters, which could reverse what is read.
    """
    style = _read(_STYLE)
    script = "".join(_read(name) for name in (_SCRIPT, more_script) if name)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_shown,
        loader=FunctionLoader(_read),
    )  # fmt: skip
    written = environment.from_string(_read(template)).render(
        values,
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - ours
        script=Markup(script),  # noqa: S704 - ours
        data=_embedded(data),
    )
    return written.replace(_COMMAND, f"#&#35;{_COMMAND[2:]}")


def _shown(value: Any) -> Any:
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
    text = text.replace(_COMMAND, "##\\u005b")
    return Markup(text)  # noqa: S704 - escaped above
