"""What would mend a finding, as edits of lines."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from render.frontends.editor.notes import lines_of
from render.frontends.editor.workspace import Workspace
from render.frontends.fixing import Editable
from render.manifests import fixes
from render.manifests.fixes import FileFix
from render.model.named_tuple import NamedTuple
from render.yaml.editing import rewrite
from render.yaml.editing.rewrite import Unwritten

#: A menu of more is read by nobody, and each fix is tried on the text.
_MOST = 32


class LinesEdit(NamedTuple):
    """That *text* takes the place of the lines from *start* to before *end*, counted from 0."""

    start: int
    end: int
    text: str


class QuickFix(NamedTuple):
    """A fix of a finding with *code*: *edits* by file. *is_preferred*: it is safe, and the only one."""

    title: str
    code: str
    is_preferred: bool
    edits: Mapping[str, Sequence[LinesEdit]]


def at(workspace: Workspace, file: str, lines: range) -> list[QuickFix]:
    """The first fixes of the findings that begin on *lines* of *file*, where all that they edit is the folder's own."""
    found = {(fix.title, fix.code): fix for fix in islice(_fixes(workspace, file, lines), _MOST)}
    return list(found.values())


def _fixes(workspace: Workspace, file: str, lines: range) -> Iterator[QuickFix]:
    editable = Editable(workspace.request.reading_from("."))
    for rendered in workspace.parts.values():
        for finding in rendered.placed.findings:
            finding_file, line, _ = workspace.place_of(finding)
            if finding_file != file or line - 1 not in lines or not finding.diagnostic.fixes:
                continue
            placed = fixes.placed(finding.diagnostic, rendered.part.loaded)
            for fix in placed:
                edits = _edits(workspace, editable, fix)
                if edits:
                    preferred = fix.safe and len(placed) == 1
                    yield QuickFix(fix.title, finding.diagnostic.code, preferred, edits)


def _edits(
    workspace: Workspace, editable: Editable, fix: FileFix
) -> Mapping[str, Sequence[LinesEdit]]:
    """What *fix* makes of the lines of its files; nothing where one of them is not to be edited."""
    edits: dict[str, Sequence[LinesEdit]] = {}
    for file, of_file in fixes.by_file(fix.edits).items():
        before = workspace.text(file)
        if before is None or workspace.path_of(file) is None or editable.why_not(file):
            return {}
        data = before.encode("utf-8", "surrogatepass")
        after = rewrite.rewritten(data, file, of_file, workspace.request.reading.limits)
        if isinstance(after, Unwritten):
            return {}
        edits[file] = between(before, after)
    return edits


def between(before: str, after: str) -> list[LinesEdit]:
    """The lines that make *after* of *before*."""
    old, new = _kept(before), _kept(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        LinesEdit(start, end, "".join(new[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _kept(text: str) -> list[str]:
    """The lines of *text* with their ends."""
    lines, start = [], 0
    for line in lines_of(text):
        end = start + len(line)
        end += 2 if text[end : end + 2] == "\r\n" else 1 if end < len(text) else 0
        lines.append(text[start:end])
        start = end
    return [line for line in lines if line]
