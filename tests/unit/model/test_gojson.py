import pytest

from render.model.apimachinery import gojson

HOOKS = gojson.List(
    "hooks.List", gojson.Struct("hooks.Hook", {"image": gojson.STRING, "args": gojson.STRINGS})
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unexpected end of JSON input"),
        ('[{"image": "a"}', "unexpected end of JSON input"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("[1 2]", "invalid character '2' after array element"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ("{a}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[] []", "invalid character '[' after top-level value"),
        ("nul1", "invalid character '1' in literal null (expecting 'l')"),
        ('["\\x"]', "invalid character 'x' in string escape code"),
        ("{}", "json: cannot unmarshal object into Go value of type hooks.List"),
        (
            '[{"image": 1}]',
            "json: cannot unmarshal number into Go struct field Hook.image of type string",
        ),
    ],
)
def test_what_go_refuses_is_said_in_its_words(text: str, message: str) -> None:
    with pytest.raises(gojson.GoJSONError) as refused:
        gojson.unmarshal(text, HOOKS)
    assert str(refused.value) == message


def test_keys_are_found_whatever_their_case() -> None:
    text = '[{"Image": "a", "ARGS": ["b"], "other": {}}, null]'
    assert gojson.unmarshal(text, HOOKS) == [{"image": "a", "args": ["b"]}, None]


@pytest.mark.parametrize(
    ("opening", "inner", "closing"), [("[", "", "]"), ('{"a":', "1", "}"), ('[{"a":', "1", "}]")]
)
def test_go_reads_deeper_than_python_calls(opening: str, inner: str, closing: str) -> None:
    deepest = 10_000 // (1 + ("[{" in opening))
    text = (
        f'[{{"image": "a", "other": {opening * (deepest - 2) + inner + closing * (deepest - 2)}}}]'
    )
    assert gojson.unmarshal(text, HOOKS) == [{"image": "a"}]
    with pytest.raises(gojson.GoJSONError, match=r"^exceeded max depth$"):
        gojson.unmarshal(opening * (deepest + 1), HOOKS)
