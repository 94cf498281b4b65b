"""``virt-render rule``: what a diagnostic means."""

from typing import TYPE_CHECKING

from render.diagnostics import checks, codes
from render.diagnostics.diagnostic import Location
from render.frontends.answer import Answer
from render.frontends.progress import Work
from render.frontends.request.request import Request

if TYPE_CHECKING:
    from render.diagnostics.explanations import Explanation


def rule(asked: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Explain a diagnostic, or list all."""
    from render.diagnostics.explanations import explanation

    wanted = asked.own["code"].lower()
    if asked.own["list"] or not wanted:
        rows = (f"{row.number}  {row.severity:<7}  {row.slug}\n" for row in codes.CODES.values())
        return Answer(rows)
    known = {name.lower(): row for row in codes.CODES.values() for name in (row.number, row.slug)}
    check = _check(wanted)
    code = known.get(wanted.partition("/")[0]) if "/" not in wanted or check else None
    if code is None:
        from render.model.nearest import nearest

        near = nearest(asked.own["code"], [*codes.CODES, *known, *checks.recorded()])
        cure = f"did you mean {near}?" if near else "'virt-render rule --list' lists all"
        fault = codes.USAGE.at(Location(), f"no diagnostic {asked.own['code']}", help=cure)
        return Answer(faults=[fault])
    explain = _as_json if asked.own["format"] == "json" else _explained
    answer = explain(code, explanation(code.number))
    if check is not None and asked.own["format"] != "json":
        answer = f"{check}\n{answer}"
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
    is_hidden = code.severity is codes.INFO and not code.always_said
    return f"{'-v ' if is_hidden else ''}{'--guest warning ' if code.of_guest else ''}"


def _explained(code: codes.Code, explained: "Explanation") -> str:
    import textwrap

    meaning, example, message, cure, accepted = explained
    passes = f"\naccepted:\n\n{textwrap.indent(accepted.rstrip(), '    ')}\n" if accepted else ""
    command = f"$ virt-render build {_options(code)}- <<EOF\n{example}EOF"
    source = example if example.startswith("$") else command
    return (
        f"{code.number} {code.slug} ({code.severity}"
        + ("" if code.suppressible else ", cannot be suppressed")
        + f")\n\n{textwrap.fill(meaning, 100)}\n\n{textwrap.indent(source.rstrip(), '    ')}\n\n"
        + f"says: {message}\n\n{textwrap.fill(cure, 100)}\n{passes}"
    )
