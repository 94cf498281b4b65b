"""What needs a library that not every installation has."""

from importlib import import_module
from types import ModuleType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location


class MissingExtraError(Exception):
    """Something needs what was not installed; the text says what."""

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding that says so."""
        return codes.USAGE.at(Location(), str(self), help="pip install 'virt-render[html]'")


def load(module: str, what: str) -> ModuleType:
    """*module*, which *what* is made with and which needs the library of an extra. Raises MissingExtraError."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{what} needs {error.name}, which is not installed") from error
