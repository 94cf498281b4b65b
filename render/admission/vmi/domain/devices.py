"""GPUs, host devices, sound, video, filesystems, panic devices, vsock, TPM: their gates, and what is left to check.

Upstream: validateMDEVRamFB and the functions after it in vmi-create-admitter.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import (
    EACH,
    Check,
    FieldValue,
    Subject,
    Violation,
    judged,
    needs_gate,
    one_of,
)
from render.diagnostics.cause import Cause
from render.model.release import MAIN, Version, Windowed, since, until, variant
from render.model.tree import Tree

_DEVICES = ("domain", "devices")
_DISKS = (*_DEVICES, "disks")
_RESERVATION = (*_DISKS, EACH, "lun", "reservation")
_GPUS = (*_DEVICES, "gpus")
_SOUND = (*_DEVICES, "sound")
_VIDEO = (*_DEVICES, "video")
_PANIC = (*_DEVICES, "panicDevices")
_FILESYSTEMS = (*_DEVICES, "filesystems")
_CONFIG_SOURCES = ("configMap", "secret", "serviceAccount", "downwardAPI")
_STORAGE_SOURCES = ("persistentVolumeClaim", "dataVolume")
_OLD_VIRTIOFS = "ExperimentalVirtiofsSupport"


#: Whether a ramFB that says nothing counts as enabled.
_UNSET_RAMFB = (since(MAIN, item=True), False)


def _has_ramfb(gpu: Tree, release: Version) -> bool:
    display = (gpu.get("virtualGPUOptions") or {}).get("display")
    if display is None or display.get("enabled") is False:
        return False
    ramfb = display.get("ramFB")
    unset: bool = variant(_UNSET_RAMFB, release)
    return ramfb is None or bool(ramfb.get("enabled", unset))


def _ramfb(subject: Subject) -> Iterator[Violation]:
    having = [
        index for index, gpu in enumerate(subject.get(*_GPUS)) if _has_ramfb(gpu, subject.release)
    ]
    if len(having) > 1:
        yield Violation(
            subject.at("GPUs"),
            "configuring multiple displays with ramfb is not valid ",
            "set virtualGPUOptions.display.ramFB.enabled: false for all GPUs but one",
            place=subject.at(*_GPUS, having[1], "virtualGPUOptions", "display"),
        )


def _reservation(subject: Subject) -> Iterator[Violation]:
    for index, disk in enumerate(subject.get(*_DISKS)):
        lun = disk.get("lun")
        if lun is not None and lun.get("reservation"):
            if not subject.config.allows_reservations(subject.release):
                yield Violation(
                    subject.at(*_DISKS, "luns", "reservation"),
                    "persistent reservation is not enabled in kubevirt config",
                    "set persistentReservationConfiguration.enabled in the KubeVirt CR, or drop the reservation",
                    place=subject.at(*_DISKS, index, "lun", "reservation"),
                )
            return


def _reservation_gate(subject: Subject) -> Iterator[Violation]:
    """The same before there was a setting."""
    for violation in _reservation(subject):
        yield violation._replace(
            message="PersistentReservation feature gate is not enabled in kubevirt-config",
            help="enable the feature gate PersistentReservation in the KubeVirt CR, or drop the reservation",
        )


def _vsock(subject: Subject, at: FieldValue) -> str:
    if not at.value or subject.has_gate("VSOCK"):
        return ""
    return "VSOCK feature gate is not enabled in kubevirt-config"


def _persistent(subject: Subject, at: FieldValue) -> str:
    """Upstream: validatePersistentState; a TPM that is switched off keeps nothing (pkg/tpm)."""
    if not at.value or subject.has_gate("VMPersistentState"):
        return ""
    if at.path[-2:] == ("tpm", "persistent") and subject.get(*_DEVICES, "tpm", "enabled") is False:
        return ""
    return "VMPersistentState feature gate is not enabled in kubevirt-config"


def _has_any(volume: Tree, sources: tuple[str, ...]) -> bool:
    return any(volume.get(source) is not None for source in sources)


def _filesystems(
    kind: tuple[str, str],
    sources: tuple[str, ...],
    gates: tuple[str, ...],
    subject: Subject,
    *,
    passed_over: tuple[str, ...] = (),
) -> Iterator[Cause]:
    """Filesystems of volumes with one of *sources*, which need one of *gates*, but none of a source *passed_over*.

    *kind*: the name of the rule, and upstream's word for such volumes.
    """
    rule, word = kind
    volumes = {volume.get("name", ""): volume for volume in subject.spec.get("volumes") or ()}
    for index, filesystem in enumerate(subject.get(*_FILESYSTEMS)):
        volume = volumes.get(filesystem.get("name", ""), {})
        if not _has_any(volume, sources) or _has_any(volume, passed_over):
            continue
        if not any(map(subject.has_gate, gates)):
            yield Cause(
                f"devices/{rule}",
                subject.at(*_FILESYSTEMS),
                f"virtiofs is not allowed: virtiofs feature gate is not enabled for {word}",
                f"enable the feature gate {gates[0]} in the KubeVirt CR, or use a disk",
                place=subject.at(*_FILESYSTEMS, index),
            )


_CONFIG_GATES = ("EnableVirtioFsConfigVolumes", _OLD_VIRTIOFS)
_STORAGE = ("filesystem-gate", "PVC")
_STORAGE_GATE = "EnableVirtioFsStorageVolumes"


def _config_folders(subject: Subject) -> Iterator[Cause]:
    return _filesystems(
        ("config-filesystem-gate", "config volumes"), _CONFIG_SOURCES, _CONFIG_GATES, subject
    )


def _storage_folders_before_1_8(subject: Subject) -> Iterator[Cause]:
    """A volume may have sources of both kinds: it is refused once."""
    refused = not any(map(subject.has_gate, _CONFIG_GATES))
    return _filesystems(
        _STORAGE,
        _STORAGE_SOURCES,
        (_STORAGE_GATE, _OLD_VIRTIOFS),
        subject,
        passed_over=_CONFIG_SOURCES if refused else (),
    )


def _storage_folders(subject: Subject) -> Iterator[Cause]:
    return _filesystems(_STORAGE, _STORAGE_SOURCES, (_STORAGE_GATE,), subject)


def _graphics(subject: Subject, at: FieldValue) -> str:  # noqa: ARG001 - the value does not matter
    if subject.get(*_DEVICES, "autoattachGraphicsDevice") is not False:
        return ""
    return "Video configuration is not allowed when autoattachGraphicsDevice is set to false"


def _graphics_gated(subject: Subject, at: FieldValue) -> str:
    return _graphics(subject, at) if subject.has_gate("VideoConfig") else ""


def _sound_name(subject: Subject, at: FieldValue) -> str:  # noqa: ARG001 - the value says it
    return "" if at.value.get("name") else "Sound device requires a name field."


_MODELS = ("hyperv", "isa", "pvpanic")


def _panic(without: tuple[str, ...], gate: str, subject: Subject) -> Iterator[Cause]:
    """Panic devices, which the architectures *without* them refuse."""
    devices = subject.get(*_PANIC)
    if not devices or (gate and not subject.has_gate(gate)):
        return
    architecture = subject.spec.get("architecture") or subject.config.default_architecture
    if architecture in without:
        yield Cause(
            "devices/panic-architecture",
            subject.at(*_PANIC),
            f"custom panic devices are not supported on {architecture} architecture",
            "drop panicDevices: s390x has one of its own",
        )
    for index, device in enumerate(devices):
        model = device.get("model")
        if model is not None and model not in _MODELS:
            yield Cause(
                "devices/panic-model",
                subject.at(*_PANIC, index, "model"),
                f"invalid PanicDeviceModel({model})",
                f"use one of {', '.join(_MODELS)}",
            )


def _panic_gate(subject: Subject, at: FieldValue) -> str:
    if not at.value or subject.has_gate("PanicDevices"):
        return ""
    return "Panic Devices feature gate is not enabled in kubevirt-config"


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("devices/ramfb", _ramfb, where=_GPUS),
    needs_gate(
        "devices/host-device-gate",
        (*_DEVICES, "hostDevices"),
        "HostDevices",
        "Host Devices feature gate is not enabled in kubevirt-config",
        reported_path=("HostDevices",),
    ),
    one_of(
        "devices/sound-model",
        (*_SOUND, "model"),
        ("", "ich9", "ac97"),
        "Sound device type is not supported. Options: 'ich9' or 'ac97'",
        reported_path=("Sound",),
    ),
    judged(
        "devices/sound-name", _SOUND, _sound_name, reported_path=("Sound",), help="name the device"
    ),
    judged(
        "devices/vsock-gate",
        (*_DEVICES, "autoattachVSOCK"),
        _vsock,
        needs="gate VSOCK",
        help="enable the feature gate VSOCK in the KubeVirt CR, or leave this out",
    ),
    until(
        "1.9",
        Check("devices/reservation", _reservation_gate, "gate PersistentReservation", _RESERVATION),
    ),
    since(
        "1.9",
        Check(
            "devices/reservation", _reservation, "persistentReservationConfiguration", _RESERVATION
        ),
    ),
    *(
        until(
            "1.6",
            judged(
                f"devices/{rule}-gate",
                place,
                _persistent,
                needs="gate VMPersistentState",
                help="enable the feature gate VMPersistentState in the KubeVirt CR, or leave this out",
            ),
        )
        for rule, place in (
            ("tpm", (*_DEVICES, "tpm", "persistent")),
            ("efi", ("domain", "firmware", "bootloader", "efi", "persistent")),
        )
    ),
    needs_gate(
        "devices/downward-metrics-gate",
        (*_DEVICES, "downwardMetrics"),
        "DownwardMetrics",
        "downwardMetrics virtio serial is not allowed: DownwardMetrics feature gate is not enabled",
    ),
    since(
        "1.5",
        until(
            "1.8",
            Check(
                "devices/config-filesystem-gate",
                _config_folders,
                "gate EnableVirtioFsConfigVolumes",
                _FILESYSTEMS,
            ),
        ),
    ),
    since(
        "1.5",
        until(
            "1.8",
            Check(
                "devices/filesystem-gate",
                _storage_folders_before_1_8,
                f"gate {_STORAGE_GATE}",
                _FILESYSTEMS,
            ),
        ),
    ),
    since(
        "1.8",
        Check("devices/filesystem-gate", _storage_folders, f"gate {_STORAGE_GATE}", _FILESYSTEMS),
    ),
    since(
        "1.6",
        until(
            "1.9",
            needs_gate(
                "devices/video-gate",
                _VIDEO,
                "VideoConfig",
                "Video configuration is specified but the VideoConfig feature gate is not enabled",
                reported_path=("video",),
            ),
        ),
    ),
    since(
        "1.6",
        until(
            "1.9",
            judged(
                "devices/video-graphics",
                _VIDEO,
                _graphics_gated,
                reported_path=("video",),
                help="drop one of them",
            ),
        ),
    ),
    since(
        "1.9",
        judged(
            "devices/video-graphics",
            _VIDEO,
            _graphics,
            reported_path=("video",),
            help="drop one of them",
        ),
    ),
    since(
        "1.6",
        until(
            "1.9",
            judged(
                "devices/panic-gate",
                _PANIC,
                _panic_gate,
                needs="gate PanicDevices",
                help="enable the feature gate PanicDevices in the KubeVirt CR, or leave this out",
            ),
        ),
    ),
    since(
        "1.6",
        until(
            "1.7",
            Check("devices", partial(_panic, ("s390x", "ppc64le"), "PanicDevices"), where=_PANIC),
        ),
    ),
    since(
        "1.7",
        until("1.9", Check("devices", partial(_panic, ("s390x",), "PanicDevices"), where=_PANIC)),
    ),
    since("1.9", Check("devices", partial(_panic, ("s390x",), ""), where=_PANIC)),
)
