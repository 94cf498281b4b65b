"""The output formats of an impact, one row each; the choices of ``diff --format`` are their names."""

from typing import TYPE_CHECKING, NamedTuple

from render.report import extras

if TYPE_CHECKING:
    from render.report.impact.review import Review


class ImpactFormat(NamedTuple):
    """*module* has ``report(review, style) -> str``."""

    name: str
    module: str


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
        ImpactFormat("html", "render.report.impact.html"),
    )
}


def report(name: str, review: "Review", style: ImpactStyle) -> str:
    """*review* in the format *name*. Raises MissingExtraError."""
    module = extras.load(FORMATS[name].module, f"the format {name}")
    written: str = module.report(review, style)
    return written
