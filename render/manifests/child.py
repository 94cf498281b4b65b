"""Other programs, and folders for them: neither outlives us when somebody stops us."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from render.manifests.signals import held

if TYPE_CHECKING:
    from subprocess import CompletedProcess


def run(
    command: Sequence[str],
    *,
    folder: str,
    environ: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float | None = None,
) -> "CompletedProcess[bytes]":
    """What *command*, started in *folder* without a shell, does; raises as `subprocess.run`.

    It is killed if it takes longer than *seconds*, and if anything is raised here.
    """
    import subprocess

    with contextlib.ExitStack() as stack:
        with held():  # between its start and our knowing of it
            process = stack.enter_context(
                subprocess.Popen(  # noqa: S603 - no shell
                    command, cwd=folder, env=environ,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )
            )  # fmt: skip
            stack.callback(process.wait)  # also after ctrl-C, for which subprocess does not wait
            stack.callback(process.kill)  # nothing where it has ended
        output, said = process.communicate(stdin, timeout=seconds)
    return subprocess.CompletedProcess(command, process.returncode, output, said)


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder that is gone in the end."""
    import tempfile

    with contextlib.ExitStack() as stack:
        with held():
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="virt-render-"))
        yield name
