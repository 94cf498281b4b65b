"""Guest memory and other values of which virt-launcher makes no domain that runs: KubeVirt's webhooks take any.

Upstream: pkg/virt-launcher/virtwrap/converter/compute (memory.go, sysinfo.go, clock.go, watchdog.go,
hypervisor_features.go), pkg/network/domainspec; of libvirt src/conf/domain_conf.c and src/util/viruuid.c.
"""

from collections.abc import Callable, Iterator

from render.diagnostics.codes import GUEST_MEMORY, NEVER_STARTS
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.machine import Machine
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.addresses import bits_of_hosts
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.model.resource import Resource
from render.model.tree import Tree

#: The least that KubeVirt takes as a request: no system starts in less, which was meant in another unit.
_LEAST = "1M"
_FEW = "16M"
"""Less is a slip in the unit, most likely: hardly any system that is booted in a cluster starts in it."""
_MILLIONS, _THOUSANDTH = ("M", "Mi"), "m"
_GUEST: FieldPath = ("domain", "memory", "guest")
_INTERFACES: FieldPath = ("domain", "devices", "interfaces")
_FILESYSTEMS: FieldPath = ("domain", "devices", "filesystems")
_IS_MULTICAST = pattern(r"[0-9A-Fa-f][13579bdfBDF](?:[:-][0-9A-Fa-f]{2}){5}")
#: The networks that masquerade has in the VM, and so many bits of one that its hosts need.
_CIDRS = ("vmNetworkCIDR", "vmIPv6NetworkCIDR")
_BITS_OF_HOSTS = 2
_KERNEL_BOOT: FieldPath = ("domain", "firmware", "kernelBoot", "container", "image")
_LIBVIRT = "libvirt refuses a domain"
_UUID: FieldPath = ("domain", "firmware", "uuid")
#: libvirt takes 32 hexadecimal digits with dashes and blanks between any two pairs of them, and white space around.
_IS_UUID = pattern(r"[- ]*(?:[0-9A-Fa-f]{2}[- ]*){15}[0-9A-Fa-f]{2}")
_AROUND = " \t\n\f\r"
_LIMIT: FieldPath = ("domain", "resources", "limits", "memory")


def check_domain(machine: Machine) -> None:
    """Report what the manifest of *machine* states of which libvirt runs no domain."""
    check_memory(machine)
    spec = tree.get(machine.decoded, *machine.vmi_path)
    if isinstance(spec, dict):
        machine.diagnostics += (_refusal(machine, *found) for found in _refused(spec))
        machine.diagnostics += (
            _refusal(machine, *found, who="virt-handler sets up no network")
            for found in _unusable_networks(spec)
        )
        machine.diagnostics += (
            _refusal(machine, *found, who="the kubelet pulls no image") for found in _images(spec)
        )
        machine.diagnostics += (
            _refusal(machine, *found, who="QEMU starts no domain") for found in _unserved(spec)
        )


def _refusal(  # noqa: PLR0913 - a value, and what is said of it
    machine: Machine,
    path: FieldPath,
    value: str | int,
    words: str,
    cure: str,
    *,
    who: str = _LIBVIRT,
) -> Diagnostic:
    """That libvirt refuses the *value* at *path* of the VMI of *machine*, or what *who* says, unless others edit it."""
    return NEVER_STARTS.at(
        at(machine.resource, (*machine.vmi_path, *path)),
        f"{who} with '{value}': {words.format(value)}",
        help=f"a VM with it is admitted, but never starts: {cure}",
        severity=Severity.ERROR if who == _LIBVIRT else Severity.WARNING,
    )


def _unusable_networks(spec: Tree) -> Iterator[tuple[FieldPath, str, str, str]]:
    """As `_refused`, of the networks that the pod's is translated into: virt-handler asks those of the pod's families.

    Upstream: pkg/network/setup/netpod/netpod.go (gatewayIP).
    """
    translated = {
        interface.get("name")
        for interface in tree.get(spec, *_INTERFACES) or ()
        if interface.get("masquerade") is not None
    }
    for index, network in enumerate(spec.get("networks") or ()):
        pod = network.get("pod") or {}
        for key in _CIDRS if network.get("name") in translated else ():
            cidr = pod.get(key)
            if not isinstance(cidr, str) or not cidr or _is_open(cidr):
                continue
            bits = bits_of_hosts(cidr)
            if bits < _BITS_OF_HOSTS:
                words = "VM CIDR subnet is too small, at least 2 host addresses are required: {}"
                cure = "write a network with its length, such as 10.0.2.0/24 or fd10:0:2::/120"
                yield (
                    ("networks", index, "pod", key),
                    cidr,
                    ("failed to parse VM CIDR: {}" if bits < 0 else words),
                    cure,
                )


def _images(spec: Tree) -> Iterator[tuple[FieldPath, str, str, str]]:
    """As `_refused`, of the images that a VMI *spec* names: a webhook for pods might give them other names."""
    paths: list[FieldPath] = [
        ("volumes", index, "containerDisk", "image")
        for index, volume in enumerate(spec.get("volumes") or ())
        if "containerDisk" in volume
    ]
    for path in (*paths, _KERNEL_BOOT):
        image = tree.get(spec, *path)
        if isinstance(image, str) and image and not _is_open(image):
            from render.model.apimachinery.images import why_invalid

            why = why_invalid(image)
            if why:
                cure = "write it as in registry.example.com/disks/fedora:42"
                yield path, image, f"invalid reference format: {why}", cure


def _unserved(spec: Tree) -> Iterator[tuple[FieldPath, str, str, str]]:
    """As `_refused`, of the filesystems that are no volume: nothing makes the socket to which QEMU connects.

    Upstream: pkg/virt-controller/services/virtiofs.go, pkg/virt-launcher/virtwrap/converter/storage/virtiofs.go.
    """
    names = {str(volume.get("name") or "") for volume in spec.get("volumes") or ()}
    for index, filesystem in enumerate(tree.get(spec, *_FILESYSTEMS) or ()):
        name = filesystem.get("name")
        is_served = not isinstance(name, str) or name in names or filesystem.get("virtiofs") is None
        if not is_served and name and not _is_open(name):
            cure = did_you_mean(name, sorted(names), "add a volume of that name")
            yield (
                (*_FILESYSTEMS, index, "name"),
                name,
                "no volume is called so, of which virtiofsd would serve it",
                cure,
            )


def _refused(spec: Tree) -> Iterator[tuple[FieldPath, str | int, str, str]]:
    """The values in a VMI *spec* that libvirt refuses, with their paths, its words and what to do."""
    for path, refuses, words, cure in _REFUSED:
        value = tree.get(spec, *path)
        is_off = tree.get(spec, *path[:-1], "enabled") is False
        if value not in (None, "") and not is_off and refuses(value):
            yield path, value, words, cure
    for path, known, words in _WORDS:
        value = tree.get(spec, *path)
        if isinstance(value, str) and value and value not in known and not _is_open(value):
            cure = did_you_mean(value, known, f"use one of {', '.join(known)}")
            yield path, value, words, cure
    for index, interface in enumerate(tree.get(spec, *_INTERFACES) or ()):
        mac = interface.get("macAddress")
        binds = interface.get("masquerade") is not None or interface.get("bridge") is not None
        if isinstance(mac, str) and binds and _IS_MULTICAST.fullmatch(mac):
            words = "expected unicast mac address, found multicast '{}'"
            cure = "write an address whose second digit is 0, 2, 4, 6, 8, a, c or e"
            yield (*_INTERFACES, index, "macAddress"), mac, words, cure


def _is_open(text: str) -> bool:
    """Whether *text* is to be filled in yet."""
    return "$" in text or "{{" in text


def _is_no_uuid(uuid: Any) -> bool:
    return isinstance(uuid, str) and not _IS_UUID.fullmatch(uuid.strip(_AROUND))


def _is_long(text: Any) -> bool:
    return isinstance(text, str) and len(text.encode()) > _VENDOR and not _is_open(text)


class _Refused(NamedTuple):
    """That libvirt refuses a value at *path* of a VMI spec in its *words*, if *refuses* says so, and what to do."""

    path: FieldPath
    refuses: Callable[[Any], bool]
    words: str
    cure: str


_VENDOR = 12
_RETRIES = 4095
_HYPERV: FieldPath = ("domain", "features", "hyperv")
_REFUSED = (
    _Refused(
        _UUID,
        _is_no_uuid,
        "malformed <sysinfo> uuid element",
        "write 32 hexadecimal digits, in groups of 8-4-4-4-12, or leave it out, and KubeVirt makes one",
    ),
    _Refused(
        (*_HYPERV, "spinlocks", "spinlocks"),
        lambda retries: isinstance(retries, int) and retries < _RETRIES,
        "HyperV spinlock retry count must be at least 4095",
        "write 8191, or leave it out, which is 4096",
    ),
    _Refused(
        (*_HYPERV, "vendorid", "vendorid"),
        _is_long,
        "HyperV vendor_id value must not be more than 12 characters.",
        "write no more than 12",
    ),
    _Refused(
        (*_HYPERV, "vendorid", "vendorid"),
        lambda text: isinstance(text, str) and "," in text,
        "HyperV vendor_id value is invalid",
        "leave the comma out",
    ),
)
_ACTIONS = ("reset", "shutdown", "poweroff", "pause", "none", "dump", "inject-nmi")
_POLICIES = ("delay", "catchup", "merge", "discard")
_TRACKS = ("guest", "wall", "boot", "realtime")
_OF_TIMER = "Invalid value for attribute '{}' in element 'timer': '{{}}'."
#: Fields of which libvirt takes certain words alone, and what it says of others.
_WORDS: tuple[tuple[FieldPath, tuple[str, ...], str], ...] = (
    (
        ("domain", "devices", "watchdog", "i6300esb", "action"),
        _ACTIONS,
        "unknown watchdog action '{}'",
    ),
    *(
        (
            ("domain", "clock", "timer", timer, "tickPolicy"),
            _POLICIES,
            _OF_TIMER.format("tickpolicy"),
        )
        for timer in ("hpet", "pit", "rtc")
    ),
    (("domain", "clock", "timer", "rtc", "track"), _TRACKS, _OF_TIMER.format("track")),
)


def check_memory(machine: Machine) -> None:
    """Report the guest memory that the manifest of *machine* states, if no guest runs with it."""
    found = unusable_memory(machine.resource, machine.decoded, (*machine.vmi_path, *_GUEST))
    found = found or _above_limit(machine)
    if found is not None:
        machine.diagnostics.append(found)


def _above_limit(machine: Machine) -> Diagnostic | None:
    """That the container of QEMU may have less than its guest, which KubeVirt admits where it may grow while it runs.

    With huge pages the limit is another one. Elsewhere admission refuses it: memory/guest-above-limit.
    """
    path = machine.vmi_path
    limit = tree.get(machine.decoded, *path, *_LIMIT)
    if not isinstance(limit, str | int):  # so it is with most
        return None
    guest = tree.get(machine.decoded, *path, *_GUEST)
    if not isinstance(guest, str | int):
        return None
    pages = tree.get(machine.decoded, *path, "domain", "memory", "hugepages")
    if machine.context.config.rollout_strategy != "LiveUpdate" or pages is not None:
        return None
    if quantity.compare(limit, "0") <= 0 or quantity.compare(guest, limit) <= 0:
        return None
    return GUEST_MEMORY.at(
        at(machine.resource, (*path, *_GUEST)),
        f"'{guest}' is more than limits.memory '{limit}', and that with KubeVirt's overhead is all that its pod "
        "may have: the kernel ends a guest that uses more",
        Related("the limit is set here", at(machine.resource, (*path, *_LIMIT))),
        help="raise limits.memory, or leave it out",
        severity=Severity.WARNING,
    )


def unusable_memory(resource: Resource, decoded: Tree, path: FieldPath) -> Diagnostic | None:
    """That no guest runs with the memory at *path* of *resource*, which is *decoded*; None where one may."""
    amount = tree.get(decoded, *path)
    if not isinstance(amount, str | int):
        return None
    try:
        if quantity.compare(amount, _FEW) >= 0:
            return None
    except QuantityError:
        return None
    from render.admission.vmi.domain.memory import UNIT_MISSING, units_missing

    text, sign = f"'{amount}'", quantity.compare(amount, "0")
    fixes = () if resource.older else units_missing(amount, path)
    cure = UNIT_MISSING if fixes else "give the guest memory, in Mi or Gi"
    if sign > 0:
        is_nothing = quantity.compare(amount, _LEAST) < 0
        least, systems = (_LEAST, "no") if is_nothing else (_FEW, "hardly any")
        unit = str(amount).lstrip("0123456789.")
        if unit in _MILLIONS:
            cure = f"{str(amount).removesuffix(unit)}Gi was meant, most likely"
        elif unit == _THOUSANDTH:
            cure = f"m is a thousandth: {str(amount).removesuffix(unit)}Mi was meant, most likely"
        message = f"{text} is less than {least}: {systems} operating system starts in so little"
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
