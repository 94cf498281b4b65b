"""``virt-render kustomize init``: two files that teach kustomize what it should know of KubeVirt's objects."""

import json
import os

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.kustomize import names, openapi
from render.frontends.progress import Work
from render.frontends.reporting import refuse
from render.frontends.request.request import Request
from render.manifests import kustomization, sources
from render.system import files, writing
from render.system.streams import STDOUT, emit
from render.yaml import writer
from render.yaml.budget import Limits

SCHEMA_FILE = "kubevirt-openapi.json"
NAMES_FILE = "kubevirt-names.yaml"
_LINES = f"openapi:\n  path: {SCHEMA_FILE}\nconfigurations:\n- {NAMES_FILE}\n"


def init(asked: Request, work: Work) -> Exit:  # noqa: ARG001 - what every command gets
    """Write both files, and print the lines for the kustomization beside them."""
    folder, force = asked.paths[0], asked.own["force"]
    faults: list[Diagnostic] = []
    for name, content in contents().items():
        path = os.path.join(folder, name)
        if sources.leads_out(path):
            faults.append(kustomization.outside(path))
            continue
        if os.path.lexists(path) and not force:
            faults += _differs(path, content)
            continue
        try:
            writing.write_atomic(path, content)
        except OSError as error:
            faults.append(writing.unwritable(error, path))
    if faults:
        return refuse(faults, asked)
    emit(_LINES, STDOUT)
    return Exit.OK


def contents() -> dict[str, str]:
    """What is written, by file name."""
    return {
        SCHEMA_FILE: json.dumps(openapi.schema(), indent=1) + "\n",
        NAMES_FILE: writer.dump(names.configuration()),
    }


def _differs(path: str, content: str) -> list[Diagnostic]:
    data = files.read(path, path, Limits().file_bytes)
    if isinstance(data, Diagnostic):
        return [data]
    if data == content.encode():
        return []
    message = f"{path} is there already and holds something else"
    return [codes.UNWRITABLE.at(Location(file=path), message, help="replace it with --force")]
