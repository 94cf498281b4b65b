"""The kustomize binary: found, run without a shell, without plugins, and without the network unless allowed."""

import contextlib
import os
import re
import signal
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import kustomization
from render.manifests.boxed import program as boxed
from render.manifests.boxed.program import ProgramBounds
from render.manifests.kustomization import LOCK, Reach
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import boundary, real_path
from render.system.programs import processes
from render.system.programs.box import Allowance
from render.system.programs.processes import Task
from render.yaml.budget import Limits

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from render.manifests.blame import failures
    from render.system.programs.processes import Steps

SECONDS = 600
_OWN = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_KEPT_FOR_NETWORK = frozenset(
    ["HOME", "TMPDIR", "PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME", "USER"]
)
_KEPT_PREFIXES = ("GIT_", "SSH_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
_MISSING = ("operation does not apply: doc is missing", "nonexistent key", "missing value")
"""What is said of an operation of a JSON patch that finds nothing at its path."""
_UNDECODED = "operation failed to decode"
"""What is said of one that has no path."""
_FAILED_TEST = "test failed"
"""What is said of one that tests another value than there is."""
_OF_BASE = r"(?:recursed accumulation of|couldn't make target for) path '([^']+)': "
"""Before what is said of a base."""
_STOPPED = "stopped, out"
_WANTS_HELM = "--enable-helm"
"""In what kustomize says of a kustomization with charts."""
_PLUGIN, _OWN_CONFIGURATION = "external plugin", "RenderConfig"
"""In what it says of one with programs of its own, and of one with ours."""


class KustomizeBuild(NamedTuple):
    """A build of *folder* by *program*, which reads all in its *reach*.

    *lock* is the revision lock in use, if it is not that of the folder; *changed*: what files say in this build, by
    their resolved names.
    """

    folder: str
    program: str
    reach: Reach
    bounds: ProgramBounds
    allow_remote: bool
    lock: str = ""
    seconds: float = SECONDS
    changed: Mapping[str, bytes] = MappingProxyType({})


def building(build: KustomizeBuild) -> "Steps[bytes | Diagnostic]":
    """What ``kustomize build`` prints, or its own words about why not, without what is secret in the reach.

    Once it has printed more than the bounds allow it is stopped, and the answer is a byte longer than that.
    """
    try:
        done, place = yield from _run(build)
    except boxed.UnfinishedError as error:
        return _failure(build.folder, *error.args)
    if done.returncode == 0 or len(done.stdout) > build.bounds.most:
        return done.stdout
    reach = build.reach
    every = (*reach.folders, *reach.bare, *reach.kustomizations, *reach.resources, *reach.others)
    if closed := boxed.shut_out((build.folder, *every)):
        return closed
    words = _without_warnings(done.stderr.decode("utf-8", "replace"))
    words = boxed.words(words.replace(real_path(place), build.folder))
    position = _operation(words, build)
    entry = _entry_at_fault(words, build)
    folder, words = _at_fault(words, build)
    words = boxed.concealed(words, build.reach, build.bounds.limits)
    words = words or _ended(done.returncode)
    help_ = _cure(build.folder, words, build.lock) or entry.cure
    failure = _failure(folder, words, help=help_)
    return failure._replace(position=position or _location(entry.place))


def _at_fault(words: str, build: KustomizeBuild) -> tuple[str, str]:
    """The folder that cannot be built by itself, as *words* say of a base on the way there, and what is said of that.

    Then it is said alike of all that are made of that base. A component is built with the others alone.
    """
    fault = build.folder, words
    for file, rest in _bases(words, build):
        if _is_component(file, build.bounds.limits):
            break
        fault = os.path.dirname(file) or ".", f"Error: {rest}"
    return fault


def _bases(words: str, build: KustomizeBuild) -> Iterator[tuple[str, str]]:
    """The kustomizations on the way to what *words* say, the outermost first, each with what is said of it."""
    known = _kustomizations(build)
    for match in re.finditer(_OF_BASE, words):
        file = known.get(real_path(match[1]))
        if file is None:
            return
        yield file, words[match.end() :]


def _kustomizations(build: KustomizeBuild) -> dict[str, str]:
    """The kustomizations of *build* by their resolved folders."""
    return {real_path(os.path.dirname(file)): file for file in reversed(build.reach.kustomizations)}


def _entry_at_fault(words: str, build: KustomizeBuild) -> "failures.BuildFault":
    """The entry of a kustomization that *words* mean, and what to do."""
    from render.manifests.blame import failures

    inner = [*_bases(words, build)]
    file, rest = (
        inner[-1] if inner else (_kustomizations(build).get(real_path(build.folder)), words)
    )
    limits = build.bounds.limits
    return failures.blame(rest, file, build.reach, limits) if file else failures.BuildFault()


def _location(place: "tuple[str, int, int] | None") -> Location | None:
    return Location(file=place[0], line=place[1], column=place[2]) if place else None


def _is_component(file: str, limits: Limits) -> bool:
    documents = kustomization.load(file, limits).documents
    return any(kustomization.is_component(document.body) for document in documents)


def _operation(words: str, build: KustomizeBuild) -> Location | None:
    """Where the operation of a JSON patch stands that does not apply, as *words* say of which the path is known."""
    if not _says_missing(words) and _FAILED_TEST not in words:
        return None
    from render.manifests.blame import patches

    found = patches.of_operation(words, build.reach, build.bounds.limits)
    return _location(found)


def _says_missing(words: str) -> bool:
    """Whether *words* say that an operation of a JSON patch is for what is not there (evanphx/json-patch)."""
    return any(sign in words for sign in _MISSING) and _UNDECODED not in words


def _run(build: KustomizeBuild) -> "Steps[tuple[CompletedProcess[bytes], str]]":
    """The program at its end, and the folder in which it was: there, no name of a folder is taken for a URL.

    Raises UnfinishedError.
    """
    from render.system.processors import memory

    bounds, is_open = build.bounds, build.allow_remote
    seconds = min(build.seconds, bounds.limits.build_seconds_left)
    allowance = Allowance(memory(), seconds, bounds.is_box_required, is_open=is_open)
    with boxed.explained(build.program), _overlaid(build) as place:
        seen = _seen(place, build.reach)
        with boxed.opened(build.program, place, seen, allowance, bounds.boxes) as inside:
            done = yield from boxed.run(
                inside,
                Task(  # nothing of the repository in the arguments
                    [real_path(build.program), "build", "."],
                    folder=place,
                    environ=environment(os.environ, inside.home, allow_remote=is_open),
                    seconds=build.seconds,
                    most=bounds.most,
                ),
                bounds.limits,
            )
            return done, place


@contextlib.contextmanager
def _overlaid(build: KustomizeBuild) -> Iterator[str]:
    """Where the folder is built: there, or in a copy of all that it reads where files are not as on disk."""
    folder, reach, changed = build.folder, build.reach, build.changed
    other = {*files.overlay(), *changed}
    names = {
        os.path.abspath(name): real_path(name)
        for name in (*reach.kustomizations, *reach.resources, *reach.others)
        if other
    }
    if other.isdisjoint(names.values()):
        yield folder
        return

    here = os.path.abspath(folder)
    base = os.path.commonpath([here, *map(os.path.dirname, names)])
    with processes.temporary_folder() as copy:
        os.mkdir(os.path.join(copy, ".git"))  # a build sees the repository that it is in
        for name, real in names.items():
            data = changed.get(real) or files.read(real, real, build.bounds.limits.file_bytes)
            if isinstance(data, bytes):
                target = os.path.join(copy, os.path.relpath(name, base))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as stream:
                    stream.write(data)
        yield os.path.normpath(os.path.join(copy, os.path.relpath(here, base)))


def _seen(folder: str, reach: Reach) -> tuple[list[str], list[str]]:
    """What a build of *folder* is to see: the repository but for git's own, or without one the files of the *reach*."""
    top = boundary(real_path(folder))
    if top:
        return [top], [os.path.join(top, ".git")]
    used = (*reach.kustomizations, *reach.resources, *reach.others)
    return [*reach.folders, *map(os.path.dirname, map(os.path.abspath, used))], []


def wants_helm(found: Diagnostic) -> bool:
    """Whether *found* says that the kustomization has kustomize run helm, which we do not let it."""
    return found.code == codes.KUSTOMIZE_FAILED.number and _WANTS_HELM in found.message


def wants_plugin(found: Diagnostic) -> bool:
    """Whether *found* says that the kustomization has kustomize run a program that is not ours: we let it run none."""
    is_failed = found.code == codes.KUSTOMIZE_FAILED.number and _PLUGIN in found.message
    return is_failed and _OWN_CONFIGURATION not in found.message


def _ended(status: int) -> str:
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"{_STOPPED} of the seconds of a processor that were left for it, or of the system's memory"
    return boxed.ending(status)


def _cure(folder: str, message: str, named: str) -> str:
    """The way out where kustomize misses the lock, or should have run us as a function, and we do not let it."""
    lock = os.path.normpath(os.path.join(folder, LOCK))
    if LOCK in message and not os.path.lexists(lock):
        return f"virt-render pin writes {LOCK}: list it among the resources afterwards"
    if message.startswith(_STOPPED):
        return "raise --max-build-seconds if it is worth more"
    if _says_missing(message):
        return (
            "the object has nothing at this path: mend the path, or the target; 'op: add' sets what is not there, if"
            " all above it is, and 'op: remove' of nothing can go"
        )
    if _WANTS_HELM in message:
        return (
            "virt-render does not let kustomize run helm: commit what 'helm template' prints as a resource, or render"
            " the chart by itself with 'virt-render build CHART --values FILE'"
        )
    if _PLUGIN not in message or _OWN_CONFIGURATION not in message:
        return ""
    return (
        "this kustomization has kustomize run virt-render; then virt-render does not run kustomize: pipe"
        " 'kustomize build --enable-alpha-plugins FOLDER | virt-render check -' (or '... | virt-render pin --lock"
        f" {named or lock} -'), with --catalog FOLDER of the definitions and --cluster-config FILE of the KubeVirt"
        " resource that stand elsewhere, or take the RenderConfig out of the transformers"
    )


def _without_warnings(message: str) -> str:
    """What kustomize said about its failure: it puts warnings about deprecated fields before that."""
    lines = message.splitlines()
    return "\n".join(line for line in lines if not line.startswith("# Warning: ")) or message


def _failure(folder: str, reason: str, help: str = "") -> Diagnostic:  # noqa: A002 - as `Code.at`
    message = f"kustomize build {folder}: {reason}"
    return codes.KUSTOMIZE_FAILED.at(Location(file=folder), message, help=help)


def environment(inherited: Mapping[str, str], home: str, *, allow_remote: bool) -> dict[str, str]:
    """What kustomize sees of our environment: a few variables by name, and the empty folder *home* as its own.

    Without the network it finds no git (a PATH that leads nowhere) and no way out (a proxy where nobody listens): a
    second lock behind `kustomization.reach`, which refuses remote entries before anything is started. With it git
    needs what the user has at home.
    """
    kept = {name: inherited[name] for name in boxed.LOCALE if name in inherited}
    kept |= dict.fromkeys(_OWN, home)
    if not allow_remote:
        return kept | {"PATH": os.devnull, "HTTP_PROXY": boxed.NOBODY, "HTTPS_PROXY": boxed.NOBODY}
    return kept | {
        name: value
        for name, value in inherited.items()
        if name in _KEPT_FOR_NETWORK or name.upper().startswith(_KEPT_PREFIXES)
    }
