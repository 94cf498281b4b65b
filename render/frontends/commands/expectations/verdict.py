"""Whether a VM is what is expected of it, and in which words it is not."""

import json
import os
from collections.abc import Iterator, Sequence

from render.diagnostics import codes, secrets
from render.diagnostics.diagnostic import Diagnostic, Severity
from render.diff import expected
from render.diff.expected import ABSENT, Unmet
from render.frontends.commands.expectations.conditions import GivenFleet, GivenMachine
from render.frontends.commands.expectations.document import Expectation, ExpectationsFile
from render.model import fieldpath, naming, tree
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.nearest import did_you_mean
from render.model.tree import Tree

MOST_STEPS = 4_000_000
"""What the expectations of a run may cost together, see `TrialWork`: some seconds."""
_STEPS_OF_UNMET = 20
_STEPS_OF_HINT = 3  # for each name that may be meant


class TrialWork:
    """What it has cost so far to hold VMs to expectations: many expectations times many VMs.

    A step is a name that is compared with a pattern, a VM that is looked at, and each value that is expected of it;
    what is not met counts as several.
    """

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps = 0

    def add(self, steps: int) -> bool:
        """Whether *steps* more are within `MOST_STEPS`; they count."""
        self._steps += steps
        return self._steps <= MOST_STEPS


def tried(
    expectation: Expectation, fleet: GivenFleet, file: ExpectationsFile, work: TrialWork
) -> tuple[Sequence[GivenMachine], list[Diagnostic]] | None:
    """The VMs of *fleet* that *expectation* is about, and what is not met; None where *work* would be too much."""
    patterns = sum(map(naming.is_pattern, expectation.patterns))
    if not work.add(1 + len(expectation.patterns) + patterns * len(fleet.names)):
        return None
    machines, found = _meant(expectation, fleet, file, work)
    values = 1 + sum(map(_values, expectation.forms.values()))
    for machine in machines:
        known = len(found)
        if not work.add(values + len(machine.diagnostics)):
            return None
        found += _unmet_of(expectation, machine, file)
        if not work.add(_STEPS_OF_UNMET * (len(found) - known)):
            return None
    return machines, found


def _values(expected_value: Any) -> int:
    """How many values *expected_value* is made of, itself included."""
    if isinstance(expected_value, dict):
        return 1 + sum(map(_values, expected_value.values()))
    return 1 + sum(map(_values, expected_value)) if isinstance(expected_value, list) else 1


def _meant(
    expectation: Expectation, fleet: GivenFleet, file: ExpectationsFile, work: TrialWork
) -> tuple[Sequence[GivenMachine], list[Diagnostic]]:
    """The VMs that *expectation* is about, all without a name; and the names that mean none: nothing is tested then."""
    machines = fleet.machines
    if not expectation.patterns:
        faults = (
            [] if machines else [_unmet(file, expectation.at(), "there is no VM in what is given")]
        )
        return machines, faults
    chosen: set[str] = set()
    faults = []
    for pattern in expectation.patterns:
        is_pattern = naming.is_pattern(pattern)
        names = fleet.names.matching(pattern) if is_pattern else fleet.names.fitting(pattern)
        chosen.update(names)
        if not names:
            is_hinted = not is_pattern and work.add(_STEPS_OF_HINT * len(fleet.names))
            cure = did_you_mean(pattern, naming.spellings(fleet.names)) if is_hinted else ""
            message = f"no VM {pattern} in what is given"
            faults.append(_unmet(file, expectation.at("vms"), message, cure))
    return fleet.called(chosen), faults


def _unmet_of(
    expectation: Expectation, machine: GivenMachine, file: ExpectationsFile
) -> Iterator[Diagnostic]:
    """A diagnostic for all that *expectation* expects of *machine* and that is not so."""
    findings = [*_unmet_findings(expectation, machine, file)]
    yield from findings
    for form, fields in expectation.forms.items():
        if form not in machine.forms:
            if not findings:
                yield _absent(expectation, machine, form, file)
            continue
        for found in expected.unmet(fields, machine.forms[form]):
            place = expectation.at(form, *found.written)
            message = f"{machine.name}: {form}.{fieldpath.text(found.path)} {_difference(found)}"
            cure = _misspelt(found, machine.forms[form])
            yield _unmet(file, place, message, cure or _explaining(machine, form, found.path, file))
    if expectation.change and machine.effect not in expectation.change:
        became = machine.effect or "what the change does is not known"
        message = f"{machine.name}: {became}, and not {' or '.join(expectation.change)}"
        yield _unmet(file, expectation.at("change"), message, _reviewing(file))


def _absent(
    expectation: Expectation, machine: GivenMachine, form: str, file: ExpectationsFile
) -> Diagnostic:
    """That there is no *form* of *machine*, and because of what, as far as that is known."""
    message = f"{machine.name}: there is no {form} of it"
    withholding = (found for found in machine.diagnostics if codes.CODES[found.code].withholds)
    errors = (found for found in machine.diagnostics if found.is_error)
    reason = next(withholding, None) or next(errors, None)
    if reason is None:
        return _unmet(file, expectation.at(form), message)
    return _unmet(file, expectation.at(form), f"{message}: {_in_words(reason)}", reason.help)


def _misspelt(found: Unmet, actual: Tree) -> str:
    """Which field of *actual* was probably meant by one that is not there."""
    if found.actual is not ABSENT:
        return ""
    beside = tree.get(actual, *found.path[:-1])
    known = [key for key in beside if isinstance(key, str)] if isinstance(beside, dict) else []
    return did_you_mean(str(found.path[-1]), known)


def _unmet(file: ExpectationsFile, path: FieldPath, message: str, cure: str = "") -> Diagnostic:
    found = codes.UNMET_EXPECTATION.at(file.at(), message, help=cure)
    return found._replace(position=file.at(*path))


def _explaining(machine: GivenMachine, form: str, path: FieldPath, file: ExpectationsFile) -> str:
    if form != "vmi" or len(file.paths) != 1:
        return ""
    whole = list(path)
    while whole and isinstance(whole[-1], int):
        whole.pop()
    (folder,) = file.paths
    command = f"virt-render explain {machine.name} {fieldpath.text(tuple(whole))} {folder}"
    return f"see: {command}"


def _reviewing(file: ExpectationsFile) -> str:
    (path,) = file.paths
    between = " " if os.path.isdir(file.before) else " -- "
    return f"see: virt-render diff {file.before}{between}{path}"


def _difference(found: Unmet) -> str:
    if secrets.is_secret(found.path):
        return "is another one"
    if found.actual is ABSENT or found.actual is None:
        return "is not there"
    if found.expected is None:
        return f"is there: {_excerpt(found.actual)}"
    if isinstance(found.expected, list) and isinstance(found.actual, list):
        return f"has {counted(len(found.actual), 'item')}, and not {len(found.expected)}"
    actual, wanted = (_excerpt(value) for value in (found.actual, found.expected))
    if actual == wanted:  # a number or a truth value, and the text of one
        actual, wanted = (_typed(value) for value in (found.actual, found.expected))
    return f"is {actual}, and not {wanted}"


def _typed(value: Any) -> str:
    """*value* in a line, with the word for a text."""
    return f'the text "{_excerpt(value)}"' if isinstance(value, str) else _excerpt(value)


_LONGEST = 60


def _excerpt(value: Any) -> str:
    """*value* without what is secret, in a line that is not too long to read."""
    redacted = secrets.redacted(value)
    text = redacted if isinstance(redacted, str) else json.dumps(redacted)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _unmet_findings(
    expectation: Expectation, machine: GivenMachine, file: ExpectationsFile
) -> Iterator[Diagnostic]:
    """The findings of *machine* that *expectation* does not expect, and the other way round; else the errors.

    Of a VM that cannot be rendered, also what keeps it from that and is no error: what it names may stand where nobody
    can read.
    """
    expected_codes = expectation.findings or ()
    counting = [found for found in machine.diagnostics if found.severity is not Severity.INFO]
    if expectation.findings is None:
        counting = [found for found in counting if found.is_error or _withholds(found, machine)]
    place = expectation.at() if expectation.findings is None else expectation.at("findings")
    for found in counting:
        if found.code not in expected_codes:
            yield _unmet(file, place, f"{machine.name}: {_in_words(found)}", found.help)
    if not machine.is_rendered and not counting:
        message = f"{machine.name}: what it names may stand in what cannot be read, so that nothing comes of it"
        yield _unmet(file, expectation.at(), message, "first mend what cannot be read")
    present = {found.code for found in machine.diagnostics}
    for code in expected_codes:
        if code not in present:
            yield _unmet(file, place, f"{machine.name}: no {code} {codes.CODES[code].slug}")


def _withholds(found: Diagnostic, machine: GivenMachine) -> bool:
    """Whether *found* keeps *machine* from being rendered."""
    return not machine.is_rendered and codes.CODES[found.code].withholds


def _in_words(found: Diagnostic) -> str:
    """The code of *found*, and its message with the field."""
    named = f"{found.field}: " if found.field and found.field not in found.message else ""
    return f"{found.code}: {named}{found.message}"
