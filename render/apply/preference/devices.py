"""Device preferences (upstream: pkg/instancetype/preference/apply/device.go)."""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.release import since
from render.model.tree import Tree
from render.rules import (
    ABSENT,
    Edit,
    Result,
    Rules,
    custom,
    each,
    ensure,
    fill,
    override,
    plain,
    spec,
)

#: Also applied early in the start path, before the input device and the default network are added.
AUTO_ATTACH: Rules = (
    fill(
        "devices.preferredAutoattachGraphicsDevice",
        "domain.devices.autoattachGraphicsDevice",
    ),
    fill("devices.preferredAutoattachMemBalloon", "domain.devices.autoattachMemBalloon"),
    fill("devices.preferredAutoattachPodInterface", "domain.devices.autoattachPodInterface"),
    fill("devices.preferredAutoattachSerialConsole", "domain.devices.autoattachSerialConsole"),
    fill("devices.preferredAutoattachInputDevice", "domain.devices.autoattachInputDevice"),
)


def _sound_model(definition: Tree, draft: Draft) -> Iterable[Result]:
    model = tree.get(definition, "devices", "preferredSoundModel")
    sound = draft.get("spec", "domain", "devices", "sound")
    if model and sound is not None and not sound.get("model"):
        yield Edit(
            spec("domain", "devices", "sound", "model"), model, ("devices", "preferredSoundModel")
        )


_VIDEO_TYPE = ("devices", "preferredVideoType")


def _video_type(definition: Tree, draft: Draft) -> Iterable[Result]:
    kind = tree.get(definition, *_VIDEO_TYPE)
    video = draft.get("spec", "domain", "devices", "video") or {}
    if not video.get("type") and plain(kind) is not ABSENT:
        yield Edit(spec("domain", "devices", "video", "type"), kind, _VIDEO_TYPE)


_PANIC_DEVICES = spec("domain", "devices", "panicDevices")
_PANIC_MODEL = ("devices", "preferredPanicDeviceModel")


def _panic_models(definition: Tree, draft: Draft) -> Iterable[Result]:
    for index, device in enumerate(draft.get(*_PANIC_DEVICES) or ()):
        if device.get("model") is None:
            model = tree.get(definition, *_PANIC_MODEL)
            yield Edit((*_PANIC_DEVICES, index, "model"), model, _PANIC_MODEL)


def _panic_device(definition: Tree, draft: Draft) -> Iterable[Result]:
    if not draft.get(*_PANIC_DEVICES):
        model = tree.get(definition, *_PANIC_MODEL)
        yield Edit(_PANIC_DEVICES, [{"model": model}], _PANIC_MODEL)


RULES: Rules = (
    fill("devices.preferredUseVirtioTransitional", "domain.devices.useVirtioTransitional"),
    fill("devices.preferredBlockMultiQueue", "domain.devices.blockMultiQueue"),
    fill(
        "devices.preferredNetworkInterfaceMultiQueue",
        "domain.devices.networkInterfaceMultiqueue",
    ),
    override("devices.preferredDisableHotplug", "domain.devices.disableHotplug"),
    custom(
        _sound_model,
        reads=("devices.preferredSoundModel",),
        writes=("domain.devices.sound.model",),
    ),
    fill("devices.preferredRng", "domain.devices.rng"),
    fill("devices.preferredTPM", "domain.devices.tpm"),
    since(
        "1.9",
        # QUIRK(pkg/instancetype/preference/apply/device.go): "" still creates `video: {}`.
        ensure("devices.preferredVideoType", "domain.devices.video"),
    ),
    since(
        "1.9",
        custom(
            _video_type,
            reads=("devices.preferredVideoType",),
            writes=("domain.devices.video.type",),
        ),
    ),
    *AUTO_ATTACH,
    each(
        "domain.devices.inputs",
        ("devices.preferredInputBus", "bus"),
        ("devices.preferredInputType", "type"),
    ),
    since(
        "1.6",
        custom(
            _panic_models,
            reads=("devices.preferredPanicDeviceModel",),
            writes=("domain.devices.panicDevices.model",),
        ),
    ),
    since(
        "1.9",
        custom(
            _panic_device,
            reads=("devices.preferredPanicDeviceModel",),
            writes=("domain.devices.panicDevices",),
        ),
    ),
)
