"""The input as it was at a commit: its files in a folder of their own, since kustomize and helm read files."""

import contextlib
import os
from collections.abc import Iterator

from render.system import git
from render.system.checkout import EVERYTHING, CheckoutScope, Most, checkout
from render.system.files import real_path
from render.system.git import GitError
from render.yaml.budget import Limits


@contextlib.contextmanager
def checked_out(
    top: str, commit: str, limits: Limits, scope: CheckoutScope = EVERYTHING
) -> Iterator[str]:
    """A temporary folder with the files of *commit* of the repository *top*, as far as *limits* let anybody read them.

    *scope*: see there. Raises GitError, with the fetch that may be missing.
    """
    try:
        with checkout(top, commit, Most(limits.file_bytes, limits.total_bytes), scope) as tree:
            yield tree
    except GitError as error:
        if git.is_shallow(top):
            raise GitError(f"{error}; the clone is shallow: git fetch --unshallow") from error
        raise


def within(path: str, top: str) -> str:
    """*path* as it is called in the repository *top*, a real path."""
    return os.path.relpath(real_path(path), top)


@contextlib.contextmanager
def back_at(top: str, commit: str, limits: Limits) -> Iterator[str]:
    """Be where the caller is in the work tree *top*, at *commit*; yields the folder that stands for *top*.

    Raises GitError.
    """
    here = within(".", real_path(top))
    with checked_out(top, commit, limits, CheckoutScope(paths=[here])) as then:
        inside = os.path.join(then, here)
        exists = not here.startswith("..") and os.path.isdir(inside)
        with contextlib.chdir(inside if exists else then):
            yield real_path(then)
