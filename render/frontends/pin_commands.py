"""``virt-render pin``: decide in Git what VMs run."""

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.frontends import locks
from render.frontends.exits import Exit, status
from render.frontends.options import Request
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, tell
from render.frontends.run import load, rendering
from render.frontends.streams import STDERR, STDOUT, emit, standard_input
from render.manifests import files, sources, writer
from render.manifests.reader import read
from render.manifests.sources import LOCK, Loaded, Reading
from render.model.nearest import nearest
from render.model.resource import Resource, from_body
from render.pipeline import pinning
from render.pipeline.pinning import Move, Pinned
from render.report.findings import merge
from render.report.places import Sources
from render.revisions import lock as revision_lock
from render.revisions.hashes import suffix
from render.revisions.lock import Entry, Lock, Pin

_HEAD = "# Written by 'virt-render pin'. After a conflict in git: 'virt-render pin --resolve'.\n"


class Wanted(NamedTuple):
    """What ``pin`` is asked for. *upgrade* names VMs; *dump* is the file of ``--from``."""

    upgrade: tuple[str, ...] = ()
    upgrade_all: bool = False
    check: bool = False
    resolve: bool = False
    dump: str = ""


def pin(asked: Request, wanted: Wanted, work: Work) -> Exit:
    """Write the lock, or with *check* say what would change; a table of what moved on stdout, findings on stderr."""
    target = _target(asked)
    if isinstance(target, Diagnostic):
        return _refuse([target], asked)
    if wanted.resolve:
        return _resolve(target, asked)
    with work.shown():
        loaded = load(asked, work, standard_input())
        locks.settle(loaded, asked, new=True)
        resources = resources_of(loaded)
        upgrade, faults = _upgrades(resources, wanted)
        adopted = None
        if wanted.dump and not faults:
            work.doing = f"reading {wanted.dump}"
            dump = sources.load([wanted.dump], Reading(asked.limits, standard_input()))
            faults += [fault for fault in dump.diagnostics if fault.is_error]
            adopted = pinning.adopt(resources_of(dump), resources, asked.settings)
            adopted = adopted._replace(diagnostics=_placed(adopted.diagnostics, dump))
        work.begin("render", rendering(loaded))
        pinned = pinning.pin(resources, asked.settings, upgrade, adopted)
    diagnostics = [*loaded.diagnostics, *faults, *pinned.diagnostics]
    work.begin("write", f"reporting {len(diagnostics):,} findings")
    if not pinned.lock.pins and not asked.settings.allow_empty and not status(diagnostics):
        message = "no VirtualMachine in the input: the lock would pin nothing"
        cure = "check the path, or accept it with --allow-empty"
        diagnostics.append(codes.NO_OBJECTS.at(Location(), message, help=cure))
    if status(diagnostics) is Exit.OK and wanted.check:
        diagnostics += _outdated(pinned, target, asked)
    tell(merge(findings_of(loaded, diagnostics, asked)), asked, to=STDERR)
    outcome = status(diagnostics)
    if outcome is not Exit.OK or wanted.check:
        return outcome
    work.doing = f"writing {target}"
    return _write(target, pinned, asked)


def resources_of(loaded: Loaded) -> list[Resource]:
    """The documents of *loaded* as objects."""
    return [from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents)]


def _placed(diagnostics: Sequence[Diagnostic], dump: Loaded) -> list[Diagnostic]:
    """*diagnostics* of *dump* with places that mean the same in the report of another input."""
    known = Sources([document.origin for document in dump.documents], dump.data)
    found = []
    for one in diagnostics:
        place = known.place(one.location)
        location = Location(
            one.resource, one.location.path, None, place.file, place.line, place.column
        )
        found.append(one._replace(location=location))
    return found


def _refuse(faults: Sequence[Diagnostic], asked: Request) -> Exit:
    tell(merge(findings_of(Loaded(), faults, asked)), asked, to=STDERR)
    return status(faults)


def _target(asked: Request) -> str | Diagnostic:
    """The file of the lock."""
    if asked.lock:
        return asked.lock
    path = asked.paths[0] if asked.paths else "."
    if path != "-" and not os.path.lexists(path):
        message = f"cannot read {path}: no such file or folder"
        return codes.UNREADABLE.at(Location(file=path), message)
    if len(asked.paths) > 1 or not os.path.isdir(path):
        message = "only a single folder has a lock of its own"
        return codes.USAGE.at(Location(), message, help="name the lock with --lock FILE")
    return os.path.normpath(os.path.join(path, LOCK))


def _upgrades(
    resources: Iterable[Resource], wanted: Wanted
) -> tuple[frozenset[str], list[Diagnostic]]:
    """The VMs to upgrade as the lock names them, and the names that fit none."""
    known = pinning.vms(resources)
    if wanted.upgrade_all:
        return frozenset(known), []
    chosen, faults = set(), []
    for name in wanted.upgrade:
        found = fitting(name, known)
        if len(found) == 1:
            chosen.add(found[0])
        else:
            faults.append(_no_such(name, found, known))
    return frozenset(chosen), faults


def fitting(name: str, known: Iterable[str]) -> list[str]:
    """The VMs of *known* that ``NAME`` or ``NAMESPACE/NAME`` means."""
    vms = sorted(known)
    return [vm for vm in vms if vm == name] or [vm for vm in vms if vm.rpartition("/")[2] == name]


def _no_such(name: str, found: Sequence[str], known: Iterable[str]) -> Diagnostic:
    if found:
        message, cure = f"{name} may be {' or '.join(found)}", "name the VM with its namespace"
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
    if expected and not pinned.moves and not _is_written(target, _text(pinned), asked):
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
    found = []
    for word in revision_lock.CLASSES:
        was, now = (one.entries.get(word, Entry()) for one in (old, new))
        if was.ref != now.ref or was.volume != now.volume:
            found.append(f"{word} {_shown(was)} -> {_shown(now)}")
    return found or ["rendered"]


def _shown(entry: Entry) -> str:
    return f"{entry.ref.name}@{suffix(entry.ref.hash)}" if entry.ref else "none"


def _write(target: str, pinned: Pinned, asked: Request) -> Exit:
    text = _text(pinned)
    done = "the lock was right already"
    if not _is_written(target, text, asked):
        done = f"{target} was written"
        try:
            files.write_atomic(target, text)
        except OSError as error:
            return _refuse([files.unwritable(error, target)], asked)
    try:
        emit(_table(pinned.moves), STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write the table to standard output: {files.reason(error)}; {done}"
        return _refuse([codes.UNWRITABLE.at(Location(), message)], asked)
    return Exit.OK


def _text(pinned: Pinned) -> str:
    return _HEAD + writer.dump(revision_lock.document(pinned.lock))


def _is_written(target: str, text: str, asked: Request) -> bool:
    """Whether the lock is there as *text*; git may have given it other line ends."""
    if not os.path.exists(target):
        return False
    present = files.read(target, target, asked.limits.file_bytes)
    return isinstance(present, bytes) and present.replace(b"\r\n", b"\n") == text.encode()


def _table(moves: Sequence[Move]) -> str:
    if not moves:
        return "nothing moved\n"
    rows = [("VM", "REVISION", "WHAT"), *map(_row, moves)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "".join(f"{line}\n" for line in lines)


def _row(move: Move) -> tuple[str, str, str]:
    if move.new is None:
        return move.vm, "-", "no longer in the input"
    number = str(move.new.revision)
    if move.old is None:
        entries = (f"{word} {_shown(entry)}" for word, entry in move.new.entries.items())
        return move.vm, number, ", ".join(["new", *entries])
    if move.new.revision != move.old.revision:
        number = f"{move.old.revision} -> {number}"
    changes = _changes(move.old, move.new)
    return move.vm, number, ", ".join(changes).replace("rendered", "manifest edited")


def _resolve(target: str, asked: Request) -> Exit:
    """Merge the two sides of an unfinished merge by VM."""
    from render.frontends import git

    sides = git.sides(target)
    if isinstance(sides, Diagnostic):
        return _refuse([sides], asked)
    parsed: list[Lock] = []
    faults: list[Diagnostic] = []
    for name, data in zip(("base", "ours", "theirs"), sides, strict=True):
        lock, wrong = _parse(data, f"{target} ({name})")
        parsed.append(lock)
        faults += wrong
    if faults:
        return _refuse(faults, asked)
    merged, refused = pinning.merge(*parsed)
    if refused:
        return _refuse(
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
        Move(vm, old.pins.get(vm), merged.pins.get(vm), None)
        for vm in sorted(old.pins.keys() | merged.pins.keys())
        if old.pins.get(vm) != merged.pins.get(vm)
    ]
    return _write(target, Pinned(merged, moves, []), asked)


def _parse(data: bytes, shown: str) -> tuple[Lock, list[Diagnostic]]:
    if not data.strip():
        return revision_lock.EMPTY, []
    found = read(data, shown)
    faults = [fault for fault in found.diagnostics if fault.is_error]
    if faults or len(found.documents) != 1:
        message = f"{shown} is not one {revision_lock.KIND}"
        return revision_lock.EMPTY, faults or [codes.LOCK_INVALID.at(Location(file=shown), message)]
    return revision_lock.read(found.documents[0].body, Location(file=shown))
