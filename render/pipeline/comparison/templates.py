"""What becomes of templates, and of the VMs that are made of them: those that are there stay as they are."""

from collections.abc import Collection, Container, Iterator, Sequence

from render.convert import templates
from render.diagnostics.secrets import is_secret_key
from render.diff import impact
from render.diff.compare import differences
from render.diff.impact import FieldChange, HolderImpact
from render.diff.pools import Outcome
from render.diff.source import ChangeSource
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.release import NEWEST
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.model.types import VM_TYPE
from render.pipeline.provenance.attribution import SideIndex, path_of

_MACHINES = ("VirtualMachine", "VirtualMachineInstance")
#: Characters of a secret value that is looked for within others.
_LEAST_OF_A_TEXT = 4


def template_impacts(
    old: Sequence[Resource],
    new: Sequence[Resource],
    sides: tuple[SideIndex, SideIndex],
    edited: Collection[ResourceRef],
    unusable: tuple[Container[ResourceRef | None], Container[ResourceRef | None]] = ((), ()),
) -> Iterator[HolderImpact]:
    """What becomes of the templates among the objects of both states that change, or use an *edited* definition.

    *unusable*: of which the VMs are refused, in either state.
    """
    before, after = _by_identity(old), _by_identity(new)
    for ref in sorted({**before, **after}):
        was, now = before.get(ref), after.get(ref)
        if was is None or now is None:
            if now is None:
                yield HolderImpact(ref, "withdrawn", (len(_machines(was)), 0))
            else:
                outcome: Outcome = "unusable" if ref in unusable[1] else "new"
                yield HolderImpact(ref, outcome, (0, len(_machines(now))))
            continue
        found = list(_changes(was, now, sides))
        passed = tuple(ref for ref in sorted(edited) if ref.name in names_used(now))
        if found or passed:
            counts = len(_machines(was)), len(_machines(now))
            outcome = "repaired" if ref in unusable[0] else "later"
            outcome = "unusable" if ref in unusable[1] else outcome
            yield HolderImpact(ref, outcome, counts, tuple(found), passed)


def _by_identity(resources: Sequence[Resource]) -> dict[ResourceRef, Resource]:
    return {
        resource.ref: resource
        for resource in resources
        if templates.is_template(resource) and _machines(resource)
    }


_Machines = dict[str, tuple[FieldPath, Tree]]


def _machines(template: Resource | None) -> _Machines:
    """The VMs that *template* makes with its defaults, by kind and name, each with its place there."""
    if template is None:
        return {}
    declared = templates.parameters(template)

    def fill(use: templates.Use) -> str | None:
        return declared[use.name].value if use.name in declared else None

    return {
        f"{filled.body['kind']} {tree.get(filled.body, 'metadata', 'name') or ''}": (
            filled.path,
            filled.body,
        )
        for filled in templates.filled(template, fill, NEWEST)
        if filled.body.get("kind") in _MACHINES
    }


def _changes(
    was: Resource, now: Resource, sides: tuple[SideIndex, SideIndex]
) -> Iterator[FieldChange]:
    """What differs in the VMs that two states of a template make; of those that only one makes, that alone."""
    old, new = _machines(was), _machines(now)
    secret = _secret_values(was) | _secret_values(now)
    for name in {**old, **new}:
        if name not in old or name not in new:
            held, made = (
                _concealed(machines[name][1], secret) if name in machines else None
                for machines in (old, new)
            )
            yield FieldChange(
                name, impact.without_secrets((), held), impact.without_secrets((), made), ""
            )
            continue
        label = f"{name}: " if len(new) > 1 else ""
        for difference in differences(old[name][1], new[name][1], VM_TYPE):
            hidden = difference._replace(
                before=_concealed(difference.before, secret),
                after=_concealed(difference.after, secret),
            )
            for side, (above, body) in zip(reversed(sides), (new[name], old[name]), strict=True):
                path = path_of(difference.route, body)
                if tree.get(body, *path) is not None:
                    key = (now.ref.kind, now.ref.namespace, now.ref.name)
                    cause = ChangeSource(now.ref, (*above, *path), side.places.get(key), side.side)
                    change = impact.field_change(hidden, "", cause)
                    yield change._replace(field=f"{label}{change.field}")
                    break


def _secret_values(template: Resource) -> set[str]:
    """The values of the parameters of *template* that are called as secrets are, wherever they are filled in."""
    declared = templates.parameters(template)
    return {
        parameter.value
        for name, parameter in declared.items()
        if parameter.value and is_secret_key(name)
    }


def _concealed(value: Any, secret: Collection[str]) -> Any:
    """*value* without the scalars in which one of the *secret* values stands; of a short one that are no others."""
    if not secret:
        return value
    if isinstance(value, dict):
        return {key: _concealed(item, secret) for key, item in value.items()}
    if isinstance(value, list):
        return [_concealed(item, secret) for item in value]
    text = str(value)
    is_secret = text in secret or any(
        each in text for each in secret if len(each) >= _LEAST_OF_A_TEXT
    )
    return impact.HIDDEN if is_secret else value


def names_used(template: Resource) -> set[str]:
    """The names of the definitions that VMs of *template* ask for; none of another object."""
    if not templates.is_template(template):
        return set()
    matchers = (
        tree.get(body, "spec", kind_class.word, "name")
        for _, body in _machines(template).values()
        for kind_class in KIND_CLASSES
    )
    return {name for name in matchers if isinstance(name, str)}
