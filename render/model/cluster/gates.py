"""Feature gates: which exist in a release, in which state, and which are on.

``schemas/gates.json`` holds the states, which ``make generate`` takes from scripts/data/kubevirt. Upstream:
pkg/virt-config/featuregate/, pkg/virt-config/feature-gates.go.
"""

import json
import os
from functools import cache

from render.model import types
from render.model.release import VERSIONS, Version, minor, row


@cache
def states(release: Version) -> dict[str, str]:
    """The gates that *release* registers, with their state: Alpha, Beta, GA, Deprecated or Discontinued."""
    path = os.path.join(types.schemas_folder(), "gates.json")
    with open(path, "rb") as file:
        by_state = json.loads(file.read())[row(release).data]
    return {name: state for state, names in by_state.items() for name in names}


def on_by_default(release: Version) -> frozenset[str]:
    """The gates that are on in *release* unless they are disabled, and could be disabled."""
    if not row(release).has_beta_gates:
        return frozenset()
    return frozenset(name for name, state in states(release).items() if state == "Beta")


def is_on(name: str, listed: frozenset[str], disabled: frozenset[str], release: Version) -> bool:
    """Whether a gate counts as enabled in *release*, given those that a cluster lists and disables."""
    state = states(release).get(name)
    if state == "GA":
        return True
    if name in listed:
        return state is not None or not row(release).has_beta_gates
    return state == "Beta" and row(release).has_beta_gates and name not in disabled


def default_from(name: str) -> str:
    """The first release (``1.9``) in which a gate is on without being listed, ``""`` where it is in none."""
    none: frozenset[str] = frozenset()
    return next((minor(release) for release in VERSIONS if is_on(name, none, none, release)), "")
