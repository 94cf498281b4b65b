"""The impact of a change, ready to be shown: by kustomization, with places, counts and totals."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.convert.templates import KINDS as TEMPLATE_KINDS
from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Severity, identity, without_known
from render.diff.effects import EFFECTS
from render.diff.impact import (
    DefinitionWithoutEffect,
    FieldChange,
    HolderImpact,
    Impact,
    MachineImpact,
    RolloutStrategy,
)
from render.diff.sizes import Size, Total, gibibytes
from render.diff.source import ChangeSource
from render.manifests.discover import SETTINGS_FILE
from render.model import fieldpath
from render.model.counting import counted
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import LOCK_KIND, OWN, ResourceRef
from render.report import findings
from render.report.findings import Finding
from render.report.places import Place, Sources
from render.report.waivers import in_words
from render.revisions import hashes

Locked = Literal["none", "some", "all"]
#: Kinds of disks and of what fills them, of which an update may be refused.
CLAIMS = frozenset(
    {
        "DataImportCron",
        "DataSource",
        "DataVolume",
        "PersistentVolumeClaim",
        "StorageProfile",
        "VolumeImportSource",
    }
)
Locate = Callable[[ChangeSource], Place]
#: A place, the object where the place is no line of one, and a field.
CauseKey = tuple[Place, ResourceRef | None, str]

#: Effects as a reader ranks them: what is lost comes before what takes a restart.
RANKED = (
    "unrenderable", "refused", "error", "gone",
    *(effect for effect in EFFECTS if effect not in ("unrenderable", "refused", "error", "gone", "same", "none")),
    "none", "same",
)  # fmt: skip
#: What each effect means, for who has not read docs/review.md.
MEANINGS = {
    "unrenderable": "cannot be rendered in the second state, and is not synced",
    "refused": "KubeVirt refuses the update, or CDI or the API server that of a disk",
    "error": "the controller fails, or the next start does",
    "gone": "is no longer in the repository: deleted where the sync prunes",
    "stop": "is stopped",
    "start": "is started",
    "restart": "runs on as it was until it is restarted (RestartRequired)",
    "migrate": "changes with a live migration",
    "live": "changes while it runs",
    "next": "changes at its next start, and no condition says so",
    "recreate": "changes only if the VM is deleted and made anew",
    "repaired": "could not be rendered before, and can be now",
    "new": "is new",
    "none": "is stored otherwise, or reads other settings; nothing that runs changes",
    "same": "stays as it is",
}
WORKLOAD = {
    "migrate": "KubeVirt migrates it by itself (workloadUpdateMethods has LiveMigrate)",
    "evict": "KubeVirt evicts it: it is shut down, and started again by its run strategy",
    "none": "nothing migrates it by itself: the guest has this after a migration or a restart",
    "unmigratable": "it cannot migrate, and KubeVirt does not say so: the guest has this after a restart",
}
#: What becomes of what a pool or a replica set has made, in words, and the effect that it counts as.
HOLDER_OUTCOMES = {
    "refused": ("KubeVirt refuses it, and what it has made stays as it is", "refused"),
    "unusable": ("what it makes of this is refused, or never starts", "error"),
    "repaired": ("it or what it makes was refused, or never started, and neither is so now", "repaired"),
    "new": ("is new", "new"),
    "gone": ("is no longer in the repository: deleted where the sync prunes, and so is what it has made", "gone"),
    "withdrawn": ("is no longer in the repository; what was made of it stays", "none"),
    "replaced": ("its controller deletes each VM and makes it anew: the DataVolumes are others", "restart"),
    "emptied": ("its controller deletes each VM", "gone"),
    "restarted": ("its controller deletes each VMI, and the run strategy starts it with the change", "restart"),
    "updated": ("its controller updates each VM, and such a VM fares as if it had been edited", "none"),
    "later": ("what it has made stays as it is; what it makes later has the change", "recreate"),
    "scaled": ("nothing changes but how many it makes", "none"),
}  # fmt: skip
#: What is said of a definition that a VM cannot do without.
_LACKING = "it asks for what is deleted:"
_DELETED = (
    "another VM to the cluster: this one is deleted where the sync prunes, and the other made anew"
)
_MADE_ANEW = "another VM to the cluster: made anew, with nothing of the one that it was"
#: What is said beside that where it keeps its namespace: claims of another are not to be had.
_WITH_CLAIMS = f"{_MADE_ANEW} but claims that it names, unless a dataVolumeTemplate of the former one made them"
#: What is said of an object that leaves the repository, by what becomes of the VM that names it.
_DEPARTED = {
    "next": "no longer in the repository, and missing at its next start where the sync prunes:",
    "gone": "no longer in the repository, and deleted with all VMs in it where the sync prunes:",
}
_WITH_NAMESPACE = "deleted with its Namespace where the sync prunes, and so is what it has made"
_REDEFINED = "since this was edited:"
_POOLS = {"VirtualMachinePool": "pool", "VirtualMachineInstanceReplicaSet": "replica set"}
_TEMPLATE = "template"
#: The setting of the cluster by which templates that change reach VMs that run.
ROLLOUT = "vmRolloutStrategy"
#: What only the cluster knows, and is taken for granted.
ASSUMED = (
    "VMs that are not halted run, and were started with the first state",
    "claims that are not in the repository are ReadWriteMany",
    "applies are server-side",
)
#: Effects of edits by which a VM is not what it was to be, and so many of these edits are said with an error.
_BREAKING = frozenset({"unrenderable", "refused"})
_EDITS = 3
#: So many objects are named of which there is one thing to say.
_NAMED = 5
#: Effects of an edit as a whole.
_OF_ALL = frozenset({"unrenderable", "refused", "error", "repaired"})
#: What lies in no input of its own.
OTHER_FILES = "other files"
#: So many inputs that are not compared are named.
_UNCOMPARED = 5
_STAMPS = f"metadata.annotations.{OWN}/"
_STAMPED = f"annotations of {OWN} alone change"
_CONFIGURED = "settings of the cluster change, and nothing of it"
#: Effects of which a reader is shown no more than the number.
QUIET = frozenset({"same", "none"})


def nowhere(_: ChangeSource) -> Place:
    """Names no place."""
    return Place()


class ReviewPart(NamedTuple):
    """What becomes of the VMs of one input, *name*; *locate* says where a cause stands.

    *sources* are where the objects of both states were read. *moved_from*: the input that had them before, where that
    is another one. *folders*: by their old and new folder, how many VMs in loose files stand elsewhere, as they were.
    """

    name: str
    impact: Impact
    locate: Locate = nowhere
    sources: tuple[Sources, Sources] = (Sources(), Sources())
    moved_from: str | None = None
    folders: Mapping[tuple[str, str], int] = MappingProxyType({})

    @property
    def title(self) -> str:
        """The input in words, ``""`` for the only one; where its VMs come from another one, both."""
        if self.moved_from is None:
            return self.name
        return f"{self.moved_from or OTHER_FILES} -> {self.name or OTHER_FILES}"

    def findings(self) -> tuple[list[Finding], list[Finding]]:
        """What is found in both states."""
        before, after = self.sources
        return findings.find(self.impact.before, before), findings.find(self.impact.after, after)


class BlamedEdit(NamedTuple):
    """A *change* for which an error is new that stands in a line which nobody changed, and where that was written."""

    change: FieldChange
    place: Place


class RepeatedError(NamedTuple):
    """An error that the second state has anew, and the *others* of which it says the same; *edits* are behind it."""

    finding: Finding
    others: tuple[ResourceRef | Place, ...] = ()
    edits: tuple[BlamedEdit, ...] = ()


class ErrorsOfChange(NamedTuple):
    """The errors of both states: those that the second has anew, has still, and has no longer.

    *edits* are behind new ones, by the identity of the diagnostic.
    """

    new: list[Finding]
    remaining: list[Finding]
    gone: list[Finding]
    edits: Mapping[int, tuple[BlamedEdit, ...]] = MappingProxyType({})

    def __str__(self) -> str:
        """How many there are of each, in words; nothing without any."""
        new, remaining, gone = map(len, (self.new, self.remaining, self.gone))
        texts = []
        if new or remaining:
            origin = f"{new:,} new, {remaining:,} as before" if new and remaining else ""
            origin = origin or ("new" if new else "as before")
            number = counted(new + remaining, "error")
            texts.append(f"after: {number} ({origin}), build prints nothing")
        if gone:
            texts.append(f"{counted(gone, 'error')} gone")
        return "; ".join(texts)

    @property
    def groups(self) -> list[RepeatedError]:
        """The new errors, those together that say the same of several objects."""
        return [
            RepeatedError(
                group.first,
                tuple(finding.diagnostic.resource or finding.place for finding in group.others),
                self.edits.get(id(group.first.diagnostic), ()),
            )
            for group in findings.groups(self.new)
        ]


def errors(parts: Iterable[ReviewPart]) -> ErrorsOfChange:
    """What became of the errors. One that is new in an input and gone from another has moved, and remains."""
    listed = list(parts)
    gone = [
        diagnostic
        for part in listed
        for diagnostic in part.impact.repaired_beside(
            other.impact for other in listed if other.moved_from == part.name
        )
    ]
    new = [diagnostic for part in listed for diagnostic in part.impact.new_errors]
    arrived = set(map(id, without_known(new, gone)))
    left = set(map(id, without_known(gone, new, are_later=False)))
    found = ErrorsOfChange([], [], [])
    edits: dict[int, tuple[BlamedEdit, ...]] = {}
    for part in listed:
        edits_of = _breaking_edits(part)
        before, after = part.sources
        lost = [diagnostic for diagnostic in part.impact.before if id(diagnostic) in left]
        found.gone.extend(findings.find(lost, before))
        listed_after = [diagnostic for diagnostic in part.impact.after if diagnostic.is_error]
        new_here, remaining = _parted(listed_after, arrived, after)
        found.remaining.extend(remaining)
        for finding in new_here:
            found.new.append(finding)
            edits[id(finding.diagnostic)] = _edits_behind(finding, edits_of)
    return ErrorsOfChange(
        findings.merge(_but_for(found.new, found.remaining)),
        findings.merge(found.remaining),
        findings.merge(_gone_everywhere(found)),
        edits,
    )


def _parted(
    diagnostics: Sequence[Diagnostic], news: Collection[int], sources: Sources
) -> tuple[list[Finding], list[Finding]]:
    """What *diagnostics* find, those whose ids are among *news*, and the others: a finding may say more than it did."""
    news_here = [diagnostic for diagnostic in diagnostics if id(diagnostic) in news]
    others = [diagnostic for diagnostic in diagnostics if id(diagnostic) not in news]
    return findings.find(news_here, sources), findings.find(others, sources)


def _gone_everywhere(found: ErrorsOfChange) -> Iterator[Finding]:
    """The errors that are gone but for those that other inputs still have: what several read is said of each."""
    still = {(identity(finding.diagnostic), finding.place.file) for finding in found.remaining}
    for finding in found.gone:
        if (identity(finding.diagnostic), finding.place.file) not in still:
            yield finding


def _breaking_edits(part: ReviewPart) -> dict[ResourceRef | None, dict[Place, BlamedEdit]]:
    """The edits for which VMs of *part* break, by VM; by None those for which VMs cannot be rendered any more."""
    edits: dict[ResourceRef | None, dict[Place, BlamedEdit]] = {}
    for machine in part.impact.machines:
        breaking = (each for each in leaves(machine.changes) if each.effect in _BREAKING)
        of = (machine.resource, None) if "after" in machine.unrendered else (machine.resource,)
        for change in breaking:
            if change.cause is not None:
                place = part.locate(change.cause)
                for key in of:
                    edits.setdefault(key, {}).setdefault(place, BlamedEdit(change, place))
    return edits


def _edits_behind(
    finding: Finding, edits_of: Mapping[ResourceRef | None, Mapping[Place, BlamedEdit]]
) -> tuple[BlamedEdit, ...]:
    """The edits for which VMs break as *finding* says, whose own line none of these edits is in; the first few.

    What is wrong with no object in particular, or with the lock, is that of all VMs that cannot be rendered any more.
    """
    of = finding.diagnostic.resource
    edits = edits_of.get(None if of is None or of.kind == LOCK_KIND else of, {})
    lines = {place[:2] for place in edits}
    return () if finding.place[:2] in lines else tuple(edits.values())[:_EDITS]


def _but_for(new: Iterable[Finding], remaining: Iterable[Finding]) -> list[Finding]:
    """Those *new* findings that none of the *remaining* ones is, at the same place."""
    known = {(identity(finding.diagnostic), finding.place) for finding in remaining}
    return [
        finding for finding in new if (identity(finding.diagnostic), finding.place) not in known
    ]


class ReviewedState(NamedTuple):
    """A state that is compared: its *name*, and where asked for, KubeVirt's *release* and the file of its settings.

    *emit*: how it is synced, where the other state is not synced so.
    """

    name: str
    release: str = ""
    cluster: str = ""
    emit: str = ""

    def __str__(self) -> str:
        release = f"KubeVirt {self.release}" if self.release else ""
        emit = f"--emit {self.emit}" if self.emit else ""
        return " with ".join([self.name, *filter(None, (release, self.cluster, emit))])


_NOT_APPLIED = " (not for this change: what it turns off is checked as before)"


_ADOPTED = " (taken for both states, since one says nothing of it)"


class SettingChange(NamedTuple):
    """That the repository's own settings have *key* at another value: None where they say nothing of it.

    *applied*: the second state is judged by it, and not by what the first has. *adopted*: both states are taken to have
    it, since one says nothing of it.
    """

    key: str
    before: Any
    after: Any
    applied: bool = True
    adopted: bool = False


class OtherEmit(NamedTuple):
    """To how many *machines* something else would happen, synced with *emit* in both states, or in this *state*."""

    emit: str
    machines: int
    state: str | None = None

    @property
    def words(self) -> str:
        """What else is supposed, behind *emit*."""
        return f" in {self.state}" if self.state else ""


class UncomparedInput(NamedTuple):
    """An input of which nothing is known, as the *codes* of errors say; *before* and *after*: in which state.

    *changed*: what it reads is not the same in both states, as far as it can be told what that is, or a definition that
    this mentions.
    """

    name: str
    codes: tuple[str, ...]
    before: bool
    after: bool
    changed: bool = False

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or OTHER_FILES


class Review(NamedTuple):
    """A comparison of the states *before* and *after*, synced with *emit*; *otherwise*: the other way to sync.

    *uncompared* are the inputs that could not be read, in the first state only where no VM of them is known; *settings*
    those of the repository itself that change. *locked*: which inputs are synced rendered, since they have a lock;
    *unseen* counts what of the second state was not looked at, and *unseen_before* what the first had more of that.
    *releases*: for which KubeVirt release VMs are rendered and why, in words, where nobody asked for one, and what is
    taken to be applied by itself. *mentioned*: the definitions that changed and that something mentions which is not
    compared. *releases_told*: those that a resource of one state alone tells, in words. *by_plugin*: how else our
    plugin of Argo CD emits what Applications have it render. *gitops* counts what changed of Argo CD and Flux.
    *uninstalled*: what is deleted and takes the VMs of its cluster with it.
    """

    before: ReviewedState
    after: ReviewedState
    emit: str
    parts: tuple[ReviewPart, ...]
    otherwise: OtherEmit | None = None
    uncompared: tuple[UncomparedInput, ...] = ()
    settings: tuple[SettingChange, ...] = ()
    locked: Locked = "none"
    unseen: Mapping[str, int] = MappingProxyType({})
    unseen_before: Mapping[str, int] = MappingProxyType({})
    releases: tuple[str, ...] = ()
    mentioned: frozenset[ResourceRef] = frozenset()
    releases_told: tuple[str, ...] = ()
    by_plugin: tuple[str, ...] = ()
    gitops: Mapping[str, int] = MappingProxyType({})
    uninstalled: tuple[ResourceRef, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted of the cluster."""
        return (*ASSUMED, *self.releases)

    @property
    def machines(self) -> list[MachineImpact]:
        """The VMs of all parts."""
        return [machine for part in self.parts for machine in part.impact.machines]


def synced(review: Review) -> tuple[str, str]:
    """How both states are synced, and why; nothing where they say so themselves."""
    if review.after.emit:
        return "", ""
    by_plugin = f", and by our plugin as {', '.join(review.by_plugin)}" if review.by_plugin else ""
    if review.locked == "some":
        return "source", f", and with a lock as vm{by_plugin}"
    return review.emit, f"{', since a lock says so' if review.locked == 'all' else ''}{by_plugin}"


def not_seen(review: Review) -> str:
    """What was not looked at, in words; nothing without any."""
    now, before = (
        ", ".join(counted(count, word) for word, count in sorted(unseen.items()))
        for unseen in (review.unseen, review.unseen_before)
    )
    more = f"not looked at in the first state alone: {before}" if before else ""
    return "; ".join(filter(None, (f"not looked at: {now}" if now else "", more)))


def subjects(machines: Iterable[MachineImpact]) -> str:
    """How many VMs and other objects there are, in words."""
    kinds = Counter(
        machine.resource.kind if machine.resource.kind in CLAIMS else "VM" for machine in machines
    )
    names = ["VM", *sorted(kinds.keys() - {"VM"})] if kinds["VM"] or not kinds else sorted(kinds)
    return " and ".join(counted(kinds[name], name) for name in names if kinds[name] or name == "VM")


def new_warnings(parts: Iterable[ReviewPart]) -> list[RepeatedError]:
    """The warnings that the second state has anew, those together that say the same of several objects.

    One that is new in an input and gone from another has moved.
    """
    listed = [(part, *_warnings_of(part)) for part in parts]
    arrived = [warning for _, before, after in listed for warning in without_known(after, before)]
    gone = [
        warning
        for _, before, after in listed
        for warning in without_known(before, after, are_later=False)
    ]
    news = set(map(id, without_known(arrived, gone)))
    new: list[Finding] = []
    remaining: list[Finding] = []
    for part, _, after in listed:
        new_here, as_before = _parted(after, news, part.sources[1])
        new.extend(new_here)
        remaining.extend(as_before)
    kept = _but_for(new, remaining)
    return [
        RepeatedError(
            group.first,
            tuple(finding.diagnostic.resource or finding.place for finding in group.others),
        )
        for group in findings.groups(findings.of_all_inputs(findings.merge(kept)))
    ]


def _warnings_of(part: ReviewPart) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """The warnings of both states."""
    impact = part.impact
    before, after = (
        [diagnostic for diagnostic in side if diagnostic.severity is Severity.WARNING]
        for side in (impact.before, impact.after)
    )
    return before, after


def warned(warnings: Sequence[RepeatedError]) -> str:
    """How many *warnings* are new, in words; nothing without any."""
    number = sum(1 + len(warning.others) for warning in warnings)
    return counted(number, "new warning") if number else ""


def not_compared(review: Review) -> str:
    """The inputs that are not compared, each with the codes of the errors that say why; nothing where all are."""
    named = [
        f"{uncompared.title} ({', '.join(uncompared.codes)})" for uncompared in review.uncompared
    ]
    more = [f"{len(named) - _UNCOMPARED:,} more"] if len(named) > _UNCOMPARED else []
    return f"not compared: {', '.join(named[:_UNCOMPARED] + more)}" if named else ""


def unknown(uncompared: Iterable[UncomparedInput], quote: Callable[[str], str] = str) -> str:
    """Which of the inputs that could not be compared changed, in words, names as *quote* has them; "" for none.

    What the change breaks is none of them: its VMs are not synced, and that is known.
    """
    names = [quote(each.title) for each in uncompared if each.before and each.changed]
    return f"{_first(names)} changed and cannot be compared" if names else ""


def same_state(review: Review) -> str:
    """That a state is compared with itself, in words: a base that was fetched anew may be the branch."""
    return "both are the same state" if review.before == review.after else ""


def settings_changed(review: Review) -> str:
    """The repository's own settings that change, in words, and what one state alone tells; nothing without any."""
    changed = (
        f"{change.key} {in_words(change.before)} -> {in_words(change.after)}"
        f"{_ADOPTED if change.adopted else '' if change.applied else _NOT_APPLIED}"
        for change in review.settings
    )
    listing = ", ".join(changed)
    told = [f"{release}{_ADOPTED}" for release in review.releases_told]
    return "; ".join([f"{SETTINGS_FILE} changed: {listing}", *told] if listing else told)


class MachineEntry(NamedTuple):
    """A VM, and the part that it belongs to."""

    part: ReviewPart
    machine: MachineImpact


class HolderEntry(NamedTuple):
    """A pool, replica set or template, and the part that it belongs to."""

    part: ReviewPart
    holder: HolderImpact

    @property
    def is_template(self) -> bool:
        """Whether VMs are made of it on demand."""
        return self.holder.resource.kind in TEMPLATE_KINDS

    @property
    def words(self) -> str:
        """How many it makes, and what becomes of those that it has made."""
        before, after = self.holder.replicas
        count = f"{before:,} -> {after:,}" if before != after else f"{after:,}"
        outcome = HOLDER_OUTCOMES[self.holder.outcome][0]
        if self.holder.departed:
            outcome = _WITH_NAMESPACE
        deleted = self.holder.deleted
        if deleted and self.holder.outcome != "emptied":
            rest = (
                "nothing else changes"
                if self.holder.outcome == "scaled"
                else f"of the others: {outcome}"
            )
            outcome = f"its controller deletes {deleted:,} of what it has made; {rest}"
        chosen = " (of those that its updateStrategy selects)" if self.holder.is_selective else ""
        noun = "VM" if self.is_template else "replica"
        return f"{count} {noun if before == after == 1 else f'{noun}s'}: {outcome}{chosen}"


def holders(parts: Iterable[ReviewPart]) -> list[HolderEntry]:
    """The pools, replica sets and templates of which something is to be said."""
    return [HolderEntry(part, holder) for part in parts for holder in part.impact.holders]


def not_counted(parts: Iterable[ReviewPart]) -> str:
    """How many pools, replica sets and templates stand beside the counts of VMs, in words; nothing without any."""
    nouns = _nouns(holders(parts))
    counts = _listing([counted(count, noun) for noun, count in nouns.items()])
    return f"beside these VMs {counts}, see below" if counts else ""


def _listing(words: Sequence[str]) -> str:
    """*words* in a sentence."""
    *most, last = words or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _nouns(listed: Iterable[HolderEntry]) -> dict[str, int]:
    """How many there are of each kind of those *listed*, by what it is called."""
    numbers = Counter(_POOLS.get(entry.holder.resource.kind, _TEMPLATE) for entry in listed)
    return {noun: numbers[noun] for noun in (*_POOLS.values(), _TEMPLATE) if numbers[noun]}


def holders_title(listed: Iterable[HolderEntry]) -> str:
    """What stands above those *listed*."""
    text = _listing([f"{noun}s" for noun in _nouns(listed)])
    return f"{text[:1].upper()}{text[1:]}, whose VMs are not in the counts"


def redefined(review: Review) -> dict[ResourceRef, bool | None]:
    """The definitions that changed, and whether a VM of any input asks for one of that name: None if nobody knows."""
    used: dict[ResourceRef, bool] = {}
    for part in review.parts:
        for definition in part.impact.redefined:
            used[definition.resource] = used.get(definition.resource, False) or definition.is_used
    return {
        ref: None if not used[ref] and ref in review.mentioned else used[ref]
        for ref in sorted(used)
    }


def became(review: Review) -> dict[ResourceRef, str]:
    """What became of the definitions that changed: ``changed``, but for what all inputs call ``new`` or ``deleted``."""
    outcomes: dict[ResourceRef, set[str]] = {}
    for part in review.parts:
        for definition in part.impact.redefined:
            outcomes.setdefault(definition.resource, set()).add(definition.became)
    return {
        ref: next(iter(known)) if len(known) == 1 else "changed" for ref, known in outcomes.items()
    }


def unused(review: Review) -> str:
    """How many definitions changed that no VM asks for, in words and by name; nothing without any."""
    refs = [ref for ref, is_used in redefined(review).items() if is_used is False]
    return _of_definitions(review, refs, "used by no VM here")


def mentioned(review: Review) -> str:
    """How many definitions changed that something mentions which is not compared, as `unused`."""
    return _of_definitions(review, sorted(review.mentioned), "mentioned in what is not compared")


def _of_definitions(review: Review, refs: Iterable[ResourceRef], reason: str) -> str:
    """How many of the definitions *refs* changed, are new or deleted, in words, each with the *reason* to say so."""
    outcomes = became(review)
    names: dict[str, list[str]] = {"changed": [], "new": [], "deleted": []}
    for ref in refs:
        names[outcomes.get(ref, "changed")].append(str(ref))
    return "; ".join(
        f"{counted(len(some), 'definition')} {outcome}, {reason}: {_first(some)}"
        for outcome, some in names.items()
        if some
    )


def repeated(parts: Iterable[ReviewPart]) -> str:
    """Which objects are there more than once, and that the last of each counts, in words; nothing without any."""
    names = {
        str(diagnostic.resource)
        for part in parts
        for diagnostic in part.impact.after
        # What several Applications of a set are called is no object that is compared.
        if diagnostic.code == codes.DUPLICATE_OBJECT.number and diagnostic.resource is not None
    }
    reason = "there more than once, and the last is compared, which Argo CD syncs"
    return f"{reason}: {_first(sorted(names))}" if names else ""


def relocated(parts: Iterable[ReviewPart]) -> str:
    """Between which inputs or folders VMs moved to which nothing else happens, in words; nothing where none did."""
    ways = []
    for part in parts:
        if part.moved_from is not None and not any(map(is_shown, part.impact.machines)):
            ways.append(f"{part.title} ({subjects(part.impact.machines)})")
        ways += (
            f"{old or '.'} -> {new or '.'} ({counted(number, 'VM')})"
            for (old, new), number in sorted(part.folders.items())
        )
    return f"moved, and as they were if both places are applied: {_first(ways)}" if ways else ""


def uninstalled(review: Review) -> str:
    """What is deleted that takes the VMs of its cluster with it, in words; nothing where nothing is."""
    names = [str(ref) for ref in review.uninstalled]
    reason = "deleted, and with it where the sync prunes all VMs of the cluster, or their disks"
    return f"{reason}: {_first(names)}" if names else ""


def asides(review: Review) -> Iterator[str]:
    """What else there is to say of all, a sentence each: of what is not counted, used or clear."""
    parts, machines = review.parts, review.machines
    sentences = (
        uninstalled(review), unused(review), mentioned(review), repeated(parts), relocated(parts),
        placed(machines), changed_gitops(review),
    )  # fmt: skip
    yield from filter(None, sentences)


def changed_gitops(review: Review) -> str:
    """How many objects of Argo CD and Flux are others, in words; nothing where none is."""
    found = ", ".join(counted(number, what) for what, number in sorted(review.gitops.items()))
    return f"of Argo CD and Flux, followed no further than is said here: {found}" if found else ""


def placed(machines: Iterable[MachineImpact]) -> str:
    """Which VMs that come may be those that go, but for a namespace that one of both does not name, in words."""
    gone: dict[tuple[str, str], list[ResourceRef]] = {}
    new: dict[tuple[str, str], list[ResourceRef]] = {}
    for machine in machines:
        known = gone if "gone" in machine.effects else new if "new" in machine.effects else None
        if known is not None:
            ref = machine.resource
            known.setdefault((ref.kind, ref.name), []).append(ref)
    pairs = [
        (gone[name][0], new[name][0])
        for name in sorted(gone.keys() & new.keys())
        if len(gone[name]) == len(new[name]) == 1
    ]
    names = [f"{old} -> {ref}" for old, ref in pairs if bool(old.namespace) != bool(ref.namespace)]
    reason = "one VM, neither gone nor new, if what names no namespace is applied in that one"
    return f"{reason}: {_first(names)}" if names else ""


def _first(names: Sequence[str]) -> str:
    """The first few of *names*, and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


#: Before and after.
Totals = tuple[Total, Total]


def worst(machine: MachineImpact) -> str:
    """The effect by which a VM is counted."""
    return min(machine.effects, key=RANKED.index)


def counts(machines: Iterable[MachineImpact]) -> dict[str, int]:
    """How many VMs there are of each worst effect, the worst first."""
    numbers = Counter(map(worst, machines))
    return {effect: numbers[effect] for effect in RANKED if numbers[effect]}


def meanings(machines: Sequence[MachineImpact]) -> dict[str, str]:
    """What each of those effects means for the VMs that have it: what migrates may hold some that cannot."""
    migrating = [machine for machine in machines if worst(machine) == "migrate"]
    held = sum(machine.workload == "unmigratable" for machine in migrating)
    if not held:
        return MEANINGS
    which = "" if held == len(migrating) else f"; {held:,} of them"
    begin = f"{MEANINGS['migrate']}{which}" if which else "would change with a live migration, and"
    return {**MEANINGS, "migrate": f"{begin} cannot migrate: the guest has it after a restart"}


def quiet(parts: Iterable[ReviewPart]) -> list[MachineEntry]:
    """The VMs of which nothing that runs changes, and why they are touched: without our own stamps."""
    return [
        MachineEntry(part, _without_stamps(machine))
        for part, machine in entries(parts, every=True)
        if machine.effects == ("none",)
    ]


def _without_stamps(machine: MachineImpact) -> MachineImpact:
    changes = tuple(change for change in leaves(machine.changes) if _STAMPS not in change.field)
    if changes:
        return machine._replace(changes=changes)
    if machine.changes:
        return machine._replace(changes=(), messages=(*machine.messages, _STAMPED))
    is_redefined = machine.edited or machine.deleted
    more = () if is_redefined or machine.configured else (_CONFIGURED,)
    return machine._replace(messages=(*machine.messages, *more))


def entries(parts: Iterable[ReviewPart], *, every: bool = False) -> list[MachineEntry]:
    """The VMs that something happens to, the worst first; *every*: also those that stay as they are."""
    machine_entries = (
        MachineEntry(part, machine) for part in parts for machine in part.impact.machines
    )
    listed = (entry for entry in machine_entries if every or is_shown(entry.machine))
    return sorted(listed, key=lambda entry: (rank(entry.machine), entry.part.title))


def is_shown(machine: MachineImpact) -> bool:
    """Whether a reader hears more of a VM than that it is there: not of one that was as broken before."""
    is_old = len(machine.unrendered) > 1 and not machine.messages
    return not is_old and not QUIET.issuperset(machine.effects)


def rank(machine: MachineImpact) -> tuple[list[int], bool, str]:
    """What sorts VMs, the worst first, and of those that cannot be rendered the ones last that never could."""
    effects = [RANKED.index(effect) for effect in machine.effects]
    return effects, len(machine.unrendered) > 1, str(machine.resource)


def pinned(machines: Iterable[MachineImpact]) -> str:
    """How many VMs stay as they are while the lock decides what they use, and how many it let go, in words."""
    machines = [*machines]
    kept = sum(1 for machine in machines if machine.pins and not is_shown(machine))
    let_go = sum(1 for machine in machines if machine.unpinned)
    parts = (
        f"pinned by the lock, of those that stay as they are: {kept:,}" if kept else "",
        f"no longer pinned: {let_go:,}" if let_go else "",
    )
    return "; ".join(filter(None, parts))


class ImpactText(NamedTuple):
    """What is said of a VM beside its changes: words of *ours*, text that comes from elsewhere, and its *place*."""

    ours: str
    quoted: str = ""
    place: Place = Place()


def texts(entry: MachineEntry) -> Iterator[ImpactText]:
    """What is to be said of a VM beside its changes."""
    yield from messages(entry)
    yield from _circumstances(entry)


def messages(entry: MachineEntry) -> Iterator[ImpactText]:
    """KubeVirt's texts about a VM; errors of one that cannot be rendered with their places."""
    part, machine = entry
    places = _fault_places(part, machine) if machine.unrendered else {}
    reason = unrendered(machine)
    for message in machine.messages:
        yield ImpactText(f"{reason}:" if reason else "", message, places.get(message, Place()))


def _circumstances(entry: MachineEntry) -> Iterator[ImpactText]:
    """What else there is to know about what becomes of a VM."""
    part, machine = entry
    if machine.unpinned:
        words = " and ".join(machine.unpinned)
        yield ImpactText(f"no longer pinned: it has each edit of its {words} from now on")
    before, after = machine.named
    if before != after and machine.unrendered:
        yield ImpactText("its instancetype:", f"{before or 'none'} -> {after or 'none'}")
    yield from _of_others(part, machine)
    if machine.rollout is not None:
        yield _rollout(machine.rollout, part.locate)
    if machine.workload:
        yield ImpactText(WORKLOAD[machine.workload])
    for words, names in (
        ("it would be made otherwise now, and the DataVolume stays as it is:", machine.stale),
        ("the DataVolume is made at once, whether the VM runs or not:", machine.made),
        ("it has no template any more, and the DataVolume stays and is the VM's:", machine.left),
    ):
        yield from (ImpactText(words, name) for name in names)


def _of_others(part: ReviewPart, machine: MachineImpact) -> Iterator[ImpactText]:
    """What other objects are behind what becomes of a VM, and what else it is called."""
    if machine.renamed is not None:
        if not _is_several(machine.renamed):
            yield ImpactText(renamed(machine), str(machine.renamed))
        is_moved = machine.renamed.namespace != machine.resource.namespace
        anew = _MADE_ANEW if is_moved else _WITH_CLAIMS
        yield ImpactText(_DELETED if "gone" in machine.effects else anew)
    for source in machine.lacking:
        yield ImpactText(_LACKING, str(source.resource), part.locate(source))
    yield from departures(part, machine)
    for source in machine.redefined:
        edited = f"{source.resource} {source.field}".rstrip()
        yield ImpactText(_REDEFINED, edited, part.locate(source))
    for source in machine.configured:
        edited = f"{source.resource} {source.field}".rstrip()
        yield ImpactText(f"{_CONFIGURED}:", edited, part.locate(source))


def departures(part: ReviewPart, impact: MachineImpact | HolderImpact) -> Iterator[ImpactText]:
    """What leaves the repository that the VM, pool or replica set of *impact* does not do without."""
    for departure in impact.departed:
        words = _DEPARTED[departure.effect]
        yield ImpactText(words, str(departure.source.resource), part.locate(departure.source))
        yield ImpactText("it is named by", departure.use.field, part.locate(departure.use))


def renamed(machine: MachineImpact) -> str:
    """How a VM that goes or comes came to its other name, in words before that."""
    other, own = machine.renamed, machine.resource
    is_moved = other is not None and other.namespace != own.namespace
    word = "renamed" if other is None or other.name != own.name else "moved"
    word += " and moved" if is_moved and word == "renamed" else ""
    if other is not None and _is_several(other):
        return word
    return f"{word} {'to' if 'gone' in machine.effects else 'from'}"


def _rollout(rollout: RolloutStrategy, locate: Locate) -> ImpactText:
    """That a VM waits for a restart because the cluster's strategy is this one."""
    source = rollout.source
    default = "" if source else f", the default of KubeVirt {rollout.release}"
    gate = f" as long as the feature gate {rollout.gate} is off" if rollout.gate else ""
    sentence = f"{ROLLOUT} is {rollout.value}{default}{gate}: such fields change at a restart, and not while a VM runs"
    if source is None:
        return ImpactText(sentence)
    return ImpactText(f"{sentence};", f"{source.resource} {source.field}".rstrip(), locate(source))


def unrendered(machine: MachineImpact) -> str:
    """In which states a VM cannot be rendered, in words; nothing of one that can be in both."""
    if machine.unrendered == ("before",):
        return MEANINGS["repaired"]
    if machine.unrendered == ("after",):
        return "after"
    return "already before; after" if machine.unrendered else ""


def sizes(machine: MachineImpact) -> Iterator[ImpactText]:
    """How large a VM is that comes or goes."""
    if worst(machine) in ("new", "gone"):
        for size in filter(None, machine.sizes):
            yield ImpactText(
                f"{size.vcpus:,} vCPU, {gibibytes(size.memory)} GiB", size.instancetype
            )


def written_at(entry: MachineEntry) -> Place:
    """Where a VM stands that comes, or stood that goes; no place of any other."""
    part, machine = entry
    return part.locate(machine.source) if machine.source else Place()


def _fault_places(part: ReviewPart, machine: MachineImpact) -> dict[str, Place]:
    """Where the errors of a VM stand that cannot be rendered, by what they say."""
    places: dict[str, Place] = {}
    texts = set(machine.messages)
    sides = (part.impact.after, part.impact.before)
    for diagnostics, sources in zip(sides, reversed(part.sources), strict=True):
        errors = (
            diagnostic
            for diagnostic in diagnostics
            if diagnostic.is_error and not texts.isdisjoint(_texts_of(machine.resource, diagnostic))
        )
        for finding in findings.find(errors, sources):
            for text in _texts_of(machine.resource, finding.diagnostic):
                places.setdefault(text, finding.place)
    return places


def _texts_of(vm: ResourceRef, diagnostic: Diagnostic) -> tuple[str, ...]:
    """What is said of *vm* for an error of its own, and for that of an object that it cannot do without."""
    own = (diagnostic.message,) if diagnostic.resource == vm else ()
    return *own, f"{diagnostic.resource}: {diagnostic.message}"


#: What KubeVirt computes from another field, or writes down beside it.
FOLLOWING = ("metadata.", "spec.domain.cpu.maxSockets", "spec.domain.memory.maxGuest")


def leaves(field_changes: Iterable[FieldChange]) -> list[FieldChange]:
    """The *field_changes*, of lists what differs in their items."""
    return [leaf for change in field_changes for leaf in change.leaves or (change,)]


def changes(machine: MachineImpact) -> list[FieldChange]:
    """The changes of a VM by leaf, the worst first, and last of each effect what waits for or follows from others."""
    return sorted(
        leaves(machine.changes),
        key=lambda change: (
            RANKED.index(change.effect),
            change.waits,
            change.field.startswith(FOLLOWING),
        ),
    )


def effect_of(change: FieldChange) -> str:
    """The effect of *change* in words; nothing for a change without one."""
    return "with the restart" if change.waits else change.effect


class MachineGroup(NamedTuple):
    """VMs of one kustomization to which the same happens, because of the same."""

    part: ReviewPart
    machines: tuple[MachineImpact, ...]

    @property
    def any(self) -> MachineImpact:
        """One of them, with nothing that is not true of all: each has a pin of its own in a lock."""
        first, *others = self.machines
        if not others:
            return first
        renamed = first.renamed and _of_several(first.renamed)
        return first._replace(changes=(*map(_of_all, first.changes),), renamed=renamed)


def _of_several(ref: ResourceRef) -> ResourceRef:
    """Stands for what several VMs are called, each otherwise: *ref* is that of one of them."""
    return ref._replace(kind="")


def _is_several(ref: ResourceRef) -> bool:
    return not ref.kind


def _of_all(change: FieldChange) -> FieldChange:
    cause = change.cause
    if cause is not None and _is_pin(cause):
        cause = cause._replace(path=("pins", "*", *cause.path[2:]))
    return change._replace(cause=cause, leaves=(*map(_of_all, change.leaves),))


def _is_pin(source: ChangeSource) -> bool:
    return source.resource.kind == LOCK_KIND and source.path[:1] == ("pins",)


def behind(part: ReviewPart, source: ChangeSource) -> tuple[Place, ResourceRef, str]:
    """Where *source* stands, its object and field, as VMs share them: each has a pin of its own in a lock."""
    place = part.locate(source)
    if _is_pin(source):
        field = fieldpath.text(("pins", "*", *source.path[2:]))
        of = defined_at(source, part.locate)
        return Place(place.file), source.resource, f"{field} ({of})" if of else field
    return place, source.resource, source.field


def defined_at(source: ChangeSource, locate: Locate) -> str:
    """The definition whose content the pin *source* names, and where that stands; nothing of anything else."""
    if source.definition is None:
        return ""
    place = locate(source.definition)
    return f"{source.definition.resource}{f' in {place}' if place.file else ''}"


def alike(machine_entries: Iterable[MachineEntry]) -> list[MachineGroup]:
    """The VMs *machine_entries*, those together that have everything but their names in common.

    An error stands in the manifest of each: the first one's stands for all.
    """
    groups: dict[str, tuple[ReviewPart, list[MachineImpact]]] = {}
    for entry in machine_entries:
        part, machine = entry
        about = [
            (*change[:4], change.waits, change.cause and _behind_of(part, machine, change.cause))
            for change in leaves(machine.changes)
        ]
        of_all = machine.renamed and _of_several(machine.renamed)
        identity = (
            part.title,
            machine.resource.kind,
            machine.effects,
            [text[:2] for text in messages(entry)],
            [
                *_circumstances(MachineEntry(part, machine._replace(renamed=of_all))),
                *sizes(machine),
            ],
            machine.renamed is not None and renamed(machine),
        )
        groups.setdefault(repr((identity, about)), (part, []))[1].append(machine)
    return [MachineGroup(part, tuple(machines)) for part, machines in groups.values()]


def _behind_of(part: ReviewPart, machine: MachineImpact, source: ChangeSource) -> CauseKey:
    """What is behind a change of *machine*: its own fields are called alike by all that stand in one line."""
    place, resource, field = behind(part, source)
    return place, None if resource == machine.resource else resource, field


class UnaffectedUsers(NamedTuple):
    """The VMs *machines* that use a *definition* which was edited or deleted, and *why* nothing comes of it."""

    definition: ResourceRef
    why: str
    machines: tuple[ResourceRef, ...]


#: What became of a definition: in a word, of whom it is said, and why nothing comes of it for a VM that has no pin.
_UNAFFECTED: tuple[tuple[str, Callable[[MachineImpact], Iterable[DefinitionWithoutEffect]], str], ...] = (
    ("edited", lambda machine: machine.edited, "what they run is the same"),
    ("deleted", lambda machine: machine.deleted, "KubeVirt keeps what they were created with"),
)  # fmt: skip


def unaffected(machines: Sequence[MachineImpact]) -> list[tuple[str, list[UnaffectedUsers]]]:
    """The definitions that VMs use to which nothing happens, by what became of them: ``edited`` or ``deleted``."""
    sections = []
    for word, definitions, unpinned in _UNAFFECTED:
        users: dict[tuple[ResourceRef, str], list[ResourceRef]] = {}
        for machine in machines:
            for definition in definitions(machine):
                why = _pin(definition.resource.name, definition.pin) if definition.pin else unpinned
                users.setdefault((definition.resource, why), []).append(machine.resource)
        if users:
            listed = [
                UnaffectedUsers(*key, tuple(dict.fromkeys(users[key]))) for key in sorted(users)
            ]
            sections.append((word, listed))
    return sections


def _pin(name: str, pin: str) -> str:
    """What a VM with this *pin* is pinned to, of the definition *name*."""
    known = f"{name}@{hashes.suffix(pin)}" if pin.startswith(hashes.PREFIX) else pin
    return f"pinned to {known}"


def without_rest(machines: Iterable[MachineImpact]) -> str:
    """That the sums lack the VMs that cannot be rendered, or could not before, if they do."""
    lost = [machine.unrendered for machine in machines if machine.unrendered]
    if all("after" in states for states in lost):
        why = "cannot be rendered"
    else:
        is_all = all(states == ("before",) for states in lost)
        why = "could not be rendered before" if is_all else "one state cannot render"
    return f" (without {len(lost):,} that {why})" if lost else ""


class ChangeCause(NamedTuple):
    """What changed in the repository: the *field* of an object, where it stands, and what comes of it by effect.

    *resources*: the object, as each input that reads the place calls it. *is_deleted*: all of it, from there.
    """

    place: Place
    resources: tuple[ResourceRef, ...]
    field: str
    effects: dict[str, int]
    is_deleted: bool = False

    @property
    def key(self) -> CauseKey:
        """What tells it from others."""
        return cause_key(self.place, self.resources[0], self.field)

    @property
    def name(self) -> str:
        """What the object is called: without a namespace where overlays put it into several."""
        first, *others = dict.fromkeys(
            ref._replace(namespace="") if len(self.resources) > 1 else ref for ref in self.resources
        )
        return f"{first} and {len(others):,} more" if others else str(first)


def cause_key(place: Place, resource: ResourceRef, field: str) -> CauseKey:
    """What tells a cause from others: a line is one, whatever overlays call the object there."""
    return place, None if place.line else resource, field


def causes(
    machines: Iterable[MachineEntry],
    behind_of: Callable[[ReviewPart, ChangeSource], tuple[Place, ResourceRef, str]] = behind,
) -> list[ChangeCause]:
    """What is behind the changes of the VMs, the worst first, then those of most VMs.

    A VM counts once a cause, by the worst that comes of that one. *behind_of* tells what counts as a cause: a field by
    default. Of causes of a restart those come last that no VM is restarted for.
    """
    numbers: dict[CauseKey, Counter[str]] = {}
    ranks: dict[CauseKey, tuple[int, bool]] = {}
    resources: dict[CauseKey, dict[ResourceRef, bool]] = {}
    for part, machine in machines:
        effects: dict[CauseKey, list[str]] = {}
        gone = (*machine.lacking, *(departure.source for departure in machine.departed))
        for source, effect, waits in _sources(machine):
            place, resource, field = behind_of(part, source)
            key = cause_key(place, resource, field)
            effects.setdefault(key, []).append(effect)
            rank = RANKED.index(effect), waits
            ranks[key] = min(ranks.get(key, rank), rank)
            resources.setdefault(key, {})[resource] = source in gone
        for key, found in effects.items():
            numbers.setdefault(key, Counter())[min(found, key=RANKED.index)] += 1
    listed = [
        ChangeCause(
            key[0],
            tuple(resources[key]),
            key[2],
            {effect: numbers[key][effect] for effect in RANKED if numbers[key][effect]},
            any(resources[key].values()),
        )
        for key in numbers
    ]
    return sorted(
        listed,
        key=lambda cause: (
            *ranks[cause.key], -sum(cause.effects.values()), cause.place, cause.resources, cause.field
        ),
    )  # fmt: skip


def _sources(machine: MachineImpact) -> Iterator[tuple[ChangeSource, str, bool]]:
    """What is behind what happens to *machine*, each with its effect, and whether that waits for another one."""
    for change in leaves(machine.changes):
        if change.cause is not None:
            yield change.cause, _effect_on(machine, change), change.waits
    for source in (*machine.lacking, *machine.redefined):
        yield source, worst(machine), False
    for departure in machine.departed:
        yield departure.source, departure.effect, False


def _effect_on(machine: MachineImpact, change: FieldChange) -> str:
    """What *change* does to *machine*: what keeps all of it from being applied, or the effect of its own."""
    if worst(machine) in _OF_ALL:
        return worst(machine)
    # That a VM is stored otherwise is the way to the least that happens to it.
    return machine.effects[-1] if change.effect in ("", "none") else change.effect


def total(machines: Iterable[MachineImpact]) -> Totals:
    """What *machines* ask for, before and after; of one that a state cannot render, nothing counts in either."""
    return _sum(
        size for machine in machines if not machine.unrendered for size in enumerate(machine.sizes)
    )


def by_namespace(machines: Iterable[MachineImpact]) -> dict[str, Totals]:
    """The totals of each namespace."""
    groups: dict[str, list[MachineImpact]] = {}
    for machine in machines:
        groups.setdefault(machine.resource.namespace, []).append(machine)
    return {name: total(groups[name]) for name in sorted(groups)}


def by_instancetype(machines: Iterable[MachineImpact]) -> dict[str, Totals]:
    """The totals of each instancetype, by its name; ``""`` are VMs without one. What counts: as in `total`."""
    groups: dict[str, list[tuple[int, Size | None]]] = {}
    for machine in machines:
        if machine.unrendered:
            continue
        for side, size in enumerate(machine.sizes):
            if size is not None:
                groups.setdefault(size.instancetype, []).append((side, size))
    return {name: _sum(groups[name]) for name in sorted(groups)}


def _sum(sizes: Iterable[tuple[int, Size | None]]) -> Totals:
    totals = [Total(), Total()]
    for side, size in sizes:
        if size is not None:
            totals[side] = totals[side].adding(size)
    return totals[0], totals[1]


def amounts(totals: Totals) -> list[str]:
    """VMs, vCPUs and memory of *totals* in words; only one number where nothing changes."""
    before, after = totals
    plural = "VM" if after.machines == 1 else "VMs"
    pairs = [
        (f"{old:,}", f"{other:,}", unit)
        for old, other, unit in ((before.machines, after.machines, plural), (before.vcpus, after.vcpus, "vCPU"))
    ]  # fmt: skip
    pairs.append((gibibytes(before.memory), gibibytes(after.memory), "GiB"))
    return [f"{old} {unit}" if old == new else f"{old} -> {new} {unit}" for old, new, unit in pairs]
