"""Where the data files are that the program reads."""

import os


def folder(name: str, *source: str) -> str:
    """The folder *name* of an installed package, or the one at the path *source* of the source tree."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, name)
    return installed if os.path.isdir(installed) else os.path.join(package, os.pardir, *source)
