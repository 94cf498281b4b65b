"""How large a VM is: its vCPUs and its memory.

Upstream: pkg/virt-launcher/virtwrap/converter/vcpu/vcpu.go (GetCPUTopology, GetVirtualMemory).
"""

from render.model import tree
from render.model.apimachinery import quantity
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

_TOPOLOGY = ("sockets", "cores", "threads")


class Size(NamedTuple):
    """The *vcpus* of a VM, its *memory* in bytes, and the name of its *instancetype*, if it has one."""

    vcpus: int
    memory: int
    instancetype: str = ""


class Total(NamedTuple):
    """How many VMs there are, and what they ask for."""

    machines: int = 0
    vcpus: int = 0
    memory: int = 0

    def adding(self, size: Size) -> "Total":
        """With one VM more."""
        return Total(self.machines + 1, self.vcpus + size.vcpus, self.memory + size.memory)


def size_of(vmi: Tree, instancetype: str = "") -> Size:
    """The size of a VMI, or of the template of a VM."""
    domain = tree.get(vmi, "spec", "domain") or {}
    cpu: Tree = domain.get("cpu") or {}
    numbers = [_whole(cpu.get(key)) for key in _TOPOLOGY]
    vcpus = 1
    for number in numbers:
        vcpus *= number or 1
    if not any(numbers):
        vcpus = _resource(domain, "cpu", ("limits", "requests")) or 1
    guest = tree.get(domain, "memory", "guest")
    memory = (
        _resource(domain, "memory", ("requests", "limits")) if guest is None else _amount(guest)
    )
    return Size(vcpus, memory, instancetype)


def _resource(domain: Tree, name: str, places: tuple[str, str]) -> int:
    for place in places:
        amount = tree.get(domain, "resources", place, name)
        if amount is not None:
            return _amount(amount)
    return 0


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _amount(value: Any) -> int:
    """A quantity as a whole number, 0 for what is none."""
    try:
        return max(quantity.value(value), 0)
    except (TypeError, ValueError):
        return 0


def gibibytes(memory: int) -> str:
    """*memory* in GiB, with as many digits as say something."""
    return f"{memory / (1 << 30):,.2f}".rstrip("0").rstrip(".")
