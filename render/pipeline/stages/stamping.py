"""The stamps of a rendered VM: annotations that say what it was rendered from, and let `verify` tell an edit.

They sit on the VM itself and never in its template, where they would change the VMI.
"""

from render.defaults.vm import FIRMWARE
from render.diagnostics.codes import REVISION_NUMBERS
from render.legacy import machines
from render.machine import Machine
from render.model import tree
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.hints import TYPE_CHECKING
from render.model.kinds import FLAVOR, INSTANCETYPE, PREFERENCE
from render.model.release import newest_patch, tag
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.pipeline.stages import emit, pins
from render.revisions import stamps
from render.revisions.hashes import Ref, content_hash, rendered_hash

if TYPE_CHECKING:
    from render.presets import Preset


def vm(machine: Machine) -> Tree:
    """The VM with everything written out, and its stamps unless they are not wanted."""
    body = emit.vm(machine)
    return _stamped(machine, body)


def bare_vmi(machine: Machine) -> Tree:
    """The VMI with its presets, and its stamps if any preset was merged or it was another object before."""
    return _stamped(machine, emit.bare_vmi(machine))


def _stamped(machine: Machine, body: Tree) -> Tree:
    wanted = _stamps(machine, body) if machine.context.settings.annotations else {}
    return stamps.put(body, wanted)


def _stamps(machine: Machine, body: Tree) -> dict[str, str]:
    """What to stamp *body* with.

    A VM that was rendered before keeps what it was rendered from; if it was edited since, also the hash that tells.
    """
    source = machine.raw
    annotations = _definitions(machine)
    rendered_before = stamps.is_rendered(source)
    if machine.merged:
        annotations[stamps.PRESETS] = stamps.join(
            f"{preset.resource.name}@{_preset_hash(machine, preset)}" for preset in machine.merged
        )
    if rendered_before:
        annotations = {**stamps.read(source), **annotations}
    number = _revision(machine, body)
    if number:
        annotations[stamps.REVISION] = number
    stamped = annotations or stamps.matchers(source) or machine.resource.older
    if stamped and not (rendered_before and not stamps.is_genuine(source)):
        annotations[stamps.RENDERED] = rendered_hash(body.get("spec") or {})
    return annotations


def _preset_hash(machine: Machine, preset: "Preset") -> str:
    """The hash of *preset*, computed once a rendering."""
    known = machine.context.hashes
    key = (id(preset.spec), "preset")
    if key not in known:
        known[key] = (preset.spec, content_hash("preset", preset.spec))
    return known[key][1]


def _definitions(machine: Machine) -> dict[str, str]:
    annotations = {}
    for word, definition in in_force(machine):
        key = f"{stamps.PREFIX}{word}"
        if "Preset" in definition.kind:
            annotations[key] = (
                f"{definition.kind}/{definition.name}@{content_hash('preset', definition.spec)}"
            )
            continue
        annotations[key] = str(pins.ref_to(machine, word, definition))
        shipped = definition.resource is None and definition.elsewhere is None
        if shipped and word not in machine.pinned:
            annotations[key] += f" kubevirt-{tag(newest_patch(machine.context.release))}"
    return annotations


def in_force(machine: Machine) -> list[tuple[str, Definition]]:
    """What decides about the VM, by the word under which it names that; a flavor counts under its own."""
    definitions = [
        (INSTANCETYPE.word, None if machine.flavor else machine.instancetype),
        (PREFERENCE.word, machine.preference),
        (FLAVOR.word, machine.flavor),
    ]
    return [(word, definition) for word, definition in definitions if definition is not None]


def _revision(machine: Machine, body: Tree) -> str:
    """The number of the edit revision that the VM renders to, ``""`` where the lock does not know it."""
    pin = pins.pin_of(machine)
    if pin is None or pin.rendered != manifest_hash(machine, body):
        return ""
    stored = machines.stored_revision(machine.resource)
    if stored not in (0, pin.revision):
        machine.report(
            REVISION_NUMBERS,
            ("metadata", "annotations", machines.REVISION),
            f"the lock counts revision {pin.revision}, the store {stored}: that of the lock is the VM's",
            help=f'write {machines.REVISION}: "{pin.revision}", or remove it',
        )
    return str(pin.revision)


def manifest_hash(machine: Machine, body: Tree) -> str:
    """The hash that the lock holds: of the VM without the additions that options ask for."""
    settings = machine.context.settings
    if not machine.template:
        return rendered_hash(body.get("spec") or {})
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
        if not tree.get(machine.raw, *path, key):
            draft.remove((*path, key))
    if draft.get(*path) == {}:
        draft.remove(path)
    return draft.tree


def refs(machine: Machine) -> dict[str, Ref]:
    """The definitions in force that a lock can hold, by the word of the VM, with their hashes; no presets."""
    return {
        word: pins.ref_to(machine, word, definition)
        for word, definition in in_force(machine)
        if "Preset" not in definition.kind
    }
