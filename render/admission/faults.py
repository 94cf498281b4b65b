"""What several concerns refuse alike."""

from collections.abc import Iterable
from itertools import islice
from posixpath import normpath
from string import digits

from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, FixEdit, choice, remove, set_to
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.nearest import did_you_mean

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


_NAMED = 3
_COMPARED = 32
"""Names, so that many items without partners beside many others cost no more than their sum."""


def meant(name: str, free: Iterable[str], otherwise: str) -> str:
    """What to do about *name*, whose partner is missing: one of *free*, which have none either, else *otherwise*.

    What is counted (``disk-1``, ``disk-2``) is told apart on purpose.
    """
    counted = name.rstrip(digits)
    free = [each for each in islice(free, _COMPARED) if each.rstrip(digits) != counted]
    return did_you_mean(name, free, otherwise)


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
