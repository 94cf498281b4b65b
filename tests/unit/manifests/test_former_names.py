"""What an object was called before kustomize built it."""

from render.manifests.blame.origins import former_names
from render.manifests.kustomization import Reach


def test_each_prefix_and_suffix_may_have_been_added_or_not() -> None:
    reach = Reach()
    reach.prefixes, reach.suffixes = ["a-", "b-"], ["-z"]
    assert former_names("a-b-web-z", reach) == [
        "a-b-web-z",
        "b-web-z",
        "a-b-web",
        "web-z",
        "b-web",
        "web",
    ]
    assert former_names("web", reach) == ["web"]
