"""A Kubernetes object with its identity and the place it was read from."""

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

CLUSTER_SCOPED = frozenset(
    {
        "VirtualMachineClusterInstancetype",
        "VirtualMachineClusterPreference",
        "VirtualMachineClusterFlavor",
    }
)
KUBEVIRT = "kubevirt.io"
INSTANCETYPE_GROUP = "instancetype.kubevirt.io"
FLAVOR_GROUP = "flavor.kubevirt.io"
CDI = "cdi.kubevirt.io"
HYPERCONVERGED = "hco.kubevirt.io"
SNAPSHOT = "snapshot.storage.k8s.io"
OWN = "virt-render.dev"
LOCK_KIND = "RevisionLock"
VM = "VirtualMachine"
VMI = "VirtualMachineInstance"
POOL = "VirtualMachinePool"
REPLICA_SET = "VirtualMachineInstanceReplicaSet"
#: The API groups of the kinds whose objects make VMs or VMIs.
HOLDER_GROUPS = {POOL: f"pool.{KUBEVIRT}", REPLICA_SET: KUBEVIRT}
#: Kinds of objects that are machines, or make some.
MACHINES = frozenset({VM, VMI, *HOLDER_GROUPS})
#: Where a VM has metadata and spec of the VMI that it starts.
TEMPLATE: FieldPath = ("spec", "template")
VIRT_OPERATOR = "virt-operator"
#: Group and kind of what holds the settings of a cluster; the operator of the first makes the second.
SETTINGS_HOLDERS = ((HYPERCONVERGED, "HyperConverged"), (KUBEVIRT, "KubeVirt"))


class ResourceRef(NamedTuple):
    """How a diagnostic names an object."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        text = f"{self.kind} {name}"
        # A line break in a name would begin a line of a report.
        return text if text.isprintable() else repr(text)[1:-1]


class Origin(NamedTuple):
    """Where an object was read.

    *file* is shown as it is (relative to the working directory); *document* counts YAML documents from
    0; *item* is the route through ``items`` of a List, empty outside one; *line* is the first line
    of the document, from 1.
    """

    file: str
    document: int = 0
    item: tuple[int, ...] = ()
    line: int = 1

    @property
    def route(self) -> FieldPath:
        """The way from the top of the document to the object."""
        return tuple(step for item in self.item for step in ("items", item))


class Resource(NamedTuple):
    """One input object: *body* is never changed, *index* is its position in the input.

    *may_hold_placeholders*: nobody has seen yet that there is none; *previous* is its name before it was built.
    *holders*: the pool or replica set that makes it, if one does; findings are about that, and `replicas.relocated`
    brings their paths there; *older*: what its author wrote, if that is no object of today (`legacy.modernise`).
    Tuples: what is quoted outside of one, Python compiles at every start.
    """

    body: Tree
    index: int  # type: ignore[assignment] # nobody searches a resource as a tuple
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    origin: Origin | None = None
    may_hold_placeholders: bool = True
    previous: str = ""
    holders: tuple["Resource", ...] = ()
    older: tuple["Resource", ...] = ()

    @property
    def written(self) -> "Resource":
        """The object of the input: this one, the one that holds it, or the older one that it was."""
        return (self.holders or self.older or (self,))[0]

    @property
    def holder(self) -> "Resource | None":
        """The pool or replica set that makes it, None where none does."""
        return self.holders[0] if self.holders else None

    @property
    def ref(self) -> ResourceRef:
        """The name for messages; an object that gets its name from the cluster shows the beginning."""
        if self.holders or self.older:
            return self.written.ref
        name = self.name or text_at(self.body.get("metadata"), "generateName")
        return ResourceRef(self.kind, self.namespace, name)

    @property
    def spec(self) -> Tree:
        """``spec`` as a mapping (empty where it is missing or of another type)."""
        spec = self.body.get("spec")
        return spec if isinstance(spec, dict) else {}


def is_revision(resource: Resource) -> bool:
    """Whether *resource* is a ControllerRevision."""
    return resource.group == "apps" and resource.kind == "ControllerRevision"


def text_at(body: Any, key: str) -> str:
    """The string at *key*, ``""`` where it is missing or of another type."""
    value = body.get(key) if isinstance(body, dict) else None
    return value if isinstance(value, str) else ""


def annotations_of(body: Tree) -> Tree:
    """The annotations of an object (empty where they are missing or of another type)."""
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def is_operator(group: str, kind: object, name: object) -> bool:
    """Whether an object of this *group*, *kind* and *name* runs KubeVirt's operator, which installs its own release."""
    return (group, kind, name) == ("apps", "Deployment", VIRT_OPERATOR)


def tells_release(resource: Resource) -> bool:
    """Whether *resource* may say which KubeVirt release its cluster runs: it has its settings, or installs it."""
    kind = resource.group, resource.kind
    return kind in SETTINGS_HOLDERS or is_operator(*kind, resource.name)


def from_body(
    body: Tree, index: int, origin: Origin | None = None, *, may_hold_placeholders: bool = True
) -> Resource:
    """Read identity out of *body*; a namespace on one of KubeVirt's cluster-scoped kinds is ignored."""
    group, _, version = text_at(body, "apiVersion").rpartition("/")
    kind = text_at(body, "kind")
    metadata = body.get("metadata")
    namespace = "" if kind in CLUSTER_SCOPED else text_at(metadata, "namespace")
    name = text_at(metadata, "name")
    # By position: this runs several times an object, and names cost a third of it.
    return Resource(
        body, index, group, version, kind, namespace, name, origin, may_hold_placeholders
    )


_NOTES = "internal.config.kubernetes.io/"


def former(resource: Resource) -> tuple[tuple[str, str, str], ...]:
    """(kind, namespace, name) of the times before kustomize renamed the object, as it notes them; oldest first.

    kustomize calls a namespace that nobody named ``default``.
    """
    annotations = annotations_of(resource.body)
    if f"{_NOTES}previousNames" not in annotations:
        return ()
    columns = (
        text_at(annotations, f"{_NOTES}previous{what}").split(",")
        for what in ("Kinds", "Namespaces", "Names")
    )
    rows = tuple(dict.fromkeys(zip(*columns, strict=False)))
    return tuple((kind, namespace, name) for kind, namespace, name in rows)


def affixes(resource: Resource) -> tuple[str, str]:
    """What kustomize put before and after the name, by its own notes: objects with the same belong together."""
    metadata = resource.body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return text_at(annotations, f"{_NOTES}prefixes"), text_at(annotations, f"{_NOTES}suffixes")
