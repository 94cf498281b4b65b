"""What we read is what kustomize reads, in any notation; what it reads differently is `ambiguous`, or listed below."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from render.model import tree
from render.yaml import positions
from render.yaml.reader import Document, read
from tests.support.notations import notations

HEAD = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: n{}\n"
PLAIN = st.sampled_from(
    ["a", "a b", "1", "-1", "0", "0x1F", "0o17", "017", "1_000", "1.5", "1e3", ".5", "true", "True", "yes",
     "off", "y", "null", "~", "", "2024-01-01", "10.0.0.1", "52:54:00:12:34:56", "1:30", "a:b", "a#b",
     "http://x/y?z=1", "-", "--", "é", "08", "1.0", "+1", "NULL", "on", "12e03", "0b11", "1Gi", "=", "a,b",
     "a[b]", "<<x", "007", "9223372036854775807", "1.0.0", "@x", "`x", "%x"]
)  # fmt: skip
WORDS = st.text("ab yn01:#'\"\\}[],&*|>%@-?\t é", max_size=10)
SINGLE = WORDS.map(lambda text: "'" + text.replace("'", "''") + "'")
DOUBLE = WORDS.map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'
)
FLOW = st.recursive(
    st.sampled_from(["a", "1", "'b c'", '"d"', "true", "null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{n}: {item}" for n, item in enumerate(items)) + "}"
        )
    ),
    max_leaves=5,
)
LINES = st.lists(
    st.sampled_from(["a", "b: c", "- d", "# e", "", "  indented", "'q'", "x  "]),
    min_size=1,
    max_size=4,
)
LITERAL = st.tuples(st.sampled_from(["|", "|-", "|+"]), LINES)
FOLDED = st.tuples(
    st.sampled_from([">", ">-"]),
    LINES.map(lambda lines: [line.strip() for line in lines]).filter(lambda lines: lines[0] != ""),
)
BLOCK = (LITERAL | FOLDED).map(
    lambda block: block[0] + "".join(f"\n    {line}" if line else "\n" for line in block[1])
)
KEYS = st.sampled_from(["a", "b c", "d.e/f", "1", "true", "é", "#", "a: b", "-"])
VALUES = PLAIN | SINGLE | DOUBLE | FLOW | BLOCK | WORDS
ENTRIES = st.lists(VALUES, min_size=1, max_size=4).map(
    lambda values: "spec:\n" + "".join(f"  k{n}: {value}\n" for n, value in enumerate(values))
)
TREES = st.recursive(
    st.booleans()
    | st.integers(-(2**31), 2**63)
    | st.sampled_from([0.5, "", "yes", "1e3", "a b", "'", "~"])
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
#: Flow and block, anchors, merge keys, comments, one kind of quotes or the other.
STRUCTURES = st.dictionaries(KEYS, TREES, min_size=1, max_size=4).flatmap(
    lambda spec: notations({"spec": spec}, kinds=("drawn",))
)


def bodies(text: str) -> list[Document]:
    found = read(text.encode(), "f")
    assert not [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error]
    return found.documents


def built(kustomize: str, folder: Path, texts: list[str]) -> dict[str, Any] | None:
    """What kustomize makes of *texts*, by name; None where it refuses one."""
    (folder / "all.yaml").write_text("---\n".join(texts))
    (folder / "kustomization.yaml").write_text("resources: [all.yaml]\n")
    done = subprocess.run(
        [kustomize, "build", "."], cwd=folder, capture_output=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        return None
    return {body.body["metadata"]["name"]: body.body for body in bodies(done.stdout)}


def expected(document: Document, text: str) -> Any:
    """What kustomize should make of the document: what is said to be ambiguous as it takes it, the rest as we do."""
    body = tree.copy(document.body)
    if document.ambiguous:
        for path, _, _, ambiguou in positions.ambiguous(text.encode(), document.origin):
            tree.put(body, path, json.loads(ambiguou))
    return body


#: 2,000 documents; 20,000 under the profile ``deep``.
BATCHES = max(20, limits().max_examples // 100)


@limits(
    max_examples=BATCHES,
    derandomize=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.lists(ENTRIES | STRUCTURES, min_size=100, max_size=100))
def test_kustomize_reads_the_same(
    kustomize: str, tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    """A hundred documents at once; of those that we refuse, three by themselves: kustomize refuses them too."""
    folder = tmp_path_factory.mktemp("built")
    ours: dict[str, tuple[str, Any]] = {}
    refused: list[str] = []
    for number, part in enumerate(parts):
        text = HEAD.format(number) + part
        found = read(text.encode(), "f")
        if any(diagnostic.is_error for diagnostic in found.diagnostics):
            refused.append(text)
        else:
            (document,) = found.documents
            ours[f"n{number}"] = text, expected(document, text)
    upstream = built(kustomize, folder, [text for text, _ in ours.values()])
    assert upstream is not None, [
        text for text, _ in ours.values() if not built(kustomize, folder, [text])
    ]
    different = [
        (text, body, upstream[name])
        for name, (text, body) in ours.items()
        if upstream[name] != body
    ]
    assert not different
    assert not [text for text in refused[:3] if built(kustomize, folder, [text])]


#: What docs/yaml.md lists: a value, ours (and kubectl's), kustomize's.
DIFFERENCES = [
    ("yes", True, "yes"),
    ("2024-01-01", "2024-01-01", "2024-01-01T00:00:00Z"),
    ("!", "", None),
    ("{a}", {"a": None}, {"a": ""}),
    (">-\n    a\n      b", "a\n  b", "a\n\n  b"),
]


@pytest.mark.parametrize(("value", "ours", "upstream"), DIFFERENCES)
def test_documented_differences(
    kustomize: str, tmp_path: Path, value: str, ours: Any, upstream: Any
) -> None:
    text = f"{HEAD.format(0)}spec:\n  k: {value}\n"
    (document,) = bodies(text)
    assert document.body["spec"] == {"k": ours}
    found = built(kustomize, tmp_path, [text])
    assert found is not None
    assert found["n0"]["spec"] == {"k": upstream}
