"""Affinity and topology spread."""

from typing import Any

import pytest

from render.admission.vmi.placement import CHECKS
from tests.support.asking import Ask
from tests.support.refusals import Json, refusals

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERMS = f"spec.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def expected(*faults: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    return [(f"placement/{rule}", field, f"{field}: {text}") for rule, field, text in faults]


def nodes(**term: list[Json]) -> Json:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}


def expression(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@pytest.mark.parametrize(
    ("wanted", "faults"),
    [
        (expression("a", "In", "x", "y"), []),
        (expression("a.b/c", "Exists"), []),
        (expression("a", "Gt", "1"), []),
        (
            expression("a", "NotIn"),
            [
                (
                    "values",
                    "values",
                    "Required value: must be specified when `operator` is 'In' or 'NotIn'",
                )
            ],
        ),
        (
            expression("a", "DoesNotExist", "x"),
            [
                (
                    "values",
                    "values",
                    "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                )
            ],
        ),
        (
            expression("a", "Lt", "1", "2"),
            [
                (
                    "values",
                    "values",
                    "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
                )
            ],
        ),
        (
            expression("a b", "in"),
            [
                ("operator", "operator", 'Invalid value: "in": not a valid selector operator'),
                ("label-key", "key", f'Invalid value: "a b": {NAME}'),
            ],
        ),
        (
            expression("", "Exists"),
            [
                ("label-key", "key", 'Invalid value: "": name part must be non-empty'),
                ("label-key", "key", f'Invalid value: "": {NAME}'),
            ],
        ),
    ],
)
def test_nodes_by_labels(wanted: Json, faults: list[tuple[str, str, str]]) -> None:
    place = f"{TERMS}[0].matchExpressions[0]"
    content = expected(*((rule, f"{place}.{key}", text) for rule, key, text in faults))
    assert refusals(CHECKS, nodes(matchExpressions=[wanted])) == content


@pytest.mark.parametrize(
    ("wanted", "faults"),
    [
        (expression("metadata.name", "In", "node-1.local"), []),
        (
            expression("metadata.name", "NotIn"),
            [
                (
                    "values",
                    "values",
                    "Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                )
            ],
        ),
        (
            expression("metadata.uid", "Gt", "x"),
            [
                ("operator", "operator", 'Invalid value: "Gt": not a valid selector operator'),
                (
                    "field-key",
                    "key",
                    'Invalid value: "metadata.uid": not a valid field selector key',
                ),
            ],
        ),
        (
            expression("metadata.name", "In", "Node"),
            [("field-value", "values[0]", f'Invalid value: "Node": {SUBDOMAIN}')],
        ),
    ],
)
def test_nodes_by_fields(wanted: Json, faults: list[tuple[str, str, str]]) -> None:
    place = f"{TERMS}[0].matchFields[0]"
    content = expected(*((rule, f"{place}.{key}", text) for rule, key, text in faults))
    assert refusals(CHECKS, nodes(matchFields=[wanted])) == content


def test_node_terms() -> None:
    empty: Json = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}
    text = "Required value: must have at least one node selector term"
    assert refusals(CHECKS, empty) == expected(("node-terms", TERMS, text))


def test_weights() -> None:
    term: Json = {"topologyKey": "a", "labelSelector": None}
    affinity = {
        "nodeAffinity": {PREFERRED: [{"weight": 100, "preference": {}}, {"preference": {}}]},
        "podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": term}]},
        "podAntiAffinity": {PREFERRED: [{"weight": 101, "podAffinityTerm": term}]},
    }
    assert refusals(CHECKS, {"affinity": affinity}) == expected(
        (
            "weight",
            f"spec.nodeAffinity.{PREFERRED}[1].weight",
            "Invalid value: 0: must be in the range 1-100",
        ),
        (
            "weight",
            f"spec.podAntiAffinity.{PREFERRED}[0].weight",
            "Invalid value: 101: must be in the range 1-100",
        ),
    )


def test_pods() -> None:
    term: Json = {
        "labelSelector": {
            "matchLabels": {"app": "x y"},
            "matchExpressions": [expression("app", "Gt", "-a")],
        },
        "namespaceSelector": {"matchLabels": {"a/b/c": ""}},
        "namespaces": ["ok", "No"],
    }
    place = f"spec.podAffinity.{REQUIRED}[0]"
    found = refusals(CHECKS, {"affinity": {"podAffinity": {REQUIRED: [term]}}})
    label = "a lowercase RFC 1123 label must consist"
    assert [(rule, field) for rule, field, _ in found] == [
        ("placement/label-value", f"{place}.labelSelector.matchLabels"),
        ("placement/operator", f"{place}.labelSelector.matchExpressions[0].operator"),
        ("placement/label-value", f"{place}.labelSelector.matchExpressions[0].values[0]"),
        ("placement/label-key", f"{place}.namespaceSelector.matchLabels"),
        ("placement/namespace", f"{place}.namespace"),
        ("placement/topology-key", f"{place}.topologyKey"),
        ("placement/label-key", f"{place}.topologyKey"),
        ("placement/label-key", f"{place}.topologyKey"),
    ]
    assert found[0].message == f'{place}.labelSelector.matchLabels: Invalid value: "x y": {VALUE}'
    assert found[4].message.startswith(f'{place}.namespace: Invalid value: "No": {label}')
    assert found[5].message == f"{place}.topologyKey: Required value: can not be empty"


def constraint(**more: Any) -> Json:
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **more}


AT = "spec.topologySpreadConstraints"


@pytest.mark.parametrize(
    ("constraints", "faults"),
    [
        ([constraint(), constraint(topologyKey="host")], []),
        ([constraint(), constraint(whenUnsatisfiable="ScheduleAnyway")], []),
        (
            [constraint(maxSkew=0)],
            [("max-skew", f"{AT}[0].maxSkew", "Invalid value: 0: must be greater than zero")],
        ),
        (
            [constraint(topologyKey="")],
            [("topology-key", f"{AT}[0].topologyKey", "Required value: can not be empty")],
        ),
        (
            [constraint(topologyKey="a b")],
            [("label-key", f"{AT}[0].topologyKey", f'Invalid value: "a b": {NAME}')],
        ),
        (
            [constraint(whenUnsatisfiable="Never")],
            [
                (
                    "when-unsatisfiable",
                    f"{AT}[0].whenUnsatisfiable",
                    'Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
                )
            ],
        ),
        (
            [constraint(), constraint(maxSkew=2)],
            [
                (
                    "spread-unique",
                    f"{AT}[0].{{topologyKey, whenUnsatisfiable}}",
                    'Duplicate value: "{zone, DoNotSchedule}"',
                )
            ],
        ),
        (
            [constraint(labelSelector={"matchLabels": {"a": "b c"}})],
            [("label-value", f"{AT}.labelSelector.matchLabels", f'Invalid value: "b c": {VALUE}')],
        ),
    ],
)
def test_spread(constraints: list[Json], faults: list[tuple[str, str, str]]) -> None:
    assert refusals(CHECKS, {"topologySpreadConstraints": constraints}) == expected(*faults)


def test_what_is_said_of_the_same_field_again_stands_below(ask: Ask) -> None:
    """So does what the API server would say of a label that KubeVirt refuses before."""
    text = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
        "spec:\n  runStrategy: Always\n  template:\n    metadata: {labels: {app: LABEL}}\n    spec:\n"
        "      affinity:\n        podAntiAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n"
        "          - {KEY labelSelector: {}}\n      tolerations: [{operator: Exists}]\n"
        "      readinessProbe: {exec: {command: [a]}}\n"
        "      domain: {memory: {guest: 1Gi}, devices: {}}\n"
    )
    right = {"LABEL": "web", "KEY": "topologyKey: zone,"}
    for words, first, below in (
        ({}, "", 0),
        ({"KEY": ""}, "error VR107 missing-field", 3),
        ({"LABEL": "web server"}, "error VR129 metadata-refused", 1),
    ):
        case = text
        for word, value in {**right, **words}.items():
            case = case.replace(word, value)
        told = ask("check", "-", stdin=case).out
        assert first in told.split("\n")[0]
        assert told.count("\n  also, until that is mended: ") == below
        assert len([line for line in told.splitlines() if line.startswith("<stdin>")]) == bool(
            below
        )
