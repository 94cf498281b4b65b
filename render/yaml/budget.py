"""What a run may spend on aliases, which make much of little text."""

_BYTES = 16  # of input, for which another value may come from an alias


class Budget:
    """What aliases may still stand for: so many values at first, and more with each byte that is read.

    One budget is for a whole run, however many documents and files share it.
    """

    __slots__ = ("left", "values")

    def __init__(self, values: int) -> None:
        self.values = self.left = values

    def read(self, size: int) -> None:
        """Count *size* bytes of input."""
        self.left += size // _BYTES
