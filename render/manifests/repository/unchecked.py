"""VMs that nobody looked at, since what they stand in cannot be read, or is built to nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.documents import Documents
from render.model.regex import pattern
from render.model.resource import MACHINES
from render.model.tree import Tree
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits

_KINDS = "|".join(sorted(MACHINES))
#: The kind of a VM where the text of an object says it: in a block at the margin, in braces anywhere.
_IN_BLOCK = pattern(rf"""(?m)^["']?kind["']?[ \t]*:[ \t]*["']?(?:{_KINDS})["']?[ \t]*(?:#|\r?$)""")
_IN_BRACES = pattern(rf"""\bkind["']?\s*:\s*["']?(?:{_KINDS})["']?\s*[,}}]""")


def machines_by_file(
    inputs: Iterable[tuple[Documents, Limits]], machines_in: Callable[[Tree], int]
) -> Mapping[str, int]:
    """How many VMs stand in each file of *inputs*, by its resolved name, that cannot be read or is built to nothing.

    *machines_in* says how many an object is.
    """
    counts: dict[str, int] = {}
    for loaded, limits in inputs:
        found = [name for name in loaded.unread_files if name not in loaded.unreported]
        if loaded.unbuilt and kustomization.find(loaded.folder) is not None:
            found += kustomization.reach(loaded.folder, limits, allow_remote=True).resources
        read_already = Counter(
            document.origin.file for document in loaded.documents if machines_in(document.body)
        )
        for name in found:
            counts[real_path(name)] = _written(name, limits) - read_already[name]
    return counts


def _written(name: str, limits: Limits) -> int:
    """How many VMs the text of the file *name* speaks of, which nobody reads twice: it may be refused for its size."""
    data = files.read(name, name, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return 0
    text = data.decode(errors="replace")
    expression = _IN_BRACES if text.lstrip()[:1] in ("{", "[") else _IN_BLOCK
    return sum(1 for _ in expression.finditer(text))
