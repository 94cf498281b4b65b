"""``virt-render explain``: who decided each field of the VMI that a VM starts, and who wanted it otherwise."""

import json
import os
import re
from collections.abc import Iterable, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import is_missed, status
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit
from render.diff.compare import ORDER
from render.frontends import incomplete, locks
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.commands.committed.snapshots import elsewhere_too, request_at
from render.frontends.figures import machines_in
from render.frontends.inputs.elsewhere import DefinitionPlaces
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.request.request import Request
from render.frontends.session import (
    beside_the_rest,
    parts,
    rendering,
    unless_unread,
    unread,
    unread_texts,
)
from render.manifests.relevance import may_limit
from render.manifests.uses.destinations import applied_as
from render.model import fieldpath
from render.model.named_tuple import NamedTuple
from render.model.naming import ambiguity, fitting, name_of, spellings
from render.model.nearest import did_you_mean
from render.model.provenance import Decision
from render.model.regex import pattern
from render.model.resource import ResourceRef
from render.pipeline.input import definitions
from render.pipeline.provenance.deciders import Explained
from render.report import terminal
from render.report.deciders import (
    FORMAT_VERSION,
    Evidence,
    Input,
    brief,
    document,
    input_of,
    of_vmi,
    trace,
    words,
)
from render.report.findings import merge
from render.report.text import printable
from render.system.streams import STDOUT

#: What stands behind the VM, each at most once.
_USAGE = ("[FIELD]", "[PATH]")
#: The first step of a field of the pod.
_POD = "pod"
_FEW = 5
#: What stands in a text that defines what VMs name, and not in one that only has such VMs.
_DEFINING = (b"instancetype.kubevirt.io", b"flavor.kubevirt.io", b"ControllerRevision")
#: As kubectl names a VM: ``vm/web``.
_KIND = pattern(r"^(?:vms?|vmis?|virtualmachines?|virtualmachineinstances?)/")
_STEPS = pattern(r"[.\[]")


def explain(request: Request, work: Work) -> Answer:
    """Print the fields of a VM, each with its value, who decided it, and who lost."""
    answer = _answer(request, work)
    part_request = answer.part.request
    is_json = part_request.own["format"] == "json"
    write = _as_json if is_json else _as_text
    manifests = input_of(answer.part.loaded, part_request.around, part_request.reading.limits)
    name = applied_as(answer.machine.resource, answer.part.loaded.namespace)
    text = write(name, answer.decisions, manifests)
    return Answer([text], (), unread=answer.unread, for_people=not is_json)


class _ExplainedPart(NamedTuple):
    """The *decisions* on what was asked of a *machine*, which stands in *part*; *unread* are others."""

    part: FleetPart
    machine: Explained
    decisions: list[Decision]
    unread: list[str]


def _answer(request: Request, work: Work) -> _ExplainedPart:
    """What ``[FIELD] [PATH]`` ask for, in this order; one word alone is either. Raises RefusedError."""
    words = request.paths
    if len(words) > len(_USAGE):
        raise refused(_unfit(f"cannot tell FIELD and PATH of {' '.join(words)}"))
    if len(words) == len(_USAGE):
        field, path = words
        if not os.path.exists(path):
            raise refused(_unfit(f"no file or folder {path}"))
        return _answer_at(path, field, request, work)
    word = words[0] if words else ""
    if not os.path.exists(word):
        return _answer_at(os.curdir, word, request, work)
    if not _is_bare(word):
        return _answer_at(word, "", request, work)
    try:  # a folder may be called as a field is
        return _answer_at(os.curdir, word, request, work)
    except RefusedError as as_field:
        try:
            return _answer_at(word, "", request, work)
        except RefusedError as as_path:
            is_usage = status(finding.diagnostic for finding in as_path.findings) is Exit.USAGE
            raise (as_field if is_usage else as_path) from None


def _unfit(message: str) -> Diagnostic:
    return codes.USAGE.at(Location(), message, help=f"virt-render explain VM {' '.join(_USAGE)}")


def _is_bare(word: str) -> bool:
    """Whether *word* is a folder's name alone, which may as well be meant for a field."""
    return os.path.isdir(word) and word.strip(".") != "" and os.sep not in word


def _answer_at(path: str, field: str, request: Request, work: Work) -> _ExplainedPart:
    """What is decided in *path* about *field*, about all fields without one. Raises RefusedError.

    What the VM misses there may stand elsewhere in the repository.
    """
    at_path, pods = request_at(request, path), _is_of_pod(field)
    parts_ = parts(at_path, work)
    part, machine = beside_the_rest(
        lambda: _found(request.own["vm"], parts_, work, pods=pods),
        lambda found: any(map(is_missed, found[1].diagnostics)),
        parts_,
        at_path,
        work,
    )
    _demand_decisions(machine, part, pods=pods)
    return _ExplainedPart(part, machine, _about(machine, field), incomplete.names(parts_))


def _is_of_pod(field: str) -> bool:
    return field.partition(".")[0] == _POD


def _found(
    name: str, parts_: Sequence[FleetPart], work: Work, *, pods: bool
) -> tuple[FleetPart, Explained]:
    """The VM *name*, and which of *parts_* has it. Raises RefusedError."""
    from render.pipeline.provenance import deciders

    for part in parts_:
        locks.choose(part.loaded, part.request)
    sound = [part for part in parts_ if not unread(part) or unread_texts(part.loaded)]
    plain = name.rpartition("/")[2]
    known: dict[str, list[tuple[FleetPart, Explained]]] = {}
    for part in sound:
        if len(sound) > 1 and not any(resource.name == plain for resource in part.resources):
            continue
        work.begin("render", rendering(part.loaded))
        for explained in deciders.explain(part.resources, part.request.settings, pods=pods):
            placed = applied_as(explained.resource, part.loaded.namespace)
            known.setdefault(name_of(placed), []).append((part, explained))
    names = fitting(name, known) or fitting(_KIND.sub("", name), known)
    if not names:
        raise _missing(name, parts_)
    if len(names) > 1:
        message, cure = ambiguity(name, names)
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    several = known[names[0]]
    part, chosen = several[0]
    if len(several) > 1:
        message, cure = elsewhere_too("explain", names[0], [candidate for candidate, _ in several])
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    return part, chosen


def _demand_decisions(machine: Explained, part: FleetPart, *, pods: bool) -> None:
    """Raise RefusedError where nobody can tell who decides the fields of *machine*, which stands in *part*."""
    if _may_depend(machine, unread_texts(part.loaded), pods=pods):
        name = name_of(applied_as(machine.resource, part.loaded.namespace))
        raise _undecided(name, part)
    if not machine.decisions:
        diagnostics = [_naming_holder(each, part) for each in machine.diagnostics]
        named = DefinitionPlaces().named(diagnostics, part)
        raise RefusedError(merge(findings_of(part.loaded, named, part.request)))


def _undecided(name: str, part: FleetPart) -> RefusedError:
    """That what decides the VM *name* may stand in what of *part* cannot be read, and why that cannot be."""
    message = f"what decides {name} may stand in {unread(part)}"
    why = codes.USAGE.at(Location(), message, severity=Severity.WARNING)
    diagnostics = [*part.loaded.diagnostics, why]
    return RefusedError(merge(findings_of(part.loaded, diagnostics, part.request)))


def _naming_holder(diagnostic: Diagnostic, part: FleetPart) -> Diagnostic:
    """*diagnostic* with what cannot be read and may hold what it misses; without that there is nothing to tell."""
    named = unless_unread(diagnostic, part.loaded, part.resources)
    return named._replace(severity=diagnostic.severity)


def _may_depend(explained: Explained, unread: Sequence[bytes], *, pods: bool) -> bool:
    """Whether one of the texts *unread* may say something of what *explained* is made of."""
    if unread and any(codes.CODES[diagnostic.code].follows for diagnostic in explained.diagnostics):
        return True
    deciders = (
        each for decision in explained.decisions for each in (decision.winner, *decision.losers)
    )
    names = {
        decider.source.name.encode()
        for decider in deciders
        if decider.source is not None and decider.source != explained.resource
    }
    return any(
        (pods and may_limit(text))
        or (any(name in text for name in names) and any(word in text for word in _DEFINING))
        for text in unread
    )


def _missing(name: str, parts_: Sequence[FleetPart]) -> RefusedError:
    """That no VM is called *name*, or why that cannot be told."""
    findings = incomplete.faults(parts_)
    resources = (resource for part in parts_ for resource in part.resources)
    names = {name_of(resource) for resource in resources if definitions.is_machine(resource)}
    # It is there, and these say why nothing more can be told of it.
    if findings and fitting(name, names):
        return RefusedError(merge(findings))
    otherwise = _some(sorted(names))
    if _KIND.fullmatch(f"{name}/"):
        otherwise = f"the VM stands without its kind: {otherwise}"
    elif os.path.exists(name):
        otherwise = f"the VM comes first, as in 'virt-render explain VM {name}': {otherwise}"
    cure = _of_template(name, parts_) or did_you_mean(name, spellings(names), otherwise)
    beside = [*incomplete.beside(parts_)]
    message = f"no VirtualMachine {name}{' in what can be read' if findings or beside else ''}"
    if beside and not findings:
        known = codes.USAGE.at(Location(), message, help=cure)
        return RefusedError(merge([*refused(known).findings, *beside]))
    if findings:
        known = codes.USAGE.at(Location(), message, severity=Severity.WARNING, help=cure)
        return RefusedError(merge([*findings, *(refused(known).findings if names else ())]))
    return refused(codes.USAGE.at(Location(), message, help=cure))


def _of_template(name: str, parts_: Iterable[FleetPart]) -> str:
    """What to do where *name* is that of an object which VMs are made of; nothing if it is not."""
    plain = name.rpartition("/")[2]
    for part in parts_:
        for resource in part.resources:
            is_named = resource.name == plain and not definitions.is_machine(resource)
            if is_named and machines_in(resource.body):
                title = f"{resource.kind} {plain}"
                return f"{title} is no VM yet: explain tells of what is made of it, once that is in a file"
    return ""


def _some(names: Sequence[str]) -> str:
    """A few of the VMs that there are, for who does not know how they are called."""
    if not names:
        return "no VirtualMachine is there at all; name the PATH where they are"
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return f"there are {', '.join(names[:_FEW])}{more}"


def _about(explained: Explained, field: str) -> list[Decision]:
    """The decisions on *field* and what is below it, on all without one. Raises RefusedError."""
    of_pod = _is_of_pod(field)
    inner = field.partition(".")[2] if of_pod else field
    wanted = f".{of_vmi(inner).removesuffix(ORDER)}"
    chosen = [
        decision
        for decision in explained.decisions
        if not inner or _has(decision.text, wanted) or _has(fieldpath.text(decision.field), wanted)
    ]
    if chosen:
        return chosen
    sought = field if of_pod else wanted[1:]
    listed = (
        f"as FIELD, {_POD} lists all of the pod" if of_pod else "without a FIELD all are listed"
    )
    cure = _near(sought, [decision.text for decision in explained.decisions], listed)
    more = "" if os.path.exists(field) else ", and no file or folder is called so"
    message = f"{explained.resource} starts with no field {field}{more}"
    raise refused(codes.USAGE.at(Location(), message, help=cure))


def _near(sought: str, fields: Sequence[str], otherwise: str) -> str:
    """What FIELD is for the word *sought*, which is none of *fields*: an item called so, or a word like it."""
    items = dict.fromkeys(
        step
        for field in fields
        for step in field.split(".")
        if sought and step.endswith(f"[{sought}]")
    )
    if items:
        return f"did you mean {' or '.join(items)}?"
    around = {field[: step.start()] for field in fields for step in _STEPS.finditer(field)}
    known = [*sorted(around), *fields]
    steps = sought.count(".") + 1  # FIELD may be the last of them: cpu, memory.guest
    ends = (".".join(field.split(".")[-steps:]) for field in known)
    return did_you_mean(sought, [*known, *(end for end in ends if end != sought)], otherwise)


def _has(field: str, wanted: str) -> bool:
    """Whether *wanted* is all of *field*, some whole steps of it, or something around it.

    One step alone is none below an item: of ``name`` each has one.
    """
    alone = "" if "." in wanted[1:] else r"(?<!\])"
    return re.search(rf"{alone}{re.escape(wanted)}(?=[.\[]|$)", f".{field}") is not None


def _as_text(name: ResourceRef, decisions: list[Decision], manifests: Input) -> str:
    colour = terminal.is_coloured(STDOUT)
    lines = [terminal.painted(printable(str(name)), terminal.BOLD, colour=colour)]
    for decision in decisions:
        winner, *losers = trace(decision, manifests)
        made = "virt-controller" if decision.field[0] == _POD else words(winner, decision.text)
        reason = f"= {decision.sum}" if decision.sum else made
        lines.append(
            f"  {printable(decision.text)}: {_value(winner, terminal.GREEN)}  {_who(reason)}"
        )
        lines += (
            f"    lost: {_value(each, terminal.RED)}  {_who(words(each, decision.text))}"
            for each in losers
        )
    return "".join(f"{line}\n" for line in lines)


def _value(evidence: Evidence, style: str) -> str:
    value = printable(brief(evidence.contender.value))
    return terminal.painted(value, style, colour=terminal.is_coloured(STDOUT))


def _who(decider: str) -> str:
    return terminal.painted(printable(decider), terminal.DIM, colour=terminal.is_coloured(STDOUT))


def _as_json(name: ResourceRef, decisions: list[Decision], manifests: Input) -> str:
    answer = {
        "formatVersion": FORMAT_VERSION,
        "resource": name._asdict(),
        "fields": [document(decision, manifests) for decision in decisions],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
