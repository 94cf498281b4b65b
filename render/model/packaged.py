"""What is in the package by name: its data files, and modules that few processes need."""

import os
import sys
from types import ModuleType


def folder(name: str, *source: str) -> str:
    """The folder *name* of an installed package, or the one at the path *source* of the source tree."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, name)
    return installed if os.path.isdir(installed) else os.path.join(package, os.pardir, *source)


def module(name: str) -> ModuleType:
    """The module *name*, imported now; `importlib` would bring what gives warnings at every start."""
    __import__(name)
    return sys.modules[name]
