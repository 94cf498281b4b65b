"""From a matcher to the definition in force.

Upstream: pkg/instancetype/find/revision.go, spec.go, pkg/instancetype/preference/find/revision.go, spec.go.
"""

from collections.abc import Callable, Collection, Sequence

from render.diagnostics.codes import (
    INSTANCETYPE_NOT_FOUND,
    PREFERENCE_NOT_FOUND,
    REVISION_NOT_FOUND,
    REVISION_UNFIT,
    UNEXPECTED_KIND,
    Code,
)
from render.diagnostics.fix import Fix, choice, respelled, set_to
from render.model import tree
from render.model.catalogue import Catalogue, Definition, Key, Unfit
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPE, PREFERENCE, KindClass
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_near, is_slip, nearest
from render.model.release import Version, holds, since
from render.model.resource import INSTANCETYPE_GROUP
from render.model.tree import Tree
from render.resolve import renames

#: What is said where a definition is missing, by the matcher that asks for it.
NOT_FOUND = {"instancetype": INSTANCETYPE_NOT_FOUND, "preference": PREFERENCE_NOT_FOUND}
#: Among so many names, looking for a near one costs more than it helps.
_MANY = 1000
OBJECT_NAME_LABEL = "instancetype.kubevirt.io/object-name"


_RECORDS = since("1.5", "the controller records revisions in the VM's status")
_COMPARES_NAMES = since("1.5.2", "such a revision counts for the object in its label only")


class Missing(NamedTuple):
    """Why a matcher leads nowhere: *message* is KubeVirt's text, *key* the matcher's field to blame.

    *suggest* says what to do, and *fixes* does it in the matcher at a path; they look for near names, which is worth it
    only for a report, as *namesakes* is: what has the name, and another kind or namespace.
    """

    code: Code
    message: str
    key: str
    suggest: Callable[[], str]
    fixes: Callable[[FieldPath], tuple[Fix, ...]] = lambda _: ()
    namesakes: Callable[[], Sequence[Definition]] = tuple


def find(  # noqa: PLR0913, PLR0917 - what is looked for, and where: no part of it is known to all callers
    kind_class: KindClass,
    matcher: Tree,
    status: Tree,
    namespace: str,
    catalogue: Catalogue,
    release: Version,
) -> Definition | Missing:
    """The definition that *matcher* of a VM in *namespace* means to KubeVirt *release*.

    A ``revisionName`` wins; then what the controller recorded in the VM's *status*, if the revision is still the
    matcher's; then the object itself, of the input, of what the cluster has beside it, or bundled.
    """
    named = matcher.get("revisionName")
    if named:
        return _revision(kind_class, named, namespace, catalogue, "revisionName")
    recorded = status and tree.get(status, kind_class.status, "controllerRevisionRef", "name")
    if recorded and holds(_RECORDS, release):
        revision = catalogue.find("apps", "ControllerRevision", namespace, recorded)
        if revision is None:
            return _revision(kind_class, recorded, namespace, catalogue, "name")
        # Only the name is compared: an old revision of another kind stays in force.
        label = tree.get(revision.body, "metadata", "labels", OBJECT_NAME_LABEL)
        believed = not holds(_COMPARES_NAMES, release)
        if believed or (label is not None and label == matcher.get("name", "")):
            return _revision(kind_class, recorded, namespace, catalogue, "name")
    return _live(kind_class, matcher, namespace, catalogue)


def _revision(
    kind_class: KindClass, name: str, namespace: str, catalogue: Catalogue, key: str
) -> Definition | Missing:
    definition = catalogue.revisions.get((namespace, name))
    if definition is None:
        known = [n for space, n in catalogue.revisions if space == namespace]
        return Missing(
            REVISION_NOT_FOUND,
            f'controllerrevisions.apps "{name}" not found',
            key,
            lambda: (
                meant(name, known)
                or f"add the ControllerRevision {namespace}/{name} to the input, "
                "or drop revisionName"
            ),
        )

    def another() -> str:
        return f"pin {kind_class.word} to a ControllerRevision that holds one"

    if isinstance(definition, Unfit):
        return Missing(REVISION_UNFIT, str(definition), key, another)
    if definition.kind not in (kind_class.namespaced, kind_class.cluster):
        return Missing(
            REVISION_UNFIT,
            f"unexpected type in ControllerRevision: *v1beta1.{definition.kind}",
            key,
            another,
        )
    return definition


def _live(
    kind_class: KindClass, matcher: Tree, namespace: str, catalogue: Catalogue
) -> Definition | Missing:
    name, kind = matcher.get("name", ""), kind_class.kind_of(matcher.get("kind", ""))
    if name and kind:
        scope = namespace if kind == kind_class.namespaced else ""
        definition = catalogue.definition(Key(kind, scope, name))
        if definition is not None:
            return definition
        if kind == kind_class.cluster and (kind, name) in catalogue.bundled:
            return Definition(kind, name, catalogue.bundled[kind, name], None)
        holder = catalogue.unclear.get((kind, name), "")
        if holder:
            message = f"{kind} {name} may stand in {holder}, and is not KubeVirt's own then"
            cure = f"first mend {holder}"
            return Missing(NOT_FOUND[kind_class.word], message, "name", lambda: cure)
    return _missing(kind_class, matcher, kind, namespace, catalogue)


def _missing(
    kind_class: KindClass, matcher: Tree, kind: str, namespace: str, catalogue: Catalogue
) -> Missing:
    """Why there is nothing of the *kind*, ``""`` where it is none, that *matcher* names."""
    name, written_kind = matcher.get("name", ""), matcher.get("kind", "")
    if not kind:
        return Missing(
            UNEXPECTED_KIND,
            f"got unexpected kind in {kind_class.matcher}: {written_kind}",
            "kind",
            lambda: f"use {kind_class.namespaced} or {kind_class.cluster}",
            lambda path: respelled(
                (*path, "kind"),
                written_kind,
                _of_name(kind_class, name, namespace, catalogue),
            ),
        )
    if not name:
        return Missing(
            NOT_FOUND[kind_class.word],
            "resource name may not be empty",
            "name",
            lambda: "name an object",
        )
    scope = namespace if kind == kind_class.namespaced else ""
    return Missing(
        NOT_FOUND[kind_class.word],
        f'{kind.lower()}s.{INSTANCETYPE_GROUP} "{name}" not found',
        "name",
        lambda: _suggest(kind_class, Key(kind, scope, name), namespace, catalogue),
        lambda path: _fixes(kind_class, Key(kind, scope, name), namespace, catalogue, path),
        lambda: _namesakes(kind_class, name, catalogue),
    )


def _namesakes(kind_class: KindClass, name: str, catalogue: Catalogue) -> list[Definition]:
    """The definitions of this *name*, of either kind and any namespace."""
    keys = catalogue.named(name, (kind_class.namespaced, kind_class.cluster))
    return [found for found in map(catalogue.definition, keys) if found is not None]


def _fixes(
    kind_class: KindClass, wanted: Key, namespace: str, catalogue: Catalogue, path: FieldPath
) -> tuple[Fix, ...]:
    """The matcher at *path* with another kind, if only that is wrong, else with a name of which it is a slip.

    A name that is only like another may be that of something the cluster has.
    """
    named = _of_name(kind_class, wanted.name, namespace, catalogue)
    if named:
        return choice(*((f"name the {kind}", set_to((*path, "kind"), kind)) for kind in named))
    near = near_name(wanted.name, catalogue.known(wanted.kind, wanted.namespace))
    if not near or not is_near(wanted.name, near) or not _has_digits_of(near, wanted.name):
        return ()
    return choice((f"name {near}", set_to((*path, "name"), near)))


#: What is taken for a digit, or one for it.
_LIKE_DIGITS = str.maketrans("lo", "10")


def _has_digits_of(name: str, other: str) -> bool:
    """Whether *name* has the digits of the *other*, or is written like it but for letters that look like digits."""
    if name.translate(_LIKE_DIGITS) == other.translate(_LIKE_DIGITS):
        return True
    return [*filter(str.isdecimal, name)] == [*filter(str.isdecimal, other)]


def _of_name(
    kind_class: KindClass, name: str, namespace: str, catalogue: Catalogue
) -> dict[str, None]:
    """The kinds of the definitions with this *name* that a VM in *namespace* may name; one of KubeVirt's own last."""
    kinds = (kind_class.namespaced, kind_class.cluster)
    keys = catalogue.named(name, kinds)
    if not keys and (kind_class.cluster, name) in catalogue.bundled:
        return {kind_class.cluster: None}
    return dict.fromkeys(key.kind for key in keys if key.namespace in ("", namespace))


def _suggest(kind_class: KindClass, wanted: Key, namespace: str, catalogue: Catalogue) -> str:
    renamed = catalogue.renamed(wanted)
    if renamed is not None:
        return (
            f"kustomize renamed it to {renamed.name}: {renames.cure(wanted.kind, kind_class.word)}"
        )
    named = _of_name(kind_class, wanted.name, namespace, catalogue)
    if len(named) == 1:
        (kind,) = named
        scope = f"{namespace}/" if kind == kind_class.namespaced else ""
        return f"there is {kind} {scope}{wanted.name}: set {kind_class.word}.kind: {kind}"
    others = catalogue.named(wanted.name, (kind_class.namespaced, kind_class.cluster))
    if others and all(key.kind == wanted.kind for key in others):
        spaces = ", ".join(f"namespace {key.namespace}" for key in others)
        cure = f"set metadata.namespace: {namespace} there, or make it a {kind_class.cluster}"
        near = [key.namespace for key in others if is_slip(namespace, key.namespace)]
        if near:  # what others name is right, rather than what this one does
            cure = f"write metadata.namespace: {near[0]}, if that is meant; else {cure}"
        return f"it is in {spaces}, and a VM finds those of its own: {cure}"
    elsewhere = [
        f"{key.kind} {key.namespace}/{key.name}" if key.namespace else f"{key.kind} {key.name}"
        for key in others
    ]
    if elsewhere:
        return (
            f"there is {', '.join(elsewhere)}: set {kind_class.word}.kind or the namespace to match"
        )
    other = PREFERENCE if kind_class is INSTANCETYPE else INSTANCETYPE
    is_other = catalogue.named(wanted.name, (other.namespaced, other.cluster))
    if is_other or (other.cluster, wanted.name) in catalogue.bundled:
        kind = is_other[0].kind if is_other else other.cluster
        return f"{wanted.name} is a {kind}: name it in spec.{other.word}"
    where = f"namespace {wanted.namespace}" if wanted.namespace else "the input"
    known = catalogue.known(wanted.kind, wanted.namespace)
    cure = meant(wanted.name, known, f"add the {wanted.kind} to {where}")
    end = " else" if cure.endswith("?") else ", or"
    return f"{cure}{end} name the file or folder where the cluster's own is: --catalog PATH"


def meant(name: str, known: Collection[str], otherwise: str = "") -> str:
    """The cure for *name*, which is no definition: the one of *known* that is near, else what *otherwise* says."""
    near = near_name(name, known)
    return f"did you mean {near}?" if near else otherwise


def near_name(name: str, known: Collection[str]) -> str:
    """The name in *known* that *name* was probably meant to be: with another series, o1.small is another thing.

    A series that is longer or shorter has to be the same but for two letters: cx1.xlarge is not meant by corp.large.
    """
    if len(known) >= _MANY:
        return ""
    return nearest(name, [other for other in known if _may_be_meant(name, other)])


def _may_be_meant(name: str, other: str) -> bool:
    series, dot, size = name.partition(".")
    if is_slip(name, other):  # also win-std for win.std
        return True
    if "." not in other:
        return not dot or other == size or is_near(other, name)
    is_as_long = other.find(".") == name.find(".")
    return is_as_long or (other[:1] == name[:1] and is_near(other.partition(".")[0], series))
