"""The working state of one VirtualMachine on its way through the stages, and what all of a run share."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from render.diagnostics.codes import DEFAULT_NETWORK, Code
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.diagnostics.fix import Fix
from render.model import tree
from render.model.catalogue import Catalogue, Definition
from render.model.cluster_config import ARCHITECTURES, COMPUTED, DECIDED, ClusterConfig
from render.model.draft import Draft, TracedDraft, additions
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import TEMPLATE, VMI, Resource, ResourceRef
from render.model.tree import Tree
from render.resolve.references import References
from render.rules import Edit
from render.settings import Settings

if TYPE_CHECKING:
    from render.guest.texts import TextVerdict
    from render.launcher.cluster import LauncherCluster
    from render.model.provenance import Provenance
    from render.model.shape import Verdicts
    from render.presets import Index, Preset
    from render.revisions.lockfile import Pin

CONFIGURATION: FieldPath = ("spec", "configuration")


#: What is said of presets that contradict each other, `""` where they do not, and the places to look at.
Contradiction = tuple[str, tuple[Related, ...]]


class SettingsSource:
    """The *resource* that holds the settings of the cluster, and the *kubevirt* resource that it is, or becomes.

    *origin* gives for a path there the field of *resource* that decides it, if one does; *in_release* the settings as
    another release takes them.
    """

    __slots__ = ("in_release", "kubevirt", "origin", "resource")

    def __init__(
        self,
        resource: Resource,
        kubevirt: Tree,
        origin: Callable[[FieldPath], FieldPath | None],
        in_release: Callable[[Version], ClusterConfig],
    ) -> None:
        self.resource = resource
        self.kubevirt = kubevirt
        self.origin = origin
        self.in_release = in_release

    def says(self, path: FieldPath) -> Related | None:
        """What stands at *path* below ``spec.configuration`` of the KubeVirt resource, and who wrote it there."""
        value = tree.get(self.kubevirt, *CONFIGURATION, *path)
        if value is None:
            return None
        place = self.place(path)
        sets = "sets" if place.path else "leaves at its default"  # of what the operator adds
        return Related(f"{self.resource.ref} {sets} {_valued(path, value)}", place)

    def place(self, path: FieldPath) -> Location:
        """Where *path* below ``spec.configuration`` was decided: the whole object where no field of it does."""
        return at(self.resource, self.origin((*CONFIGURATION, *path)) or ())

    def deciding(self, path: FieldPath, value: object, architecture: str) -> FieldPath | None:
        """The setting that gave *path* of a VMI its *value*, if neither its author nor a definition did."""
        for field, settings in DECIDED:
            if path[: len(field)] == field:
                for setting in settings:
                    suffix = (architecture, "machineType") if setting == ARCHITECTURES else ()
                    configured = tree.get(self.kubevirt, *CONFIGURATION, *setting, *suffix)
                    if configured == value or (configured and setting in COMPUTED):
                        return (*setting, *suffix)
        return None


MOST_PRESET_STEPS = 4_000_000
"""What presets may cost the VMs of an input together, see `PresetWork`: some seconds."""


class PresetWork:
    """What selecting and merging presets has cost the VMs of an input so far: many presets times many VMs.

    A step is a requirement that is asked of labels; merging a preset, and each request in it, counts as several.
    """

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps = 0

    def has_room(self, steps: int) -> bool:
        """Whether *steps* more are within `MOST_PRESET_STEPS`; they count."""
        self._steps += steps
        return self._steps <= MOST_PRESET_STEPS


class Context(NamedTuple):
    """What all machines of a rendering share.

    *config_source* is None where the settings are KubeVirt's defaults;
    *pins*: those of the lock, by the names of VMs; *contents*: its decoded specs, by hash; *hashes*: those of
    definitions, kept once computed, as are the *contradictions* of presets by their positions, since many VMs match the
    same ones, the *selections* by the namespace and the kind of presets, and what there is to say of the texts that a
    *guest* boots with; *references* are the objects by name; *traced*: whether it is to be known which object decided
    which field; *clusters*: the cluster as virt-controller sees it, once a pod is asked for; *preset_work*: what
    presets have cost so far; *verdicts*: which stages find nothing in machines of which shape, where there are several
    machines. What the cluster has beside the input counts from *start* on. *emitter*: what makes of a
    machine what it becomes, where its mode does not.
    """

    settings: Settings
    release: Version
    release_is_assumed: bool
    catalogue: Catalogue
    config: ClusterConfig
    config_source: SettingsSource | None
    presets: dict[str, tuple["Preset", ...]]
    pins: Mapping[str, "Pin"]
    contents: dict[str, Tree]
    hashes: dict[tuple[int, str], tuple[Tree, str]]
    contradictions: dict[tuple[int, ...], Contradiction]
    guest: dict[tuple[str, str], "TextVerdict"]
    references: References
    selections: dict[tuple[str, str], "Index"]
    traced: bool
    start: int
    clusters: list["LauncherCluster"]
    preset_work: PresetWork
    verdicts: "Verdicts | None" = None
    emitter: Callable[["Machine"], Tree] | None = None


class Companion(NamedTuple):
    """An object to be emitted beside the VMs: the hash of its content, and the namespace that it means."""

    hash: str
    namespace: str
    body: Tree


class Additions(NamedTuple):
    """Entries that KubeVirt adds by itself, as they were when added.

    One that is still the same object later was changed by no rule.
    """

    disks: tuple[Tree, ...] = ()
    inputs: tuple[Tree, ...] = ()
    interfaces: tuple[Tree, ...] = ()


NO_ADDITIONS = Additions()


class Decided(NamedTuple):
    """Fields of a template that *definition* wrote."""

    definition: Definition
    edits: tuple[Edit, ...]


class Checked(NamedTuple):
    """The *vmi* of a VM as its webhook checks it, and what its definitions *decided*."""

    vmi: Tree
    decided: tuple[Decided, ...]


class ExclusiveUse(NamedTuple):
    """That the field at *path* of a VMI spec has a *value* that no other one may have in a *scope*: *what* it is."""

    what: str
    scope: str
    path: FieldPath
    value: str


_BARE: FieldPath = ("spec",)
_IN_TEMPLATE: FieldPath = (*TEMPLATE, "spec")


class Machine:
    """One VM (or bare VMI) between its manifest and what becomes of it.

    Its four states, each made of the one before:

    ===========  ====================================================================================
    ``raw``      the object as its author wrote it, or the object of today that it became at the door
    ``decoded``  the object through the Go types of its release, canonical, before any stage
    ``vm``       the VM as the stages change it: what the mutating webhook and the lock make of it
    ``vmi``      metadata and spec of the VMI that it starts; empty until a stage creates that
    ===========  ====================================================================================

    A stage that fails adds a diagnostic and sets *failed*: no later stage runs. *template*: where the object has
    metadata and spec of the VMI, which a bare VMI is itself; *vmi_path*: where it has that spec; *flavor*: what
    ``spec.flavor`` or the annotation for a flavour means, whole; *pinned*: the definitions that the lock decides, by
    kind class; *merged*: the presets; *companions*: what is emitted beside it; *decided*: what its definitions wrote;
    *checked*: once known, the VMI as the VM's webhook checks it, empty if it gets no further; *missing*: the fields
    that the schema requires and that are not there; *has_decode_findings*: whether anything was found when its manifest
    was decoded; *pods_pass*: whether its pods were looked at, and nothing is wrong with any by itself; *uses*: what it
    uses that no two machines may; *shape*: what it has in common with others, None if nothing, empty until it is asked.
    """

    __slots__ = (
        "additions", "checked", "companions", "context", "decided", "decoded", "diagnostics", "failed", "flavor",
        "has_decode_findings", "instancetype", "merged", "missing", "pinned", "pods_pass", "preference", "provenance",
        "resource", "shape", "template", "uses", "vm", "vmi", "vmi_path",
    )  # fmt: skip

    def __init__(self, context: Context, resource: Resource, decoded: Tree) -> None:
        self.context = context
        self.resource = resource
        self.template: FieldPath = () if resource.kind == VMI else TEMPLATE
        self.vmi_path = _BARE if resource.kind == VMI else _IN_TEMPLATE
        self.vm = self.decoded = decoded
        self.vmi: Tree = {}
        self.instancetype: Definition | None = None
        self.preference: Definition | None = None
        self.flavor: Definition | None = None
        self.pinned: dict[str, Definition] = {}
        self.merged: tuple[Preset, ...] = ()
        self.companions: list[Companion] = []
        self.additions = NO_ADDITIONS
        self.checked: Checked | tuple[()] | None = None
        self.decided: tuple[Decided, ...] = ()
        self.diagnostics: list[Diagnostic] = []
        self.provenance: list[Provenance] = []
        self.failed = False
        self.missing: tuple[FieldPath, ...] = ()
        self.has_decode_findings = False
        self.pods_pass = False
        self.uses: tuple[ExclusiveUse, ...] | None = None
        self.shape: bytes | None = b""

    def under(self, settings: Settings) -> "Machine":
        """The same machine, in the same state, with other *settings*."""
        import copy

        other = copy.copy(self)
        other.context = self.context._replace(settings=settings)
        return other

    @property
    def namespace(self) -> str:
        """Where the VM's references are looked up."""
        return self.resource.namespace or self.context.catalogue.namespace

    @property
    def spec(self) -> Tree:
        """The VM's spec."""
        return self.vm.get("spec") or {}

    @property
    def raw(self) -> Tree:
        """The object as its author wrote it, in today's shape."""
        return self.resource.body

    def report(
        self,
        code: Code,
        path: FieldPath,
        message: str,
        *related: Related,
        help: str = "",  # noqa: A002 - the word that users read
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        """Add a finding at *path* of the VM."""
        place = at(self.resource, path)
        self.diagnostics.append(code.at(place, message, *related, help=help, fixes=fixes))
        self.failed |= code.withholds

    def refuse_network(self, error: str) -> None:
        """Report that the cluster's default network cannot be attached."""
        self.report(
            DEFAULT_NETWORK,
            self.template,
            error,
            help="name networks and interfaces in the VM, or set autoattachPodInterface: false",
        )

    def draft(self, source: Tree) -> Draft:
        """A draft of a part of the machine: one that is traced, if it is to be known who decided what."""
        return TracedDraft(source) if self.context.traced else Draft(source)

    def record_defaults(self, draft: Draft) -> None:
        """Remember that KubeVirt itself, or a setting of the cluster, decided what changed in *draft* until now."""
        if isinstance(draft, TracedDraft):
            self.provenance += self._defaults(draft.changes(), draft)

    def leave_out_absent(self, body: Tree) -> None:
        """Forget who decided what KubeVirt adds by itself, and *body*, which came of the machine, has not."""
        start = len(TEMPLATE) if body["kind"] != self.vm.get("kind") else 0
        self.provenance = [
            provenance
            for provenance in self.provenance
            if not provenance.decider or tree.get(body, *provenance.field[start:]) is not None
        ]

    @staticmethod
    def forget(draft: Draft) -> None:
        """Leave to the edits of a definition what they changed in *draft*."""
        if isinstance(draft, TracedDraft):
            draft.changes()

    def record_notation(self, before: Tree, after: Tree) -> None:
        """Remember that no one decided what the spec *after* has besides *before*: Go writes some empty values."""
        if self.context.traced:
            from render.model.provenance import Provenance

            ref, above = self.resource.ref, self.vmi_path
            self.provenance += (
                Provenance(ref, path, None, (), None, "empty in KubeVirt's notation")
                for path in additions(before, after, above)
            )

    def _defaults(self, paths: Iterable[FieldPath], draft: Draft) -> "Iterator[Provenance]":
        from render.model.provenance import Provenance

        ref, above, source = self.resource.ref, self.template, self.context.config_source
        architecture = draft.get("spec", "architecture") or "amd64"
        by_itself = f"KubeVirt's default for {architecture}"
        for path in paths:
            setting = source.deciding(path, draft.get(*path), architecture) if source else None
            if source is None or setting is None:
                yield Provenance(ref, (*above, *path), None, (), None, by_itself)
                continue
            place = source.place(setting)
            decider = f"cluster setting {'.'.join(map(str, setting))}"
            yield Provenance(ref, (*above, *path), place.resource, place.path, place.index, decider)

    def record(self, definition: Definition, edits: tuple[Edit, ...]) -> None:
        """Remember that *definition* decided the fields of *edits*."""
        self.decided += (Decided(definition, edits),)
        if self.context.traced:
            from render.model.provenance import Provenance

            source, ref = ref_of(definition), self.resource.ref
            index = place_in(definition, ()).index
            self.provenance += (
                Provenance(ref, (*TEMPLATE, *edit.path), source, edit.source, index)
                for edit in edits
            )


def ref_of(definition: Definition) -> ResourceRef:
    """The name of a definition in messages."""
    resource = definition.resource or definition.elsewhere
    return resource.ref if resource else ResourceRef(definition.kind, "", definition.name)


def place_in(definition: Definition, path: FieldPath) -> Location:
    """The location of *path* of a definition's spec, wherever that is kept."""
    resource = definition.resource or definition.elsewhere
    if resource is None:
        return Location(resource=ref_of(definition), path=("spec", *path))
    prefix = ("data", "spec") if resource.kind == "ControllerRevision" else ("spec",)
    return at(resource, (*prefix, *path))


def setting(definition: Definition, path: FieldPath) -> Related:
    """The other party of a finding: what *definition* says at *path*."""
    value = tree.get(definition.spec, *path)
    return Related(f"{ref_of(definition)} sets {_valued(path, value)}", place_in(definition, path))


def _valued(path: FieldPath, value: object) -> str:
    """*path* with its *value*, unless that is secret or large."""
    from render.diagnostics import secrets

    text = ".".join(map(str, path))
    if secrets.is_secret(path) or secrets.redacted(value) != value:
        return text
    if isinstance(value, bool):
        text += f": {str(value).lower()}"
    elif isinstance(value, str | int):
        text += f": {value}"
    return text
