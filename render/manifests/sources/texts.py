"""Files, each looked at once: whether an object of KubeVirt's may stand in them, or come of them."""

import os
import re
from collections.abc import Iterable, Iterator

from render.manifests import kustomization, relevance
from render.manifests.relevance import KIND_OF_MACHINE
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits

_ANY_VERSION = rb"apiVersion[\"']?\s*:[^\n]{0,200}\{\{"
#: Fields that a template of Helm's puts together, other than by a helper, as charts for several versions do.
_COMPOSED = rb"%b[\"']?\s*:[^\n]{0,200}\{\{(?!-?\s*(?:include|template)\s)"
_COMPOSED_VERSION, _COMPOSED_KIND = _COMPOSED % b"apiVersion", _COMPOSED % b"kind"
_OF_MACHINE_ALONE = rb"""kind["']?\s*:\s*["']?%b\b""" % KIND_OF_MACHINE.encode()
_PIECE = rb"kubevirt|VirtualMachine"
#: By what a template of Helm's prints other files of its chart.
_OTHER_FILES = b".Files"
#: Where a patch, a replacement or a transformer is told to make another kind of object of one: a value, and no key.
_MADE_ANOTHER = rb"""\bapiVersion\b(?!["']?+\s*+:)|[\s"'/\[,]kind["']?+[ \t]*+(?:[],}#\r\n]|\Z)"""
#: A packed chart, and how zlib is told that it is gzip's.
_PACKED, _GZIP = ".tgz", 31
#: The name of a packed file in an archive.
_PACKED_INSIDE = rb"\.(?:tgz|gz)[\0\n]"


class _FoundInText(NamedTuple):
    """What the text of a file may hold, as far as words tell; *veil* as `Texts.veil` has it."""

    of_kubevirt: bool
    fills_in_others: bool
    limits_pods: bool
    veil: str
    is_namespace: bool


class Texts:
    """Whether files may hold an object of KubeVirt's, each looked at once."""

    __slots__ = ("_anywhere", "_charts", "_edits", "_known", "_limits", "_room")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, _FoundInText] = {}
        self._charts: dict[str, bool] = {}
        self._anywhere: dict[str, bool] = {}
        self._edits: dict[str, bool] = {}
        #: Bytes that packed charts may still unfold to, all together: each kilobyte may become a megabyte.
        self._room = limits.total_bytes

    def any(self, paths: Iterable[str]) -> bool:
        """Whether one of the files *paths* may hold an object of KubeVirt's."""
        return any(self._looked_at(path).of_kubevirt for path in paths)

    def asks(self, path: str) -> bool:
        """Whether an object that says how others are filled in may stand in the file *path*."""
        return self._looked_at(path).fills_in_others

    def any_limiting(self, paths: Iterable[str]) -> bool:
        """Whether an object that says whether there is room for pods may stand in one of the files *paths*."""
        return any(self._looked_at(path).limits_pods for path in paths)

    def any_of_machines(self, paths: Iterable[str]) -> bool:
        """Whether one of the files *paths* may hold a VM, or make one, or patch one; no file that is not there does."""
        present = filter(os.path.lexists, paths)
        read = (files.read(path, path, self._limits.file_bytes) for path in present)
        return any(
            not isinstance(data, bytes) or relevance.may_be_of_machine(data) for data in read
        )

    def is_of_machines(self, path: str) -> bool:
        """Whether a VM, or what makes one, stands in the file *path*."""
        data = self._read(path) if self._looked_at(path).of_kubevirt else b""
        return relevance.may_be_of_machine(data)

    def is_whole_machine(self, path: str) -> bool:
        """Whether a VM with all that KubeVirt demands stands in the file *path*, and not just a patch of it."""
        data = self._read(path) if self._looked_at(path).of_kubevirt else b""
        return relevance.may_be_whole_machine(data)

    def mention(self, paths: Iterable[str], word: bytes) -> bool:
        """Whether one of the files *paths* has *word* in it, in any case."""
        return any(word in relevance.unescaped(self._read(path)).lower() for path in paths)

    def veil(self, path: str) -> str:
        """What the file *path* is called if nobody can read here what it stands for; ``""`` for others."""
        return self._looked_at(path).veil

    def namespaces(self, paths: Iterable[str]) -> Iterator[str]:
        """Those of the files *paths* in which a Namespace may stand."""
        return (path for path in paths if self._looked_at(path).is_namespace)

    def _looked_at(self, path: str) -> _FoundInText:
        """What the file *path* may hold: read once, by whatever name it goes."""
        known = self._known.get(path)
        if known is None:
            real = real_path(path)
            known = self._known.get(real)
            if known is None:
                data = self._read(real)
                known = _FoundInText(
                    relevance.may_hold(data),
                    relevance.may_ask(data),
                    relevance.may_limit(data),
                    relevance.veil(data),
                    relevance.may_be_namespace(data),
                )
            self._known[path] = self._known[real] = known
        return known

    def _read(self, path: str) -> bytes:
        """The text of the file *path*; none of what cannot be read."""
        data = files.read(path, path, self._limits.file_bytes)
        return data if isinstance(data, bytes) else b""

    def anywhere(self, folder: str) -> bool:
        """Whether a file below *folder* may hold an object of KubeVirt's.

        No folder is looked at twice, also where first it is asked about and then those around it.
        """
        if folder not in self._anywhere:
            self._look_below(folder)
        return self._anywhere[folder]

    def _look_below(self, folder: str) -> None:
        """Store the answer of `anywhere` for *folder*, and for the folders below it of which it follows."""
        seen = [folder]
        for above, folders, names in files.walk(folder):
            below = {name: os.path.join(above, name) for name in folders}
            seen.append(above)
            known = (path for path in below.values() if self._anywhere.get(path))
            if not all(map(os.path.islink, known)) or self.any(
                os.path.join(above, name) for name in names
            ):
                held = above
                while len(held) > len(folder):
                    self._anywhere[held] = True
                    held = os.path.dirname(held)
                self._anywhere[folder] = True
                return
            folders[:] = [name for name, path in below.items() if path not in self._anywhere]
        self._anywhere.update(dict.fromkeys(seen, False))

    def in_chart(self, chart: str) -> bool:
        """Whether the templates of *chart* may make an object of KubeVirt's, its kind put together by them or not."""
        if chart not in self._charts:
            self._charts[chart] = self._is_in_chart(chart)
        return self._charts[chart]

    @staticmethod
    def closed_in_chart(chart: str) -> list[str]:
        """The files and folders of the templates of *chart* that may not be read."""
        templates = os.path.join(chart, "templates")
        below = (
            os.path.join(at, name)
            for at, folders, names in files.walk(templates)
            for name in (*folders, *names)
        )
        return [
            path
            for path in (templates, *below)
            if os.path.exists(path) and not os.access(path, os.R_OK)
        ]

    def _is_in_chart(self, chart: str) -> bool:
        templates = list(_below(os.path.join(chart, "templates")))
        if self.any(templates):
            return True
        packed = (path for path in _below(os.path.join(chart, "charts")) if path.endswith(_PACKED))
        unpacked: list[bytes] = []
        for path in packed:
            text = self._unpacked(path)
            if text is None or relevance.may_hold(text):
                return True
            unpacked.append(text)
        texts = [*map(self._read, templates), *unpacked]
        if any(_OTHER_FILES in text for text in texts) and self.anywhere(chart):
            return True
        if not any(re.search(_ANY_VERSION, text) for text in texts):
            return False
        if any(re.search(_OF_MACHINE_ALONE, text) for text in texts):
            return True
        is_composed = any(re.search(_COMPOSED_VERSION, text) for text in texts)
        every = (self._read(path) for path in _below(chart))
        return is_composed and (
            any(re.search(_COMPOSED_KIND, text) for text in texts)
            or any(re.search(_PIECE, text) for text in every)
        )

    def _unpacked(self, path: str) -> bytes | None:
        """What is in the packed chart *path*, one file after the other; none of what cannot be unpacked.

        None where more may be in it: it is larger than what there is room for, has another packed chart in it, or
        something behind its end.
        """
        import zlib

        unpacking = zlib.decompressobj(wbits=_GZIP)
        try:
            most = min(self._room, self._limits.file_bytes)
            text = unpacking.decompress(self._read(path), most) if most else None
        except zlib.error:
            return b""
        if text is None:
            return None
        self._room -= len(text)
        is_whole = not unpacking.unconsumed_tail and not unpacking.unused_data
        return text if is_whole and not re.search(_PACKED_INSIDE, text) else None

    def reached(self, reach: kustomization.Reach) -> bool:
        """Whether a kustomization with this *reach* may have an object of KubeVirt's, read or made of another one."""
        edits = (*reach.kustomizations, *reach.others)
        return self.any((*edits, *reach.resources)) or any(map(self._makes_another, edits))

    def _makes_another(self, path: str) -> bool:
        """Whether an edit in the file *path* may make another kind of object of one."""
        if path not in self._edits:
            text = relevance.unescaped(self._read(path))
            self._edits[path] = re.search(_MADE_ANOTHER, text) is not None
        return self._edits[path]


def _below(folder: str) -> Iterator[str]:
    return (os.path.join(at, name) for at, _, names in files.walk(folder) for name in names)
