import pytest

from render.model.fieldpath import FieldPath
from render.model.resource import Origin
from render.yaml import positions
from render.yaml.reader import read

TEXT = """\
# licence
---
apiVersion: v1
spec:
  a.b/c: 1
  list:
  - name: x
  -   - y
      - z
  flow: {k: [1, {m: n}]}
  base: &base {size: 1, deep: {er: 2}}
  alias: *base
  merged:
    <<: [*base, {other: 3}]
    own: 1
  10: ten
  yes: ja
--- # second
kind: List
items:
- kind: A
  spec: {é: 1, x: 2}
- kind: List
  items:
  - kind: B
    spec: 3
---
{"a": {"b": [1,
  {"c": 2}]}}{"d": 4}
"""
DATA = TEXT.encode()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), (3, 1)),
        (("spec",), (4, 1)),
        (("spec", "a.b/c"), (5, 3)),
        (("spec", "list", 0), (7, 5)),
        (("spec", "list", 0, "name"), (7, 5)),
        (("spec", "list", 1, 1), (9, 9)),
        (("spec", "flow", "k", 1, "m"), (10, 18)),
        (("spec", "alias"), (12, 3)),
        (("spec", "alias", "deep", "er"), (11, 32)),
        (("spec", "merged", "own"), (15, 5)),
        (("spec", "merged", "size"), (11, 16)),
        (("spec", "merged", "other"), (14, 18)),
        (("spec", "10"), (16, 3)),
        (("spec", "true"), (17, 3)),
        (("spec", "list", 0, "absent", "deeper"), (7, 5)),
        (("spec", "list", 7), (6, 3)),
        (("spec", "list", "key"), (6, 3)),
        (("spec", 0), (4, 1)),
        (("absent",), (3, 1)),
    ],
)
def test_a_field_is_found(path: FieldPath, expected: tuple[int, int]) -> None:
    assert positions.locate(DATA, Origin("f", 1), path) == expected


@pytest.mark.parametrize(
    ("document", "item", "path", "expected"),
    [
        (2, (0,), (), (21, 3)),
        (2, (0,), ("spec", "x"), (22, 16)),
        (2, (1, 0), (), (25, 5)),
        (2, (1, 0), ("spec",), (26, 5)),
        (3, (), ("a", "b", 1, "c"), (29, 4)),
        (4, (), ("d",), (29, 15)),
        (5, (), ("d",), (77, 1)),
        (0, (), ("x",), (77, 1)),
    ],
)
def test_a_field_is_found_in_lists_and_json(
    document: int, item: tuple[int, ...], path: FieldPath, expected: tuple[int, int]
) -> None:
    assert positions.locate(DATA, Origin("f", document, item, 77), path) == expected


def test_origins_of_the_reader_lead_back() -> None:
    for document in read(DATA, "f").documents:
        for key in document.body:
            line, column = positions.locate(DATA, document.origin, (key,))
            assert TEXT.splitlines()[line - 1][column - 1 :].lstrip("\"'").startswith(key)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a: 1\r\nb:\r\n  c: 2\r\n", ("b", "c"), (3, 3)),
        ("\ufeffa: 1\nb: 2\n", ("a",), (1, 1)),
        ("a: &x 1\nb: &x {c: 2}\nd: *x\n", ("d", "c"), (2, 8)),
        ("a: [x:y, {b:c: d}]\n", ("a", 1, "b:c"), (1, 11)),
        ("a: &x [*x]\n", ("a", 0, 0, 0), (1, 8)),
        ("a: *nowhere\n", ("a", "b"), (1, 1)),
        ("a: 1\nb: [\n", ("b", 0), (2, 1)),
        ("a: 1\na: 2\n", ("a",), (1, 1)),
        ("*x : 1\n", ("b",), (1, 1)),
        ("a: !!int x\n!!int y: 2\n", ("y",), (2, 1)),
    ],
)
def test_odd_text_has_positions_too(text: str, path: FieldPath, expected: tuple[int, int]) -> None:
    assert positions.locate(text.encode(), Origin("f"), path) == expected


def test_what_is_not_utf8_has_a_first_line() -> None:
    assert positions.locate(b"\xff: 1\n", Origin("f"), ("a",)) == (1, 1)


AMBIGUOUS = """\
a: yes
b: 'yes'
c: [on, off, 2020-1-1, 5, x, true]
n: 1
1: 2
1.5: 3
2020-01-01: 4
true: 5
!!bool no: 6
d: !!bool y
e: !!str yes
f: &f {g: Off}
h: *f
i: 2020-01-01T10:00:00Z
j: !!int x
"""


def test_ambiguous_scalars_are_listed_with_both_readings() -> None:
    assert positions.ambiguous(AMBIGUOUS.encode(), Origin("f")) == [
        (("a",), "yes", "true", '"yes"'),
        (("c", 0), "on", "true", '"on"'),
        (("c", 1), "off", "false", '"off"'),
        (("c", 2), "2020-1-1", '"2020-1-1"', '"2020-01-01T00:00:00Z"'),
        (("false",), "n", '"false"', '"n"'),
        (("1",), "1", '"1"', "error"),
        (("1.5",), "1.5", '"1.5"', "error"),
        (("2020-01-01",), "2020-01-01", '"2020-01-01"', '"2020-01-01T00:00:00Z"'),
        (("true",), "true", '"true"', "error"),
        (("false",), "no", '"false"', "error"),
        (("d",), "y", "true", "error"),
        (("f", "g"), "Off", "false", '"Off"'),
    ]


def test_only_the_object_asked_for_is_searched() -> None:
    data = b"kind: List\nitems:\n- a: yes\n- b: [no]\n- c: 1\n"
    first, second, third = (positions.ambiguous(data, Origin("f", 0, (item,))) for item in range(3))
    assert [path for path, *_ in first] == [("a",)]
    assert [path for path, *_ in second] == [("b", 0)]
    assert third == []
    assert positions.ambiguous(data, Origin("f", 0, (9,))) == []
    assert positions.ambiguous(data, Origin("f", 9)) == []


_LABELLED = """\
metadata:
  name: {0}
  labels: {{app: {0}, tier: b}}
spec:
  networks:
  - pod: {{}}
  volumes:
  - name: a
"""


@pytest.mark.parametrize(
    ("path", "is_alike"),
    [
        (("metadata", "name"), True),
        (("spec", "networks", 0, "pod"), True),
        (("spec", "volumes", 0, "name"), True),
        (("metadata", "labels"), False),
        (("metadata", "labels", "tier"), False),
    ],
)
@pytest.mark.parametrize("is_list", [False, True])
def test_what_stands_in_a_flow_is_not_alike_and_all_else_is(
    path: FieldPath, *, is_alike: bool, is_list: bool
) -> None:
    texts = [_LABELLED.format(name) for name in ("web", "database")]
    if is_list:
        texts = [f"kind: List\nitems:\n- {'  '.join(each.splitlines(True))}" for each in texts]
    origin = Origin("vms.yaml", item=(0,) if is_list else ())
    data = [each.encode() for each in texts]
    outlines = [positions.outline(each, origin) for each in data]
    assert outlines[0] == outlines[1]
    assert outlines[0].has(path) == is_alike
    if is_alike:
        assert len({positions.locate(each, origin, path) for each in data}) == 1
