"""How many of what, in words."""


def counted(count: int, word: str) -> str:
    """*count* and *word*, in the plural unless it is one: ``1,200 files``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
