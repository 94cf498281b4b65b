"""``virt-render argocd``: what Argo CD's plugin server asks beside manifests, and what an Application has to say."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from render.frontends import argocd as generating
from render.frontends import argocd_ignore, config
from render.frontends.exits import Exit, status
from render.frontends.options import COMMANDS, DEADLINE, Call, Request, request
from render.frontends.progress import Work
from render.frontends.run import load
from render.manifests import discover, files, kustomization, writer
from render.manifests.reader import Limits
from render.manifests.sources import Loaded
from render.model.resource import from_body
from render.report import text
from render.report.findings import Finding, find
from render.report.places import Sources
from render.settings import OPTIONS, Option, Source

_GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_OURS = b"kubevirt.io/"
_GENERATE = "argocd generate"
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
    with Work() as work:
        work.begin("read", "looking for objects of KubeVirt's")
        found = _first_of_ours(".")
    if found:
        _name(found)
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
def inputs(path: str, *, listed: bool, **values: Any) -> Exit:
    """Print what the rendering of PATH reads, as the annotation that limits refreshes to it.

    Without that annotation every commit to the repository renders every application again.
    """
    asked, loaded = _load(path, values)
    if faults := _faults(asked, loaded):
        return _refuse(faults)
    named = [os.path.join(one, "") if os.path.isdir(one) else one for one in asked.read]
    read = sorted({_seen_from(path, file) for file in (*loaded.files, *named)})
    if listed:
        _name("\n".join(read))
    else:
        _name(f"{_GENERATE_PATHS}: {';'.join(_folders(read))}")
    return Exit.OK


def _name(text: str) -> None:
    """Print *text* with its names of files as they are: of text, not of bytes, click cuts out escape sequences."""
    click.echo(os.fsencode(text))


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
def ignore_differences(path: str, **values: Any) -> Exit:
    """Print the ignoreDifferences of an Application that syncs VMs as they are written (--emit source).

    Rendered VMs need none. A VM that infers its instancetype or preference from a volume gets an entry of its own,
    since the cluster replaces its matchers.
    """
    asked, loaded = _load(path, values)
    if faults := _faults(asked, loaded):
        return _refuse(faults)
    resources = [from_body(d.body, i) for i, d in enumerate(loaded.documents)]
    body = {"ignoreDifferences": argocd_ignore.differences(resources)}
    click.echo(writer.dump(body), nl=False)
    return Exit.OK


def with_options(option: Callable[[Option], click.Option]) -> click.Group:
    """The group, whose commands about an application take what generating it takes; *option* makes one for a row."""
    for command in (inputs, ignore_differences):
        command.params += map(option, COMMANDS[_GENERATE])
    return argocd


def _load(path: str, values: Mapping[str, Any]) -> tuple[Request, Loaded]:
    """The settings (*values* of flags, parameters and the rest) and the objects of the application in *path*."""
    flags = {f"--{name.replace('_', '-')}": v for name, v in values.items() if v is not None}
    layer, faults = generating.parameters(os.environ)
    with Work() as work:
        asked = request(Call(_GENERATE, (path,), flags), os.environ, layer)
        asked = asked._replace(diagnostics=(*faults, *asked.diagnostics))
        return asked, Loaded() if asked.diagnostics else load(asked, work, None)


def _faults(asked: Request, loaded: Loaded) -> list[Finding]:
    """What is wrong with the settings, else with the objects, each with its place in its own files."""
    if asked.diagnostics:
        return find(asked.diagnostics, asked.sources)
    errors = [one for one in loaded.diagnostics if one.is_error]
    return find(errors, Sources([document.origin for document in loaded.documents], loaded.data))


def _refuse(faults: Sequence[Finding]) -> Exit:
    click.echo(text.report(faults), err=True, nl=False)
    return status([found.diagnostic for found in faults])
