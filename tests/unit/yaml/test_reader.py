import subprocess
import sys
from typing import Any

import pytest

from render.yaml.budget import Limits
from render.yaml.reader import Document, read

HEAD = "apiVersion: v1\nkind: ConfigMap\n"


def bodies(text: str | bytes) -> list[Any]:
    found = read(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    assert found.diagnostics == []
    return [document.body for document in found.documents]


def only(text: str | bytes) -> Document:
    found = read(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    assert found.diagnostics == []
    (document,) = found.documents
    return document


def faults(text: str | bytes, **limits: Any) -> list[tuple[str, int, int, str]]:
    found = read(text if isinstance(text, bytes) else text.encode(), "f.yaml", Limits(**limits))
    assert all(diagnostic.location.file == "f.yaml" for diagnostic in found.diagnostics)
    return [
        (diagnostic.code, diagnostic.location.line, diagnostic.location.column, diagnostic.message)
        for diagnostic in found.diagnostics
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("---\n", []),
        ("---", []),
        ("# nothing\n", []),
        ("---\n---\n# a\n---\n", []),
        ("~\n---\nnull\n", []),
        ("a: 1", [{"a": 1}]),
        ("---\na: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("--- # comment\na: 1\n--- \nb: 2\n---#c\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ("a: 1\n...\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1}, {"b": "x\ny\n"}]),
        ("\ufeffa: 1\n---\n\ufeffb: 2\n", [{"a": 1}, {"b": 2}]),
        ("\ufeff---\na: 1\n", [{"a": 1}]),
        ("a:\tb\nc: d\t# e\n", [{"a": "b", "c": "d"}]),
        ("a:\t\n  b: c\n", [{"a": {"b": "c"}}]),
        ("a: {\n\tb: c}\n", [{"a": {"b": "c"}}]),
        ("a: |\n  last", [{"a": "last\n"}]),
        ("a: é😀\n", [{"a": "é😀"}]),
        ("a: |\n  x\n  --- y\n", [{"a": "x\n--- y\n"}]),
        ("'<<': 1\n", [{"<<": 1}]),
    ],
)
def test_a_stream_is_taken_apart_as_kubectl_does(text: str, expected: list[Any]) -> None:
    assert bodies(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x [1, {b: c}]\nd: *x\n", {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}]}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("a: &x {b: &x 1}\nc: *x\n", {"a": {"b": 1}, "c": 1}),
        ("a: &x k\n*x : 1\n", {"a": "k", "k": 1}),
        ("&x a: *x\n", {"a": "a"}),
        (
            "o: &o {a: 2, b: 3}\nx:\n  <<: *o\n  a: 1\n",
            {"o": {"a": 2, "b": 3}, "x": {"a": 1, "b": 3}},
        ),
        ("x:\n  a: 1\n  <<: {a: 2}\n", {"x": {"a": 2}}),
        ("x:\n  <<: [{a: 1}, {a: 2, b: 2}]\n", {"x": {"a": 1, "b": 2}}),
        ("x: {a: 1, <<: {a: 2}}\n", {"x": {"a": 2}}),
        ("x:\n  <<: {a: 1}\n  <<: {a: 2}\n", {"x": {"a": 2}}),
        ("x:\n  !!merge <<: {a: 1}\n", {"x": {"a": 1}}),
        ("x:\n  <<: []\n", {"x": {}}),
        ("x: <<\n", {"x": "<<"}),
    ],
)
def test_anchors_and_merges_are_resolved_as_kubectl_does(text: str, expected: Any) -> None:
    assert bodies(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y: 1\nno: 2\n", {"true": 1, "false": 2}),
        ("1: a\n1.5: b\n1e3: c\n", {"1": "a", "1.5": "b", "1000": "c"}),
        ("true: a\n'false': b\n", {"true": "a", "false": "b"}),
        ("!!str yes: 1\n!!int 5: 2\n!!binary aGk=: 3\n", {"yes": 1, "5": 2, "hi": 3}),
        ("? a\n: b\n", {"a": "b"}),
        (".inf: 1\n", {".inf": 1}),
    ],
)
def test_keys_become_text(text: str, expected: Any) -> None:
    document = only(text)
    assert document.body == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[nginx:1.25, 10.0.0.1:80, a b:c]", ["nginx:1.25", "10.0.0.1:80", "a b:c"]),
        ("{a: http://x:80/y, b:c: d, e:f}", {"a": "http://x:80/y", "b:c": "d", "e:f": None}),
        ("{a:, b::c}", {"a:": None, "b::c": None}),
        ("{\"a\":1, 'b':2}", {"a": 1, "b": 2}),
        (
            "[52:54:00:12:34:56, 2020-01-01T10:00:00Z]",
            ["52:54:00:12:34:56", "2020-01-01T10:00:00Z"],
        ),
    ],
)
def test_a_bare_word_in_brackets_may_hold_colons(text: str, expected: Any) -> None:
    document = only(f"k: {text}\nb: 'x:y'\n")
    assert document.body == {"k": expected, "b": "x:y"}


def test_colons_are_not_looked_for_without_end() -> None:
    ((code, *_),) = faults("a: [" + ",".join(f"a:{n}" for n in range(20_000)) + "]")
    assert code == "VR101"
    ((code, *_),) = faults("a: [\ue03a, b:c]")  # our own mark in the text: left to libyaml
    assert code == "VR101"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("--- {a: 1}\n", (1, 1)),
        ("a: 1\n--- {a: 1}\n", (2, 1)),
        ("a: 1\n---foo\n", (2, 1)),
        ("a: 1\n----\n", (2, 1)),
        ("a: 1\n--- |\n x\n", (2, 1)),
        ("%YAML 1.1\n---\na: 1\n", (1, 1)),
        ("a: 1\n...\n%TAG ! x:\n---\n", None),
        ("a:\n\tb: 1\n", (2, 1)),
        ("a: b\n\t\nc: d\n", (2, 1)),
        ("a: {{ .Values.x }}\n", (1, 5)),
        ("a: *x\n", (1, 4)),
        ("a: &x 1\n---\nb: *x\n", (3, 4)),
        ("a: &x [*x]\n", (1, 8)),
        ("a: b\n~: c\n", (2, 1)),
        ("a: b\n? [c]\n: d\n", (2, 3)),
        ("a: b\n[c]: d\n", (2, 1)),
        ("a: b\n18446744073709551615: d\n", (2, 1)),
        ("a:\n  - .inf\n", (2, 5)),
        ("a: !!int x\n", (1, 4)),
        ("a:\n  <<: 1\n", (2, 3)),
        ("a:\n  <<: [1]\n", (2, 3)),
        ("o: &o [{a: 1}]\nx:\n  <<: *o\n", (3, 3)),
        ('a: "\\ud83d\\ude00"\n', (1, 7)),
        ('a: "x\n', (1, 4)),
        ("a: 1\nb: 'x\nc: 2\nd: 3\n", (2, 4)),
        ('a: "x\nb: "y"\nc: 2\n', (1, 4)),
        ("a: 1\nb: [2,", (2, 4)),
        ("a: 1\nb: [2,\n\n\n", (2, 4)),
        ("a: [1\nb: 2\n", (1, 4)),
        ("a: {\n  b: [1, 2\n}\n", (2, 6)),
        ("a: {\n  b: 1\n  c: 2\n}\n", (3, 4)),
        ("a:\n  b 1\n  c: 2\n", (2, 3)),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n", (2, 1)),
        ("a: 1\nb: 2\n>>>>>>> x\n", (3, 1)),
        ("a: b: c\n", (1, 5)),
        ("- a\nb: c\n", (2, 1)),
        ("[a]\nfoo\n", (2, 1)),
        ("a: b\nc: \x00d\n", (2, 4)),
        ("a: é\x07\n", (1, 5)),
        (b"a: b\nc: \xe9\n", (2, 4)),
        ("a: b\n".encode("utf-16"), (1, 1)),
    ],
)
def test_bad_yaml_is_one_error_with_its_place(
    text: str | bytes, place: tuple[int, int] | None
) -> None:
    found = [fault for fault in faults(text) if fault[0] == "VR101"]
    assert [(line, column) for _, line, column, _ in found] == ([place] if place else [])


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("a: {{ .Values.x }}\n", "template"),
        ("a:\n\tb: 1\n", "spaces"),
        ("%YAML 1.1\n---\na: 1\n", "remove the line"),
        ("--- {a: 1}\n", "next line"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n", "of the two sides"),
        ("b: 'x\nc: 2\n", "close it with '"),
        ("b: {x: 1\nc: 2\n", "close it with }"),
        ("b: [x\nc: 2\n", "close it with ]"),
        ("b 1\nc: 2\n", "a colon and a space"),
        ("- b:\n  -\tx: 1\n", "spaces for tabs"),
        ("a: `x`\n", "in quotes"),
        ("a: b: c\n", "wants quotes"),
        ("a:\n  b: 1\n c: 2\n", "in one column"),
        ('a: "\\y"\n', "escape"),
        ("a: {\n  b: 1\n  c: 2\n}\n", "commas"),
    ],
)
def test_a_common_mistake_gets_advice(text: str, advice: str) -> None:
    assert advice in read(text.encode(), "f.yaml").diagnostics[0].help


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '---\na: 1\nb: "x\nc: 2\n',
            "this quote is not closed: found unexpected end of stream while scanning a quoted scalar",
        ),
        (
            'b: "x\nc: "y"\n',
            "this quote closes on line 2, before more text: did not find expected key while parsing a block mapping",
        ),
        (
            "---\nb: [x\nc: y\n",
            "this bracket is not closed: did not find expected ',' or ']' while parsing a flow sequence on line 3",
        ),
        (
            "---\na:\n  b: 1\n c: 2\n",
            "did not find expected key while parsing a block mapping that begins on line 2",
        ),
    ],
)  # fmt: skip
def test_an_unfinished_thing_is_told_where_it_begins(text: str, message: str) -> None:
    assert [fault[3] for fault in faults(text)] == [message]


def test_a_mistake_hides_no_other_document() -> None:
    found = read(b"a: 1\n---\nb: [\n---\nc: 3\n---\nd: }\n", "f.yaml")
    assert [document.body for document in found.documents] == [{"a": 1}, {"c": 3}]
    assert [diagnostic.location.line for diagnostic in found.diagnostics] == [3, 7]


def test_no_value_is_quoted_in_a_message() -> None:
    text = "password: !!int hunter2\n---\npassword: hunter2: x\n---\nhunter2\n---\n[hunter2]\n"
    found = read(text.encode(), "f.yaml")
    assert len(found.diagnostics) == 4
    assert "hunter2" not in repr(found.diagnostics)


@pytest.mark.parametrize(
    ("text", "key", "second", "first"),
    [
        ("a: 1\nb: 2\na: 3\n", "a", (3, 1), (1, 1)),
        ("---\nx:\n  - b: 1\n    b: 2\n", "b", (4, 5), (3, 5)),
        ("x: {a: 1, 'a': 2}\n", "a", (1, 11), (1, 5)),
        ("y: 1\nyes: 2\n", "true", (2, 1), (1, 1)),
        ("1: a\n'1': b\n", "1", (2, 1), (1, 1)),
        ("x:\n  a: 1\n  <<: {b: 2}\n  a: 3\n", "a", (4, 3), (2, 3)),
        ('{"a": 1,\n "a": 2}\n', "a", (2, 2), (1, 2)),
        ("a: 1\na: [\n", "a", (2, 1), (1, 1)),
        ("k: &x a\na: 1\n*x : 2\n", "a", (3, 1), (2, 1)),
    ],
)
def test_a_key_that_stands_twice_is_an_error(
    text: str, key: str, second: tuple[int, int], first: tuple[int, int]
) -> None:
    found = read(text.encode(), "f.yaml")
    assert found.documents == []
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.location.line, diagnostic.location.column) == (
        "VR102",
        *second,
    )
    assert diagnostic.message == f"key {key!r} is already set on line {first[0]}"
    (other,) = diagnostic.related
    assert (other.location.file, other.location.line, other.location.column) == ("f.yaml", *first)


def test_all_repeated_keys_of_a_document_are_reported() -> None:
    assert [(line, column) for _, line, column, _ in faults("a: 1\na: 2\nb:\n  c: 1\n  c: 2\na: 3\n")] == [
        (2, 1),
        (5, 3),
        (6, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\n...\nb: 2\n", (2, 1)),
        ("a: 1\n... # c\n]]\n---\nc: 3\n", (2, 1)),
        ("---\na: 1\n...\n%YAML 1.1\n", (3, 1)),
    ],
)
def test_content_after_the_end_of_a_document_is_dropped_with_a_warning(
    text: str, place: tuple[int, int]
) -> None:
    found = read(text.encode(), "f.yaml")
    assert found.documents[0].body == {"a": 1}
    assert found.documents[0].text == "a: 1\n"
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("VR114", "warning")
    assert (diagnostic.location.line, diagnostic.location.column) == place


@pytest.mark.parametrize(
    ("text", "what", "place"),
    [
        ("---\n# c\n- a\n", "a list", (3, 1)),
        ("\nfoo\n", "text", (2, 1)),
        ("1\n", "a number", (1, 1)),
        ("yes\n", "a boolean", (1, 1)),
        ("[1]\n", "a list", (1, 1)),
    ],
)
def test_what_is_no_mapping_is_no_object(text: str, what: str, place: tuple[int, int]) -> None:
    ((code, line, column, message),) = faults(text)
    assert (code, (line, column)) == ("VR104", place)
    assert message == f"the document is {what}, not a Kubernetes object"


def test_lists_are_taken_apart() -> None:
    found = read(
        b"a: 1\n---\nkind: List\nitems:\n- x: 1\n- kind: FooList\n  items: [{kind: Foo, x: 2}]\n",
        "f.yaml",
    )
    assert found.diagnostics == []
    assert [
        (document.body, document.origin.document, document.origin.item, document.text)
        for document in found.documents
    ] == [
        ({"a": 1}, 0, (), "a: 1\n"),
        ({"x": 1}, 1, (0,), None),
        ({"kind": "Foo", "x": 2}, 1, (1, 0), None),
    ]


def test_items_of_a_typed_list_take_their_kind_from_it() -> None:
    text = "apiVersion: kubevirt.io/v1\nkind: VirtualMachineList\nitems:\n- metadata: {name: a}\n"
    assert bodies(text) == [
        {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "a"}}
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: List\nitems: []\n", []),
        ("kind: List\nitems: null\n", []),
        ("kind: List\n", [{"kind": "List"}]),
        (
            "kind: AllowList\nspec: {}\nitems: null\n",
            [{"kind": "AllowList", "spec": {}, "items": None}],
        ),
        ("kind: AllowList\nitems: {}\n", [{"kind": "AllowList", "items": {}}]),
        ("kind: Foo\nitems: [{}]\n", [{"kind": "Foo", "items": [{}]}]),
        (
            "apiVersion: v1\nkind: ConfigMap\nitems: [{apiVersion: v1, kind: Pod}]\n",
            [{"apiVersion": "v1", "kind": "Pod"}],
        ),
        (
            "kind: ConfigMap\nitems: [{apiVersion: v1}]\n",
            [{"kind": "ConfigMap", "items": [{"apiVersion": "v1"}]}],
        ),
        ("kind: [List]\nitems: [{}]\n", [{"kind": ["List"], "items": [{}]}]),
        (
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{}]\n",
            [{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{}]}],
        ),
    ],
)
def test_what_is_a_list_and_what_is_not(text: str, expected: list[Any]) -> None:
    assert bodies(text) == expected


def test_an_item_that_is_no_object_is_an_error() -> None:
    ((code, line, _, message),) = faults("---\nkind: List\nitems:\n- kind: A\n- 3\n")
    assert (code, line) == ("VR104", 5)
    assert message == "items[1] is a number, not a Kubernetes object"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": [true, null, "x"]}', [{"a": 1, "b": [True, None, "x"]}]),
        ('{"a": 1}{"b": 2}\n{"c": 3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"a": 1}\n---\n{"b": 2}\n---\nc: 3\n', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('\n\t{"a": "\\ud83d\\ude00\\/"}', [{"a": "😀/"}]),
        ('{"a": 1.0, "b": 1e3, "c": 9223372036854775808, "d": 2.5}',
         [{"a": 1, "b": 1000, "c": 9223372036854775808, "d": 2.5}]),
        ('{"kind": "List", "items": [{"a": 1}]}', [{"a": 1}]),
        ("{a: 1, b: yes}", [{"a": 1, "b": True}]),
        ('{"a": NaN}', [{"a": "NaN"}]),
        ('{"a": 1e400}', [{"a": "1e400"}]),
    ],
)  # fmt: skip
def test_json_is_accepted(text: str, expected: list[Any]) -> None:
    assert bodies(text) == expected
    if text[-2:] != "3\n" and "a:" not in text and "NaN" not in text and "1e400" not in text:
        assert all(document.text is None for document in read(text.encode(), "f.json").documents)


@pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', '{"a": 1}{"b": 2', '{"a": 1} x', '{"a": 1},'])
def test_bad_json_is_an_error(text: str) -> None:
    ((code, line, *_),) = faults(text)
    assert (code, line) == ("VR101", 1)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a: 1\n", "a: 1\n"),
        ("a: 1", "a: 1\n"),
        ("---\n# c\na:   'x' # d\n", "# c\na:   'x' # d\n"),
        ("\ufeff--- # c\na: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"),
        ("a: 1\n...\n", "a: 1\n"),
        ("a: &x 1\nb: *x\n", "a: &x 1\nb: *x\n"),
        ("o: &o {a: 1}\nx: {<<: *o, b: 1}\n", "o: &o {a: 1}\nx: {<<: *o, b: 1}\n"),
        ("a: !!str 1\n", "a: !!str 1\n"),
        ("a: 2020-01-01T10:00:00Z\n", "a: 2020-01-01T10:00:00Z\n"),
        ("a: yes\n", None),
        ("a: 'yes'\n", "a: 'yes'\n"),
        ("y: 1\n", None),
        ("1: 1\n", None),
        ("a: 2020-01-01\n", None),
        ("a: !!binary aGk=\n", None),
        ("a: 1\n<<: {a: 2}\n", None),
        ("a: [b:c]\n", None),
        ('# c\n{"a": 1}\n', None),
        ('---\n{"a": 1}\n...\n', None),
        ("{\n\t'a': 1,\n}\n", None),
    ],
)
def test_the_text_is_kept_where_everyone_reads_the_same_in_it(
    written: str, text: str | None
) -> None:
    document = only(written)
    assert document.text == text
    if text is not None:
        assert read(text.encode(), "g").documents[0].body == document.body


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [("a: 'yes'\n", False), ("a: yes\n", True), ("y: 1\n", True), ("a: [2020-01-01]\n", True)],
)
def test_ambiguity_is_noted(text: str, ambiguous: bool) -> None:  # noqa: FBT001
    assert only(text).ambiguous is ambiguous


def test_a_document_knows_where_it_begins() -> None:
    found = read(b"# licence\n---\n\n# c\na: 1\n---\n{}\n---\nb: &x\n  c: d\n", "d/f.yaml")
    assert [document.origin for document in found.documents] == [
        ("d/f.yaml", 1, (), 5),
        ("d/f.yaml", 2, (), 7),
        ("d/f.yaml", 3, (), 9),
    ]


def test_aliases_share_nothing() -> None:
    body = only("a: &x {b: [1]}\nc: *x\nd: *x\n").body
    body["c"]["b"].append(2)
    assert (body["a"], body["d"]) == ({"b": [1]}, {"b": [1]})


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
CHAIN = "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 400))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: " + "[" * 10_000 + "]" * 10_000, 1, "nested deeper than 200 levels"),
        ("- " * 10_000, 1, "nested deeper than 200 levels"),
        ("? " * 10_000, 1, "nested deeper than 200 levels"),
        ('{"a":' * 300 + "1" + "}" * 300, 1, "nested deeper than 200 levels"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, 1, "nested deeper than 200 levels"),
        (CHAIN, 200, "nested deeper than 200 levels"),
        (BOMB, 6, "aliases expand to more than 200,000 values"),
    ],
    ids=["flow", "block", "keys", "json", "deep json", "alias chain", "billion laughs"],
)
def test_nesting_and_aliases_are_limited(text: str, line: int, words: str) -> None:
    ((code, at, column, message),) = faults(text)
    assert (code, at, message) == ("VR111", line, words)
    assert column > 0


def test_nesting_up_to_the_limit_is_read() -> None:
    assert faults("a: " + "[" * 199 + "]" * 199) == []
    assert faults('{"a":' * 199 + "{}" + "}" * 199) == []
    assert faults("a: [[]]", depth=2) != []


@pytest.mark.parametrize("closed", ["[]", "{}", "{a: []}", "[{}]"])
def test_what_is_closed_leaves_no_room_for_deeper_nesting(closed: str) -> None:
    text = "a: [" + f"{closed}, " * 5 + "{b: {c: d}}]"
    assert faults(text, depth=4) == []
    ((code, _, _, message),) = faults(text, depth=3)
    assert (code, message) == ("VR111", "nested deeper than 3 levels")


def test_a_big_file_is_refused_before_it_is_parsed() -> None:
    ((code, line, column, message),) = faults(b"]" * 101, file_bytes=100)
    assert (code, line, column) == ("VR111", 1, 1)
    assert message == "the file has 101 bytes, more than 100"
    assert Limits().file_bytes < 200 << 20


def test_documents_are_counted() -> None:
    found = read(b"a: 1\n---\nb: 2\n---\nc: 3\n", "f.yaml", Limits(documents=2))
    assert len(found.documents) == 2
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.location.line) == ("VR111", 5)
    assert Limits().documents < 1_000_000


SAME = """
import sys
if {first}:
    import ruamel.yaml
import render.frontends.dispatch
from render.yaml import libyaml, positions
from render.yaml.reader import read
from render.model.resource import Origin
assert libyaml._OURS is not {first}
data = b"a: &x {{b: 'c', d: [1, yes]}}\\ne: *x\\n!!str 5: |\\n  t\\n---\\na: 1\\na: 2\\n---\\nb: }}\\n---\\nc: [d:e]\\n"
found = read(data, "f")
print([document.body for document in found.documents])
print([(one.code, one.location.line, one.location.column, one.message) for one in found.diagnostics])
print(positions.locate(data, Origin("f"), ("a", "d", 1)), positions.ambiguous(data, Origin("f")))
print("ruamel.yaml" in sys.modules)
import ruamel.yaml
yaml = ruamel.yaml.YAML()
yaml.dump(yaml.load("a: 1 # kept\\n"), sys.stdout)
print(ruamel.yaml.YAML(typ="safe").load("a: [1]"))
"""


def test_ruamel_and_the_reader_do_not_get_into_each_others_way() -> None:
    before, after = (
        subprocess.run(
            [sys.executable, "-c", SAME.format(first=first)],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()
        for first in (True, False)
    )  # fmt: skip
    assert (before[3], after[3]) == ("True", "False")
    assert before[:3] == after[:3]
    assert before[4:] == after[4:] == ["a: 1 # kept", "{'a': [1]}"]
    assert "'e': {'b': 'c', 'd': [1, True]}, '5': 't\\n'" in before[0]


def test_a_mapping_with_a_key_twice_is_no_key() -> None:
    found = read(b"{{a: b, a: b}: c}\n", "a.yaml").diagnostics
    assert [diagnostic.message for diagnostic in found] == [
        "a mapping is no key, and a key of it stands twice"
    ]


def test_a_bracket_before_what_only_we_read_is_not_blamed() -> None:
    """libyaml refuses the colon within the word in brackets, which go-yaml takes: it knows nothing of what follows."""
    text = b"a: {b: https://example.com/c, d: {e: 1}}\nx: [\n"
    (found,) = read(text, "a.yaml", Limits()).diagnostics
    assert (found.location.line, found.message) == (
        2,
        "did not find expected node content while parsing a flow node",
    )
