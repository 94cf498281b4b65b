"""The words that text fields may have, as the checks of admission know them: for schemas and for completion."""

from functools import cache

from render.admission import order, vm
from render.model import topology
from render.model.release import Version
from render.schemas import json_schema
from render.schemas.json_schema import Words

_SPEC = "kubevirt.VirtualMachineInstanceSpec"


@cache
def words(release: Version) -> Words:
    """What text fields may be in *release*, by the Go type that has them and their names."""
    places = (
        (json_schema.place(_SPEC, path, release), known)
        for path, known in order.words(release).items()
    )
    return {place: known for place, known in places if place is not None} | {
        ("kubevirt.VirtualMachineSpec", "runStrategy"): vm.strategies(release),
        ("instancetype.CPUPreferences", "preferredCPUTopology"): tuple(sorted(topology.KNOWN)),
    }
