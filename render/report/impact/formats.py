"""An impact in one of its output formats, the rows of `render.report.formats`."""

from collections.abc import Callable

from render.model import packaged
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.report.formats import IMPACT_FORMATS
from render.report.page_origin import PageOrigin

if TYPE_CHECKING:
    from render.report.impact.review import Review


class ImpactStyle(NamedTuple):
    """In *colour* and *columns* (0: any), where that is text; *most* bytes, where details may be cut (0: all).

    *origin* is that of a page, *seen_from* tells for fingerprints how a file is called in its repository.
    """

    colour: bool = False
    most: int = 0
    columns: int = 0
    origin: PageOrigin = PageOrigin()
    seen_from: Callable[[str], str] = str


def report(name: str, review: "Review", style: ImpactStyle) -> str:
    """*review* in the format *name*: its module has ``report(review, style) -> str``."""
    written: str = packaged.module(IMPACT_FORMATS[name].module).report(review, style)
    return written
