"""``virt-render kustomize init``: two files that teach kustomize what it should know of KubeVirt's objects."""

import json
import os

import click

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends import kustomize_init_names, kustomize_init_openapi
from render.frontends.exits import Exit, status
from render.manifests import files, writer
from render.manifests.reader import Limits
from render.report import text
from render.report.findings import find
from render.report.places import Sources

SCHEMA_FILE = "kubevirt-openapi.json"
NAMES_FILE = "kubevirt-names.yaml"
_LINES = f"openapi:\n  path: {SCHEMA_FILE}\nconfigurations:\n- {NAMES_FILE}\n"


@click.group("kustomize")
def kustomize() -> None:
    """Help for repositories that use kustomize; see docs/kustomize.md."""


@kustomize.command()
@click.argument("folder", default=".", type=click.Path())
@click.option("--force", is_flag=True, help="replace files that differ")
def init(folder: str, *, force: bool) -> Exit:
    """Write a schema with merge keys and a configuration of names into FOLDER.

    With them patches of VMs keep the disks, volumes, interfaces and networks that they do not name, and namePrefix
    renames what VMs refer to. The lines for the kustomization in FOLDER are printed.
    """
    faults: list[Diagnostic] = []
    for name, content in contents().items():
        path = os.path.join(folder, name)
        if os.path.lexists(path) and not force:
            faults += _differs(path, content)
            continue
        try:
            files.write_atomic(path, content)
        except OSError as error:
            faults.append(files.unwritable(error, path))
    if faults:
        click.echo(text.report(find(faults, Sources())), err=True, nl=False)
        return status(faults)
    click.echo(_LINES, nl=False)
    return Exit.OK


def contents() -> dict[str, str]:
    """What is written, by file name."""
    names = kustomize_init_names.configuration()
    return {
        SCHEMA_FILE: json.dumps(kustomize_init_openapi.schema(), indent=1) + "\n",
        NAMES_FILE: writer.dump(names),
    }


def _differs(path: str, content: str) -> list[Diagnostic]:
    data = files.read(path, path, Limits().file_bytes)
    if isinstance(data, Diagnostic):
        return [data]
    if data == content.encode():
        return []
    message = f"{path} is there already and holds something else"
    return [codes.UNWRITABLE.at(Location(file=path), message, help="replace it with --force")]
