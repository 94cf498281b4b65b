"""ApplicationSets of Argo CD: the Applications that those generators make which ask nobody but the repository.

Upstream: argo-cd applicationset/generators (list.go, git.go, matrix.go, merge.go), applicationset/utils
(Render.Replace).
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from render.diagnostics.diagnostic import Diagnostic
from render.manifests.uses.repository import Home
from render.manifests.uses.use import (
    BRANCHES,
    ElsewhereError,
    UnevaluatedError,
    UnmatchedError,
    UnsaidError,
    mappings,
    texts,
)
from render.manifests.uses.values import merged
from render.model.fieldpath import FieldPath
from render.model.globs import Globs
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import Tree, get
from render.system import checkout, files

_Parameters = Mapping[str, Any]
_MOST = 1_000
"""Applications that one set may make here."""
_MOST_TEXT = 1 << 24
"""Characters in all of these: each has what the template says."""
_MOST_FOLDERS = 20_000
_MOST_STEPS = 16_000_000
"""What all sets of an input may take: a name of a path that is compared with a pattern is a step."""
_STEPS_OF_PARAMETERS, _STEPS_OF_APPLICATION = 20, 400
_CHARACTERS_A_STEP = 4
_DEEPEST = 3
_NAMED = pattern(r"\{\{\s*([^{}]*?)\s*\}\}")
_FIELD = pattern(r"(?:\.[A-Za-z_]\w*)+")
_INDEX = pattern(r"index\s+((?:\.[A-Za-z_]\w*)+)\s+(\d{1,4}|\"[^\"\\]*\")")
#: Patterns of which is known what they match, here as there: hidden folders are not looked through.
_PLAIN = pattern(r"(?!\.)[\w.*? -]+(?:/(?!\.)[\w.*? -]+)*")
_NO_NAME = pattern(r"[^-a-z0-9.]")
_LONGEST_NAME = 253


class GeneratedApplication(NamedTuple):
    """An Application as a set makes it: its *body*, and the *template*, filled in with the *element* of a list.

    *place* is where the set has that element; nothing of what other generators say.
    """

    body: Tree
    template: Any
    element: Any = None
    place: FieldPath = ()

    def written(self, path: FieldPath) -> FieldPath:
        """Where the set has what stands at *path* of the Application: in the element, or in the template."""
        text = get(self.template, *path)
        match = _NAMED.fullmatch(text) if isinstance(text, str) else None
        keys = match[1].removeprefix(".").split(".") if match else ()
        if keys and get(self.element, *keys) is not None:
            return (*self.place, *keys)
        return ("spec", "template", *path)


class Effort:
    """What is left of the steps that the ApplicationSets of an input may take together."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def spend(self, steps: int) -> None:
        """Take so many *steps*. Raises UnevaluatedError where these are too many."""
        self._left -= steps
        if self._left < 0:
            raise UnevaluatedError("ApplicationSet that would take too long")


def applications(
    body: Tree, home: Home, effort: Effort
) -> Iterator[GeneratedApplication | UnmatchedError]:
    """The Applications that the ApplicationSet *body* makes, and the patterns of it that match nothing.

    With no more than *effort*. Raises UnevaluatedError for what only a cluster knows, or nobody wants to wait for.
    """
    spec = body.get("spec")
    if get(spec, "templatePatch"):
        raise UnevaluatedError("ApplicationSet with a templatePatch")
    fill = _fill_go if get(spec, "goTemplate") is True else _fill_plain
    template = get(spec, "template")
    generating = _Generating(home, fill, effort, is_go=fill is _fill_go)
    made = size = 0
    for place, generator in mappings(spec, "generators"):
        elements = [*mappings(generator, "list", "elements")]
        for number, parameters in enumerate(generating.parameters(generator, {}, ("spec", *place))):
            made += 1
            if made > _MOST:
                raise UnevaluatedError(f"ApplicationSet of more than {_MOST:,} Applications")
            effort.spend(_STEPS_OF_APPLICATION)
            application = _filled(template, parameters, fill)
            size += sum(map(len, _texts(application)))
            if size > _MOST_TEXT:
                raise UnevaluatedError("ApplicationSet whose Applications are too large")
            if isinstance(application, dict):
                path, element = elements[number] if elements else ((), None)
                yield GeneratedApplication(
                    _in_namespace_of(body, application), template, element, ("spec", *place, *path)
                )
    yield from generating.unmatched


def of_every_cluster(body: Tree) -> GeneratedApplication | None:
    """The Application that the ApplicationSet *body* makes for each cluster, if all apply the same in one namespace.

    Its name, and where its cluster is, are as the template has them. None for any other set, and for one that may make
    none: without a selector the cluster of Argo CD itself is always among them (generators/cluster.go).
    """
    spec = body.get("spec")
    generators = [generator for _, generator in mappings(spec, "generators")]
    template = get(spec, "template")
    fields = get(template, "spec", "destination", "namespace"), *_sources(template)
    is_plain = bool(fields[0]) and not any("{{" in text for text in _texts([*fields]))
    if get(spec, "templatePatch") or not is_plain or generators != [{"clusters": {}}]:
        return None
    return GeneratedApplication(_in_namespace_of(body, template), template)


def _sources(application: Any) -> list[Any]:
    """The sources that the *application*, or a template of it, has."""
    spec = get(application, "spec")
    return [get(spec, "source"), *(source for _, source in mappings(spec, "sources"))]


def _in_namespace_of(body: Tree, application: Tree) -> Tree:
    """The *application* where the set *body* is, unless it says where."""
    namespace = text_at(body.get("metadata"), "namespace")
    metadata = application.get("metadata")
    return {
        **application,
        "metadata": {
            **({"namespace": namespace} if namespace else {}),
            **(metadata if isinstance(metadata, dict) else {}),
        },
    }


def edits_kustomizations(body: Tree) -> bool:
    """Whether Applications that the ApplicationSet *body* makes may say more of a kustomization than where it is."""
    sources = _sources(get(body, "spec", "template"))
    return bool(get(body, "spec", "templatePatch")) or any(
        get(source, "kustomize") for source in sources
    )


def _texts(tree: Any) -> Iterator[str]:
    """The texts in *tree*."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from _texts(item)


class _Generating:
    """How the generators of one set are read."""

    __slots__ = ("_below", "_effort", "_fill", "_home", "_is_go", "unmatched")

    def __init__(
        self,
        home: Home,
        fill: "_Fill",
        effort: Effort,
        *,
        is_go: bool,
    ) -> None:
        self._home = home
        self._effort = effort
        self._below = cache(self._files_below)
        self._fill = fill
        self._is_go = is_go
        self.unmatched: list[UnmatchedError] = []

    def parameters(
        self, generator: Mapping[str, Any], outer: _Parameters, place: FieldPath, depth: int = 0
    ) -> Iterator[_Parameters]:
        """What *generator*, at *place*, says, each time; *outer* is what another one has said before.

        Raises UnevaluatedError.
        """
        kinds = sorted(key for key in generator if key not in {"selector", "template"})
        kind = kinds[0] if len(kinds) == 1 else ""
        if get(generator, "selector") or get(generator, kind, "template") or depth > _DEEPEST:
            raise UnevaluatedError("ApplicationSet whose generator has a selector or a template")
        options = _filled(generator.get(kind), outer, self._fill) if outer else generator.get(kind)
        if not isinstance(options, dict):
            options = {}
        if kind == "list" and "elementsYaml" not in options:
            found = self._listed(options)
        elif kind == "git":
            found = self._in_git(options, outer, (*place, kind))
        elif kind == "matrix":
            found = self._matrix(generator[kind], outer, (*place, kind), depth)
        elif kind == "merge":
            found = self._merge(generator[kind], outer, (*place, kind), depth)
        else:
            raise UnevaluatedError(
                f"ApplicationSet whose generator asks elsewhere ({kind or 'none'})"
            )
        for parameters in found:
            self._effort.spend(_STEPS_OF_PARAMETERS + len(parameters))
            yield parameters

    def _listed(self, options: _Parameters) -> Iterator[_Parameters]:
        for _, element in mappings(options, "elements"):
            yield element if self._is_go else _flat(element, self._effort)

    def _matrix(
        self, options: _Parameters, outer: _Parameters, place: FieldPath, depth: int
    ) -> Iterator[_Parameters]:
        generators = [*mappings(options, "generators")]
        if len(generators) != 2:  # noqa: PLR2004 - as Argo CD has it
            raise UnevaluatedError("ApplicationSet whose matrix is not of two generators")
        (path, generator), (other_path, other) = generators
        for first in self.parameters(generator, outer, (*place, *path), depth + 1):
            known = {**outer, **first}
            for second in self.parameters(other, known, (*place, *other_path), depth + 1):
                yield {**second, **first}

    def _merge(
        self, options: _Parameters, outer: _Parameters, place: FieldPath, depth: int
    ) -> Iterator[_Parameters]:
        """What the first of several generators says, each time with what the others say of the same keys."""
        keys = texts(options, "mergeKeys")
        generators = [*mappings(options, "generators")]
        if len(generators) < 2 or not keys:  # noqa: PLR2004 - as Argo CD has it
            raise UnevaluatedError("ApplicationSet whose merge has too few generators, or no keys")
        base: dict[str, _Parameters] = {}
        for number, (path, generator) in enumerate(generators):
            seen = set()
            for parameters in self.parameters(generator, outer, (*place, *path), depth + 1):
                key = json.dumps([get(parameters, name) for name in keys], default=str)
                if key in seen:
                    raise UnevaluatedError("ApplicationSet whose merge keys are not unique", key)
                seen.add(key)
                if not number:
                    base[key] = parameters
                elif key in base:
                    # Argo CD merges structs of Go so that what is empty overrides nothing.
                    present = {k: v for k, v in parameters.items() if v or not self._is_go}
                    base[key] = merged((dict(base[key]), present))
        yield from base.values()

    def _in_git(
        self, options: _Parameters, outer: _Parameters, place: FieldPath
    ) -> Iterator[_Parameters]:
        try:
            assumed = self._home.claimed(text_at(options, "repoURL"))
        except ElsewhereError:
            raise UnevaluatedError(
                "ApplicationSet whose generator asks another repository"
            ) from None
        folders = [directory for _, directory in mappings(options, "directories")]
        prefix = text_at(options, "pathParamPrefix")
        values = options.get("values")
        is_empty = True
        for path, content in (
            ((folder, {}) for folder in self._folders(folders))
            if folders
            else self._files([file for _, file in mappings(options, "files")])
        ):
            is_empty = False
            of_path = self._of_path(path, prefix, is_file=not folders)
            known = {**(content if self._is_go else _flat(content, self._effort)), **of_path}
            if isinstance(values, dict):
                filled = _filled(values, {**outer, **known}, self._fill)
                known |= (
                    {"values": filled}
                    if self._is_go
                    else {f"values.{key}": value for key, value in filled.items()}
                )
            yield known
        if is_empty and not outer and text_at(options, "revision") in BRANCHES:
            self._note_unmatched(options, "directories" if folders else "files", place, assumed)

    def _note_unmatched(
        self, options: _Parameters, kind: str, place: FieldPath, assumed: tuple[str, ...]
    ) -> None:
        """Note the first of the patterns of this *kind* in *options*, at *place*, of which nothing is made."""
        listed = [*mappings(options, kind)]
        wanted = [(path, text_at(item, "path")) for path, item in listed if not item.get("exclude")]
        steps = [self._home.absent_step(text) for _, text in wanted]
        is_known = all(_PLAIN.fullmatch(text) for _, text in wanted)
        is_known &= len(wanted) == len(listed) or all(steps)  # else all may be left out on purpose
        if not (wanted and is_known and checkout.is_whole(self._home.top)):
            return
        if kind == "directories" or not self._is_listed([text for _, text in wanted]):
            path, text = wanted[0]
            error = UnmatchedError(text, steps[0], (*place, *path, "path"), assumed)
            self.unmatched.append(error)

    def _is_listed(self, wanted: Sequence[str]) -> bool:
        """Whether git lists a file for one of the patterns *wanted*, as Argo CD has it do unless it is set otherwise.

        A star stands for slashes and hidden folders too, then, and a folder for all that is in it (util/git/client.go,
        LsFiles).
        """
        import fnmatch

        top = self._home.top
        texts_ = (translated for text in wanted for translated in (text, f"{text}/*"))
        test = re.compile("|".join(map(fnmatch.translate, texts_))).match
        for folder, folders, names in files.walk(top):
            folders[:] = [name for name in folders if name != files.GIT]
            self._effort.spend(len(wanted) * (1 + len(names)) * folder.count("/"))
            if any(test(os.path.relpath(os.path.join(folder, name), top)) for name in names):
                return True
        return False

    def _folders(self, patterns: Sequence[_Parameters]) -> Iterator[str]:
        """The folders of the repository that *patterns* ask for, sorted."""
        wanted, unwanted = _globs(self._home.top, patterns)
        for real in sorted(folder for folder in self._below() if folder != self._home.top):
            if self._is_wanted(real, wanted, unwanted):
                yield os.path.relpath(real, self._home.top)

    def _is_wanted(self, real: str, wanted: Globs, unwanted: Globs) -> bool:
        self._effort.spend((len(wanted.patterns) + len(unwanted.patterns)) * real.count("/"))
        return wanted.match_whole(real) and not unwanted.match_whole(real)

    def _files_below(self) -> Mapping[str, Sequence[str]]:
        """The names in each folder that is not hidden, sorted. Raises UnevaluatedError for too many."""
        top = self._home.top
        folders = sorted({top, *_below(top)})
        self._effort.spend(len(folders))
        return {folder: sorted(os.listdir(folder)) for folder in folders}

    def _files(self, patterns: Sequence[_Parameters]) -> Iterator[tuple[str, Tree]]:
        """What the files of the repository say that *patterns* ask for, each with its path."""
        wanted, unwanted = _globs(self._home.top, patterns)
        for folder, names in self._below().items():
            for name in names:
                real = os.path.join(folder, name)
                if not self._is_wanted(real, wanted, unwanted):
                    continue
                if os.path.islink(real) or not os.path.isfile(real):
                    continue
                path = os.path.relpath(real, self._home.top)
                contents = self._home.read(real)
                if contents is None or not contents.documents:
                    raise self._unread(real, contents.diagnostics if contents else ())
                for document in contents.documents:
                    yield path, document.body

    def _unread(self, file: str, faults: Sequence[Diagnostic]) -> UnevaluatedError:
        """That *file* has nothing to take Applications from, for the first error of its *faults* if it has one."""
        name = self._home.display_name(file)
        error = UnevaluatedError("ApplicationSet whose generator reads another file", name)
        for fault in (each for each in faults if each.is_error):
            error.fault = fault._replace(location=fault.location._replace(file=name))
            break
        return error

    def _of_path(self, path: str, prefix: str, *, is_file: bool) -> Tree:
        """What a template may say of *path*."""
        folder = os.path.dirname(path) or "." if is_file else path
        name = os.path.basename(folder) or "."
        known: Tree = {"basename": name, "basenameNormalized": _sanitized(name)}
        if is_file:
            file = os.path.basename(path)
            known |= {"filename": file, "filenameNormalized": _sanitized(file)}
        steps = folder.split("/")
        if self._is_go:
            of_path: Tree = {"path": {**known, "path": folder, "segments": steps}}
            return {prefix: of_path} if prefix else of_path
        start = f"{prefix}.path" if prefix else "path"
        flat = {f"{start}.{key}": value for key, value in known.items()}
        return {start: folder, **flat, **{f"{start}[{n}]": step for n, step in enumerate(steps)}}


def _globs(top: str, patterns: Sequence[_Parameters]) -> tuple[Globs, Globs]:
    """What *patterns* want below *top*, and what they do not."""
    wanted, unwanted = (
        tuple(
            f"/{text_at(pattern, 'path').strip('/')}"
            for pattern in patterns
            if text_at(pattern, "path") and bool(pattern.get("exclude")) is excluded
        )
        for excluded in (False, True)
    )
    return Globs(top, wanted), Globs(top, unwanted)


def _below(top: str) -> Iterator[str]:
    """The folders below *top* that are not hidden, links not followed. Raises UnevaluatedError for too many."""
    count = 0
    for folder, folders, _ in files.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            count += 1
            if count > _MOST_FOLDERS:
                raise UnevaluatedError("ApplicationSet over too many folders")
            yield os.path.join(folder, name)


def _sanitized(name: str) -> str:
    """*name* as Argo CD makes it fit to be one of an object."""
    return _NO_NAME.sub("-", name.lower())[:_LONGEST_NAME].strip("-.")


def _flat(tree: Any, effort: Effort) -> dict[str, str]:
    """The texts of *tree* by their path, with dots between the keys: a long key stands in all that are below it."""
    flat: dict[str, str] = {}
    pending: list[tuple[str, Any]] = [("", tree)]
    while pending:
        path, value = pending.pop()
        effort.spend(1 + len(path) // _CHARACTERS_A_STEP)
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            pending += [(f"{path}.{key}" if path else str(key), item) for key, item in pairs][::-1]
        else:
            flat[path] = _text(value)
    return flat


def _text(value: Any) -> str:
    """*value* as Go prints it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


_Fill = Callable[[str, _Parameters], str]


def _filled(value: Any, parameters: _Parameters, fill: _Fill) -> Any:
    """*value* with the *parameters* in all of its texts, keys too."""
    if isinstance(value, str):
        return fill(value, parameters) if "{{" in value else value
    if isinstance(value, list):
        return [_filled(item, parameters, fill) for item in value]
    if isinstance(value, dict):
        return {
            _filled(key, parameters, fill): _filled(item, parameters, fill)
            for key, item in value.items()
        }
    return value


def _fill_plain(text: str, parameters: _Parameters) -> str:
    """*text* with each ``{{name}}`` that is known; the others stay."""
    return _NAMED.sub(lambda match: _text(parameters.get(match[1], match[0])), text)


def _fill_go(text: str, parameters: _Parameters) -> str:
    """*text* as a template of Go with fields and items of lists only. Raises UnevaluatedError for any other."""

    def value(match: re.Match[str]) -> str:
        indexed = _INDEX.fullmatch(match[1])
        path = indexed[1] if indexed else match[1]
        if not _FIELD.fullmatch(path):
            raise _functions_in(match[0])
        keys = path[1:].split(".")
        found = get(parameters, *keys)
        if found is None:
            raise _unsaid(match[0], keys, parameters)
        if indexed:
            key = indexed[2]
            found = get(found, key.strip('"') if key.startswith('"') else int(key))
        if found is None:
            raise _unsaid(match[0], (), parameters)
        if isinstance(found, dict | list):
            detail = f"{match[0]} is no text, and no number"
            raise UnevaluatedError("ApplicationSet with lists or mappings in its texts", detail)
        return _text(found)

    filled = _NAMED.sub(value, text)
    if "{{" in filled and "{{" in _NAMED.sub("", text):
        raise _functions_in(text)
    return filled


def _unsaid(expression: str, keys: Sequence[str], parameters: _Parameters) -> UnsaidError:
    """That none of the *parameters* has the *keys* of *expression*; with the key that was probably meant."""
    for index, key in enumerate(keys):
        around = get(parameters, *keys[:index])
        if isinstance(around, dict) and key not in around:
            near = nearest(key, sorted(map(str, around)))
            meant = ".".join(("", *keys[:index], near, *keys[index + 1 :]))
            return UnsaidError(expression, f"did you mean {{{{{meant}}}}}?" if near else "")
    return UnsaidError(expression)


def _functions_in(text: str) -> UnevaluatedError:
    reason = "ApplicationSet with functions in its template"
    return UnevaluatedError(reason, f"{text} has functions")
