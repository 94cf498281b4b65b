"""The stamps of a rendered VM: annotations that say what it was rendered from, and let `verify` tell an edit.

They sit on the VM itself and never in its template, where they would change the VMI.
"""

from render.convert import flavors
from render.defaults.vm import FIRMWARE
from render.model import tree
from render.model.draft import Draft
from render.model.tree import Tree
from render.pipeline import emit, pins
from render.pipeline.machine import TEMPLATE, Machine
from render.resolve.kinds import INSTANCETYPE, PREFERENCE
from render.revisions import stamps
from render.revisions.hashes import Ref, content_hash, rendered_hash


def vm(machine: Machine) -> Tree:
    """The VM with everything written out, and its stamps unless they are not wanted."""
    body = emit.vm(machine)
    wanted = _stamps(machine, body) if machine.context.settings.annotations else {}
    return stamps.put(body, wanted)


def _stamps(machine: Machine, body: Tree) -> dict[str, str]:
    """What to stamp *body* with.

    A VM that was rendered before keeps what it was rendered from; if it was edited since, also the hash that tells.
    """
    source = machine.resource.body
    found = _definitions(machine)
    rendered_before = stamps.is_rendered(source)
    if machine.merged:
        found[stamps.PRESETS] = stamps.join(
            f"{preset.resource.name}@{content_hash('preset', preset.spec)}"
            for preset in machine.merged
        )
    if rendered_before:
        found = {**stamps.read(source), **found}
    number = _revision(machine, body)
    if number:
        found[stamps.REVISION] = number
    stamped = bool(found) or bool(stamps.matchers(source))
    if stamped and not (rendered_before and not stamps.is_genuine(source)):
        found[stamps.RENDERED] = rendered_hash(body["spec"])
    return found


def _definitions(machine: Machine) -> dict[str, str]:
    settings = machine.context.settings
    found = {}
    for key, kind_class, definition in (
        (stamps.INSTANCETYPE, INSTANCETYPE, machine.instancetype),
        (stamps.PREFERENCE, PREFERENCE, machine.preference),
    ):
        if definition is not None:
            found[key] = str(pins.ref_to(machine, kind_class.word, definition))
            bundled = definition.resource is None and kind_class.word not in machine.pinned
            if bundled and settings.catalog == "bundled":
                found[key] += f" kubevirt-{settings.kubevirt}"
    return found


def _revision(machine: Machine, body: Tree) -> str:
    """The number of the edit revision that the VM renders to, ``""`` where the lock does not know it."""
    pin = pins.pin_of(machine)
    return str(pin.revision) if pin and pin.rendered == manifest_hash(machine, body) else ""


def manifest_hash(machine: Machine, body: Tree) -> str:
    """The hash that the lock holds: of the VM without the additions that options ask for."""
    settings = machine.context.settings
    if (settings.defaults, settings.firmware_uuid) != ("manifest", "none"):
        plain = settings._replace(defaults="manifest", firmware_uuid="none")
        body = emit.vm(machine.under(plain))
    if settings.firmware_uuid != "none":
        body = _unidentified(machine, body)
    return rendered_hash(body["spec"])


def _unidentified(machine: Machine, body: Tree) -> Tree:
    """*body* without the firmware uuid and serial that were derived for it."""
    draft = Draft(body)
    path = (*TEMPLATE, *FIRMWARE)
    for key in ("uuid", "serial"):
        if not tree.get(machine.resource.body, *path, key):
            draft.remove((*path, key))
    if draft.get(*path) == {}:
        draft.remove(path)
    return draft.tree


def refs(machine: Machine) -> dict[str, Ref]:
    """The definitions in force that a lock can hold by kind class, with their hashes; it holds no flavors."""
    return {
        kind_class.word: pins.ref_to(machine, kind_class.word, definition)
        for kind_class, definition in (
            (INSTANCETYPE, machine.instancetype),
            (PREFERENCE, machine.preference),
        )
        if definition is not None and definition.kind not in flavors.KINDS
    }
