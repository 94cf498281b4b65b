"""The rules about a VM itself: how it is to run, and how its volumes are to change while it does.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go (validateRunStrategy,
validateLiveUpdateFeatures).
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import Check, Subject, Violation
from render.diagnostics.fix import Fix, choice, remove, respelled, set_to
from render.model.nearest import did_you_mean
from render.model.release import Version, in_force, since, until

STRATEGIES = ("Halted", "Manual", "Always", "RerunOnFailure", "Once")
_RECEIVER = "WaitAsReceiver"
_GATE = "DecentralizedLiveMigration"
_HOLDERS = ("VirtualMachine", "VirtualMachinePool")


def _exactly_one(subject: Subject) -> Iterator[Violation]:
    strategy, running = subject.vm.get("runStrategy"), subject.vm.get("running")
    place = (*subject.vm_root, "running")
    if strategy is not None and running is not None:
        yield Violation(
            place,
            "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy"
            " instead",
            help="drop spec.running",
            fixes=(Fix("drop spec.running", (remove(place),), running is (strategy == "Always")),),
        )
    elif strategy is None and running is None:
        help_text = f"set spec.runStrategy to one of {', '.join(STRATEGIES)}"
        to = (*subject.vm_root, "runStrategy")
        fixes = choice(
            *(
                (f"write runStrategy: {candidate}", set_to(to, candidate))
                for candidate in STRATEGIES
            )
        )
        yield Violation(place, "RunStrategy must be specified", help=help_text, fixes=fixes)


def _receiver(subject: Subject) -> Iterator[Violation]:
    if subject.vm.get("runStrategy") == _RECEIVER and not subject.has_gate(_GATE):
        yield Violation(
            (*subject.vm_root, "runStrategy"),
            f"Invalid RunStrategy ({_RECEIVER}), {_GATE} feature gate is not enabled in kubevirt resource",
            help=f"enable the feature gate {_GATE} in the KubeVirt CR, or use another strategy",
        )


def _known(elsewhere: tuple[str, ...], subject: Subject) -> Iterator[Violation]:
    """A strategy that is none; those of *elsewhere* have a check of their own."""
    strategy = subject.vm.get("runStrategy")
    if strategy is not None and strategy not in (*STRATEGIES, *elsewhere):
        yield Violation(
            (*subject.vm_root, "runStrategy"),
            f"Invalid RunStrategy ({strategy})",
            help=did_you_mean(strategy, STRATEGIES, f"use one of {', '.join(STRATEGIES)}"),
            fixes=respelled((*subject.vm_root, "runStrategy"), strategy, STRATEGIES),
        )


_KNOWN = "run-strategy/known"


def _strategies(*elsewhere: str) -> Check:
    words = (*STRATEGIES, *elsewhere)
    return Check(_KNOWN, partial(_known, elsewhere), only=_HOLDERS, words=words)


def strategies(release: Version) -> tuple[str, ...]:
    """What ``spec.runStrategy`` may be in *release*."""
    return next(check.words for check in in_force(CHECKS, release) if check.name == _KNOWN)


_UPDATE = "updateVolumesStrategy"


def _update_gate(name: str, gate: str, values: tuple[str, ...] = ()) -> Check:
    """A strategy for volumes, one of *values* if they are given, that needs *gate* where live update is rolled out."""

    def evaluate(subject: Subject) -> Iterator[Violation]:
        strategy = subject.vm.get(_UPDATE)
        if strategy is None or (values and strategy not in values):
            return
        if subject.config.rollout_strategy == "LiveUpdate" and not subject.has_gate(gate):
            yield Violation(
                (_UPDATE,),  # QUIRK(vms-admitter.go): not below `spec`
                f"{gate} feature gate is not enabled in kubevirt-config",
                f"enable the feature gate {gate} in the KubeVirt CR, or leave this out",
                place=(*subject.vm_root, _UPDATE),
            )

    return Check(name, evaluate, needs=f"gate {gate}", only=_HOLDERS)


CHECKS = (
    Check("run-strategy/one", _exactly_one, only=_HOLDERS),
    until("1.6", _strategies()),
    since("1.6", _strategies(_RECEIVER)),
    since(
        "1.6",
        Check("run-strategy/receiver", _receiver, needs=f"gate {_GATE}", only=_HOLDERS),
    ),
    until("1.5", _update_gate("gates/update-volumes", "VolumesUpdateStrategy")),
    until("1.5", _update_gate("gates/migrate-volumes", "VolumeMigration", ("Migration",))),
)
