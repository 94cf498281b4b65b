"""One VM of an input as ``build`` prints it, and as it starts: what ``show`` prints and ``history`` compares."""

from collections.abc import Sequence
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.exits import Exit, status
from render.frontends.options import Request
from render.frontends.pin_commands import fitting
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.run import load, render_loaded, written
from render.frontends.streams import standard_input
from render.manifests.sources import Loaded
from render.model import resource
from render.model.cluster_config import ClusterConfig, from_kubevirt
from render.model.tree import Tree
from render.report.findings import Finding, find, merge
from render.report.places import Sources

_KINDS = ("VirtualMachine", "VirtualMachineInstance")


class RefusedError(Exception):
    """The command ends with these findings."""

    def __init__(self, findings: Sequence[Finding], exit_: Exit) -> None:
        super().__init__()
        self.findings = findings
        self.exit = exit_


def refuse(fault: Diagnostic) -> RefusedError:
    """What to raise for one finding without a place."""
    return RefusedError(merge(find([fault], Sources())), status([fault]))


class Rendering(NamedTuple):
    """A VM at one time: what ``build`` prints for it, its VM form and the VMI that it starts."""

    text: Tree | str
    vm: Tree
    vmi: Tree
    live_update: bool


def rendered(name: str, asked: Request, *, whole: bool = True) -> Rendering:
    """The VM *name* in what *asked* says; *whole*: also its VM form and its VMI."""
    loaded = load(asked, Work(), standard_input())  # it is only a step of what is being done
    text, body = _one(name, loaded, asked)
    if not whole:
        return Rendering(text, body, {}, live_update=True)
    plain = asked.settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none"
    )
    _, vm = _one(name, loaded, asked._replace(settings=plain))
    _, vmi = _one(name, loaded, asked._replace(settings=plain._replace(emit="vmi")))
    return Rendering(text, vm, vmi, live_update=_is_live_updated(loaded, asked))


def _is_live_updated(loaded: Loaded, asked: Request) -> bool:
    """Whether the cluster's rollout strategy is its default."""
    bodies = [d.body for d in loaded.documents if d.body.get("kind") == "KubeVirt"]
    body = bodies[0] if bodies else asked.settings.cluster_config
    return body is None or from_kubevirt(body).rollout_strategy == ClusterConfig().rollout_strategy


def _one(name: str, loaded: Loaded, asked: Request) -> tuple[Tree | str, Tree]:
    found, diagnostics = render_loaded(loaded, asked)
    if status(diagnostics) is not Exit.OK:
        raise RefusedError(merge(findings_of(loaded, diagnostics, asked)), status(diagnostics))
    vms = {}
    for text, body in zip(written(loaded, found), found.resources, strict=True):
        one = resource.from_body(body, 0)
        if one.group == resource.KUBEVIRT and one.kind in _KINDS:
            vms[f"{one.namespace}/{one.name}" if one.namespace else one.name] = (text, body)
    meant = fitting(name, vms)
    if len(meant) != 1:
        message = f"{name} may be {' or '.join(meant)}" if meant else f"no VirtualMachine {name}"
        raise refuse(codes.HISTORY_UNREADABLE.at(Location(), message))
    return vms[meant[0]]
