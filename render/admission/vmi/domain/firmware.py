"""Boot loader, kernel boot and serial number.

Upstream: validateFirmware, validateKernelBoot, validateDomainSpec in vmi-create-admitter.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission import faults
from render.admission.checks import (
    Check,
    FieldValue,
    Subject,
    Violation,
    at_most,
    exclusive,
    judged,
    matches,
)
from render.diagnostics.cause import Cause
from render.diagnostics.fix import choice, set_to
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_DOMAIN = ("domain",)
_FIRMWARE = (*_DOMAIN, "firmware")
_LOADER = (*_FIRMWARE, "bootloader")
_KERNEL = (*_FIRMWARE, "kernelBoot")
_CONTAINER = (*_KERNEL, "container")
_LONGEST_SERIAL = 256


def _arguments(subject: Subject, at: FieldValue) -> str:
    if not at.value or subject.get(*_CONTAINER) is not None:
        return ""
    return "kernel arguments cannot be provided without an external kernel"


def _container(subject: Subject) -> Iterator[Cause]:
    container: Tree = subject.get(*_CONTAINER)
    if not container.get("image"):
        yield Cause(
            "firmware/kernel-image",
            subject.at(*_CONTAINER, "image"),
            f"{subject.text(*_CONTAINER)} must be defined with an image",
            "name the image that holds kernel and initrd",
        )
    if not container.get("kernelPath") and not container.get("initrdPath"):
        yield Cause(
            "firmware/kernel-files",
            subject.at(*_CONTAINER),
            f"{subject.text(*_CONTAINER)} must be defined with at least one of the following: kernelPath, initrdPath",
            "say where kernel or initrd are in the image",
        )
    for key in ("kernelPath", "initrdPath"):
        path = container.get(key)
        message = faults.file_path(subject.text(*_CONTAINER, key), path) if path else ""
        if message:
            yield Cause(
                "firmware/kernel-path", subject.at(*_CONTAINER, key), message, faults.PATH_HELP
            )


def _has_smm(domain: Tree) -> bool:
    smm = (domain.get("features") or {}).get("smm")
    return smm is not None and smm.get("enabled") is not False


def _secure_boot(stateless: tuple[str, ...], subject: Subject) -> Iterator[Violation]:
    """Secure boot without SMM; *stateless* launch security needs none."""
    domain: Tree = subject.spec["domain"]
    if domain["firmware"]["bootloader"]["efi"].get("secureBoot") is False or _has_smm(domain):
        return
    security = domain.get("launchSecurity") or {}
    if any(security.get(kind) is not None for kind in stateless):
        return
    yield Violation(
        subject.at(*_DOMAIN),
        f"{subject.text(*_DOMAIN)} has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.",
        "set domain.features.smm.enabled: true, or secureBoot: false of efi",
        place=subject.at(*_LOADER, "efi"),
        fixes=choice(
            ("enable SMM", set_to(subject.at(*_DOMAIN, "features", "smm", "enabled"), value=True)),
            (
                "boot without secure boot",
                set_to(subject.at(*_LOADER, "efi", "secureBoot"), value=False),
            ),
        ),
    )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until(
        "1.5.3",
        at_most(
            "firmware/serial-length",
            (*_FIRMWARE, "serial"),
            _LONGEST_SERIAL,
            f"{{field}} must be less than or equal to {_LONGEST_SERIAL} in length, if specified",
            help="shorten it",
        ),
    ),
    until(
        "1.5.3",
        matches(
            "firmware/serial",
            (*_FIRMWARE, "serial"),
            "[A-Za-z0-9_.+-]*",
            "{field} must be made up of the following characters [A-Za-z0-9_.+-], if specified",
            help="drop the other characters",
        ),
    ),
    exclusive(
        "firmware/one-bootloader",
        _LOADER,
        ("efi", "bios"),
        "{field} has both EFI and BIOS configured, but they are mutually exclusive.",
        help="keep one of them",
    ),
    judged(
        "firmware/kernel-args",
        (*_KERNEL, "kernelArgs"),
        _arguments,
        help="add kernelBoot.container, or set the arguments in the guest",
    ),
    Check("firmware", _container, where=_CONTAINER),
    until(
        "1.9",
        Check("firmware/secure-boot-smm", partial(_secure_boot, ()), where=(*_LOADER, "efi")),
    ),
    since(
        "1.9",
        Check("firmware/secure-boot-smm", partial(_secure_boot, ("tdx",)), where=(*_LOADER, "efi")),
    ),
)
