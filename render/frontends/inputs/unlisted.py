"""Claims that VMs of a kustomization need, and that stand beside it in a file that it does not list."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from render.diagnostics.codes import REFERENCE
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.frontends.request.request import ReadingRequest
from render.manifests import kustomization
from render.manifests.discover import YAML, tidy
from render.manifests.documents import Documents
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import KUBEVIRT, Origin, Resource, ResourceRef, from_body
from render.resolve.references import CLAIMS, claims_of, named_in
from render.system import files
from render.system.files import real_path
from render.yaml.reader import Document, read

_SPEC = ("spec", "template", "spec")
_WORDS = (b"PersistentVolumeClaim", b"DataVolume")


def unlisted_claims(
    loaded: Documents, elsewhere: Iterable[Document], how: ReadingRequest
) -> Iterator[Diagnostic]:
    """What VMs of the kustomization *loaded* miss, *elsewhere* too, and what is in a file that it leaves out."""
    if not loaded.is_built:
        return
    own = [from_body(document.body, index) for index, document in enumerate(loaded.documents)]
    machines = [each for each in own if (each.group, each.kind) == (KUBEVIRT, "VirtualMachine")]
    known = {each.name for each in own} | {from_body(each.body, 0).name for each in elsewhere}
    known.update(name for machine in machines for name in claims_of(machine))
    missed = [
        (machine, path, name)
        for machine in machines
        for path, name in _claims_named(machine)
        if name not in known
    ]
    places = _claims_beside(loaded, {name for _, _, name in missed}, how) if missed else {}
    others = _named_elsewhere(loaded, places, how) if places else set()
    for machine, path, name in missed:
        if name in others:
            continue
        for ref, origin in places.get(name, ()):
            if not (ref.namespace and machine.namespace and ref.namespace != machine.namespace):
                yield _unlisted(machine, path, ref, origin)


def _claims_named(machine: Resource) -> Iterator[tuple[FieldPath, str]]:
    spec = tree.get(machine.body, *_SPEC)
    for path, name, field in named_in(spec) if isinstance(spec, dict) else ():
        if field.target.kinds == CLAIMS:
            yield (*_SPEC, *path), name


def _claims_beside(
    loaded: Documents, names: Collection[str], how: ReadingRequest
) -> Mapping[str, Sequence[tuple[ResourceRef, Origin]]]:
    """The claims called as one of *names* in files beside the kustomizations of *loaded* that these do not read."""
    words = [name.encode() for name in names]
    found: dict[str, list[tuple[ResourceRef, Origin]]] = {}
    for file in _unread_beside(loaded):
        is_left_out = how.layout.exclude.match(file)
        data = b"" if is_left_out else files.read(file, file, how.limits.file_bytes)
        if not isinstance(data, bytes) or not any(word in data for word in _WORDS):
            continue
        if not any(word in data for word in words):
            continue
        for document in read(data, tidy(os.path.relpath(file)), how.limits).documents:
            claim = from_body(document.body, 0)
            if (claim.group, claim.kind) in CLAIMS and claim.name in names:
                found.setdefault(claim.name, []).append((claim.ref, document.origin))
    return found


def _unread_beside(loaded: Documents) -> list[str]:
    """The files beside the kustomizations of *loaded* that these do not read: to resolve a name takes a while."""
    called = {*map(os.path.abspath, loaded.files)}
    folders = sorted({real_path(loaded.folder), *loaded.bases})
    beside = [file for file in chain(*map(_manifests_in, folders)) if file not in called]
    read_already = {*map(real_path, loaded.files)} if beside else set[str]()
    return [file for file in beside if file not in read_already]


def _named_elsewhere(
    loaded: Documents,
    places: Mapping[str, Sequence[tuple[ResourceRef, Origin]]],
    how: ReadingRequest,
) -> set[str]:
    """Those of the claims *places* that another folder of the repository may have: by a manifest, or values of a chart.

    What has no word of KubeVirt's nobody has read.
    """
    folder = real_path(loaded.folder)
    beside = {folder, *loaded.bases}
    found: set[str] = set()
    for around, folders, names in files.walk(files.repository(folder) or real_path(os.curdir)):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for name in names if around not in beside else ():
            file = os.path.join(around, name)
            if not name.endswith(YAML) or how.layout.exclude.match(file):
                continue
            data = files.read(file, file, how.limits.file_bytes)
            if not isinstance(data, bytes):
                continue
            if any(word in data for word in _WORDS) or b"apiVersion" not in data:
                found.update(claim for claim in places.keys() - found if claim.encode() in data)
    return found


def _manifests_in(folder: str) -> Iterator[str]:
    """The files of *folder* that may hold objects and are none of kustomize's own."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # nobody may look into it
        return
    for name in names:
        file = os.path.join(folder, name)
        if name.endswith(YAML) and name not in kustomization.FILES and os.path.isfile(file):
            yield file


def _unlisted(machine: Resource, path: FieldPath, ref: ResourceRef, origin: Origin) -> Diagnostic:
    return REFERENCE.at(
        at(machine, path),
        f"{ref.kind} {ref.name} stands in {origin.file}, which the kustomization there does not list",
        Related(f"{ref} is here", Location(file=origin.file, line=origin.line, column=1)),
        help=f"add {os.path.basename(origin.file)} to its resources; the VM waits for the claim until it is there",
        severity=Severity.WARNING,
    )._replace(check="reference/unlisted")
