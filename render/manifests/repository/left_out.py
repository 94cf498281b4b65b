"""What a sparse checkout leaves out of the work tree: what a VM misses may stand there, as the index has it."""

import os
from collections.abc import Iterator, Mapping

from render.manifests.discover import YAML, tidy
from render.manifests.documents import UnreadHolder
from render.model.hints import Any
from render.model.resource import from_body
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import read

#: Modes of files: a link leads to another one, which is left out too or here.
_FILES = (b"100644", b"100755")


class LeftOut:
    """The manifests that sparse checkouts leave out, by repository; read once something is missed."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, bytes | None]] = {}

    def holder(self, folder: str, name: str, limits: Limits) -> UnreadHolder:
        """The file that may hold the object *name* and is not in the repository around *folder*; none if none may."""
        import shlex

        top = files.repository(real_path(folder))
        if not top:
            return UnreadHolder()
        if top not in self._known:
            self._known[top] = dict(_texts(top, limits))
        for file, text in self._known[top].items():
            if text is None or (name.encode() in text and _has(name, text, limits)):
                display_name = tidy(os.path.relpath(os.path.join(top, file)))
                cure = f"take that along: git sparse-checkout add {shlex.quote(os.path.dirname(file) or file)}"
                words = f"{display_name}, which the sparse checkout leaves out"
                return UnreadHolder(words, cure=cure)
        return UnreadHolder()


def _texts(top: str, limits: Limits) -> Iterator[tuple[str, bytes | None]]:
    """The manifests that the repository *top* has in its index alone; None for what is missing there, or too much."""
    from render.system import git

    try:
        found = [
            (os.fsdecode(name), id_)
            for mode, id_, name in git.skipped(top)
            if mode in _FILES and os.fsdecode(name).endswith(YAML)
        ]
        left = limits.total_bytes
        small: list[tuple[str, bytes]] = []
        for (name, id_), size in zip(found, git.sizes(top, [id_ for _, id_ in found]), strict=True):
            number = int(size) if size.isdigit() else limits.file_bytes + 1
            if number > min(left, limits.file_bytes):
                yield name, None
                continue
            left -= number
            small.append((name, id_))
        texts = git.objects(top, [id_ for _, id_ in small]) if small else ()
        yield from ((name, text) for (name, _), text in zip(small, texts, strict=True))
    except git.GitError:  # nobody knows of a sparse checkout then
        return


def _has(name: str, text: bytes, limits: Limits) -> bool:
    """Whether an object is called *name* in *text*, or that cannot be read."""
    contents = read(text, "", limits)
    is_unread = any(fault.is_error for fault in contents.diagnostics)
    return is_unread or any(_is_called(name, document.body) for document in contents.documents)


def _is_called(name: str, body: Any) -> bool:
    return from_body(body, 0).name == name
