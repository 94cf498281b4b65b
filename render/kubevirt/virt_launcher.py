"""Guest memory and firmware of which virt-launcher makes no domain that runs: KubeVirt's webhooks take any.

Upstream: pkg/virt-launcher/virtwrap/converter/compute/memory.go and sysinfo.go; of libvirt src/conf/domain_conf.c
(virSysinfoSystemParseXML) and src/util/viruuid.c (virUUIDParse).
"""

from render.diagnostics.codes import FIRMWARE_UUID, GUEST_MEMORY
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.machine import Machine
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.regex import pattern
from render.model.resource import Resource
from render.model.tree import Tree

#: The least that KubeVirt takes as a request: no system starts in less, which was meant in another unit.
_LEAST = "1M"
_FEW = "16M"
"""Less is a slip in the unit, most likely: hardly any system that is booted in a cluster starts in it."""
_MILLIONS, _THOUSANDTH = ("M", "Mi"), "m"
_GUEST: FieldPath = ("domain", "memory", "guest")
_UUID: FieldPath = ("domain", "firmware", "uuid")
#: libvirt takes 32 hexadecimal digits with dashes and blanks between any two pairs of them, and white space around.
_IS_UUID = pattern(r"[- ]*(?:[0-9A-Fa-f]{2}[- ]*){15}[0-9A-Fa-f]{2}")
_AROUND = " \t\n\f\r"
_LIMIT: FieldPath = ("domain", "resources", "limits", "memory")


def check_domain(machine: Machine) -> None:
    """Report what the manifest of *machine* states of which libvirt runs no domain."""
    check_memory(machine)
    check_uuid(machine)


def check_uuid(machine: Machine) -> None:
    """Report the UUID of the firmware that the manifest of *machine* states, if libvirt takes it for none."""
    path = (*machine.vmi_path, *_UUID)
    uuid = tree.get(machine.decoded, *path)
    if not isinstance(uuid, str) or not uuid or _IS_UUID.fullmatch(uuid.strip(_AROUND)):
        return
    machine.diagnostics.append(
        FIRMWARE_UUID.at(
            at(machine.resource, path),
            f"'{uuid}' is no UUID: libvirt refuses a domain with it (malformed <sysinfo> uuid element)",
            help="a VM with it is admitted, but never starts: write 32 hexadecimal digits, in groups of 8-4-4-4-12, or "
            "leave it out, and KubeVirt makes one",
        )
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
