"""The kustomize binary: found, run without a shell, without plugins, and without the network unless allowed."""

import os
from collections.abc import Mapping

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location

SECONDS = 600
_KEPT = ("HOME", "TMPDIR", "LANG", "LC_ALL")
_KEPT_FOR_NETWORK = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME", "USER")
_KEPT_PREFIXES = ("GIT_", "SSH_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
_NOBODY = "http://127.0.0.1:9"
_SHOWN = 4096
LOCK = "virt-render.lock.yaml"
"""The revision lock of a folder: kustomize knows nothing of it, and so it is read beside what kustomize builds."""


def binary(setting: str, folder: str) -> str | Diagnostic:
    """The binary that *setting* (``auto``, a name or a path) means, or that there is none to build *folder*."""
    import shutil

    found = shutil.which("kustomize" if setting == "auto" else setting)
    if found:
        return os.path.abspath(found)
    where = "on the PATH" if setting == "auto" else f"at {setting}"
    return codes.KUSTOMIZE_MISSING.at(
        Location(file=folder),
        f"{folder} has a kustomization, and there is no kustomize binary {where}",
        help="install it, name it with --kustomize PATH, or read the plain files with --kustomize never",
    )


def build(
    folder: str, program: str, *, most: int, allow_remote: bool, seconds: float = SECONDS
) -> bytes | Diagnostic:
    """What ``kustomize build`` prints for *folder*, or its own words about why not.

    It is started inside the folder, so that no name of a folder is taken for a URL. Once it has printed more than
    *most* bytes it is stopped, and the answer is a byte longer than that.
    """
    from subprocess import TimeoutExpired

    from render.manifests import child

    try:
        done = child.run(  # nothing of the repository in the arguments
            [program, "build", "."],
            folder=folder,
            environ=environment(os.environ, allow_remote=allow_remote),
            seconds=seconds,
            most=most,
        )
    except OSError as error:
        return _failure(folder, f"cannot start {program}: {error.strerror}")
    except TimeoutExpired:
        return _failure(folder, f"stopped after {seconds:g} seconds")
    if done.returncode == 0 or len(done.stdout) > most:
        return done.stdout
    said = _without_warnings(done.stderr.decode("utf-8", "replace"))
    said = said.replace(os.path.realpath(".") + "/", "").strip()
    if len(said) > _SHOWN:
        said = said[: _SHOWN // 2] + " ... " + said[-_SHOWN // 2 :]
    return _failure(folder, said or _ended(done.returncode), help=_cure(folder, said))


def _ended(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"ended by signal {-status}"


def _cure(folder: str, said: str) -> str:
    """The way out where kustomize misses the lock, or should have run us as a function, and we do not let it."""
    lock = os.path.normpath(os.path.join(folder, LOCK))
    if LOCK in said and not os.path.lexists(lock):
        return f"virt-render pin writes {LOCK}: list it among the resources afterwards"
    if "external plugin" not in said or "RenderConfig" not in said:
        return ""
    return (
        "this kustomization has kustomize run virt-render; then virt-render does not run kustomize: pipe"
        " 'kustomize build --enable-alpha-plugins FOLDER | virt-render check -' (or '... | virt-render pin --lock"
        f" {lock} -'), or take the RenderConfig out of the transformers"
    )


def _without_warnings(said: str) -> str:
    """What kustomize said about its failure: it puts warnings about deprecated fields before that."""
    lines = said.splitlines()
    return "\n".join(line for line in lines if not line.startswith("# Warning: ")) or said


def _failure(folder: str, said: str, help: str = "") -> Diagnostic:  # noqa: A002 - as `Code.at`
    message = f"kustomize build {folder}: {said}"
    return codes.KUSTOMIZE_FAILED.at(Location(file=folder), message, help=help)


def environment(inherited: Mapping[str, str], *, allow_remote: bool) -> dict[str, str]:
    """What kustomize sees of our environment.

    Without the network it finds no git (a PATH that leads nowhere) and no way out (a proxy where nobody listens): a
    second lock behind `kustomization.reach`, which refuses remote entries before anything is started.
    """
    kept = {name: inherited[name] for name in _KEPT if name in inherited}
    if not allow_remote:
        return kept | {"PATH": os.devnull, "HTTP_PROXY": _NOBODY, "HTTPS_PROXY": _NOBODY}
    return kept | {
        name: value
        for name, value in inherited.items()
        if name in _KEPT_FOR_NETWORK or name.upper().startswith(_KEPT_PREFIXES)
    }
