"""The pod of one VMI, as a Python program asks for it."""

from collections.abc import Iterable

from render import schemas
from render.diagnostics.codes import INVALID_QUANTITY, WRONG_TYPE
from render.kubevirt import vmi_controller
from render.launcher import template
from render.launcher.beside import migration
from render.launcher.cluster import LauncherCluster
from render.launcher.launch import PodError
from render.model import fieldpath, tree
from render.model.draft import Draft
from render.model.hints import Any
from render.model.tree import Tree
from render.model.types import VMI_TYPE
from render.pipeline.input import definitions, library
from render.pipeline.input.context import shared
from render.settings import Settings
from render.settings import faults as settings_faults

_VOLUMES = ("spec", "volumes")
#: What Go cannot read, where all else that the API server refuses is not virt-controller's to judge.
_UNREADABLE = frozenset({WRONG_TYPE.slug, INVALID_QUANTITY.slug})


def pod(
    vmi: Tree,
    resources: Iterable[Any] = (),
    settings: Settings = Settings(),  # noqa: B008 - frozen
    target: bool = False,  # noqa: FBT001, FBT002 - the library's promise
) -> Tree:
    """The virt-launcher pod that virt-controller creates for *vmi*, which is taken as virt-controller finds it.

    No webhook has a say any more, and a status counts: a dump of a running VMI gives the pod that a migration would
    need with *target*. *resources* are what the cluster has: KubeVirt resource, claims, networks, quotas, nodes; what
    is not among them is not there. Without any, what the VMI needs is assumed to be. Raises ValueError with KubeVirt's
    words where it makes no pod, and where *vmi* or *settings* are none.
    """
    cluster = cluster_of(resources, settings)
    launch = vmi_controller.found(decoded(vmi, cluster), cluster)
    made = migration.target(launch) if target else template.pod(launch)
    copied: Tree = tree.copy(made)
    return copied


def cluster_of(resources: Iterable[Any], settings: Settings) -> LauncherCluster:
    """The cluster that has *resources*. Raises ValueError where *settings* are refused."""
    for fault in settings_faults(settings):
        raise PodError(fault.message)
    objects = library.parse(resources).resources
    settings, _ = library.parse_catalog(settings)
    context = shared(
        objects, definitions.load(objects, settings), settings, len(objects), traced=False
    )
    return vmi_controller.cluster_of(context, is_complete=bool(objects))


def decoded(vmi: Tree, cluster: LauncherCluster) -> Tree:
    """*vmi* as the types of the cluster's release hold it. Raises ValueError where they cannot."""
    if not isinstance(vmi, dict):
        raise PodError(f"a value of type {type(vmi).__name__} is no VirtualMachineInstance")
    body, causes = schemas.decode(vmi, VMI_TYPE, cluster.release)
    for cause in causes:
        if cause.check in _UNREADABLE:
            raise PodError(f"{fieldpath.text(cause.path)}: {cause.message}", cause.path)
    status = vmi.get("status")
    draft = Draft(schemas.encode(body, VMI_TYPE, cluster.release))
    draft.put(("status",), status if isinstance(status, dict) else {})
    # What the API server fills in, it has filled in before: here only what is there counts.
    for index, volume in enumerate(tree.get(vmi, *_VOLUMES) or ()):
        source = tree.get(volume, "containerPath")
        if isinstance(source, dict) and "readOnly" not in source:
            draft.remove((*_VOLUMES, index, "containerPath", "readOnly"))
    return draft.tree
