"""What kustomize and helm say of their failure, without what is secret in it."""

import pytest

from render.manifests.concealment import shortened


@pytest.mark.parametrize(
    ("said", "part", "shown"),
    [
        ("bad value hunter2 here", "hunter2", "bad value [redacted] here"),
        (r'bad "say \"hi\"" here', 'say "hi"', 'bad "[redacted]" here'),
        (r"bad '\"hi\" there' here", '"hi" there', "bad '[redacted]' here"),
        (r'bad "C:\\x" here', "C:\\x", 'bad "[redacted]" here'),
    ],
    ids=["plain", "quotes", "a-quote-first", "backslash"],
)
def test_what_is_secret_is_hidden_whole_in_each_spelling(said: str, part: str, shown: str) -> None:
    assert shortened(said, {part}, 1000) == shown
