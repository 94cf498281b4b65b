"""What a lock is to each emit mode, and what the mode writes into machines itself.

``docs/emit.md`` is made from it, as it is from `render.pipeline.outcomes`.
"""

from collections.abc import Mapping
from enum import StrEnum

from render.model.named_tuple import NamedTuple
from render.settings import Settings


class LockRole(StrEnum):
    """What a lock is to a mode."""

    DECIDES = "decides"
    CHECKED = "is checked, and decides nothing"
    UNASKED = "has no say"


class Traces(NamedTuple):
    """What a lock is to a mode, and which machines the mode stamps, in words."""

    lock: LockRole
    stamped: str


TRACES: Mapping[str, Traces] = {
    "vm": Traces(LockRole.DECIDES, "what a definition or a preset decides about, and machines of v1alpha1"),
    "vmi": Traces(LockRole.DECIDES, "none: the VMI is as KubeVirt starts it"),
    "pod": Traces(LockRole.DECIDES, "none: the pod is as KubeVirt makes it"),
    "expand": Traces(LockRole.UNASKED, "none: the VM is as KubeVirt answers it"),
    "hashed": Traces(LockRole.DECIDES, "none: VMs keep their matchers"),
    "revisions": Traces(LockRole.DECIDES, "none: VMs keep their matchers"),
    "source": Traces(LockRole.CHECKED, "none: nothing is rendered"),
}  # fmt: skip


def lock_role(settings: Settings) -> LockRole:
    """What a lock is to a rendering with *settings*; of a VM that is stored, KubeVirt has recorded what it runs."""
    return LockRole.DECIDES if settings.stored else TRACES[settings.emit].lock
