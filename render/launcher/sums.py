"""How the numbers of a pod came about, in words."""

from render.launcher import cpu, memory
from render.launcher import resources as resources_of_pod
from render.launcher.launch import Launch
from render.launcher.memory import Overhead, OverheadPart
from render.model import tree
from render.model.apimachinery.quantity import Quantity, minus, parse, text_of
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

_MI = 2**20
_COMPUTE: FieldPath = ("spec", "containers", 0, "resources")
_REPORTED: FieldPath = ("metadata", "annotations", "kubevirt.io/memory-overhead-bytes")


def sums(launch: Launch, pod: Tree) -> dict[FieldPath, str]:
    """The sum behind each number that compute asks for in *pod*, which came of *launch*, by its path."""
    overhead = memory.overhead(launch)
    sum_texts: dict[FieldPath, str] = {_REPORTED: _overhead(overhead)}
    for part, amounts in (("requests", launch.requests), ("limits", launch.limits)):
        path = (*_COMPUTE, part)
        if tree.get(pod, *path, "memory") is not None:
            amount = parse(tree.get(pod, *path, "memory"))
            sum_texts[*path, "memory"] = _memory(launch, part, amount, overhead)
        if tree.get(pod, *path, "cpu") is not None:
            sum_texts[*path, "cpu"] = f"{part} of the VMI" if "cpu" in amounts else _cpus(launch)
    return sum_texts


def _amount_text(amount: Quantity) -> str:
    whole, rest = divmod(amount.mantissa * 10 ** max(amount.scale, 0), _MI)
    return f"{whole}Mi" if not rest and amount.scale >= 0 else text_of(amount._replace(kept=""))


def _named(parts: tuple[OverheadPart, ...]) -> str:
    names = []
    for part in parts:
        count = part.amount.mantissa // (8 * _MI)
        name = f"{count} vCPU{'s' if count > 1 else ''}" if part.what == "vCPUs" else part.what
        names.append(f"{name} {_amount_text(part.amount)}")
    return ", ".join(names)


def _overhead(overhead: Overhead) -> str:
    return f"overhead {_amount_text(overhead.total)} ({_named(overhead.parts)})"


def _memory(launch: Launch, part: str, amount: Quantity, overhead: Overhead) -> str:
    resources = launch.domain.get("resources") or {}
    own = "memory" in (launch.requests if part == "requests" else launch.limits)
    if part == "limits" and not own and not launch.is_dedicated:
        ratio = f"{resources_of_pod.memory_ratio(launch):g}"
        return f"the request x {ratio}, since the namespace has a quota on limits.memory"
    if part == "requests" and resources.get("overcommitGuestOverhead"):
        return f"{_base(launch, amount, own=own)}, without overhead: overcommitGuestOverhead"
    rest = minus(amount, overhead.total)
    if launch.has_hugepages:
        above = f"{_amount_text(rest)} above the huge pages + " if rest.mantissa else ""
        return above + _overhead(overhead)
    return f"{_base(launch, rest, own=own)} + {_overhead(overhead)}{_overcommit(launch, own=own)}"


def _base(launch: Launch, amount: Quantity, *, own: bool) -> str:
    if own:
        return f"memory of the VMI's resources {_amount_text(amount)}"
    if "memory" in launch.limits:
        return f"limit {_amount_text(amount)}"
    guest = launch.memory.get("guest")
    ratio = launch.cluster.config.memory_overcommit
    if guest is None or ratio == 100:  # noqa: PLR2004 - per cent
        return f"guest {_amount_text(amount)}"
    return f"guest {_amount_text(parse(guest))} x 100 / memoryOvercommit {ratio} = {_amount_text(amount)}"


def _overcommit(launch: Launch, *, own: bool) -> str:
    if own or "memory" in launch.limits:
        return ""
    path = ("developerConfiguration", "memoryOvercommit")
    is_set = tree.get(launch.cluster.configuration, *path) is not None
    ratio = launch.cluster.config.memory_overcommit
    return f", memoryOvercommit {ratio} by {'the KubeVirt resource' if is_set else _DEFAULT}"


_DEFAULT = "KubeVirt's default"


def _cpus(launch: Launch) -> str:
    count = 1 if launch.cpu is None else cpu.vcpus(launch.cpu)
    words = f"{count} vCPU{'s' if count != 1 else ''}"
    if launch.is_dedicated:
        return f"{words} of their own, with I/O threads and an isolated emulator"
    ratio = launch.cluster.config.cpu_allocation_ratio
    return f"{words} / cpuAllocationRatio {ratio}"
