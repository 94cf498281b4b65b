"""Which entry of a kustomization kustomize means where it cannot build one, and what to do about it.

Upstream: the words of its api/internal/target, api/internal/loader, api/internal/builtins and api/resource. A place is
told only where one entry alone can be meant.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.blame import missing, patches
from render.manifests.kustomization import Reach, Reference
from render.model import patterns
from render.model.api_version import group_meant, version_to_write
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean, is_near, nearest
from render.model.resource import text_at
from render.model.tree import get
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

_FIELDS = (
    "apiVersion", "kind", "metadata", "openapi", "namePrefix", "nameSuffix", "namespace", "commonLabels", "labels",
    "commonAnnotations", "patches", "images", "replacements", "replicas", "sortOptions", "resources", "components",
    "crds", "configMapGenerator", "secretGenerator", "generatorOptions", "configurations", "generators",
    "transformers", "validators", "buildMetadata",
)  # fmt: skip
"""What a kustomization may say, but for what is deprecated."""
_GENERATOR = ("name", "namespace", "behavior", "files", "literals", "envs", "options")
_OF_ITEMS = {
    "patches": ("path", "patch", "target", "options"),
    "images": ("name", "newName", "newTag", "digest", "tagSuffix"),
    "labels": ("pairs", "includeSelectors", "includeTemplates", "fields"),
    "replicas": ("name", "count"),
    "replacements": ("path", "source", "targets"),
    "configMapGenerator": _GENERATOR,
    "secretGenerator": (*_GENERATOR, "type"),
    "target": (
        "group",
        "version",
        "kind",
        "name",
        "namespace",
        "labelSelector",
        "annotationSelector",
    ),
}
_LABELS = ("labels.pairs", "commonLabels", "commonAnnotations")
_OPERATIONS = ("add", "copy", "move", "remove", "replace", "test")
_OBJECT = r"([^\s.]+)\.[^\s/]+/([^\s\[]*)\.(?:\[noNs\]|[\w-]+)"
"""How kustomize names an object: ``Kind.version.group/name.namespace``, ``[noNs]`` where it has none."""


class BuildFault(NamedTuple):
    """What to do, and the file, line and column where; no place where it is not known."""

    place: patches.Position | None = None
    cure: str = ""


class _Broken(NamedTuple):
    """The kustomization *file* that cannot be built: its *document*, bytes and references; *reach* is of the build."""

    file: str
    document: Document
    data: bytes
    references: list[Reference]
    reach: Reach
    limits: Limits

    @property
    def body(self) -> Any:
        return self.document.body

    def at(self, path: FieldPath, within: tuple[int, int] = (0, 0)) -> patches.Position:
        return self.file, *locate(self.data, self.document.origin, path, within)

    def listed(self, name: str) -> tuple[str, Any]:
        """What it says under *name*, and how that is spelled: encoding/json minds no case."""
        wanted = name.casefold()
        return next(
            ((key, value) for key, value in self.body.items() if str(key).casefold() == wanted),
            (name, None),
        )


_Find = Callable[[_Broken, re.Match[str]], BuildFault]


def blame(words: str, file: str, reach: Reach, limits: Limits) -> BuildFault:
    """What of the kustomization *file*, one of those of *reach*, kustomize means by *words*, with what to do.

    The words are kustomize's own about this file, nothing of them left out yet: what this returns has no value of it.
    """
    loaded = kustomization.load(file, limits)
    if re.search(r"kustomization\S* is empty", words) and not loaded.diagnostics:
        return BuildFault((file, 1, 1), "list under resources: what it is made of")
    broken = _broken(file, loaded, reach, limits)
    for expression, find in _ROWS:
        match = re.search(expression, words)
        if match and broken is not None:
            return find(broken, match)
    return BuildFault()


def absent(
    loaded: kustomization.LoadedKustomization, file: str, path: str, reach: Reach, limits: Limits
) -> BuildFault:
    """Which entry of the kustomization *file*, *loaded* and one of those of *reach*, means *path*, which is absent."""
    broken = _broken(file, loaded, reach, limits)
    return _absent(broken, path) if broken is not None else BuildFault()


def _broken(
    file: str, loaded: kustomization.LoadedKustomization, reach: Reach, limits: Limits
) -> _Broken | None:
    if len(loaded.documents) != 1 or not isinstance(loaded.documents[0].body, dict):
        return None
    return _Broken(file, loaded.documents[0], loaded.data, loaded.references[0], reach, limits)


def _single(found: Iterable[Any]) -> Any:
    """The only one of what was *found*, None where there are none or several."""
    first, *others = [*found][:2] or [None]
    return None if others else first


def _missing(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A file or folder that is not there."""
    return _absent(broken, match[1])


def _absent(broken: _Broken, path: str) -> BuildFault:
    wanted = real_path(path)
    folder = os.path.dirname(broken.file) or "."
    named = [
        reference
        for reference in broken.references
        if real_path(os.path.join(folder, reference.entry)) == wanted
    ]
    if not named:
        return BuildFault()
    others = {real_path(os.path.join(folder, each.entry)) for each in broken.references}
    near = missing.near(
        named[0].entry, folder, others, kustomization.find if named[0].is_resource else None
    )
    cure = (
        f"did you mean {near}?"
        if near
        else "mend the path, or take the entry out: nothing is there"
    )
    return BuildFault(broken.at(named[0].path), cure)


def _unknown(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A field that no kustomization has."""
    try:
        word = json.loads(match[1])
    except ValueError:  # Go quotes what JSON does not
        return BuildFault()
    path = _single(_keys(broken.body, word))
    if path is None:
        return BuildFault()
    around = [step for step in path[:-1] if isinstance(step, str)]
    known = _OF_ITEMS.get(around[-1], ()) if around else _FIELDS
    return BuildFault(
        broken.at(path), did_you_mean(word, known, "kustomize knows no such field: take it out")
    )


def _keys(value: Any, word: str) -> Iterator[FieldPath]:
    """Where a key is called *word*, which Go's decoder looks for without regard to case."""
    pending: list[tuple[FieldPath, Any]] = [((), value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict):
            if word in node:
                yield (*path, word)
            pending += (((*path, key), child) for key, child in node.items())
        elif isinstance(node, list):
            pending += (((*path, index), child) for index, child in enumerate(node))


def _mistyped(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A field of another type."""
    field, wanted = match[1], match[2]
    if field == "patches.patch":
        return _no_text(broken)
    label = _no_label(broken, field) if field in _LABELS else BuildFault()
    if label.place is not None:
        return label
    key, value = broken.listed(field.partition(".")[0])
    if value is None:
        return BuildFault()
    is_list, is_text = wanted.startswith("[]"), wanted == "string"
    form = "a list" if is_list else "text" if is_text else "a mapping"
    path: FieldPath = (key,)
    if "." not in field and isinstance(value, list) and (is_text or wanted.startswith("types.")):
        kind: type = str if is_text else dict
        item = _single(n for n, each in enumerate(value) if not isinstance(each, kind))
        path = (key,) if item is None else (key, item)
    cure = f"write {form} there"
    if key == "resources" and len(path) > 1:
        cure = "write '- FILE', the name alone"
    if is_list:
        cure += ", each item in a line of its own that begins with '- '"
    elif key == "patches" and len(path) > 1:
        cure = "write '- path: FILE'"
    return BuildFault(broken.at(path), cure)


def _no_label(broken: _Broken, field: str) -> BuildFault:
    """A label or annotation that is no text."""
    name, *inside = field.split(".")
    key, value = broken.listed(name)
    holders: list[tuple[FieldPath, Any]] = [((key,), value)]
    if inside:
        entries = enumerate(value if isinstance(value, list) else ())
        holders = [((key, n, "pairs"), get(entry, "pairs")) for n, entry in entries]
    path = _single(
        (*path, label)
        for path, pairs in holders
        if isinstance(pairs, dict)
        for label, text in pairs.items()
        if not isinstance(text, str)
    )
    cure = "write it in quotes: labels and annotations are texts"
    return BuildFault(broken.at(path), cure) if path else BuildFault()


def _no_text(broken: _Broken) -> BuildFault:
    """A patch that stands there as what it says, and not as text."""
    key, index = _entry_of_patches(
        broken, lambda entry: not isinstance(entry.get("patch", ""), str)
    )
    if index is None:
        return BuildFault()
    return BuildFault(
        broken.at((key, index, "patch")), "write 'patch: |-', and leave it indented below that"
    )


def _entry_of_patches(broken: _Broken, is_meant: Callable[[Any], bool]) -> tuple[str, int | None]:
    """How `patches` is spelled, and the number of the only entry there that *is_meant*; None for none or several."""
    key, entries = broken.listed("patches")
    return key, _single(
        index
        for index, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and is_meant(entry)
    )


def _target(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A patch for an object that is not there."""
    kind, name = match[1], match[2]
    patch = _single(
        patch
        for patch in patches.of_kustomization(broken.file, broken.reach, broken.limits)
        if patch.target is None
        and text_at(patch.document.body, "kind") == kind
        and text_at(patch.document.body.get("metadata"), "name") == name
    )
    if patch is None:
        return BuildFault()
    every = [*_objects(broken.reach, broken.limits)]
    misspelt = next(
        (each for each in every if each.name == name and _is_misspelt(each, kind)), None
    )
    if misspelt is not None:
        cure = f"mend {misspelt.file} first: the patch has the {kind} {name} as it should be called"
        return BuildFault(patch.at(("metadata", "name")), cure)
    kinds = {each.kind for each in every}
    if kind not in kinds and (meant := nearest(kind, sorted(kinds))):
        return BuildFault(patch.at(("kind",)), f"did you mean {meant}?")
    place = patch.at(("metadata", "name"))
    known = {each.name: each for each in every if each.kind == kind}
    same = known.get(name)
    if same is not None:
        space = f" in namespace {same.namespace}" if same.namespace else ""
        return BuildFault(place, f"{name} is of {same.api_version}{space}: say so in the patch")
    names = sorted(known)
    listed = (
        f"there is {kind} {', '.join(names[:3])}"
        if names
        else f"no {kind} is there: take the patch out"
    )
    return BuildFault(place, did_you_mean(name, names, listed))


def _is_misspelt(known: "_KnownObject", kind: str) -> bool:
    """Whether *known* is KubeVirt's *kind* but for a slip in its own kind or API group, of which VR123 tells."""
    if not version_to_write(kind):
        return False
    group = known.api_version.rpartition("/")[0]
    if known.kind == kind:
        return bool(group_meant(group))
    return not version_to_write(known.kind) and is_near(known.kind, kind)


class _KnownObject(NamedTuple):
    """What a patch names of an object in a *file*."""

    file: str
    kind: str
    api_version: str
    name: str
    namespace: str


def _objects(reach: Reach, limits: Limits, kind: str = "") -> Iterator[_KnownObject]:
    """The objects of *kind*, if that is said, in the files of *reach*."""
    for file in dict.fromkeys(reach.resources):
        data = files.read(file, file, limits.file_bytes)
        for document in read(data, file, limits).documents if isinstance(data, bytes) else ():
            body, metadata = document.body, document.body.get("metadata")
            if kind in ("", text_at(body, "kind")):
                name, space = text_at(metadata, "name"), text_at(metadata, "namespace")
                known = text_at(body, "kind"), text_at(body, "apiVersion"), name, space
                yield _KnownObject(file, *known)


def _operation(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """An operation that no JSON patch has."""
    found = _single(
        patch.at((patches.OPERATIONS, index, "op"))
        for patch in patches.of_kustomization(broken.file, broken.reach, broken.limits)
        for index, operation in enumerate(patches.operations(patch))
        if text_at(operation, "op") == match[1]
    )
    cure = did_you_mean(match[1], _OPERATIONS, f"use one of {', '.join(_OPERATIONS)}")
    return BuildFault(found, cure if found else "")


def _without_key(broken: _Broken, wanted: str, cure: str, op: str = "") -> BuildFault:
    """The operation of a JSON patch, called *op* if that is said, that has no *wanted* key; what to do is *cure*."""
    found = _single(
        (patch, index, operation)
        for patch in patches.of_kustomization(broken.file, broken.reach, broken.limits)
        for index, operation in enumerate(patches.operations(patch))
        if isinstance(operation, dict) and wanted not in operation
        if not op or text_at(operation, "op") == op
    )
    if found is None:
        return BuildFault()
    patch, index, operation = found
    near = nearest(wanted, [str(key) for key in operation])
    place = (patches.OPERATIONS, index, *([near] if near else []))
    return BuildFault(patch.at(place), f"did you mean {wanted}?" if near else cure)


def _no_operation(broken: _Broken, _match: re.Match[str]) -> BuildFault:
    """What is no operation, since it does not say what it does."""
    return _without_key(broken, "op", f"add op: one of {', '.join(_OPERATIONS)}")


def _no_path(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """An operation that does not say where."""
    return _without_key(broken, "path", "add path: /spec/..., the field that is meant", match[1])


def _at_path(cure: str) -> _Find:
    """What finds the operation whose path kustomize names in its words, of which *cure* says what to do."""

    def find(broken: _Broken, match: re.Match[str]) -> BuildFault:
        found = _single(
            patch.at((patches.OPERATIONS, index, "path"))
            for patch in patches.of_kustomization(broken.file, broken.reach, broken.limits)
            for index, operation in enumerate(patches.operations(patch))
            if (text_at(operation, "op"), text_at(operation, "path")) == match.group("op", "path")
        )
        return BuildFault(found, cure if found else "")

    return find


def _without_target(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A list of operations, or what looks so, for no object."""
    key, index = _quoted_entry(broken, match)
    if index is None:
        return BuildFault()
    items = [
        operation
        for patch in patches.of_kustomization(broken.file, broken.reach, broken.limits)
        if patch.target is None
        for operation in patches.operations(patch)
    ]
    is_object = bool(items) and all(text_at(item, "kind") for item in items)
    cure = "take the '- ' in front away: an object is no list"
    if not is_object:
        cure = "add target: with the kind and the name of what it is for"
    return BuildFault(broken.at((key, index)), cure)


def _quoted_entry(broken: _Broken, match: re.Match[str]) -> tuple[str, int | None]:
    """How `patches` is spelled, and the number of the entry that kustomize quotes; None where it is not known."""
    try:
        text = json.loads(match[1])
    except ValueError:  # Go quotes what JSON does not
        return "patches", None
    return _entry_of_patches(broken, lambda entry: str(entry.get("patch")).strip() == text.strip())


def _neither(broken: _Broken, _match: re.Match[str]) -> BuildFault:
    """An entry without a patch."""
    key, index = _entry_of_patches(
        broken, lambda entry: not (entry.get("path") or entry.get("patch"))
    )
    cure = "add path: with the file of the patch, or patch: with its text"
    return BuildFault() if index is None else BuildFault(broken.at((key, index)), cure)


def _inline(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A patch in the kustomization that is neither an object nor a list of operations."""
    key, index = _quoted_entry(broken, match)
    if index is None:
        return BuildFault()
    text = str(broken.body[key][index]["patch"])
    problem = _unreadable(text.encode("utf-8", "replace"), "", broken.limits)
    path = (key, index, "patch")
    if problem is None:
        return BuildFault(broken.at(path), _SHAPES)
    within = problem.location.line, problem.location.column
    cure = f"line {within[0]} of the patch: {problem.message}"
    return BuildFault(broken.at(path, within), f"{cure}; {problem.help}" if problem.help else cure)


def _unreadable(data: bytes, file: str, limits: Limits) -> Diagnostic | None:
    """Why *data* are no YAML."""
    found = read(data, file, limits).diagnostics
    return next((each for each in found if each.code == codes.YAML_SYNTAX.number), None)


_SHAPES = "a patch is an object with apiVersion, kind and metadata.name, or a list of operations (op, path, value)"


def _patch_file(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A file with a patch that is neither an object nor a list of operations."""
    reference = _single(
        each for each in broken.references if not each.is_resource and each.entry == match[1]
    )
    if reference is None:
        return BuildFault()
    file = os.path.normpath(os.path.join(os.path.dirname(broken.file), reference.entry))
    data = files.read(file, file, broken.limits.file_bytes)
    problem = _unreadable(data, file, broken.limits) if isinstance(data, bytes) else None
    if problem is None:
        return BuildFault(broken.at(reference.path), _SHAPES)
    at = problem.location
    cure = f"{problem.message}; {problem.help}" if problem.help else problem.message
    return BuildFault((at.file, at.line, at.column), cure)


def _entry(cure: str) -> _Find:
    """What finds the resource that kustomize names in its words, of which *cure* says what to do."""

    def find(broken: _Broken, match: re.Match[str]) -> BuildFault:
        named = [
            reference.path
            for reference in broken.references
            if reference.is_resource and reference.entry == match[1]
        ]
        return BuildFault(broken.at(named[-1]), cure) if named else BuildFault()

    return find


def _component(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A folder that is listed as what it is not."""
    folder = os.path.dirname(broken.file) or "."
    reference = _single(
        each
        for each in broken.references
        if each.is_resource and real_path(os.path.join(folder, each.entry)) == real_path(match[1])
    )
    if reference is None:
        return BuildFault()
    is_component = str(reference.path[0]).casefold() == "components"
    right = "resources" if is_component else "components"
    other = "no Component" if is_component else "a Component"
    return BuildFault(broken.at(reference.path), f"it is {other}: list it under {right}")


def _empty(broken: _Broken, _match: re.Match[str]) -> BuildFault:
    """An item of a list of resources that says nothing."""
    key, entries = broken.listed("resources")
    items = entries if isinstance(entries, list) else []
    index = _single(n for n, entry in enumerate(items) if entry in (None, ""))
    return (
        BuildFault()
        if index is None
        else BuildFault(broken.at((key, index)), "take the empty item out")
    )


def _identity(field: str, cure: str) -> _Find:
    """What finds the *field* that says what a kustomization is."""

    def find(broken: _Broken, _match: re.Match[str]) -> BuildFault:
        return BuildFault(broken.at((field,)), cure) if field in broken.body else BuildFault()

    return find


def _folder(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A folder where a file with a patch should be."""
    reference = _single(
        each for each in broken.references if not each.is_resource and each.entry == match[1]
    )
    return (
        BuildFault(broken.at(reference.path), "name a file: this is a folder")
        if reference
        else BuildFault()
    )


def _expression(broken: _Broken, _match: re.Match[str]) -> BuildFault:
    """A target with a regular expression that is none."""
    key, entries = broken.listed("patches")
    path = _single(
        (key, index, "target", field)
        for index, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("target"), dict)
        for field, value in entry["target"].items()
        if isinstance(value, str) and patterns.regular(value) is None
    )
    cure = "a target is a regular expression: write a \\ before a sign that is meant as it is"
    return BuildFault(broken.at(path), cure) if path else BuildFault()


def _both(broken: _Broken, _match: re.Match[str]) -> BuildFault:
    """A patch that stands there, and in a file."""
    key, index = _entry_of_patches(broken, lambda entry: entry.get("path") and entry.get("patch"))
    return (
        BuildFault()
        if index is None
        else BuildFault(broken.at((key, index)), "leave one of path and patch")
    )


def _source(broken: _Broken, match: re.Match[str]) -> BuildFault:
    """A replacement of what is not there."""
    key, entries = broken.listed("replacements")
    index = _single(
        n
        for n, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
        and text_at(entry.get("source"), "kind") == match[1]
        and text_at(entry.get("source"), "name") == match[2]
    )
    if index is None:
        return BuildFault()
    names = sorted({each.name for each in _objects(broken.reach, broken.limits, match[1])})
    return BuildFault(
        broken.at((key, index, "source")), did_you_mean(match[2], names, "nothing is called so")
    )


_OF = r"(?:accumulat|merg)ing resources from '([^'\n]*)'[^\n]*?"
_ROWS: tuple[tuple[str, _Find], ...] = (
    (r"evalsymlink failure on '([^'\n]+)' ?:.*(?:no such file or|not a) directory", _missing),
    (r'unknown field ("(?:[^"\\]|\\.)*")', _unknown),
    (r"cannot unmarshal \w+ into Go struct field \w+\.([\w.]+) of type (\S+)", _mistyped),
    (rf"(?:no matches for Id |strategic merge patch \"){_OBJECT}", _target),
    (r"Unexpected kind: unknown\b", _no_operation),
    (r"Unexpected kind: (\S+)", _operation),
    (r"(\w+) operation failed to decode path", _no_path),
    (
        r"(?P<op>test)ing value (?P<path>/\S*) failed: test failed",
        _at_path("the object has another value there: mend the value, or take the operation out"),
    ),
    (
        r"error in (?P<op>\w+) for path: '(?P<path>[^'\n]*)'.* not a proper array index",
        _at_path("items of a list have numbers, from 0 on; - is behind the last one"),
    ),
    (r'specify a target for JSON patch \[patch: ("(?:[^"\\]|\\.)*")\]', _without_target),
    (r"must specify one of patch and path", _neither),
    (r'patch from \[patch: ("(?:[^"\\]|\\.)*")\]', _inline),
    (r'patch from \[path: "([^"\\]*)"\]', _patch_file),
    (r"from path\(([^)\n]+)\): '[^\n]*' must resolve to a file", _folder),
    (r"error parsing regexp:", _expression),
    (r"patch and path can't be set at the same time", _both),
    (r"expected kind (?:'Component'|!= 'Component') for path '([^'\n]+)'", _component),
    (r"new root cannot be empty", _empty),
    (r"kind should be Kustomization or Component", _identity("kind", "write kind: Kustomization")),
    (
        r"apiVersion for \w+ should be",
        _identity("apiVersion", "write apiVersion: kustomize.config.k8s.io/v1beta1"),
    ),
    (r"nothing selected by ([^\s.]+)\.[^\s/]*/([^\s.]+)\.", _source),
    (
        rf"{_OF}may not add resource with an already registered id",
        _entry(
            "an object of it is there already: take one of the two out, or make this one a patch"
        ),
    ),
    (rf"{_OF}cycle detected", _entry("take it out: it leads back to this kustomization")),
    (
        rf"{_OF}unable to find one of 'kustomization",
        _entry("this folder has no kustomization.yaml: list its files, or write one there"),
    ),
    (
        rf"{_OF}security; file",
        _entry(
            "kustomize reads files in and below its own folder alone: write a kustomization.yaml beside the file, and"
            " list that folder"
        ),
    ),
    (
        rf"{_OF}(?:missing Resource metadata|missing metadata\.name|missing kind in object|kind is missing)",
        _entry("all that stands in it has to be objects, with apiVersion, kind and metadata.name"),
    ),
)
"""What kustomize says, and what finds whom it means by that; the first that fits counts."""
