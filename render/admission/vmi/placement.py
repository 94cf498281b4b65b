"""Affinity and topology spread, checked as those of a pod are (upstream: admitters/validate-k8s-utils.go).

The field of every cause below the affinity lacks the word ``affinity``, as KubeVirt's does.
"""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model import fieldpath
from render.model.apimachinery.dns1123 import label_faults, subdomain_faults
from render.model.apimachinery.go import quoted
from render.model.apimachinery.labels import key_faults, value_faults
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SPREAD = ("topologySpreadConstraints",)
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_HEAVIEST = 100
_NO_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_NOT_SINGLE = "must be specified single value when `operator` is 'Lt' or 'Gt'"
_NOT_SINGLE_FIELD = (
    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
)
_NO_OPERATOR = "not a valid selector operator"


class _BrokenRule(NamedTuple):
    """The *rule* that the value at *path* breaks, below the VMI spec as KubeVirt names it, and a pod's words for it."""

    rule: str
    path: FieldPath
    text: str
    help: str = "see the Kubernetes API reference on the scheduling of pods"


_Faults = Iterator[_BrokenRule]


def _invalid(rule: str, path: FieldPath, value: str | int, detail: str) -> _BrokenRule:
    literal = quoted(value) if isinstance(value, str) else str(value)
    return _BrokenRule(rule, path, f"Invalid value: {literal}: {detail}")


def _required(rule: str, path: FieldPath, detail: str) -> _BrokenRule:
    return _BrokenRule(rule, path, f"Required value: {detail}")


def _key(path: FieldPath, key: str) -> _Faults:
    return (_invalid("label-key", path, key, fault) for fault in key_faults(key))


def _weight(path: FieldPath, weight: int) -> _Faults:
    if not 0 < weight <= _HEAVIEST:
        yield _invalid("weight", (*path, "weight"), weight, "must be in the range 1-100")


def _node_affinity(affinity: Tree, path: FieldPath) -> _Faults:
    required = affinity.get(_REQUIRED)
    if required is not None:
        place = (*path, _REQUIRED, "nodeSelectorTerms")
        terms = required.get("nodeSelectorTerms")
        if not terms:
            yield _required("node-terms", place, "must have at least one node selector term")
        for index, term in enumerate(terms or ()):
            yield from _term(term, (*place, index))
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        place = (*path, _PREFERRED, index)
        yield from _weight(place, weighted.get("weight") or 0)
        yield from _term(weighted.get("preference") or {}, (*place, "preference"))


def _term(term: Tree, path: FieldPath) -> _Faults:
    for index, wanted in enumerate(term.get("matchExpressions") or ()):
        place = (*path, "matchExpressions", index)
        yield from _values(wanted, place, node=True)
        yield from _key((*place, "key"), wanted.get("key") or "")
    for index, wanted in enumerate(term.get("matchFields") or ()):
        yield from _field(wanted, (*path, "matchFields", index))


def _values(wanted: Tree, path: FieldPath, *, node: bool) -> _Faults:
    """Operator and number of values of a requirement of a node selector, or else of a label selector."""
    operator, count = wanted.get("operator") or "", len(wanted.get("values") or ())
    place = (*path, "values")
    if operator in {"In", "NotIn"}:
        if not count:
            yield _required("values", place, _NO_VALUES)
    elif operator in {"Exists", "DoesNotExist"}:
        if count:
            yield _BrokenRule("values", place, f"Forbidden: {_VALUES}")
    elif node and operator in {"Gt", "Lt"}:
        if count != 1:
            yield _required("values", place, _NOT_SINGLE)
    else:
        yield _invalid("operator", (*path, "operator"), operator, _NO_OPERATOR)


def _field(wanted: Tree, path: FieldPath) -> _Faults:
    operator, key = wanted.get("operator") or "", wanted.get("key") or ""
    values = wanted.get("values") or ()
    if operator not in {"In", "NotIn"}:
        yield _invalid("operator", (*path, "operator"), operator, _NO_OPERATOR)
    elif len(values) != 1:
        yield _required("values", (*path, "values"), _NOT_SINGLE_FIELD)
    if key != "metadata.name":
        yield _invalid("field-key", (*path, "key"), key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        for fault in subdomain_faults(value):
            yield _invalid("field-value", (*path, "values", index), value, fault)


def _pod_affinity(affinity: Tree, path: FieldPath) -> _Faults:
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        yield from _pod_term(term, (*path, _REQUIRED, index))
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        place = (*path, _PREFERRED, index)
        yield from _weight(place, weighted.get("weight") or 0)
        yield from _pod_term(weighted.get("podAffinityTerm") or {}, (*place, "podAffinityTerm"))


def _pod_term(term: Tree, path: FieldPath) -> _Faults:
    for key in ("labelSelector", "namespaceSelector"):
        yield from _selector(term.get(key), (*path, key))
    for name in term.get("namespaces") or ():
        for fault in label_faults(name):
            yield _invalid("namespace", (*path, "namespace"), name, fault)
    key = term.get("topologyKey") or ""
    place = (*path, "topologyKey")
    if not key:
        yield _required("topology-key", place, "can not be empty")
    yield from _key(place, key)


def _selector(selector: Tree | None, path: FieldPath) -> _Faults:
    if selector is None:
        return
    labels, place = selector.get("matchLabels") or {}, (*path, "matchLabels")
    for key, value in labels.items():
        yield from _key(place, key)
        for fault in value_faults(value):
            yield _invalid("label-value", place, value, fault)
    for index, wanted in enumerate(selector.get("matchExpressions") or ()):
        place = (*path, "matchExpressions", index)
        yield from _values(wanted, place, node=False)
        yield from _key((*place, "key"), wanted.get("key") or "")
        for position, value in enumerate(wanted.get("values") or ()):
            for fault in value_faults(value):
                yield _invalid("label-value", (*place, "values", position), value, fault)


def _spread(constraints: list[Tree]) -> _Faults:
    kinds = [
        (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        for constraint in constraints
    ]
    for index, constraint in enumerate(constraints):
        place = (*_SPREAD, index)
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            yield _invalid("max-skew", (*place, "maxSkew"), skew, "must be greater than zero")
        key, action = kinds[index]
        if key:
            yield from _key((*place, "topologyKey"), key)
        else:
            yield _required("topology-key", (*place, "topologyKey"), "can not be empty")
        if action not in _ACTIONS:
            supported = ", ".join(map(quoted, _ACTIONS))
            text = f"Unsupported value: {quoted(action)}: supported values: {supported}"
            yield _BrokenRule("when-unsatisfiable", (*place, "whenUnsatisfiable"), text)
        # The index is missing here, as in KubeVirt.
        yield from _selector(constraint.get("labelSelector"), (*_SPREAD, "labelSelector"))
        if kinds[index] in kinds[index + 1 :]:
            twice = quoted(f"{{{key}, {action}}}")
            reported_path = (*place, "{topologyKey, whenUnsatisfiable}")
            cure = "give each pair of topologyKey and whenUnsatisfiable one constraint"
            yield _BrokenRule("spread-unique", reported_path, f"Duplicate value: {twice}", cure)


def _affinity(subject: Subject) -> Iterator[Cause]:
    affinity = subject.spec["affinity"]
    for key, faults in (
        ("nodeAffinity", _node_affinity),
        ("podAffinity", _pod_affinity),
        ("podAntiAffinity", _pod_affinity),
    ):
        if affinity.get(key) is not None:
            for fault in faults(affinity[key], (key,)):
                yield _cause(subject, fault, subject.at("affinity", *fault.path))


def _constraints(subject: Subject) -> Iterator[Cause]:
    for fault in _spread(subject.spec[_SPREAD[0]]):
        yield _cause(subject, fault, ())


def _cause(subject: Subject, fault: _BrokenRule, place: FieldPath) -> Cause:
    path = subject.at(*fault.path)
    message = f"{fieldpath.text(path)}: {fault.text}"
    return Cause(f"placement/{fault.rule}", path, message, fault.help, place=place)


CHECKS: tuple[Check, ...] = (
    Check("placement", _affinity, where=("affinity",)),
    Check("placement", _constraints, where=_SPREAD),
)
