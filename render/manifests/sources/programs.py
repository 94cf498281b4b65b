"""The programs that make objects of folders: where they are, or that there is none."""

from render.diagnostics.codes import HELM_MISSING, KUSTOMIZE_MISSING, Code
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests.boxed.program import ProgramBounds
from render.manifests.sources.intake import SourceIntake, room
from render.model.named_tuple import NamedTuple
from render.system.programs import processes


class FolderProgram(NamedTuple):
    """A program called *name*: *condition* says what a folder for it is; *missing* and *help* that it is not there."""

    name: str
    condition: str
    missing: Code
    help: str


KUSTOMIZE = FolderProgram(
    "kustomize",
    "has a kustomization",
    KUSTOMIZE_MISSING,
    "install it (https://kubectl.docs.kubernetes.io/installation/kustomize), name it with --kustomize PATH, or"
    " read the plain files with --kustomize never",
)
HELM = FolderProgram(
    "helm",
    "is a Helm chart",
    HELM_MISSING,
    "install it, name it with --helm PATH, or leave charts alone with --helm never",
)


def bounds(intake: SourceIntake) -> ProgramBounds:
    """What the next program is held to, whose output becomes part of *intake*."""
    most = room(intake.limits)
    return ProgramBounds(intake.limits, most, intake.reading.is_box_required, intake.boxes)


def binary(wanted: FolderProgram, setting: str, folder: str) -> str | Diagnostic:
    """The binary of *wanted* that *setting* (``auto``, a name or a path) means, or that there is none for *folder*."""
    program, where = processes.chosen(wanted.name, setting)
    if program:
        return program
    message = f"{folder} {wanted.condition}, and there is no {wanted.name} binary {where}"
    return wanted.missing.at(Location(file=folder), message, help=wanted.help)
