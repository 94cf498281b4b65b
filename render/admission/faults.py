"""What several concerns refuse alike."""

from collections.abc import Iterable
from itertools import islice
from posixpath import normpath

from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, FixEdit, choice, remove, set_to
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.nearest import is_slip

PATH_HELP = "write the whole path of a file, from / on, without . and .."


def file_path(field: str, path: str) -> str:
    """Why *path* names no file of a container image, in KubeVirt's words, with *field* in them; ``""`` if it does.

    Upstream: ValidatePath in pkg/storage/admitters/disks.go.
    """
    if path == "/":
        return f"{field} must not point to root"
    if normpath("/" + path.lstrip("/")) != path.removesuffix("/"):
        return f"{field} must be an absolute path to a file without relative components"
    return ""


def boot_order(device: FieldPath, place: FieldPath) -> Cause:
    """That the *device*, as KubeVirt names it, has the boot order 0 at *place*.

    Upstream: validateBootOrderValue in pkg/storage/admitters/disks.go, validateInterfaceBootOrder in
    admitters/vmi-create-admitter.go.
    """
    return Cause(
        "boot-order/positive",
        (*device, "bootOrder"),
        f"{fieldpath.text(device)} must have a boot order > 0, if supplied",
        "count boot orders from 1, or leave it out",
        place=place,
        fixes=(Fix("leave the boot order out", (remove(place),)),),
    )


NAMELESS = "give it a name"
"""How the cure begins for what has no name."""
_NAMED = 3
_COMPARED = 32
"""Names, so that many items without partners beside many others cost no more than their sum."""


def near(name: str, free: Iterable[str]) -> str:
    """That one of the first *free* names of which *name* is a slip, ``""`` if there is none."""
    return next((other for other in islice(free, _COMPARED) if is_slip(name, other)), "")


def misnamed(name: str, free: Iterable[str], otherwise: str) -> str:
    """The cure for *name*, which nothing has: one of the *free* ones of which it is a slip, else *otherwise*."""
    if not name:
        return NAMELESS
    meant = near(name, free)
    return f"did you mean {meant}?" if meant else otherwise


def unpaired(
    item: FieldPath, name: str, free: Iterable[str], what: str, *added: tuple[str, FixEdit]
) -> tuple[Fix, ...]:
    """What may be done about the *item* of this *name* whose partner is missing: the *free* ones have none either.

    Of many *free* ones the first are compared with it.
    """
    meant = sorted(
        islice(free, _COMPARED),
        key=lambda candidate: -sum(a == b for a, b in zip(candidate, name, strict=False)),
    )
    names = (
        (f"name it {candidate}", set_to((*item, "name"), candidate)) for candidate in meant[:_NAMED]
    )
    return choice(*names, *added, (f"drop the {what}", remove(item)))
