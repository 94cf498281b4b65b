"""Firmware preferences (upstream: pkg/instancetype/preference/apply/firmware.go)."""

from collections.abc import Iterable

from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom, ensure, spec

_PLACE = spec("domain", "firmware", "bootloader")


def _bootloader(definition: Tree, draft: Draft) -> Iterable[Result]:
    preferred = definition.get("firmware")
    if preferred is None:
        return
    bootloader = draft.get(*_PLACE) or {}
    bios, efi = bootloader.get("bios"), bootloader.get("efi")
    if preferred.get("preferredUseBios") and bios is None and efi is None:
        bios = {}
        yield Edit((*_PLACE, "bios"), {}, ("firmware", "preferredUseBios"))
    serial = preferred.get("preferredUseBiosSerial")
    if serial is not None and bios is not None and bios.get("useSerial") is None:
        yield Edit((*_PLACE, "bios", "useSerial"), serial, ("firmware", "preferredUseBiosSerial"))
    if preferred.get("preferredEfi") is not None and efi is None and bios is None:
        # preferredEfi replaces the two deprecated fields below: upstream returns here.
        yield Edit((*_PLACE, "efi"), preferred["preferredEfi"], ("firmware", "preferredEfi"))
        return
    if preferred.get("preferredUseEfi") and efi is None and bios is None:
        efi = {}
        yield Edit((*_PLACE, "efi"), {}, ("firmware", "preferredUseEfi"))
    secure = preferred.get("preferredUseSecureBoot")
    if secure is not None and efi is not None and efi.get("secureBoot") is None:
        yield Edit((*_PLACE, "efi", "secureBoot"), secure, ("firmware", "preferredUseSecureBoot"))


RULES: tuple[Rule, ...] = (
    ensure("firmware", "domain.firmware.bootloader"),
    custom(
        _bootloader,
        reads=(
            "firmware.preferredUseBios",
            "firmware.preferredUseBiosSerial",
            "firmware.preferredEfi",
            "firmware.preferredUseEfi",
            "firmware.preferredUseSecureBoot",
        ),
        writes=(
            "domain.firmware.bootloader.bios",
            "domain.firmware.bootloader.bios.useSerial",
            "domain.firmware.bootloader.efi",
            "domain.firmware.bootloader.efi.secureBoot",
        ),
    ),
)
