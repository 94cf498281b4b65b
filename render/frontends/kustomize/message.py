"""What kustomize says to a plugin and wants to hear, in both of its languages.

A KRM function gets a ResourceList on stdin and answers with one. A legacy exec plugin gets the file of its
configuration as the first argument, plain documents on stdin, and answers with plain documents. (kustomize:
kyaml/fn/runtime, api/internal/plugins/execplugin.)
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests.sources.intake import STDIN, excess, piped, room
from render.model.hints import Any, BinaryIO
from render.model.named_tuple import NamedTuple
from render.model.resource import KUBEVIRT, Origin, ResourceRef, from_body
from render.model.tree import Tree, get
from render.report.findings import Finding
from render.system import files
from render.yaml import writer
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

API_VERSION = "config.kubernetes.io/v1"
KIND = "ResourceList"
_PLUGIN_FILE = "kust-plugin-config-"
_PLUGIN_VARIABLES = ("KUSTOMIZE_PLUGIN_CONFIG_STRING", "KUSTOMIZE_PLUGIN_CONFIG_ROOT")
_PLUGIN_KEYS = frozenset({"argsOneLiner", "argsFromFile"})
_BOOKKEEPING = (
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "config.k8s.io/",
    "kustomize.config.k8s.io/",
)
_HELP = "kustomize starts it as a function or plugin; for plain manifests use 'virt-render build -'"


class Message(NamedTuple):
    """What was sent: the *documents* and the function's *config*, in *size* bytes.

    *is_resource_list*: as kustomize speaks with a KRM function, and not as with a legacy plugin.
    """

    documents: list[Document]
    config: Tree | None
    is_resource_list: bool
    size: int = 0


def is_plugin(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether kustomize started us as a legacy exec plugin with the arguments *words*."""
    if not words or not os.path.isfile(words[0]):
        return False
    named = os.path.basename(words[0]).startswith(_PLUGIN_FILE)
    return named or any(name in environ for name in _PLUGIN_VARIABLES)


def receive(
    stdin: BinaryIO | None, config_file: str, limits: Limits
) -> tuple[Message, list[Diagnostic]]:
    """The message on *stdin* (of a legacy plugin, if there is a *config_file*), and what is wrong with it."""
    nothing = Message([], None, is_resource_list=not config_file)
    data = piped(stdin, room(limits))
    if isinstance(data, Diagnostic):
        return nothing, [data]
    if fault := excess(STDIN, len(data), limits):
        return nothing, [fault]
    stream = read(data, STDIN, limits, limits.budget.aliases if limits.budget else None)
    faults = [diagnostic for diagnostic in stream.diagnostics if diagnostic.is_error]
    if config_file:
        config, unread = _plugin_config(config_file, limits)
        sent = nothing._replace(documents=stream.documents, config=config, size=len(data))
        return sent, [*faults, *unread]
    if faults:
        return nothing, faults
    bodies = [document.body for document in stream.documents]
    if len(bodies) != 1 or bodies[0].get("kind") != KIND:
        contents = (
            f"{len(bodies)} documents" if len(bodies) != 1 else bodies[0].get("kind", "no kind")
        )
        message = f"standard input should hold one {KIND} and holds {contents}"
        return nothing, [codes.NOT_AN_OBJECT.at(Location(), message, help=_HELP)]
    items = bodies[0].get("items")
    items = [] if items is None else items
    if not isinstance(items, list):
        fault = codes.NOT_AN_OBJECT.at(Location(), f"items of the {KIND} is not a list", help=_HELP)
        return nothing, [fault]
    faults = [
        codes.NOT_AN_OBJECT.at(Location(), f"items[{index}] of the {KIND} is not an object")
        for index, item in enumerate(items)
        if not isinstance(item, dict)
    ]
    documents = [Document(item, Origin(STDIN, 0, (i,)), None) for i, item in enumerate(items)]
    config = bodies[0].get("functionConfig")
    sent = Message([] if faults else documents, config, is_resource_list=True, size=len(data))
    return sent, faults


def _plugin_config(path: str, limits: Limits) -> tuple[Tree | None, list[Diagnostic]]:
    data = files.read(path, os.path.basename(path), limits.file_bytes)
    if isinstance(data, Diagnostic):
        return None, [data]
    contents = read(data, os.path.basename(path), limits)
    body = contents.documents[0].body if contents.documents else {}
    config = {key: value for key, value in body.items() if key not in _PLUGIN_KEYS}
    return config, [diagnostic for diagnostic in contents.diagnostics if diagnostic.is_error]


def reply(
    message: Message, contents: Iterable[Tree | str], findings: Sequence[Finding] = ()
) -> str:
    """The answer that carries *contents* in the language of *message*; only a ResourceList can carry *findings*."""
    if not message.is_resource_list:
        return writer.write(contents)
    body: Tree = {"apiVersion": API_VERSION, "kind": KIND, "items": list(contents)}
    if message.config is not None:
        body["functionConfig"] = message.config
    if findings:
        versions = {
            from_body(document.body, 0).ref: document.body.get("apiVersion")
            for document in message.documents
        }
        body["results"] = [_result(finding, versions) for finding in findings]
    return writer.dump(body)


def _result(finding: Finding, versions: Mapping[ResourceRef, Any]) -> Tree:
    """A finding as the functions specification wants it."""
    diagnostic = finding.diagnostic
    help_text = f"; {diagnostic.help}" if diagnostic.help else ""
    result: Tree = {
        "message": f"{diagnostic.message}{help_text}",
        "severity": str(diagnostic.severity),
    }
    about = diagnostic.resource
    if about is not None:
        reference = {"apiVersion": versions.get(about), **about._asdict()}
        result["resourceRef"] = {key: value for key, value in reference.items() if value}
    if diagnostic.field:
        result["field"] = {"path": diagnostic.field}
    if finding.place.file:
        result["file"] = {"path": finding.place.file}
    return {**result, "tags": {"code": diagnostic.code}}


class KustomizeAnnotations:
    """The private annotations of kustomize on what it sent, by which it finds its objects again."""

    __slots__ = ("_notes",)

    def __init__(self, documents: Iterable[Document]) -> None:
        self._notes: dict[tuple[str, str, str, str], Tree] = {}
        for document in documents:
            resource = from_body(document.body, 0)
            annotations = get(document.body, "metadata", "annotations")
            self._notes[resource.group, resource.kind, resource.namespace, resource.name] = {
                key: value
                for key, value in (annotations.items() if isinstance(annotations, dict) else ())
                if key.startswith(_BOOKKEEPING)
            }

    def with_bookkeeping(self, body: Tree) -> Tree:
        """*body*, which was rendered, with the notes on the object that it was made of.

        A VMI is made of the VM of its name. What is new (a copy under another name) must not carry the notes of
        another object.
        """
        resource = from_body(body, 0)
        key = (resource.group, resource.kind, resource.namespace, resource.name)
        former = (
            KUBEVIRT,
            resource.kind.removesuffix("Instance"),
            resource.namespace,
            resource.name,
        )
        bookkeeping = self._notes.get(key, self._notes.get(former, {}))
        metadata = body.get("metadata") or {}
        own = {
            name: value
            for name, value in (metadata.get("annotations") or {}).items()
            if not name.startswith(_BOOKKEEPING)
        }
        annotations = {**own, **bookkeeping}
        if annotations == (metadata.get("annotations") or {}):
            return body
        return {**body, "metadata": {**metadata, "annotations": annotations}}
