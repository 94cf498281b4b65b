"""``virt-render verify``: see that what is applied was rendered."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.frontends.answer import Answer
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import is_repository, no_objects, parts
from render.legacy import machines
from render.manifests.relevance import KIND_OF_MACHINE
from render.model.api_version import version_meant
from render.model.counting import counted
from render.model.hints import Any
from render.model.kinds import FLAVOR
from render.model.regex import pattern
from render.model.release import NEWEST
from render.model.resource import HOLDER_GROUPS, VM, Resource, from_body
from render.model.tree import Tree
from render.pipeline import outcomes
from render.pipeline.input import definitions
from render.revisions import stamps
from render.schemas import served

_VERIFIED = "verified"
_WITHOUT = "without a stamp"
_MISSPELT = "of an API group that KubeVirt does not have"
_UNSTAMPED = "without a stamp: only the manifest decides about it, or build printed it with --emit vmi, expand, source"
_TEMPLATES = ("Template", "VirtualMachineTemplate")
#: What kustomize adds to the names of generated objects, after every function has run (api/hasher/hasher.go).
_HASH = pattern(r"-[2456789bcdfghkmt]{10}")
_HASHED = frozenset({"ConfigMap", "Secret"})
_NAMING = frozenset({"name", "secretName"})


def verify(request: Request, work: Work) -> Answer:
    """Say which machines were not rendered, or edited since; findings on stdout."""
    tally: Counter[tuple[str, str]] = Counter()
    inputs = parts(request, work)
    count = sum(len(part.loaded.documents) for part in inputs)
    work.begin("verify", f"verifying {counted(count, 'object')}")
    for part in inputs:
        resources = part.resources
        generated = _generated(resources)
        for resource in resources:
            part.diagnostics += examined(
                resource, tally, generated, allow_matchers=request.own["allow_matchers"]
            )
    if not request.settings.allow_empty and not any(map(_has_error, inputs)):
        if not count:
            return Answer(faults=[_no_objects(request, inputs)])
        nothing = _nothing(tally)
        if nothing is not None:
            return Answer(faults=[nothing])
    return Answer([_summary(tally)] if request.reporting.format == "text" else (), for_people=True)


def _no_objects(request: Request, inputs: Sequence[FleetPart]) -> Diagnostic:
    """That *inputs* are empty; of a repository nothing is read but what concerns KubeVirt."""
    is_whole = not all(is_repository(path, request) for path in request.paths or (".",))
    wanted = "Kubernetes object" if is_whole else "object of KubeVirt's"
    return no_objects(request, inputs[0].loaded, wanted)


def _nothing(tally: Counter[tuple[str, str]]) -> Diagnostic | None:
    """That nothing can be said of what may as well be meant as VMs; None where there is anything else."""
    if not tally or any(state != _MISSPELT for state, _ in tally):
        return None
    message = f"nothing was verified: what is in the input is {_MISSPELT}"
    cure = "write the API versions that the warnings name in the source, and run virt-render build"
    return codes.NO_OBJECTS.at(Location(), message, help=cure)


def _has_error(part: FleetPart) -> bool:
    return bool(status(part.diagnostics))


def _generated(resources: Iterable[Resource]) -> dict[str, str]:
    """The names that kustomize has given a hash, and what they were before."""
    names = (
        resource.name for resource in resources if not resource.group and resource.kind in _HASHED
    )
    return {name: name[:-11] for name in names if _HASH.fullmatch(name[-11:])}


def _unhashed(value: Any, generated: Mapping[str, str], key: str = "") -> Any:
    """*value* with the names that what it refers to had before it was *generated*."""
    if isinstance(value, dict):
        return {name: _unhashed(item, generated, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_unhashed(item, generated, key) for item in value]
    return generated.get(value, value) if key in _NAMING and isinstance(value, str) else value


def _is_genuine(vm: Tree, generated: Mapping[str, str]) -> bool:
    """Whether the spec of *vm* is the one that was stamped, but for the names of what is *generated*."""
    if stamps.is_genuine(vm) or not generated:
        return stamps.is_genuine(vm)
    return stamps.is_genuine({**vm, "spec": _unhashed(vm.get("spec"), generated)})


def examined(
    resource: Resource,
    tally: Counter[tuple[str, str]],
    generated: Mapping[str, str] = {},
    *,
    allow_matchers: bool,
) -> Iterator[Diagnostic]:
    """What is wrong with *resource*; a machine, and what holds some, is counted in *tally* by its state and kind.

    *generated*: names of Secrets and ConfigMaps that kustomize has given a hash, and what they were before.
    """
    unserved = _unserved(resource)
    if unserved is not None:
        yield unserved
        if version_meant(resource.body) and re.fullmatch(KIND_OF_MACHINE, resource.kind):
            tally[_MISSPELT, resource.kind] += 1
    elif HOLDER_GROUPS.get(resource.kind) == resource.group:
        yield from _replica_faults(resource, tally, generated, allow_matchers=allow_matchers)
    elif definitions.is_machine(resource):
        yield from _faults(resource, generated, allow_matchers=allow_matchers)
        tally[_state(resource), resource.kind] += 1
    elif resource.kind in _TEMPLATES and _makes_machines(resource):
        tally["", resource.kind] += 1


def _replica_faults(
    resource: Resource,
    tally: Counter[tuple[str, str]],
    generated: Mapping[str, str],
    *,
    allow_matchers: bool,
) -> Iterator[Diagnostic]:
    """What is wrong with what a pool or a replica set makes."""
    from render.kubevirt import replicas

    machine = replicas.machine_of(resource)
    tally[_state(machine), resource.kind] += 1
    if machine is not resource:
        for fault in _faults(machine, generated, allow_matchers=allow_matchers):
            yield replicas.relocated(resource, fault)


def _unserved(resource: Resource) -> Diagnostic | None:
    """That no KubeVirt of any supported release serves the kind of *resource*, which no rendering prints."""
    definition = outcomes.unserved(resource)
    if definition is not None:
        return codes.NOT_RENDERED.at(
            at(resource, ("apiVersion",)),
            f"{outcomes.gone(definition)}: it was not rendered",
            help="run virt-render build",
        )
    return served.check(resource, NEWEST)


def _makes_machines(resource: Resource) -> bool:
    """Whether *resource* is a template with a VM or a VMI in it."""
    from render.convert import templates

    if not templates.is_template(resource):
        return False
    objects = templates.filled(resource, lambda _: None, NEWEST)
    return any(definitions.is_machine(from_body(filled.body, 0)) for filled in objects)


def _state(resource: Resource) -> str:
    """What can be said of a machine in which nothing is wrong."""
    if stamps.matchers(resource.body):
        return "with matchers"
    return _VERIFIED if stamps.RENDERED in stamps.read(resource.body) else _WITHOUT


def _summary(tally: Counter[tuple[str, str]]) -> str:
    verified = {kind: count for (state, kind), count in tally.items() if state == _VERIFIED}
    done = [counted(count, kind) for kind, count in sorted(verified.items())]
    text = f"{', '.join(done) or counted(0, VM)} verified"
    others = [
        f"{counted(tally[state, kind], kind)} {state}".rstrip()
        for state, kind in sorted(tally, key=lambda key: (key[0] == "", key))
        if state != _VERIFIED
    ]
    if not others:
        return f"{text}\n"
    reason = f"{_UNSTAMPED}\n" if any(state == _WITHOUT for state, _ in tally) else ""
    return f"{text}; not looked at: {', '.join(others)}\n{reason}"


def _faults(
    resource: Resource, generated: Mapping[str, str], *, allow_matchers: bool
) -> Iterator[Diagnostic]:
    """What is wrong with a machine that is about to be applied, beside what is *generated*: the names of before."""
    body = resource.body
    if machines.age(resource):
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
    if not matchers and stamps.read(body) and not _is_genuine(body, generated):
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
