"""The machine type (upstream: validateEmulatedMachine in admitters/vmi-create-admitter.go)."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from render.admission.checks import Check, Subject, Violation
from render.model.apimachinery.go import listed, path_matches
from render.model.cluster_config import ClusterConfig
from render.model.nearest import did_you_mean
from render.model.release import Version, Windowed, since, until

_PLACE = ("domain", "machine", "type")
_HELP = "use a machine type that one of these patterns matches, or leave it out"
#: Patterns of machine types by architecture, as `ClusterConfig` has them.
_Patterns = tuple[tuple[str, tuple[str, ...]], ...]


def _supported(matches: Callable[[str, str], bool]) -> Check:
    """A machine type that none of the cluster's patterns matches."""
    name = "machine/supported"

    @lru_cache(maxsize=1024)
    def patterns_against(
        machine: str, architecture: str, configured: _Patterns, release: Version
    ) -> tuple[str, ...]:
        """The patterns in force if none matches *machine*, else nothing."""
        config = ClusterConfig(emulated_machines=configured)
        patterns = config.emulated_machines_for(architecture, release)
        return () if any(matches(pattern, machine) for pattern in patterns) else patterns

    def evaluate(subject: Subject) -> Iterable[Violation]:
        machine, architecture = (
            subject.spec["domain"]["machine"]["type"],
            subject.spec.get("architecture") or "",
        )
        configured = subject.config.emulated_machines
        patterns = patterns_against(machine, architecture, configured, subject.release)
        if not machine or not patterns:
            return ()
        message = f"{subject.text(*_PLACE)} is not supported: {machine} (allowed values: {listed(patterns)})"
        return (Violation(subject.at(*_PLACE), message, _cure(machine, patterns, matches)),)

    return Check(name, evaluate, needs="emulatedMachines", where=_PLACE)


def _cure(machine: str, patterns: Iterable[str], matches: Callable[[str, str], bool]) -> str:
    """What to do about *machine*, which none of *patterns* matches: the type that was meant but for a slip, if any."""
    plain = machine.casefold()
    if any(matches(pattern, plain) for pattern in patterns):
        return f"did you mean {plain}?"
    names = [
        name for pattern in patterns if (name := pattern.rstrip("*")).replace("-", "").isalnum()
    ]
    return did_you_mean(machine, names, _HELP)


def _contains(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until("1.6", _supported(_contains)),  # these releases read the patterns as regular expressions
    since("1.6", _supported(path_matches)),
)
