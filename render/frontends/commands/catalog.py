"""``virt-render catalog``: the instancetypes and preferences that KubeVirt deploys by itself."""

from render.diagnostics.codes import USAGE
from render.diagnostics.diagnostic import Location
from render.frontends.answer import Answer
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.model import tree
from render.model.release import NEWEST, Version, release_named, tag
from render.model.tree import Tree
from render.report.text import table
from render.resolve import bundled, find


def print_list(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """List what a release deploys: kind, name, and the vCPUs and memory given or required."""
    rows = [
        (kind, name, _amount(spec, "cpu"), _amount(spec, "memory"))
        for (kind, name), spec in bundled.definitions(_release(request)).items()
    ]
    return Answer(table([("KIND", "NAME", "CPU", "MEMORY"), *rows]), for_people=True)


def show(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Print the manifest of an object."""
    from render.yaml import writer

    name, release = request.own["name"], _release(request)
    known = bundled.definitions(release)
    kinds = [kind for kind, other in known if other == name]
    if not kinds:
        message = f"no {name} among what KubeVirt {tag(release)} deploys"
        names = [other for _, other in known]
        cure = find.meant(name, names, "'virt-render catalog list' names all")
        return Answer(faults=[USAGE.at(Location(), message, help=cure)])
    return Answer([writer.write(bundled.body(release, kind, name) for kind in kinds)])


def _release(request: Request) -> Version:
    """The release that is asked for, else the newest: a catalogue has no input that could name one."""
    return release_named(request.settings.kubevirt) or NEWEST


def _amount(spec: Tree, what: str) -> str:
    """What an instancetype gives, or a preference requires at least."""
    amount = tree.get(spec, what, "guest")
    required = tree.get(spec, "requirements", what, "guest")
    if amount is None and required is None:
        return "-"
    return str(amount) if amount is not None else f">={required}"
