"""Resource claims, and the devices that dynamic resource allocation gives.

Upstream: pkg/dra/admitter/dra_admitter.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import Check, Evaluate, Subject, Violation, repeated_names
from render.diagnostics.cause import Cause
from render.model.apimachinery.dns1123 import label_faults, subdomain_faults
from render.model.apimachinery.go import quoted
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_CLAIMS = ("resourceClaims",)
_DEVICES = ("domain", "devices")
_OBJECTS = ("resourceClaimName", "resourceClaimTemplateName")
_NETWORK_GATE = "NetworkDevicesWithDRA"


class _Kind(NamedTuple):
    """A list of devices: its key, what KubeVirt calls one, the gate, and whether all must be claimed or none."""

    key: str
    word: str
    gate: str
    uniform: bool

    @property
    def place(self) -> FieldPath:
        return (*_DEVICES, self.key)

    @property
    def full(self) -> str:
        return f"vmi.spec.domain.devices.{self.key}"


_GPUS = _Kind("gpus", "GPU", "GPUsWithDRA", uniform=True)
_HOST_DEVICES = _Kind("hostDevices", "HostDevice", "HostDevicesWithDRA", uniform=False)


class _DeviceRequest(NamedTuple):
    """What a claimed device asks for, and where it stands in the list."""

    at: int
    claim: str
    request: str

    @property
    def pair(self) -> str:
        return f"{self.claim}/{self.request}"


def _names_claim(device: Tree) -> bool:
    return device.get("claimName") is not None or device.get("requestName") is not None


def _is_claimed(device: Tree) -> bool:
    return not device.get("deviceName") and _names_claim(device)


def _is_mixed(kind: _Kind, devices: list[Tree]) -> bool:
    return kind.uniform and len(set(map(_is_claimed, devices))) > 1


def _requests(kind: _Kind, subject: Subject) -> list[_DeviceRequest]:
    """What the devices of *kind* ask for, as far as KubeVirt gets to look at it."""
    devices = subject.get(*kind.place) or []
    if _is_mixed(kind, devices) or not any(map(_is_claimed, devices)):
        return []
    if not subject.has_gate(kind.gate):
        return []
    return [
        _DeviceRequest(index, device.get("claimName") or "", device.get("requestName") or "")
        for index, device in enumerate(devices)
        if _is_claimed(device)
    ]


def _named_twice(subject: Subject) -> Iterator[Cause]:
    for index, name in repeated_names(subject.spec["resourceClaims"]):
        yield _twice(subject, index, name)


def _twice(subject: Subject, index: int, name: str) -> Cause:
    return Cause(
        "claims/name-unique",
        subject.at(*_CLAIMS, index, "name"),
        f"duplicate resourceClaims name {quoted(name)}",
        "give the claims different names",
    )


def _claims(subject: Subject) -> Iterator[Cause]:
    known: set[str] = set()
    for index, claim in enumerate(subject.spec["resourceClaims"]):
        path = (*_CLAIMS, index)
        name = claim.get("name", "")
        text = subject.text(*path, "name")
        faults = label_faults(name)
        if not name:
            yield Cause(
                "claims/name", subject.at(*path, "name"), f"{text} is a required field", "name it"
            )
        elif name in known:
            yield _twice(subject, index, name)
        else:
            known.add(name)
            if faults:
                yield Cause(
                    "claims/name",
                    subject.at(*path, "name"),
                    f"{text} does not conform to the kubernetes DNS_LABEL rules: {', '.join(faults)}",
                    "use a-z, 0-9 and hyphens inside",
                )
        yield from _object(subject, path, claim)


def _object(subject: Subject, path: FieldPath, claim: Tree) -> Iterator[Cause]:
    keys = [key for key in _OBJECTS if claim.get(key) is not None]
    if len(keys) != 1:
        yield Cause(
            "claims/one-object",
            subject.at(*path),
            "at most one of resourceClaimName or resourceClaimTemplateName may be specified"
            if keys
            else "must specify one of: resourceClaimName, resourceClaimTemplateName",
            "name either a ResourceClaim or a ResourceClaimTemplate",
        )
    for key in keys:
        for fault in subdomain_faults(claim[key]):
            yield Cause(
                "claims/object-name",
                subject.at(*path, key),
                fault,
                "write the name of an object of the namespace",
            )


def _mixed(kind: _Kind, subject: Subject) -> Iterator[Violation]:
    devices = subject.get(*kind.place)
    if _is_mixed(kind, devices):
        yield Violation(
            subject.at(*kind.place),
            f"{kind.full} contains both DRA and non-DRA {kind.word}s; each {kind.word} must be either DRA or non-DRA",
            "give all of them a deviceName, or all of them a claim",
        )


def _named(kind: _Kind, subject: Subject) -> Iterator[Cause]:
    devices = subject.get(*kind.place)
    if _is_mixed(kind, devices):
        return
    for index, device in enumerate(devices):
        if not device.get("deviceName"):
            if not _names_claim(device):
                yield Cause(
                    "claims/device-name",
                    subject.at(*kind.place),
                    f"{kind.full} contains {kind.word}s without deviceName or claimRequest; each {kind.word} must "
                    "specify either a deviceName or a claimRequest",
                    "name the resource of the device, or the claim that brings it",
                    place=subject.at(*kind.place, index),
                )
        elif _names_claim(device):
            yield Cause(
                "claims/device-or-claim",
                subject.at(*kind.place),
                f"{kind.full} contains {kind.word}s with both deviceName and claimRequest",
                "keep either deviceName, or claimName and requestName",
                place=subject.at(*kind.place, index),
            )


def _gate(kind: _Kind, subject: Subject) -> Iterator[Cause]:
    devices = subject.get(*kind.place)
    claimed = [index for index, device in enumerate(devices) if _is_claimed(device)]
    if claimed and not _is_mixed(kind, devices) and not subject.has_gate(kind.gate):
        yield Cause(
            f"claims/{kind.word.lower()}-gate",
            subject.at(*kind.place),
            f"{kind.full} contains DRA enabled {kind.word}s but feature gate is not enabled",
            f"enable the feature gate {kind.gate} in the KubeVirt CR, or name a deviceName",
            place=subject.at(*kind.place, claimed[0]),
        )


def _complete(kind: _Kind, subject: Subject) -> Iterator[Cause]:
    known: set[str] = set()
    for request in _requests(kind, subject):
        path = subject.at(*kind.place, request.at)
        for key, value in (("claimName", request.claim), ("requestName", request.request)):
            if not value:
                yield Cause(
                    "claims/request",
                    (*path, key),
                    f"{key} is required for DRA {kind.word}",
                    "a claim is named by claimName and requestName",
                    place=path,
                )
        if not request.claim or not request.request:
            continue
        if request.pair in known:
            yield Cause(
                "claims/request-unique",
                path,
                f"duplicate claimName/requestName pair {quoted(request.pair)}",
                "ask for another request of the claim",
            )
        known.add(request.pair)


def _complete_requests(kind: _Kind, subject: Subject) -> list[_DeviceRequest]:
    return [request for request in _requests(kind, subject) if request.claim and request.request]


def _network_requests(subject: Subject) -> list[_DeviceRequest]:
    requests = [
        _DeviceRequest(index, claim.get("claimName") or "", claim.get("requestName") or "")
        for index, network in enumerate(subject.spec.get("networks") or ())
        if (claim := network.get("resourceClaim")) is not None
    ]
    if not requests or not subject.has_gate(_NETWORK_GATE):
        return []
    return [request for request in requests if request.claim and request.request]


def _shared(subject: Subject) -> Iterator[Cause]:
    """A pair that two lists ask for."""
    owners: dict[str, str] = {}
    lists = (
        ("GPUs", _GPUS.place, _complete_requests(_GPUS, subject)),
        ("HostDevices", _HOST_DEVICES.place, _complete_requests(_HOST_DEVICES, subject)),
        ("Networks", ("networks",), _network_requests(subject)),
    )
    for word, place, requests in lists:
        first = {request.pair: request.at for request in reversed(requests)}
        for pair, index in first.items():
            here = f"{word}[{index}]"
            if pair in owners:
                yield Cause(
                    "claims/request-shared",
                    subject.at(*place, index),
                    f"duplicate claimName/requestName pair {quoted(pair)} between {owners[pair]} and {here}",
                    "ask for another request of the claim",
                )
            else:
                owners[pair] = here


def _listed(subject: Subject) -> Iterator[Cause]:
    requests = [
        (kind, request)
        for kind in (_GPUS, _HOST_DEVICES)
        for request in _complete_requests(kind, subject)
    ]
    if not requests:
        return
    names = {claim.get("name", "") for claim in subject.spec.get("resourceClaims") or ()}
    for kind, request in requests:
        if request.claim not in names:
            yield Cause(
                "claims/listed",
                subject.at(*_CLAIMS),
                "vmi.spec.resourceClaims must specify all claims used in vmi.spec.domain.devices.gpus and "
                "vmi.spec.domain.devices.hostDevices",
                f"add {request.claim} to resourceClaims",
                place=subject.at(*kind.place, request.at, "claimName"),
            )
            return


def _first_gpus(subject: Subject) -> Iterator[Cause]:
    """GPUs before 1.8; KubeVirt names a field of theirs that does not exist."""
    reported_path = subject.at("spec", *_GPUS.place)
    for index, device in enumerate(subject.get(*_GPUS.place)):
        place = subject.at(*_GPUS.place, index)
        if not device.get("deviceName"):
            if not _names_claim(device):
                yield Cause(
                    "claims/device-name",
                    reported_path,
                    f"{_GPUS.full} contains GPUs without deviceName",
                    "name the resource of the device, or the claim that brings it",
                    place=place,
                )
                return
        elif _names_claim(device):
            yield Cause(
                "claims/device-or-claim",
                reported_path,
                f"{_GPUS.full} contains GPUs with both deviceName and claimRequest",
                "keep either deviceName, or claimName and requestName",
                place=place,
            )


def _first_gpus_in_order(subject: Subject) -> list[int]:
    """The indexes of claimed GPUs; none where a GPU without any name ends the look at them."""
    devices = subject.get(*_GPUS.place)
    if any(not device.get("deviceName") and not _names_claim(device) for device in devices):
        return []
    return [index for index, device in enumerate(devices) if _is_claimed(device)]


def _first_gate(subject: Subject) -> Iterator[Violation]:
    claimed = _first_gpus_in_order(subject)
    if claimed and not subject.has_gate(_GPUS.gate):
        yield Violation(
            subject.at("spec", *_GPUS.place),
            f"{_GPUS.full} contains DRA enabled GPUs but feature gate is not enabled",
            f"enable the feature gate {_GPUS.gate} in the KubeVirt CR, or name a deviceName",
            place=subject.at(*_GPUS.place, claimed[0]),
        )


def _first_listed(subject: Subject) -> Iterator[Violation]:
    claimed = _first_gpus_in_order(subject)
    if not claimed or not subject.has_gate(_GPUS.gate):
        return
    names = {claim.get("name", "") for claim in subject.spec.get("resourceClaims") or ()}
    for index in claimed:
        name = subject.get(*_GPUS.place, index, "claimName") or ""
        if name not in names:
            yield Violation(
                subject.at(*_CLAIMS),
                "vmi.spec.resourceClaims must specify all claims used in vmi.spec.domain.devices.gpus",
                f"add {name} to resourceClaims" if name else "name the claim of the GPU",
                place=subject.at(*_GPUS.place, index),
            )
            return


def _devices(kind: _Kind) -> tuple[Windowed[Check], ...]:
    rows = (
        Check("claims/uniform", partial(_mixed, kind), where=kind.place),
        Check("claims", partial(_named, kind), where=kind.place),
        Check(
            f"claims/{kind.word.lower()}-gate",
            partial(_gate, kind),
            f"gate {kind.gate}",
            kind.place,
        ),
        Check("claims", partial(_complete, kind), where=kind.place),
    )
    return tuple(since("1.8", row) for row in rows)


def _across(name: str, evaluate: Evaluate) -> Windowed[Check]:
    """A check of all devices."""
    return since("1.8", Check(name, evaluate, where=_GPUS.place, also=(_HOST_DEVICES.place,)))


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.6", until("1.8", Check("claims", _first_gpus, where=_GPUS.place))),
    since(
        "1.6",
        until("1.8", Check("claims/gpu-gate", _first_gate, f"gate {_GPUS.gate}", _GPUS.place)),
    ),
    since("1.6", until("1.8", Check("claims/listed", _first_listed, where=_GPUS.place))),
    since("1.8", until("1.9", Check("claims/name-unique", _named_twice, where=_CLAIMS))),
    since("1.9", Check("claims", _claims, where=_CLAIMS)),
    *_devices(_GPUS),
    *_devices(_HOST_DEVICES),
    _across("claims/request-shared", _shared),
    _across("claims/listed", _listed),
)
