"""Work counted in calls, which no other load on the machine changes."""

import cProfile
from collections import Counter
from collections.abc import Callable
from types import CodeType


def calls(work: Callable[[], object]) -> int:
    """How many functions *work* calls, those of the interpreter too."""
    return sum(_counted(work, builtins=True).values())


def calls_of_ours(work: Callable[[], object]) -> Counter[str]:
    """How often each function of the package is called by *work*, by its module and name."""
    found = Counter[str]()
    for code, count in _counted(work, builtins=False).items():
        if isinstance(code, CodeType) and "/render/" in code.co_filename:
            found[f"{code.co_filename.rpartition('/render/')[2]}:{code.co_qualname}"] += count
    return found


def _counted(work: Callable[[], object], *, builtins: bool) -> dict[CodeType | str, int]:
    """What *work* calls, with how often: a function in Python that counts takes several times as long as the work."""
    profile = cProfile.Profile(subcalls=False, builtins=builtins)
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
    found = Counter[CodeType | str]()
    for entry in profile.getstats():
        found[entry.code] += entry.callcount
    return found
