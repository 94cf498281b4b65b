"""Which preferences fill nothing in but what a VM has anyway, what they bring of that, and new ones that do.

All of it is asked of the rules by which a preference reaches a VM (`render.apply.preference`): one fits a VM whose
VMI they leave as it is, and brings what they restore in a template that lacks it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from render import rules
from render.apply import preference
from render.kubevirt.vm_mutator import PREFERRED
from render.model import topology, tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, in_force
from render.model.topology import CPUTopology
from render.model.tree import Tree
from render.pipeline.factor import places
from render.pipeline.factor.subject import PlainMachine
from render.rules import ABSENT, Conflict, Edit, Rule, Step

_DOMAIN = ("spec", "domain")
_BOOTLOADER = (*_DOMAIN, "firmware", "bootloader")
_DISKS, _INTERFACES, _INPUTS = (
    (*_DOMAIN, "devices", key) for key in ("disks", "interfaces", "inputs")
)
#: Field of a preference's devices, and the list of the VM and the field of its items that it fills.
_OF_ITEMS: tuple[tuple[str, FieldPath, FieldPath], ...] = (
    ("preferredDiskBus", _DISKS, ("disk", "bus")),
    ("preferredCdromBus", _DISKS, ("cdrom", "bus")),
    ("preferredLunBus", _DISKS, ("lun", "bus")),
    ("preferredDiskCache", _DISKS, ("cache",)),
    ("preferredDiskIO", _DISKS, ("io",)),
    ("preferredDiskBlockSize", _DISKS, ("blockSize",)),
    ("preferredDiskDedicatedIoThread", _DISKS, ("dedicatedIOThread",)),
    ("preferredInterfaceModel", _INTERFACES, ("model",)),
    ("preferredInputBus", _INPUTS, ("bus",)),
)
_STORAGE_CLASS = ("volumes", "preferredStorageClassName")
#: Fields of a preference that reach no VMI: they are checked.
_CHECKED = "requirements"
#: What is no matter of a new preference: a name, where a VM runs, what new instancetypes bring, and what crashes
#: KubeVirt in a VM without any CPU of its own.
_OWN: tuple[FieldPath, ...] = (
    ("subdomain",),
    ("architecture",),
    ("domain", "launchSecurity"),
    ("domain", "cpu", "features"),
    ("domain", "devices", "panicDevices"),
    ("domain", "devices", "panicDevices", "model"),
)
_SPREADS = tuple(topology.SPREAD_DIMENSIONS)
_RATIOS = range(2, 9)


class Atom(NamedTuple):
    """A rule bound to the values that it reads: preferences with the same values share it."""

    step: Step


class PreferenceProfile(NamedTuple):
    """A preference's *spec* as the rules see it: the numbers of its *atoms*, and its content as text."""

    spec: Tree
    atoms: tuple[int, ...]
    content: str


class Profiles:
    """The profiles of the preferences of a run, whose atoms are asked about each VM once."""

    def __init__(self, release: Version) -> None:
        self._rules: tuple[Rule, ...] = tuple(in_force(preference.RULES, release))
        self._numbers: dict[tuple[int, str], int] = {}
        self._atoms: list[Atom] = []
        self._made: dict[str, PreferenceProfile] = {}

    def shared(self, spec: Tree) -> PreferenceProfile:
        """The profile of a new preference *spec*, the same for all VMs that would get one of this content."""
        text = json.dumps(spec, sort_keys=True)
        if text not in self._made:
            self._made[text] = self.profile(spec)
        return self._made[text]

    def profile(self, spec: Tree) -> PreferenceProfile:
        """The profile of the preference *spec*."""
        numbers = []
        for place, rule in enumerate(self._rules):
            step = rule.bind(spec)
            if step is not None:
                key = place, json.dumps([tree.get(spec, *path) for path in rule.reads])
                if key not in self._numbers:
                    self._numbers[key] = len(self._atoms)
                    self._atoms.append(Atom(step))
                numbers.append(self._numbers[key])
        content = {key: value for key, value in spec.items() if key != _CHECKED}
        return PreferenceProfile(spec, tuple(numbers), json.dumps(content, sort_keys=True))

    def changes(self, subject: PlainMachine) -> "PreferenceChanges":
        """How many fields of the VMI of *subject* each atom would change, as it is asked."""
        return PreferenceChanges(subject, self._atoms)


class PreferenceChanges:
    """What preferences would change in the VMI of one VM."""

    def __init__(self, subject: PlainMachine, atoms: Sequence[Atom]) -> None:
        self._subject = subject
        self._atoms = atoms
        self._counts: dict[int, int] = {}

    def of(self, profile: PreferenceProfile) -> int:
        """The number of fields that the preference would change."""
        count = sum(map(self._count, profile.atoms))
        return count + sum(1 for _ in _changed_early(self._subject, profile.spec))

    def is_none(self, profile: PreferenceProfile) -> bool:
        """Whether it would change nothing."""
        return not any(map(self._count, profile.atoms)) and not any(
            _changed_early(self._subject, profile.spec)
        )

    def _count(self, atom: int) -> int:
        if atom not in self._counts:
            results = self._atoms[atom].step(Draft(self._subject.base))
            self._counts[atom] = sum(1 for result in results if _changes(self._subject, result))
        return self._counts[atom]


def _changes(subject: PlainMachine, result: Edit | Conflict) -> bool:
    """Whether what a rule does shows in the VMI of *subject*."""
    if isinstance(result, Conflict):
        return True
    value = subject.final(result.path)
    if result.value is ABSENT:
        return value is not None
    return value is None if result.value == {} else bool(value != result.value)


def _changed_early(subject: PlainMachine, spec: Tree) -> Iterator[bool]:
    """True for each field that the webhook would fill in otherwise."""
    for field, source in PREFERRED:
        preferred = tree.get(spec, *source)
        is_open = not tree.get(subject.template, *field)
        if preferred and is_open and preferred != tree.get(subject.base, *field):
            yield True
    if tree.get(spec, *_STORAGE_CLASS):
        for template in subject.started.vm.get("dataVolumeTemplates") or ():
            claims = (tree.get(template, "spec", key) for key in ("storage", "pvc"))
            if any(claim is not None and claim.get("storageClassName") is None for claim in claims):
                yield True


def brought(subject: PlainMachine, spec: Tree) -> tuple[FieldPath, ...]:
    """The fields of the template of *subject* that the preference *spec* brings, so that the VM need not have them."""
    template = subject.template
    candidates = tuple(places.of_preference(template, subject.release))
    while candidates:
        draft = Draft(places.without(template, candidates))
        rules.run(preference.RULES, spec, draft, subject.release)
        restored = tuple(
            candidate
            for candidate in candidates
            if draft.get(*candidate) == tree.get(template, *candidate)
        )
        if restored == candidates:
            break
        candidates = restored
    return candidates


def lays_out(spec: Tree | None, wanted: CPUTopology) -> bool:
    """Whether an instancetype gives the *wanted* topology where the VM has the preference *spec*."""
    vcpus = wanted.sockets * wanted.cores * wanted.threads
    try:
        return topology.layout(vcpus, spec) == wanted
    except ZeroDivisionError:
        return False


@cache
def topology_content(wanted: CPUTopology) -> Tree | None:
    """The ``cpu`` of a preference that lays vCPUs out as *wanted*; empty where none is needed, None if none can."""
    if lays_out(None, wanted):
        return {}
    plain: list[Tree] = [{"preferredCPUTopology": word} for word in ("cores", "threads")]
    spread: list[Tree] = [
        {
            "preferredCPUTopology": "spread",
            "spreadOptions": {"across": across, "ratio": ratio},
        }
        for across in _SPREADS
        for ratio in _RATIOS
    ]
    return next((cpu for cpu in (*plain, *spread) if lays_out({"cpu": cpu}, wanted)), None)


class _PreferredField(NamedTuple):
    """A field of a preference, the *value* that it might have, and the fields of the VM that it is meant to bring."""

    source: FieldPath
    value: Any
    targets: tuple[FieldPath, ...]


def content_for(subject: PlainMachine, profiles: Profiles) -> Tree:
    """The most that a preference can bring of the VM and change nothing, but for the topology; it may be empty."""
    proposals = tuple(_proposals(subject))
    changes = profiles.changes(subject)
    whole = profiles.shared(_spec(proposals))
    if not changes.is_none(whole):
        fitting: list[_PreferredField] = []
        for proposal in proposals:
            if changes.is_none(profiles.shared(_spec((*fitting, proposal)))):
                fitting.append(proposal)
        proposals, whole = tuple(fitting), profiles.shared(_spec(fitting))
    restored = set(brought(subject, whole.spec))
    return _spec(proposal for proposal in proposals if not restored.isdisjoint(proposal.targets))


def _spec(proposals: Iterable[_PreferredField]) -> Tree:
    spec: Tree = {}
    for proposal in proposals:
        tree.put(spec, proposal.source, proposal.value)
    return spec


def _proposals(subject: PlainMachine) -> Iterator[_PreferredField]:
    """What a preference might say."""
    yield from _item_proposals(subject)
    template = subject.template
    for source, target in _rows(subject.release):
        value = tree.get(template, *target)
        if value is not None:
            yield _PreferredField(source, value, (target,))
    clock = {
        key: value
        for key in ("utc", "timezone")
        if (value := subject.written("domain", "clock", key)) is not None
    }
    if clock:
        targets = tuple((*_DOMAIN, "clock", key) for key in clock)
        yield _PreferredField(("clock", "preferredClockOffset"), clock, targets)
    bootloader = subject.written("domain", "firmware", "bootloader") or {}
    bios, efi = ((*_BOOTLOADER, key) for key in ("bios", "efi"))
    if bootloader.get("efi") is not None:
        yield _PreferredField(("firmware", "preferredEfi"), bootloader["efi"], (efi,))
    if bootloader.get("bios") is not None:
        yield _PreferredField(("firmware", "preferredUseBios"), value=True, targets=(bios,))
        serial = bootloader["bios"].get("useSerial")
        if serial is not None:
            yield _PreferredField(("firmware", "preferredUseBiosSerial"), serial, (bios,))


def _item_proposals(subject: PlainMachine) -> Iterator[_PreferredField]:
    """What a preference might say of disks, interfaces and inputs: what most of them have, the first of several."""
    for source, above, below in _OF_ITEMS:
        found = {
            (*above, index, *below): value
            for index, item in enumerate(tree.get(subject.template, *above) or ())
            if (value := tree.get(item, *below)) not in (None, "")
        }
        if found:
            texts = Counter(
                json.dumps(found_value, sort_keys=True) for found_value in found.values()
            )
            value = json.loads(texts.most_common(1)[0][0])
            targets = tuple(path for path, found_value in found.items() if found_value == value)
            yield _PreferredField(("devices", source), value, targets)


@cache
def _rows(release: Version) -> tuple[tuple[FieldPath, FieldPath], ...]:
    """Field of the preference and of the template, for each rule that carries one value to one place."""
    return tuple(
        (rule.reads[0], ("spec", *rule.writes[0]))
        for rule in in_force(preference.RULES, release)
        if len(rule.reads) == 1 and len(rule.writes) == 1 and _is_whole(rule.writes[0])
    )


def _is_whole(path: FieldPath) -> bool:
    """Whether *path* of a VMI spec is a value that several VMs may share, and no structure around such values."""
    return not places.is_structure(("spec", *path)) and path not in _OWN
