"""What a command looked at, in figures."""

from collections import Counter
from collections.abc import Sequence

from render.diagnostics.codes import BUNDLED_USED, GUEST_UNREAD
from render.frontends.parts import FleetPart
from render.frontends.waived import ignoring
from render.model.release import minor
from render.model.resource import KUBEVIRT, from_body
from render.model.tree import Tree
from render.pipeline.input import releases
from render.report.summary import Tally

#: Objects that are VMs, or that make them, by group and kind.
_MACHINES = frozenset(
    {
        *((KUBEVIRT, kind) for kind in ("VirtualMachine", "VirtualMachineInstance", "VM")),
        (KUBEVIRT, "VirtualMachineInstanceReplicaSet"),
        (f"pool.{KUBEVIRT}", "VirtualMachinePool"),
        (f"template.{KUBEVIRT}", "VirtualMachineTemplate"),
        ("harvesterhci.io", "VirtualMachineTemplateVersion"),
        ("infrastructure.cluster.x-k8s.io", "KubevirtMachineTemplate"),
    }
)
#: What a guest boots with, and nobody has looked into.
_TEXT = "guest text"


def tally_of(parts: Sequence[FleetPart]) -> Tally:
    """The figures of *parts*: objects, VMs, kustomizations with any of them, what was not looked at.

    And releases that nobody asked for, if they are rendered.
    """
    machines = kustomizations = objects = 0
    bundled: set[str] = set()
    files: set[str] = set()
    unseen: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for part in parts:
        loaded, settings = part.loaded, part.request.settings
        number = sum(machines_in(document.body) for document in loaded.documents)
        unseen.update(loaded.unseen)
        unseen.update(
            _TEXT for diagnostic in part.diagnostics if diagnostic.code == GUEST_UNREAD.number
        )
        bundled.update(
            diagnostic.message
            for diagnostic in part.diagnostics
            if diagnostic.code == BUNDLED_USED.number
        )
        files.update((*loaded.files, *loaded.passed))
        objects += len(loaded.documents)
        machines += number
        kustomizations += loaded.is_built and number > 0
        if number and part.is_rendered:
            every = (from_body(document.body, 0) for document in loaded.documents)
            target = releases.target([*filter(releases.holds_settings, every)], settings)
            if target.reason:
                reasons[minor(target.release)] = target.reason
    silent = sum(ignoring(part.loaded) for part in parts)
    return Tally(
        machines, kustomizations, dict(unseen), bundled=len(bundled), objects=objects, files=len(files),
        releases=reasons, ignoring=silent,
    )  # fmt: skip


def machines_in(body: Tree) -> int:
    """How many VMs *body* is, or brings as a template of OpenShift."""
    resource = from_body(body, 0)
    if resource.kind != "Template":
        return (resource.group, resource.kind) in _MACHINES
    objects = body.get("objects")
    return sum(
        machines_in(item)
        for item in (objects if isinstance(objects, list) else ())
        if isinstance(item, dict)
    )
