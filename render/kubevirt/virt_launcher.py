"""Guest memory of which virt-launcher makes no domain that runs: KubeVirt's webhooks take any amount.

Upstream: pkg/virt-launcher/virtwrap/converter/compute/memory.go.
"""

from render.diagnostics.codes import GUEST_MEMORY
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.machine import Machine
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.resource import Resource
from render.model.tree import Tree

#: The least that KubeVirt takes as a request: no system starts in less, which was meant in another unit.
_LEAST = "1M"
_GUEST: FieldPath = ("domain", "memory", "guest")


def check_memory(machine: Machine) -> None:
    """Report the guest memory that the manifest of *machine* states, if no guest runs with it."""
    found = unusable_memory(machine.resource, machine.decoded, (*machine.vmi_path, *_GUEST))
    if found is not None:
        machine.diagnostics.append(found)


def unusable_memory(resource: Resource, decoded: Tree, path: FieldPath) -> Diagnostic | None:
    """That no guest runs with the memory at *path* of *resource*, which is *decoded*; None where one may."""
    amount = tree.get(decoded, *path)
    if not isinstance(amount, str | int):
        return None
    try:
        if quantity.compare(amount, _LEAST) >= 0:
            return None
    except QuantityError:
        return None
    from render.admission.vmi.domain.memory import UNIT_MISSING, units_missing

    text, sign = f"'{amount}'", quantity.compare(amount, "0")
    fixes = () if resource.older else units_missing(amount, path)
    cure = UNIT_MISSING if fixes else "give the guest memory, in Mi or Gi"
    if sign > 0:
        message = f"{text} is less than {_LEAST}: no operating system starts in so little"
        return GUEST_MEMORY.at(
            at(resource, path), message, help=cure, severity=Severity.WARNING, fixes=fixes
        )
    why = (
        "is negative: virt-launcher refuses it"
        if sign < 0
        else "is no memory: libvirt refuses a domain without"
    )
    return GUEST_MEMORY.at(
        at(resource, path),
        f"{text} {why}",
        help=f"a VM with it is admitted, but never starts: {cure}",
    )
