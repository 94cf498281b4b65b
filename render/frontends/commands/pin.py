"""``virt-render pin``: decide in Git what VMs run."""

import errno
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.diagnostics.exits import Exit
from render.frontends import locks
from render.frontends.figures import tally_of
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, outcome, publish, refuse, refused_reports
from render.frontends.request.request import Request
from render.frontends.session import (
    load,
    load_each,
    rendering,
    resources_of,
    with_neighbours,
)
from render.manifests import kustomization, sources
from render.manifests.discover import tidy
from render.manifests.neighbours import Neighbours
from render.manifests.sources import LOCK, Documents, Reading
from render.model.counting import counted
from render.model.naming import ambiguity, fitting, name_of
from render.model.nearest import nearest
from render.model.resource import LOCK_KIND, Resource
from render.pipeline import pinning
from render.pipeline.pinning import PinMove, Pinned
from render.report.findings import merge
from render.report.places import Sources
from render.report.text import printable
from render.revisions import lockfile
from render.revisions.hashes import suffix
from render.revisions.lockfile import Entry, Lock, Pin
from render.system import files, writing
from render.system.streams import STDOUT, emit, standard_input
from render.yaml import writer
from render.yaml.reader import read

_HEAD = "# Written by 'virt-render pin'. After a conflict in git: 'virt-render pin --resolve'.\n"


class _PinInput(NamedTuple):
    """One input of a run: what it holds, how it is rendered, where its lock is, and what that should say."""

    loaded: Documents
    asked: Request
    target: str
    pinned: Pinned


def pin(asked: Request, work: Work) -> Exit:
    """Write the lock of each kustomization and root, or say what would change; a table of what moved goes to stdout."""
    if asked.own["resolve"]:
        return _resolve_all(asked)
    with work.shown():
        inputs = _inputs(asked, work)
        if isinstance(inputs, Diagnostic):
            return refuse([inputs], asked)
        for one in inputs:
            locks.choose(one.loaded, one.asked, new=True, written=not asked.own["check"])
        known = [resources_of(one.loaded) for one in inputs]
        upgrade, faults = _upgrades([vm for resources in known for vm in resources], asked)
        dump: list[Resource] | None = None
        file = asked.own["from"]
        dumped = Documents()
        if file and not faults:
            work.doing = f"reading {file}"
            dumped = sources.load([file], Reading(asked.limits, standard_input()))
            faults += [fault for fault in dumped.diagnostics if fault.is_error]
            dump = resources_of(dumped)
        parts = []
        for one, resources in zip(inputs, known, strict=True):
            adopted = None
            if dump is not None:
                adopted = pinning.adopt(dump, resources, one.asked.settings)
                adopted = adopted._replace(diagnostics=_placed(adopted.diagnostics, dumped))
            work.begin("render", rendering(one.loaded))
            pinned = pinning.pin(resources, one.asked.settings, upgrade, adopted)
            parts.append(one._replace(pinned=pinned))
    refused = refused_reports(work.inputs, asked)
    return _finished(parts, faults, asked, work) if refused is None else refused


def _finished(
    parts: Sequence[_PinInput], faults: Sequence[Diagnostic], asked: Request, work: Work
) -> Exit:
    """Report what was found in *parts*, and if nothing is wrong write the locks or say what would be written."""
    diagnostics = list(faults)
    of_parts = [[*one.loaded.diagnostics, *one.pinned.diagnostics] for one in parts]
    said = [*diagnostics, *(one for diagnostics_of in of_parts for one in diagnostics_of)]
    pinned = any(one.pinned.lock.pins for one in parts)
    if not pinned and not asked.settings.allow_empty and not status(said):
        message = "no VirtualMachine in the input: the lock would pin nothing"
        cure = "check the path, or accept it with --allow-empty"
        diagnostics.append(codes.NO_OBJECTS.at(Location(), message, help=cure))
    if status((*said, *diagnostics)) is Exit.OK and asked.own["check"]:
        for one, diagnostics_of in zip(parts, of_parts, strict=True):
            diagnostics_of.extend(_outdated(one.pinned, one.target, asked))
    work.begin("write", f"reporting {counted(len(said), 'finding')}")
    findings = findings_of(Documents(), diagnostics, asked)
    for one, diagnostics_of in zip(parts, of_parts, strict=True):
        findings += findings_of(one.loaded, diagnostics_of, one.asked)
        diagnostics += diagnostics_of
    diagnostics += publish(
        merge(findings), asked, tally_of((one.loaded, one.asked.settings) for one in parts)
    )
    result = outcome(diagnostics, asked)
    if result is not Exit.OK or asked.own["check"]:
        return result
    if asked.own["dry_run"]:
        emit("".join(map(_preview, parts)) or "nothing moved\n", STDOUT)
        return result
    work.doing = f"writing {', '.join(one.target for one in parts)}"
    return _write([(one.target, one.pinned) for one in parts], asked)


def _inputs(asked: Request, work: Work) -> list[_PinInput] | Diagnostic:
    """What is to be pinned, each with its lock: a folder that is no kustomization may hold several."""
    target = _target(asked)
    if isinstance(target, Diagnostic):
        return target
    nothing = Pinned(lockfile.EMPTY, [], [], "")
    path = asked.paths[0] if asked.paths else "."
    several = not asked.lock and (asked.kustomize == "never" or kustomization.find(path) is None)
    if not several or "-" in asked.paths:
        return [_PinInput(load(asked, work, standard_input()), asked, target, nothing)]
    work.begin("read", f"reading {path}")
    inputs = load_each([path], asked, work, standard_input())
    neighbours = Neighbours(inputs, asked.layout.shared)
    parts = [
        _PinInput(
            one,
            with_neighbours(asked, one, neighbours),
            tidy(os.path.join(one.folder, LOCK)),
            nothing,
        )
        for one in inputs
    ]
    return [one for one in parts if _is_pinned(one)] or parts[:1]


def _is_pinned(part: _PinInput) -> bool:
    """Whether *part* has a VM or a lock, or cannot tell."""
    loaded = part.loaded
    faulty = any(one.is_error for one in loaded.diagnostics)
    return faulty or part.target in loaded.data or bool(pinning.vms(resources_of(loaded)))


def _preview(part: _PinInput) -> str:
    """What the moves of *part* do to the VMs, field by field: the same objects under the old lock and the new."""
    from render.pipeline.comparison.fleet import compare
    from render.report.impact.text import lines

    settings = part.asked.settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none", annotations=False
    )
    resources = resources_of(part.loaded)
    after = settings._replace(lock=lockfile.document(part.pinned.lock))
    bodies = [resource.body for resource in resources]
    rest = [resource.body for resource in pinning.without_locks(resources)]
    impact = compare(bodies, rest, settings, after)
    said = {name_of(one.resource): lines(one) for one in impact.machines}
    shown = []
    for move in part.pinned.moves:
        shown.append("  ".join(_row(move)))
        if move.old and move.new:
            shown += [f"      {one}" for one in said.get(move.vm, ())]
    return "".join(f"{line}\n" for line in shown)


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


def _target(asked: Request) -> str | Diagnostic:
    """The file of the lock."""
    if asked.lock:
        return asked.lock
    path = asked.paths[0] if asked.paths else "."
    if path != "-" and not os.path.lexists(path):
        message = f"cannot read {path}: {os.strerror(errno.ENOENT)}"
        return codes.UNREADABLE.at(Location(file=path), message)
    if len(asked.paths) > 1 or not os.path.isdir(path):
        message = "only a single folder has a lock of its own"
        return codes.USAGE.at(Location(), message, help="name the lock with --lock FILE")
    target = os.path.normpath(os.path.join(path, LOCK))
    return kustomization.outside(target) if sources.leads_out(target) else target


def _upgrades(
    resources: Iterable[Resource], asked: Request
) -> tuple[frozenset[str], list[Diagnostic]]:
    """The VMs to upgrade as the lock names them, and the names that fit none."""
    known = pinning.vms(resources)
    if asked.own["upgrade_all"]:
        return frozenset(known), []
    chosen, faults = set(), []
    for name in asked.own["upgrade"]:
        names = fitting(name, known)
        if len(names) == 1:
            chosen.add(names[0])
        else:
            faults.append(_no_such(name, names, known))
    return frozenset(chosen), faults


def _no_such(name: str, names: Sequence[str], known: Iterable[str]) -> Diagnostic:
    if names:
        message, cure = ambiguity(name, names)
    else:
        near = nearest(name, sorted({*known, *(vm.rpartition("/")[2] for vm in known)}))
        message = f"no VirtualMachine {name} in the input"
        cure = f"did you mean {near}?" if near else "a VM is named NAME or NAMESPACE/NAME"
    return codes.USAGE.at(Location(), message, help=cure)


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
            message = (
                f"the pin of {move.vm} would change: {', '.join(_changes(move.old, move.new))}"
            )
        yield codes.PIN_OUTDATED.at(place, message, help=cure)


def _changes(old: Pin, new: Pin) -> list[str]:
    """What differs between two pins of a VM, in words."""
    lines = []
    for word in lockfile.CLASSES:
        was, now = (one.entries.get(word, Entry()) for one in (old, new))
        if was._replace(before=None) != now._replace(before=None):
            lines.append(f"{word} {_shown(was)} -> {_shown(now)}")
    return lines or ["rendered"]


def _shown(entry: Entry) -> str:
    if entry.ref is None:
        return "none"
    named = f" of ControllerRevision {entry.revision_name}" if entry.revision_name else ""
    return f"{entry.ref.name}@{suffix(entry.ref.hash)}{named}"


def _write(locks_: Sequence[tuple[str, Pinned]], asked: Request) -> Exit:
    """Write all locks or none, and tell what moved."""
    texts = [(target, _text(pinned)) for target, pinned in locks_]
    changed = [(target, text) for target, text in texts if not _is_written(target, text, asked)]
    done = "the lock was right already"
    if changed:
        names = " and ".join(target for target, _ in changed)
        done = f"{names} {'was' if len(changed) == 1 else 'were'} written"
        try:
            writing.write_all(changed, sync=True)
        except OSError as error:
            return refuse([writing.unwritable(error, names)], asked)
    moved = [(target, pinned.moves) for target, pinned in locks_ if pinned.moves]
    shown = [
        _table(moves) if len(locks_) == 1 else f"{name}\n{_table(moves)}" for name, moves in moved
    ]
    try:
        emit("\n".join(shown) or "nothing moved\n", STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write the table to standard output: {files.reason(error)}; {done}"
        return refuse([codes.UNWRITABLE.at(Location(), message)], asked)
    return Exit.OK


def _text(pinned: Pinned) -> str:
    return _HEAD + writer.dump(lockfile.document(pinned.lock))


def _is_written(target: str, text: str, asked: Request) -> bool:
    """Whether the lock is there as *text*; git may have given it other line ends."""
    if not os.path.exists(target):
        return False
    present = files.read(target, target, asked.limits.file_bytes)
    return isinstance(present, bytes) and present.replace(b"\r\n", b"\n") == text.encode()


def _table(moves: Sequence[PinMove]) -> str:
    rows = [("VM", "REVISION", "WHAT"), *map(_row, moves)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def _row(move: PinMove) -> tuple[str, str, str]:
    if move.new is None:
        return move.vm, "-", "no longer in the input"
    number = str(move.new.revision)
    if move.old is None:
        entries = (f"{word} {_shown(entry)}" for word, entry in move.new.entries.items())
        return move.vm, number, ", ".join(["new", *entries])
    if move.new.revision != move.old.revision:
        number = f"{move.old.revision} -> {number}"
    changes = _changes(move.old, move.new)
    return move.vm, number, ", ".join(changes).replace("rendered", "renders to something else")


def _resolve_all(asked: Request) -> Exit:
    """Finish the merge of each lock below the path that git left half-merged, else of the one of the path itself."""
    target = _target(asked)
    if isinstance(target, Diagnostic):
        return refuse([target], asked)
    folder = os.path.dirname(target) or "."
    below = [] if asked.lock or os.path.lexists(target) else sources.locks(folder, asked.limits)
    worst = Exit.OK
    for one in below or [target]:
        worst = max(worst, _resolve(one, asked))
    return worst


def _resolve(target: str, asked: Request) -> Exit:
    """Merge the two sides of an unfinished merge by VM."""
    from render.system import git

    sides = (_is_torn(target, asked) and git.committed_sides(target)) or git.sides(target)
    if isinstance(sides, Diagnostic):
        return refuse([sides], asked)
    parsed: list[Lock] = []
    faults: list[Diagnostic] = []
    for name, data in zip(("base", "ours", "theirs"), sides, strict=True):
        lock, wrong = _parse(data, f"{target} ({name})")
        parsed.append(lock)
        faults += wrong
    if faults:
        return refuse(faults, asked)
    merged, refused = pinning.merge(*parsed)
    if refused:
        return refuse(
            [
                codes.MERGE_REFUSED.at(
                    Location(file=target),
                    f"both sides changed the pin of {vm}",
                    help="take one side (git checkout --ours or --theirs), then run virt-render pin",
                )
                for vm in refused
            ],
            asked,
        )
    old = parsed[1]
    moves = [
        PinMove(vm, old.pins.get(vm), merged.pins.get(vm), None)
        for vm in sorted(old.pins.keys() | merged.pins.keys())
        if old.pins.get(vm) != merged.pins.get(vm)
    ]
    return _write([(target, Pinned(merged, moves, [], old.kubevirt))], asked)


def _is_torn(target: str, asked: Request) -> bool:
    """Whether the lock is one that git may have merged to without a conflict: well written, its contents not."""
    data = files.read(target, target, asked.limits.file_bytes)
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
