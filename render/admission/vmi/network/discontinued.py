"""Network bindings that KubeVirt has given up, and the feature gates that once allowed them.

Upstream: pkg/virt-config/featuregate/validator.go, pkg/network/admitter/discontinued.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import EACH, Check, Subject
from render.diagnostics.cause import Cause
from render.model.release import Windowed, since

_INTERFACES = ("domain", "devices", "interfaces")
_HELP = "use masquerade, bridge or a network binding plugin instead"
#: A VM or a VMI that is made; a pool is not looked at.
_CREATED = ("VirtualMachine", "VirtualMachineInstance")


def _discontinued_gate(gate: str, subject: Subject) -> Iterator[Cause]:
    """The interfaces of *gate*, where the cluster still lists it."""
    if gate not in subject.config.feature_gates:
        return
    key = gate.lower()
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get(key) is not None:
            yield Cause(
                f"network/{key}-gate",
                (),
                f"{gate} network binding is discontinued since v1.3. Please refer to Kubevirt user guide for "
                "alternatives.",
                _HELP,
                place=subject.at(*_INTERFACES, index, key),
            )
            return


def _discontinued_binding(key: str, message: str, subject: Subject) -> Iterator[Cause]:
    if subject.is_machine and key.capitalize() in subject.config.feature_gates:
        return  # said already, by the stage before
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get(key) is not None:
            path = subject.at(*_INTERFACES, index, key)
            yield Cause(f"network/{key}", path, message, _HELP)


def _gate(name: str) -> Check:
    evaluate = partial(_discontinued_gate, name)
    key = name.lower()
    return Check(f"network/{key}-gate", evaluate, f"gate {name}", (*_INTERFACES, EACH, key))


def _binding(key: str, message: str, *follows: str) -> Check:
    evaluate = partial(_discontinued_binding, key, message)
    return Check(
        f"network/{key}", evaluate, where=(*_INTERFACES, EACH, key), only=_CREATED, follows=follows
    )  # fmt: skip


CHECKS: tuple[Check | Windowed[Check], ...] = (
    _gate("Passt"),
    _gate("Macvtap"),
    _binding("slirp", "Slirp interface support has been discontinued since v1.3"),
    since(
        "1.8",
        _binding(
            "passt", "Passt network binding has been discontinued since v1.3", "network/passt-gate"
        ),
    ),
    since(
        "1.8",
        _binding(
            "macvtap",
            "Macvtap network binding has been discontinued since v1.3",
            "network/macvtap-gate",
        ),
    ),
)
