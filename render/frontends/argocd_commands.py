"""``virt-render argocd``: what Argo CD's plugin server asks beside manifests, and what an Application has to say."""

import json
import os
from collections.abc import Sequence
from typing import Any

import click

from render.diagnostics.diagnostic import Diagnostic
from render.frontends import argocd_ignore, config
from render.frontends.exits import Exit, status
from render.frontends.options import DEADLINE, Call, Request, request
from render.manifests import discover, files, kustomization, sources, writer
from render.manifests.reader import Limits
from render.manifests.sources import Loaded
from render.model.resource import from_body
from render.report import text
from render.report.findings import find
from render.report.places import Sources
from render.settings import OPTIONS, Option, Source

_GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_OURS = b"kubevirt.io/"
_PATH = click.argument("path", required=False, default=".", type=click.Path())


@click.group()
def argocd() -> None:
    """Work as a config-management plugin of Argo CD; see docs/argocd.md."""


@argocd.command()
def parameters() -> Exit:
    """Print the parameters that an Application can set, as Argo CD's user interface wants them."""
    click.echo(json.dumps(announcements(), indent=2))
    return Exit.OK


def announcements() -> list[dict[str, Any]]:
    """One announcement a parameter, from the table of options."""
    return [_announcement(option) for option in (*OPTIONS, DEADLINE)]


def _announcement(option: Option) -> dict[str, Any]:
    default = option.default
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    kind = {"flag": "boolean", "number": "number"}.get(option.kind, "")
    one_of = f" ({', '.join(option.choices)})" if option.kind == "choice" else ""
    return {
        "name": option.spelled(Source.PARAMETER),
        "title": option.name.replace("-", " "),
        "tooltip": f"{option.help}{one_of}",
        **({"itemType": kind} if kind else {}),
        "collectionType": "string",
        "string": shown,
    }


@argocd.command("discover")
def discover_() -> Exit:
    """Name a file that makes the current folder ours, or print nothing; never fails."""
    found = _first_of_ours(".")
    if found:
        click.echo(found)
    return Exit.OK


def _first_of_ours(folder: str) -> str:
    """Our own configuration, else the first file with an object of KubeVirt's, in the folder or in its bases."""
    if os.path.isfile(os.path.join(folder, config.NAME)):
        return config.NAME
    limits = Limits()
    walked = discover.walk(folder, (os.path.realpath(folder),), plain=True)
    reached = kustomization.reach(folder, limits, allow_remote=True)
    for file in dict.fromkeys((*(shown for shown, _ in walked.files), *reached.resources)):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, bytes) and _OURS in data:
            return file
    return ""


@argocd.command()
@_PATH
@click.option("--files", "listed", is_flag=True, help="print the files instead, one a line")
def inputs(path: str, *, listed: bool) -> Exit:
    """Print what the rendering of PATH reads, as the annotation that limits refreshes to it.

    Without that annotation every commit to the repository renders every application again.
    """
    asked, loaded = _load(path)
    faults = [*asked.diagnostics, *(one for one in loaded.diagnostics if one.is_error)]
    if faults:
        return _refuse(faults, loaded)
    named = [os.path.join(one, "") if os.path.isdir(one) else one for one in asked.read]
    read = sorted({_seen_from(path, file) for file in (*loaded.files, *named)})
    if listed:
        click.echo("\n".join(read))
    else:
        click.echo(f"{_GENERATE_PATHS}: {';'.join(_folders(read))}")
    return Exit.OK


def _seen_from(folder: str, file: str) -> str:
    """*file* as a path relative to *folder*; a folder keeps the slash at its end."""
    return os.path.relpath(file, folder) + ("/" if file.endswith("/") else "")


def _folders(read: Sequence[str]) -> list[str]:
    """``.`` and the folders outside of it that hold *read* files, without those inside another one.

    Folders and not files: a file that is added to one changes what is rendered too.
    """
    folders = {os.path.dirname(file) for file in read if file.startswith("../")}
    inside = [one for one in folders if any(one.startswith(f"{other}/") for other in folders)]
    return [".", *sorted(folders.difference(inside))]


@argocd.command("ignore-differences")
@_PATH
def ignore_differences(path: str) -> Exit:
    """Print the ignoreDifferences of an Application that syncs VMs as they are written (--emit source).

    Rendered VMs need none. A VM that infers its instancetype or preference from a volume gets an entry of its own,
    since the cluster replaces its matchers.
    """
    asked, loaded = _load(path)
    faults = [*asked.diagnostics, *(one for one in loaded.diagnostics if one.is_error)]
    if faults:
        return _refuse(faults, loaded)
    resources = [from_body(d.body, i) for i, d in enumerate(loaded.documents)]
    body = {"ignoreDifferences": argocd_ignore.differences(resources)}
    click.echo(writer.dump(body), nl=False)
    return Exit.OK


def _load(path: str) -> tuple[Request, Loaded]:
    """The settings and the objects of the application in the folder *path*."""
    asked = request(Call("argocd generate", (path,), {}), os.environ)
    loaded = sources.load(
        (path,),
        stdin=None,
        limits=asked.limits,
        kustomize=asked.kustomize,
        allow_remote=asked.allow_remote,
    )
    return asked, loaded


def _refuse(faults: Sequence[Diagnostic], loaded: Loaded) -> Exit:
    places = Sources([document.origin for document in loaded.documents], loaded.data)
    click.echo(text.report(find(faults, places)), err=True, nl=False)
    return status(faults)
