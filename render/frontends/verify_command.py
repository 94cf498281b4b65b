"""``virt-render verify``: see that what is applied was rendered."""

from collections.abc import Iterable

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.frontends.exits import Exit, status
from render.frontends.options import Request
from render.frontends.pin_commands import resources_of
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, tell
from render.frontends.run import load
from render.frontends.streams import STDOUT, emit, standard_input
from render.model.resource import KUBEVIRT, Resource
from render.report.findings import merge
from render.revisions import stamps


def verify(asked: Request, work: Work, *, allow_matchers: bool) -> Exit:
    """Say which VMs were not rendered, or edited since; findings on stdout."""
    with work.shown():
        loaded = load(asked, work, standard_input())
        diagnostics = list(loaded.diagnostics)
        work.begin("verify", f"verifying {len(loaded.documents):,} objects")
        vms = 0
        for resource in resources_of(loaded):
            if (resource.group, resource.kind) == (KUBEVIRT, "VirtualMachine"):
                vms += 1
                diagnostics += _unverified(resource, allow_matchers=allow_matchers)
    work.begin("write", f"reporting {len(diagnostics):,} findings")
    if not loaded.documents and not asked.settings.allow_empty and not status(diagnostics):
        message = "no Kubernetes object in the input"
        cure = "check the path, or accept an empty input with --allow-empty"
        diagnostics.append(codes.NO_OBJECTS.at(Location(), message, help=cure))
    tell(merge(findings_of(loaded, diagnostics, asked)), asked, to=STDOUT)
    if status(diagnostics) is Exit.OK and asked.format == "text":
        emit(f"{vms} VirtualMachine{'' if vms == 1 else 's'} verified\n", STDOUT)
    return status(diagnostics)


def _unverified(resource: Resource, *, allow_matchers: bool) -> Iterable[Diagnostic]:
    body = resource.body
    matchers = stamps.matchers(body)
    for word in () if allow_matchers else matchers:
        yield codes.NOT_RENDERED.at(
            at(resource, ("spec", word)),
            f"the VM still has its {word}: it was not rendered",
            help="run virt-render build; kustomize needs --enable-alpha-plugins --enable-exec for functions",
        )
    if not matchers and stamps.read(body) and not stamps.is_genuine(body):
        what = (
            "the spec"
            if stamps.RENDERED in stamps.read(body)
            else f"{stamps.RENDERED} is missing: the spec"
        )
        yield codes.EDITED_SINCE.at(
            at(resource, ("spec",)),
            f"{what} is not the one that was rendered",
            help="make the edit in the source and render again",
        )
