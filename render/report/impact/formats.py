"""The output formats of an impact, one row each; the choices of ``diff --format`` are their names."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from render.report.impact.review import Review


class ImpactFormat(NamedTuple):
    """*module* has ``report(review, style) -> str``; *needs* names the extra without which it cannot be imported."""

    name: str
    module: str
    needs: str = ""


class ImpactStyle(NamedTuple):
    """In *colour*, where that is text; *most* bytes, where details may be cut (0: all)."""

    colour: bool = False
    most: int = 0


FORMATS: dict[str, ImpactFormat] = {
    row.name: row
    for row in (
        ImpactFormat("text", "render.report.impact.text"),
        ImpactFormat("json", "render.report.impact.json"),
        ImpactFormat("markdown", "render.report.impact.markdown"),
        ImpactFormat("html", "render.report.impact.html", needs="html"),
    )
}


class MissingExtraError(Exception):
    """A format needs what was not installed; the text says what."""


def report(name: str, review: "Review", style: ImpactStyle) -> str:
    """*review* in the format *name*. Raises MissingExtraError."""
    row = FORMATS[name]
    try:
        module = import_module(row.module)
    except ModuleNotFoundError as error:
        if not row.needs:
            raise
        message = f"the format {name} needs {error.name}, which is not installed"
        raise MissingExtraError(message) from error
    written: str = module.report(review, style)
    return written
