"""``virt-render schema``: the JSON Schema of a kind, for editors and for CI without a server."""

import json

from render.admission import order, vm
from render.diagnostics.codes import USAGE
from render.diagnostics.diagnostic import Location
from render.frontends.answer import Answer
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.model import topology
from render.model.release import NEWEST, Version, release_named
from render.schemas import json_schema
from render.schemas.json_schema import Words

_SPEC = "kubevirt.VirtualMachineInstanceSpec"


def schema(asked: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Print the schema of a kind, whatever the case of its letters."""
    named = asked.own["kind"]
    kinds = [kind for kind in json_schema.ROOTS if kind.casefold() == named.casefold()]
    if not kinds:
        from render.model.nearest import nearest

        near = nearest(named, json_schema.ROOTS)
        cure = f"did you mean {near}?" if near else f"there are {', '.join(json_schema.ROOTS)}"
        return Answer(faults=[USAGE.at(Location(), f"no schema of {named}", help=cure)])
    release = release_named(asked.settings.kubevirt) or NEWEST
    document = json_schema.document(kinds[0], release, words(release))
    return Answer([json.dumps(document, indent=1) + "\n"])


def words(release: Version) -> Words:
    """What text fields may be in *release*, as the checks of admission have it."""
    places = (
        (json_schema.place(_SPEC, path, release), known)
        for path, known in order.words(release).items()
    )
    found = {place: known for place, known in places if place is not None}
    return found | {
        ("kubevirt.VirtualMachineSpec", "runStrategy"): vm.strategies(release),
        ("instancetype.CPUPreferences", "preferredCPUTopology"): tuple(sorted(topology.KNOWN)),
    }
