"""What each emit mode makes of each kind of machine and of each kind of definition: the one table that says it.

No combination is left unsaid; ``docs/emit.md`` is made from it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from render.legacy import machines
from render.model.hints import Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import FLAVOR_GROUP, KUBEVIRT, VMI, Resource

Verdict = Literal["rendered", "left as it is", "left out", "refused"]
"""What becomes of an object."""


class Outcome(NamedTuple):
    """The *verdict*, and in words what becomes of the object, or why it stays or cannot be printed."""

    verdict: Verdict
    words: str


class OutcomeRow(NamedTuple):
    """A kind of object as the documentation names it, and its outcome by emit mode.

    *unused*: that of a definition that no machine of the input uses, where it is another one.
    """

    title: str
    outcomes: Mapping[str, Outcome]
    unused: Mapping[str, Outcome] = MappingProxyType({})


MachineKind = Literal["vm", "flavored", "store", "runtime", "vmi"]


def _rendered(words: str) -> Outcome:
    return Outcome("rendered", words)


def _left(words: str) -> Outcome:
    return Outcome("left as it is", words)


def _refused(words: str) -> Outcome:
    return Outcome("refused", words)


_STARTED = _rendered("the VMI that KubeVirt would start")
_LAUNCHED = _rendered("the `virt-launcher` pod of that VMI")
_STORE = "no KubeVirt since v0.7 serves a VM of the store, and this mode writes none of today"
_RUNTIME = (
    "no KubeVirt since v0.7 serves a VM of kubevirt.io/v1alpha1, and this mode writes none of today"
)
_FLAVORED = "spec.flavor cannot stay in the VM: no KubeVirt since v0.56 knows it"
_NOT_EXPANDED = "the subresource takes VirtualMachines (VR505)"
_MODES = ("vm", "vmi", "pod", "expand", "hashed", "revisions", "source")
_NO_MATCHERS = _left("a VMI has no matchers, and KubeVirt itself merges presets into it")

MACHINES: Mapping[MachineKind, OutcomeRow] = {
    "vm": OutcomeRow(
        "VirtualMachine of `kubevirt.io/v1`, `v1alpha3`",
        {
            "vm": _rendered("the VM written out, without matchers"),
            "vmi": _STARTED,
            "pod": _LAUNCHED,
            "expand": _rendered("what `expand-vm-spec` answers"),
            "hashed": _rendered("the VM with matchers that name contents"),
            "revisions": _rendered("the VM with `revisionName`s"),
            "source": _left("it is only checked"),
        },
    ),
    "flavored": OutcomeRow(
        "... with `spec.flavor`",
        {
            "vm": _rendered("the VM written out, without matchers and flavor"),
            "vmi": _STARTED,
            "pod": _LAUNCHED,
            "expand": _refused("KubeVirt does not know the field (VR105)"),
            "hashed": _refused(_FLAVORED),
            "revisions": _refused(_FLAVORED),
            "source": _refused(_FLAVORED),
        },
    ),
    "store": OutcomeRow(
        "VM of the store (`kind: VM`, and VirtualMachines of `kubevirt.io/v1alpha1` with its fields)",
        {
            "vm": _rendered("a VirtualMachine of `kubevirt.io/v1`, its flavour filled in"),
            "vmi": _STARTED,
            "pod": _LAUNCHED,
            "expand": _refused(_STORE),
            "hashed": _refused(_STORE),
            "revisions": _refused(_STORE),
            "source": _refused(_STORE),
        },
    ),
    "runtime": OutcomeRow(
        "VirtualMachine of `kubevirt.io/v1alpha1`",
        {
            "vm": _rendered("a VirtualMachineInstance of `kubevirt.io/v1`, with the defaults of its time"),
            "vmi": _STARTED,
            "pod": _LAUNCHED,
            "expand": _refused(_RUNTIME),
            "hashed": _refused(_RUNTIME),
            "revisions": _refused(_RUNTIME),
            "source": _refused(_RUNTIME),
        },
    ),
    "vmi": OutcomeRow(
        "VirtualMachineInstance",
        {
            "vm": _rendered("the VMI with its presets"),
            "vmi": _STARTED,
            "pod": _LAUNCHED,
            "expand": _left("the subresource takes VirtualMachines"),
            "hashed": _NO_MATCHERS,
            "revisions": _NO_MATCHERS,
            "source": _left("it is only checked"),
        },
    ),
}  # fmt: skip
#: What holds machines, by its kind.
HOLDERS: Mapping[str, OutcomeRow] = {
    "VirtualMachinePool": OutcomeRow(
        "VirtualMachinePool",
        {
            "vm": _rendered("its template, as a VirtualMachine is"),
            "vmi": _rendered("the VMI of its first VM"),
            "pod": _rendered("the pod of its first VM"),
            "expand": _left(_NOT_EXPANDED),
            "hashed": _rendered("its template, as a VirtualMachine is"),
            "revisions": _rendered("its template, as a VirtualMachine is"),
            "source": _left("it is only checked"),
        },
    ),
    "VirtualMachineInstanceReplicaSet": OutcomeRow(
        "VirtualMachineInstanceReplicaSet",
        {
            "vm": _rendered("its template, with the presets"),
            "vmi": _rendered("one of its VMIs"),
            "pod": _rendered("the pod of one of its VMIs"),
            "expand": _left(_NOT_EXPANDED),
            "hashed": _NO_MATCHERS,
            "revisions": _NO_MATCHERS,
            "source": _left("it is only checked"),
        },
    ),
    "Template": OutcomeRow(
        "Template of OpenShift, VirtualMachineTemplate",
        dict.fromkeys(_MODES, _left("it is checked; `--set` renders what it makes")),
    ),
}  # fmt: skip


def machine_kind(resource: Resource) -> MachineKind:
    """Which kind of machine *resource* is, an object of today; those that were none count by what they were."""
    if resource.kind == VMI:
        return "runtime" if resource.older else "vmi"
    if resource.older:
        return "store"
    return "flavored" if "flavor" in resource.spec else "vm"


DefinitionKind = Literal["flavor", "older", "preset"]

_WRITTEN_OUT = Outcome("left out", "what machines use of it is written out")
_STAYS = _refused("this mode leaves its content to the cluster")
_BY_NAME = Outcome("left out", "its content is emitted under another name")
_LOST = _refused("no VM of the input uses it, so that its content would be lost")
_OMITTED = dict.fromkeys(("vm", "vmi", "pod", "expand"), _WRITTEN_OUT)

DEFINITIONS: Mapping[DefinitionKind, OutcomeRow] = {
    "flavor": OutcomeRow(
        "flavors and preferences of `flavor.kubevirt.io`",
        {**_OMITTED, "hashed": _BY_NAME, "revisions": _BY_NAME, "source": _STAYS},
        dict.fromkeys(("hashed", "revisions"), _LOST),
    ),
    "older": OutcomeRow(
        "instancetypes and preferences in versions that the release does not serve",
        dict.fromkeys(_MODES, _rendered("the same as `v1beta1`")),
    ),
    "preset": OutcomeRow(
        "VirtualMachinePreset of `kubevirt.io/v1alpha1`",
        {**_OMITTED, "hashed": _STAYS, "revisions": _STAYS, "source": _STAYS},
    ),
}
#: The release that did not serve the definitions of a kind any more.
_GONE: Mapping[DefinitionKind, str] = {"flavor": "v0.56", "preset": "v0.7"}


def unserved(resource: Resource) -> DefinitionKind | None:
    """Which kind of definition that no release serves in any version *resource* is, None if it is none."""
    if resource.group == FLAVOR_GROUP:
        return "flavor"
    historic = (resource.group, resource.version) == (KUBEVIRT, machines.VERSION)
    return "preset" if historic and resource.kind == machines.PRESET else None


def gone(kind: DefinitionKind) -> str:
    """Since when no KubeVirt serves definitions of *kind*, in words."""
    return f"no KubeVirt since {_GONE[kind]} serves it"
