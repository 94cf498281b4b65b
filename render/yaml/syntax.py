"""What is said of text that is no YAML: libyaml's words, at the line that has to be mended."""

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.hints import Any
from render.model.regex import pattern
from render.yaml import libyaml
from render.yaml.libyaml import SyntaxFault
from render.yaml.stream import Chunk

_MARKER = pattern(r"(?:<{7}|\|{7}|>{7}) |={7}$")
"""How a line begins that git puts around the two sides of a conflict."""
_QUOTES = ("'", '"')
_BRACKETS = ("[", "{")
_VALUE = pattern(r":(?:\s|$)|^\s*[-#\"']")
"""What stands in a line that is no key without its colon."""
_KEY = "while scanning a simple key"
_ADVICE = (
    (
        "mapping values are not allowed",
        "text with ': ' in it wants quotes; keys of one mapping begin in one column",
    ),
    (
        "did not find expected key",
        "keys of one mapping begin in one column, and text behind a closing quote is no YAML",
    ),
    (
        "did not find expected '-' indicator",
        "items of one list begin in one column, each with '- '",
    ),
    (
        "block sequence entries are not allowed",
        "begin the first item of a list on a line of its own",
    ),
    (
        "found unknown escape character",
        r"within double quotes \ begins an escape: write \\, or use single quotes",
    ),
    ("did not find expected ','", "entries within brackets have commas between them"),
    ("cannot start any token", "put text that begins with @, ` or % in quotes"),
    (_KEY, "write a colon and a space behind the key"),
)
"""What helps, by libyaml's words."""


def finding(problem: SyntaxFault, chunk: Chunk, file: str) -> Diagnostic:
    """What is wrong with the text of *chunk* of *file*, in which libyaml found *problem*, with the place to mend."""
    lines = [*chunk.text.splitlines(), ""]
    written = [n for n, line in enumerate(lines) if line.strip()]
    first = next((n for n in written if lines[n][0] != "#"), problem.line)
    marker = next((n for n in written if _MARKER.match(lines[n])), None)
    if marker is not None:
        words, help_ = (
            "git's conflict marker",
            "keep what is to be of the two sides, and remove the lines of the markers",
        )
        return _at((marker, 0), words, chunk, file, help_)
    if lines[first].startswith("%"):
        return _at(
            (first, 0), "YAML directives are not accepted", chunk, file, advice(lines[first])
        )
    place = problem.line, problem.column
    if written and problem.line > written[-1]:  # it ends too early: there is no such line
        place = written[-1], len(lines[written[-1]])
    begins, words = _unclosed(problem, lines, chunk) or (None, problem.words)
    if begins is not None:
        return _at(begins, words, chunk, file, advice(lines[begins[0]]) or _closing(lines, begins))
    bare = _without_colon(problem, lines)
    if bare is not None:
        place, words = bare, f"could not find expected ':' {_KEY}"
    elif problem.since is not None and _KEY in words:
        place = problem.since
    elif problem.since is not None and problem.since[0] != problem.line:
        words += f" that begins on line {chunk.line + problem.since[0]}"
    return _at(place, words, chunk, file, advice(lines[place[0]], words))


def _at(place: tuple[int, int], words: str, chunk: Chunk, file: str, advice: str) -> Diagnostic:
    line, column = chunk.position(*place)
    return codes.YAML_SYNTAX.at(Location(file=file, line=line, column=column), words, help=advice)


def _unclosed(
    problem: SyntaxFault, lines: list[str], chunk: Chunk
) -> tuple[tuple[int, int], str] | None:
    """Where the quote or bracket opens for whose end *problem* is, and what is said of it; None of anything else."""
    words, since, at = problem.words, problem.since, problem.line
    if since is not None and "scanning a quoted scalar" in words and "end of stream" in words:
        return since, f"this quote is not closed: {words}"
    quoted, bracket = _before(chunk.text, problem)
    if bracket is not None and "while parsing a flow" in words and bracket[0] != at:
        is_end = not lines[at].strip()
        if is_end or _indentation(lines[at]) <= _indentation(lines[bracket[0]]):
            where = "" if is_end else f" on line {chunk.line + at}"
            return bracket, f"this bracket is not closed: {words}{where}"
    if quoted is not None and quoted[0] != at:
        return quoted, f"this quote closes on line {chunk.line + at}, before more text: {words}"
    return None


def _before(
    text: str, problem: SyntaxFault
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Where the text in quotes opens that ends right before *problem*, and the bracket that is open there, if any.

    Neither is known where libyaml stops before it at what we read as go-yaml does (see `libyaml.tolerantly`).
    """
    following = libyaml.marked_events(text)
    last: Any = None
    pending: list[Any] = []
    try:
        while (event := following()) is not libyaml.FINISHED:
            last = event
            if event is libyaml.END:
                pending.pop()
            elif event[0] in (libyaml.MAPPING, libyaml.SEQUENCE):
                pending.append(event[3])
    except libyaml.ERRORS as error:
        if libyaml.problem(error, text)[1:3] != problem[1:3]:
            return None, None
    bracket = (
        pending[-1]
        if pending and text[pending[-1].index : pending[-1].index + 1] in _BRACKETS
        else None
    )
    opened = None if bracket is None else (bracket.line, bracket.column)
    if last.__class__ is not tuple or last[0] != libyaml.SCALAR:
        return None, opened
    *_, begins, _text, is_plain, ends = last
    is_before = not is_plain and (ends.line, ends.column) == (problem.line, problem.column)
    return (begins.line, begins.column) if is_before else None, opened


def _without_colon(problem: SyntaxFault, lines: list[str]) -> tuple[int, int] | None:
    """Where the key stands that lacks its colon, so that the next line is taken for its end; None if not that."""
    if "mapping values are not allowed" not in problem.words:
        return None
    *above, line = [n for n in range(problem.line) if lines[n].strip()] or [0]
    begins = _indentation(lines[line])
    is_first = not above or lines[above[-1]].rstrip().endswith(":")
    if not is_first or line == problem.line or begins != _indentation(lines[problem.line]):
        return None
    return None if _VALUE.search(lines[line]) else (line, begins)


def _closing(lines: list[str], place: tuple[int, int]) -> str:
    """The way to close what opens at *place*."""
    mark = lines[place[0]][place[1] : place[1] + 1]
    if mark in _QUOTES:
        twice = " (a ' within single quotes is written twice)" if mark == "'" else ""
        return f"close it with {mark} where the text ends{twice}"
    return f"close it with {'}' if mark == '{' else ']'}"


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def advice(written: str, words: str = "") -> str:
    """What helps with the line *written* that cannot be read, of which libyaml said *words*."""
    if written.startswith("%"):
        return "remove the line: kubectl and Argo CD refuse it"
    if "{{" in written:
        return "this looks like a template: render it first"
    if "\t" in written[: _indentation(written)]:
        return "indent with spaces: YAML allows no tabs there"
    if "cannot start any token" in words and "\t" in written:
        return "write spaces for tabs"
    return next((cure for sign, cure in _ADVICE if sign in words), "")
