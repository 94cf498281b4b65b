"""The working state of one VirtualMachine on its way through the stages."""

from typing import TYPE_CHECKING, NamedTuple

from render.convert import machines
from render.diagnostics.codes import Code
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.model import tree
from render.model.catalogue import Catalogue, Definition
from render.model.cluster_config import ClusterConfig
from render.model.fieldpath import FieldPath
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.result import Provenance
from render.revisions.lock import Lock
from render.rules import Edit
from render.settings import Settings

if TYPE_CHECKING:
    from render.presets import Index, Preset

TEMPLATE: FieldPath = ("spec", "template")


#: What is said of presets that contradict each other, `""` where they do not, and the places to look at.
Contradiction = tuple[str, tuple[Related, ...]]


class Context(NamedTuple):
    """What all machines of a rendering share.

    *contents*: the decoded specs of *lock*, by hash; *hashes*: those of definitions, kept once computed, as are the
    *contradictions* of presets by their positions, since many VMs match the same ones, and the *selections* by the
    namespace and the kind of presets; *traced*: whether it is to be known which object decided which field.
    """

    settings: Settings
    release: tuple[int, int]
    catalogue: Catalogue
    config: ClusterConfig
    presets: dict[str, tuple["Preset", ...]]
    lock: Lock
    contents: dict[str, Tree]
    hashes: dict[int, tuple[Tree, str]]
    contradictions: dict[tuple[int, ...], Contradiction]
    selections: dict[tuple[str, str], "Index"]
    traced: bool


class Additions(NamedTuple):
    """Entries that KubeVirt adds by itself, as they were when added.

    One that is still the same object later was changed by no rule.
    """

    disks: tuple[Tree, ...] = ()
    inputs: tuple[Tree, ...] = ()
    interfaces: tuple[Tree, ...] = ()


class Beside(NamedTuple):
    """An object to be emitted beside the VMs: the hash of its content, and the namespace that it means."""

    hash: str
    namespace: str
    body: Tree


class Machine:
    """One VM (or bare VMI) between its manifest and what becomes of it.

    *vm* is the decoded object, as the stages change it; *template* the VMI that comes out of it,
    ``metadata`` and ``spec``. A stage that fails adds a diagnostic and sets *failed*: no later
    stage runs. *pinned*: the definitions that the lock decides, by kind class; *merged*: the presets;
    *beside*: what is emitted beside it; *given*: the decoded object as it came.
    """

    __slots__ = (
        "additions", "beside", "context", "diagnostics", "failed", "given", "instancetype", "merged", "pinned",
        "preference", "provenance", "resource", "template", "vm",
    )  # fmt: skip

    def __init__(self, context: Context, resource: Resource, vm: Tree) -> None:
        self.context = context
        self.resource = resource
        self.vm = self.given = vm
        self.template: Tree = {}
        self.instancetype: Definition | None = None
        self.preference: Definition | None = None
        self.pinned: dict[str, Definition] = {}
        self.merged: tuple[Preset, ...] = ()
        self.beside: list[Beside] = []
        self.additions = Additions()
        self.diagnostics: list[Diagnostic] = []
        self.provenance: list[Provenance] = []
        self.failed = False

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
    def is_bare(self) -> bool:
        """Whether the input object is a VMI without a VM around it, as those of kubevirt.io/v1alpha1 were too."""
        resource = self.resource
        return resource.kind == "VirtualMachineInstance" or machines.era(resource) != ""

    @property
    def written(self) -> Tree:
        """The object as its author wrote it, in today's shape."""
        body = self.resource.body
        if machines.era(self.resource) != "store":
            return body
        return machines.from_store(body, machines.as_instance(body))

    @property
    def vmi_path(self) -> FieldPath:
        """Where the VMI spec stands in the input object: a bare VMI has no template."""
        return ("spec",) if self.is_bare else (*TEMPLATE, "spec")

    def report(
        self,
        code: Code,
        path: FieldPath,
        message: str,
        *related: Related,
        help: str = "",  # noqa: A002 - the word that users read
    ) -> None:
        """Add a finding at *path* of the VM."""
        self.diagnostics.append(code.at(at(self.resource, path), message, *related, help=help))
        self.failed |= code.withholds

    def record(self, definition: Definition, edits: tuple[Edit, ...]) -> None:
        """Remember that *definition* decided the fields of *edits*."""
        if self.context.traced:
            source, ref = ref_of(definition), self.resource.ref
            index = definition.resource.index if definition.resource else None
            self.provenance += (
                Provenance(ref, (*TEMPLATE, *edit.path), source, edit.source, index)
                for edit in edits
            )


def ref_of(definition: Definition) -> ResourceRef:
    """The name of a definition in messages."""
    if definition.resource is not None:
        return definition.resource.ref
    return ResourceRef(definition.kind, "", definition.name)


def place_in(definition: Definition, path: FieldPath) -> Location:
    """The location of *path* of a definition's spec, wherever that is kept."""
    resource = definition.resource
    if resource is None:
        return Location(resource=ref_of(definition), path=("spec", *path))
    prefix = ("data", "spec") if resource.kind == "ControllerRevision" else ("spec",)
    return at(resource, (*prefix, *path))


def setting(definition: Definition, path: FieldPath) -> Related:
    """The other party of a finding: what *definition* says at *path*."""
    value = tree.get(definition.spec, *path)
    text = f"{ref_of(definition)} sets {'.'.join(map(str, path))}"
    if isinstance(value, bool):
        text += f": {str(value).lower()}"
    elif isinstance(value, str | int):
        text += f": {value}"
    return Related(text, place_in(definition, path))
