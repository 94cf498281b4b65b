"""CPU: requests and limits, pinning, NUMA, features, sockets, realtime (upstream: admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Evaluate, Subject
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, choice, respelled, set_to
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_CPU = ("domain", "cpu")
_RESOURCES = ("domain", "resources")
_REQUEST = (*_RESOURCES, "requests", "cpu")
_LIMIT = (*_RESOURCES, "limits", "cpu")
_MEMORY_REQUEST = (*_RESOURCES, "requests", "memory")
_MEMORY_LIMIT = (*_RESOURCES, "limits", "memory")
_HUGEPAGES = ("domain", "memory", "hugepages")
_GUEST = ("domain", "memory", "guest")
_PINNED = (*_CPU, "dedicatedCpuPlacement")
_PASSTHROUGH = (*_CPU, "numa", "guestMappingPassthrough")
_POLICIES = frozenset({"", "force", "require", "optional", "disable", "forbid"})
_MOST_THREADS = 2
_UINT32, _UINT64 = 2**32, 2**64
_PIN = "set domain.cpu.dedicatedCpuPlacement: true"
_AGREE = "leave CPU requests and limits out: KubeVirt derives them from the topology of a pinned VM"


def _amount(resources: Tree, kind: str, name: str) -> str:
    amount: str = (resources.get(kind) or {}).get(name) or "0"
    return amount


def _worded(subject: Subject, path: FieldPath, amount: str) -> str:
    return f"{subject.text(*path)} '{quantity.canonical(amount)}'"


def _request_and_limit(subject: Subject) -> Iterator[Cause]:
    resources = subject.spec["domain"]["resources"]
    request, limit = _amount(resources, "requests", "cpu"), _amount(resources, "limits", "cpu")
    if request == limit == "0":
        return
    requested, limited = quantity.milli_value(request), quantity.milli_value(limit)
    for path, amount, value in ((_REQUEST, request, requested), (_LIMIT, limit, limited)):
        if value < 0:
            yield Cause(
                f"cpu/{'request' if path is _REQUEST else 'limit'}-negative",
                subject.at(*path),
                f"{_worded(subject, path, amount)}: must be greater than or equal to 0.",
                "leave it out, or name an amount above zero",
            )
    if 0 < limited < requested:
        yield Cause(
            "cpu/request-above-limit",
            subject.at(*_REQUEST),
            f"{_worded(subject, _REQUEST, request)} is greater than {_worded(subject, _LIMIT, limit)}",
            "request less, or raise the limit",
        )


def _pinned(*, any_memory: bool) -> Evaluate:
    """The rules of pinned VMs; *any_memory*: huge pages or the guest's memory count as memory, too."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        if subject.spec["domain"]["cpu"].get("dedicatedCpuPlacement"):
            resources: Tree = subject.get(*_RESOURCES) or {}
            if not _has_memory(subject, resources, any_memory=any_memory):
                places = (
                    _MEMORY_REQUEST,
                    _MEMORY_LIMIT,
                    *((_HUGEPAGES, _GUEST) if any_memory else ()),
                )
                *others, last = (subject.text(*place) for place in places)
                yield Cause(
                    "cpu/pinned-memory",
                    subject.at(*_MEMORY_LIMIT),
                    f"{', '.join(others)} or {last} should be provided",
                    "set domain.memory.guest",
                )
            yield from _pinned_cpus(subject, resources)
            yield from _threads(subject)

    return evaluate


def _has_memory(subject: Subject, resources: Tree, *, any_memory: bool) -> bool:
    amounts = (_amount(resources, kind, "memory") for kind in ("limits", "requests"))
    if not all(map(quantity.is_zero, amounts)):
        return True
    if not any_memory:
        return False
    guest = subject.get(*_GUEST)
    return subject.get(*_HUGEPAGES) is not None or not (guest is None or quantity.is_zero(guest))


def _pinned_cpus(subject: Subject, resources: Tree) -> Iterator[Cause]:
    requested = quantity.value(request := _amount(resources, "requests", "cpu"))
    limited = quantity.value(limit := _amount(resources, "limits", "cpu"))
    for kind, value, amount in (("requests", requested, request), ("limits", limited, limit)):
        # Go multiplies in 64 bits.
        if value > 0 and (value * 1000 - quantity.milli_value(amount)) % _UINT64:
            yield Cause(
                f"cpu/pinned-{kind}-whole",
                subject.at(*_RESOURCES, kind, "cpu"),
                f"provided resources CPU {kind} must be an interger",
                _AGREE,
            )
    memory = [quantity.value(_amount(resources, kind, "memory")) for kind in ("requests", "limits")]
    if min(memory) > 0 and memory[0] != memory[1]:
        yield Cause(
            "cpu/pinned-memory-differs",
            subject.at(*_MEMORY_REQUEST),
            f"{subject.text(*_MEMORY_REQUEST)} must be equal to {subject.text(*_MEMORY_LIMIT)}",
            "name the same amount twice, or leave one out",
        )
    vcpus = _vcpus(subject.spec["domain"]["cpu"])
    both = f"{subject.text(*_REQUEST)} or {subject.text(*_LIMIT)}"
    cores = subject.text(*_CPU, "cores")
    # The messages end with a space.
    when = "when DedicatedCPUPlacement is true "
    if not (requested or limited or vcpus):
        message = f"either {both} or {cores} must be provided {when}"
        yield Cause("cpu/pinned-count", subject.at(*_PINNED), message, "set domain.cpu.cores")
    if requested > 0 and limited > 0 and requested != limited:
        message = f"{both} must be equal {when}"
        yield Cause("cpu/pinned-request-is-limit", subject.at(*_PINNED), message, _AGREE)
    if max(requested, limited) > 0 and vcpus and vcpus not in (requested, limited):
        message = f"{both} must not be provided at the same time with {cores} {when}"
        yield Cause("cpu/pinned-request-or-cores", subject.at(*_PINNED), message, _AGREE)


def _vcpus(cpu: Tree) -> int:
    """Cores, sockets and threads multiplied (upstream: GetNumberOfVCPUs); 0 is not set."""
    count = 0
    for key in ("cores", "sockets", "threads"):
        number: int = cpu.get(key) or 0
        if number:
            count = (count * number if count else number) % _UINT32
    return count


def _threads(subject: Subject) -> Iterator[Cause]:
    threads = subject.spec["domain"]["cpu"].get("threads") or 0
    if threads <= 1:
        return
    field = subject.text(*_CPU, "threads")
    architecture = subject.spec.get("architecture") or subject.config.default_architecture
    if architecture == "arm64":
        named = subject.text("architecture")
        yield Cause(
            "cpu/threads-on-arm64",
            subject.at("architecture"),
            f"threads must not be greater than 1 at {field} (got {threads}) when {named} is arm64",
            "set domain.cpu.threads: 1",
            place=subject.at(*_CPU, "threads"),
            fixes=choice(("write 1", set_to(subject.at(*_CPU, "threads"), 1))),
        )
    if threads > _MOST_THREADS:
        yield Cause(
            "cpu/pinned-threads",
            subject.at(*_PINNED),
            f"Not more than two threads must be provided at {field} (got {threads}) "
            "when DedicatedCPUPlacement is true",
            "set domain.cpu.threads to 1 or 2",
            place=subject.at(*_CPU, "threads"),
        )


def _pin(subject: Subject) -> tuple[Fix, ...]:
    return choice((_PIN, set_to(subject.at(*_PINNED), value=True)))


def _shape(subject: Subject) -> Iterator[Cause]:
    cpu = subject.spec["domain"]["cpu"]
    pinned = cpu.get("dedicatedCpuPlacement")
    passthrough = (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None
    if passthrough:
        yield from _numa(subject, pinned=bool(pinned))
    if cpu.get("isolateEmulatorThread") and not pinned:
        yield Cause(
            "cpu/isolated-emulator-pinned",
            subject.at(*_CPU, "isolateEmulatorThread"),
            "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
            _PIN,
            fixes=_pin(subject),
        )
    yield from _features(subject)
    if (cpu.get("sockets") or 0) > (cpu.get("maxSockets") or _UINT32):
        yield Cause(
            "cpu/max-sockets",
            subject.at(*_CPU, "sockets"),
            "Number of sockets in CPU topology is greater than the maximum sockets allowed",
            "raise domain.cpu.maxSockets, or use fewer sockets",
        )
    if cpu.get("realtime") is not None:
        yield from _realtime(subject, pinned=bool(pinned), passthrough=passthrough)


def _features(subject: Subject) -> Iterator[Cause]:
    for index, feature in enumerate(subject.get(*_CPU, "features") or ()):
        policy = feature.get("policy") or ""
        if policy not in _POLICIES:
            place = subject.at(*_CPU, "features", index, "policy")
            yield Cause(
                "cpu/feature-policy",
                place,
                f"CPU feature {feature.get('name', '')} uses policy {policy} that is not supported.",
                "use one of force, require, optional, disable, forbid",
                fixes=respelled(place, policy, sorted(_POLICIES)),
            )


def _realtime(subject: Subject, *, pinned: bool, passthrough: bool) -> Iterator[Cause]:
    used = f"when {subject.text(*_CPU, 'realtime')} is used"
    if not pinned:
        message = f"{subject.text(*_PINNED)} must be set to true {used}"
        yield Cause("cpu/realtime-pinned", subject.at(*_PINNED), message, _PIN, fixes=_pin(subject))
    if not passthrough:
        message = f"{subject.text(*_PASSTHROUGH)} must be defined {used}"
        cure = "set domain.cpu.numa.guestMappingPassthrough: {}"
        place = subject.at(*_PASSTHROUGH)
        fixes = choice((cure, set_to(place, {})))
        yield Cause("cpu/realtime-numa", place, message, cure, fixes=fixes)


def _numa(subject: Subject, *, pinned: bool) -> Iterator[Cause]:
    named = subject.text(*_PASSTHROUGH)
    where = f"when NUMA topology strategy is set in {named}"
    if not pinned:
        message = f"{subject.text(*_PINNED)} must be set to true {where}"
        yield Cause(
            "cpu/numa-pinned", subject.at(*_PASSTHROUGH), message, _PIN, fixes=_pin(subject)
        )
    if subject.get(*_HUGEPAGES) is None:
        message = f"{subject.text(*_HUGEPAGES)} must be requested {where}"
        cure = "set domain.memory.hugepages.pageSize"
        yield Cause("cpu/numa-hugepages", subject.at(*_PASSTHROUGH), message, cure)


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("cpu", _request_and_limit, where=_RESOURCES),
    until("1.6.4", Check("cpu", _pinned(any_memory=False), where=_PINNED)),
    since("1.6.4", Check("cpu", _pinned(any_memory=True), where=_PINNED)),
    Check(
        "cpu",
        _shape,
        where=(*_CPU, "numa"),
        also=tuple(
            (*_CPU, key) for key in ("isolateEmulatorThread", "features", "maxSockets", "realtime")
        ),
    ),
)
