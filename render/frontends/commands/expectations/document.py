"""The files with expectations: which there are, and what they say."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.request import config
from render.frontends.request.layers import locked_options_set
from render.manifests import discover
from render.manifests.blame import missing
from render.manifests.discover import tidy
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.model.resource import OWN, Origin, text_at
from render.report.impact.review import RANKED
from render.settings import OPTIONS, Layer, Source, decide
from render.system import files
from render.system.files import inside, is_file_name, real_path
from render.yaml.budget import Limits
from render.yaml.reader import read

KIND = "Test"
#: What is looked at of a VM, by the emit mode that makes it.
FORMS = ("vm", "vmi", "pod")
_TOP = ("apiVersion", "kind", "metadata", "spec")
_SPEC = ("given", "expect")
_CONDITIONS = ("paths", "before", "settings")
_EXPECTED = ("name", "vms", *FORMS, "findings", "change")
_SUBJECTS = (*FORMS, "findings", "change")
#: What is meant for the end of the name of a file with expectations.
_MISNAMED = pattern(r"(?i)virt[-_.]?tests?\.ya?ml$")


class Expectation(NamedTuple):
    """One item of ``expect``, *number*: what is true of each VM that *patterns* mean.

    *forms*: of what it is in an emit mode, by that. *findings* are the codes of all errors and warnings, None for no
    error; *change* has the effects that a change may have, none where nobody asks.
    """

    number: int
    name: str
    patterns: tuple[str, ...] = ()
    forms: Mapping[str, Any] = {}
    findings: tuple[str, ...] | None = None
    change: tuple[str, ...] = ()

    def at(self, *path: str | int) -> FieldPath:
        """Where it says something."""
        return ("spec", "expect", self.number, *path)


class ExpectationsFile(NamedTuple):
    """A file with expectations.

    *paths*, *before* and *flags* are what is given: seen from the working directory, and as the command line has it.
    """

    path: str
    origin: Origin | None = None
    data: bytes = b""
    paths: tuple[str, ...] = ()
    before: str = ""
    flags: Mapping[str, Any] = {}
    expectations: tuple[Expectation, ...] = ()
    faults: tuple[Diagnostic, ...] = ()

    def at(self, *path: str | int) -> Location:
        """The field *path*."""
        return Location(path=path, index=0, file=self.path)


def found(paths: Sequence[str], limits: Limits) -> tuple[list[str], list[Diagnostic]]:
    """The files with expectations that *paths* name, and those below folders, sorted; what is not read, and why.

    What is no file of expectations but for its name is not: nobody would know that it is not looked at.
    """
    names: dict[str, str] = {}
    faults: list[Diagnostic] = []
    for path in map(tidy, paths):
        if not os.path.isdir(path):
            names.setdefault(real_path(path), path)
            continue
        walked = discover.walk(path, (real_path(path),), plain=True)
        faults += (diagnostic for diagnostic in walked.diagnostics if diagnostic.is_error)
        for file, real in walked.expectations:
            names.setdefault(real, file)
        faults += (
            _misnamed(file)
            for file, _ in walked.files
            if _MISNAMED.search(file) and _holds_expectations(file, limits)
        )
    return sorted(names.values()), faults


def _holds_expectations(file: str, limits: Limits) -> bool:
    data = files.read(file, file, limits.file_bytes)
    documents = read(data, file, limits).documents if isinstance(data, bytes) else []
    return any(
        text_at(document.body, "kind") == KIND
        and text_at(document.body, "apiVersion").partition("/")[0] == OWN
        for document in documents
    )


def _misnamed(file: str) -> Diagnostic:
    folder, name = os.path.split(file)
    stem = _MISNAMED.sub("", name).rstrip(".-_") or "vms"
    right = discover.join(folder or ".", stem + discover.EXPECTATIONS)
    return codes.INVALID_SETTING.at(
        Location(file=file, line=1, column=1),
        f"{file} is not read: names of files with expectations end in {discover.EXPECTATIONS}",
        help=f"call it {right}",
    )


def loaded(path: str, limits: Limits, locked: str = "") -> ExpectationsFile:
    """What the file *path* says, or what is wrong with it: that it sets one of the *locked* options, too."""
    data = files.read(path, path, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return ExpectationsFile(path, faults=(data,))
    contents = read(data, path, limits)
    if contents.diagnostics:
        return ExpectationsFile(path, faults=tuple(contents.diagnostics))
    if len(contents.documents) != 1:
        message = f"{path} holds {len(contents.documents)} documents and should hold one {KIND}"
        place = Location(file=path)
        return ExpectationsFile(path, faults=(codes.INVALID_SETTING.at(place, message),))
    (document,) = contents.documents
    file = ExpectationsFile(path, document.origin, data)
    body = document.body
    faults = tuple(_misshapen(file, body))
    if faults:
        return file._replace(faults=faults)
    conditions = body["spec"].get("given") or {}
    values, flags, faults = _settings(file, conditions.get("settings") or {}, locked)
    folder = os.path.dirname(path)
    file = file._replace(
        paths=tuple(
            os.path.normpath(os.path.join(folder, relative))
            for relative in _texts(conditions.get("paths", "."))
        ),
        before=_before(conditions.get("before", ""), folder),
        flags=flags,
        expectations=tuple(_expectations(body["spec"]["expect"])),
    )
    return file._replace(faults=(*faults, *_strays(file, values, conditions)))


def _before(name: str, folder: str) -> str:
    """The folder that *name* names, or the revision that it is."""
    path = os.path.join(folder, name)
    return os.path.normpath(path) if name and os.path.isdir(path) else name


def _settings(
    file: ExpectationsFile, values: Mapping[str, Any], locked: str
) -> tuple[Mapping[str, Any], dict[str, Any], tuple[Diagnostic, ...]]:
    """The settings *values*, with paths as seen from here; the same as flags; and what is wrong with them."""
    place = file.at("spec", "given", "settings")
    rebased = config.rebased(values, os.path.dirname(file.path))
    layer = Layer(Source.FILE, rebased, place)
    chosen = decide((layer,))
    flags = {
        option.spelled(Source.FLAG): chosen.values[option.field]
        for option in OPTIONS
        if option.name in chosen.named
    }
    faults = (*chosen.diagnostics, *locked_options_set((layer,), config.ConfigFile(), locked))
    return rebased, flags, faults


def _strays(
    file: ExpectationsFile, settings: Mapping[str, Any], conditions: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    """What leads out of the repository: whoever wrote the file need not be allowed to read that."""
    layer = Layer(Source.FILE, settings, file.at("spec", "given", "settings"))
    yield from config.strays(layer, (), file.path)
    bounds = config.bounds(file.path)
    is_list = isinstance(conditions.get("paths"), list)
    named: list[tuple[str, FieldPath, str]] = [
        ("paths", ("paths", index) if is_list else ("paths",), path)
        for index, path in enumerate(file.paths)
    ]
    if os.path.isdir(file.before):
        named.append(("before", ("before",), file.before))
    for key, at, path in named:
        if path == "-" or not inside(real_path(path), (bounds,)):
            message = f"{conditions.get(key)} leads out of the repository of {file.path}"
            yield codes.INVALID_SETTING.at(file.at("spec", "given", *at), message)
        elif not os.path.lexists(path):
            near = missing.near_path(path)
            meant = near and os.path.relpath(near, os.path.dirname(file.path) or ".")
            cure = f"did you mean {meant}?" if meant else ""
            message = f"cannot read {path}: no such file or folder"
            yield codes.UNREADABLE.at(file.at("spec", "given", *at), message, help=cure)


def _misshapen(file: ExpectationsFile, body: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What of *body* is not what a file with expectations holds."""
    if (body.get("apiVersion"), body.get("kind")) != (config.API_VERSION, KIND):
        message = f"should have apiVersion {config.API_VERSION} and kind {KIND}"
        yield codes.INVALID_SETTING.at(file.at(), message)
        return
    spec = body.get("spec")
    conditions = spec.get("given") if isinstance(spec, dict) else None
    yield from _mapping(file, (), body, _TOP)
    yield from _mapping(file, ("spec",), spec, _SPEC)
    if not isinstance(spec, dict):
        return
    if conditions is not None:
        yield from _condition_faults(file, conditions)
    expect = spec.get("expect")
    if not isinstance(expect, list) or not expect:
        yield _invalid(file, ("spec", "expect") if "expect" in spec else ("spec",),
                    "expect should be a list of what is expected, and have something in it")  # fmt: skip
        return
    for index, expectation in enumerate(expect):
        yield from _misshapen_item(file, ("spec", "expect", index), expectation)


def _condition_faults(file: ExpectationsFile, conditions: Any) -> Iterator[Diagnostic]:
    at = ("spec", "given")
    yield from _mapping(file, at, conditions, _CONDITIONS)
    if not isinstance(conditions, dict):
        return
    if not _is_paths(conditions.get("paths", ".")):
        yield _invalid(file, (*at, "paths"), "should be files and folders, as seen from this file")
    before = conditions.get("before", "HEAD")
    if not isinstance(before, str) or not _is_paths(before) or before.startswith("-"):
        yield _invalid(file, (*at, "before"), "should be a revision of git, or a folder")
    elif "@{" in before:
        message = "of this machine's clock, reflog or settings: another revision elsewhere"
        cure = "name a branch, a tag or a commit: origin/main, HEAD~1"
        yield _invalid(file, (*at, "before"), message, cure)
    elif "before" in conditions and len(_texts(conditions.get("paths", "."))) != 1:
        cure = "name the folder that holds them all, and the VMs by namespace: vms: prod/"
        yield _invalid(
            file, (*at, "paths"), "one path alone is compared with what was before", cure
        )
    if not isinstance(conditions.get("settings"), dict | None):
        yield _invalid(
            file, (*at, "settings"), f"should be options, as below spec of {config.NAME}"
        )


def _misshapen_item(
    file: ExpectationsFile, at: FieldPath, expectation: Any
) -> Iterator[Diagnostic]:
    yield from _mapping(file, at, expectation, _EXPECTED)
    if not isinstance(expectation, dict):
        return
    if expectation.keys().isdisjoint(_SUBJECTS) and expectation.keys() <= set(_EXPECTED):
        yield _invalid(file, at, f"expects nothing: say one of {', '.join(_SUBJECTS)}")
    if not isinstance(expectation.get("name", "a"), str):
        yield _invalid(file, (*at, "name"), "should be a text")
    if not _is_texts(expectation.get("vms", "*")):
        yield _invalid(file, (*at, "vms"), "should name VMs: web, prod/web, prod/db-*, prod/")
    for form in FORMS:
        if form in expectation and not isinstance(expectation[form], dict):
            yield _invalid(file, (*at, form), f"should be fields of the {form}")
    yield from _words(file, (*at, "findings"), expectation.get("findings", []), codes.CODES)
    if "change" in expectation:
        yield from _words(file, (*at, "change"), expectation["change"] or "", RANKED)


def _words(
    file: ExpectationsFile, at: FieldPath, value: Any, known: Iterable[str]
) -> Iterator[Diagnostic]:
    """What of *value* is none of the words *known*."""
    for word in value if isinstance(value, list) else [value]:
        if not isinstance(word, str) or word not in known:
            yield _invalid(file, at, f"{word!r} is not known here", _nearest(word, known))


def _mapping(
    file: ExpectationsFile, at: FieldPath, value: Any, known: Sequence[str]
) -> Iterator[Diagnostic]:
    if not isinstance(value, dict):
        yield _invalid(file, at, f"should be a mapping of {', '.join(known)}")
        return
    for key in value.keys() - set(known):
        left = [name for name in known if name not in value]  # what is there is not meant again
        yield _invalid(file, (*at, key), f"unknown key {key}", _nearest(key, left or known))


def _nearest(word: object, known: Iterable[str]) -> str:
    """Which of *known* is meant by *word*, which is none of them, or all of these."""
    return did_you_mean(str(word), known, f"known: {', '.join(known)}")


def _invalid(file: ExpectationsFile, at: FieldPath, message: str, cure: str = "") -> Diagnostic:
    return codes.INVALID_SETTING.at(file.at(*at), message, help=cure)


def _is_texts(value: Any) -> bool:
    words = value if isinstance(value, list) else [value]
    return bool(words) and all(isinstance(word, str) and word for word in words)


def _is_paths(value: Any) -> bool:
    return _is_texts(value) and all(map(is_file_name, _texts(value)))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _expectations(entries: Sequence[Mapping[str, Any]]) -> Iterator[Expectation]:
    taken: dict[str, int] = {}
    for index, entry in enumerate(entries):
        patterns = _texts(entry["vms"]) if "vms" in entry else ()
        name = entry.get("name") or ", ".join(patterns) or "every VM"
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            name = f"{name} ({taken[name]})"
        yield Expectation(
            index, name, patterns,
            {form: entry[form] for form in FORMS if form in entry},
            tuple(entry["findings"]) if "findings" in entry else None,
            _texts(entry["change"]) if "change" in entry else (),
        )  # fmt: skip
