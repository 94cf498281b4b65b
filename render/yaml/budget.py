"""What input may cost: limits on what is read and run, and what a run has left of them."""

from render.model.named_tuple import NamedTuple

DEEPEST = 400
"""Levels of nesting; somewhat beyond, Python's own limit on recursion comes first."""


MISTAKES = 1_000
"""Of one file; it is not read on beyond them: each costs more than the text in which it is made."""
TOO_MANY = f"more than {MISTAKES:,} mistakes in one file: it is not read on"

_BYTES = 16  # of input, for which another value may come from an alias


MOST_ERRORS = 10_000
"""Of a run: nothing is printed then, and nobody reads more."""
_BESIDE = 10
"""Texts that say where objects come from are read again and again."""


class Aliases:
    """What aliases may still stand for: so many values at first, and more with each byte that is read.

    One is for all documents that are read together, however many files they are in. *is_exceeded*: something was not
    read for that.
    """

    __slots__ = ("is_exceeded", "left", "values")

    def __init__(self, values: int) -> None:
        self.values = self.left = values
        self.is_exceeded = False

    def read(self, size: int) -> None:
        """Count *size* bytes of input."""
        self.left += size // _BYTES


class Programs:
    """The programs that a run has started for kustomizations and charts: how many, and *seconds* of a processor."""

    __slots__ = ("count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0

    def spend(self, seconds: float) -> None:
        """Count what one of them has taken."""
        self.seconds += seconds


class Budget:
    """What a run has left of *limits*; whoever makes something of what others wrote asks while he makes it.

    *aliases* are for the documents of an input, *beside* for all else that is read, such as kustomizations; *bytes*
    counts the input. *errors* counts those of a state of the repository; *programs* are those of the whole run.
    """

    __slots__ = ("aliases", "beside", "bytes", "errors", "limits", "programs")

    def __init__(self, limits: "Limits", programs: Programs | None = None) -> None:
        self.limits = limits
        self.programs = programs or Programs()
        self.beside = Aliases(_BESIDE * limits.alias_nodes)
        self.errors = 0
        self.begin_input()

    def begin_input(self) -> None:
        """From now on another input is read."""
        self.aliases = Aliases(self.limits.alias_nodes)
        self.bytes = 0

    @property
    def errors_left_out(self) -> int:
        """How many errors are not kept."""
        return max(0, self.errors - MOST_ERRORS)

    def has_room_for_error(self) -> bool:
        """Whether one more error is kept; it counts."""
        self.errors += 1
        return self.errors <= MOST_ERRORS

    def begin_build(self) -> tuple[str, str] | None:
        """Count a program that is to be started; why it may not be, and what to do, if that is so."""
        limits, programs = self.limits, self.programs
        if programs.count >= limits.builds:
            return (
                f"not started: this run has built {limits.builds:,} kustomizations and charts",
                "raise --max-builds if all of them are meant to be built",
            )
        if programs.seconds >= limits.build_seconds:
            return (
                f"not started: what was built before took {limits.build_seconds:,} seconds of a processor",
                "raise --max-build-seconds if all of it is meant to be built",
            )
        programs.count += 1
        return None


class Limits(NamedTuple):
    """What input may cost: a file, all that is read together, and the programs that are started for it.

    *chart_seconds* of a processor and *chart_bytes* of data are what helm may take for one chart; *builds* and
    *build_seconds* of a processor what kustomize and helm may for all. *depth* may be raised to `DEEPEST`. *budget* is
    what the run has left: whoever is handed the limits is handed that too.
    """

    file_bytes: int = 64 << 20
    total_bytes: int = 512 << 20
    documents: int = 500_000
    depth: int = 200
    alias_nodes: int = 200_000
    chart_seconds: int = 10
    chart_bytes: int = 1 << 30
    builds: int = 10_000
    build_seconds: int = 600
    budget: Budget | None = None

    @property
    def build_seconds_left(self) -> float:
        """The seconds of a processor that are left for kustomize and helm, at least one for what was begun."""
        spent = self.budget.programs.seconds if self.budget else 0
        return max(1, self.build_seconds - spent)

    @property
    def plain(self) -> "Limits":
        """The same limits, whatever is left of them."""
        return self._replace(budget=None)

    def of_run(self) -> "Limits":
        """The same limits with all of them left, for a run that begins."""
        return self._replace(budget=Budget(self.plain))

    def of_state(self) -> "Limits":
        """The same limits for another state of the repository that the same run looks at."""
        programs = self.budget.programs if self.budget else None
        return self._replace(budget=Budget(self.plain, programs))
