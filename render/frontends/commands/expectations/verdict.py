"""Whether a VM is what is expected of it, and in which words it is not."""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from render.diagnostics import codes, secrets
from render.diagnostics.diagnostic import Diagnostic, Severity
from render.diff import expected
from render.diff.expected import ABSENT, Unmet
from render.frontends.commands.expectations.document import Expectation, ExpectationsFile
from render.frontends.commands.expectations.given import GivenMachine
from render.model import fieldpath, naming
from render.model.fieldpath import FieldPath
from render.model.nearest import nearest

_HINTS = 20


def meant(
    one: Expectation, machines: Sequence[GivenMachine], file: ExpectationsFile
) -> tuple[list[GivenMachine], list[Diagnostic]]:
    """The VMs that *one* is about, all of them without a name; and the names that mean none: nothing is tested then."""
    if not one.patterns:
        faults = [] if machines else [_said(file, one.at(), "there is no VM in what is given")]
        return list(machines), faults
    known = {machine.name for machine in machines}
    chosen: set[str] = set()
    faults = []
    for pattern in one.patterns:
        is_pattern = naming.is_pattern(pattern)
        names = (naming.matching if is_pattern else naming.fitting)(pattern, known)
        chosen.update(names)
        if not names:
            shorter = {name.rpartition("/")[2] for name in known}
            is_hinted = not is_pattern and len(faults) < _HINTS  # they take milliseconds each
            near = nearest(pattern, sorted(known | shorter)) if is_hinted else ""
            cure = f"did you mean {near}?" if near else ""
            message = f"no VM {pattern} in what is given"
            faults.append(_said(file, one.at("vms"), message, cure))
    return [machine for machine in machines if machine.name in chosen], faults


def unmet(one: Expectation, machine: GivenMachine, file: ExpectationsFile) -> Iterator[Diagnostic]:
    """What *one* expects of *machine*, and is not so."""
    findings = [*_unmet_findings(one, machine, file)]
    yield from findings
    for form, fields in one.forms.items():
        if form not in machine.forms:
            if not findings:
                yield _said(file, one.at(form), f"{machine.name}: there is no {form} of it")
            continue
        for found in expected.unmet(fields, machine.forms[form]):
            place = one.at(form, *found.written)
            message = f"{machine.name}: {form}.{fieldpath.text(found.path)} {_difference(found)}"
            yield _said(file, place, message, _explaining(machine, form, found.path, file))
    if one.change and machine.effect not in one.change:
        became = machine.effect or "what the change does is not known"
        message = f"{machine.name}: {became}, and not {' or '.join(one.change)}"
        yield _said(file, one.at("change"), message, _reviewing(file))


def _said(file: ExpectationsFile, path: FieldPath, message: str, cure: str = "") -> Diagnostic:
    found = codes.UNMET_EXPECTATION.at(file.at(), message, help=cure)
    return found._replace(position=file.at(*path))


def _explaining(machine: GivenMachine, form: str, path: FieldPath, file: ExpectationsFile) -> str:
    if form != "vmi" or len(file.paths) != 1:
        return ""
    whole = list(path)
    while whole and isinstance(whole[-1], int):
        whole.pop()
    command = f"virt-render explain {machine.name} {fieldpath.text(tuple(whole))} {file.paths[0]}"
    return f"who decided it says {command}"


def _reviewing(file: ExpectationsFile) -> str:
    (path,) = file.paths
    between = " " if os.path.isdir(file.before) else " -- "
    return f"why says virt-render diff {file.before}{between}{path}"


def _difference(found: Unmet) -> str:
    if secrets.is_secret(found.path):
        return "is another one"
    if found.actual is ABSENT or found.actual is None:
        return "is not there"
    if found.expected is None:
        return f"is there: {_shown(found.actual)}"
    if isinstance(found.expected, list) and isinstance(found.actual, list):
        return f"has {len(found.actual)} items, and not {len(found.expected)}"
    there, wanted = (_shown(value) for value in (found.actual, found.expected))
    return f"is {there}, and not {wanted}"


_LONGEST = 60


def _shown(value: Any) -> str:
    """*value* without what is secret, in a line that is not too long to read."""
    shown = secrets.redacted(value)
    said = shown if isinstance(shown, str) else json.dumps(shown)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."


def _unmet_findings(
    one: Expectation, machine: GivenMachine, file: ExpectationsFile
) -> Iterator[Diagnostic]:
    """The findings of *machine* that *one* does not expect, and the other way round; without a word, the errors."""
    counting = [found for found in machine.diagnostics if found.severity is not Severity.INFO]
    if one.findings is None:
        counting = [found for found in counting if found.is_error]
    place = one.at() if one.findings is None else one.at("findings")
    for found in counting:
        if found.code not in (one.findings or ()):
            named = f"{found.field}: " if found.field and found.field not in found.message else ""
            yield _said(
                file, place, f"{machine.name}: {found.code}: {named}{found.message}", found.help
            )
    there = {found.code for found in machine.diagnostics}
    for code in one.findings or ():
        if code not in there:
            yield _said(file, place, f"{machine.name}: no {code} {codes.CODES[code].slug}")
