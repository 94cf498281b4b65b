"""What users can name: commands, options, formats, codes, checks, releases, fields of definitions.

``python -m tests.support.names`` writes fixtures/names.txt anew, once a version of virt-render is released: what is new
since then, and what is gone, is said in CHANGELOG.md. Before the first one these are the names that it does not list.
"""

import csv
import re
from functools import cache
from typing import NamedTuple

from render.apply import instancetype, preference
from render.diagnostics.codes import CODES
from render.frontends.request.commands import COMMANDS
from render.model.release import RELEASES, Windowed, minor
from render.report.formats import FLEET_FORMATS, FORMATS, IMPACT_FORMATS
from tests.conftest import ROOT

FILE = ROOT / "fixtures/names.txt"
CHECKS = ROOT / "fixtures/admission-checks.tsv"


class Name(NamedTuple):
    """A *name* of something that users know, of one *kind*."""

    kind: str
    name: str

    @property
    def pattern(self) -> str:
        """How a text mentions it."""
        if self.kind == "field":  # by its last part, as manifests have it
            return rf"\b{re.escape(self.name.rpartition('.')[2])}\b"
        if self.kind == "format":
            return rf"--format [\w|]*\b{re.escape(self.name)}\b"
        start = {"command": "virt-render ", "option": "--"}.get(self.kind, r"(?<![\w./-])")
        return rf"{start}{re.escape(self.name)}(?![\w/-])"


@cache
def current() -> frozenset[Name]:
    """What the code has."""
    options = {option.name for row in COMMANDS.values() for option in row.options}
    options -= {f"{name}-file" for name in FORMATS}  # follow from the format
    with CHECKS.open(encoding="utf-8", newline="") as lines:
        checks = {row["check"] for row in csv.DictReader(lines, dialect="excel-tab")}
    fields = {
        f"{kind}.{'.'.join(map(str, path))}"
        for kind, rules in (("instancetype", instancetype.RULES), ("preference", preference.RULES))
        for rule in rules
        for path in (rule.item if isinstance(rule, Windowed) else rule).reads
    }
    named = {
        "check": checks,
        "code": CODES.keys(),
        "command": COMMANDS.keys(),
        "field": fields,
        "format": {*FORMATS, *FLEET_FORMATS, *IMPACT_FORMATS},
        "option": options,
        "release": {minor(release.version) for release in RELEASES},
    }
    return frozenset(Name(kind, name) for kind, names in named.items() for name in names)


@cache
def recorded() -> frozenset[Name]:
    """What `FILE` has."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(Name(*line.split(" ", 1)) for line in lines)


def added() -> list[Name]:
    """What is new."""
    return sorted(current() - recorded())


def removed() -> list[Name]:
    """What is gone."""
    return sorted(recorded() - current())


if __name__ == "__main__":
    FILE.write_text("".join(f"{kind} {name}\n" for kind, name in sorted(current())), "utf-8")
