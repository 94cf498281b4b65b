"""What tries what a wall lets it do: the beginning of such programs, and a repository for them."""

import tempfile
from pathlib import Path

from tests.support.manifests import put

#: ``allowed(work)`` is whether *work* is done, and not refused by the system.
ALLOWED = """
def allowed(work):
    try:
        work()
    except OSError:
        return False
    return True
"""


def passed(folder: Path) -> list[Path]:
    """*folder* and those above it that pytest has made, which another user has to pass."""
    top = Path(tempfile.gettempdir())
    return [folder, *(path for path in folder.parents if top in path.parents)]


def repository(folder: Path) -> Path:
    """A repository in *folder*, beside a file that is none of its own, which everybody may read."""
    made = folder / "repository"
    put(made / "vm.yaml", "")
    put(made / ".git/config", "")
    put(folder / "outside", "")
    for path in (*passed(folder), *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return made
