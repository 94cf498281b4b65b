"""What the webhooks said of a recorded case, and what we say: compared by cause.

``python -m tests.support.admission FAMILY... [--match disks] [--limit 20]`` prints what is missing and too much.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from render import Rendered
from render.model import fieldpath
from tests.support import answers
from tests.support.goldens import FOLDER, cases, is_refused_by_schema

Json = dict[str, Any]
FAMILIES = tuple(
    sorted(path.name.removesuffix(".ndjson.gz") for path in FOLDER.glob("admission-*.gz"))
)


#: What is wrong beyond doubt: a cluster gives no causes of later stages, which we report too.
WRONG = ("missing", "not refused", "false alarm")
#: What the API server does to an object without a refusal.
_HARMLESS = {"defaulted", "nulls"}


#: So many causes come back at most.
_MOST_CAUSES = 10


class CauseText(NamedTuple):
    """A cause: *field* without the prefix of a template, and the text."""

    field: str
    message: str


def is_among(answer: CauseText, messages: Collection[CauseText]) -> bool:
    """Whether one of ours says the same; a cause without a field may stand anywhere."""
    message = _ordered(answer.message)
    return any(
        (diagnostic.field == answer.field and _ordered(diagnostic.message) == message)
        or (not answer.field and message in diagnostic.message)
        for diagnostic in messages
    )


def _ordered(message: str) -> str:
    """*message* with names in one order that KubeVirt prints in random order."""
    lead, found, rest = message.partition("but found ")
    return (
        lead + ", ".join(sorted(rest.removesuffix(" strategies").split(", "))) if found else message
    )


def bare(field: str) -> str:
    """*field* as if a VMI had been sent."""
    return field.removeprefix("spec.template.")


def wanted(entry: Json) -> Iterator[CauseText]:
    """The causes that a cluster gives: of the VM, or where that is admitted of its VMI."""
    for stage in ("admit", "vmi_admit"):
        verdict = entry.get(stage) or {"allowed": True}
        if not verdict["allowed"]:
            for cause in verdict.get("causes") or [{"message": verdict.get("message", "")}]:
                yield CauseText(bare(cause.get("field", "")), cause["message"])
            return


def schema_of(entry: Json) -> set[str]:
    """What the CRD refuses of the VM of *entry*."""
    return set(entry.get("crd") or ()) - _HARMLESS


def is_refused(entry: Json) -> bool:
    """Whether the VM of *entry* never runs."""
    errors = ("mutate_error", "revision_error", "vmi_error", "vmi_mutate_error")
    verdicts = (entry.get(stage) or {"allowed": True} for stage in ("admit", "vmi_admit"))
    return (
        bool(schema_of(entry))
        or any(key in entry for key in errors)
        or not all(verdict["allowed"] for verdict in verdicts)
    )


def ours(rendered: Rendered, machine: Json) -> list[tuple[str, CauseText]]:
    """Our errors about *machine*: code, field and text."""
    metadata = machine["metadata"]
    key = (machine["kind"], metadata.get("namespace", ""), metadata["name"])
    return [
        (d.code, CauseText(bare(d.field), d.message))
        for d in answers.of_kubevirt(rendered.diagnostics)
        if d.resource == key
    ]


def fields(rendered: Rendered, machine: Json) -> set[str]:
    """The fields of our errors about *machine*, those of the other parties included."""
    metadata = machine["metadata"]
    key = (machine["kind"], metadata.get("namespace", ""), metadata["name"])
    places = (
        place
        for d in rendered.diagnostics
        if d.is_error and d.resource == key
        for place in (d.location, *(related.location for related in d.related))
    )
    return {fieldpath.text(place.path) for place in places}


class Difference(NamedTuple):
    """What is wrong with the answer to one machine of a case."""

    case: str
    kind: str
    what: str
    answer: CauseText


def differences(family: str) -> Iterator[Difference]:
    """What *family* shows: causes that we miss, verdicts that differ, errors that no cluster gives."""
    for case in cases(family):
        yield from differences_of(case)


def differences_of(case: Json, **settings: Any) -> Iterator[Difference]:
    """The same for one case."""
    rendered = answers.rendered(case, admission="strict", **settings)
    yield from _of_definitions(case, rendered)
    if is_refused_by_schema(case, {}):
        return
    for machine, entry in zip(answers.machines(case), case["want"], strict=True):
        if "panics" not in entry:
            name = f"{case['id']} {machine['metadata']['name']}"
            for what, answer in _of_machine(entry, ours(rendered, machine)):
                yield Difference(name, machine["kind"], what, answer)


def _of_machine(entry: Json, found: list[tuple[str, CauseText]]) -> Iterator[tuple[str, CauseText]]:
    """What is wrong with *found* about one machine."""
    text = [answer for _, answer in found]
    yield from (("missing", answer) for answer in wanted(entry) if not is_among(answer, text))
    if not is_refused(entry):
        yield from (("false alarm", answer) for answer in text)
    elif not found:
        yield "not refused", _reason(entry)
    elif not schema_of(entry) and "mutate_error" not in entry:
        causes = [(entry.get(stage) or {}).get("causes", ()) for stage in ("admit", "vmi_admit")]
        if all(len(some) < _MOST_CAUSES for some in causes):
            known = {cause["message"] for some in causes for cause in some}
            yield from (("superfluous", answer) for answer in text if answer.message not in known)


def _of_definitions(case: Json, rendered: Rendered) -> Iterator[Difference]:
    """The same for the other objects of a case: instancetypes, preferences, presets, pools, replica sets."""
    entries = {(entry["kind"], entry["name"]): entry for entry in case.get("resources", ())}
    for entry in entries.values():  # of two with one name, only one can be in a cluster
        if "panics" in entry or len(entries) < len(case["resources"]):
            continue
        refused = not entry.get("allowed", True) or bool(schema_of(entry))
        found = [
            CauseText(d.field, d.message)
            for d in answers.of_kubevirt(rendered.diagnostics)
            if d.resource and (d.resource.kind, d.resource.name) == (entry["kind"], entry["name"])
        ]
        causes = [CauseText(c.get("field", ""), c["message"]) for c in entry.get("causes", ())]
        if refused and not found:
            answer = next(iter(causes), CauseText("crd", str(entry.get("crd"))))
            yield Difference(case["id"], entry["kind"], "not refused", answer)
        for answer in causes:
            if not is_among(answer, found) and not schema_of(entry):
                yield Difference(case["id"], entry["kind"], "missing", answer)
        if not refused:
            for answer in found:
                if not answer.message.startswith("KubeVirt takes the "):
                    yield Difference(case["id"], entry["kind"], "false alarm", answer)


def _reason(entry: Json) -> CauseText:
    crd = {key: value for key, value in (entry.get("crd") or {}).items() if key not in _HARMLESS}
    if crd:
        return CauseText("crd", str(crd))
    for key in ("mutate_error", "revision_error", "vmi_error", "vmi_mutate_error"):
        if key in entry:
            return CauseText(key, str(entry[key]))
    return next(wanted(entry), CauseText("", "?"))


def line(*words: object) -> None:
    """Write a line to standard output."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\d+")


def main(words: list[str]) -> None:
    """Write the differences of families, the commonest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--match", default="", help="only answers whose field or text matches this")
    parser.add_argument(
        "--what", default="", help="missing, superfluous, 'not refused', 'false alarm'"
    )
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--cases", action="store_true", help="each one, with its case")
    requested = parser.parse_args(words)
    found = [
        difference
        for family in requested.families
        for difference in differences(
            family if (FOLDER / f"{family}.ndjson.gz").exists() else f"admission-{family}"
        )
        if re.search(requested.match, f"{difference.answer.field} {difference.answer.message}")
        and requested.what in difference.what
    ]
    if requested.cases:
        for item in found[: requested.limit]:
            line(item.what, item.case, item.kind, item.answer.field, "|", item.answer.message)
        return
    line(Counter(item.what for item in found))
    groups = Counter(
        (
            item.what,
            _DETAIL.sub("*", item.answer.field),
            _DETAIL.sub("*", item.answer.message)[:150],
        )
        for item in found
    )
    for (what, field, message), count in groups.most_common(requested.limit):
        line(f"{count:4} {what:12} {field} | {message}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main(sys.argv[1:])
