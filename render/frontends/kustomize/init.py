"""``virt-render kustomize init``: two files that teach kustomize what it should know of KubeVirt's objects."""

import json
import os

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.answer import Answer, Files
from render.frontends.kustomize import names, openapi
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.manifests import discover, kustomization
from render.system import files
from render.yaml import writer
from render.yaml.budget import Limits

SCHEMA_FILE = "kubevirt-openapi.json"
NAMES_FILE = "kubevirt-names.yaml"
_LINES = f"openapi:\n  path: {SCHEMA_FILE}\nconfigurations:\n- {NAMES_FILE}\n"


def init(request: Request, work: Work) -> Answer:  # noqa: ARG001 - what every command gets
    """Write both files, and print the lines for the kustomization beside them."""
    folder, force = request.paths[0], request.own["force"]
    faults: list[Diagnostic] = []
    files_: list[tuple[str, str]] = []
    for name, content in contents().items():
        path = os.path.join(folder, name)
        if discover.leads_out(path):
            faults.append(kustomization.outside(path))
        elif os.path.lexists(path) and not force:
            faults += _differs(path, content)
        else:
            files_.append((path, content))
    return Answer([_LINES], faults=faults, files=Files(files_))


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
