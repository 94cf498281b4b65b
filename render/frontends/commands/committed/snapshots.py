"""One VM of an input as ``build`` prints it, and in the form that ``history`` compares."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.frontends import incomplete
from render.frontends.answer import RefusedError, refused
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.request.request import Request, again
from render.frontends.session import parts, render_part, written
from render.kubevirt import replicas
from render.model import naming, resource
from render.model.named_tuple import NamedTuple
from render.model.naming import KnownNames, fitting
from render.model.nearest import did_you_mean
from render.model.resource import POOL, Resource
from render.model.tree import Tree
from render.pipeline import Rendered
from render.pipeline.input import definitions
from render.report.findings import merge
from render.settings import Settings
from render.system.files import real_path

_BESIDE = ("KubeVirt", "PersistentVolumeClaim", "DataVolume")


def request_at(request: Request, path: str) -> Request:
    """*request* of *path*, with the configuration that counts there. Raises RefusedError where that is wrong."""
    at_path = again(request, path)
    if at_path.faults.diagnostics:
        raise refused(*at_path.faults.diagnostics, sources=at_path.faults.sources)
    return at_path


class Rendering(NamedTuple):
    """A VM at one time: what ``build`` prints for it, its VM form, and what decides what becomes of that.

    *objects* are the VM and the cluster's settings and claims; *settings* those to compare them with.
    """

    text: Tree | str
    vm: Tree
    objects: list[Tree]
    settings: Settings


def rendered(
    name: str, request: Request, work: Work, *, whole: bool = True, home: str = ""
) -> Rendering:
    """The VM *name* in what *request* says; *whole* and *home* as for `Snapshot.of`."""
    return Snapshot(request, work).of(name, whole=whole, home=home)


class Snapshot:
    """What *request* says at one time, each root rendered once for each form, however many VMs are looked at.

    *only*: the names of all that will be, if that is known.
    """

    def __init__(self, request: Request, work: Work, only: Sequence[str] = ()) -> None:
        self._parts = [_PartSnapshot(part, work, only) for part in parts(request, work)]

    def of(self, name: str, *, whole: bool = True, home: str = "") -> Rendering:
        """The VM *name*; *whole*: also its VM form. Raises RefusedError.

        *home*: the folder of the lock that is asked about; what stands there itself has the VM, whatever others have.
        """
        own = [part for part in self._parts if home and _is_in(part.part, home)]
        return self._holding(name, own or self._parts).of(name, whole=whole)

    def _holding(self, name: str, among: Sequence["_PartSnapshot"]) -> "_PartSnapshot":
        """Which of the parts *among* all has the VM *name*. Raises RefusedError."""
        if len(among) == 1:
            return among[0]
        found = [part for part in among if fitting(name, part.machines)]
        names = sorted({meant for part in found for meant in fitting(name, part.machines)})
        if len(names) > 1:
            raise _ambiguous(name, names)
        if len(found) > 1:
            message, cure = elsewhere_too("show", names[0], [each.part for each in found])
            raise refused(codes.USAGE.at(Location(), message, help=cure))
        if not found:
            raise self._missing(name)
        return found[0]

    def _missing(self, name: str) -> RefusedError:
        """That no part has a VM *name*, or why that cannot be told."""
        findings = incomplete.faults(each.part for each in self._parts)
        if findings:
            return RefusedError(merge(findings))
        return _no_machine(name, {known for part in self._parts for known in part.machines})


def elsewhere_too(command: str, vm: str, found: Sequence[FleetPart]) -> tuple[str, str]:
    """That several parts have the *vm*, and how *command* is told which of them is meant."""
    message = f"{vm} is in {', '.join(part.loaded.name for part in found)}"
    return message, f"name one of them: virt-render {command} {vm} {found[0].loaded.folder}"


def _is_in(part: FleetPart, folder: str) -> bool:
    """Whether *part* is what stands in *folder* itself."""
    return real_path(part.loaded.folder) == real_path(folder)


class _PartSnapshot:
    """A *part* at one time, with its *machines* by their names."""

    def __init__(self, part: FleetPart, work: Work, only: Sequence[str]) -> None:
        self.part = part
        self.machines = _machines(part.resources)
        if only:
            names = KnownNames(self.machines)
            wanted = {known for name in only for known in names.fitting(name)}
            part.loaded.keep(lambda document: _is_among(document.body, wanted))
        self._work = work
        self._forms: dict[str, _Form] = {}

    def of(self, name: str, *, whole: bool) -> Rendering:
        """The VM *name*; *whole*: also its VM form. Raises RefusedError."""
        settings = self.part.request.settings
        text, body = self._in_form(name, "", settings)
        source = settings._replace(emit="source", stored=False, pins="ignore", lock=None)
        if not whole:
            return Rendering(text, body, [], source)
        plain = settings._replace(
            emit="vm", stored=False, defaults="manifest", firmware_uuid="none"
        )
        _, vm = self._in_form(name, "vm", plain)
        supporting = [
            document.body
            for document in self.part.loaded.documents
            if document.body.get("kind") in _BESIDE
        ]
        return Rendering(
            text,
            vm,
            [_unstamped(vm), *supporting],
            source._replace(defaults="manifest", firmware_uuid="none"),
        )

    def _in_form(self, name: str, form: str, settings: Settings) -> tuple[Tree | str, Tree]:
        if form not in self._forms:
            outcome = render_part(self.part, self._work, settings=settings)
            self._forms[form] = _Form(self.part, outcome)
        return _selected(name, self.part, self.machines, self._forms[form])


class _Form:
    """What a part was rendered to in one form: found out once, however many of its VMs are looked at."""

    def __init__(self, part: FleetPart, outcome: Rendered) -> None:
        self.diagnostics = list(part.diagnostics)
        self._loaded = part.loaded
        self._outcome = outcome

    @cached_property
    def texts(self) -> Sequence[Tree | str]:
        """What is printed, an item an object."""
        return written(self._loaded, self._outcome)

    @cached_property
    def machines(self) -> dict[str, Resource]:
        """The machines that are printed, by their names."""
        bodies = enumerate(self._outcome.resources)
        return _machines(resource.from_body(body, index) for index, body in bodies)


def _is_among(body: Tree, wanted: Collection[str]) -> bool:
    """Whether *body* is no machine of its own, or one of those *wanted*."""
    machine = resource.from_body(body, 0)
    return not definitions.is_machine(machine) or naming.name_of(machine.written) in wanted


def _unstamped(vm: Tree) -> Tree:
    """*vm* without our own annotations: they say what it was made of, and nothing reads them."""
    metadata = vm.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if resource.OWN not in key}
    return {**vm, "metadata": {**metadata, "annotations": kept}}


def _selected(
    name: str, part: FleetPart, machines: Mapping[str, Resource], form: _Form
) -> tuple[Tree | str, Tree]:
    diagnostics = form.diagnostics
    wanted = fitting(name, machines)
    if len(wanted) > 1:
        raise _ambiguous(name, wanted)
    if wanted:  # what is wrong with another VM is not what was asked
        others = {machine.ref for machine in machines.values()} - {machines[wanted[0]].ref}
        diagnostics = [
            diagnostic for diagnostic in diagnostics if diagnostic.location.resource not in others
        ]
    if status(diagnostics) is not Exit.OK:
        raise RefusedError(merge(findings_of(part.loaded, diagnostics, part.request)))
    printed = form.machines
    forms = [each for vm in wanted for each in _forms(vm) if each in printed]
    meant = forms or fitting(name, printed)  # a template makes VMs that the input does not name
    if len(meant) > 1:
        raise _ambiguous(name, meant)
    if not meant:
        raise _no_machine(name, machines)
    resource = printed[meant[0]]
    return form.texts[resource.index], resource.body


def _machines(resources: Iterable[Resource]) -> dict[str, Resource]:
    """The machines among *resources* by their names, and the first that each pool and replica set makes."""
    machines = (
        resource
        for resource in map(replicas.machine_of, resources)
        if definitions.is_machine(resource)
    )
    return {
        naming.name_of(machine.written): machine for machine in machines if machine.written.name
    }


def _forms(vm: str) -> Iterator[str]:
    """The names that what becomes of *vm* may have: its own, or that of a VMI."""
    kind, _, rest = naming.whole(vm).partition("/")
    yield vm
    yield f"VirtualMachineInstance/{rest}{replicas.FIRST if kind == POOL else ''}"


def _no_machine(name: str, known: Iterable[str]) -> RefusedError:
    message, cure = f"no VirtualMachine {name}", did_you_mean(name, naming.spellings(known))
    return refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))


def _ambiguous(name: str, names: Sequence[str]) -> RefusedError:
    message, cure = naming.ambiguity(name, names)
    return refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
