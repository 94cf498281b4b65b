"""Names of new definitions, which say what is in them."""

import hashlib
import json
from collections.abc import Iterator

from render.model import tree
from render.model.kinds import INSTANCETYPE
from render.model.regex import pattern
from render.model.tree import Tree

_DIGITS = 6
_LONGEST = 63
_NO_LABEL = pattern(r"[^a-z0-9]+")
#: Fields of a preference that its name mentions, and as what; None for their value.
_MENTIONED: tuple[tuple[tuple[str, ...], str | None], ...] = (
    (("devices", "preferredDiskBus"), None),
    (("devices", "preferredInterfaceModel"), None),
    (("firmware", "preferredEfi"), "efi"),
    (("firmware", "preferredUseBios"), "bios"),
    (("features", "preferredHyperv"), "hyperv"),
    (("devices", "preferredTPM"), "tpm"),
    (("cpu", "preferredCPUTopology"), None),
)
#: Fields of an instancetype, likewise.
_EXTRAS: tuple[tuple[tuple[str, ...], str | None], ...] = (
    (("cpu", "dedicatedCPUPlacement"), "dedicated"),
    (("cpu", "model"), None),
    (("memory", "hugepages"), "hugepages"),
    (("gpus",), "gpu"),
    (("hostDevices",), "devices"),
)


def name_of(word: str, content: Tree) -> str:
    """The name of a new definition of this *content*: its size or what it prefers, and a hash of all of it.

    A plain size needs no hash. *word* is that of the kind class.
    """
    words = list(dict.fromkeys(_words(word, content)))
    is_plain = content.keys() <= {"cpu", "memory"} and all(
        part.keys() <= {"guest"} for part in content.values()
    )
    if word != INSTANCETYPE.word or not is_plain:
        text = json.dumps(content, sort_keys=True).encode()
        words.append(hashlib.sha256(text).hexdigest()[:_DIGITS])
    name = "-".join(words if len(words) > 1 or is_plain else [word, *words])
    return name[-_LONGEST:].strip("-")


def _words(word: str, content: Tree) -> Iterator[str]:
    mentioned = _MENTIONED
    if word == INSTANCETYPE.word:
        yield f"cpu{tree.get(content, 'cpu', 'guest')}"
        yield _label(str(tree.get(content, "memory", "guest")))
        mentioned = _EXTRAS
    for path, text in mentioned:
        value = tree.get(content, *path)
        if value is not None and value is not False:
            yield text or _label(str(value))


def _label(text: str) -> str:
    return _NO_LABEL.sub("-", text.lower()).strip("-")
