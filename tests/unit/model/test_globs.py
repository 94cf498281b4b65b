"""Patterns for paths."""

import pytest

from render.model.globs import Globs
from tests.support.calls import calls


@pytest.mark.parametrize(
    ("patterns", "path", "whole", "below"),
    [
        (("charts",), "charts", True, True),
        (("a", "charts"), "charts", True, True),
        (("charts",), "deep/charts/vm.yaml", False, True),
        (("/charts",), "deep/charts/vm.yaml", False, False),
        (("v[0-9].yaml",), "v1.yaml", True, True),
        (("v[!0-9].yaml",), "v1.yaml", False, False),
        (("v[!0-9!].yaml",), "v!.yaml", False, False),
        (("[",), "[", True, True),
        (("**/test/*.yaml",), "a/b/test/vm.yaml", True, True),
        (("**/test/*.yaml",), "a/b/test/c/vm.yaml", False, False),
        (("a/**",), "a/b/c", True, True),
        (("a/**",), "a", False, False),
        (("a/**/b",), "a/b/c", False, True),
        (("a/**/**/b",), "a/b", True, True),
        (("**",), "a/b", True, True),
        (("[!a]b",), "a/b", False, False),
        (("[!]a", "[z-a]", "[!"), "a", False, False),
    ],
)
def test_what_patterns_match(
    patterns: tuple[str, ...], path: str, *, whole: bool, below: bool
) -> None:
    globs = Globs("/top", patterns)
    assert globs.match_whole(f"/top/{path}") is whole
    assert bool(globs.match(f"/top/{path}")) is below


@pytest.mark.parametrize("pattern", ["*a" * 40 + "*b", "**/a/" * 40 + "b", "*a*/**/" * 40 + "b"])
def test_no_pattern_is_tried_in_every_way(pattern: str) -> None:
    """Where it was, this test did not end."""
    globs = Globs("/top", (pattern,))
    assert not globs.match("/top/" + "a" * 200)
    assert not globs.match("/top/" + "/".join(["a" * 4] * 400))


@pytest.mark.parametrize(
    "pattern", ["*a" * 100 + "b", "/".join(["**", "*a*"] * 40), "?" * 200 + "*b"]
)
def test_names_are_looked_at_once_and_not_by_python(pattern: str) -> None:
    """Of 98 KB of patterns and names came minutes: each character of each name was a step or more of ours."""
    globs = Globs("/top", (pattern,))
    paths = [f"/top/{'a' * 200}/{'a' * 200}{n}.yaml" for n in range(50)]
    globs.match(paths[0])
    assert calls(lambda: [globs.match(path) for path in paths]) < 20 * len(paths)
