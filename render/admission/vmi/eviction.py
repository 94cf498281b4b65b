"""The eviction strategy (upstream: validateLiveMigration in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterable

from render.admission.checks import Check, Subject, Violation
from render.diagnostics.fix import respelled

_PLACE = ("evictionStrategy",)
_KNOWN = ("LiveMigrate", "LiveMigrateIfPossible", "None", "External")


def _strategy(subject: Subject) -> Iterable[Violation]:
    """What is wrong with the strategy in force: the VM's, else the cluster's."""
    given = subject.spec.get("evictionStrategy")
    strategy = subject.config.eviction_strategy if given is None else given
    if strategy in _KNOWN:
        return ()
    message = f"{subject.text(*_PLACE)} is set with an unrecognized option: {strategy}"
    cure = f"use one of {', '.join(_KNOWN)}"
    fixes = respelled(subject.at(*_PLACE), given, _KNOWN) if isinstance(given, str) else ()
    return (Violation(subject.at(*_PLACE), message, cure, fixes=fixes),)


CHECKS: tuple[Check, ...] = (Check("eviction/strategy", _strategy),)
#: All that a text field may be, by its place below the VMI spec.
WORDS = {_PLACE: _KNOWN}
