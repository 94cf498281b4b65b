from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from render.model.fieldpath import FieldPath
from render.yaml import positions, writer
from render.yaml.commented import commented
from render.yaml.reader import read
from render.yaml.scalars import in_json

NASTY = st.text(
    alphabet="ab yYnN01e.:-#'\"\\\n\t\r,[]{}&*!|>%@`~<=?\x85\u2028\ufeffé😀\x00", max_size=12
)
TEXT = NASTY | st.text(max_size=30)
#: A float without a fraction is an integer to Kubernetes.
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False).map(
    in_json
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
TREES = st.dictionaries(TEXT, VALUES, min_size=1, max_size=4)
SNIPPETS = st.sampled_from(
    ["a: ", "b:\n", "  ", "- ", "\n", "---\n", "...\n", "x", "1", "yes", "&x ", "*x", "<<: ", "{", "}", "[", "]", ",",
     ":", "? ", "'", '"', "|\n", ">-\n", "#", "\t", "!!str ", "!!int ", "!t ", "%YAML 1.1\n", "\ufeff", "\r\n",
     "kind: List\n", "items:\n", "\x00", "\u2028", "\r", "{{", "e:f", "\\", "é"]
)  # fmt: skip


@given(TREES)
def test_what_is_written_is_read_back(body: dict[str, Any]) -> None:
    written = writer.dump(body)
    found = read(written.encode(), "f")
    assert found.diagnostics == []
    (document,) = found.documents
    assert document.body == body
    assert list(document.body) == list(body)
    assert writer.dump(document.body) == written
    assert not document.ambiguous


@given(TREES, st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1))
def test_comments_change_nothing(body: dict[str, Any], text: str) -> None:
    content: list[FieldPath] = []

    def comment(path: FieldPath) -> str:
        content.append(path)
        return text

    written = commented(body, comment)
    found = read(written.encode(), "f")
    assert found.diagnostics == []
    assert [document.body for document in found.documents] == [body]
    assert written.count(f"  # {text}") >= len(content) > 0
    assert commented(body, lambda _: "") == writer.dump(body)


@given(st.lists(TREES, max_size=4))
def test_a_stream_keeps_its_documents(bodies: list[dict[str, Any]]) -> None:
    found = read(writer.write(bodies).encode(), "f")
    assert [document.body for document in found.documents] == bodies
    texts = [document.text or "" for document in found.documents]
    assert read(writer.write(texts).encode(), "f") == found


@given(
    st.binary(max_size=60)
    | st.lists(SNIPPETS, max_size=25).map(lambda parts: "".join(parts).encode())
)
@example(b"a: \xc2\x85\xc2\x85 {{ *b")
@example(b"a: 1\ra: 2\r}")
def test_nothing_is_raised_and_everything_has_a_place(data: bytes) -> None:
    found = read(data, "f")
    for diagnostic in found.diagnostics:
        assert diagnostic.location.line > 0
        assert diagnostic.location.column > 0
    for document in found.documents:
        for key in document.body:
            line, column = positions.locate(data, document.origin, (key, 0, "x"))
            assert min(line, column) > 0
        assert bool(positions.ambiguous(data, document.origin)) <= document.ambiguous
        again = read(writer.write([document.body]).encode(), "f")
        assert [document.body for document in again.documents] == [document.body]
        if document.text is not None:
            kept = read(writer.write([document.text]).encode(), "f")
            assert [document.body for document in kept.documents] == [document.body]
