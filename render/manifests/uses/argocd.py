"""Applications of Argo CD: the charts of this repository that they fill in.

Upstream: argo-cd reposerver/repository/repository.go (helmTemplate, getResolvedValueFiles), util/argo/argo.go.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from render.manifests import kustomization
from render.manifests.discover import HelmRelease, ValuesText
from render.manifests.uses import kustomize_edit, values
from render.manifests.uses.applicationset import GeneratedApplication
from render.manifests.uses.patterns import DirectoryPatterns
from render.manifests.uses.repository import Home
from render.manifests.uses.use import (
    BRANCHES,
    OF_ANOTHER,
    AbsentError,
    ElsewhereError,
    FolderUse,
    KustomizationEdit,
    PluginUse,
    UnevaluatedError,
    mappings,
    named,
    texts,
)
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import text_at
from render.model.tree import Tree, get, put
from render.yaml.reader import Document

GROUP = "argoproj.io"
_OUR_PLUGIN = "virt-render"
#: How the variables begin that are meant for that.
_OUR_VARIABLES = "VIRT_RENDER_"
#: So many parameters are values of their own, each with its place.
_APART = 64
_SERVER_SIDE = "ServerSideApply=true"
_REMOTE = ("://", "$ARGOCD_")
#: What no file in the folder of a source overrides.
_OF_SOURCE = ("chart", "path", "repoURL", "targetRevision")


def uses(
    document: Document,
    home: Home,
    base: HelmRelease,
    made: GeneratedApplication | None = None,
    title: str = "",
) -> Iterator[FolderUse | UnevaluatedError]:
    """The charts below what is read that the Application *document* fills in; *base* has what is true of all of them.

    *made*: that Application as an ApplicationSet makes it, called *title*: *document* is the set then.
    """
    body = document.body if made is None else made.body
    several = [*mappings(body.get("spec"), "sources")]
    single: Sequence[FieldPath] = (("sourceHydrator", "drySource"), ("source",))
    stated = ((path, get(body, "spec", *path)) for path in single)
    sources = several or [(path, source) for path, source in stated if isinstance(source, dict)][:1]
    application = _Application(
        document,
        body,
        title or named(document),
        [application_source for _, application_source in sources],
        home,
        base,
        made,
    )
    for path, application_source in sources:
        try:
            use = application.use(("spec", *path), application_source)
        except ElsewhereError:
            if values.may_hold_machines(application_source.get("helm")):
                reason = "Application of a chart from elsewhere with VMs in its values"
                yield UnevaluatedError(reason)
            elif application.is_of_another(application_source):
                yield UnevaluatedError(f"Application of {OF_ANOTHER}")
        except UnevaluatedError as error:
            yield error
        else:
            if use is not None:
                yield use


class _Application(NamedTuple):
    """An Application with its *sources*: the *document* that it stands in, or of the set that makes it, and its *body*.

    In the repository *home*; *base* has what is true of all charts. *made*: how a set makes it, if one does.
    """

    document: Document
    body: Tree
    title: str
    sources: Sequence[Mapping[str, Any]]
    home: Home
    base: HelmRelease
    made: GeneratedApplication | None = None

    def _written(self, path: FieldPath) -> FieldPath:
        """Where the document has what stands at *path* of the Application."""
        return path if self.made is None else self.made.written(path)

    def is_of_another(self, source: Mapping[str, Any]) -> bool:
        """Whether *source*, of another repository, would fill in or edit what holds VMs at its path in this one."""
        try:
            folder = self.home.folder(text_at(source, "path"))
        except UnevaluatedError:
            return False
        if not text_at(source, "path") or not self.home.is_read(folder):
            return False
        options = source.get("kustomize")
        is_edited = bool(options) and self.home.is_built_of_machines(folder, options)
        return is_edited or self.home.is_chart_of_machines(folder)

    def use(self, path: FieldPath, source: Mapping[str, Any]) -> FolderUse | None:
        """What *source*, at *path*, makes of a chart below what is read; None where it is none.

        Raises UnevaluatedError, ElsewhereError.
        """
        if text_at(source, "chart"):
            raise ElsewhereError
        if not text_at(source, "path"):
            return None
        assumptions = self.home.claimed(text_at(source, "repoURL"))
        folder = self.home.folder(text_at(source, "path"))
        if not self.home.is_read(folder):
            return None
        try:
            self._demand(folder, (*path, "path"))
            plugin = source.get("plugin")
            if plugin and text_at(plugin, "name") != _OUR_PLUGIN:
                return self._refuse_plugin(folder)
            return self._use_of(folder, path, source, assumptions)
        except UnevaluatedError as error:
            error.use = (folder, self.title)
            if isinstance(error, AbsentError):
                error.is_certain = text_at(source, "targetRevision") in BRANCHES
                error.assumed = assumptions
            raise

    def _refuse_plugin(self, folder: str) -> None:
        """Raise UnevaluatedError where a plugin that is not ours makes something of a *folder* with VMs."""
        if self.home.is_chart_of_machines(folder) or self.home.is_built_of_machines(folder):
            raise UnevaluatedError("Application with a plugin of others", folder)

    def _demand(self, folder: str, place: FieldPath) -> None:
        """Raise AbsentError unless *folder*, which the field at *place* names, is there: see util/app/path/path.go."""
        self.home.demand(folder, self._written(place), "app path does not exist")

    def _use_of(
        self, folder: str, path: FieldPath, source: Mapping[str, Any], assumptions: tuple[str, ...]
    ) -> FolderUse | None:
        """What *source*, at *path*, makes of *folder*, which is read. Raises UnevaluatedError."""
        plugin = source.get("plugin")
        stated = source.get("kustomize")
        source = self._overridden(source, folder)
        revision = text_at(source, "targetRevision")
        if revision not in BRANCHES:
            assumptions = (*assumptions, f"revision {revision} is the one that is read")
        use = FolderUse(
            self.title,
            self.document,
            folder,
            assumptions=assumptions,
            namespace=self._namespace,
            plugin=self._plugin(folder, (*path, "plugin"), source) if plugin else None,
            revision=f"{text_at(source, 'repoURL')} {revision} {self._cluster}",
            is_server_side=self._is_server_side,
        )
        helm = source.get("helm")
        is_other = plugin or _is_directory(source) or (not helm and kustomization.find(folder))
        if not is_other and self.home.is_chart_with(folder, values.may_hold_machines(helm)):
            named = [*self._value_files((*path, "helm", "valueFiles"), folder, helm)]
            release = self._release((*path, "helm"), folder, helm)
            files = tuple(file for file, _ in named)
            return use._replace(release=release._replace(values=files), places=dict(named))
        edit = None if plugin else self._edit(source, folder)
        if edit is None:
            return self._plain(use, source)
        is_written_so = self.made is None and source.get("kustomize") == stated
        place = (*path, "kustomize") if is_written_so else ()
        return use._replace(edit=edit._replace(place=place))

    def _plugin(self, folder: str, path: FieldPath, source: Mapping[str, Any]) -> PluginUse:
        """What *source* tells our plugin at *path*, which renders *folder*."""
        plugin = source["plugin"]
        parameters = (
            (text_at(item, "name"), item.get("array") or item.get("string"))
            for _, item in mappings(plugin, "parameters")
        )
        named = ((text_at(item, "name"), item.get("value")) for _, item in mappings(plugin, "env"))
        variables = (each for each in named if each[0].startswith(_OUR_VARIABLES))
        told = (*parameters,), (*variables,)
        return PluginUse(folder, *told, self.document, self._written(path), repr(told))

    @property
    def _cluster(self) -> str:
        """What the destination says of where its cluster is."""
        destination = get(self.body, "spec", "destination")
        return f"{text_at(destination, 'server')} {text_at(destination, 'name')}"

    @property
    def _namespace(self) -> str:
        """That of the destination, in which objects are applied that name none."""
        return text_at(get(self.body, "spec", "destination"), "namespace")

    @property
    def _is_server_side(self) -> bool:
        options = get(self.body, "spec", "syncPolicy", "syncOptions")
        return isinstance(options, list) and _SERVER_SIDE in options

    def _plain(self, use: FolderUse, source: Mapping[str, Any]) -> FolderUse | None:
        """*use* of a folder as *source* has it applied, None where that is of another kind. Raises UnevaluatedError."""
        directory = source.get("directory")
        if kustomization.find(use.folder):
            return None if directory or source.get("helm") else use
        patterns = DirectoryPatterns(text_at(directory, "include"), text_at(directory, "exclude"))
        if not patterns.is_known:
            if self.home.is_part(use.folder):
                raise UnevaluatedError("Application of a directory with patterns", use.folder)
            patterns = DirectoryPatterns()
        is_deep = bool(source.get("plugin")) or get(directory, "recurse") is True
        return None if source.get("helm") else use._replace(is_deep=is_deep, patterns=patterns)

    def _edit(self, source: Mapping[str, Any], folder: str) -> KustomizationEdit | None:
        """What *source* edits in the kustomization of *folder* before it is built; None for nothing."""
        options = source.get("kustomize")
        file = kustomization.find(folder) if options else None
        if file is None or not self.home.is_built_of_machines(folder, options):
            return None
        edit = kustomize_edit.edit_of(options, folder, self.home)
        if edit is not None:
            for document in self.home.known.load(file, self.home.limits).documents:
                # Where kustomize refuses that, it is said here.
                kustomize_edit.edited(document.body, edit, folder)
        return edit

    def _overridden(self, source: Mapping[str, Any], folder: str) -> Mapping[str, Any]:
        """*source* as files in *folder* override it: a merge patch each, but for where it comes from."""
        name = text_at(self.body.get("metadata"), "name")
        merged: Tree = dict(source)
        for file in (".argocd-source.yaml", f".argocd-source-{name}.yaml"):
            path = os.path.join(folder, file)
            if os.path.isfile(path) and self.home.is_inside(path):
                merged = values.merge_patch(merged, self._override(path))
        return {**merged, **{key: source[key] for key in _OF_SOURCE if key in source}}

    def _override(self, path: str) -> Tree:
        """What the file *path* overrides. Raises UnevaluatedError where nobody can read that."""
        contents = self.home.read(path)
        if contents is None or contents.diagnostics or len(contents.documents) > 1:
            raise UnevaluatedError("Application whose overrides cannot be read", path)
        return contents.documents[0].body if contents.documents else {}

    def _release(self, path: FieldPath, folder: str, options: Any) -> HelmRelease:
        """What the chart in *folder* is installed as, by the *options* at *path*. Raises UnevaluatedError."""
        helm = options if isinstance(options, dict) else {}
        parameters = []
        for _, parameter in mappings(helm, "fileParameters"):
            file = os.path.relpath(self._file(text_at(parameter, "path"), folder), folder)
            parameters.append(f"{text_at(parameter, 'name')}={file}")
        return self.base._replace(
            name=text_at(helm, "releaseName") or text_at(self.body.get("metadata"), "name"),
            namespace=text_at(helm, "namespace") or self._namespace or self.base.namespace,
            texts=tuple(self._texts(path, helm)),
            file_parameters=tuple(parameters),
        )

    def _value_files(
        self, path: FieldPath, folder: str, helm: Any
    ) -> Iterator[tuple[str, FieldPath]]:
        """The files of values for the chart in *folder* that *helm* names at *path*, each with where it does.

        Raises UnevaluatedError.
        """
        for index, name in enumerate(texts(helm, "valueFiles")):
            file = self._file(name, folder)
            if os.path.lexists(file) or not helm.get("ignoreMissingValueFiles"):
                yield file, self._written((*path, index))

    def _file(self, name: str, folder: str) -> str:
        """The file *name* of values for the chart in *folder*. Raises UnevaluatedError for one of elsewhere."""
        reason = "values file from elsewhere"
        if any(word in name for word in _REMOTE):
            raise UnevaluatedError(reason, f"the values file {name}")
        if not name.startswith("$"):
            return self.home.file(name, folder)
        ref, _, path = name[1:].partition("/")
        addresses = [
            text_at(source, "repoURL") for source in self.sources if text_at(source, "ref") == ref
        ]
        if not addresses:
            raise UnevaluatedError(reason, f"no source is called {ref}: {name}")
        try:
            self.home.claimed(addresses[0])
        except ElsewhereError:
            raise UnevaluatedError(reason, f"{name} is in {addresses[0]}") from None
        return self.home.file(f"/{path}", folder)

    def _texts(self, path: FieldPath, helm: Mapping[str, Any]) -> Iterator[ValuesText]:
        """What *helm*, the options at *path*, says of the values itself. Raises UnevaluatedError."""
        origin, tree = self.document.origin, helm.get("valuesObject")
        if tree:
            place = (*path, "valuesObject")
            yield ValuesText(values.as_text(tree), origin, self._written(place), has_places=True)
            yield from self._of_elements(place, tree)
        elif text_at(helm, "values"):
            text = text_at(helm, "values").encode("utf-8", "replace")
            place = self._written((*path, "values"))
            yield ValuesText(text, origin, place, is_text=self.made is None)
        parameters: Tree = {}
        listed = [*mappings(helm, "parameters")]
        for is_text in (False, True):
            for place, parameter in listed:
                if bool(parameter.get("forceString")) is not is_text:
                    continue
                value = text_at(parameter, "value")
                if "$ARGOCD_" in value:
                    raise UnevaluatedError("parameter with a variable of Argo CD", value)
                into: Tree = {} if len(listed) <= _APART else parameters
                values.put_parameter(into, text_at(parameter, "name"), value, is_text=is_text)
                if into is not parameters:
                    written = self._written((*path, *place, "value"))
                    yield ValuesText(values.as_text(into), origin, written)
        if parameters:
            place = self._written((*path, "parameters"))
            yield ValuesText(values.as_text(parameters), origin, place)

    def _of_elements(self, path: FieldPath, tree: Tree) -> Iterator[ValuesText]:
        """The values of *tree*, which stands at *path*, that come from an element of a list, each with its place."""
        for keys in islice(_keys(tree), _APART) if self.made is not None else ():
            written = self._written((*path, *keys))
            if written[1] == "generators":
                alone: Tree = {}
                put(alone, keys, get(tree, *keys))
                yield ValuesText(values.as_text(alone), self.document.origin, written)


def _is_directory(source: Mapping[str, Any]) -> bool:
    """Whether *source* says that its files are applied as they are, whatever is among them."""
    directory = source.get("directory")
    return get(directory, "recurse") is True or bool(get(directory, "jsonnet"))


def _keys(tree: Tree) -> Iterator[FieldPath]:
    """Where *tree* has what is no mapping."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from ((key, *below) for below in _keys(value))
        else:
            yield (key,)
