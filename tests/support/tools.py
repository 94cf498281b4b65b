"""Programs that tests drive."""

import os
import shutil

import pytest

from tests.support.cases import ROOT


def required(name: str) -> str:
    """Where the program *name* is: the one that `make tools` installs, else the machine's.

    Without it a test is skipped, or fails where tools are required.
    """
    found = shutil.which(name, path=str(ROOT / ".tools" / "bin")) or shutil.which(name)
    if found:
        return found
    if os.environ.get("VIRT_RENDER_REQUIRE_TOOLS") == "1":
        pytest.fail(f"no {name}, and tools are required; `make tools` installs what it can")
    pytest.skip(f"no {name}; `make tools` installs what it can")


def installed(program: str) -> str:
    """The *program* at that place below ``.tools``, where `make tools` puts it; without it as `required`."""
    path = ROOT / ".tools" / program
    if path.exists():
        return str(path)
    if os.environ.get("VIRT_RENDER_REQUIRE_TOOLS") == "1":
        pytest.fail(f"no {path}, and tools are required; `make tools` installs it")
    pytest.skip(f"no {path}; `make tools` installs it")
