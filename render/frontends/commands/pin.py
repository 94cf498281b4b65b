"""``virt-render pin``: decide in Git what VMs run."""

import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import is_missed, status
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.frontends import locks
from render.frontends.answer import Answer, Files, refused
from render.frontends.commands.baseline import accepted_by, without
from render.frontends.commands.upgrades import choice, tables
from render.frontends.figures import machines_in, tally_of
from render.frontends.inputs.elsewhere import DefinitionPlaces
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import as_note, findings_of, outcome
from render.frontends.request.request import Request
from render.frontends.session import (
    below_unbuilt,
    beside_the_rest,
    fleet,
    is_repository,
    rendering,
    single,
    unless_unread,
    unread_texts,
    without_unclear,
)
from render.manifests import discover, kustomization
from render.manifests.discover import tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.manifests.sources import loading, walk
from render.manifests.sources.reading import Reading
from render.model.counting import counted
from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.named_tuple import NamedTuple
from render.model.resource import LOCK_KIND, VM, VMI, ResourceRef
from render.pipeline import pinning
from render.pipeline.pinning import Adopted, PinMove, Pinned
from render.report.findings import Finding, merge, of_all_inputs
from render.report.places import Sources
from render.report.summary import Tally
from render.report.text import printable
from render.revisions import lockfile
from render.revisions.lockfile import Lock
from render.system import files
from render.system.streams import standard_input
from render.yaml import writer
from render.yaml.reader import read

_HEAD = "# Written by 'virt-render pin'. After a conflict in git: 'virt-render pin --resolve'.\n"


class _PinTarget(NamedTuple):
    """A part of a run, the file of its lock, and what that should say.

    *clashes*: the VMs of which others that share the lock say something else.
    """

    part: FleetPart
    target: str
    pinned: Pinned
    clashes: tuple[str, ...] = ()


def pin(request: Request, work: Work) -> Answer:
    """Write the lock of each kustomization and root, or say what would change; a table of what moved goes to stdout."""
    if request.own["resolve"]:
        return _resolve_all(request)
    targets = _targets(request, work)
    everywhere = [*work.parts]
    for target in targets:
        written = not request.own["check"]
        locks.choose(target.part.loaded, target.part.request, new=True, written=written)
    ignored = {} if request.own["dry_run"] else locks.ignored({each.target for each in targets})
    for target in targets:
        if target.target in ignored:
            target.part.loaded.diagnostics.append(ignored.pop(target.target))
    known = pinning.vms(vm for target in targets for vm in target.part.resources)
    upgrade, misused = choice.chosen(known, request, [target.part for target in targets])
    if misused:
        return Answer(findings=_unreadable(everywhere), faults=misused)
    dump, faults = _dump(request, work)
    waves = bool(request.own["limit"] or request.own["percent"]) and not faults
    pinned, told = beside_the_rest(
        lambda: _decided(targets, upgrade, dump, request, work, waves=waves),
        lambda decided: any(map(_misses, decided[0])),
        [target.part for target in targets],
        request,
        work,
    )
    places = DefinitionPlaces()
    for target in pinned:
        found = [*target.part.diagnostics, *_found(target)]
        target.part.diagnostics = places.named(found, target.part)
        target.part.is_rendered = True
    work.parts = [target.part for target in pinned]
    return _answer(_joined(pinned), faults, told, request, everywhere)


def _decided(  # noqa: PLR0913 - what a run of the command has once
    targets: Sequence[_PinTarget],
    upgrade: frozenset[str],
    dump: FleetPart | None,
    request: Request,
    work: Work,
    *,
    waves: bool,
) -> tuple[list[_PinTarget], str]:
    """*targets* with what their locks should say, and of an upgrade in *waves* which VMs this one has, in words."""
    adopted = [_adopted(target, dump) for target in targets]
    everything = [upgrade] * len(targets)
    told = ""
    if waves:
        nothing: list[frozenset[str]] = [frozenset()] * len(targets)
        before, after = (_locks(targets, vms, adopted, work) for vms in (nothing, everything))
        first = choice.wave(before, after, request)
        everything, told = first.vms, _told(first, request)
    locked = _locks(targets, everything, adopted, work)
    pairs = zip(targets, locked, strict=True)
    return [target._replace(pinned=result) for target, result in pairs], told


def _misses(target: _PinTarget) -> bool:
    """Whether *target* misses what may stand elsewhere in the repository: what a VM names, or what a lock pins."""
    return any(map(is_missed, target.pinned.diagnostics))


def _unreadable(parts: Iterable[FleetPart]) -> list[Finding]:
    """Why some of *parts* cannot be read: a VM that is asked for may stand there."""
    return merge(
        finding
        for part in parts
        for finding in findings_of(
            part.loaded,
            [fault for fault in part.loaded.diagnostics if fault.is_error],
            part.request,
        )
    )


def _makers(parts: Iterable[FleetPart]) -> Counter[str]:
    """The objects of *parts* that VMs are made of, and that no lock pins, by kind."""
    return Counter(
        resource.kind
        for part in parts
        for resource in part.resources
        if resource.kind not in (VM, VMI) and machines_in(resource.body)
    )


def _joined(targets: Sequence[_PinTarget]) -> list[_PinTarget]:
    """*targets*, those with one lock, for several fill in that folder, with all that it should say."""
    shared: dict[str, list[_PinTarget]] = {}
    for target in targets:
        shared.setdefault(target.target, []).append(target)
    return [joined for several in shared.values() for joined in _sharing(several)]


def _sharing(several: Sequence[_PinTarget]) -> Iterator[_PinTarget]:
    """Those of *several* that share a lock; who no longer has a VM is told once, and not where another has it."""
    if len(several) == 1:
        yield from several
        return
    lock, clashes = pinning.joined(target.pinned for target in several)
    told = {*lock.pins}
    for target in several:
        moves = [move for move in target.pinned.moves if move.new or move.vm not in told]
        told.update(move.vm for move in moves)
        yield target._replace(
            pinned=target.pinned._replace(lock=lock, moves=moves), clashes=clashes
        )


def _adopted(target: _PinTarget, dump: FleetPart | None) -> Adopted | None:
    """What the VMs of *target* run in the cluster that *dump* is of."""
    if dump is None:
        return None
    adopted = pinning.adopt(dump.resources, target.part.resources, target.part.request.settings)
    return adopted._replace(diagnostics=_placed(adopted.diagnostics, dump.loaded))


def _locks(
    targets: Sequence[_PinTarget],
    upgrades: Sequence[frozenset[str]],
    adopted: Sequence[Adopted | None],
    work: Work,
) -> list[Pinned]:
    """What each lock should say, with the VMs of *upgrades* for each, and what was *adopted* for it."""
    pinned = []
    for target, upgrade, running in zip(targets, upgrades, adopted, strict=True):
        work.begin("render", rendering(target.part.loaded))
        settings, unread = target.part.request.settings, unread_texts(target.part.loaded)
        pinned.append(pinning.pin(target.part.resources, settings, upgrade, running, unread))
    return pinned


def _found(target: _PinTarget) -> list[Diagnostic]:
    """What was found in rendering *target*, but that something misses what may stand where nobody can read.

    A VM that is filled in later is left aside, and no fault of the others.
    """
    loaded, resources = target.part.loaded, target.part.resources
    unread = loaded.unread_files
    is_doubtful = bool(unread_texts(loaded)) or any(
        error.location.file not in unread for error in loaded.diagnostics if error.is_error
    )
    kept: list[Diagnostic] = []
    doubtful: set[int | None] = set()
    for found in target.pinned.diagnostics:
        is_apart = found.code == codes.PLACEHOLDER.number and _is_apart(
            found.resource, target.pinned
        )
        diagnostic = as_note(found) if is_apart else found
        missing = unless_unread(diagnostic, loaded, resources)
        follows = codes.CODES[diagnostic.code].follows
        is_dropped = is_doubtful and follows
        if is_dropped or (follows and missing is not diagnostic):
            doubtful.add(diagnostic.location.index)
        if not is_dropped:
            kept.append(missing)
    return without_unclear(kept, doubtful)


def _is_apart(resource: ResourceRef | None, pinned: Pinned) -> bool:
    """Whether no VM is *pinned* as it is because of *resource*: it is a VM itself, or a definition of none of them."""
    if resource is None or resource.kind not in INSTANCETYPES | PREFERENCES:
        return resource is not None and resource.kind == VM
    entries = (entry for pin in pinned.lock.pins.values() for entry in pin.entries.values())
    used = {(entry.ref.kind, entry.ref.name) for entry in entries if entry.ref is not None}
    return (resource.kind, resource.name) not in used


def _told(first: choice.Wave, request: Request) -> str:
    """How much of an upgrade this run makes."""
    whole = counted(first.whole, "VM")
    verb = "would be upgraded" if request.own["dry_run"] else "upgraded"
    if first.made == first.whole:
        return f"{verb}: {whole}, the last that would change\n" if first.whole else ""
    return f"{verb}: {first.made:,} of {whole} that would change, the first by name; the next run takes the next\n"


def _dump(request: Request, work: Work) -> tuple[FleetPart | None, list[Diagnostic]]:
    """What the file says that ``--from`` names, and what is wrong with it."""
    file = request.own["from"]
    if not file:
        return None, []
    work.doing = f"reading {file}"
    dump = FleetPart(
        loading.load([file], Reading(request.reading.limits, standard_input())), request
    )
    return dump, [fault for fault in dump.diagnostics if fault.is_error]


def _answer(
    targets: Sequence[_PinTarget],
    faults: Sequence[Diagnostic],
    told: str,
    request: Request,
    everywhere: Sequence[FleetPart],
) -> Answer:
    """The locks of what has no error, or what would be written; the others are named; and what is *told* of a wave.

    *everywhere* is all that was read, also where nothing is to be pinned.
    """
    judged = _judged(targets, everywhere, request)
    sound = [target for target in targets if target.part not in judged.unsound]
    found = [*faults, *(finding.diagnostic for finding in judged.findings)]
    if not any(target.pinned.lock.pins for target in targets) and not request.settings.allow_empty:
        if not status(found):
            faults = [_nothing_to_pin(_makers(everywhere))]
        sound = []
    answer = Answer(findings=judged.findings, tally=judged.tally, faults=faults, for_people=True)
    unpinned = "".join(f"{printable(line)}\n" for line in (*judged.unsound.values(), *judged.left))
    if not sound and not status(found):
        answer.output = (unpinned,)
    elif not sound and not request.own["check"]:
        answer.exit, answer.notes = (
            outcome(found, request),
            [_nothing_written(targets, found, request)],
        )
    if faults or not sound:
        return answer
    if request.own["check"]:
        answer.findings = [*judged.findings, *_outdated_findings(sound, request)]
        return answer
    answer.exit = outcome(found, request)
    if request.own["dry_run"]:
        answer.output = (unpinned, *_previews(sound, request), told)
        return answer
    locks_ = [(target.target, target.pinned) for target in sound]
    answer.output = (unpinned, _moved(locks_, request, titled=len(targets) > 1), told)
    answer.files = _files(_worth_a_file(locks_, request), request)._replace(known=_known(sound))
    return answer


def _known(targets: Iterable[_PinTarget]) -> list[tuple[str, bytes]]:
    """What the locks of *targets* said when they were read, of those that are there."""
    texts = {target.target: target.part.loaded.data for target in targets}
    return [(file, data[file]) for file, data in texts.items() if file in data]


def _nothing_written(
    targets: Iterable[_PinTarget], found: Iterable[Diagnostic], request: Request
) -> str:
    """That no lock is written, for how many of the errors *found*, and how to go on where they can be accepted."""
    verb = "would be" if request.own["dry_run"] else "was"
    errors = counted(sum(diagnostic.is_error for diagnostic in found), "error")
    unread = any(fault.is_error for target in targets for fault in target.part.loaded.diagnostics)
    way = "" if unread else "; --baseline FILE goes on with those that a report has"
    return f"no lock {verb} written: {errors}{way}"


def _nothing_to_pin(makers: Counter[str]) -> Diagnostic:
    """That there is no VM to pin, and which *makers* of VMs there are instead."""
    message = "no VirtualMachine in the input: the lock would pin nothing"
    cure = "check the path, or accept it with --allow-empty"
    if makers:
        kinds = ", ".join(counted(count, kind) for kind, count in sorted(makers.items()))
        message = f"no VirtualMachine in the input but what {kinds} would make: the lock would pin nothing"
        cure = "what is made of these has no pins; accept that with --allow-empty"
    return codes.NO_OBJECTS.at(Location(), message, help=cure)


class _Judged(NamedTuple):
    """What was found, but for what is accepted; the figures; and which parts get no lock, each in words.

    *left*: of the others, what is not pinned, in words too.
    """

    findings: list[Finding]
    tally: Tally
    unsound: Mapping[FleetPart, str]
    left: Sequence[str] = ()


def _faults(part: FleetPart, errors: Collection[tuple[object, ...]]) -> list[Diagnostic]:
    """Why nobody knows of every VM of *part*: what cannot be read, and which of the *errors* are its own."""
    loaded = part.loaded.diagnostics
    is_parted = bool(unread_texts(part.loaded))
    unread = [diagnostic for diagnostic in loaded if diagnostic.is_error and not is_parted]
    others = (
        diagnostic
        for diagnostic in part.diagnostics[len(loaded) if is_parted else 0 :]
        if diagnostic.is_error
        and _identity(diagnostic) in errors
        and not _is_of_others(diagnostic, part)
    )
    return [*unread, *others]


def _judged(
    targets: Sequence[_PinTarget], everywhere: Sequence[FleetPart], request: Request
) -> _Judged:
    """What is wrong with *targets*. Who writes a lock must know of every VM, and so what cannot be read.

    What was not looked at is said of all that was read, *everywhere*.
    """
    parts = [target.part for target in targets]
    parts += [part for part in everywhere if part not in parts]
    findings, accepted = _unaccepted(parts, request)
    errors = {_identity(finding.diagnostic) for finding in findings if finding.diagnostic.is_error}
    unsound = {}
    left: list[str] = []
    for target in targets:
        part = target.part
        faults = _faults(part, errors)
        if target.clashes:
            unsound[part] = (
                f"not pinned: {part.loaded.title}: {target.clashes[0]} is another VM where others fill in that folder;"
                " give each a lock of its own (--lock FILE, the parameter lock)"
            )
        elif faults:
            named = dict.fromkeys(diagnostic.code for diagnostic in faults)
            unsound[part] = f"not pinned: {part.loaded.title} ({', '.join(named)})"
        else:
            left += _left(target)
    broken = {known.target: known.part.loaded.name for known in targets if known.part in unsound}
    for other in targets:
        if other.target in broken and other.part not in unsound:
            unsound[other.part] = (
                f"not pinned: {other.part.loaded.title}: {broken[other.target]} has the same lock"
            )
    return _Judged(
        of_all_inputs(findings), tally_of(parts)._replace(accepted=accepted), unsound, left
    )


def _unaccepted(parts: Iterable[FleetPart], request: Request) -> tuple[list[Finding], int]:
    """What was found in *parts* but for what the baseline has; and how much that is."""
    parts = [*parts]
    found = merge(
        finding
        for part in parts
        for finding in findings_of(part.loaded, part.diagnostics, part.request)
    )
    if not request.own["baseline"]:
        return found, 0
    return without(found, accepted_by(request.own["baseline"], request), parts)


def _left(target: _PinTarget) -> Iterator[str]:
    """The files of *target* that cannot be read, and the VMs that may depend on them, in words."""
    for file, numbers in target.part.loaded.unread_files.items():
        yield f"not pinned: {file} ({', '.join(numbers)})"
    known = pinning.vms(target.part.resources)
    for vm in target.pinned.left:
        reasons = dict.fromkeys(
            diagnostic.code
            for diagnostic in target.part.diagnostics
            if diagnostic.is_error or diagnostic.code == codes.PLACEHOLDER.number
            if diagnostic.resource == known[vm].ref
        )
        if reasons:
            yield f"not pinned: {vm} ({', '.join(reasons)})"
        else:
            yield f"not pinned: {vm}, whose definitions may stand in what cannot be read"


def _is_of_others(error: Diagnostic, part: FleetPart) -> bool:
    """Whether *error* is of a field that the API server drops, in an object of another folder."""
    is_dropped = error.code == codes.UNKNOWN_FIELD.number
    return is_dropped and error.location.index in part.loaded.borrowed


def _identity(diagnostic: Diagnostic) -> tuple[object, ...]:
    return diagnostic.code, diagnostic.message, diagnostic.resource, diagnostic.location.path


def _outdated_findings(targets: Iterable[_PinTarget], request: Request) -> Iterator[Finding]:
    for target in targets:
        diagnostics = _outdated(target.pinned, target.target, request)
        yield from findings_of(target.part.loaded, diagnostics, target.part.request)


def _previews(targets: Iterable[_PinTarget], request: Request) -> Iterator[str]:
    each = request.reporting.verbose
    previews = (
        tables.preview(
            target.pinned, target.part.resources, target.part.request.settings, each=each
        )
        for target in targets
    )
    yield "".join(previews) or "nothing moved\n"


def _targets(request: Request, work: Work) -> list[_PinTarget]:
    """What is to be pinned, each with its lock: a folder that is no kustomization may hold several."""
    target = _target(request)
    nothing = Pinned(lockfile.EMPTY, [], [], "")
    path = request.paths[0] if request.paths else "."
    several = not request.reading.lock and (
        request.reading.kustomize == "never" or kustomization.find(path) is None
    )
    if not several or "-" in request.paths:
        part = _kustomization(path, request, work) or single(request, work)
        found = [] if request.reading.lock else below_unbuilt(part, request, work)
        if not found:
            return [_PinTarget(part, target, nothing)]
    else:
        found = [*fleet(request, work)]
    targets = [
        _PinTarget(part, tidy(os.path.join(part.loaded.folder, LOCK)), nothing) for part in found
    ]
    return [candidate for candidate in targets if _is_pinned(candidate)] or targets[:1]


def _kustomization(path: str, request: Request, work: Work) -> FleetPart | None:
    """That of the folder *path*, with what its VMs find in folders below, as `check` has it; None where it is none."""
    if len(request.paths) > 1 or is_repository(path, request) or not os.path.isdir(path):
        return None
    found = [*fleet(request, work)]
    own = [
        part for part in found if tidy(part.loaded.folder) == tidy(path) and part.loaded.documents
    ]
    if len(own) == 1:
        work.parts[:] = own
        return own[0]
    work.parts.clear()
    work.inputs.clear()
    return None


def _is_pinned(target: _PinTarget) -> bool:
    """Whether *target* has a VM or a lock, or cannot tell."""
    part = target.part
    faulty = any(diagnostic.is_error for diagnostic in part.diagnostics)
    return faulty or target.target in part.loaded.data or bool(pinning.vms(part.resources))


def _placed(diagnostics: Sequence[Diagnostic], dump: Documents) -> list[Diagnostic]:
    """*diagnostics* of *dump* with places that mean the same in the report of another input."""
    known = Sources([document.origin for document in dump.documents], dump.data)
    placed = []
    for diagnostic in diagnostics:
        place = known.place(diagnostic.location)
        location = Location(
            diagnostic.resource,
            diagnostic.location.path,
            None,
            place.file,
            place.line,
            place.column,
        )
        placed.append(diagnostic._replace(location=location))
    return placed


def _target(request: Request) -> str:
    """The file of the lock. Raises RefusedError where there is none."""
    if request.reading.lock:
        return request.reading.lock
    path = request.paths[0] if request.paths else "."
    if path != "-" and not os.path.lexists(path):
        raise refused(walk.not_there(path))
    if len(request.paths) > 1 or not os.path.isdir(path):
        message = "only a single folder has a lock of its own"
        raise refused(codes.USAGE.at(Location(), message, help="name the lock with --lock FILE"))
    target = os.path.normpath(os.path.join(path, LOCK))
    if discover.leads_out(target):
        raise refused(kustomization.outside(target))
    return target


def _outdated(pinned: Pinned, target: str, request: Request) -> Iterable[Diagnostic]:
    cure = "run virt-render pin and commit the lock"
    if "-" in request.paths:
        cure = f"pipe the same into virt-render pin --lock {target} - and commit the lock"
    elif locks.removed([os.path.dirname(target) or os.curdir]):
        cure = f"{target} was removed: {locks.brought_back(target)}, and virt-render pin would pin what is here now"
    expected = pinned.lock.pins or os.path.lexists(target)  # without VMs there need be no file
    missing = "" if os.path.lexists(target) else f": there is no {target}"
    same = pinned.lock.kubevirt == pinned.before  # another release may say it otherwise
    if expected and same and not pinned.moves and not _is_written(target, _text(pinned), request):
        message = f"{target} is not as virt-render pin writes it"
        yield codes.PIN_OUTDATED.at(Location(file=target), message, help=cure)
    for move in pinned.moves:
        place = at(move.resource) if move.resource else Location(file=target)
        if move.new is None:
            message = f"the lock pins {move.vm}, which is not in the input"
        elif move.old is None:
            message = f"{move.vm} is not pinned{missing}"
        elif move.new.revision != move.old.revision:
            message = (
                f"{move.vm} is at revision {move.old.revision} in the lock and would become revision "
                f"{move.new.revision}: it renders to something else"
            )
        else:
            message = f"the pin of {move.vm} would change: {', '.join(tables.changes(move.old, move.new))}"
        yield codes.PIN_OUTDATED.at(place, message, help=cure)


def _moved(locks_: Sequence[tuple[str, Pinned]], request: Request, *, titled: bool) -> str:
    """A table of what moved, one each for several locks."""
    moved: dict[str, list[PinMove]] = {}
    for target, pinned in locks_:
        if pinned.moves:
            moved.setdefault(target, []).extend(pinned.moves)
    each = request.reporting.verbose
    texts = [
        f"{printable(name)}\n" * titled + tables.moved(moves, each=each)
        for name, moves in moved.items()
    ]
    return "\n".join(texts) or "nothing moved\n"


def _files(locks_: Sequence[tuple[str, Pinned]], request: Request) -> Files:
    """The locks that are not written yet as they should be."""
    texts = [(target, _text(pinned)) for target, pinned in locks_]
    changed = [(target, text) for target, text in texts if not _is_written(target, text, request)]
    names = " and ".join(target for target, _ in changed)
    done = f"{names} {'was' if len(changed) == 1 else 'were'} written"
    return Files(changed, done=done if changed else "the lock was right already")


def _text(pinned: Pinned) -> str:
    return _HEAD + writer.dump(lockfile.document(pinned.lock))


def _worth_a_file(
    locks_: Iterable[tuple[str, Pinned]], request: Request
) -> list[tuple[str, Pinned]]:
    """Those of *locks_*, each file once, of which there is or shall be one: it is not made anew for nothing."""
    return [
        (target, pinned)
        for target, pinned in dict(locks_).items()
        if pinned.lock.pins or request.settings.allow_empty or os.path.lexists(target)
    ]


def _is_written(target: str, text: str, request: Request) -> bool:
    """Whether the lock is there as *text*; git may have given it other line ends."""
    if not os.path.exists(target):
        return False
    present = files.read(target, target, request.reading.limits.file_bytes)
    return isinstance(present, bytes) and present.replace(b"\r\n", b"\n") == text.encode()


def _resolve_all(request: Request) -> Answer:
    """Finish the merge of each lock at and below the path that git left half-merged, else of the one of the path."""
    target = _target(request)
    folder = os.path.dirname(target) or "."
    torn = [] if request.reading.lock else walk.torn_locks(folder, request.reading.limits)
    if torn and target not in torn and os.path.lexists(target) and _is_torn(target, request):
        torn.insert(0, target)
    if not torn and not request.reading.lock and not os.path.lexists(target):
        known = walk.locks(folder)
        message = "no lock has a conflict" if known else "there is no lock"
        cure = "'virt-render pin' updates a lock" if known else "'virt-render pin' writes one"
        fault = codes.USAGE.at(Location(), f"{message} in or below {folder}", help=cure)
        return Answer(faults=[fault])
    merged: list[tuple[str, Pinned]] = []
    faults: list[Diagnostic] = []
    for file in torn or [target]:
        resolved = _resolve(file, request)
        if isinstance(resolved, Pinned):
            merged.append((file, resolved))
        else:
            faults += resolved
    told = [_moved([lock], request, titled=False) for lock in merged]
    files_ = _files(merged, request)
    return Answer(told, exit=status(faults), faults=faults, files=files_, for_people=True)


def _resolve(target: str, request: Request) -> Pinned | list[Diagnostic]:
    """The two sides of an unfinished merge, merged by VM; or why not."""
    from render.system import git

    sides = (_is_torn(target, request) and git.committed_sides(target)) or git.sides(target)
    if isinstance(sides, Diagnostic):
        return [sides]
    parsed: list[Lock] = []
    faults: list[Diagnostic] = []
    for name, data in zip(("base", "ours", "theirs"), sides, strict=True):
        lock, wrong = _parse(data, f"{target} ({name})")
        parsed.append(lock)
        faults += wrong
    if faults:
        return faults
    merged, refused_vms = pinning.merge(*parsed)
    if refused_vms:
        name = shlex.quote(target)
        return [
            codes.MERGE_REFUSED.at(
                Location(file=target),
                f"both sides changed the pin of {vm}",
                help=f"take one side (git checkout --ours {name}, or --theirs), then run virt-render pin",
            )
            for vm in refused_vms
        ]
    old = parsed[1]
    moves = [
        PinMove(vm, old.pins.get(vm), merged.pins.get(vm), None)
        for vm in sorted(old.pins.keys() | merged.pins.keys())
        if old.pins.get(vm) != merged.pins.get(vm)
    ]
    return Pinned(merged, moves, [], old.kubevirt)


def _is_torn(target: str, request: Request) -> bool:
    """Whether the lock is one that git may have merged to without a conflict: well written, its contents not."""
    data = files.read(target, target, request.reading.limits.file_bytes)
    faults = _parse(data, target)[1] if isinstance(data, bytes) else []
    return bool(faults) and all(fault.code == codes.LOCK_EDITED.number for fault in faults)


def _parse(data: bytes, file: str) -> tuple[Lock, list[Diagnostic]]:
    if not data.strip():
        return lockfile.EMPTY, []
    contents = read(data, file)
    faults = [fault for fault in contents.diagnostics if fault.is_error]
    if faults or len(contents.documents) != 1:
        message = f"{file} is not one {LOCK_KIND}"
        return lockfile.EMPTY, faults or [codes.LOCK_INVALID.at(Location(file=file), message)]
    return lockfile.read(contents.documents[0].body, Location(file=file))
