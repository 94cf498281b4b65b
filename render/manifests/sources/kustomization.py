"""Kustomizations: built by kustomize, what it prints read as documents of the files that they come from."""

import os
from typing import TYPE_CHECKING

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomize, origins, patches
from render.manifests.discover import boundary
from render.manifests.documents import Documents
from render.manifests.kustomization import Reach, reach
from render.manifests.sources.intake import ReadOutput, SourceIntake, read_nothing, room

if TYPE_CHECKING:
    from render.system.processes import Steps


def building(intake: SourceIntake, top: str, into: Documents) -> "Steps[ReadOutput]":
    """Run kustomize on the folder *top*; the answer reads what it printed into *into*."""
    if intake.is_repeated(os.path.realpath(top)):
        return read_nothing
    if not into.documents:
        into.folder, into.is_built = top, True
    reached = reach(
        top,
        intake.limits,
        allow_remote=intake.reading.allow_remote,
        bounds=boundary(os.path.realpath(top)),
        known=intake.kustomizations,
    )
    into.bases = frozenset(reached.folders)
    for file in (*reached.kustomizations, *reached.resources, *reached.others):
        into.data.add_file(file, intake.limits.file_bytes)
    output = reached.diagnostics or (yield from _built(intake, top, reached))
    return lambda: _read_built(intake, top, reached, output, into)


def is_for_helm(intake: SourceIntake, tried: Documents) -> bool:
    """Whether the kustomization *tried* is one that others build, with helm, and that this is no error."""
    return intake.is_lenient and any(map(kustomize.wants_helm, tried.unbuilt))


def is_of_elsewhere(intake: SourceIntake, tried: Documents) -> bool:
    """Whether the kustomization *tried* only wants for a remote base, and no file of its own has a VM."""
    is_remote = {fault.code for fault in tried.unbuilt} == {codes.REMOTE_BASE.number}
    files = tried.data.files()
    return intake.is_lenient and is_remote and not intake.texts.any_of_machines(files)


def _built(intake: SourceIntake, top: str, reached: Reach) -> "Steps[bytes | list[Diagnostic]]":
    """What kustomize makes of the folder *top*, or why nothing."""
    reading = intake.reading
    program = kustomize.binary(reading.kustomize, top)
    if isinstance(program, Diagnostic):
        return [program]
    output = yield from kustomize.building(
        top,
        program,
        reached,
        intake.limits,
        most=room(intake.limits, intake.total),
        allow_remote=reading.allow_remote,
        is_box_required=reading.is_box_required,
        lock=reading.lock,
        beside=intake.beside,
    )
    return [output] if isinstance(output, Diagnostic) else output


def _read_built(
    intake: SourceIntake,
    top: str,
    reached: Reach,
    output: bytes | list[Diagnostic],
    into: Documents,
) -> None:
    if isinstance(output, list):
        into.diagnostics.extend(output)
        into.unbuilt.extend(output)
        return
    output = intake.cut(output)
    shown = f"{top} (kustomize build)"
    if intake.fits(shown, output, into):
        documents = intake.printed(shown, output, into)
        into.documents.extend(origins.trace(top, documents, reached, intake.limits))
        into.blamed.append(patches.blame(into.documents, shown, reached, intake.limits))
    intake.lock_of(top, into)
