import copy
import pickle
import re

import pytest

from render.model.regex import pattern


def test_a_pattern_is_compiled_when_it_is_asked_and_answers_as_one_of_re() -> None:
    broken = pattern("(")
    found = pattern("a(b+)", re.IGNORECASE)
    match = found.search("xABBx")
    assert match is not None
    assert match[1] == "BB"
    assert found.sub("-", "xabx") == "x-x"
    assert found.pattern == "a(b+)"
    assert pattern(rb"\w+").findall(b"a b") == [b"a", b"b"]
    with pytest.raises(re.error):
        broken.search("")


def test_it_is_copied_as_one_of_re() -> None:
    found = pattern("a(b+)", re.IGNORECASE)
    for copied in (copy.copy(found), pickle.loads(pickle.dumps(found))):  # noqa: S301 - our own
        assert copied == re.compile("a(b+)", re.IGNORECASE)
