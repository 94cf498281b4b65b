"""The impact of a change as one HTML page: readable without scripts, and without a network."""

import base64
import hashlib
import json
import os
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    MEANINGS,
    MachineEntry,
    Review,
    Totals,
    by_instancetype,
    by_namespace,
    causes,
    counts,
    entries,
    gibibytes,
    pinned,
    texts,
    total,
    worst,
)
from render.report.impact.text import header, short, summary
from render.report.text import printable

_FOLDER = os.path.dirname(__file__)


def report(review: Review, _: ImpactStyle) -> str:
    """One page, whatever stands in the repository: text of it is escaped, and only our own script runs."""
    style, script = _own("impact.css"), _own("impact.js")
    every = entries(review, every=True)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_shown
    )  # fmt: skip
    machines = review.machines
    return environment.from_string(_read("impact.html.j2")).render(
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=_data(every),
        header=header(review).replace("->", "→"),
        summary=summary(machines),
        counts=[(effect, number, MEANINGS[effect]) for effect, number in counts(machines).items()],
        pinned=pinned(machines).capitalize(),
        total=_totals(total(machines)),
        causes=causes(entries(review)),
        sums=[
            (word, [(name, _totals(one)) for name, one in totals.items()])
            for word, totals in (
                ("namespace", by_namespace(machines)),
                ("instancetype", by_instancetype(machines)),
            )
        ],
        machines=[_machine(one) for one in every],
    )


def _shown(value: Any) -> Any:
    """What a page shows of a value: no control characters, which could reverse what is read."""
    return printable(value) if type(value) is str else value


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _own(name: str) -> Markup:
    return Markup(_read(name))  # noqa: S704 - ours


def _hash(text: str) -> str:
    """The source expression of a content security policy that allows *text*."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(found: list[MachineEntry]) -> Markup:
    """What the script sorts and filters by, a row a VM, as JSON that cannot end its element."""
    rows = []
    for part, machine in found:
        size = machine.sizes[1] or machine.sizes[0]
        definitions = dict.fromkeys(str(one.cause.resource) for one in machine.changes if one.cause)
        rows.append(
            [
                worst(machine), machine.resource.namespace, machine.resource.name,
                size.instancetype if size else "", size.vcpus if size else 0, size.memory if size else 0,
                part.name, list(definitions),
            ]
        )  # fmt: skip
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped above


def _totals(totals: Totals) -> list[tuple[str, str]]:
    """VMs, vCPUs and memory, each before and after."""
    before, after = totals
    return [
        (f"{before.machines:,}", f"{after.machines:,}"),
        (f"{before.vcpus:,}", f"{after.vcpus:,}"),
        (f"{gibibytes(before.memory)} GiB", f"{gibibytes(after.memory)} GiB"),
    ]


def _machine(entry: MachineEntry) -> dict[str, Any]:
    part, machine = entry
    before, after = machine.sizes
    one, other = before or after, after or before
    changes = [
        {
            "field": change.field,
            "before": short(change.before),
            "after": short(change.after),
            "effect": change.effect,
            "cause": change.cause,
            "place": part.locate(change.cause) if change.cause else "",
        }
        for change in machine.changes
    ]
    return {
        "resource": machine.resource,
        "part": part.name,
        "worst": worst(machine),
        "effects": machine.effects,
        "instancetype": (one.instancetype, other.instancetype) if one and other else ("", ""),
        "vcpus": (one.vcpus, other.vcpus) if one and other else ("", ""),
        "memory": tuple(f"{gibibytes(size.memory)} GiB" for size in (one, other) if size)
        or ("", ""),
        "texts": list(texts(machine)),
        "changes": changes,
    }
