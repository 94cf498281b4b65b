"""What a command answers: `render.frontends.execute` alone prints, publishes, saves and exits."""

from collections.abc import Iterable, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.exits import Exit
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

if TYPE_CHECKING:
    from render.report.findings import Finding
    from render.report.places import Sources
    from render.report.summary import Tally
    from render.report.waivers import Waiver


class Files(NamedTuple):
    """Files to replace, all or none, by path and text.

    *known*: what files were read as, which must still say so. *done*: in words what is true once they are written, for
    the case that this cannot be told.
    """

    contents: Sequence[tuple[str, str]]
    known: Iterable[tuple[str, bytes]] = ()
    done: str = ""


class Answer:
    """What a command has to say.

    *output*: texts for standard output, or for the file of ``--output``; *objects*: the same as pairs of an object and
    what is written for it, where ``--output`` may name a folder. Both may be made when they are asked for. *findings*:
    None for all that was found in the input that was read, with its figures; else *tally* are the figures, if any.
    *faults* are about the call itself. *exit*: None for what the findings ask for, and then what makes it another than
    0 withholds output and files. *files* are replaced before anything is printed. *unread* are the inputs that could
    not be read, though all that was asked for could; *notes* are lines beside the output. Output *for_people* is text,
    whose lines a terminal shows folded. *waivers*: what settings waive, None for those of the call.
    """

    __slots__ = (
        "exit",
        "faults",
        "files",
        "findings",
        "for_people",
        "notes",
        "objects",
        "output",
        "tally",
        "unread",
        "waivers",
    )

    def __init__(  # noqa: PLR0913 - a value; its fields have quoted types, which a tuple's may not have
        self,
        output: Iterable[str | bytes] = (),
        findings: "Sequence[Finding] | None" = None,
        exit: Exit | None = None,  # noqa: A002 - what it is
        *,
        tally: "Tally | None" = None,
        faults: Sequence[Diagnostic] = (),
        objects: Iterable[tuple[Tree, Tree | str]] | None = None,
        files: Files | None = None,
        unread: Sequence[str] = (),
        notes: Sequence[str] = (),
        for_people: bool = False,
        waivers: "Sequence[Waiver] | None" = None,
    ) -> None:
        self.output = output
        self.findings = findings
        self.exit = exit
        self.tally = tally
        self.faults = faults
        self.objects = objects
        self.files = files
        self.unread = unread
        self.notes = notes
        self.for_people = for_people
        self.waivers = waivers


class RefusedError(Exception):
    """A command ends with these *findings* alone."""

    def __init__(self, findings: "Sequence[Finding]") -> None:
        super().__init__()
        self.findings = findings


def refused(*faults: Diagnostic, sources: "Sources | None" = None) -> RefusedError:
    """What to raise for *faults*, whose places, if they have any, are looked up in *sources*."""
    from render.report.findings import find, merge
    from render.report.places import Sources

    return RefusedError(merge(find(faults, sources or Sources())))
