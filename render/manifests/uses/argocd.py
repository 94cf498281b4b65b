"""Applications of Argo CD: the charts of this repository that they fill in.

Upstream: argo-cd reposerver/repository/repository.go (helmTemplate, getResolvedValueFiles), util/argo/argo.go.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from render.manifests.discover import HelmRelease, ValuesText
from render.manifests.uses import values
from render.manifests.uses.repository import Home
from render.manifests.uses.use import (
    ElsewhereError,
    FolderUse,
    UnevaluatedError,
    mappings,
    named,
    texts,
)
from render.model.fieldpath import FieldPath
from render.model.resource import text_at
from render.model.tree import Tree, get
from render.yaml.reader import Document

GROUP = "argoproj.io"
_BRANCHES = frozenset({"", "HEAD", "main", "master"})
_REMOTE = ("://", "$ARGOCD_")


def uses(
    document: Document, home: Home, base: HelmRelease, whole: Tree | None = None, title: str = ""
) -> Iterator[FolderUse | UnevaluatedError]:
    """The charts below what is read that the Application *document* fills in; *base* has what is true of all of them.

    *whole*: that Application as an ApplicationSet makes it, called *title*: *document* is the set then, and where its
    own values stand is not known.
    """
    body = document.body if whole is None else whole
    several = [*mappings(body.get("spec"), "sources")]
    source = get(body, "spec", "source")
    sources = several or ([(("source",), source)] if isinstance(source, dict) else [])
    application = _Application(
        document, body, title or named(document), [one for _, one in sources], home, base
    )
    for path, one in sources:
        try:
            use = application.use(("spec", *path), one)
        except ElsewhereError:
            if values.may_hold_machines(one.get("helm")):
                reason = "Application of a chart from elsewhere with VMs in its values"
                yield UnevaluatedError(reason)
        except UnevaluatedError as error:
            yield error
        else:
            if use is not None:
                yield use


class _Application(NamedTuple):
    """An Application with its *sources*: the *document* that it stands in, or of the set that makes it, and its *body*.

    In the repository *home*; *base* has what is true of all charts.
    """

    document: Document
    body: Tree
    title: str
    sources: Sequence[Mapping[str, Any]]
    home: Home
    base: HelmRelease

    def use(self, path: FieldPath, source: Mapping[str, Any]) -> FolderUse | None:
        """What *source*, at *path*, makes of a chart below what is read; None where it is none.

        Raises UnevaluatedError, ElsewhereError.
        """
        if text_at(source, "chart"):
            raise ElsewhereError
        if not text_at(source, "path") or source.get("plugin"):
            return None
        assumptions = self.home.claimed(text_at(source, "repoURL"))
        folder = self.home.folder(text_at(source, "path"))
        if not self.home.is_read(folder) or not self.home.is_chart_of_machines(folder):
            return None
        revision = text_at(source, "targetRevision")
        if revision not in _BRANCHES:
            assumptions = (*assumptions, f"revision {revision} is the one that is read")
        release = self._release((*path, "helm"), folder, source.get("helm"))
        return FolderUse(self.title, self.document, folder, release, assumptions=assumptions)

    def _release(self, path: FieldPath, folder: str, options: Any) -> HelmRelease:
        """What the chart in *folder* is installed as, by the *options* at *path*. Raises UnevaluatedError."""
        helm = options if isinstance(options, dict) else {}
        files = []
        for name in texts(helm, "valueFiles"):
            file = self._file(name, folder)
            if os.path.lexists(file) or not helm.get("ignoreMissingValueFiles"):
                files.append(file)
        parameters = []
        for _, parameter in mappings(helm, "fileParameters"):
            file = os.path.relpath(self._file(text_at(parameter, "path"), folder), folder)
            parameters.append(f"{text_at(parameter, 'name')}={file}")
        destination = get(self.body, "spec", "destination")
        return self.base._replace(
            name=text_at(helm, "releaseName") or text_at(self.body.get("metadata"), "name"),
            namespace=text_at(helm, "namespace")
            or text_at(destination, "namespace")
            or self.base.namespace,
            values=tuple(files),
            texts=tuple(self._texts(path, helm)),
            file_parameters=tuple(parameters),
        )

    def _file(self, name: str, folder: str) -> str:
        """The file *name* of values for the chart in *folder*. Raises UnevaluatedError for one of elsewhere."""
        reason = "values file from elsewhere"
        if any(word in name for word in _REMOTE):
            raise UnevaluatedError(reason, f"the values file {name}")
        if not name.startswith("$"):
            return self.home.file(name, folder)
        ref, _, path = name[1:].partition("/")
        addresses = [text_at(one, "repoURL") for one in self.sources if text_at(one, "ref") == ref]
        if not addresses:
            raise UnevaluatedError(reason, f"no source is called {ref}: {name}")
        try:
            self.home.claimed(addresses[0])
        except ElsewhereError:
            raise UnevaluatedError(reason, f"{name} is in {addresses[0]}") from None
        return self.home.file(f"/{path}", folder)

    def _texts(self, path: FieldPath, helm: Mapping[str, Any]) -> Iterator[ValuesText]:
        """What *helm*, the options at *path*, says of the values itself. Raises UnevaluatedError."""
        origin, is_whole = self.document.origin, self.body is self.document.body
        tree = helm.get("valuesObject")
        if tree:
            yield ValuesText(values.as_text(tree), origin, (*path, "valuesObject"), is_whole)
        elif text_at(helm, "values"):
            text = text_at(helm, "values").encode("utf-8", "replace")
            yield ValuesText(text, origin, (*path, "values"), has_places=False)
        parameters: Tree = {}
        for is_text in (False, True):
            for _, one in mappings(helm, "parameters"):
                if bool(one.get("forceString")) is is_text:
                    value = text_at(one, "value")
                    if "$ARGOCD_" in value:
                        raise UnevaluatedError("parameter with a variable of Argo CD", value)
                    values.put_parameter(parameters, text_at(one, "name"), value, is_text=is_text)
        if parameters:
            text = values.as_text(parameters)
            yield ValuesText(text, origin, (*path, "parameters"), has_places=False)
