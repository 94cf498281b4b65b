"""Folders that are named with a slip."""

import contextlib
import os

from render.manifests.blame import missing
from render.model.nearest import is_slip, nearest
from render.system import files


def near(folder: str) -> str:
    """What *folder*, which is not there, was probably meant to be: ``""`` where nothing is near, or none is named."""
    if not folder:
        return ""
    above, name = os.path.split(folder)
    if not os.path.isdir(above or os.curdir):
        return missing.near_path(folder)
    names: list[str] = []
    with contextlib.suppress(OSError):  # nobody may look into it
        entries = os.scandir(above or os.curdir)
        names = [entry.name for entry in entries if files.is_folder(entry)]
    return nearest(name, sorted(names))


def is_slip_of(near: str, folder: str) -> bool:
    """Whether *folder* is *near* but for a slip in its last step."""
    return bool(near) and is_slip(os.path.basename(folder), os.path.basename(near))
