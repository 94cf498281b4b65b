"""What needs a library that not every installation has."""

from importlib import import_module
from types import ModuleType


class MissingExtraError(Exception):
    """Something needs what was not installed; the text says what."""


def load(module: str, what: str) -> ModuleType:
    """*module*, which *what* is made with and which needs the library of an extra. Raises MissingExtraError."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{what} needs {error.name}, which is not installed") from error
