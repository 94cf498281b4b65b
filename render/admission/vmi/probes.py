"""Readiness and liveness probes (upstream: validateProbe in admitters/vmi-create-admitter.go)."""

from collections.abc import Callable, Iterator

from render.admission.checks import Check, Evaluate, Subject
from render.diagnostics.cause import Cause
from render.model.release import Windowed, since, until

_PROBES = ("readinessProbe", "livenessProbe")
_HANDLERS = ("httpGet", "tcpSocket", "exec", "guestAgentPing")
_OVER_NETWORK = ("httpGet", "tcpSocket")


def _pod_network(subject: Subject) -> bool:
    return any(network.get("pod") is not None for network in subject.spec.get("networks") or ())


def _pod_interface(subject: Subject) -> bool:
    networks = subject.spec.get("networks") or ()
    pods = {network.get("name") for network in networks if network.get("pod") is not None}
    interfaces = subject.get("domain", "devices", "interfaces") or ()
    return any(interface.get("name") in pods for interface in interfaces)


def _probes(has_network: Callable[[Subject], bool]) -> Evaluate:
    """The rules of both probes; *has_network* says whether the VM is attached to the pod network."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        names = [name for name in _PROBES if subject.spec.get(name) is not None]
        for name in names:
            yield from _kind(subject, name)
        if names and not has_network(subject):
            for name in names:
                yield from _needs_network(subject, name)

    return evaluate


def _needs_network(subject: Subject, name: str) -> Iterator[Cause]:
    for handler in _OVER_NETWORK:
        if subject.spec[name].get(handler) is not None:
            yield Cause(
                "probes/pod-network",
                subject.at(name, handler),
                f"{subject.text(name, handler)} is only allowed if the Pod Network is attached",
                "attach the pod network, or use exec or guestAgentPing",
            )


def _kind(subject: Subject, name: str) -> Iterator[Cause]:
    count = sum(subject.spec[name].get(handler) is not None for handler in _HANDLERS)
    place, named = subject.at(name), subject.text(name)
    if count > 1:
        message = f"{named} must have exactly one probe type set"
        cure = f"leave one of {', '.join(_HANDLERS)}"
        yield Cause("probes/one-kind", place, message, cure)
    elif not count:
        yield Cause(
            "probes/kind",
            place,
            f"either {named}.tcpSocket, {named}.exec or {named}.httpGet must be set if a {named} is specified",
            f"add one of {', '.join(_HANDLERS)}",
        )


def _check(has_network: Callable[[Subject], bool]) -> Check:
    first, second = _PROBES
    return Check("probes", _probes(has_network), where=(first,), also=((second,),))


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until("1.5", _check(_pod_interface)),
    since("1.5", _check(_pod_network)),
)
