import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def kustomize() -> str:
    """The kustomize binary: the one that `make tools` installs, else the machine's."""
    found = shutil.which("kustomize", path=str(ROOT / ".tools" / "bin")) or shutil.which("kustomize")
    if found:
        return found
    if os.environ.get("VIRT_RENDER_REQUIRE_TOOLS") == "1":
        pytest.fail("no kustomize binary, and tools are required; `make tools` installs it")
    pytest.skip("no kustomize binary; `make tools` installs it")
