"""Files by which Flux leaves something out of a repository, around what is compared."""

import os
from collections import Counter
from collections.abc import Iterator

from render.frontends.commands.compare.states import NamedState, Side
from render.system import files
from render.system.files import real_path

#: What source-controller reads in each folder for what it leaves out of what Flux gets of a repository.
_IGNORES = ".sourceignore"
_MOST_BYTES = 1 << 20


def changed_ignores(before: Side, after: Side) -> Counter[str]:
    """The files by which Flux leaves something out that are others *after*, around what is compared."""
    old, new = _ignores(before), _ignores(after)
    number = sum(old.get(file) != new.get(file) for file in {*old, *new})
    return Counter({f"changed {_IGNORES} file": number}) if number else Counter()


def _ignores(side: Side) -> dict[str, bytes]:
    """What those files say around the inputs of *side*, by their names in the repository."""
    found = {}
    for top, folder in {place for state in side.values() for place in _around(state)}:
        file = os.path.join(folder, _IGNORES)
        data = files.read(os.path.join(top, file), file, _MOST_BYTES)
        if isinstance(data, bytes):
            found[file] = data
    return found


def _around(state: NamedState) -> Iterator[tuple[str, str]]:
    """The folders in and around which *state* stands, by the top of its repository, and as they are seen from there."""
    names = {state.folder, *(os.path.dirname(file) for file in state.files)}
    for folder in names if state.top else ():
        path = os.path.join(state.working_folder, state.path, folder)
        below = os.path.relpath(real_path(path), real_path(state.top))
        while below.partition("/")[0] not in ("", ".", ".."):
            yield state.top, below
            below = os.path.dirname(below)
        yield state.top, ""
