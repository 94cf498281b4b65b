"""What the guest of a machine boots with: what `render.guest` has to say, at the lines of the manifests."""

from collections.abc import Callable, Iterator, Mapping

from render.diagnostics.codes import GUEST, GUEST_UNREAD
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.diagnostics.fix import Fix, prepend
from render.guest import texts, volumes
from render.guest.texts import Remark, TextVerdict
from render.guest.volumes import Text
from render.machine import Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import Resource
from render.model.tree import Tree

#: Who judges a text, by its kind.
JUDGES: Mapping[str, Callable[[str], TextVerdict]] = {
    "user": texts.user_data,
    "network": texts.network_data,
    "ignition": texts.ignition,
    "answer": texts.answer_file,
}
_NAMES = {
    "user": "user data",
    "network": "network data",
    "ignition": "Ignition data",
    "answer": "the answer file",
}
#: What an agent in the guest reads.
_OF_AGENTS = frozenset({"user", "network"})
_WINDOWS = "windows"


def check_guest(machine: Machine) -> None:
    """Report what is wrong with what the guest of *machine* boots with."""
    above = machine.vmi_path[:-1]
    vmi = tree.get(machine.decoded, *above) if above else machine.decoded
    is_windows = _is_windows(machine, vmi)
    spec = vmi.get("spec") or {}
    reaches = True
    for text in volumes.texts(vmi, lambda kind, name: _find(machine, kind, name)):
        if is_windows and text.kind in _OF_AGENTS:
            reason = "Windows has another agent than cloud-init"
            machine.diagnostics.append(_unread(machine, text, reason))
            continue
        verdict = _verdict(machine, text)
        machine.diagnostics += (_of_text(machine, text, remark) for remark in verdict.remarks)
        if verdict.unread:
            machine.diagnostics.append(_unread(machine, text, verdict.unread))
        if text.kind == "network":
            machine.diagnostics += _strangers(machine, text, verdict, spec)
        elif text.kind == "user":
            reaches = verdict.reaches_default_user
    machine.diagnostics += _credentials(machine, spec, reaches=reaches)
    machine.diagnostics += _answers(machine, spec)


def _find(machine: Machine, kind: str, name: str) -> Resource | None:
    return machine.context.catalogue.find("", kind, machine.namespace, name)


def _is_windows(machine: Machine, vmi: Tree) -> bool:
    """Whether the guest is Windows, whose agent reads user data in its own way."""
    named = tree.get(machine.spec, "preference", "name")
    system = tree.get(vmi, "metadata", "annotations", "vm.kubevirt.io/os")
    return any(isinstance(hint, str) and _WINDOWS in hint.lower() for hint in (named, system))


def _verdict(machine: Machine, text: Text) -> TextVerdict:
    """What there is to say of a text, which many machines may share."""
    known = machine.context.guest
    key = text.kind, text.text
    if key not in known:
        known[key] = JUDGES[text.kind](text.text)
    return known[key]


def _of_text(machine: Machine, text: Text, remark: Remark) -> Diagnostic:
    """*remark* about *text*: of what is in a Secret, nothing but the line."""
    what = _NAMES[text.kind]
    if text.source is not None:
        what += f" in {text.source.ref}, key {text.place[-1]}"
    if remark.line and (text.source is not None or not text.has_lines):
        what += f", line {remark.line}"
    is_secret = text.source is not None and text.source.kind == "Secret"
    about = f"{remark.about} " if remark.about and not is_secret else ""
    told = remark._replace(message=f"{what}: {about}{remark.message}")
    place = _place(machine, text.path) if text.source is None else at(text.source, text.place)
    if text.has_lines or text.source is not None:  # of what is encoded, the file it was made of
        place = place._replace(line=remark.line, column=remark.column)
    finding = _finding(machine, text.path, told)._replace(position=place)
    if remark.lead and text.has_lines and text.source is None:
        path = (*machine.vmi_path[:-1], *text.path)
        fix = Fix("write #cloud-config as its first line", (prepend(path, remark.lead),))
        return finding._replace(fixes=(fix,))
    return finding


def _place(machine: Machine, path: FieldPath) -> Location:
    return at(machine.resource, (*machine.vmi_path[:-1], *path))


def _finding(machine: Machine, path: FieldPath, remark: Remark, *related: Related) -> Diagnostic:
    severity = Severity.WARNING
    if remark.is_note:
        severity = Severity.INFO
    elif machine.context.settings.guest == "error":
        severity = Severity.ERROR
    place = _place(machine, path)
    finding = GUEST.at(place, remark.message, *related, help=remark.help, severity=severity)
    return finding._replace(check=remark.check)


def _strangers(
    machine: Machine, text: Text, verdict: TextVerdict, spec: Tree
) -> Iterator[Diagnostic]:
    """Addresses by which network data choose an interface that the VM does not have.

    An interface without an address gets one from the cluster, and a device of the host brings its own.
    """
    devices = tree.get(spec, "domain", "devices") or {}
    interfaces = devices.get("interfaces") or ()
    own = {
        str(interface.get("macAddress") or "").lower().replace("-", ":") for interface in interfaces
    }
    if not own or "" in own or devices.get("hostDevices"):
        return
    for address, line, column in verdict.addresses:
        if address not in own:
            message = "looks for a MAC address that no interface of the VM has"
            cure = "write the address of one of the VM's interfaces, or match by name"
            yield _of_text(machine, text, Remark("guest/address", message, cure, line, column))


_METHOD: FieldPath = ("sshPublicKey", "propagationMethod")


def _credentials(machine: Machine, spec: Tree, *, reaches: bool) -> Iterator[Diagnostic]:
    """SSH keys that are to come by cloud-init, and do not reach the guest, or nobody there who may log in."""
    chosen = volumes.cloud_init(spec)
    if chosen is None:
        return
    volume, _ = chosen
    carried = volumes.METHODS[str(volume[-1])]
    others = {
        volumes.METHODS[kind]
        for volume in spec["volumes"]
        for kind in volumes.CLOUD_INIT
        if volume.get(kind) is not None
    } - {carried}
    for index, credential in enumerate(spec.get("accessCredentials") or ()):
        methods = tree.get(credential, *_METHOD) or {}
        for method in (name for name in methods if methods[name] is not None):
            path: FieldPath = ("spec", "accessCredentials", index, *_METHOD, method)
            if method in others:
                message = (
                    "the keys do not reach the guest: of several cloud-init volumes KubeVirt fills the first, by way of"
                    f" {carried}"
                )
                cure = f"use {carried}, or keep one cloud-init volume"
                other = Related(
                    "the volume that KubeVirt fills", _place(machine, ("spec", *volume))
                )
                yield _finding(machine, path, Remark("guest/credentials", message, cure), other)
            elif method == carried and not reaches:
                message = (
                    "the keys reach nobody who may log in: the user data lists users without the default one, for whom"
                    " they are"
                )
                cure = "add `- default` to users, or give the keys to a user as ssh_authorized_keys"
                yield _finding(machine, path, Remark("guest/credentials", message, cure))


def _answers(machine: Machine, spec: Tree) -> Iterator[Diagnostic]:
    """Sysprep volumes whose object has no answer file: KubeVirt does not start the VM."""
    for place, held in volumes.answer_sources(spec, lambda kind, name: _find(machine, kind, name)):
        keys = volumes.keys_of(held)
        if keys and not any(key.lower() in volumes.ANSWER_FILES for key in keys):
            message = f"{held.ref} has neither autounattend.xml nor unattend.xml: KubeVirt does not start the VM"
            remark = Remark(
                "guest/sysprep-key", message, "name one of its keys so, in small letters or not"
            )
            yield _finding(machine, ("spec", *place), remark, Related("the object", at(held)))


def _unread(machine: Machine, text: Text, reason: str) -> Diagnostic:
    return GUEST_UNREAD.at(
        _place(machine, text.path), f"{_NAMES[text.kind]} not looked into: {reason}"
    )
