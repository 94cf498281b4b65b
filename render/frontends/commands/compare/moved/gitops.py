"""Objects of Argo CD and Flux that are others in the second state: not all that they do with VMs is followed."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping

from render.frontends.commands.compare.states import Side
from render.manifests.discover import CHART_FILE
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import ResourceRef, from_body, text_at
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import read

#: What stands in the manifest of each of them.
_GROUPS = pattern(
    rb"""apiVersion["']?\s*:\s*["']?(?:argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io|fluxcd\.controlplane\.io)/"""
)
_TEMPLATES = "templates"
_Objects = Mapping[ResourceRef, list[Any]]


def changed_gitops(
    after: Side, changed: Mapping[str, tuple[bytes, bytes]], limits: Limits
) -> Counter[str]:
    """How many of them are new, gone or changed, by their kinds; and charts that make some, and that are others.

    *changed* is what differs of both states, by file.
    """
    found: Counter[str] = Counter()
    charts: set[str] = set()
    top = next((state.top for state in after.values()), "")
    for file, texts in changed.items():
        chart = _chart_around(top, file, limits)
        if chart:
            charts.add(chart)
        elif any(map(_GROUPS.search, texts)):
            found.update(_changed(*(_objects(text, file, limits) for text in texts)))
        elif os.path.basename(file) == CHART_FILE and not all(texts):
            found["new Chart.yaml" if texts[1] else "deleted Chart.yaml"] += 1
    if charts:
        found["changed chart of such objects"] = len(charts)
    return found


def _changed(old: _Objects | None, new: _Objects | None) -> Iterator[str]:
    if old is None or new is None:
        yield "changed file of such objects"
        return
    for ref in dict.fromkeys((*old, *new)):
        if old.get(ref) != new.get(ref):
            became = "changed" if ref in old and ref in new else "new" if ref in new else "deleted"
            yield f"{became} {ref.kind}"


def _objects(text: bytes, file: str, limits: Limits) -> _Objects | None:
    """The objects in *text*, that of *file*, by what they are called; None where nobody can read them all."""
    loaded = read(text, file, limits)
    if any(diagnostic.is_error for diagnostic in loaded.diagnostics):
        return None
    found: dict[ResourceRef, list[Any]] = {}
    for document in loaded.documents:
        if text_at(document.body, "apiVersion") and _is_gitops(document.body):
            found.setdefault(from_body(document.body, 0).ref, []).append(document.body)
    return found


def _is_gitops(body: Any) -> bool:
    version = text_at(body, "apiVersion").encode(errors="replace")
    return _GROUPS.match(b"apiVersion: " + version) is not None


def _chart_around(top: str, file: str, limits: Limits) -> str:
    """The folder of the chart that *file* is a part of, seen from *top*, if templates of it make such objects."""
    folder = os.path.dirname(file)
    while folder:
        if os.path.isfile(os.path.join(top, folder, CHART_FILE)):
            return folder if any(_makes_some(top, folder, limits)) else ""
        folder = os.path.dirname(folder)
    return ""


def _makes_some(top: str, chart: str, limits: Limits) -> Iterator[bool]:
    for folder, _, names in files.walk(os.path.join(top, chart, _TEMPLATES)):
        for name in names:
            path = os.path.join(folder, name)
            data = files.read(path, name, limits.file_bytes)
            yield isinstance(data, bytes) and _GROUPS.search(data) is not None
