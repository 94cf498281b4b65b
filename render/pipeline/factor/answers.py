"""What `factor` answers: values without behaviour."""

from render.diagnostics.diagnostic import Diagnostic
from render.diff.impact import FieldChange
from render.model.edits import Operation
from render.model.fieldpath import FieldPath
from render.model.hints import Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef
from render.model.tree import Tree

#: From the best to the worst: definitions that exist give the VMI; some are new; existing ones nearly give it; none do;
#: the VM has both already.
Outcome = Literal["exact", "new", "near", "open", "done"]
OUTCOMES: tuple[Outcome, ...] = ("exact", "new", "near", "open", "done")
#: Where a definition is: in the input, beside it in the cluster, deployed by KubeVirt, or yet to be added.
Home = Literal["input", "cluster", "bundled", "new"]


class DefinitionName(NamedTuple):
    """An instancetype or a preference that a VM is to have."""

    kind: str
    name: str
    home: Home


class Hindrance(NamedTuple):
    """Why a VM gets no definition of a kind class: *path* is the field of the VM behind it, if one is."""

    word: str
    message: str
    path: FieldPath = ()


class Nearest(NamedTuple):
    """Definitions that exist and nearly give the VMI, and what KubeVirt would do: *effects*, *messages* and *changes*.

    These are those of `compare`, without the annotations that name definitions.
    """

    instancetype: DefinitionName | None
    preference: DefinitionName | None
    effects: tuple[str, ...]
    messages: tuple[str, ...]
    changes: tuple[FieldChange, ...]


class MachineFactoring(NamedTuple):
    """What becomes of one VM: its *edits* (of the object at *index*), and the fields that leave it.

    It is *resource*, or stands in it at *path*: in a pool or a template.
    *instancetype* and *preference*: what it is given, None where it has or needs none. *reasons*: why not both.
    *nearest*: if that was asked for, and nothing that exists is exact. *restarts*: the guest stays the same, but if it
    runs, KubeVirt asks for a restart, since the VM left a part of its CPU topology open. *presets*: those of which the
    definitions bring all that they merged into the VMI.
    """

    resource: ResourceRef
    index: int  # type: ignore[assignment] # nobody searches it as a tuple
    outcome: Outcome
    instancetype: DefinitionName | None = None
    preference: DefinitionName | None = None
    edits: tuple[Operation, ...] = ()
    removed: tuple[str, ...] = ()
    reasons: tuple[Hindrance, ...] = ()
    nearest: Nearest | None = None
    restarts: bool = False
    presets: tuple[ResourceRef, ...] = ()
    path: FieldPath = ()


class NewDefinition(NamedTuple):
    """A definition to be added, as a manifest, and the VMs that share it."""

    body: Tree
    users: tuple[ResourceRef, ...]


class PresetFactoring(NamedTuple):
    """What becomes of a preset of the input: it goes, or stays because of *reason*; *users* are what it selects."""

    resource: ResourceRef
    index: int  # type: ignore[assignment] # nobody searches it as a tuple
    users: tuple[ResourceRef, ...]
    reason: str = ""


class Factoring(NamedTuple):
    """What becomes of each VM, the definitions to be added, what was found on the way, and what becomes of presets."""

    machines: tuple[MachineFactoring, ...]
    definitions: tuple[NewDefinition, ...]
    diagnostics: tuple[Diagnostic, ...]
    presets: tuple[PresetFactoring, ...] = ()
