"""How many of what, in words."""

import re

_MORE = r" (?:beside|from|in|of|out of|that|whose|with|without) "


def counted(count: int, word: str) -> str:
    """*count* and *word*, in the plural unless it is one: ``1,200 files``, ``2 files of a folder``."""
    more = re.search(_MORE, word) if " " in word else None
    end = more.start() if more else len(word)
    return f"{count:,} {word[:end]}{'' if count == 1 else 's'}{word[end:]}"
