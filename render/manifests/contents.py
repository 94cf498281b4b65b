"""The bytes behind origins: kept for streams, buffers and locks, read again for other files."""

from collections.abc import Iterator, Mapping

from render.system import files

RECENT = 8
"""Files kept at hand: a finding is about a few, and the next often about the same."""


class Contents(Mapping[str, bytes]):
    """The bytes of what was read, by the name that origins use: kept of streams and buffers, read again of files.

    *whole*: those of files are kept too, for who writes them anew and must know what they said.
    """

    __slots__ = ("_files", "_lent", "_recent", "_texts", "_whole")

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._files: dict[str, int] = {}
        self._lent: set[str] = set()
        self._texts: dict[str, bytes] = {}
        self._recent: dict[str, bytes] = {}

    def parted(self) -> "Contents":
        """Another one, empty, that is kept like this one."""
        return Contents(whole=self._whole)

    def add_stream(self, name: str, data: bytes) -> None:
        """Remember the bytes of a stream."""
        self._texts[name] = data

    def add_buffer(self, file: str, limit: int, data: bytes) -> None:
        """Remember that *file* was read, from a buffer say, and keep what it said: *data*."""
        self._files[file] = limit
        self._texts[file] = data

    def add_file(self, file: str, limit: int, data: bytes | None = None) -> None:
        """Remember that *file* was read; *data* is what it said, if anybody has it."""
        self._files[file] = limit
        self._lent.discard(file)
        if self._whole and data is not None:
            self._recent[file] = data

    def add_lent(self, file: str, limit: int, data: bytes | None = None) -> None:
        """The same of a *file* that stands beside: it is none of `own_files`, unless it is one already."""
        is_own = file in self._files and file not in self._lent
        self.add_file(file, limit, data)
        if not is_own:
            self._lent.add(file)

    def share(self, name: str, to: "Contents") -> None:
        """Let *to* know of *name* what is known here."""
        if name in self._files:
            to.add_file(name, self._files[name], self._recent.get(name))
        if name in self._texts:
            to.add_stream(name, self._texts[name])

    def lend(self, name: str, to: "Contents") -> None:
        """The same where *name* stands beside what *to* is about."""
        if name in self._files:
            to.add_lent(name, self._files[name], self._recent.get(name))
        if name in self._texts:
            to.add_stream(name, self._texts[name])

    def files(self) -> list[str]:
        """The names of all files noted, sorted (streams are none)."""
        return sorted(self._files)

    def own_files(self) -> list[str]:
        """The same but for those that stand beside."""
        return sorted(self._files.keys() - self._lent)

    def __getitem__(self, name: str) -> bytes:
        """The bytes of *name*; empty for a file that is gone by now."""
        if name in self._texts:
            return self._texts[name]
        content = self._recent.pop(name, None)
        if content is None:
            data = files.read(name, name, self._files[name])
            content = data if isinstance(data, bytes) else b""
        self._recent[name] = content
        if len(self._recent) > RECENT and not self._whole:
            del self._recent[next(iter(self._recent))]
        return content

    def __iter__(self) -> Iterator[str]:
        yield from {**self._texts, **self._files}

    def __len__(self) -> int:
        return len(self._texts.keys() | self._files.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._texts or name in self._files
