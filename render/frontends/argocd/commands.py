"""``virt-render argocd``: what Argo CD's plugin server asks beside manifests, and what an Application has to say."""

import json
import os
from collections.abc import Sequence

from render.diagnostics.codes import status
from render.frontends.answer import Answer, refused
from render.frontends.argocd import ignore_differences
from render.frontends.progress import Work
from render.frontends.request import config
from render.frontends.request.options import DEADLINE
from render.frontends.request.request import Request
from render.frontends.session import parts, single
from render.manifests import discover, kustomization, relevance
from render.manifests.documents import Documents
from render.model.hints import Any
from render.report.places import Sources
from render.settings import OPTIONS, Option, Source
from render.system import files
from render.system.files import boundary, real_path
from render.yaml import writer
from render.yaml.budget import Limits

_GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths"


def parameters(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Print the parameters that an Application can set, as Argo CD's user interface wants them."""
    return Answer([json.dumps(announcements(), indent=2) + "\n"])


def announcements() -> list[dict[str, Any]]:
    """One announcement a parameter, from the table of options."""
    return [_announcement(option) for option in (*OPTIONS, DEADLINE)]


def _announcement(option: Option) -> dict[str, Any]:
    default = option.default
    default_text = str(default).lower() if isinstance(default, bool) else str(default)
    kind = {"flag": "boolean", "number": "number"}.get(option.kind, "")
    one_of = f" ({', '.join(option.choices)})" if option.kind in ("choice", "release") else ""
    return {
        "name": option.spelled(Source.PARAMETER),
        "title": option.name.replace("-", " "),
        "tooltip": f"{option.help}{one_of}",
        **({"itemType": kind} if kind else {}),
        "collectionType": "string",
        # Where nobody names one, the destination of the Application decides.
        "string": "" if option.name == "namespace" else default_text,
    }


def name_first(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Name a file that makes the current folder ours, or print nothing; never fails."""
    work.begin("read", "looking for objects of KubeVirt's")
    file = _first_of_ours(".")
    return Answer([os.fsencode(f"{file}\n")] if file else ())


def _first_of_ours(folder: str) -> str:
    """Our own configuration, else the first file with an object of KubeVirt's, in the folder or in its bases."""
    if os.path.isfile(os.path.join(folder, config.NAME)):
        return config.NAME
    limits = Limits()
    walked = discover.walk(folder, (real_path(folder),), plain=True)
    bounds = boundary(real_path(folder))
    reached = kustomization.reach(folder, limits, allow_remote=True, bounds=bounds)
    for file in dict.fromkeys((*(path for path, _ in walked.files), *reached.resources)):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, bytes) and relevance.may_hold(data):
            return file
    return ""


def inputs(request: Request, work: Work) -> Answer:
    """Print what the rendering of PATH reads, as the annotation that limits refreshes to it.

    Without that annotation every commit to the repository renders every application again.
    """
    path = request.paths[0]
    loaded = _sound(request, work)
    named = [
        os.path.join(file, "") if os.path.isdir(file) else file for file in request.beside.files
    ]
    read = sorted({_seen_from(path, file) for file in (*loaded.files, *named)})
    if request.own["files"]:
        return Answer([os.fsencode("".join(f"{file}\n" for file in read))], ())
    return Answer([os.fsencode(f"{_GENERATE_PATHS}: {';'.join(_folders(read))}\n")], ())


def _seen_from(folder: str, file: str) -> str:
    """*file* as a path relative to *folder*; a folder keeps the slash at its end."""
    return os.path.relpath(file, folder) + ("/" if file.endswith("/") else "")


def _folders(read: Sequence[str]) -> list[str]:
    """``.`` and the folders outside of it that hold *read* files, without those inside another one.

    Folders and not files: a file that is added to one changes what is rendered too. But for settings, around which
    the whole repository may stand.
    """
    folders = {
        file if os.path.basename(file) == config.NAME else os.path.dirname(file)
        for file in read
        if file.startswith("../")
    }
    inside = [
        folder for folder in folders if any(folder.startswith(f"{other}/") for other in folders)
    ]
    return [".", *sorted(folders.difference(inside))]


def print_ignore_differences(request: Request, work: Work) -> Answer:
    """Print the ignoreDifferences of an Application that syncs VMs as they are written (--emit source).

    Rendered VMs need none. A VM that infers its instancetype or preference from a volume gets an entry of its own,
    since the cluster replaces its matchers.
    """
    inputs = parts(request, work)
    resources = [resource for part in inputs for resource in part.resources]
    errors = [
        diagnostic for part in inputs for diagnostic in part.diagnostics if diagnostic.is_error
    ]
    body = {"ignoreDifferences": ignore_differences.differences(resources)}
    if not resources and errors:
        return Answer()
    return Answer([writer.dump(body)], exit=status(errors))


def _sound(request: Request, work: Work) -> Documents:
    """What the paths of *request* hold. Raises RefusedError where that cannot be read."""
    loaded = single(request, work).loaded
    errors = [diagnostic for diagnostic in loaded.diagnostics if diagnostic.is_error]
    if errors:
        origins = [document.origin for document in loaded.documents]
        raise refused(*errors, sources=Sources(origins, loaded.data))
    return loaded
