import json
import math
from pathlib import Path

import pytest

from render.model.resource import Origin
from render.yaml import positions, scalars
from render.yaml.reader import read

TABLE = Path(__file__).parents[3] / "fixtures" / "scalars.tsv"
ROWS = [
    tuple(line.split("\t"))
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("# ")
]
READABLE = [row for row in ROWS if row[1] != "error"]
REFUSED = [row[0] for row in ROWS if row[1] == "error"]


def test_the_table_is_whole() -> None:
    assert len(READABLE) > 300
    assert len(REFUSED) == 15


@pytest.mark.parametrize(("text", "kubectl"), [row[:2] for row in READABLE])
def test_a_scalar_means_what_kubectl_reads(text: str, kubectl: str) -> None:
    data = f"k: {text}\n".encode()
    found = read(data, "f.yaml")
    assert found.diagnostics == []
    (document,) = found.documents
    value, expected = document.body["k"], json.loads(kubectl)
    if isinstance(value, float):
        assert value == float(expected)  # Go fills up with zeros what JSON has no digits for
    else:
        assert value == expected
        assert type(value) is type(expected)


@pytest.mark.parametrize(("text", "kubectl", "kustomize"), READABLE)
def test_the_table_says_where_kustomize_differs(text: str, kubectl: str, kustomize: str) -> None:
    data = f"k: {text}\n".encode()
    (document,) = read(data, "f.yaml").documents
    differs = kubectl != kustomize
    assert document.ambiguous is differs
    assert positions.ambiguous(data, Origin("f.yaml")) == (
        [(("k",), text.rpartition(" ")[2] if text[0] == "!" else text, kubectl, kustomize)]
        if differs
        else []
    )
    if differs:
        assert document.text is None


@pytest.mark.parametrize("text", REFUSED)
def test_a_scalar_that_kubectl_refuses_is_an_error(text: str) -> None:
    found = read(f"k: {text}\n".encode(), "f.yaml")
    assert found.documents == []
    (diagnostic,) = found.diagnostics
    assert diagnostic.code == "VR101"
    assert diagnostic.location.line in {1, 2}
    assert diagnostic.location.column > 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".5_0", 0.5),
        ("._5", "._5"),
        ("1_.5", 1.5),
        ("+18446744073709551615", 18446744073709551615.0),
        ("0xFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFF"),
        ("07777777777777777777777777", 7.777777777777778e24),
        ("3.158110631479287e+17", 315811063147928700),
        ("9.3e18", 9.3e18),
        ("9" * 5000, "9" * 5000),
        ("1\uff11", "1\uff11"),
        ("+inf", "+inf"),
        ("1e-400", 0),
    ],
)
def test_numbers_beyond_the_table(text: str, value: scalars.Value) -> None:
    assert scalars.kubectl(text) == value
    assert type(scalars.kubectl(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1", "1"),
        ("0x10", "16"),
        ("1e3", "1000"),
        ("1.0", "1"),
        ("1.10", "1.1"),
        ("1e5", "100000"),
        ("1e6", "1e+06"),
        ("1e10", "1e+10"),
        ("0.0001", "0.0001"),
        ("123456789.5", "1.2345679e+08"),
        ("0.00001", "1e-05"),
        ("-16.00670660293142", "-16.006706"),
        ("1e300", ".inf"),
        ("-1e300", "-.inf"),
        (".nan", ".nan"),
        ("-1e-300", "-0"),
        ("yes", "true"),
        ("N", "false"),
        ("2020-01-01", "2020-01-01"),
        ("18446744073709551615", None),
        ("~", None),
    ],
)
def test_a_key_becomes_the_text_that_kubectl_makes_of_it(text: str, key: str | None) -> None:
    assert scalars.key(scalars.resolved(text)) == key


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("2020-02-30", ""),
        ("2020-1-1t1:2:3.1200+00:00", "2020-01-01T01:02:03.12Z"),
        ("2020-01-01 10:00:00.5", "2020-01-01T10:00:00.5Z"),
        ("2020-01-01 10:00:00Z", ""),
        ("2020-01-01T25:00:00Z", ""),
        ("2020-01-01T10:00:00", ""),
        ("2020-01", ""),
    ],
)
def test_kustomize_writes_timestamps_anew(text: str, stamp: str) -> None:
    assert scalars.timestamp(text) == stamp
    assert scalars.kustomize(text) == (stamp or text)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("int", "0x10", 16),
        ("float", "5", 5),
        ("str", "yes", "yes"),
        ("null", "", None),
        ("timestamp", "2020-01-01", "2020-01-01"),
        ("binary", "aGk=", "hi"),
    ],
)
def test_a_tag_decides(tag: str, text: str, value: scalars.Value) -> None:
    assert scalars.tagged(f"tag:yaml.org,2002:{tag}", text) == value


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("int", "abc"),
        ("int", "1.5"),
        ("int", "1e3"),
        ("int", "true"),
        ("float", "abc"),
        ("bool", "1"),
        ("null", "abc"),
        ("timestamp", "abc"),
        ("binary", "*"),
    ],
)
def test_a_value_that_does_not_fit_its_tag_is_refused(tag: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        scalars.tagged(f"tag:yaml.org,2002:{tag}", text)
    (diagnostic,) = read(f"k: !!{tag} '{text}'\n".encode(), "f.yaml").diagnostics
    assert (diagnostic.code, diagnostic.location.line, diagnostic.location.column) == (
        "VR101",
        1,
        4,
    )
    assert text not in diagnostic.message or text in tag


def test_a_value_has_one_meaning_however_often_it_is_met() -> None:
    scalars.UNAMBIGUOUS.clear()
    first = [read(b"a: 010\nb: yes\nc: 1.0\nd: x\n", "f").documents[0].body for _ in range(2)]
    assert first == [{"a": 8, "b": True, "c": 1, "d": "x"}] * 2
    assert math.isinf(scalars.resolved("-.inf") or 0)  # type: ignore[arg-type]
