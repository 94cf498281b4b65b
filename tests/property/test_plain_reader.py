"""The quick reader answers what libyaml answers, or nothing."""

from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from render.model.fieldpath import FieldPath
from render.model.resource import Origin
from render.yaml import libyaml, plain, positions, stream, writer
from render.yaml.budget import Aliases
from render.yaml.builder import UnbuildableError, build
from render.yaml.stream import Chunk
from tests.property.test_yaml_round_trip import TREES

DEPTH = 6
PIECES = st.sampled_from(
    ["a: ", "b:\n", "c: 1\n", "d: x y\n", "  ", "    ", "- ", "- e: f\n", "\n", "...\n", "x", "yes", "1.5", "&x ", "*x",
     "<<: ", "{}", "[]", "{}\n", "[a]\n", ":", "? ", "'", '"', '"q"\n', "|\n", "|-\n", "|+\n", ">\n", "# c\n", " # c\n",
     " ", "\t", "!!str ", "0x1F\n", "2024-01-01\n", "null\n", "~\n", "é\n", "g: |\n    text\n\n     more\n", "-\n",
     "-1\n", "h: |-\n  a\n   \n\n", "k:l: m\n", "n: o: p\n"]
)  # fmt: skip


def agree(text: str) -> bool:
    """Whether both readers say the same of *text*; True also where the quick one says nothing."""
    found = plain.read(text, DEPTH)
    if found is None:
        return True
    try:
        built = build(text, DEPTH, Aliases(10))
    except UnbuildableError:
        return False
    except libyaml.ERRORS:
        return False
    body, line = found
    clean = not (built.ambiguous or built.altered or built.end or built.dropped)
    same = repr(body) == repr(built.body)  # the order of keys and the types of values too
    same_line = built.mark is not None and built.mark.line == line
    return clean and same and same_line and agree_on_places(text, body)


def agree_on_places(text: str, body: object) -> bool:
    """Whether all that *body* has, and what it might, is found in *text* where libyaml sees it."""
    data, chunk = text.encode(), Chunk(text, 1)
    origin = Origin("file", line=1)
    return [*stream.split(text)] != [chunk] or all(
        positions.locate(data, origin, path) == positions.place(chunk, path) for path in paths(body)
    )


def paths(node: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Every place in *node*, and some that are not there."""
    yield path
    entries = {**node, "": None} if isinstance(node, dict) else {"a": None}
    entries |= dict(enumerate([*node, None])) if isinstance(node, list) else {0: None}
    for step, value in entries.items():
        yield from paths(value, (*path, step)) if value else iter([(*path, step)])


@given(st.lists(PIECES, max_size=25).map(lambda parts: "".join(parts) + "\n"))
@example("a: |\n  b\n \n   \nc: d\n")
@example("a:\n- b\n-  c: d\n   e: f\ng:\n  - h\n")
@example("a: 'b'\nc: ''\nd: \"\"\ne: '\n")
@example("a: |\n  b\n# c\n  d\n")
@example("- a: b\n")
@example("a:\n  b: c\n d: e\n")
@example("a: b\n  c\n")
@example("a: b\na: c\n")
@example("a:\n  b:\n    c:\n      d:\n        e:\n          f: {}\n")
def test_any_text(text: str) -> None:
    assert agree(text)


#: What stands in flow collections, and what only looks like it.
FLOW = st.sampled_from(
    ["{", "}", "[", "]", ", ", ",", ": ", ":", " ", "a", "b", "c d", "e: ", "1", "1.5", "yes", "true", "null", "~",
     "x:1", "-1", "- ", '"q"', "'r'", '"a: b"', "'", '"', "#", " # c", "&x ", "*x", "!!str ", "<<: ", "{}", "[]", "é",
     "? ", "|", "{a: b}", "[a, b]", "0x1F", "1:30", "=", "~x", ".5", "/", "a/b", "k8s.io/x", "+", "@", "`", "%"]
)  # fmt: skip


@given(
    st.lists(FLOW, max_size=14).map("".join), st.sampled_from(["a: ", "- ", "a:\n- ", "a:\n  b: "])
)
@example("[a, [b, {c: {d: e}}]]", "a: ")
@example("{a: b, a: c}", "a: ")
@example("{a: {b: {c: {d: {e: f}}}}}", "a: ")
@example("{a: b}", "- b: c\n  d: ")
@example("[a, 'it''s']", "a: ")
@example("{a: b", "a: ")
def test_any_flow_collection(text: str, before: str) -> None:
    assert agree(f"{before}{text}\n")


@given(TREES, st.data())
def test_what_is_written_and_then_spoilt(body: dict[str, object], data: st.DataObject) -> None:
    text = writer.dump(body)
    assert agree(text)
    at = data.draw(st.integers(0, len(text) - 1))
    piece = data.draw(PIECES)
    assert agree(text[:at] + piece + text[at + data.draw(st.integers(0, 3)) :] + "\n")


def test_the_quick_reader_reads_ordinary_manifests() -> None:
    text = (
        "# a comment\na:\n- b: c\n  d:\n    e: |\n      text\n- {}\n- 'x'\nf: 1\ng:\nh: 10.0.0.1\n"
        "i: {j: {}, k: [l, 2], m: 'n: o'}\n"
    )
    assert plain.read(text, DEPTH) == (
        {
            "a": [{"b": "c", "d": {"e": "text\n"}}, {}, "x"],
            "f": 1,
            "g": None,
            "h": "10.0.0.1",
            "i": {"j": {}, "k": ["l", 2], "m": "n: o"},
        },
        1,
    )


def test_what_two_lines_say_alike_is_not_one_object() -> None:
    read = plain.read("a:\n- b: {c: [d]}\n- b: {c: [d]}\n", DEPTH)
    assert read is not None
    first, second = read[0]["a"]
    first["b"]["c"].append("e")
    assert second == {"b": {"c": ["d"]}}
