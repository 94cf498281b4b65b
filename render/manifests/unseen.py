"""What may hold VMs, or decide them, and is not looked into."""

from collections import Counter
from collections.abc import Callable


class Unseen:
    """How many there are of what, in words, each with the files and folders by which one finds it.

    What is met several times counts once: in `add`, and in `update`.
    """

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: Counter[tuple[str, tuple[str, ...], object]] = Counter()

    def add(self, what: str, *places: str, number: int = 1, which: object = None) -> None:
        """Count so many of *what* at *places*; *which* tells apart those that are counted one by one there."""
        if number:
            key = what, places, which
            self.known[key] = max(self.known[key], number)

    def remove(self, what: str, *places: str) -> None:
        """Count none of *what* at *places*."""
        del self.known[what, places, None]

    def update(self, other: "Unseen") -> None:
        """Count what the *other* counts, too."""
        self.known |= other.known

    def counts(self, is_meant: Callable[[str], bool] | None = None) -> Counter[str]:
        """How many there are of what; with *is_meant*, those of which one of the places is."""
        counts: Counter[str] = Counter()
        for (what, places, _), number in self.known.items():
            if is_meant is None or any(map(is_meant, places)):
                counts[what] += number
        return counts
