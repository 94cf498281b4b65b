"""Slips in the objects of Argo CD and Flux: what their controllers leave out without a word, or refuse.

Upstream: argo-cd pkg/apis/application/v1alpha1 (types.go, applicationset_types.go); fluxcd kustomize-controller and
helm-controller api.
"""

from collections.abc import Iterator, Mapping, Sequence

from render.manifests.uses.slips import fields
from render.manifests.uses.use import mappings, texts
from render.model.apimachinery import dns1123
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import get
from render.yaml.reader import Document

#: So alike is a slip to what was meant: new fields come with each release.
_NEAR = 0.75
#: What has more fields than any of these is no slip, and each is compared with all that are known.
_MOST_KEYS = 64
_ARGOCD, _KUSTOMIZE, _HELM = (
    "argoproj.io",
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
)
#: The kinds of a group that fill in others, and the versions in which it has or had them.
_SERVED: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    _ARGOCD: (frozenset({"Application", "ApplicationSet"}), frozenset({"v1alpha1"})),
    _KUSTOMIZE: (frozenset({"Kustomization"}), frozenset({"v1", "v1beta2", "v1beta1"})),
    _HELM: (frozenset({"HelmRelease"}), frozenset({"v2", "v2beta2", "v2beta1"})),
}
#: To what Flux lets them refer.
_SOURCES = frozenset({"Bucket", "ExternalArtifact", "GitRepository", "OCIRepository"})
_SOURCES_OF_CHARTS = frozenset({"Bucket", "GitRepository", "HelmRepository"})
_REFERENCES = frozenset({"ConfigMap", "Secret"})
#: A word alone in a template, which Go takes for one of its functions, and a field of Go's templates.
_WORD, _FIELD = pattern(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}"), pattern(r"\{\{\s*\.[A-Za-z_]")
_OF_GO = frozenset({"break", "continue", "else", "end", "now", "uuidv4"})
#: What a template may hold for others to fill in, helm say.
_OF_OTHERS = frozenset({"helm", "kustomize", "plugin"})


class Slip(NamedTuple):
    """What is wrong at *path*, and what helps; *what*: a ``field``, a ``kind``, a ``template`` or a ``type``."""

    path: FieldPath
    message: str
    help: str
    what: str = "field"


def kind_slip(document: Document) -> Slip | None:
    """That *document* has a kind that its group does not have, or a version; None for what is none of ours."""
    group, _, version = text_at(document.body, "apiVersion").rpartition("/")
    kind = text_at(document.body, "kind")
    kinds, versions = _SERVED.get(group, (frozenset(), frozenset()))
    if kind in kinds and version not in versions:
        latest = next(known for known in ("v1alpha1", "v1", "v2") if known in versions)
        message = f"{group} has no {kind} in {version}"
        return Slip(("apiVersion",), message, f"write {group}/{latest}", "kind")
    if kinds and kind not in kinds and (near := nearest(kind, sorted(kinds), _NEAR)):
        return Slip(("kind",), f"{group} has no kind {kind}", f"did you mean {near}?", "kind")
    return None


def slips(document: Document) -> Iterator[Slip]:
    """What is misspelt in *document*, or of another type, and so counts for nothing."""
    body = document.body
    kind = text_at(body, "kind")
    if kind == "Application":
        yield from _of_application(body, ("spec",))
    elif kind == "ApplicationSet":
        yield from _of_application(body, ("spec", "template", "spec"))
        yield from _of_generators(body, ("spec", "generators"))
        yield from _of_templates(body)
    elif kind == "HelmRelease":
        chart: FieldPath = ("spec", "chart", "spec")
        yield from _unknown(body, ("spec",), fields.OF_RELEASE)
        yield from _unknown(body, chart, fields.OF_CHART)
        yield from _kind_of(body, (*chart, "sourceRef"), _SOURCES_OF_CHARTS)
        yield from _namespace(body, ("spec", "targetNamespace"))
        yield from _references(body, ("spec", "valuesFrom"))
    else:
        yield from _kind_of(body, ("spec", "sourceRef"), _SOURCES)
        yield from _namespace(body, ("spec", "targetNamespace"))
        yield from _references(body, ("spec", "postBuild", "substituteFrom"))
        yield from _unknown(body, ("spec",), fields.OF_KUSTOMIZATION)
        yield from _unknown(
            body, ("spec", "postBuild"), frozenset({"substitute", "substituteFrom"})
        )


def _references(body: Any, path: FieldPath) -> Iterator[Slip]:
    for place, _ in mappings(body, *path):
        yield from _kind_of(body, place, _REFERENCES)


def _kind_of(body: Any, path: FieldPath, known: frozenset[str]) -> Iterator[Slip]:
    """That what is referred to at *path* of *body* has a kind that is nearly one of those *known*."""
    kind = text_at(get(body, *path), "kind")
    near = "" if kind in known else nearest(kind, sorted(known))
    if near:
        yield Slip((*path, "kind"), f"unknown kind {kind}", f"did you mean {near}?", "kind")


def _namespace(body: Any, path: FieldPath) -> Iterator[Slip]:
    """That what stands at *path* of *body* can be no namespace, whatever fills it in."""
    name = get(body, *path)
    if not isinstance(name, str) or not name or "{{" in name or "$" in name:
        return
    for fault in dns1123.label_faults(name)[:1]:
        yield Slip(path, f"{name} is no namespace", fault, "type")


def _of_application(body: Any, spec: FieldPath) -> Iterator[Slip]:
    yield from _unknown(body, spec, fields.OF_SPEC)
    yield from _namespace(body, (*spec, "destination", "namespace"))
    yield from _unknown(body, (*spec, "destination"), fields.OF_DESTINATION)
    yield from _unknown(body, (*spec, "syncPolicy"), fields.OF_POLICY)
    yield from _unknown(body, (*spec, "syncPolicy", "automated"), fields.OF_AUTOMATED)
    several = get(body, *spec, "sources")
    if isinstance(several, dict):
        yield Slip(
            (*spec, "sources"), "is a mapping, and should be a list", "begin it with -", "type"
        )
    if isinstance(get(body, *spec, "source"), list):
        cure = "write sources, or take the - away"
        yield Slip((*spec, "source"), "is a list, and should be a mapping", cure, "type")
    numbers = range(len(several)) if isinstance(several, list) else ()
    hydrated = (*spec, "sourceHydrator", "drySource")
    for source in ((*spec, "source"), hydrated, *((*spec, "sources", each) for each in numbers)):
        yield from _unknown(body, source, fields.SOURCE)
        for name, known in fields.OF_SOURCE.items():
            yield from _unknown(body, (*source, name), known)
            yield from _unfit(body, (*source, name), fields.TYPES[name])
        for name, items, field in fields.TEXTS:
            for place, _ in mappings(body, *source, name, items):
                yield from _unfit(body, place, {field: str})
        yield from _of_references(body, source, several)


def _of_references(body: Any, source: FieldPath, several: Any) -> Iterator[Slip]:
    """The files of values in the *source* that are of a source which none of *several* is called.

    Upstream: "source referenced ..., but no source has a 'ref' field defined".
    """
    refs = {text_at(each, "ref") for each in several} if isinstance(several, list) else set()
    path = (*source, "helm", "valueFiles")
    for index, name in enumerate(texts(body, *path)):
        ref = name[1:].partition("/")[0]
        if name.startswith("$") and ref not in refs and not ref.startswith("ARGOCD_"):
            near = nearest(ref, sorted(refs))
            cure = (
                f"did you mean ${near}?"
                if near
                else f"give the source that has the file ref: {ref}"
            )
            yield Slip((*path, index), f"no source is called {ref}", cure)


def _of_generators(body: Any, path: FieldPath, depth: int = 0) -> Iterator[Slip]:
    yield from _unfit(body, path[:-1], {path[-1]: list})
    for place, _ in mappings(body, *path):
        yield from _unknown(body, place, fields.OF_GENERATOR)
        yield from _unknown(body, (*place, "git"), fields.OF_GIT)
        for items in ("directories", "files"):
            yield from _unfit(body, (*place, "git"), {items: list})
            for item, _ in mappings(body, *place, "git", items):
                yield from _unknown(body, item, fields.OF_ITEM)
        for kind in ("matrix", "merge") if depth < fields.DEEPEST else ():
            yield from _of_generators(body, (*place, kind, "generators"), depth + 1)


def _unfit(body: Any, path: FieldPath, types: Mapping[Any, type]) -> Iterator[Slip]:
    """The fields at *path* of *body* that are of another type than the API server takes, by *types*."""
    for field, wanted in types.items():
        value = get(body, *path, field)
        if value is None or isinstance(value, wanted):
            continue
        found = fields.CALLED.get(type(value), "a number")
        cure = "begin it with -" if (type(value), wanted) == (dict, list) else ""
        cure = "write it in quotes" if wanted is str and isinstance(value, int | float) else cure
        cure = (
            "begin it with |, or call it valuesObject" if field == "values" and not cure else cure
        )
        yield Slip(
            (*path, field), f"is {found}, and should be {fields.CALLED[wanted]}", cure, "type"
        )


def _unknown(body: Any, path: FieldPath, known: frozenset[str]) -> Iterator[Slip]:
    """The fields at *path* of *body* that are nearly one of those *known*, if that is not there."""
    stated = get(body, *path)
    keys: Sequence[str] = (
        [key for key in stated if isinstance(key, str)] if isinstance(stated, dict) else ()
    )
    for key in keys[:_MOST_KEYS]:
        near = "" if key in known else nearest(key, sorted(known.difference(keys)), _NEAR)
        if near:
            yield Slip((*path, key), f"unknown field {key}", f"did you mean {near}?")


def _of_templates(body: Any) -> Iterator[Slip]:
    """What the template of a set has of the other kind of templates than the set is of; the first of that."""
    is_go = get(body, "spec", "goTemplate") is True
    path: FieldPath = ("spec", "template")
    for at, text in texts_below(get(body, *path), path):
        words = [word for word in _WORD.findall(text) if word not in _OF_GO]
        if is_go and words:
            cure = f"write {{{{.{words[0]}}}}}"
            yield Slip(at, f"{text}: Go's templates have no function {words[0]}", cure, "template")
            return
        if not is_go and _FIELD.search(text) and _OF_OTHERS.isdisjoint(at):
            message = f"{text} stays as it is, since goTemplate is not set"
            yield Slip(at, message, "set goTemplate: true, or take the dot away", "template")
            return


def texts_below(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """The texts in *value*, which stands at *path*, each with its place."""
    pending: list[tuple[FieldPath, Any]] = [(path, value)]
    while pending:
        at, each = pending.pop()
        if isinstance(each, dict):
            pending += [((*at, key), below) for key, below in reversed(each.items())]
        elif isinstance(each, list):
            pending += [((*at, index), below) for index, below in enumerate(each)]
        elif isinstance(each, str):
            yield at, each
