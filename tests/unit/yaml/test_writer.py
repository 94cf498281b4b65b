import io
import json
import math
import subprocess
from typing import Any

import pytest
import ruamel.yaml

from render.yaml import writer
from render.yaml.reader import read
from tests.support.tools import required

WORDS = [
    form
    for word in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "inf", "nan")
    for form in (word, word.title(), word.upper(), word[:-1] + word[-1].upper())
]
NUMBERS = """
    0 -0 +0 00 01 07 08 019 0777 0o7 0o17 0O17 0b11 0x1F 0xG -0x1F +1 -1 1_000 _1 1_ 0_7 1e3 1E5 12E5 1e+3 1E+3
    1e-3 1. 1.0 1.10 .5 -.5 +.5 5e e5 1e400 0e0 1.2.3 1,000 9007199254740993 18446744073709551616 1:30 12:30 190:20:30
    52:54:00:12:34:56 02:00:00:00:00:59 00:16:3e:00:00:01 a7:35:6c:88:91:3f .inf .Inf -.inf +.INF .nan .NaN . .. ...
    2020-01-01 2020-1-1 2020-01-01T10:00:00Z 2001-12-14T21:59:43.10-05:00 685_230.15 190:20:30.15 0x1.8p1 1Gi 100m
""".split()  # fmt: skip  # noqa: SIM905
TEXTS = [
    "", " ", "~", "=", "<<", "-", "--", "---", "--- a", "-a", "- a", "?", "?a", "? a", ":", ":a", "a:", "a: b",
    "a:b", "a #b", "a#b", "#a", "!a", "!!str 1", "&a", "*a", "@a", "`a`", "%a", "a%", "|", ">", "|\n", "[1]",
    "{a: 1}", "a]", "a}", "a,", ",", "'", '"', "it's", '"q"', "\\", "a\\n", "\ta", "a\t", " a", "a ", "a  b",
    "a\tb", "é", "\uff11", "٣", "😀", "\x00", "\x07", "\x1b", "\x7f", "\x85", "\xa0", "a\xa0b", "\xad", "\u2028",
    "\u2029", "\u200b", "\ufeff", "\ufffd", "\ue000", "\U0010ffff", "\U000e0001", "a\rb", "a\r\nb", "a" * 5000,
    "2020-01-01 10:00:00", "{{ x }}", "${X}", "$6$s$x", "\n", "\n\n", "a\n", "a\nb", "a\nb\n", "a\n\nb\n",
    "a\nb\n\n", "\na", " a\nb", "\ta\nb", "a\n b\n", "a\n\tb\n", "a \nb", "a\t\nb", "a\nb ", "a\nb\t",
    "a\n \nb", "a\n#b\n", "#a\nb\n", "a: b\nc: d\n", "- a\n- b", "---\na\n", "a\n---\nb", "a\n...\n", "%a\nb",
    "é\n😀\n", "a\r\nb\n", "a\x00\nb", "a\x85b\nc", "a\u2028b\nc", "a\xa0\nb", "|\na", "a\n\n\n b\n",
    "a" * 5000 + "\n" + "b" * 5000, "#cloud-config\nusers:\n  - name: x\n\n  # c\nruncmd: [a, b]\n",
]  # fmt: skip
STRINGS = list(dict.fromkeys((*WORDS, *NUMBERS, *TEXTS)))
KEYS = {text: index for index, text in enumerate(STRINGS)}
NESTED = {
    "strings": STRINGS,
    "keys": KEYS,
    "each": [{text: [text, {text: text}, [[text]]]} for text in STRINGS],
}
HEAD: dict[str, Any] = {"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "a"}}


def test_every_nasty_string_is_there() -> None:
    assert len(STRINGS) > 200


@pytest.mark.parametrize("text", STRINGS, ids=lambda text: f"{len(text)}-{text[:20]!a}")
def test_a_string_stays_a_string(text: str) -> None:
    body = {"k": text, text: [text]}
    written = writer.dump(body)
    assert read(written.encode(), "f").documents[0].body == body
    assert "\r" not in written
    assert written.endswith("\n")
    (document,) = read(written.encode(), "f").documents
    assert (document.ambiguous, document.text) == (False, written)


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_other_readers_take_our_strings_for_strings(version: tuple[int, int]) -> None:
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.version = version
    # Spellings of one word are one key to a reader that makes a boolean of them, so each is looked at alone.
    for text in STRINGS:
        written = writer.dump({"k": text, "l": [text]})
        assert yaml.load(written) == {"k": text, "l": [text]}, written
        assert yaml.load(writer.dump({text: 1})) == {text: 1}


def test_kubectl_reads_what_we_write() -> None:
    kubectl = required("kubectl")
    body = {**HEAD, **NESTED, "numbers": [0, -1, 2**53, 1.5, 1e22, 5e-324, -1e-7], "none": None}
    ran = subprocess.run(
        [kubectl, "annotate", "--local", "-f", "-", "-o", "json", "a=b"],
        input=writer.write([body]).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    del answer["metadata"]["annotations"]
    assert answer == body


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"),
        ("a.b/c-d_e@f:g+%h", "a.b/c-d_e@f:g+%h"),
        ("/dev/sda", "/dev/sda"),
        ("yes", '"yes"'),
        ("1Gi", '"1Gi"'),
        ("two words", '"two words"'),
        ("a:", '"a:"'),
        ('q"\\\t\x07\xa0\u2028😀\U000e0001', '"q\\"\\\\\\t\\x07\\xa0\\u2028😀\\U000e0001"'),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\nb", "|-\n  a\n\n  b"),
        ("a\n\n", '"a\\n\\n"'),
        (" a\nb", '" a\\nb"'),
        ("a \nb", '"a \\nb"'),
        ("half \ud83d", '"half \ufffd"'),
    ],
)
def test_how_a_string_is_written(text: str, written: str) -> None:
    assert writer.dump({"k": text}) == f"k: {written}\n"
    assert writer.dump({"k": text}) == f"k: {written}\n"  # from memory


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-12, "-12"),
        (1.5, "1.5"),
        (1e22, "1.0e+22"),
        (1.5e-7, "1.5e-07"),
        (2**64 - 1, "18446744073709551615"),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_how_other_values_are_written(value: Any, written: str) -> None:
    assert writer.dump({"k": value, "l": [value]}) == f"k: {written}\nl:\n- {written}\n"
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    assert yaml.load(writer.dump({"k": value})) == {"k": value}


def test_the_layout() -> None:
    body = {
        "a": {"b": {"c": 1}, "d": [1, {"e": 2, "f": {"g": 3}}, [4, [5, 6]], [{"h": "i\nj\n"}], []]},
        "k": ["l\nm", {"q": {}, "o": ["p"]}],
    }
    assert writer.dump(body) == (
        "a:\n  b:\n    c: 1\n  d:\n  - 1\n  - e: 2\n    f:\n      g: 3\n  - - 4\n    - - 5\n      - 6\n"
        "  - - h: |\n        i\n        j\n  - []\nk:\n- |-\n  l\n  m\n- q: {}\n  o:\n  - p\n"
    )
    assert read(writer.dump(body).encode(), "f").documents[0].body == body
    assert writer.dump({}) == "{}\n"


def test_a_key_too_long_for_its_line_is_still_a_key() -> None:
    body = {"é" * 600: {"a": 1}, "k": [{"x" * 2000: [1], "y" * 1000: "a\nb\n", "z": 1}]}
    written = writer.dump(body)
    assert read(written.encode(), "f").documents[0].body == body
    assert ruamel.yaml.YAML(typ="safe", pure=True).load(written) == body


def test_a_stream() -> None:
    assert writer.write([{"a": 1}, "b: 2 # as it was", "c: |+\n  x\n\n", {}]) == (
        "---\na: 1\n---\nb: 2 # as it was\n---\nc: |+\n  x\n\n---\n{}\n"
    )
    assert writer.write([]) == ""


def test_nothing_is_shared_in_what_is_written() -> None:
    shared = {"x": [1]}
    written = writer.dump({"a": shared, "b": shared})
    assert "&" not in written
    assert "*" not in written
    assert ruamel.yaml.YAML(typ="safe", pure=True).load(io.StringIO(written)) == {
        "a": shared,
        "b": shared,
    }


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_number_that_json_lacks_is_our_own_fault(value: float) -> None:
    with pytest.raises(ValueError, match="no JSON numbers"):
        writer.dump({"a": value})


def test_a_value_that_is_no_json_is_our_own_fault() -> None:
    with pytest.raises(TypeError, match="bytes is no JSON value"):
        writer.dump({"a": b"x"})
