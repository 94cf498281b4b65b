"""``virt-render schema``: the JSON Schema of a kind, for editors and for CI without a server."""

import json

from render.diagnostics.codes import USAGE
from render.diagnostics.diagnostic import Location
from render.frontends.answer import Answer
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.model.nearest import did_you_mean
from render.model.release import NEWEST, release_named
from render.pipeline import vocabulary
from render.schemas import json_schema


def schema(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Print the schema of a kind, whatever the case of its letters."""
    named = request.own["kind"]
    kinds = [kind for kind in json_schema.ROOTS if kind.casefold() == named.casefold()]
    if not kinds:
        every = f"there are {', '.join(json_schema.ROOTS)}"
        cure = did_you_mean(named, json_schema.ROOTS, every)
        return Answer(faults=[USAGE.at(Location(), f"no schema of {named}", help=cure)])
    release = release_named(request.settings.kubevirt) or NEWEST
    document = json_schema.document(kinds[0], release, vocabulary.words(release))
    return Answer([json.dumps(document, indent=1) + "\n"])
