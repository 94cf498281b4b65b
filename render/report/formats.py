"""The output formats of a report, one row each; the choices of ``--format`` are their names.

Those of a fleet and of an impact stand here too: all are options, and so read at every start.
"""

from collections.abc import Sequence

from render.model import packaged
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.report.style import Style
from render.report.summary import Tally

if TYPE_CHECKING:  # who only needs the names of formats has nothing to report yet
    from render.report.findings import Finding


class Format(NamedTuple):
    """*module* has the *function* that writes it; *for_people*: what was skipped is left out unless somebody asks.

    *is_document*: it is parsed as a whole, and says itself what is waived: of findings, *function* gets a tally too;
    *suggests*: it shows the lines of fixes.
    """

    name: str
    module: str
    for_people: bool = True
    is_document: bool = False
    suggests: bool = False
    function: str = "report"


MOST_SHOWN = 10_000
"""Findings, where nobody says how many: people read no more; programs, which read JSON, are told all."""
FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format("text", "render.report.text"),
        Format("json", "render.report.plain_json", for_people=False, is_document=True),
        Format("sarif", "render.report.sarif", is_document=True, suggests=True),
        Format("github", "render.report.github", suggests=True),
        Format("junit", "render.report.junit", is_document=True),
    )
}
#: The formats of ``report --format``: a function of a fleet and its origin each.
FLEET_FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format("html", "render.report.fleet.html"),
        Format("json", "render.report.fleet.data", function="as_json"),
        Format("csv", "render.report.fleet.data", function="as_csv"),
    )
}
#: The formats of ``diff --format``: see `render.report.impact.formats`.
IMPACT_FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format("text", "render.report.impact.text"),
        Format("json", "render.report.impact.json"),
        Format("markdown", "render.report.impact.markdown"),
        Format("html", "render.report.impact.html"),
    )
}


def report(
    name: str,
    findings: "Sequence[Finding]",
    tally: Tally | None = None,
    style: Style = Style(),  # noqa: B008 - a value
) -> str:
    """The report on *findings* in the format *name*; *tally* are the figures where those of *findings* are not all."""
    from render.report.consequences import folded
    from render.report.findings import Group, groups, worst

    tally = tally or Tally().counting(findings)
    whole = (
        folded(groups(findings))
        if name == "text" and style.grouped
        else [Group(finding) for finding in findings]
    )
    row = FORMATS[name]
    listed = worst(whole, style.most or (MOST_SHOWN if row.for_people else 0))
    cut = len(whole) - len(listed)
    if name == "text":
        from render.report import text

        return text.report(listed, style, cut=cut)
    firsts = [group.first for group in listed]

    write = getattr(packaged.module(row.module), row.function)
    if row.is_document:
        document: str = write(firsts, tally._replace(cut=cut))
        return document
    lines: str = write(firsts, cut)
    return lines
