"""CPU of an instancetype (upstream: pkg/instancetype/apply/cpu.go).

The topology that the vCPUs take depends on the preference too, so it is written by `render.apply.expand`.
"""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.rules import Conflict, Edit, Result, Rule, custom, plain, spec

_RESOURCES = (
    spec("domain", "resources", "requests", "cpu"),
    spec("domain", "resources", "limits", "cpu"),
)
_TOPOLOGY = ("sockets", "cores", "threads")
#: (key of the instancetype, key of the VMI); the conflict is always shown with the instancetype's spelling.
_CLAIMED = (
    ("model", "model"),
    # QUIRK(pkg/instancetype/apply/cpu.go): the conflict path says dedicatedCPUPlacement, the VMI key is spelled
    # dedicatedCpuPlacement.
    ("dedicatedCPUPlacement", "dedicatedCpuPlacement"),
    ("isolateEmulatorThread", "isolateEmulatorThread"),
    ("numa", "numa"),
    ("realtime", "realtime"),
)


def _conflicts(definition: Tree, draft: Draft) -> Iterable[Result]:
    guest: FieldPath = ("cpu", "guest")
    domain = draft.get("spec", "domain") or {}
    for place in _RESOURCES if domain.get("resources") else ():
        # Presence decides: a request of "0" conflicts too.
        if draft.get(*place) is not None:
            yield Conflict(place, guest, place)
    cpu = domain.get("cpu")
    if not cpu:
        return
    for key in _TOPOLOGY:
        if key in cpu:
            place = spec("domain", "cpu", key)
            yield Conflict(place, guest, place)
    for source, key in _CLAIMED:
        if key in cpu and tree.get(definition, "cpu", source) is not None:
            yield Conflict(
                spec("domain", "cpu", key), ("cpu", source), spec("domain", "cpu", source)
            )


def _claim(definition: Tree, draft: Draft) -> Iterable[Result]:
    conflicts = tuple(_conflicts(definition, draft))
    if conflicts:
        return conflicts
    cpu = definition.get("cpu") or {}
    # maxSockets has no conflict check upstream: the instancetype silently wins.
    return tuple(
        Edit(spec("domain", "cpu", key), plain(cpu[source]), ("cpu", source))
        for source, key in (*_CLAIMED, ("maxSockets", "maxSockets"))
        if cpu.get(source) is not None
    )


RULES: tuple[Rule, ...] = (
    custom(
        _claim,
        reads=(
            "cpu.guest",
            "cpu.model",
            "cpu.dedicatedCPUPlacement",
            "cpu.isolateEmulatorThread",
            "cpu.numa",
            "cpu.realtime",
            "cpu.maxSockets",
        ),
        writes=(
            "domain.cpu.model",
            "domain.cpu.dedicatedCpuPlacement",
            "domain.cpu.isolateEmulatorThread",
            "domain.cpu.numa",
            "domain.cpu.realtime",
            "domain.cpu.maxSockets",
        ),
        always=True,
    ),
)
