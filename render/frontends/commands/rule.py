"""``virt-render rule``: what a diagnostic means."""

from render.diagnostics import checks, codes
from render.diagnostics.diagnostic import Location
from render.diagnostics.suppression import PREFIX
from render.frontends.answer import Answer
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.model.hints import TYPE_CHECKING
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.report import terminal
from render.system.streams import STDOUT

if TYPE_CHECKING:
    from re import Match

    from render.diagnostics.explanations import Explanation

#: How many columns texts have where there is room.
_WIDTH = 100
#: A link of Markdown to a section or page of the documentation: what it is called, and the page.
_LINK = pattern(r"\[([^\]]+)\]\((?:\.\./)?([^)#]*)(?:#[^)]*)?\)")


def rule(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Explain a diagnostic, or list all."""
    from render.diagnostics.explanations import explanation

    wanted = request.own["code"].lower()
    if request.own["list"] or not wanted:
        rows = (f"{row.number}  {row.severity:<7}  {row.slug}\n" for row in codes.CODES.values())
        return Answer(rows)
    known = {name.lower(): row for row in codes.CODES.values() for name in (row.number, row.slug)}
    check = _check(wanted)
    code = known.get(wanted.partition("/")[0]) if "/" not in wanted or check else None
    if code is None:
        every = [*codes.CODES, *known, *checks.recorded()]
        cure = did_you_mean(request.own["code"], every, "'virt-render rule --list' lists all")
        fault = codes.USAGE.at(Location(), f"no diagnostic {request.own['code']}", help=cure)
        return Answer(faults=[fault])
    explain = _as_json if request.own["format"] == "json" else _explained
    answer = explain(code, explanation(code.number))
    if check is not None and request.own["format"] != "json":
        answer = f"{terminal.fold(check, terminal.width(STDOUT))}\n{answer}"
    return Answer([answer])


def _check(name: str) -> str | None:
    """What is known of the check *name* (``disks/ide-bus``), in lines; None where there is none."""
    if "/" not in name:
        return None
    known = checks.recorded()
    if name in known:
        return f"{name}: {known[name].message}\n  help: {known[name].help}\n"
    concern = name.partition("/")[0]
    # Some concerns have no recorded refusal of a cluster, and so no rows in the table.
    return None if any(check.startswith(f"{concern}/") for check in known) else f"{name}\n"


def _as_json(code: codes.Code, explained: "Explanation") -> str:
    import json

    facts = {
        "code": code.number,
        "slug": code.slug,
        "severity": str(code.severity),
        "suppressible": code.suppressible,
        "exitStatus": int(code.exit),
        "since": code.since,
        **explained._asdict(),
        "helpUri": code.uri,
    }
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def _options(code: codes.Code) -> str:
    """What ``build`` needs to say *code*: notes on the reading are for ``-v``, guests are looked into on request."""
    is_hidden = code.severity is codes.INFO and not code.always_reported
    return f"{'-v ' if is_hidden else ''}{'--guest warning ' if code.of_guest else ''}"


def _plain(link: "Match[str]") -> str:
    """What a text without links says in the place of *link*."""
    name, page = link.groups()
    return f"{name} (docs/{page})" if page else name


def _explained(code: codes.Code, explained: "Explanation") -> str:
    import textwrap

    wide = terminal.width(STDOUT)
    columns = min(_WIDTH, wide or _WIDTH)
    meaning, example, message, cure, accepted = explained
    meaning, cure = _LINK.sub(_plain, meaning), _LINK.sub(_plain, cure)
    passes = f"\naccepted:\n\n{textwrap.indent(accepted.rstrip(), '    ')}\n" if accepted else ""
    command = f"$ virt-render build {_options(code)}- <<EOF\n{example}EOF"
    source = example if example.startswith("$") else command
    silencing = f"silenced by an annotation on the object: {PREFIX}{code.number}: the reason"
    return (
        f"{code.number} {code.slug} ({code.severity}"
        + ("" if code.suppressible else ", cannot be suppressed")
        + f")\n\n{textwrap.fill(meaning, columns)}\n\n{textwrap.indent(source.rstrip(), '    ')}\n\n"
        + f"{terminal.fold(f'says: {message}', wide).rstrip()}\n\n{textwrap.fill(cure, columns)}\n{passes}"
        + (f"\n{terminal.fold(silencing, wide).rstrip()}\n" if code.suppressible else "")
    )
