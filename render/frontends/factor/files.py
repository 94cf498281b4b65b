"""The files of VMs with what brings less than they said, and proof that KubeVirt does nothing about it."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from render.diagnostics.fix import edit_of, set_to
from render.frontends.factor.users import AppliedInput, InputUsers
from render.frontends.fixing import Editable, in_use
from render.frontends.parts import FleetPart
from render.frontends.request.request import Request
from render.manifests import kustomization
from render.manifests.documents import Documents
from render.manifests.fixes import FileEdit, FileTexts, by_file, edits_of
from render.model.edits import Operation, Put, edited
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, ResourceRef, from_body, text_at
from render.model.tree import Tree
from render.pipeline.factor import proof, standins
from render.pipeline.factor.answers import (
    Factoring,
    MachineFactoring,
    NewDefinition,
    PresetFactoring,
)
from render.presets import APPLIED
from render.system import files
from render.system.files import real_path
from render.yaml import reader, writer
from render.yaml.editing import rewrite
from render.yaml.editing.rewrite import Unwritten
from render.yaml.reader import Document

#: Where new definitions are written, beside what is built or in the folder of loose files.
DEFINITIONS = "definitions.yaml"
_BY_WORD = {kind_class.word: kind_class for kind_class in KIND_CLASSES}
_UNPLACED = "its manifest is made of several files, or is none that can be rewritten"


#: A VM by the index of its object, and its place in it.
MachineKey = tuple[int, FieldPath]


class WrittenPart(NamedTuple):
    """The new *texts* of files, what these were read as, the VMs that changed, and why others did not, by key.

    *name*: what the part is called; *dropped*: the presets that are gone, by index.
    """

    name: str
    texts: dict[str, str]
    known: dict[str, bytes]
    machines: frozenset[MachineKey]
    refused: dict[MachineKey, str]
    definitions: tuple[NewDefinition, ...]
    file: str
    dropped: frozenset[int]


class FactoredPart:
    """What was found for the VMs of a part, and what was *written* of it, if that was asked for."""

    __slots__ = ("factoring", "part", "written")

    def __init__(self, part: FleetPart, factoring: Factoring) -> None:
        self.part = part
        self.factoring = factoring
        self.written: WrittenPart | None = None


class Writability(NamedTuple):
    """Which files may say something new: those that are *editable*, as their *users* allow."""

    editable: Editable
    users: InputUsers

    def why_not(self, file: str) -> str:
        """Why *file* stays as it is, ``""`` if it need not."""
        return self.editable.why_not(file) or self.users.why_not(file)


def written(
    factored_part: FactoredPart,
    request: Request,
    writability: Writability,
    earlier: Sequence[WrittenPart],
) -> WrittenPart:
    """The texts with all edits of *factored_part* against which nothing speaks. Nothing is written yet.

    *earlier* parts are as they will be.
    """
    return _PartWriting(factored_part, request, writability, earlier).run()


class _PartWriting:
    """The VMs of a part that are being rewritten."""

    def __init__(
        self,
        factored_part: FactoredPart,
        request: Request,
        writability: Writability,
        earlier: Sequence[WrittenPart],
    ) -> None:
        self._part, self._factoring = factored_part.part, factored_part.factoring
        self._resources = self._part.resources
        self._request, self._writability, self._users = request, writability, writability.users
        rewritten = [
            (file, part.name, data)
            for part in earlier
            for file, data in _contents(part.texts).items()
        ]
        self._rewritten_with = {file: name for file, name, _ in rewritten}
        self._earlier = {file: data for file, _, data in rewritten}
        self._before_of: dict[str, Documents] = {}
        self._refused: dict[MachineKey, str] = {}
        self._originals: dict[str, bytes] = {}
        self._edited_files = FileTexts(self._data, request.reading.limits)
        self._edits: dict[MachineKey, tuple[FileEdit, ...]] = {}
        self._gone: dict[int, PresetFactoring] = {}
        self._renamed: dict[tuple[str, str], str] = {}

    def run(self) -> WrittenPart:
        """Leave out VMs until nothing speaks against the others."""
        for machine in self._factoring.machines:
            if machine.edits:
                self._place(machine)
        for preset in self._factoring.presets:
            if not preset.reason:
                self._place_preset(preset)
        texts: dict[str, str] = {}
        while self._edits or self._gone:
            renamed = self._renamed
            attempt = self._texts()
            objections = attempt if isinstance(attempt, _Objections) else self._objections(attempt)
            if renamed != self._renamed:
                self._place_again()
            elif objections:
                self._leave_out(objections)
            else:
                texts = {} if isinstance(attempt, _Objections) else attempt
                break
        known = {file: data for file, data in self._originals.items() if file in texts}
        definitions = tuple(self._definitions()) if texts else ()
        return WrittenPart(
            self._part.loaded.name,
            texts,
            known,
            frozenset(self._edits),
            self._refused,
            definitions,
            self._file,
            frozenset(self._gone),
        )

    def _leave_out(self, objections: "_Objections") -> None:
        """Go on without what *objections* are about; where presets were to go, it may be because of them."""
        if self._gone:
            why = next(iter(objections.values()))
            self._refused |= {(index, ()): why for index in self._gone}
            self._gone = {}
            return
        for key, why in objections.items():
            self._refused[key] = why
            self._edits.pop(key, None)

    def _place_again(self) -> None:
        """Let matchers have the names that new definitions get."""
        for machine in self._factoring.machines:
            if (machine.index, machine.path) in self._edits:
                self._place(machine)

    def _place_preset(self, preset: PresetFactoring) -> None:
        """Let *preset* go if it stands alone in a document of a file that may be edited."""
        loaded = self._part.loaded
        kept = [key for key in self._refused if self._resources[key[0]].ref in preset.users]
        origin = loaded.documents[preset.index].origin
        if kept:
            why = f"{self._resources[kept[0][0]].ref} is not written"
        elif loaded.filled or origin.file not in loaded.data:
            why = _UNPLACED
        elif origin.item:
            why = "it stands in a List with others: take it out by hand"
        else:
            why = self._why_not(origin.file)
        if why:
            self._refused[preset.index, ()] = why
        else:
            self._gone[preset.index] = preset

    def _place(self, machine: MachineFactoring) -> None:
        key = machine.index, machine.path
        operations = [edit_of(self._as_built(edit)) for edit in machine.edits]
        edits = edits_of(machine.index, operations, self._part.loaded)
        if self._part.loaded.filled or not edits:
            self._refused[key] = _UNPLACED
            return
        why = next(filter(None, (self._why_not(edit.file) for edit in edits)), "")
        if why:
            self._refused[key] = why
        else:
            self._edits[key] = edits

    def _why_not(self, file: str) -> str:
        """Why *file* stays as it is, ``""`` if it need not."""
        name = self._rewritten_with.get(real_path(file))
        return f"{file} is rewritten with {name}" if name else self._writability.why_not(file)

    def _as_built(self, edit: Operation) -> Operation:
        """*edit* with the name that a new definition gets from kustomize, which knows no matchers."""
        kind_class = _BY_WORD.get(str(edit.path[-1]))
        if not isinstance(edit, Put) or kind_class is None:
            return edit
        kind = edit.value.get("kind", kind_class.cluster)
        name = edit.value["name"]
        return Put(edit.path, {**edit.value, "name": self._renamed.get((kind, name), name)})

    @property
    def _folder(self) -> str:
        """The folder that is built, or that holds all loose files of the VMs that are written."""
        if self._part.loaded.is_built:
            return self._part.loaded.folder
        edits = (edit for edits in self._edits.values() for edit in edits)
        folders = {os.path.dirname(os.path.abspath(edit.file)) for edit in edits}
        return os.path.relpath(os.path.commonpath(folders)) if folders else os.curdir

    @property
    def _file(self) -> str:
        """The file for new definitions."""
        return os.path.normpath(os.path.join(self._folder, DEFINITIONS))

    def _definitions(self) -> Iterator[NewDefinition]:
        """The new definitions that VMs use which are written, but for those that an earlier part brings."""
        kept = {self._resources[index].ref for index, _ in self._edits}
        brought = self._brought
        for definition in self._factoring.definitions:
            users = tuple(ref for ref in definition.users if ref in kept)
            if users and definition.body not in brought:
                yield definition._replace(users=users)

    @cached_property
    def _own(self) -> AppliedInput | None:
        """The part as an input that kustomize builds; None where nothing does."""
        return self._users.own(self._part.loaded) if self._part.loaded.is_built else None

    @cached_property
    def _brought(self) -> Sequence[Tree]:
        """What is built with the texts of earlier parts; nothing where these have no say in it."""
        own = self._own
        if own is None or own.reads is None or own.reads.isdisjoint(self._earlier):
            return ()
        return [document.body for document in self._before(own).documents]

    def _lacking(self) -> "_Objections":
        """The VMs whose new definitions an input would not have that applies their file, too."""
        named = {ref for definition in self._definitions() for ref in definition.users}
        objections = _Objections()
        for key, edits in self._edits.items():
            if self._resources[key[0]].ref not in named:
                continue
            for edit in edits:
                users = self._users.of([edit.file])
                lacking = [user.name for user in users if not self._is_brought_to(user)]
                if lacking:
                    words = in_use(lacking, edit.file)
                    objections[key] = f"{words}, and would be without {self._file}"
        return objections

    def _is_brought_to(self, user: AppliedInput) -> bool:
        """Whether *user* has what stands in the file for new definitions."""
        is_base = self._part.loaded.is_built and user.builds(self._folder)
        return is_base or user.has(self._file)

    def _texts(self) -> "dict[str, str] | _Objections":
        """The new text of each file, or the VMs in files that have none, and why."""
        texts: dict[str, str] = {}
        machines: dict[str, list[MachineKey]] = {}
        for key, edits in self._edits.items():
            for edit in edits:
                machines.setdefault(edit.file, []).append(key)
        objections = self._lacking()
        if objections:
            return objections
        for file, keys in machines.items():
            all_edits = (edit for key in dict.fromkeys(keys) for edit in self._edits[key])
            rewritten = self._rewritten(file, all_edits)
            if isinstance(rewritten, str):
                objections |= self._unwritten(file, keys) or dict.fromkeys(keys, rewritten)
            else:
                texts |= rewritten
        for file, numbers in self._gone_by_file().items():
            before = texts[file].encode() if file in texts else self._data(file)
            without = rewrite.without(before, file, numbers, self._request.reading.limits)
            if isinstance(without, Unwritten):
                objections |= {(i, ()): f"{file}: {without.why}" for i in self._gone}
            else:
                texts[file] = without
        bodies = [definition.body for definition in self._definitions()]
        why = self._add_definitions(bodies, texts) if bodies and not objections else ""
        if why:
            named = {ref for definition in self._definitions() for ref in definition.users}
            resources = self._resources
            objections |= {key: why for key in self._edits if resources[key[0]].ref in named}
        return objections or texts

    def _rewritten(self, file: str, edits: Iterable[FileEdit]) -> dict[str, str] | str:
        """The new text of *file* with those of *edits* that are its own, or why there is none."""
        return self._edited_files.after(by_file(edit for edit in edits if edit.file == file))

    def _unwritten(self, file: str, keys: Iterable[MachineKey]) -> dict[MachineKey, str]:
        """Those VMs of *file* that cannot be rewritten even alone, and why; the others may be."""
        alone = {key: self._rewritten(file, self._edits[key]) for key in dict.fromkeys(keys)}
        return {key: why for key, why in alone.items() if isinstance(why, str)}

    def _gone_by_file(self) -> dict[str, list[int]]:
        """The numbers of the documents of presets that go, by file."""
        numbers: dict[str, list[int]] = {}
        for index in self._gone:
            origin = self._part.loaded.documents[index].origin
            numbers.setdefault(origin.file, []).append(origin.document)
        return numbers

    def _add_definitions(self, bodies: Sequence[Tree], texts: dict[str, str]) -> str:
        """Add *bodies* to *texts*, and to the kustomization; why that cannot be, ``""`` if it can."""
        file = self._file
        if why := self._why_not(file):
            return why
        before = ""
        if os.path.lexists(file):
            data = files.read(file, file, self._request.reading.limits.file_bytes)
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
        if own is None or (why := self._why_not(own)):
            return why if own else f"{self._folder} has no kustomization"
        documents = reader.read(self._data(own), own, self._request.reading.limits).documents
        listed = documents[0].body.get("resources") if documents else None
        if isinstance(listed, list) and DEFINITIONS in listed:
            return ""
        edit = (
            set_to(("resources", len(listed)), DEFINITIONS)
            if isinstance(listed, list)
            else set_to(("resources",), [DEFINITIONS])
        )
        rewritten = self._edited_files.after(by_file([FileEdit(own, 0, (), edit)]))
        if isinstance(rewritten, str):
            return rewritten
        texts |= rewritten
        return ""

    def _data(self, file: str) -> bytes:
        if file not in self._originals:
            data = files.read(file, file, self._request.reading.limits.file_bytes)
            self._originals[file] = data if isinstance(data, bytes) else b""
        return self._originals[file]

    def _objections(self, texts: dict[str, str]) -> "_Objections":
        """What speaks against *texts*, by the VM; of other VMs that would change, against all."""
        resources = self._resources
        known = {resource.index: resource.index for resource in resources}
        if self._own is None:
            return self._compared(resources, self._edited(), known) or self._elsewhere(texts)
        loaded = self._built(self._own, texts)
        if why := _fault(loaded):
            return _Objections(
                dict.fromkeys(self._edits, f"kustomize would build it no more: {why}")
            )
        self._renamed = {
            (kind, name): built
            for document in loaded.documents
            if document.before is not None
            and real_path(document.origin.file) == real_path(self._file)
            for kind, name, built in [_names(document)]
            if name != built
        }
        if self._brought:
            before = self._before(self._own)
            resources, known = _resources(before), self._same_places(before)
        return self._compared(resources, _bodies(loaded), known) or self._elsewhere(texts)

    def _elsewhere(self, texts: dict[str, str]) -> "_Objections":
        """The same of the other inputs that build the file of a VM."""
        names = dict.fromkeys(edit.file for edits in self._edits.values() for edit in edits)
        found = _Objections()
        for user in self._users.of(names):
            if user.reads is None or (self._own is not None and user.name == self._own.name):
                continue
            before, loaded = self._before(user), self._built(user, texts)
            if why := _fault(before) or _fault(loaded):
                for key, edits in self._edits.items():
                    if any(user.has(edit.file) for edit in edits):
                        found[key] = f"{user.name} cannot be built: {why}"
                continue
            known = self._same_places(before)
            objections = self._compared(_resources(before), _bodies(loaded), known)
            found |= {key: f"in {user.name}: {why}" for key, why in objections.items()}
        return found

    def _before(self, user: AppliedInput) -> Documents:
        """What *user* is built to with the texts of earlier parts alone."""
        if user.name not in self._before_of:
            self._before_of[user.name] = self._built(user, {})
        return self._before_of[user.name]

    def _built(self, user: AppliedInput, texts: Mapping[str, str]) -> Documents:
        """What *user* is built to with *texts*, and those of earlier parts."""
        contents = {**self._earlier, **_contents(texts)}
        return self._users.built(user, self._part.request, contents)

    def _same_places(self, loaded: Documents) -> dict[int, int]:
        """The indexes of the objects of the part, by those of the same documents in *loaded*."""
        own = {_place(document): i for i, document in enumerate(self._part.loaded.documents)}
        return {
            index: own[_place(document)]
            for index, document in enumerate(loaded.documents)
            if _place(document) in own
        }

    def _compared(
        self, before: Sequence[Resource], after: Sequence[Tree], known: Mapping[int, int]
    ) -> "_Objections":
        """What speaks against *after*, where *before* has objects of the part at the indexes *known*."""
        held = standins.of(before)
        first, second = ([resource.body for resource in held.resources], _with_stand_ins(after))
        impacts = proof.impacts(first, second, self._part.request.settings)
        by_ref = dict(self._rewritten_machines(held, known))
        restarts = self._request.own["restart"]
        marks = {APPLIED + preset.resource.name for preset in self._gone.values()}
        users = {ref for preset in self._gone.values() for ref in preset.users}
        found = _Objections()
        others: list[ResourceRef] = []
        for ref, impact in impacts.items():
            if ref in by_ref:
                key, number = by_ref[ref]
                is_known = not number or not impact.unrendered
                if is_known and (why := proof.objection(impact, restarts=restarts, marks=marks)):
                    found[key] = why
            elif ref in users:
                if why := proof.objection(impact, restarts=restarts, marks=marks):
                    found[next(iter(self._gone)), ()] = f"{ref}: {why}"
            elif proof.is_affected(impact):
                others.append(ref)
        if others:
            # What is found twice, say, has something to say of itself without any change.
            anyhow = proof.impacts(first, first, self._part.request.settings)
            changed = [ref for ref in others if ref not in anyhow or anyhow[ref] != impacts[ref]]
            if changed:
                found |= dict.fromkeys(self._edits, f"{changed[0]} would change")
        lost = [ref for ref in by_ref if ref not in impacts]
        return _Objections(found | {by_ref[ref][0]: "it would be gone" for ref in lost})

    def _rewritten_machines(
        self, held: standins.Held, known: Mapping[int, int]
    ) -> Iterator[tuple[ResourceRef, tuple[MachineKey, int]]]:
        """The VMs that are rewritten, with their keys and the numbers of their examples."""
        for resource in held.resources:
            outer, path = held.written(resource.index)
            key = known.get(outer.index, -1), path
            if key in self._edits:
                stand_in = held.by_index.get(resource.index)
                yield resource.ref, (key, stand_in.number if stand_in else 0)

    def _edited(self) -> list[Tree]:
        """The objects as they are then: texts say exactly this (`rewrite.rewritten`)."""
        operations: dict[int, list[Operation]] = {}
        for machine in self._factoring.machines:
            if (machine.index, machine.path) in self._edits:
                operations.setdefault(machine.index, []).extend(machine.edits)
        bodies = [
            edited(resource.body, operations[resource.index])
            if resource.index in operations
            else resource.body
            for resource in self._resources
            if resource.index not in self._gone
        ]
        return [*bodies, *(definition.body for definition in self._definitions())]


class _Objections(dict[MachineKey, str]):
    """Why VMs stay as they are."""


def _names(document: Document) -> tuple[str, str, str]:
    """The kind of what was built, and its name before and after."""
    before, after = (
        text_at((body or {}).get("metadata"), "name") for body in (document.before, document.body)
    )
    return text_at(document.body, "kind"), before, after


def _contents(texts: Mapping[str, str]) -> dict[str, bytes]:
    """What *texts* say, by the resolved names of their files."""
    return {real_path(file): text.encode() for file, text in texts.items()}


def _fault(loaded: Documents) -> str:
    """The first error of *loaded*, ``""`` for none."""
    faults = (found.message for found in loaded.diagnostics if found.is_error)
    return next(faults, "")


def _bodies(loaded: Documents) -> list[Tree]:
    return [document.body for document in loaded.documents]


def _resources(loaded: Documents) -> list[Resource]:
    return [from_body(body, index) for index, body in enumerate(_bodies(loaded))]


def _place(document: Document) -> tuple[str, int, object]:
    """Where *document* was written."""
    origin = document.origin
    return real_path(origin.file), origin.document, origin.item


def _with_stand_ins(objects: Iterable[Tree]) -> list[Tree]:
    """*objects* with stand-ins for the VMs that some of them hold."""
    resources = [from_body(body, index) for index, body in enumerate(objects)]
    return [resource.body for resource in standins.of(resources).resources]


def _joined(before: str, added: str) -> str:
    if not before.strip():
        return added
    end = "" if before.endswith("\n") else "\n"
    start = "" if added.startswith("---") else "---\n"
    return f"{before}{end}{start}{added}"
