"""Containers that the API server refuses: what they ask for, where they mount volumes, how they are probed.

Of what KubeVirt always writes alike nothing is looked at.

Upstream: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers, validateContainerCommon).
"""

import re
from collections.abc import Collection, Mapping

from render.model.apimachinery import quantity
from render.model.apimachinery.dns1123 import label_faults, too_long
from render.model.apimachinery.labels import key_faults
from render.model.apimachinery.quantity import Quantity, QuantityError, text_of
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.room import amounts
from render.room.amounts import Amounts
from render.room.refusal import (
    MapKey,
    PodRefusal,
    Refusals,
    UnnamedKey,
    all_invalid,
    duplicate,
    invalid,
    not_found,
    required,
    unsupported,
)

_GROUPS = ("containers", "initContainers")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_SECONDS = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold",
)  # fmt: skip
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_SCHEMES = ("HTTP", "HTTPS")
_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
_LAST_PORT = 65535
_LONGEST_PORT_NAME = 15
_NONNEGATIVE = "must be greater than or equal to 0"
_PORT_RANGE = f"must be between 1 and {_LAST_PORT}, inclusive"


def refusals(spec: Tree, volumes: Mapping[str, Tree], claims: Collection[str]) -> Refusals:
    """What is refused of the containers of a pod *spec*, whose *volumes* and *claims* of devices are valid."""
    names: set[str] = set()
    for group in _GROUPS:
        for index, container in enumerate(spec.get(group) or ()):
            path = ("spec", group, index)
            yield from _container(container, path, volumes, claims)
            name = container.get("name") or ""
            if name in names:
                yield duplicate((*path, "name"), name)
            names.add(name)


def _container(
    container: Tree, path: FieldPath, volumes: Mapping[str, Tree], claims: Collection[str]
) -> Refusals:
    name, image = container.get("name") or "", container.get("image") or ""
    yield from all_invalid((*path, "name"), name, label_faults(name))
    if not image:
        yield required((*path, "image"))
    elif image != image.strip():
        yield invalid((*path, "image"), image, "must not have leading or trailing whitespace")
    yield from _ports(container.get("ports") or (), (*path, "ports"))
    yield from _mounts(container, path, volumes)
    policy = container.get("imagePullPolicy") or _PULL_POLICIES[0]
    if policy not in _PULL_POLICIES:
        yield unsupported((*path, "imagePullPolicy"), policy, _PULL_POLICIES)
    yield from _resources(container.get("resources") or {}, (*path, "resources"), claims)
    for key in ("livenessProbe", "readinessProbe"):
        if container.get(key) is not None:
            yield from probe(container[key], (*path, key))


def _ports(ports: Collection[Tree], path: FieldPath) -> Refusals:
    names: set[str] = set()
    for index, port in enumerate(ports):
        name, number = port.get("name") or "", port.get("containerPort") or 0
        protocol = port.get("protocol") or "TCP"
        if name:
            faults = _port_name_faults(name)
            yield from all_invalid((*path, index, "name"), name, faults)
            if not faults and name in names:
                yield duplicate((*path, index, "name"), name)
            names.add(name)
        if not number:
            yield required((*path, index, "containerPort"))
        elif not 0 < number <= _LAST_PORT:
            yield invalid((*path, index, "containerPort"), number, _PORT_RANGE)
        if protocol not in _PROTOCOLS:
            yield unsupported((*path, index, "protocol"), protocol, _PROTOCOLS)


def _port_name_faults(name: str) -> tuple[str, ...]:
    """Why *name* is no name of a port (upstream: IsValidPortName)."""
    rules = (
        (
            re.fullmatch("[-a-z0-9]+", name),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (re.search("[a-z]", name), "must contain at least one letter (a-z)"),
        ("--" not in name, "must not contain consecutive hyphens"),
        ("-" not in {name[:1], name[-1:]}, "must not begin or end with a hyphen"),
    )
    return (*too_long(name, _LONGEST_PORT_NAME), *(fault for holds, fault in rules if not holds))


def _mounts(container: Tree, path: FieldPath, volumes: Mapping[str, Tree]) -> Refusals:
    devices = container.get("volumeDevices") or ()
    taken = {device.get("devicePath") for device in devices}
    points: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        place = (*path, "volumeMounts", index)
        name, point = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            yield required((*place, "name"))
        if name not in volumes:
            yield not_found((*place, "name"), name)
        if not point:
            yield required((*place, "mountPath"))
        if point in points:
            yield invalid((*place, "mountPath"), point, "must be unique")
        points.add(point)
        if point in taken:
            text = "must not already exist as a path in volumeDevices"
            yield invalid((*place, "mountPath"), point, text)
        # Upstream leaves the index out here.
        yield from below(mount.get("subPath") or "", (*path, "volumeMounts", "subPath"))
    names: set[str] = set()
    for index, device in enumerate(devices):
        name = device.get("name") or ""
        place = (*path, "volumeDevices", index, "name")
        if name in names:
            yield invalid(place, name, "must be unique")
        if name not in volumes:
            yield not_found(place, name)
        names.add(name)


def below(text: str, path: FieldPath) -> Refusals:
    """A path that has to lead downwards (upstream: validateLocalDescendingPath)."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def _resources(resources: Tree, path: FieldPath, claims: Collection[str]) -> Refusals:
    try:
        limits = amounts.read(resources.get("limits"))
        requests = amounts.read(resources.get("requests"))
    except QuantityError:
        return
    for key, found in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(found.items()):
            yield from _amount(name, amount, (*path, key, MapKey(name)))
    yield from _unequal(requests, limits, path)
    names = {*limits, *requests}
    if any(name.startswith(amounts.HUGE) for name in names) and not names & {"cpu", "memory"}:
        yield PodRefusal(path, "Forbidden: HugePages require cpu or memory")
    yield from _claims(resources.get("claims") or (), (*path, "claims"), claims)


def _amount(name: str, amount: Quantity, path: FieldPath) -> Refusals:
    yield from all_invalid(path, name, _name_faults(name))
    if amount.mantissa < 0:
        yield invalid(path, text_of(amount), _NONNEGATIVE)
    if amounts.number(amount).denominator != 1 and amounts.is_extended(name):
        yield invalid(path, text_of(amount), "must be an integer")
    if name.startswith(amounts.HUGE) and not _is_divisible(name, amount):
        text = text_of(amount)
        yield invalid(path, text, f"{text} is not positive integer multiple of {name}")


def _name_faults(name: str) -> tuple[str, ...]:
    faults = key_faults(name)
    if faults:
        return faults
    if "/" not in name:
        if name in _STANDARD or name.startswith(amounts.HUGE):
            return ()
        plain = "must be a standard resource for containers"
        return ("must be a standard resource type or fully qualified", plain)
    if amounts.NATIVE in name or amounts.is_extended(name):
        return ()
    return ("doesn't follow extended resource name standard",)


def _is_divisible(name: str, amount: Quantity) -> bool:
    try:
        size = quantity.value(name.removeprefix(amounts.HUGE))
    except QuantityError:
        return False
    return size > 0 and quantity.scaled(amount) % size == 0


def _unequal(requests: Amounts, limits: Amounts, path: FieldPath) -> Refusals:
    for name, request in sorted(requests.items()):
        may_differ = ("/" not in name or amounts.NATIVE in name) and not name.startswith(
            amounts.HUGE
        )
        limit = limits.get(name)
        if limit is None:
            if not may_differ:
                text = "Limit must be set for non overcommitable resources"
                yield required((*path, "limits", UnnamedKey(name)), text)
            continue
        order, place = quantity.order(request, limit), (*path, "requests", UnnamedKey(name))
        bound = f"{name} limit of {text_of(limit)}"
        if order and not may_differ:
            yield invalid(place, text_of(request), f"must be equal to {bound}")
        elif order > 0:
            text = f"must be less than or equal to {bound}"
            yield invalid(place, text_of(request), text)


def _claims(claims: Collection[Tree], path: FieldPath, known: Collection[str]) -> Refusals:
    """The devices that a container claims (upstream: validateResourceClaimNames)."""
    taken: set[str] = set()
    for index, claim in enumerate(claims):
        name, request = claim.get("name") or "", claim.get("request") or ""
        place = (*path, index)
        if not name:
            yield required(place)
            continue
        if name in taken:
            yield duplicate(place, name)
        else:
            if request:
                yield from all_invalid((*place, "request"), request, label_faults(request))
            key = f"{name}/{request}" if request else name
            overlaps = key in taken or (
                not request and any(claimed.startswith(f"{name}/") for claimed in taken)
            )
            if overlaps:
                yield duplicate(place, key)
            taken.add(key)
        if name not in known:
            names = f": {', '.join(sorted(known))}" if known else " which is empty"
            yield not_found(
                place, name, f"must be one of the names in pod.spec.resourceClaims{names}"
            )


def probe(checked: Tree, path: FieldPath) -> Refusals:
    """What is refused of the probe *checked*, whose last step of *path* says of what."""
    handlers = [key for key in _HANDLERS if checked.get(key) is not None]
    for key in handlers[1:]:
        yield PodRefusal((*path, key), "Forbidden: may not specify more than 1 handler type")
    if not handlers:
        yield required(path, "must specify a handler type")
    else:
        yield from _handler(handlers[0], checked[handlers[0]], (*path, handlers[0]))
    for key in _SECONDS:
        if (checked.get(key) or 0) < 0:
            yield invalid((*path, key), checked[key], _NONNEGATIVE)
    seconds = checked.get("terminationGracePeriodSeconds")
    place = (*path, "terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid(place, seconds, "must be greater than 0")
    if path[-1] == "livenessProbe" and checked.get("successThreshold", 1) != 1:
        yield invalid((*path, "successThreshold"), checked["successThreshold"], "must be 1")
    if path[-1] == "readinessProbe" and seconds is not None:
        yield invalid(place, seconds, "must not be set for readinessProbes")


def _handler(kind: str, handler: Tree, path: FieldPath) -> Refusals:
    if kind == "exec":
        if not handler.get("command"):
            yield required((*path, "command"))
        return
    port = handler.get("port") or 0
    if isinstance(port, str):
        yield from all_invalid((*path, "port"), port, _port_name_faults(port))
    elif not 0 < port <= _LAST_PORT:
        yield invalid((*path, "port"), port, _PORT_RANGE)
    scheme = handler.get("scheme") or _SCHEMES[0]
    if kind == "httpGet" and scheme not in _SCHEMES:
        yield unsupported((*path, "scheme"), scheme, _SCHEMES)
