"""The files of VMs with what brings less than they said, and proof that KubeVirt does nothing about it."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from render.diagnostics.fix import edit_of, operation, set_to
from render.frontends.fixing import Editable
from render.frontends.parts import FleetPart
from render.frontends.request.request import Request
from render.frontends.session import reading
from render.manifests import kustomization
from render.manifests.fixes import FileEdit, edits_of
from render.manifests.sources import loading
from render.model.edits import Operation, edited
from render.model.fieldpath import FieldPath
from render.model.resource import ResourceRef
from render.model.tree import Tree
from render.pipeline.factor import proof
from render.pipeline.factor.answers import Factoring, MachineFactoring, NewDefinition
from render.system import files
from render.yaml import reader, rewrite, writer
from render.yaml.rewrite import Unwritten

#: Where new definitions are written, beside what is built or in the folder of loose files.
DEFINITIONS = "definitions.yaml"
_UNPLACED = "its manifest is made of several files, or is none that can be rewritten"


class WrittenPart(NamedTuple):
    """The new *texts* of files, what these were read as, the VMs that changed, and why others did not, by index."""

    texts: dict[str, str]
    known: dict[str, bytes]
    machines: frozenset[int]
    refused: dict[int, str]
    definitions: tuple[NewDefinition, ...]
    file: str


class FactoredPart:
    """What was found for the VMs of a part, and what was *written* of it, if that was asked for."""

    __slots__ = ("factoring", "part", "written")

    def __init__(self, part: FleetPart, factoring: Factoring) -> None:
        self.part = part
        self.factoring = factoring
        self.written: WrittenPart | None = None


def written(one: FactoredPart, asked: Request, editable: Editable) -> WrittenPart:
    """The texts with all edits of *one* against which nothing speaks. Nothing is written yet."""
    return _PartWriting(one, asked, editable).run()


class _PartWriting:
    """The VMs of a part that are being rewritten."""

    def __init__(self, one: FactoredPart, asked: Request, editable: Editable) -> None:
        self._part, self._factoring = one.part, one.factoring
        self._asked, self._editable = asked, editable
        self._refused: dict[int, str] = {}
        self._originals: dict[str, bytes] = {}
        self._edits: dict[int, tuple[FileEdit, ...]] = {}

    def run(self) -> WrittenPart:
        """Leave out VMs until nothing speaks against the others."""
        for machine in self._factoring.machines:
            if machine.edits:
                self._place(machine)
        texts: dict[str, str] = {}
        while self._edits:
            attempt = self._texts()
            objections = attempt if isinstance(attempt, _Objections) else self._objections(attempt)
            if not objections:
                texts = {} if isinstance(attempt, _Objections) else attempt
                break
            for index, why in objections.items():
                self._refused[index] = why
                self._edits.pop(index, None)
        known = {file: data for file, data in self._originals.items() if file in texts}
        definitions = tuple(self._definitions()) if texts else ()
        return WrittenPart(
            texts, known, frozenset(self._edits), self._refused, definitions, self._file
        )

    def _place(self, machine: MachineFactoring) -> None:
        edits = edits_of(machine.index, [*map(edit_of, machine.edits)], self._part.loaded)
        if self._part.loaded.filled or not edits:
            self._refused[machine.index] = _UNPLACED
            return
        why = next(filter(None, (self._editable.why_not(one.file) for one in edits)), "")
        if why:
            self._refused[machine.index] = why
        else:
            self._edits[machine.index] = edits

    @property
    def _folder(self) -> str:
        """The folder that is built, or that holds all loose files of the VMs that are written."""
        if self._part.loaded.is_built:
            return self._part.loaded.folder
        edits = (one for edits in self._edits.values() for one in edits)
        folders = {os.path.dirname(os.path.abspath(one.file)) for one in edits}
        return os.path.relpath(os.path.commonpath(folders)) if folders else os.curdir

    @property
    def _file(self) -> str:
        """The file for new definitions."""
        return os.path.normpath(os.path.join(self._folder, DEFINITIONS))

    def _definitions(self) -> Iterator[NewDefinition]:
        """The new definitions that VMs use which are written."""
        kept = {self._part.resources[index].ref for index in self._edits}
        for one in self._factoring.definitions:
            users = tuple(ref for ref in one.users if ref in kept)
            if users:
                yield one._replace(users=users)

    def _texts(self) -> "dict[str, str] | _Objections":
        """The new text of each file, or the VMs in files that have none, and why."""
        texts: dict[str, str] = {}
        by_file: dict[str, list[int]] = {}
        for index, edits in self._edits.items():
            for one in edits:
                by_file.setdefault(one.file, []).append(index)
        objections = _Objections()
        for file, indexes in by_file.items():
            all_edits = (one for index in dict.fromkeys(indexes) for one in self._edits[index])
            text = self._rewritten(file, [one for one in all_edits if one.file == file])
            if isinstance(text, Unwritten):
                objections |= dict.fromkeys(indexes, f"{file} cannot be rewritten: {text.why}")
            else:
                texts[file] = text
        bodies = [one.body for one in self._definitions()]
        why = self._add_definitions(bodies, texts) if bodies and not objections else ""
        if why:
            named = {ref for one in self._definitions() for ref in one.users}
            resources = self._part.resources
            objections |= {index: why for index in self._edits if resources[index].ref in named}
        return objections or texts

    def _add_definitions(self, bodies: Sequence[Tree], texts: dict[str, str]) -> str:
        """Add *bodies* to *texts*, and to the kustomization; why that cannot be, ``""`` if it can."""
        file = self._file
        if why := self._editable.why_not(file):
            return why
        before = ""
        if os.path.lexists(file):
            data = files.read(file, file, self._asked.reading.limits.file_bytes)
            if not isinstance(data, bytes):
                return data.message
            try:
                before = texts.get(file) or data.decode()
            except UnicodeDecodeError:
                return f"{file} is not UTF-8"
            if not rewrite.is_yaml(before):
                return f"{file} is JSON, to which nothing is added"
            self._originals[file] = data
        texts[file] = _joined(before, writer.write(bodies))
        if not self._part.loaded.is_built:
            return ""
        own = kustomization.find(self._folder)
        if own is None or (why := self._editable.why_not(own)):
            return why if own else f"{self._folder} has no kustomization"
        documents = reader.read(self._data(own), own, self._asked.reading.limits).documents
        listed = documents[0].body.get("resources") if documents else None
        if isinstance(listed, list) and DEFINITIONS in listed:
            return ""
        edit = (
            set_to(("resources", len(listed)), DEFINITIONS)
            if isinstance(listed, list)
            else set_to(("resources",), [DEFINITIONS])
        )
        text = self._rewritten(own, [FileEdit(own, 0, (), edit)])
        if isinstance(text, Unwritten):
            return f"{own} cannot be rewritten: {text.why}"
        texts[own] = text
        return ""

    def _rewritten(self, file: str, edits: Iterable[FileEdit]) -> str | Unwritten:
        operations: dict[int, list[tuple[FieldPath, Operation]]] = {}
        for one in edits:
            operations.setdefault(one.document, []).append((one.route, operation(one.edit)))
        return rewrite.rewritten(self._data(file), file, operations, self._asked.reading.limits)

    def _data(self, file: str) -> bytes:
        if file not in self._originals:
            data = files.read(file, file, self._asked.reading.limits.file_bytes)
            self._originals[file] = data if isinstance(data, bytes) else b""
        return self._originals[file]

    def _objections(self, texts: dict[str, str]) -> "_Objections":
        """What speaks against *texts*, by the VM; of other VMs that would change, against all."""
        after = self._built(texts) if self._part.loaded.is_built else self._edited()
        if isinstance(after, str):
            return _Objections(dict.fromkeys(self._edits, after))
        before = [one.body for one in self._part.resources]
        impacts = proof.impacts(before, after, self._part.request.settings)
        by_ref: dict[ResourceRef, int] = {
            self._part.resources[index].ref: index for index in self._edits
        }
        restarts = self._asked.own["restart"]
        found = _Objections()
        others: list[ResourceRef] = []
        for ref, impact in impacts.items():
            if ref in by_ref:
                if why := proof.objection(impact, restarts=restarts):
                    found[by_ref[ref]] = why
            elif proof.is_affected(impact):
                others.append(ref)
        if others:
            # What is found twice, say, has something to say of itself without any change.
            anyhow = proof.impacts(before, before, self._part.request.settings)
            changed = [ref for ref in others if ref not in anyhow or anyhow[ref] != impacts[ref]]
            if changed:
                found |= dict.fromkeys(self._edits, f"{changed[0]} would change")
        lost = [ref for ref in by_ref if ref not in impacts]
        return _Objections(found | {by_ref[ref]: "it would be gone" for ref in lost})

    def _edited(self) -> list[Tree]:
        """The objects as they are then: texts say exactly this (`rewrite.rewritten`)."""
        operations = {one.index: one.edits for one in self._factoring.machines}
        bodies = [
            edited(one.body, operations[one.index]) if one.index in self._edits else one.body
            for one in self._part.resources
        ]
        return [*bodies, *(one.body for one in self._definitions())]

    def _built(self, texts: dict[str, str]) -> list[Tree] | str:
        """What kustomize builds of the new *texts*, or why it does not."""
        contents = {os.path.realpath(file): text.encode() for file, text in texts.items()}
        with files.overlaid(contents):
            loaded = loading.load([self._folder], reading(self._part.request, None))
        faults = [one for one in loaded.diagnostics if one.is_error]
        if faults:
            return f"kustomize would build it no more: {faults[0].message}"
        return [one.body for one in loaded.documents]


class _Objections(dict[int, str]):
    """Why VMs, by index, stay as they are."""


def _joined(before: str, added: str) -> str:
    if not before.strip():
        return added
    end = "" if before.endswith("\n") else "\n"
    start = "" if added.startswith("---") else "---\n"
    return f"{before}{end}{start}{added}"
