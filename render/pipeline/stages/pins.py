"""The stage of the revision lock: what a VM is pinned to decides what it renders to.

As in KubeVirt (pkg/instancetype/revision/store.go), an edit of an object does not reach the VMs that are pinned to it,
and a pin ends when the matcher means another object.
"""

from collections.abc import Sequence

from render.convert.instancetypes import ANONYMOUS
from render.diagnostics.codes import OBJECT_CHANGED, PIN_ENDED, PIN_MISSING, REVISION_EDITED
from render.diagnostics.diagnostic import Related, Severity, at
from render.legacy.machines import FLAVOUR
from render.machine import Machine, place_in, ref_of
from render.model import naming, tree
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.kinds import FLAVOR, INSTANCETYPE, KIND_CLASSES, KindClass, class_of
from render.model.nearest import did_you_mean
from render.model.resource import (
    INSTANCETYPE_GROUP,
    TEMPLATE,
    Resource,
    ResourceRef,
    former,
    text_at,
)
from render.model.tree import Tree
from render.revisions.hashes import Ref, content, content_hash, hashed_name
from render.settings import Settings

if TYPE_CHECKING:
    from render.revisions.lockfile import Entry, Pin

#: A matcher of which word takes the place of one of another.
_SUCCEEDS = {INSTANCETYPE.word: FLAVOR.word, FLAVOR.word: INSTANCETYPE.word}
_ALWAYS_SET = ("model", "dedicatedCPUPlacement", "isolateEmulatorThread")


def name_of(resource: Resource) -> str:
    """How a lock names the VM *resource*: as its manifest does, so that no setting changes it; one name a pool."""
    return naming.name_of(resource.written)


def pin_of(machine: Machine) -> "Pin | None":
    """The pin of the VM: under its name, or under one that it had before kustomize renamed it."""
    resource, known = machine.resource, machine.context.pins
    if not known:
        return None
    pin = known.get(name_of(resource))
    if pin is None:
        for _, namespace, name in former(resource.written):
            ref = ResourceRef(resource.written.kind, namespace, name)
            bare = ref._replace(namespace="")
            pin = pin or known.get(naming.name_of(ref)) or known.get(naming.name_of(bare))
    return pin


def pinned_content(machine: Machine, kind_class: KindClass) -> str:
    """What keeps *machine* at a content of its definition: a revision that it names, or a hash of the lock, or nothing.

    In a comparison what is stored for a VM is in `Machine.pinned` too.
    """
    named = text_at(machine.spec.get(kind_class.word), "revisionName")
    if not named and kind_class.word in machine.pinned:
        pin = pin_of(machine)
        ref = pin.entries[kind_class.word].ref if pin else None
        return ref.hash if ref else ""
    return named


def has_edit(before: Machine, after: Machine, kind_class: KindClass, key: Key) -> bool:
    """Whether the definition *key* was edited between both states of a VM, which has what it holds now."""
    old, new = (machine.context.catalogue.definitions.get(key) for machine in (before, after))
    used: Definition | None = getattr(after, kind_class.word)
    if old is None or new is None or used is None or old.content == new.content:
        return False
    return content(new.content) == content(used.content)


def use(machine: Machine) -> None:
    """Let the lock decide what the VM's matchers mean, where it pins them."""
    pin = pin_of(machine)
    for kind_class in KIND_CLASSES:
        matcher = machine.spec.get(kind_class.word)
        if matcher is not None:
            _use(machine, kind_class, matcher, pin)


def use_flavor(machine: Machine, matcher: Tree) -> None:
    """Let the lock decide what ``spec.flavor`` means, which is *matcher*, where it pins it."""
    _use(machine, FLAVOR, matcher, pin_of(machine))


def _use(machine: Machine, kind_class: KindClass, matcher: Tree, pin: "Pin | None") -> None:
    # One that generates its name has none to be pinned under.
    if not machine.resource.name or named_revision(matcher):
        return
    path: FieldPath = ("spec", kind_class.word)
    entry = pin.entries.get(kind_class.word) if pin else None
    before = pin.entries.get(_SUCCEEDS.get(kind_class.word, "")) if pin else None
    if entry is None and before is not None:
        _ended(machine, path, before)
    elif entry is None:
        _missing(machine, path, kind_class.word)
    elif not _is_in_force(machine, entry, matcher, kind_class):
        _ended(machine, path, entry, _misses(machine, kind_class, matcher))
    elif _decides(machine.context.settings):
        _apply(machine, kind_class, entry, matcher)


def _decides(settings: Settings) -> bool:
    from render.pipeline.lock_roles import LockRole, lock_role

    return lock_role(settings) is LockRole.DECIDES


def use_flavour(machine: Machine, name: str, path: FieldPath) -> Definition | None:
    """What the lock says of the flavour *name*, which the VM names at *path*; None where it says nothing of it.

    A preset cannot be pinned, so that nothing need be there: see `demand_flavour`.
    """
    pin = pin_of(machine) if machine.resource.name else None
    entry = pin.entries.get(FLAVOR.word) if pin else None
    ref = entry.ref if entry else None
    if entry is None or ref is None:
        return None
    if not _is_named(machine, ref, name):
        _ended(machine, path, entry)
        return None
    definition = _locked(machine, ref, name)
    machine.pinned[FLAVOR.word] = definition
    return definition


def report_other_meaning(
    machine: Machine, pinned: Definition, candidates: Sequence[Definition], path: FieldPath
) -> None:
    """Where the flavour at *path* means other objects by now, *candidates*, say that the lock has *pinned* instead."""
    others = [candidate for candidate in candidates if candidate.kind != pinned.kind]
    if not others:
        return
    name = name_of(machine.resource)
    listing = " or ".join(str(ref_of(other)) for other in others)
    machine.diagnostics.append(
        OBJECT_CHANGED.at(
            at(machine.resource, path),
            f"the flavour {pinned.name} means {listing} by now, and {name} is pinned to a {pinned.kind}; "
            "it keeps the old content",
            *(Related(f"{ref_of(other)} is one", place_in(other, ())) for other in others),
            help=f"to let it have the new one, run virt-render pin --upgrade {name}",
        )
    )


def demand_flavour(machine: Machine, definition: Definition, path: FieldPath) -> None:
    """The flavour at *path* means *definition*, which a lock can hold: where pins are required, it has to.

    A VM that was pinned when its flavour meant a preset, or when it had none, is not what it was.
    """
    pin = pin_of(machine)
    if not machine.resource.name or (pin and FLAVOR.word in pin.entries):
        return
    if pin is None or machine.context.settings.pins == "require":
        _missing(machine, path, "flavour")
        return
    machine.report(
        PIN_ENDED,
        path,
        f"the flavour means {ref_of(definition)}, and {name_of(machine.resource)} was pinned when it meant nothing that"
        " a lock holds: the current object is used",
        help="run virt-render pin to pin what it means now",
    )


def named_revision(matcher: Tree) -> str:
    """The ControllerRevision by which *matcher* is pinned by KubeVirt's own means, ``""`` where it is not.

    It wins: without that ControllerRevision the VM would not start, and the lock must not hide it.
    """
    return "" if matcher.get("inferFromVolume") else text_at(matcher, "revisionName")


def check_revisions(machine: Machine) -> None:
    """Compare what the ControllerRevisions that the VM names hold with what the lock says of them."""
    for kind_class in KIND_CLASSES:
        definition = getattr(machine, kind_class.word)
        if definition is not None:
            check_revision(machine, kind_class.word, definition)


def check_revision(machine: Machine, word: str, definition: Definition) -> None:
    """Compare what the ControllerRevision that the VM names under *word* holds, *definition*, with what the lock says.

    The API server refuses a change of its ``data`` (upstream: ValidateControllerRevisionUpdate), so that who edits it
    changes what is rendered here and nothing that runs. Another name is a matcher that means something else.
    """
    named = named_revision(machine.spec[word])
    pin = pin_of(machine) if named else None
    entry = pin.entries.get(word) if pin else None
    if entry is None or _is_unasked(machine.context.settings):
        return
    path: FieldPath = ("spec", word, "revisionName")
    same = entry.ref is not None and entry.ref.hash == _hash(machine, definition)
    resource = definition.resource
    names = {named, *(name for _, _, name in former(resource))} if resource else {named}
    if entry.revision_name in names:
        if not same:
            _edited(machine, path, named, definition)
    elif entry.revision_name or not same:
        _ended(machine, path, entry)


def _is_unasked(settings: Settings) -> bool:
    from render.pipeline.lock_roles import LockRole, lock_role

    return lock_role(settings) is LockRole.UNASKED


def _edited(machine: Machine, path: FieldPath, revision: str, definition: Definition) -> None:
    name = name_of(machine.resource)
    machine.report(
        REVISION_EDITED,
        path,
        f"ControllerRevision {revision} does not hold what {name} is pinned to by this name, and no cluster takes an"
        " edit of one: data: field is immutable",
        *([Related("it stands here", place_in(definition, ()))] if definition.resource else ()),
        help="undo the edit, and store the new content under another name, which revisionName then names; where the"
        f" cluster has it as it is here, run virt-render pin --upgrade {name}",
    )


def _is_in_force(machine: Machine, entry: "Entry", matcher: Tree, kind_class: KindClass) -> bool:
    if matcher.get("inferFromVolume"):
        return bool(matcher["inferFromVolume"] == entry.volume)
    if entry.ref is None:
        return False
    kind, name = matcher.get("kind", ""), matcher.get("name")
    # An empty kind is not compared, nor the notation of one.
    if kind and kind_class.kind_of(kind) != entry.ref.kind:
        return False
    return _is_named(machine, entry.ref, name or "")


def _is_named(machine: Machine, ref: Ref, name: str) -> bool:
    """Whether *name* is that of *ref*: plain, with its hash, or as kustomize renamed the object."""
    if name in (ref.name, hashed_name(ref.name, ref.hash)):
        return True
    scope = "" if "Cluster" in ref.kind else machine.namespace
    named = machine.context.catalogue.definitions.get(Key(ref.kind, scope, name))
    before = former(named.resource) if named and named.resource else ()
    return any(ref.name == other for _, _, other in before)


def _missing(machine: Machine, path: FieldPath, word: str) -> None:
    if machine.context.settings.pins == "require":
        machine.report(
            PIN_MISSING,
            path,
            f"the {word} of {name_of(machine.resource)} is not pinned, and pins are required",
            help="run virt-render pin and commit the lock",
        )


def _misses(machine: Machine, kind_class: KindClass, matcher: Tree) -> str:
    """The name that *matcher* has and nothing else, ``""`` where there is what it means."""
    if kind_class is FLAVOR or matcher.get("inferFromVolume"):
        return ""
    from render.resolve.find import Missing, find

    context, status = machine.context, machine.vm.get("status") or {}
    namespace = machine.resource.namespace
    found = find(kind_class, matcher, status, namespace, context.catalogue, context.release)
    return text_at(matcher, "name") if isinstance(found, Missing) else ""


def _ended(machine: Machine, path: FieldPath, entry: "Entry", missed: str = "") -> None:
    """That *entry* of a lock no longer holds for what is at *path*; *missed* is the name there, if nothing has it."""
    required = machine.context.settings.pins == "require"
    was = f"{entry.ref.kind} {entry.ref.name}" if entry.ref else f"volume {entry.volume}"
    if entry.revision_name:
        was = f"ControllerRevision {entry.revision_name}"
    used = "ControllerRevision that it names" if path[-1] == "revisionName" else "current object"
    word = "flavour" if path[-1] == FLAVOUR else "matcher"
    becomes = "the pin is stale" if required else f"the {used} is used"
    cure = "run virt-render pin to pin what it means now"
    if missed:
        becomes = f"there is no {missed}"
        pinned_names = [entry.ref.name] if entry.ref else []
        cure = did_you_mean(missed, pinned_names, f"add {missed}, or name another; then {cure}")
    machine.diagnostics.append(
        PIN_ENDED.at(
            at(machine.resource, path),
            f"the {word} no longer means the {was} that {name_of(machine.resource)} is pinned to: "
            + becomes,
            help=cure,
            severity=Severity.ERROR if required else Severity.WARNING,
        )
    )


def _apply(machine: Machine, kind_class: KindClass, entry: "Entry", matcher: Tree) -> None:
    path = ("spec", kind_class.word)
    inferred = bool(matcher.get("inferFromVolume"))
    ref = entry.ref
    if inferred:
        draft = Draft(machine.vm)
        if ref is None:
            draft.remove(path)
        else:
            ignore = matcher.get("inferFromVolumeFailurePolicy") == "Ignore"
            if ignore and kind_class is INSTANCETYPE:
                # As where it is inferred anew.
                draft.remove((*TEMPLATE, "spec", "domain", "memory"))
            draft.put(path, {"name": ref.name, "kind": ref.kind})
        machine.vm = draft.tree
    if ref is not None:
        name = ref.name if inferred else matcher["name"]
        machine.pinned[kind_class.word] = _locked(machine, ref, name)


def _locked(machine: Machine, ref: Ref, name: str) -> Definition:
    """What the lock holds of *ref*, called *name*; where its object still holds the same, that is where to look."""
    namespace = "" if "Cluster" in ref.kind else machine.namespace
    current = machine.context.catalogue.definition(Key(ref.kind, namespace, name))
    same = current is not None and _hash(machine, current) == ref.hash
    place = (current.resource or current.elsewhere) if current is not None and same else None
    spec = machine.context.contents[ref.hash]
    return Definition(ref.kind, name, spec, None, elsewhere=place)


def ref_to(machine: Machine, word: str, definition: Definition) -> Ref:
    """*definition*, which the VM names under *word*, with the hash of its content, computed once a rendering.

    What an old revision holds may lack the name of its object; the VM says it.
    """
    name = definition.name
    if name in ANONYMOUS.values():
        name = text_at(machine.spec.get(word), "name") or name
    return Ref(definition.kind, name, _hash(machine, definition))


def _hash(machine: Machine, definition: Definition) -> str:
    known = machine.context.hashes
    # One revision may hold a flavor to one VM, and an instancetype to another.
    word = class_of(definition.kind)
    key = (id(definition.content), word)
    if key not in known:
        # The spec is kept with its hash: an id is unique only while its object lives.
        hash_ = content_hash(word, content_of(definition))
        known[key] = (definition.content, hash_)
    return known[key][1]


def content_of(definition: Definition) -> Tree:
    """What *definition* holds, without what only the decoding of an older revision adds.

    There three fields of an instancetype are always set, empty ones too; applied, the empty ones change nothing.
    """
    contents = content(definition.content)
    resource = definition.resource
    if resource is None or resource.kind != "ControllerRevision" or not contents.get("cpu"):
        return contents
    if tree.get(resource.body, "data", "apiVersion") == f"{INSTANCETYPE_GROUP}/v1beta1":
        return contents
    cpu = {key: value for key, value in contents["cpu"].items() if value or key not in _ALWAYS_SET}
    return {**contents, "cpu": cpu}
