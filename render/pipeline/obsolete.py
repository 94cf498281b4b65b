"""Definitions in API versions that no cluster serves any more: none is printed, since a sync would fail with it."""

from collections.abc import Iterator

from render.diagnostics.codes import LEFT_OUT, NOT_CONVERTIBLE
from render.diagnostics.diagnostic import Diagnostic, at
from render.machine import Context, Machine
from render.model.resource import Resource
from render.pipeline import outcomes
from render.pipeline.outcomes import DEFINITIONS, DefinitionKind


class ObsoleteDefinitions:
    """The definitions in API versions that are gone, and what the machines use of them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._collected: list[tuple[DefinitionKind, Resource]] = []
        self._used: set[tuple[str, str, str]] = set()
        emit = context.settings.emit
        self._needs_use = any(emit in row.unused for row in DEFINITIONS.values())
        self._is_complete = True

    def collect(self, resource: Resource) -> bool:
        """Remember *resource* if it is one of them; whether it is, and so is not to be printed."""
        kind = outcomes.unserved(resource)
        if kind is not None:
            self._collected.append((kind, resource))
        return kind is not None

    def observe(self, machine: Machine) -> None:
        """Remember what *machine* uses; where one failed, nobody knows."""
        self._is_complete = self._is_complete and not machine.failed
        if self._needs_use:
            for definition in (machine.instancetype, machine.preference):
                if definition is not None:
                    scope = "" if "Cluster" in definition.kind else machine.namespace
                    self._used.add((definition.kind, scope, definition.name))

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What became of each."""
        settings = self._context.settings
        for kind, resource in self._collected:
            row, emit = DEFINITIONS[kind], settings.emit
            outcome = row.outcomes[emit]
            scope = "" if "Cluster" in resource.kind else resource.namespace or settings.namespace
            used = (resource.kind, scope, resource.name) in self._used
            if emit in row.unused and not used:
                if not self._is_complete:
                    continue
                outcome = row.unused[emit]
            place = at(resource, ("apiVersion",))
            if outcome.verdict == "left out":
                message = f"left out: {outcomes.gone(kind)}, and {outcome.words}"
                yield LEFT_OUT.at(place, message)
            else:
                message = f"{outcomes.gone(kind)}, and {outcome.words}"
                cure = "let `virt-render migrate` write its successor, or render with --emit vm"
                yield NOT_CONVERTIBLE.at(place, message, help=cure)
