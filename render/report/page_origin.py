"""Where the manifests of a page come from: its repository and commit, and the addresses of their lines."""

import os
from urllib.parse import quote

from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.report.places import Place

#: What a link may begin with: nothing that runs.
SCHEMES = ("https://", "http://")
#: What is filled in.
PLACEHOLDERS = ("{commit}", "{file}", "{line}")
_IN_BRACES = pattern(r"\{[^{}]*\}")


class PageOrigin(NamedTuple):
    """The *repository* by its name, the *commit* of it, and *edits*: whether the work tree has others.

    *link*: the address of a line, in which ``{commit}``, ``{file}`` and ``{line}`` are filled in, ``""`` for none;
    *folder*: where files are looked at from, seen from the top of the repository; *version*: of the program.
    """

    repository: str = ""
    commit: str = ""
    has_edits: bool = False
    link: str = ""
    folder: str = ""
    version: str = ""

    def href(self, place: Place) -> str:
        """The address of *place*, ``""`` where it has none."""
        if not self.link or not place.file or os.path.isabs(place.file) or not self.commit:
            return ""
        file = os.path.normpath(os.path.join(self.folder, place.file))
        if file.startswith(".."):
            return ""
        filled = self.link.replace("{commit}", self.commit).replace("{line}", str(place.line or 1))
        return filled.replace("{file}", quote(file))


def fault(link: str) -> str:
    """What is wrong with *link* as a template of addresses, ``""`` if nothing."""
    if not link.startswith(SCHEMES):
        return f"{link!r} does not begin with {' or '.join(SCHEMES)}"
    for name in _IN_BRACES.findall(link):
        if name not in PLACEHOLDERS:
            otherwise = f"known are {', '.join(PLACEHOLDERS)}"
            return f"{link!r} has {name}: {did_you_mean(name, PLACEHOLDERS, otherwise)}"
    return "" if "{file}" in link else f"{link!r} has no {{file}}"
