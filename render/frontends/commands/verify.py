"""``virt-render verify``: see that what is applied was rendered."""

from collections import Counter
from collections.abc import Iterator

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.diagnostics.exits import Exit
from render.frontends.figures import tally_of
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, outcome, publish
from render.frontends.request.request import Request
from render.frontends.session import load, resources_of
from render.model.kinds import FLAVOR
from render.model.resource import KUBEVIRT, Resource
from render.pipeline import outcomes
from render.pipeline.input import definitions
from render.report.findings import merge
from render.revisions import stamps
from render.system.streams import STDOUT, emit, standard_input

_VERIFIED = "verified"
#: Kinds with VMs or VMIs inside.
_HOLDERS = {
    (KUBEVIRT, "VirtualMachineInstanceReplicaSet"),
    ("pool.kubevirt.io", "VirtualMachinePool"),
}


def verify(asked: Request, work: Work) -> Exit:
    """Say which machines were not rendered, or edited since; findings on stdout."""
    tally: Counter[tuple[str, str]] = Counter()
    with work.shown():
        loaded = load(asked, work, standard_input())
        diagnostics = list(loaded.diagnostics)
        work.begin("verify", f"verifying {len(loaded.documents):,} objects")
        for resource in resources_of(loaded):
            if (resource.group, resource.kind) in _HOLDERS:
                diagnostics += _replica_faults(
                    resource, tally, allow_matchers=asked.own["allow_matchers"]
                )
            elif definitions.is_machine(resource):
                diagnostics += faults(resource, allow_matchers=asked.own["allow_matchers"])
                tally[_state(resource), resource.kind] += 1
    work.begin("write", f"reporting {len(diagnostics):,} findings")
    if not loaded.documents and not asked.settings.allow_empty and not status(diagnostics):
        message = "no Kubernetes object in the input"
        cure = "check the path, or accept an empty input with --allow-empty"
        diagnostics.append(codes.NO_OBJECTS.at(Location(), message, help=cure))
    findings = merge(findings_of(loaded, diagnostics, asked))
    diagnostics += publish(findings, asked, tally_of([(loaded, None)]))
    if status(diagnostics) is Exit.OK and asked.format == "text":
        emit(_summary(tally), STDOUT)
    return outcome(diagnostics, asked)


def _replica_faults(
    resource: Resource, tally: Counter[tuple[str, str]], *, allow_matchers: bool
) -> Iterator[Diagnostic]:
    """What is wrong with the VM that a pool makes; a replica set makes VMIs, which nothing stamps."""
    from render.pipeline.stages import holders

    vm = holders.machine_of(resource)
    if vm.kind != definitions.VM:
        tally["", resource.kind] += 1
        return
    tally[_state(vm), resource.kind] += 1
    for found in faults(vm, allow_matchers=allow_matchers):
        yield holders.relocated(resource, found)


def _state(resource: Resource) -> str:
    """What can be said of a machine in which nothing is wrong."""
    if stamps.matchers(resource.body):
        return "with matchers"
    return _VERIFIED if stamps.RENDERED in stamps.read(resource.body) else "without a stamp"


def _summary(tally: Counter[tuple[str, str]]) -> str:
    verified = {kind: count for (state, kind), count in tally.items() if state == _VERIFIED}
    done = [_counted(count, kind) for kind, count in sorted(verified.items())]
    text = f"{', '.join(done) or _counted(0, definitions.VM)} verified"
    others = [
        f"{_counted(tally[state, kind], kind)} {state}".rstrip()
        for state, kind in sorted(tally, key=lambda key: (key[0] == "", key))
        if state != _VERIFIED
    ]
    return f"{text}; not looked at: {', '.join(others)}\n" if others else f"{text}\n"


def _counted(count: int, kind: str) -> str:
    return f"{count} {kind}{'' if count == 1 else 's'}"


def faults(resource: Resource, *, allow_matchers: bool) -> Iterator[Diagnostic]:
    """What is wrong with a machine that is about to be applied."""
    body = resource.body
    if outcomes.machine_kind(resource) in ("store", "runtime"):
        yield codes.NOT_RENDERED.at(
            at(resource, ("apiVersion",)),
            "no KubeVirt since v0.7 serves the machine: it was not rendered",
            help="run virt-render build",
        )
        return
    matchers = stamps.matchers(body)
    for word in matchers:
        if word == FLAVOR.word or not allow_matchers:
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
