"""What the pod needs beside the memory of the guest, and what becomes its request and its limit.

Upstream: pkg/hypervisor/kvm/hypervisorbackend.go (before 1.8 pkg/virt-controller/services/renderresources.go),
pkg/network/resources/memory.go, pkg/virt-controller/services/renderresources.go.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from render.launcher.cpu import vcpus
from render.launcher.launch import Launch
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import BINARY, DECIMAL, Quantity, minus, parse, plus, scaled
from render.model.named_tuple import NamedTuple
from render.model.release import Rows, Version, rows, since, until

_KILO_POWER = 3
_PAGE_TABLE = 512
_FLOAT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI]nf(?:inity)?|[nN]a[nN]"
ZERO = Quantity(0, 0, DECIMAL)
_PASST = "250Mi"


class OverheadPart(NamedTuple):
    """A summand of the overhead: what it is for, and how much."""

    what: str
    amount: Quantity


class Overhead(NamedTuple):
    """The memory that a pod needs beside that of its guest, and the *parts* which it is the sum of."""

    total: Quantity
    parts: tuple[OverheadPart, ...]


class OverheadRow(NamedTuple):
    """A row of the sum: *what* it is for, and the *amount* for a VMI, a quantity or ``""``.

    *figure* and *when* are what documentation says of how much that is, and of which VMIs have it.
    """

    what: str
    amount: Callable[[Launch], str]
    figure: str
    when: str


def _always(amount: str) -> Callable[[Launch], str]:
    return lambda _: amount


def _where(condition: Callable[[Launch], bool], amount: str) -> Callable[[Launch], str]:
    return lambda launch: amount if condition(launch) else ""


def _page_tables(launch: Launch) -> str:
    # QUIRK(renderresources.go): of the request as the VMI has it: none, where the pod's comes of the guest.
    kilos = scaled(parse(launch.requests.get("memory", 0)), _KILO_POWER)
    return str(kilos * 1000 // _PAGE_TABLE) if kilos else ""


def _memory_of_vcpus(launch: Launch) -> str:
    return f"{8 * _counted_vcpus(launch)}Mi"


def _counted_vcpus(launch: Launch) -> int:
    if launch.cpu is not None:
        return max(vcpus(launch.cpu), 1)
    amount = launch.limits.get("cpu", launch.requests.get("cpu", 0))
    return max(quantity.value(amount), 1)


def _has_graphics(launch: Launch) -> bool:
    return launch.devices.get("autoattachGraphicsDevice") is not False


def _is_arm(launch: Launch) -> bool:
    return (launch.architecture or launch.cluster.config.default_architecture) == "arm64"


def _has_vfio(launch: Launch) -> bool:
    return bool(launch.devices.get("hostDevices") or launch.devices.get("gpus") or launch.has_sriov)


def _has_metrics_volume(launch: Launch) -> bool:
    return "downwardMetrics" in launch.sources


def _probes(launch: Launch) -> str:
    count = sum(
        tree.get(launch.spec, probe, "exec") is not None
        for probe in ("livenessProbe", "readinessProbe")
    )
    return f"{100 + 10 * count}Mi" if count else ""


def _reserved(launch: Launch) -> str:
    return tree.get(launch.memory, "reservedOverhead", "addedOverhead") or ""


_WHEN_GRAPHICS = "unless `autoattachGraphicsDevice: false`"
_DEDICATED = OverheadRow(
    "dedicated or guaranteed",
    _where(lambda launch: launch.is_guaranteed, "100Mi"),
    "100Mi",
    "`dedicatedCpuPlacement`, or requests that equal the limits",
)
#: The sum, in the order in which it is made: it decides the format in which Kubernetes prints it.
ROWS: Rows[OverheadRow] = rows(
    OverheadRow("page tables", _page_tables, "request / 512", "`resources.requests.memory` of the VMI"),
    until("1.5", OverheadRow("launcher and qemu", _always("215Mi"), "215Mi", "always")),
    since("1.5", OverheadRow("launcher and qemu", _always("220Mi"), "220Mi", "always")),
    OverheadRow("vCPUs", _memory_of_vcpus, "8Mi each", "always"),
    OverheadRow("I/O thread", _always("8Mi"), "8Mi", "always"),
    until("1.6", OverheadRow("video", _where(_has_graphics, "16Mi"), "16Mi", _WHEN_GRAPHICS)),
    since("1.6", OverheadRow("video", _where(_has_graphics, "32Mi"), "32Mi", _WHEN_GRAPHICS)),
    OverheadRow("arm64 firmware", _where(_is_arm, "128Mi"), "128Mi", "architecture arm64"),
    OverheadRow("VFIO", _where(_has_vfio, "1Gi"), "1Gi", "host devices, GPUs, SR-IOV interfaces"),
    OverheadRow("downward metrics", _where(_has_metrics_volume, "1Mi"), "1Mi", "a `downwardMetrics` volume"),
    OverheadRow("exec probes", _probes, "100Mi + 10Mi each", "probes with `exec`"),
    OverheadRow("SEV", _where(lambda launch: launch.is_sev, "256Mi"), "256Mi", "`launchSecurity.sev`, `snp` since 1.7"),
    OverheadRow("TPM", _where(lambda launch: launch.has_tpm, "53Mi"), "53Mi", "a `tpm` that is not turned off"),
    since("1.5", _DEDICATED),
    since("1.8", OverheadRow("reserved", _reserved, "as given", "`memory.reservedOverhead.addedOverhead`")),
)  # fmt: skip
#: What no ratio multiplies.
AFTER_RATIO: Rows[OverheadRow] = rows(until("1.5", _DEDICATED))


def overhead(launch: Launch) -> Overhead:
    """The memory that the pod of *launch* needs beside that of its guest."""
    release = launch.release
    before = tuple([row.amount(launch) for row in ROWS(release)])
    after = tuple([row.amount(launch) for row in AFTER_RATIO(release)])
    ratio = launch.cluster.configuration.get("additionalGuestMemoryOverheadRatio")
    networks = tuple(part for row in _NETWORKS(release) for part in row(launch))
    return _summed(release, before, after, ratio, networks)


@lru_cache(maxsize=1024)
def _summed(
    release: Version,
    before: tuple[str, ...],
    after: tuple[str, ...],
    ratio: str | None,
    networks: tuple[OverheadPart, ...],
) -> Overhead:
    """The sum of what the rows of *release* say, which many VMs have alike."""
    parts = _parts(ROWS(release), before)
    # It takes the format of its first summand: page tables are counted in decimal bytes, all else in MiB.
    total = Quantity(0, 0, BINARY)
    for part in parts:
        total = plus(total, part.amount)
    factor = _ratio(ratio)
    if factor is not None:
        extra = Quantity(int(scaled(total, _KILO_POWER) * (factor - 1.0)) * 1000, 0, DECIMAL)
        parts.append(OverheadPart(f"additionalGuestMemoryOverheadRatio {ratio}", extra))
        total = plus(total, extra)
    rest = [*_parts(AFTER_RATIO(release), after), *networks]
    for part in rest:
        total = plus(total, part.amount)
    return Overhead(total, (*parts, *rest))


def _parts(rows_of_sum: Iterable[OverheadRow], texts: Iterable[str]) -> list[OverheadPart]:
    return [
        OverheadPart(row.what, parse(text))
        for row, text in zip(rows_of_sum, texts, strict=True)
        if text
    ]


def _ratio(text: object) -> float | None:
    """The number that Go's ``ParseFloat`` reads in *text*; None where it refuses that, or it is not finite."""
    if not isinstance(text, str) or not re.fullmatch(_FLOAT, text):
        return None
    ratio = float(text)
    return ratio if abs(ratio) < float("inf") else None


def _passt(launch: Launch) -> Iterator[OverheadPart]:
    if "passtBinding" in launch.bindings:
        yield OverheadPart("passt", parse(_PASST))


def _plugins(launch: Launch) -> Iterator[OverheadPart]:
    if "binding" not in launch.bindings:
        return
    names = dict.fromkeys(
        interface["binding"].get("name", "")
        for interface in launch.interfaces
        if interface.get("binding") is not None
    )
    for name in names:
        plugin = launch.cluster.bindings.get(name)
        amount = tree.get(plugin, "computeResourceOverhead", "requests", "memory")
        if amount is not None:
            yield OverheadPart(f"network binding {name}", parse(amount))


_NETWORKS: Rows[Callable[[Launch], Iterator[OverheadPart]]] = rows(since("1.8", _passt), _plugins)


class HugePages(NamedTuple):
    """What a VMI with huge pages asks for: the *pages* themselves, and the *request* and *limit* of common memory."""

    pages: Quantity
    request: Quantity
    limit: Quantity | None


def with_hugepages(
    launch: Launch, request: Quantity, limit: Quantity | None, extra: Quantity
) -> HugePages:
    """The memory of a VMI that is made of huge pages; what *request* and *limit* exceed the guest by is common."""
    text = launch.memory.get("guest")
    guest = parse(text) if text is not None else None
    pages, above_request, above_limit = request, ZERO, ZERO
    if guest is not None:
        size = scaled(guest)
        if scaled(request) > size:
            pages = guest
            above_request = minus(plus(ZERO, request), guest)
        if limit is not None and scaled(limit) > size:
            above_limit = minus(plus(ZERO, limit), guest)
    return HugePages(
        pages,
        plus(above_request, extra),
        None if limit is None else plus(above_limit, extra),
    )


def of_guest(launch: Launch) -> Quantity | None:
    """The request that KubeVirt since 1.6 makes of the guest's memory, or of a huge page, by the overcommit percentage.

    It has the format of the guest's. None where no size is said, or it is no positive quantity.
    """
    text = launch.memory.get("guest")
    if text is None:
        text = tree.get(launch.memory, "hugepages", "pageSize")
    if text is None:
        return None
    try:
        guest = parse(text)
    except quantity.QuantityError:
        return None
    size = scaled(guest)
    if size <= 0:
        return None
    overcommit = launch.cluster.config.memory_overcommit
    if overcommit == 100:  # noqa: PLR2004 - per cent
        return guest
    return Quantity(
        int(size * 100 / overcommit) if overcommit < 0 else size * 100 // overcommit,
        0,
        guest.format,
    )
