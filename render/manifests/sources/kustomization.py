"""Kustomizations: built by kustomize, what it prints read as documents of the files that they come from."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import objects
from render.manifests.blame import origins, targets
from render.manifests.blame.patches import PatchedBuild
from render.manifests.boxed import kustomize
from render.manifests.boxed.kustomize import KustomizeBuild
from render.manifests.documents import Documents
from render.manifests.kustomization import GATHERING, LOCK, AddedPatch, Reach, find, load, reach
from render.manifests.sources import programs
from render.manifests.sources.intake import ProgramOutput, ReadOutput, SourceIntake, read_nothing
from render.manifests.uses import kustomize_edit
from render.manifests.uses.substitution import envsubst
from render.manifests.uses.substitution.envsubst import SubstitutionError, SubstitutionLimitError
from render.manifests.uses.substitution.substituted import SubstitutedBuild, place_of_line, unset
from render.manifests.uses.use import FolderUse, KustomizationEdit, mappings
from render.model.hints import TYPE_CHECKING
from render.model.regex import pattern
from render.model.resource import from_body, tells_release
from render.model.tree import get
from render.system import files
from render.system.files import boundary, real_path
from render.system.programs import processes
from render.yaml import writer
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

if TYPE_CHECKING:
    from render.system.programs.processes import Steps

_OF_METADATA = frozenset(
    {
        "namespace",
        "nameprefix",
        "namesuffix",
        "labels",
        "commonlabels",
        "commonannotations",
        "buildmetadata",
    }
)
NOTHING: Mapping[str, bytes] = MappingProxyType({})
_SEPARATOR = "\n---\n"
_OURS = "kubevirt.io"
_UNREAD_EXPRESSION = "close the expression, or write $${ where it is meant for the guest"
_SWITCH = "kustomize.toolkit.fluxcd.io/substitute"


def building(intake: SourceIntake, top: str, into: Documents) -> "Steps[ReadOutput]":
    """Run kustomize on the folder *top*; the answer reads what it printed into *into*."""
    if intake.is_repeated(real_path(top)):
        return read_nothing
    if not into.documents:
        into.folder, into.is_built = top, True
    return (yield from _building(intake, top, into))


def _building(
    intake: SourceIntake, top: str, into: Documents, use: FolderUse | None = None
) -> "Steps[ReadOutput]":
    edit = use.edit if use is not None else None
    reached = _reach(intake, top, edit.components if edit is not None else ())
    into.bases = frozenset(reached.folders)
    for file in (*reached.kustomizations, *reached.resources, *reached.others):
        into.data.add_file(file, intake.limits.file_bytes)
    changed: Mapping[str, bytes] = {}
    if use is not None and edit is not None:
        changed = _edited(use.document, edit, top, reached, intake.limits)
    if reached.diagnostics:
        return lambda: _read_built(intake, top, reached, reached.diagnostics, into, use)
    key = programs.KUSTOMIZE, top, tuple(changed.items())
    output = yield from intake.build_once(key, lambda: _built(intake, top, reached, changed))
    return lambda: _read_built(intake, top, reached, output(), into, use)


def _edited(
    user: Document, edit: KustomizationEdit, top: str, reached: Reach, limits: Limits
) -> Mapping[str, bytes]:
    """What the kustomization of *top* says after the *edit* of *user*, by its resolved name.

    *reached* learns what that adds.
    """
    file = find(top)
    documents = load(file, limits).documents if file else []
    if file is None or len(documents) != 1:
        return {}  # kustomize says why
    before, after = edit.affixes()
    reached.prefixes.append(before)
    reached.suffixes.append(after)
    reached.others += edit.files
    unfit = (files.unfit(file, limits.file_bytes) for file in edit.files)
    reached.diagnostics += filter(None, unfit)
    body = kustomize_edit.edited(documents[0].body, edit, top)
    reached.edited = body
    if edit.place:
        reached.patches += (
            AddedPatch(
                user.origin,
                (*edit.place, *path),
                dict(entry),
                is_written=user.before is None or get(user.before, *edit.place, *path) == entry,
            )
            for path, entry in mappings(edit.options, "patches")
        )
    return {real_path(file): writer.dump(body).encode()}


def using(intake: SourceIntake, use: FolderUse, into: Documents) -> "Steps[ReadOutput]":
    """Run kustomize on the folder of *use*; the answer substitutes variables in what it printed, and reads that."""
    into.is_built = True
    return (yield from _building(intake, use.folder, into, use))


def built_to(intake: SourceIntake, top: str) -> bytes | None:
    """All that kustomize makes of the folder *top*, None where it makes nothing."""
    reached = _reach(intake, top)
    if intake.reading.kustomize == "never" or reached.diagnostics:
        return None

    output = processes.finish(_built(intake, top, reached))
    return output if isinstance(output, bytes) else None


def _reach(intake: SourceIntake, top: str, components: Sequence[str] = ()) -> Reach:
    """What the kustomization in *top* reads, with *components*, and what speaks against building it."""
    return reach(
        top,
        intake.limits,
        allow_remote=intake.reading.allow_remote,
        bounds=boundary(real_path(top)),
        known=intake.kustomizations,
        components=components,
    )


def is_for_helm(intake: SourceIntake, tried: Documents) -> bool:
    """Whether the kustomization *tried* is one that others build, with helm, and that this is no error."""
    wants = any(map(kustomize.wants_helm, tried.unbuilt))
    return wants and (intake.is_lenient or _is_without_vms(intake, tried))


def is_for_plugin(intake: SourceIntake, tried: Documents) -> bool:
    """Whether the kustomization *tried* is one that others build, with programs of their own, and holds no VM."""
    return any(map(kustomize.wants_plugin, tried.unbuilt)) and _is_without_vms(intake, tried)


def is_of_elsewhere(intake: SourceIntake, tried: Documents) -> bool:
    """Whether the kustomization *tried* only wants for a remote base, and no file of its own has a VM."""
    is_remote = {fault.code for fault in tried.unbuilt} == {codes.REMOTE_BASE.number}
    return is_remote and _is_without_vms(intake, tried)


def read_without_remotes(intake: SourceIntake, tried: Documents) -> None:
    """Read into *tried*, which wants for a remote base, the files of its own that it hands over as they are.

    Those with settings of the cluster are, too, where it says more of metadata: nobody looks for them by that. What an
    object of Argo CD or Flux fills in is left alone.
    """
    reached = intake.reach(tried.folder)
    fields = {
        field.casefold()
        for file in reached.kustomizations
        for document in intake.kustomizations.load(file, intake.limits).documents
        for field in document.body
    }
    if tried.user or not fields <= GATHERING | _OF_METADATA:
        return
    local = Documents()
    for file in reached.resources:
        if intake.texts.any([file]):
            intake.file(file, local, named=False)
    tried.documents += (
        document
        for document in local.documents
        if fields <= GATHERING or tells_release(from_body(document.body, 0))
    )
    if tried.documents:
        tried.diagnostics, tried.unbuilt = [], []


def _is_without_vms(intake: SourceIntake, tried: Documents) -> bool:
    """Whether no file of *tried* has a VM, and nothing pins what it was built to once."""
    if not intake.is_lenient and os.path.lexists(os.path.join(tried.folder, LOCK)):
        return False
    return intake.scope is not None and not intake.texts.any_of_machines(tried.data.files())


def _built(
    intake: SourceIntake, top: str, reached: Reach, changed: Mapping[str, bytes] = NOTHING
) -> "Steps[ProgramOutput]":
    """What kustomize makes of the folder *top*, with what *changed* files say, or why nothing."""
    reading = intake.reading
    program = programs.binary(programs.KUSTOMIZE, reading.kustomize, top)
    if isinstance(program, Diagnostic):
        return [program]
    remote, lock = reading.allow_remote, reading.lock
    build = KustomizeBuild(
        top, program, reached, programs.bounds(intake), remote, lock, changed=changed
    )
    steps = kustomize.building(build)
    if reading.outcomes is not None:
        steps = reading.outcomes.kustomizing(build, intake.kustomizations, steps)
    output = yield from steps
    return [output] if isinstance(output, Diagnostic) else output


def _read_built(  # noqa: PLR0913, PLR0917 - what was built, by whom, and where it goes
    intake: SourceIntake,
    top: str,
    reached: Reach,
    output: ProgramOutput,
    into: Documents,
    use: FolderUse | None,
) -> None:
    if isinstance(output, list):
        output = _unreadable(reached, output, intake.limits) or output
        into.diagnostics.extend(output)
        into.unbuilt.extend(output)
        return
    output = intake.cut(output)
    display_name = f"{top} (kustomize build{f', {use.title}' if use else ''})"
    printed = _substituted(use, output, reached, into, intake.limits) if use else output
    if printed is not None and intake.fits(display_name, printed, into):
        documents = _documents(intake, display_name, printed, reached, into)
        before = _before(documents, output, display_name, intake.limits) if use else documents
        traced = origins.trace(top, before, reached, intake.limits, intake.sources)
        into.documents.extend(
            document._replace(
                origin=traced_document.origin,
                printed=document.origin,
                before=traced_document.before,
            )
            for document, traced_document in zip(documents, traced, strict=True)
        )
        into.left_out += origins.left_out(traced, reached, intake.limits, intake.sources)
        into.diagnostics += targets.unmatched(
            documents, reached, intake.limits, intake.kustomizations
        )
        build = PatchedBuild(into.documents, display_name, reached, intake.limits)
        into.patched.append(build)
        if use and use.variables:
            into.substituted.append(
                SubstitutedBuild(into.documents, display_name, output, use.variables, intake.limits)
            )
    intake.lock_of(top, into)


def _documents(
    intake: SourceIntake, display_name: str, printed: bytes, reached: Reach, into: Documents
) -> list[Document]:
    """Those documents of what was *printed* that count, and what is wrong, by the files if that is known."""
    known = len(into.diagnostics)
    documents = intake.printed(display_name, printed, into)
    into.diagnostics[known:] = _in_files(into.diagnostics[known:], reached, intake.limits)
    return documents


#: What kustomize says of files with these faults.
_WORDS_OF = {
    codes.DUPLICATE_KEY.number: pattern(r"mapping key .* already defined"),
    codes.NOT_AN_OBJECT.number: pattern(
        r"missing Resource metadata|missing metadata\.|missing kind in object|kind is missing"
        r"|no matches for Id"
    ),
}


def _unreadable(reached: Reach, failures: Sequence[Diagnostic], limits: Limits) -> list[Diagnostic]:
    """Why files that a kustomization reads cannot be read, each at its line, for all that take it along.

    kustomize says it, in the *failures*, in the words of each folder on the way there.
    """
    words = "\n".join(failure.message for failure in failures)
    told = {code for code, expression in _WORDS_OF.items() if expression.search(words)}
    return [
        codes.KUSTOMIZE_FAILED.at(
            fault.location,
            f"kustomize cannot read {fault.location.file}: {fault.message}",
            *fault.related,
            help=fault.help,
        )
        for fault in _faults(reached, {codes.YAML_SYNTAX.number, *told}, limits)
    ]


def _faults(reached: Reach, wanted: Collection[str], limits: Limits) -> Iterator[Diagnostic]:
    """What is wrong with the files of *reached*, of the *wanted* codes."""
    for file in dict.fromkeys(reached.resources):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, Diagnostic):
            continue
        _, faults = objects.sift(read(data, file, limits), data, file, named=True)
        yield from (fault for fault in faults if fault.code in wanted)


def _in_files(faults: Sequence[Diagnostic], reached: Reach, limits: Limits) -> Sequence[Diagnostic]:
    """The *faults* of what was built of *reached*, at the files that are no objects, if these are as many."""
    lacking = [fault for fault in faults if fault.code == codes.NOT_AN_OBJECT.number]
    found = [*_faults(reached, {codes.NOT_AN_OBJECT.number}, limits)] if lacking else []
    if not found or len(found) != len(lacking):
        return faults
    return [*found, *(fault for fault in faults if fault.code != codes.NOT_AN_OBJECT.number)]


def _substituted(
    use: FolderUse, output: bytes, reached: Reach, into: Documents, limits: Limits
) -> bytes | None:
    """*output* with the variables of *use*; None where Flux would refuse it, which *into* says then.

    Of what becomes larger than a file may be there is no more than shows it.
    """
    variables = use.variables
    if variables is None or not variables.values:
        return output
    pieces: list[str] = []
    most = limits.file_bytes
    for text in output.decode("utf-8", "replace").split(_SEPARATOR):
        if most < 0:
            break
        piece = text
        if "$" in text and not _is_disabled(text, limits):
            try:
                piece = envsubst.substitute(
                    text, variables.values, is_complete=variables.is_complete, most=most
                )
            except SubstitutionError as error:
                into.diagnostics.append(_refused(use, text, error, reached, limits))
                what = "kustomization that cannot be filled in"
                places = use.folder, use.document.origin.file
                into.unseen.add(what, *places, which=use.title)
                return None
            if _OURS in text:
                into.diagnostics += unset(text, use, reached, limits)
        pieces.append(piece)
        most -= len(piece)
    return _SEPARATOR.join(pieces).encode()


def _refused(
    use: FolderUse, text: str, error: SubstitutionError, reached: Reach, limits: Limits
) -> Diagnostic:
    """That for the *error* Flux substitutes nothing in *text*, at the file that has what is wrong, if that is known."""
    wrong = None if error.start is None else text[error.start :]
    place = place_of_line(wrong, reached, limits) if wrong else None
    origin = use.document.origin
    place = place or Location(file=origin.file, line=origin.line)
    message = f"{use.title} cannot be substituted in {use.folder}: {error}"
    if isinstance(error, SubstitutionLimitError):
        return codes.LIMIT_EXCEEDED.at(place, message)
    return codes.KUSTOMIZE_FAILED.at(place, message, help=_UNREAD_EXPRESSION if wrong else "")


def _is_disabled(text: str, limits: Limits) -> bool:
    """Whether the object in *text* asks for being left as it is."""
    if _SWITCH not in text:
        return False
    bodies = [document.body for document in read(text.encode(), "", limits).documents]
    return any(
        get(body, "metadata", key, _SWITCH) == "disabled"
        for body in bodies
        for key in ("labels", "annotations")
    )


def _before(
    documents: Sequence[Document], output: bytes, display_name: str, limits: Limits
) -> list[Document]:
    """What each of *documents* was in the *output* before anything was substituted."""
    known = {
        document.origin[1:3]: document for document in read(output, display_name, limits).documents
    }
    return [known.get(document.origin[1:3], document) for document in documents]
