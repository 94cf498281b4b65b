"""Patterns for the files of a directory, as Argo CD reads them."""

import pytest

from render.manifests.uses.patterns import DirectoryPatterns

ROWS = [
    ("*.yaml", "sub/x.yaml", True),
    ("sub/*", "sub/a/b.yaml", True),
    ("sub/*", "vm.yaml", False),
    ("**", "a/b.yaml", True),
    ("a?c", "a/c", True),
    ("a?c", "ac", False),
    ("{*.yml,*.yaml}", "a.yaml", True),
    ("{config.json,prod/*}", "prod/x.yaml", True),
    ("{config.json,prod/*}", "test/x.yaml", False),
    ("{a,{b,c}d}e", "cde", True),
    ("{a,{b,c}d}e", "ce", False),
    ("x{,y}", "x", True),
    ("a,b", "a,b", True),
    ("vm", "vm.yaml", False),
]


@pytest.mark.parametrize(("pattern", "path", "matches"), ROWS)
def test_a_pattern_matches_all_of_a_path(pattern: str, path: str, *, matches: bool) -> None:
    assert DirectoryPatterns(include=pattern).select(path) is matches
    assert DirectoryPatterns(exclude=pattern).select(path) is not matches


def test_without_patterns_every_file_counts_and_exclude_is_the_last_word() -> None:
    assert DirectoryPatterns().select("a/b.yaml")
    assert not DirectoryPatterns("*", "b*").select("b.yaml")


@pytest.mark.parametrize("pattern", ["[v]*", "a\\*", "{a", "a}", "}{", "x" * 2_000])
def test_what_has_rules_of_its_own_is_not_known(pattern: str) -> None:
    assert not DirectoryPatterns(exclude=pattern).is_known
    assert DirectoryPatterns(exclude="{a,b}*?").is_known


def test_a_pattern_of_many_stars_is_no_more_work_than_its_length() -> None:
    assert not DirectoryPatterns(include="*a" * 400).select("a" * 399)
