"""What every code means, for ``virt-render rule`` and code scanning services: ``docs/diagnostics`` is the source.

A page a hundred of codes, which the package brings along. The registry itself (`render.diagnostics.codes`) stays free
of prose, since every start of the program loads it. A section of a page is

    ## VR104 not-an-object

    *Error, cannot be suppressed.* The meaning, up to the first fence.

    ```yaml
    the smallest input that gives it, for standard input of ``virt-render build -``; or a shell line in ``console``
    ```

    Says: `the message of the diagnostic, without position and object`

    The cure.

    Accepted:

    ```yaml
    the same without the fault, where a cluster refuses something
    ```
"""

import os
import re
from functools import cache

from render.diagnostics.codes import page
from render.model import packaged
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern

_SECTION = pattern(
    r"\*[^*]+\.\* (?P<meaning>.+?)\n\n"
    r"```(?:yaml|console)\n(?P<example>.+?)```\n\n"
    r"Says: (?:`` (?P<quoted>.+?) ``|`(?P<message>[^`]+)`)\n\n"
    r"(?P<cure>.+?)\n"
    r"(?:\nAccepted:\n\n```yaml\n(?P<accepted>.+?)```\n)?",
    re.DOTALL,
)


class Explanation(NamedTuple):
    """What a code means, the smallest input that gives it, what is then said, and the cure.

    *example* is YAML for standard input of ``virt-render build -``, or a shell line that starts with ``$``.
    *accepted* is the same without the fault, for findings on what a cluster refuses. *message* is the message of the
    diagnostic, without position and object.
    """

    meaning: str
    example: str
    message: str
    cure: str
    accepted: str = ""


def explanation(code: str) -> Explanation:
    """What *code* (``VR104``) means. KeyError for a code that is not explained."""
    return _read(page(code))[code]


@cache
def _read(name: str) -> dict[str, Explanation]:
    """The explanations of a page. ValueError for a section that is none."""
    with open(
        os.path.join(packaged.folder("_diagnostics", "docs", "diagnostics"), f"{name}.md"),
        encoding="utf-8",
    ) as file:
        _, *sections = re.split(r"^## (VR\d+) .*\n\n", file.read(), flags=re.MULTILINE)
    return {
        code: _parsed(code, re.sub(r'\n<a id="vr\d+"></a>\n\n\Z', "", text))
        for code, text in zip(sections[::2], sections[1::2], strict=True)
    }


def _parsed(code: str, text: str) -> Explanation:
    match = _SECTION.fullmatch(text)
    if match is None:
        raise ValueError(f"{code}: its section is not written as the others are")
    example = match["example"]
    return Explanation(
        " ".join(match["meaning"].split("\n")),
        example.rstrip("\n") if example.startswith("$") else example,
        match["quoted"] or match["message"],
        " ".join(match["cure"].split("\n")),
        match["accepted"] or "",
    )
