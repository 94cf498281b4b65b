"""What the pod asks for CPUs.

Upstream: pkg/virt-controller/services/renderresources.go (WithCPUPinning, WithoutDedicatedCPU),
pkg/util/hardware/hw_utils.go (GetNumberOfVCPUs).
"""

from decimal import Decimal
from functools import lru_cache

from render.model.apimachinery.quantity import Quantity, parse
from render.model.tree import Tree

_UINT32 = 2**32
_PLAIN_POWERS = range(-4, 6)


def vcpus(cpu: Tree) -> int:
    """How many vCPUs a topology has; 0 for one that says nothing."""
    count = 0
    for key in ("cores", "sockets", "threads"):
        factor = cpu.get(key) or 0
        if factor:
            count = count * factor % _UINT32 if count else factor
    return count


@lru_cache(maxsize=1024)
def share(count: int, ratio: int) -> Quantity:
    """The request for *count* CPUs of which a node gives out *ratio* times as many as it has."""
    amount = count / ratio
    return parse(_general(amount) if amount >= 1 else f"{_general(amount * 1000)}m")


def _general(number: float) -> str:
    """*number* as Go's ``%g`` prints it."""
    shortest = Decimal(repr(number)).normalize()
    _, digits, exponent = shortest.as_tuple()
    power = len(digits) + int(exponent) - 1
    if power in _PLAIN_POWERS:
        return f"{shortest:f}"
    head, *tail = digits
    fraction = f".{''.join(map(str, tail))}" if tail else ""
    return f"{head}{fraction}e{power:+03d}"
