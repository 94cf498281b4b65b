"""``virt-render factor``: which definitions give exactly the VMI that each VM has, and the files with them."""

from collections.abc import Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.frontends import locks, patching
from render.frontends.answer import Answer, Files, refused
from render.frontends.factor import report
from render.frontends.factor.files import FactoredPart, WrittenPart, written
from render.frontends.fixing import Editable
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import parts, unread, unread_texts
from render.model.naming import fitting
from render.pipeline.factor import retirement, standins
from render.pipeline.factor.answers import Factoring, PresetFactoring
from render.pipeline.factor.fleet import FactorOptions, Factory, names
from render.pipeline.input import releases

_STDIN = "-"


def factor(asked: Request, work: Work) -> Answer:
    """Say what fits each VM below the paths; ``--write`` rewrites their files, ``--dry-run`` and ``--diff`` as if."""
    writes = asked.own["write"] or asked.own["dry_run"] or asked.own["diff"]
    if writes and _STDIN in asked.paths:
        message = "standard input is no file that could be rewritten"
        raise refused(codes.USAGE.at(Location(), message, help="name files or folders"))
    read = parts(asked, work)
    sound = [part for part in read if not unread(part) or unread_texts(part.loaded)]
    _check_names(asked, sound)
    factored = list(_factored(asked, sound, work))
    _keep_shared_presets(factored, read, sound)
    editable = Editable(asked)
    if writes:
        for one in factored:
            work.begin("factor", f"proving what is written of {one.part.loaded.folder}")
            one.written = written(one, asked, editable)
    missing = [words for part in read if (words := unread(part))]
    return Answer([_output(asked, factored)], (), files=_files(asked, factored), unread=missing)


def _check_names(asked: Request, read: Sequence[FleetPart]) -> None:
    """Refuse a VM that is asked for and is not there. Raises RefusedError."""
    known = {name for part in read for name in names(part.resources)}
    for name in asked.own["only"]:
        if not fitting(name, known):
            from render.model.nearest import nearest

            near = nearest(name, sorted({*known, *(one.rpartition("/")[2] for one in known)}))
            cure = f"did you mean {near}?" if near else ""
            raise refused(codes.USAGE.at(Location(), f"no VirtualMachine {name}", help=cure))


def _factored(asked: Request, read: Sequence[FleetPart], work: Work) -> "Sequence[FactoredPart]":
    options = FactorOptions(
        asked.own["max_new"],
        tuple(asked.own["only"]),
        near=asked.own["near"],
        restart=asked.own["restart"],
    )
    factored = []
    for part in read:
        work.begin("factor", f"looking for definitions in {part.loaded.folder}")
        locks.choose(part.loaded, part.request)
        factoring: Factoring = Factory(part.resources, part.request.settings, options).factoring()
        options = options._replace(
            max_new=max(
                0, options.max_new - len({_content(one.body) for one in factoring.definitions})
            )
        )
        if _may_be_other(factoring, unread_texts(part.loaded)):
            continue
        if factoring.machines or factoring.presets:
            factored.append(FactoredPart(part, factoring))
    return factored


def _may_be_other(factoring: Factoring, unread: Sequence[bytes]) -> bool:
    """Whether one of the texts *unread* may hold another definition of a name that *factoring* gives to VMs."""
    given = {
        definition.name.encode()
        for one in factoring.machines
        for definition in (one.instancetype, one.preference)
        if definition is not None
    }
    return any(name in text for text in unread for name in given)


def _keep_shared_presets(
    factored: Sequence[FactoredPart], read: Sequence[FleetPart], sound: Sequence[FleetPart]
) -> None:
    """Let presets stay that select machines of other parts, too; where one cannot be read, nobody knows."""
    if not any(one.factoring.presets for one in factored):
        return
    if len(sound) < len(read) or any(map(unread, sound)):
        others = None
    else:
        others = [(part, standins.of(part.resources)) for part in sound]
    for one in factored:
        presets = tuple(
            preset._replace(reason=preset.reason or _other_users(preset, one, others))
            for preset in one.factoring.presets
        )
        one.factoring = one.factoring._replace(presets=presets)


def _other_users(
    preset: PresetFactoring,
    one: FactoredPart,
    others: Sequence[tuple[FleetPart, standins.Held]] | None,
) -> str:
    """A machine of the *others* that *preset*, of the part *one*, selects, in words; None of them: nobody knows."""
    if others is None:
        return "not all of the input could be read"
    resource, settings = one.part.resources[preset.index], one.part.request.settings
    release = releases.target(one.part.resources, settings).release
    for other, held in others:
        if other is not one.part:
            users = retirement.users(resource, held, settings.namespace, release)
            for user in users:
                return f"{held.written(user.index)[0].ref} of {other.loaded.folder} has its labels"
    return ""


def _content(body: object) -> str:
    return repr(body["spec"]) if isinstance(body, dict) else ""


def _output(asked: Request, factored: Sequence[FactoredPart]) -> str:
    if asked.own["diff"]:
        return patching.diff(_changes(factored))
    write = report.as_json if asked.own["format"] == "json" else report.as_text
    return write(factored, asked)


def _changes(factored: Sequence[FactoredPart]) -> list[patching.FileChange]:
    written_parts: list[WrittenPart] = [one.written for one in factored if one.written is not None]
    return [
        patching.FileChange(file, one.known.get(file, b"").decode(), text)
        for one in written_parts
        for file, text in sorted(one.texts.items())
    ]


def _files(asked: Request, factored: Sequence[FactoredPart]) -> Files | None:
    if not asked.own["write"] or asked.own["dry_run"] or asked.own["diff"]:
        return None
    written_parts = [one.written for one in factored if one.written is not None]
    texts = [(file, text) for one in written_parts for file, text in sorted(one.texts.items())]
    known = [(file, data) for one in written_parts for file, data in one.known.items()]
    return Files(texts, known)
