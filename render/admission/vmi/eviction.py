"""The eviction strategy (upstream: validateLiveMigration in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterable

from render.admission.checks import Check, Subject, Violation
from render.diagnostics.fix import respelled

_PLACE = ("evictionStrategy",)
_KNOWN = ("LiveMigrate", "LiveMigrateIfPossible", "None", "External")


def _strategy(subject: Subject) -> Iterable[Violation]:
    """What is wrong with the strategy in force: the VM's, else the cluster's."""
    own_strategy = subject.spec.get("evictionStrategy")
    strategy = subject.config.eviction_strategy if own_strategy is None else own_strategy
    if strategy in _KNOWN:
        return ()
    message = f"{subject.text(*_PLACE)} is set with an unrecognized option: {strategy}"
    cure = f"use one of {', '.join(_KNOWN)}"
    fixes = (
        respelled(subject.at(*_PLACE), own_strategy, _KNOWN)
        if isinstance(own_strategy, str)
        else ()
    )
    return (Violation(subject.at(*_PLACE), message, cure, fixes=fixes),)


CHECKS: tuple[Check, ...] = (Check("eviction/strategy", _strategy),)
#: All that a text field may be, by its place below the VMI spec.
WORDS = {_PLACE: _KNOWN}
