"""The start strategy (upstream: validateStartStrategy in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.diagnostics.fix import respelled

_PLACE = ("startStrategy",)


def _strategy(subject: Subject) -> Iterator[Cause]:
    named = subject.text(*_PLACE)
    strategy = subject.spec["startStrategy"]
    if strategy != "Paused":
        message = f"{named} is set with an unrecognized option: {strategy}"
        place = subject.at(*_PLACE)
        yield Cause(
            "start/strategy",
            place,
            message,
            "use Paused, or leave it out",
            fixes=respelled(place, strategy, ("Paused",)),
        )
    elif subject.spec.get("livenessProbe") is not None:
        yield Cause(
            "start/paused-liveness-probe",
            subject.at(*_PLACE),
            f"either {named} or {subject.text('livenessProbe')} should be provided."
            "Pausing VMI with LivenessProbe is not supported",
            "leave one of them out",
        )


CHECKS: tuple[Check, ...] = (Check("start", _strategy, where=_PLACE),)
