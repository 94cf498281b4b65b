"""``virt-render pin``: decide in Git what VMs run."""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.frontends import locks
from render.frontends.answer import Answer, Files, refused
from render.frontends.commands.baseline import accepted_by, without
from render.frontends.commands.upgrades import choice, tables
from render.frontends.figures import tally_of
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, outcome
from render.frontends.request.request import Request
from render.frontends.session import fleet, rendering, single, unless_unread, unread_texts
from render.manifests import discover, kustomization
from render.manifests.discover import tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.manifests.sources import loading, walk
from render.manifests.sources.reading import Reading
from render.model.counting import counted
from render.model.resource import LOCK_KIND
from render.pipeline import pinning
from render.pipeline.pinning import Adopted, PinMove, Pinned
from render.report.findings import Finding, merge
from render.report.places import Sources
from render.report.summary import Tally
from render.revisions import lockfile
from render.revisions.lockfile import Lock
from render.system import files
from render.system.streams import standard_input
from render.yaml import writer
from render.yaml.reader import read

_HEAD = "# Written by 'virt-render pin'. After a conflict in git: 'virt-render pin --resolve'.\n"


class _PinTarget(NamedTuple):
    """A part of a run, the file of its lock, and what that should say."""

    part: FleetPart
    target: str
    pinned: Pinned


def pin(asked: Request, work: Work) -> Answer:
    """Write the lock of each kustomization and root, or say what would change; a table of what moved goes to stdout."""
    if asked.own["resolve"]:
        return _resolve_all(asked)
    targets = _targets(asked, work)
    for one in targets:
        written = not asked.own["check"]
        locks.choose(one.part.loaded, one.part.request, new=True, written=written)
    known = pinning.vms(vm for one in targets for vm in one.part.resources)
    upgrade, faults = choice.chosen(known, asked)
    dump, more = (None, []) if faults else _dump(asked, work)
    faults += more
    adopted = [_adopted(one, dump) for one in targets]
    everything = [upgrade] * len(targets)
    told = ""
    if (asked.own["limit"] or asked.own["percent"]) and not faults:
        nothing: list[frozenset[str]] = [frozenset()] * len(targets)
        before, after = (_locks(targets, vms, adopted, work) for vms in (nothing, everything))
        first = choice.wave(before, after, asked)
        everything, told = first.vms, _told(first, asked)
    pinned = [
        one._replace(pinned=result)
        for one, result in zip(targets, _locks(targets, everything, adopted, work), strict=True)
    ]
    for one in pinned:
        one.part.diagnostics = [*one.part.diagnostics, *_found(one)]
        one.part.is_rendered = True
    work.parts = [one.part for one in pinned]
    return _answer(pinned, faults, told, asked)


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
    for one, upgrade, running in zip(targets, upgrades, adopted, strict=True):
        work.begin("render", rendering(one.part.loaded))
        settings, unread = one.part.request.settings, unread_texts(one.part.loaded)
        pinned.append(pinning.pin(one.part.resources, settings, upgrade, running, unread))
    return pinned


def _found(target: _PinTarget) -> Iterator[Diagnostic]:
    """What was found in rendering *target*, but that something misses what may stand where nobody can read."""
    loaded, resources = target.part.loaded, target.part.resources
    is_parted = bool(unread_texts(loaded))
    for one in target.pinned.diagnostics:
        if not is_parted or not codes.CODES[one.code].follows:
            yield unless_unread(one, loaded, resources)


def _told(first: choice.Wave, asked: Request) -> str:
    """How much of an upgrade this run makes."""
    whole = counted(first.whole, "VM")
    verb = "would be upgraded" if asked.own["dry_run"] else "upgraded"
    if first.made == first.whole:
        return f"{verb}: {whole}, the last that would change\n" if first.whole else ""
    return f"{verb}: {first.made:,} of {whole} that would change, the first by name; the next run takes the next\n"


def _dump(asked: Request, work: Work) -> tuple[FleetPart | None, list[Diagnostic]]:
    """What the file says that ``--from`` names, and what is wrong with it."""
    file = asked.own["from"]
    if not file:
        return None, []
    work.doing = f"reading {file}"
    dump = FleetPart(loading.load([file], Reading(asked.reading.limits, standard_input())), asked)
    return dump, [fault for fault in dump.diagnostics if fault.is_error]


def _answer(
    targets: Sequence[_PinTarget], faults: Sequence[Diagnostic], told: str, asked: Request
) -> Answer:
    """The locks of what has no error, or what would be written; the others are named; and what is *told* of a wave."""
    judged = _judged(targets, asked)
    sound = [one for one in targets if one.part not in judged.unsound]
    found = [*faults, *(finding.diagnostic for finding in judged.findings)]
    if not any(one.pinned.lock.pins for one in targets) and not asked.settings.allow_empty:
        if not status(found):
            message = "no VirtualMachine in the input: the lock would pin nothing"
            cure = "check the path, or accept it with --allow-empty"
            faults = [codes.NO_OBJECTS.at(Location(), message, help=cure)]
        sound = []
    answer = Answer(findings=judged.findings, tally=judged.tally, faults=faults)
    unpinned = "".join(f"{one}\n" for one in (*judged.unsound.values(), *judged.left))
    if not sound and not status(found):
        answer.output = (unpinned,)
    if faults or not sound:
        return answer
    if asked.own["check"]:
        answer.findings = [*judged.findings, *_outdated_findings(sound, asked)]
        return answer
    answer.exit = outcome(found, asked)
    if asked.own["dry_run"]:
        answer.output = (unpinned, *_previews(sound, asked), told)
        return answer
    locks_ = [(one.target, one.pinned) for one in sound]
    answer.output = (unpinned, _moved(locks_, asked, titled=len(targets) > 1), told)
    answer.files = _files(locks_, asked)
    return answer


class _Judged(NamedTuple):
    """What was found, but for what is accepted; the figures; and which parts get no lock, each in words.

    *left*: of the others, what is not pinned, in words too.
    """

    findings: list[Finding]
    tally: Tally
    unsound: Mapping[FleetPart, str]
    left: Sequence[str] = ()


def _judged(targets: Sequence[_PinTarget], asked: Request) -> _Judged:
    """What is wrong with *targets*. Who writes a lock must know of every VM, and so what cannot be read."""
    parts = [one.part for one in targets]
    known = accepted_by(asked.own["baseline"], asked) if asked.own["baseline"] else frozenset()
    whole = merge(
        finding
        for part in parts
        for finding in findings_of(part.loaded, part.diagnostics, part.request)
    )
    findings, accepted = without(whole, known) if known else (whole, 0)
    errors = {_identity(one.diagnostic) for one in findings if one.diagnostic.is_error}
    unsound = {}
    left: list[str] = []
    for target in targets:
        part = target.part
        is_parted = bool(unread_texts(part.loaded))
        unread = [one for one in part.loaded.diagnostics if one.is_error and not is_parted]
        others = [
            one
            for one in part.diagnostics[len(part.loaded.diagnostics) if is_parted else 0 :]
            if one.is_error and _identity(one) in errors and not _is_of_others(one, part)
        ]
        if not part.loaded.has_lock:
            unsound[part] = f"not pinned: {part.loaded.name}: others fill in that folder too"
        elif unread or others:
            named = dict.fromkeys(one.code for one in (*unread, *others))
            unsound[part] = f"not pinned: {part.loaded.name} ({', '.join(named)})"
        else:
            left += _left(target)
    return _Judged(findings, tally_of(parts)._replace(accepted=accepted), unsound, left)


def _left(target: _PinTarget) -> Iterator[str]:
    """The files of *target* that cannot be read, and the VMs that may depend on them, in words."""
    for file, numbers in target.part.loaded.unread_files.items():
        yield f"not pinned: {file} ({', '.join(numbers)})"
    for vm in target.pinned.left:
        yield f"not pinned: {vm}, whose definitions may stand in what cannot be read"


def _is_of_others(error: Diagnostic, part: FleetPart) -> bool:
    """Whether *error* is of a field that the API server drops, in an object of another folder."""
    is_dropped = error.code == codes.UNKNOWN_FIELD.number
    return is_dropped and error.location.index in part.loaded.borrowed


def _identity(diagnostic: Diagnostic) -> tuple[object, ...]:
    return diagnostic.code, diagnostic.message, diagnostic.resource, diagnostic.location.path


def _outdated_findings(targets: Iterable[_PinTarget], asked: Request) -> Iterator[Finding]:
    for one in targets:
        diagnostics = _outdated(one.pinned, one.target, asked)
        yield from findings_of(one.part.loaded, diagnostics, one.part.request)


def _previews(targets: Iterable[_PinTarget], asked: Request) -> Iterator[str]:
    each = asked.reporting.verbose
    shown = (
        tables.preview(one.pinned, one.part.resources, one.part.request.settings, each=each)
        for one in targets
    )
    yield "".join(shown) or "nothing moved\n"


def _targets(asked: Request, work: Work) -> list[_PinTarget]:
    """What is to be pinned, each with its lock: a folder that is no kustomization may hold several."""
    target = _target(asked)
    nothing = Pinned(lockfile.EMPTY, [], [], "")
    path = asked.paths[0] if asked.paths else "."
    several = not asked.reading.lock and (
        asked.reading.kustomize == "never" or kustomization.find(path) is None
    )
    if not several or "-" in asked.paths:
        return [_PinTarget(single(asked, work), target, nothing)]
    targets = [
        _PinTarget(part, tidy(os.path.join(part.loaded.folder, LOCK)), nothing)
        for part in fleet(asked, work)
    ]
    return [one for one in targets if _is_pinned(one)] or targets[:1]


def _is_pinned(target: _PinTarget) -> bool:
    """Whether *target* has a VM or a lock, or cannot tell."""
    part = target.part
    faulty = any(one.is_error for one in part.diagnostics)
    return faulty or target.target in part.loaded.data or bool(pinning.vms(part.resources))


def _placed(diagnostics: Sequence[Diagnostic], dump: Documents) -> list[Diagnostic]:
    """*diagnostics* of *dump* with places that mean the same in the report of another input."""
    known = Sources([document.origin for document in dump.documents], dump.data)
    placed = []
    for one in diagnostics:
        place = known.place(one.location)
        location = Location(
            one.resource, one.location.path, None, place.file, place.line, place.column
        )
        placed.append(one._replace(location=location))
    return placed


def _target(asked: Request) -> str:
    """The file of the lock. Raises RefusedError where there is none."""
    if asked.reading.lock:
        return asked.reading.lock
    path = asked.paths[0] if asked.paths else "."
    if path != "-" and not os.path.lexists(path):
        message = f"cannot read {path}: {os.strerror(errno.ENOENT)}"
        raise refused(codes.UNREADABLE.at(Location(file=path), message))
    if len(asked.paths) > 1 or not os.path.isdir(path):
        message = "only a single folder has a lock of its own"
        raise refused(codes.USAGE.at(Location(), message, help="name the lock with --lock FILE"))
    target = os.path.normpath(os.path.join(path, LOCK))
    if discover.leads_out(target):
        raise refused(kustomization.outside(target))
    return target


def _outdated(pinned: Pinned, target: str, asked: Request) -> Iterable[Diagnostic]:
    cure = "run virt-render pin and commit the lock"
    if "-" in asked.paths:
        cure = f"pipe the same into virt-render pin --lock {target} - and commit the lock"
    expected = pinned.lock.pins or os.path.lexists(target)  # without VMs there need be no file
    same = pinned.lock.kubevirt == pinned.before  # another release may say it otherwise
    if expected and same and not pinned.moves and not _is_written(target, _text(pinned), asked):
        message = f"{target} is not as virt-render pin writes it"
        yield codes.PIN_OUTDATED.at(Location(file=target), message, help=cure)
    for move in pinned.moves:
        place = at(move.resource) if move.resource else Location(file=target)
        if move.new is None:
            message = f"the lock pins {move.vm}, which is not in the input"
        elif move.old is None:
            message = f"{move.vm} is not pinned"
        elif move.new.revision != move.old.revision:
            message = (
                f"{move.vm} is at revision {move.old.revision} in the lock and would become revision "
                f"{move.new.revision}: it renders to something else"
            )
        else:
            message = f"the pin of {move.vm} would change: {', '.join(tables.changes(move.old, move.new))}"
        yield codes.PIN_OUTDATED.at(place, message, help=cure)


def _moved(locks_: Sequence[tuple[str, Pinned]], asked: Request, *, titled: bool) -> str:
    """A table of what moved, one each for several locks."""
    moved = [(target, pinned.moves) for target, pinned in locks_ if pinned.moves]
    each = asked.reporting.verbose
    shown = [f"{name}\n" * titled + tables.moved(moves, each=each) for name, moves in moved]
    return "\n".join(shown) or "nothing moved\n"


def _files(locks_: Sequence[tuple[str, Pinned]], asked: Request) -> Files:
    """The locks that are not written yet as they should be."""
    texts = [(target, _text(pinned)) for target, pinned in locks_]
    changed = [(target, text) for target, text in texts if not _is_written(target, text, asked)]
    names = " and ".join(target for target, _ in changed)
    done = f"{names} {'was' if len(changed) == 1 else 'were'} written"
    return Files(changed, done=done if changed else "the lock was right already")


def _text(pinned: Pinned) -> str:
    return _HEAD + writer.dump(lockfile.document(pinned.lock))


def _is_written(target: str, text: str, asked: Request) -> bool:
    """Whether the lock is there as *text*; git may have given it other line ends."""
    if not os.path.exists(target):
        return False
    present = files.read(target, target, asked.reading.limits.file_bytes)
    return isinstance(present, bytes) and present.replace(b"\r\n", b"\n") == text.encode()


def _resolve_all(asked: Request) -> Answer:
    """Finish the merge of each lock below the path that git left half-merged, else of the one of the path itself."""
    target = _target(asked)
    folder = os.path.dirname(target) or "."
    below = (
        []
        if asked.reading.lock or os.path.lexists(target)
        else walk.locks(folder, asked.reading.limits)
    )
    merged: list[tuple[str, Pinned]] = []
    faults: list[Diagnostic] = []
    for one in below or [target]:
        resolved = _resolve(one, asked)
        if isinstance(resolved, Pinned):
            merged.append((one, resolved))
        else:
            faults += resolved
    told = [_moved([one], asked, titled=False) for one in merged]
    return Answer(told, exit=status(faults), faults=faults, files=_files(merged, asked))


def _resolve(target: str, asked: Request) -> Pinned | list[Diagnostic]:
    """The two sides of an unfinished merge, merged by VM; or why not."""
    from render.system import git

    sides = (_is_torn(target, asked) and git.committed_sides(target)) or git.sides(target)
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
        return [
            codes.MERGE_REFUSED.at(
                Location(file=target),
                f"both sides changed the pin of {vm}",
                help="take one side (git checkout --ours or --theirs), then run virt-render pin",
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


def _is_torn(target: str, asked: Request) -> bool:
    """Whether the lock is one that git may have merged to without a conflict: well written, its contents not."""
    data = files.read(target, target, asked.reading.limits.file_bytes)
    faults = _parse(data, target)[1] if isinstance(data, bytes) else []
    return bool(faults) and all(one.code == codes.LOCK_EDITED.number for one in faults)


def _parse(data: bytes, shown: str) -> tuple[Lock, list[Diagnostic]]:
    if not data.strip():
        return lockfile.EMPTY, []
    contents = read(data, shown)
    faults = [fault for fault in contents.diagnostics if fault.is_error]
    if faults or len(contents.documents) != 1:
        message = f"{shown} is not one {LOCK_KIND}"
        return lockfile.EMPTY, faults or [codes.LOCK_INVALID.at(Location(file=shown), message)]
    return lockfile.read(contents.documents[0].body, Location(file=shown))
