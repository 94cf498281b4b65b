"""The emit modes that keep matchers: contents become objects of their own beside the VMs, named by their hashes.

``hashed`` gives an edited instancetype a new name, which KubeVirt takes for another one; ``revisions`` writes the
ControllerRevisions that KubeVirt would (upstream: pkg/instancetype/revision/store.go).
"""

from collections.abc import Iterable

from render.diagnostics.codes import NAME_TAKEN
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.machine import Companion, Context, Machine
from render.model import tree
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass, class_of
from render.model.named_tuple import NamedTuple
from render.model.resource import INSTANCETYPE_GROUP, TEMPLATE, ResourceRef
from render.model.tree import Tree
from render.pipeline.stages import emit, notation, pins
from render.revisions.hashes import Ref, content, content_hash, hashed_name, revision_name

_LABEL_LENGTH = 63
_WAVE = "argocd.argoproj.io/sync-wave"


class _MatcherUse(NamedTuple):
    """A matcher of a VM with what it means; *inferred*: it names a volume."""

    kind_class: KindClass
    matcher: Tree
    definition: Definition
    inferred: bool

    @property
    def path(self) -> tuple[str, str]:
        return ("spec", self.kind_class.word)


def _uses(machine: Machine) -> Iterable[_MatcherUse]:
    for kind_class, definition in (
        (INSTANCETYPE, machine.instancetype),
        (PREFERENCE, machine.preference),
    ):
        matcher = tree.get(machine.decoded, "spec", kind_class.word)
        if matcher is not None and definition is not None:
            yield _MatcherUse(kind_class, matcher, definition, bool(matcher.get("inferFromVolume")))


def _is_stored(definition: Definition) -> bool:
    """Whether KubeVirt's own revision decides already."""
    return definition.resource is not None and definition.resource.kind == "ControllerRevision"


def _rewritten(machine: Machine, matchers: dict[str, Tree]) -> Tree:
    """The VM with other *matchers*, by their keys, in the notation in which the cluster stores it.

    As its author wrote it where that is the same. What a preference seeds into lists is written too: the list as a
    whole belongs to who applies it, so that it would differ for ever.
    """
    unmatched = [
        kind_class.word
        for kind_class in KIND_CLASSES
        if kind_class.word not in machine.spec and _is_pinned_to_nothing(machine, kind_class)
    ]
    templates = machine.spec.get("dataVolumeTemplates")
    is_seeded = templates != tree.get(machine.decoded, "spec", "dataVolumeTemplates")
    if not (matchers or unmatched or is_seeded) and notation.is_canonical(machine):
        return machine.raw
    draft = Draft(machine.decoded)
    draft.remove(("status",))
    for word in unmatched:
        draft.remove(("spec", word))
    if is_seeded:
        draft.put(("spec", "dataVolumeTemplates"), templates)
    for word, matcher in matchers.items():
        decoded_matcher = tree.get(machine.decoded, "spec", word)
        ignored = decoded_matcher.get("inferFromVolumeFailurePolicy") == "Ignore"
        if decoded_matcher.get("inferFromVolume") and ignored and word == INSTANCETYPE.word:
            # The webhook clears it where it infers; a matcher by name it leaves alone.
            draft.remove((*TEMPLATE, "spec", "domain", "memory"))
        draft.put(("spec", word), matcher)
    return emit.encoded(draft.tree, machine.context.release)


def _is_pinned_to_nothing(machine: Machine, kind_class: KindClass) -> bool:
    """Whether the lock says that *machine* infers no definition of *kind_class* from the volume that it names."""
    pin = pins.pin_of(machine)
    entry = pin.entries.get(kind_class.word) if pin else None
    volume = tree.get(machine.decoded, "spec", kind_class.word, "inferFromVolume")
    return bool(entry and entry.ref is None and volume == entry.volume)


def _matcher(use: _MatcherUse, name: str) -> Tree:
    """The matcher by *name*; a kind stays as it was written."""
    if use.inferred:
        return {"name": name, "kind": use.definition.kind}
    return {**use.matcher, "name": name}


def hashed(machine: Machine) -> Tree:
    """The VM with matchers that name contents; the objects that hold them go to `Machine.companions`."""
    matchers = {}
    for use in _uses(machine):
        definition = use.definition
        if _is_stored(definition) or _is_bundled(machine, use):
            continue
        ref = pins.ref_to(machine, use.kind_class.word, definition)
        name = hashed_name(ref.name, ref.hash)
        machine.companions.append(_named(machine, ref, name, definition.content))
        if name != use.matcher.get("name"):
            matchers[use.kind_class.word] = _matcher(use, name)
    return _rewritten(machine, matchers)


def _is_bundled(machine: Machine, use: _MatcherUse) -> bool:
    """Whether the cluster has this very content under this name without our doing."""
    definition = use.definition
    catalogue = machine.context.catalogue
    if definition.resource is not None or use.inferred:
        return definition.resource is None and use.kind_class.word not in machine.pinned
    shipped = catalogue.bundled.get((definition.kind, definition.name))
    hidden = Key(definition.kind, "", definition.name) in catalogue.definitions
    return not hidden and shipped == definition.content


def _named(machine: Machine, ref: Ref, name: str, spec: Tree) -> Companion:
    """The definition *ref* of *machine* as an object called *name*, with *spec* and the labels of its original."""
    metadata: Tree = {"name": name}
    scope = "" if "Cluster" in ref.kind else machine.resource.namespace
    if scope:
        metadata["namespace"] = scope
    key = Key(ref.kind, "" if "Cluster" in ref.kind else machine.namespace, ref.name)
    original = machine.context.catalogue.definitions.get(key)
    labels = (
        original and original.resource and tree.get(original.resource.body, "metadata", "labels")
    )
    if labels := tree.without_nulls(labels):
        metadata["labels"] = labels
    body = {
        "apiVersion": f"{INSTANCETYPE_GROUP}/v1beta1",
        "kind": ref.kind,
        "metadata": metadata,
        "spec": content(spec),
    }
    return Companion(ref.hash, machine.namespace if key.namespace else "", body)


def revisions(machine: Machine) -> Tree:
    """The VM with revisionNames; the ControllerRevisions that they name go to `Machine.companions`.

    So does what the VM was pinned to before: KubeVirt needs it to see that a restart is required.
    """
    matchers = {}
    pin = pins.pin_of(machine)
    for use in _uses(machine):
        definition = use.definition
        if _is_stored(definition):
            name = definition.resource.name if definition.resource else ""
        else:
            ref = pins.ref_to(machine, use.kind_class.word, definition)
            name = revision_name(ref.name, ref.hash)
            machine.companions.append(_revision(machine, ref, definition.content))
            entry = pin.entries.get(use.kind_class.word) if pin else None
            if entry and entry.before:
                spec = machine.context.contents[entry.before.hash]
                machine.companions.append(_revision(machine, entry.before, spec))
        if use.matcher.get("revisionName") != name:
            matcher = _matcher(use, use.matcher.get("name") or definition.name)
            matchers[use.kind_class.word] = {**matcher, "revisionName": name}
    return _rewritten(machine, matchers)


def _revision(machine: Machine, ref: Ref, spec: Tree) -> Companion:
    """The ControllerRevision of the definition *ref* of *machine*, with *spec*: synced before the VM, never pruned."""
    metadata: Tree = {"name": revision_name(ref.name, ref.hash)}
    if machine.resource.namespace:
        metadata["namespace"] = machine.resource.namespace
    metadata["labels"] = {
        f"{INSTANCETYPE_GROUP}/object-kind": ref.kind,
        f"{INSTANCETYPE_GROUP}/object-name": ref.name,
        f"{INSTANCETYPE_GROUP}/object-version": "v1beta1",
    }
    if len(ref.name) > _LABEL_LENGTH:
        del metadata["labels"][f"{INSTANCETYPE_GROUP}/object-name"]
    wave = tree.get(machine.resource.written.body, "metadata", "annotations", _WAVE)
    earlier = int(wave) - 1 if isinstance(wave, str) and wave.removeprefix("-").isdecimal() else -1
    metadata["annotations"] = {
        # One that no VM names any more stays for those that run it, and is no reason to sync again.
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false",
        _WAVE: str(earlier),
    }
    body = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": {
            "apiVersion": f"{INSTANCETYPE_GROUP}/v1beta1",
            "kind": ref.kind,
            "metadata": {"name": ref.name},
            "spec": content(spec),
        },
        "revision": 0,
    }
    return Companion(ref.hash, machine.namespace, body)


def deduplicated(
    bodies: Iterable[Companion], context: Context
) -> tuple[list[Tree], list[Diagnostic]]:
    """Each object once, sorted, without those that the input has; and the names that something else has taken."""
    chosen: dict[tuple[str, str, str], Companion] = {}
    for companion in bodies:
        key = (companion.body["kind"], companion.namespace, companion.body["metadata"]["name"])
        other = chosen.get(key)
        if other is None or _wave(companion.body) < _wave(other.body):
            chosen[key] = companion
    objects, faults = [], []
    for key in sorted(chosen):
        present = _present(key, context)
        if present is None:
            objects.append(chosen[key].body)
        elif present.hash != chosen[key].hash:
            ref = ResourceRef(*key)
            message = f"{ref} is already there with another content"
            cure = "rename or remove it: this name belongs to what its hash says"
            faults.append(NAME_TAKEN.at(present.place, message, help=cure))
    return objects, faults


class _Present(NamedTuple):
    """An object of the input: the hash of what it holds, and where it stands."""

    hash: str
    place: Location


def _wave(body: Tree) -> int:
    return int(tree.get(body, "metadata", "annotations", _WAVE) or 0)


def _present(key: tuple[str, str, str], context: Context) -> _Present | None:
    kind, namespace, name = key
    if kind != "ControllerRevision":
        definition = context.catalogue.definitions.get(Key(*key))
        if definition is None or definition.resource is None:
            return None
        return _Present(_hash(definition), at(definition.resource, ("metadata", "name")))
    resource = context.catalogue.find("apps", kind, namespace, name)
    if resource is None:
        return None
    revision = context.catalogue.revisions.get((namespace, name))
    hash_ = _hash(revision) if isinstance(revision, Definition) else ""
    return _Present(hash_, at(resource, ("metadata", "name")))


def _hash(definition: Definition) -> str:
    return content_hash(class_of(definition.kind), definition.content)
