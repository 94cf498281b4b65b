"""``virt-render factor``: which definitions give exactly the VMI that each VM has, and the files with them."""

from collections.abc import Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.frontends import incomplete, locks, patching
from render.frontends.answer import Answer, Files, RefusedError, refused
from render.frontends.factor import report
from render.frontends.factor.files import FactoredPart, Writability, WrittenPart, written
from render.frontends.factor.users import InputUsers
from render.frontends.fixing import Editable
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import demand, no_objects, parts, unread, unread_status, unread_texts
from render.model.naming import fitting, spellings
from render.model.nearest import did_you_mean
from render.pipeline.factor import retirement, standins
from render.pipeline.factor.answers import Factoring, PresetFactoring
from render.pipeline.factor.fleet import FactorOptions, Factory, names
from render.pipeline.input import releases
from render.report.findings import merge

_STDIN = "-"
_NOTHING = "nothing is to be written: --dry-run says why of each VM"


def factor(request: Request, work: Work) -> Answer:
    """Say what fits each VM below the paths; ``--write`` rewrites their files, ``--dry-run`` and ``--diff`` as if."""
    writes = request.own["write"] or request.own["dry_run"] or request.own["diff"]
    if writes and _STDIN in request.paths:
        message = "standard input is no file that could be rewritten"
        raise refused(codes.USAGE.at(Location(), message, help="name files or folders"))
    read = parts(request, work)
    for part in read:
        demand(part, request)
    sound = [part for part in read if not unread(part) or unread_texts(part.loaded)]
    if read and not sound:
        raise RefusedError(merge(incomplete.faults(read)))
    if _is_empty(request, read):  # its writer has failed
        raise refused(no_objects(request, read[0].loaded))
    _check_names(request, sound)
    factored = list(_factored(request, sound, work))
    _keep_shared_presets(factored, read, sound)
    if writes:
        _prove(factored, request, work)
    output = _output(request, factored)
    return Answer(
        [output],
        (),
        unread_status(read),
        notes=(_NOTHING,) if request.own["diff"] and not output else (),
        files=_files(request, factored),
        unread=incomplete.names(read),
        for_people=not request.own["diff"] and request.own["format"] != "json",
    )


def _is_empty(request: Request, read: Sequence[FleetPart]) -> bool:
    """Whether nothing stands on the standard input that *read* is, and nobody accepts that."""
    is_allowed = request.paths != (_STDIN,) or request.settings.allow_empty
    return not is_allowed and not any(part.loaded.documents for part in read)


def _prove(factored: Sequence[FactoredPart], request: Request, work: Work) -> None:
    """Set what is written of each part: of bases before what is built on them, which has it then."""
    writability = Writability(Editable(request), InputUsers(request))
    earlier: list[WrittenPart] = []
    for factored_part in sorted(factored, key=lambda each: len(each.part.loaded.bases)):
        work.begin("factor", f"proving what is written of {factored_part.part.loaded.folder}")
        factored_part.written = written(factored_part, request, writability, earlier)
        earlier.append(factored_part.written)


def _check_names(request: Request, read: Sequence[FleetPart]) -> None:
    """Refuse a VM that is asked for and is not there. Raises RefusedError."""
    known = {name for part in read for name in names(part.resources)}
    for name in request.own["only"]:
        if not fitting(name, known):
            cure = did_you_mean(name, spellings(known))
            raise refused(codes.USAGE.at(Location(), f"no VirtualMachine {name}", help=cure))


def _factored(request: Request, read: Sequence[FleetPart], work: Work) -> "Sequence[FactoredPart]":
    options = FactorOptions(
        request.own["max_new"],
        tuple(request.own["only"]),
        near=request.own["near"],
        restart=request.own["restart"],
    )
    factored = []
    for part in read:
        work.begin("factor", f"looking for definitions in {part.loaded.folder}")
        locks.choose(part.loaded, part.request)
        factoring: Factoring = Factory(part.resources, part.request.settings, options).factoring()
        options = options._replace(
            max_new=max(
                0,
                options.max_new
                - len({_spec_text(definition.body) for definition in factoring.definitions}),
            )
        )
        if _may_be_other(factoring, unread_texts(part.loaded)):
            continue
        if factoring.machines or factoring.presets:
            factored.append(FactoredPart(part, factoring))
    return factored


def _may_be_other(factoring: Factoring, texts: Sequence[bytes]) -> bool:
    """Whether one of the unread *texts* may hold another definition of a name that *factoring* gives to VMs."""
    definition_names = {
        definition.name.encode()
        for machine in factoring.machines
        for definition in (machine.instancetype, machine.preference)
        if definition is not None
    }
    return any(name in text for text in texts for name in definition_names)


def _keep_shared_presets(
    factored: Sequence[FactoredPart], read: Sequence[FleetPart], sound: Sequence[FleetPart]
) -> None:
    """Let presets stay that select machines of other parts, too; where one cannot be read, nobody knows."""
    if not any(factored_part.factoring.presets for factored_part in factored):
        return
    if len(sound) < len(read) or any(map(unread, sound)):
        others = None
    else:
        others = []
        for part in sound:
            held = standins.of(part.resources)
            others.append((part, held, retirement.Selection(held)))
    for factored_part in factored:
        presets = tuple(
            preset._replace(reason=preset.reason or _other_users(preset, factored_part, others))
            for preset in factored_part.factoring.presets
        )
        factored_part.factoring = factored_part.factoring._replace(presets=presets)


def _other_users(
    preset: PresetFactoring,
    factored_part: FactoredPart,
    others: Sequence[tuple[FleetPart, standins.Held, retirement.Selection]] | None,
) -> str:
    """A machine of the *others* that *preset*, of *factored_part*, selects, in words; None of them: nobody knows."""
    if others is None:
        return "not all of the input could be read"
    resource, settings = (
        factored_part.part.resources[preset.index],
        factored_part.part.request.settings,
    )
    release = releases.target(factored_part.part.resources, settings).release
    for other, held, selection in others:
        if other is not factored_part.part:
            for user in selection.users(resource, settings.namespace, release):
                return f"{held.written(user.index)[0].ref} of {other.loaded.folder} has its labels"
    return ""


def _spec_text(body: object) -> str:
    return repr(body["spec"]) if isinstance(body, dict) else ""


def _output(request: Request, factored: Sequence[FactoredPart]) -> str:
    if request.own["diff"]:
        return patching.painted(_changes(factored))
    write = report.as_json if request.own["format"] == "json" else report.as_text
    return write(factored, request)


def _changes(factored: Sequence[FactoredPart]) -> list[patching.FileChange]:
    written_parts: list[WrittenPart] = [
        factored_part.written for factored_part in factored if factored_part.written is not None
    ]
    return [
        patching.FileChange(file, written_part.known.get(file, b"").decode(), text)
        for written_part in written_parts
        for file, text in sorted(written_part.texts.items())
    ]


def _files(request: Request, factored: Sequence[FactoredPart]) -> Files | None:
    if not request.own["write"] or request.own["dry_run"] or request.own["diff"]:
        return None
    written_parts = [
        factored_part.written for factored_part in factored if factored_part.written is not None
    ]
    texts = [
        (file, text)
        for written_part in written_parts
        for file, text in sorted(written_part.texts.items())
    ]
    known = [
        (file, data) for written_part in written_parts for file, data in written_part.known.items()
    ]
    return Files(texts, known)
