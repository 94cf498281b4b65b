"""What a command has looked at and found, in figures: the last line, and the same in JSON."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from render.diagnostics.diagnostic import Severity
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.report import waivers
from render.report.terminal import GREEN, SEVERITY_STYLES, YELLOW, painted
from render.report.waivers import Waiver

if TYPE_CHECKING:
    from render.report.findings import Finding
    from render.report.tested import TriedExpectation


class Tally(NamedTuple):
    """The figures of a run.

    *machines* were looked at in *kustomizations*, *charts* and elsewhere, among the *objects* of *files*; those of
    *unseen* were not, by what they are. They use so many *bundled* definitions of KubeVirt's own, and of each folder
    that is another input so many *borrowed* ones.
    *releases* are those of KubeVirt that nobody asked for, each with the reason why it was rendered for.
    *severities* are those of all findings, *infos* how many of them are infos that people are shown; the baseline has
    *accepted* more, *before* more were there before the change that is looked at, and of *unknown* more nobody knows
    whether they were; *cut* are not shown. *waivers*
    are settings of the repository by which less is looked at, and so many objects are *ignoring* findings by
    annotations. So many findings are *fixable* by ``--fix``, and so many others by ``--unsafe-fixes``. *tried* are the
    expectations that VMs were held to.
    Of the *machines* so many are *made* of pools, replica sets and templates, and so many are *loose*, in files of none
    of these kustomizations and charts. *apart*: which folders are taken for roots of their own, and why. *empty*: what
    was looked through, where no file was found that may hold an object. *twice*: which VM stands in loose
    files and in a kustomization or chart. So many VMs are *unchecked*, since what holds them cannot be read or built.
    """

    machines: int = 0
    kustomizations: int = 0
    unseen: Mapping[str, int] = MappingProxyType({})
    severities: Mapping[Severity, int] = MappingProxyType({})
    accepted: int = 0
    before: int = 0
    unknown: int = 0
    cut: int = 0
    bundled: int = 0
    objects: int = 0
    files: int = 0
    releases: Mapping[str, str] = MappingProxyType({})
    waivers: tuple[Waiver, ...] = ()
    ignoring: int = 0
    fixable: int = 0
    fixable_unsafely: int = 0
    tried: "tuple[TriedExpectation, ...]" = ()
    made: int = 0
    infos: int = 0
    charts: int = 0
    loose: int = 0
    apart: str = ""
    borrowed: Mapping[str, int] = MappingProxyType({})
    empty: str = ""
    twice: str = ""
    unchecked: int = 0

    def withheld(self) -> list[str]:
        """What is kept back, and how many findings are not shown, in a line each; none where nothing is."""
        line = waivers.line(self.waivers, self.accepted, self.ignoring)
        return [*filter(None, [line, more(self.cut) if self.cut else ""])]

    def counting(self, findings: "Iterable[Finding]") -> "Tally":
        """The same with the severities of *findings*."""
        severities = [finding.diagnostic.severity for finding in findings]
        return self._replace(
            severities={severity: severities.count(severity) for severity in Severity}
        )


def more(cut: int) -> str:
    """That so many findings are *cut*."""
    return f"and {counted(cut, 'more finding')}"


def line(tally: Tally, *, colour: bool = False) -> str:
    """``12 VMs in 2 kustomizations: 1 error, 2 warnings; not looked at: 13 Templates (-v)``, the counts in *colour*."""
    if tally.tried:
        from render.report import tested

        return tested.line(tally.tried, tally.machines, colour=colour)
    seen = counted(tally.machines, "VM") if tally.machines else _without_machines(tally)
    if tally.made:
        seen += f" ({tally.made:,} of pools, replica sets and templates)"
    roots = ((tally.kustomizations, "kustomization"), (tally.charts, "chart"))
    where = [counted(number, word) for number, word in roots if number]
    if tally.machines and where:
        *most, last = [*where, *(["other files"] if tally.loose else [])]
        seen += f" in {' and '.join(filter(None, (', '.join(most), last)))}"
    parts = [_found(tally, colour=colour)]
    if tally.unchecked:
        parts.append(f"{counted(tally.unchecked, 'VM')} not checked")
    if tally.fixable or tally.fixable_unsafely:
        parts.append(_fixable(tally.fixable, tally.fixable_unsafely))
    parts += _untold(tally)
    parts += (
        f"for KubeVirt {release}, since {reason}"
        for release, reason in sorted(tally.releases.items())
        if tally.machines
    )
    parts += filter(None, [tally.apart, tally.twice])
    if tally.bundled:
        parts.append(f"uses {counted(tally.bundled, 'bundled object')} (-v)")
    if tally.borrowed:
        number = counted(sum(tally.borrowed.values()), "definition")
        whence = "other folders" if len(tally.borrowed) > 1 else next(iter(tally.borrowed))
        parts.append(f"takes {number} from {whence} (-v)")
    parts += filter(None, [unseen(tally)])
    return f"{seen}: {'; '.join(parts)}"


def unseen(tally: Tally) -> str:
    """``not looked at: 13 Templates (-v)``; nothing where all was."""
    names = ", ".join(counted(count, word) for word, count in sorted(tally.unseen.items()))
    return f"not looked at: {names} (-v)" if names else ""


def _found(tally: Tally, *, colour: bool) -> str:
    counts_by_severity = {**tally.severities, Severity.INFO: tally.infos}
    counts = (
        painted(
            counted(counts_by_severity[severity], severity),
            SEVERITY_STYLES[severity],
            colour=colour,
        )
        for severity in Severity
        if counts_by_severity.get(severity)
    )
    is_other = tally.files and not (tally.machines or tally.objects or tally.unseen)
    is_nothing = tally.empty or is_other
    clear = ("nothing to look at", YELLOW) if is_nothing else ("no findings", GREEN)
    return ", ".join(counts) or painted(*clear, colour=colour)


def _untold(tally: Tally) -> Iterator[str]:
    """How many findings are not told, by the reason."""
    reasons = (
        (tally.accepted, "accepted by the baseline"),
        (tally.before, "there before"),
        (tally.unknown, "where the commit cannot be read, and not known to be new"),
        (tally.cut, "not shown (--max-findings)"),
    )
    return (f"{count:,} {reason}" for count, reason in reasons if count)


def _fixable(safely: int, unsafely: int) -> str:
    by_option = {"--fix": safely, "--unsafe-fixes": unsafely}
    first, *others = (f"{count:,} %s with {option}" for option, count in by_option.items() if count)
    return ", ".join((first % "fixable", *(other % "more" for other in others)))


def _without_machines(tally: Tally) -> str:
    """What was read though no VM was in it: an empty folder is another answer than one of other objects.

    Of what is not for VMs nobody knows how many objects it is.
    """
    if tally.empty:
        return f"no manifest (*.yaml, *.yml, *.json) in {tally.empty}"
    if tally.files and not tally.objects:
        return f"no VM among what is in {counted(tally.files, 'file')}"
    where = f" in {counted(tally.files, 'file')}" if tally.files or not tally.objects else ""
    return f"no VM among {counted(tally.objects, 'object')}{where}"
