"""Network bindings that KubeVirt has discontinued, and the feature gates that once allowed them.

Upstream: pkg/virt-config/featuregate/validator.go, pkg/network/admitter/discontinued.go.
"""

from collections.abc import Iterator

from render.admission.checks import EACH, Check, Subject, Violation, each
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since
from render.model.tree import Tree

_INTERFACES = ("domain", "devices", "interfaces")
_HELP = "use masquerade, bridge or a network binding plugin instead"
#: A VM or a VMI that is made; a pool is not looked at.
_CREATED = ("VirtualMachine", "VirtualMachineInstance")


def _gate_check(name: str, gate: str) -> Check:
    """The check that refuses the first interface of the binding that *gate* allowed, where the cluster lists it."""
    key = gate.lower()

    def discontinued(subject: Subject) -> Iterator[Violation]:
        if not subject.config.lists_gate(gate):
            return
        for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
            if interface.get(key) is not None:
                yield Violation(
                    (),
                    f"{gate} network binding is discontinued since v1.3. Please refer to Kubevirt user guide for "
                    "alternatives.",
                    _HELP,
                    place=subject.at(*_INTERFACES, index, key),
                )
                return

    return Check(name, discontinued, f"gate {gate}", (*_INTERFACES, EACH, key))


def _binding_check(name: str, key: str, message: str, gate: str = "") -> Check:
    """The check that refuses each interface of binding *key*, which once needed *gate*."""

    @each(_INTERFACES)
    def discontinued(subject: Subject, interface: Tree, path: FieldPath) -> Violation | None:
        if interface.get(key) is None:
            return None
        if subject.is_machine and gate and subject.config.lists_gate(gate):
            return None  # the check of the gate has refused the first, and KubeVirt stops there
        return Violation((*path, key), message, _HELP)

    return Check(
        name,
        discontinued,
        where=(*_INTERFACES, EACH, key),
        only=_CREATED,
        follows=(f"{name}-gate",) if gate else (),
    )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    _gate_check("network/passt-gate", "Passt"),
    _gate_check("network/macvtap-gate", "Macvtap"),
    _binding_check(
        "network/slirp", "slirp", "Slirp interface support has been discontinued since v1.3"
    ),
    since(
        "1.8",
        _binding_check(
            "network/passt",
            "passt",
            "Passt network binding has been discontinued since v1.3",
            "Passt",
        ),
    ),
    since(
        "1.8",
        _binding_check(
            "network/macvtap",
            "macvtap",
            "Macvtap network binding has been discontinued since v1.3",
            "Macvtap",
        ),
    ),
)
