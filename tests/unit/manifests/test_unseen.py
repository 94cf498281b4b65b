"""How many there are of what is not looked into."""

from render.manifests.unseen import Unseen


def test_what_is_met_again_counts_once_wherever_that_is() -> None:
    known, other = Unseen(), Unseen()
    for unseen in (known, known, other):
        unseen.add("submodule", "a")
        unseen.add("template", "b", number=2)
    known.update(other)
    assert known.counts() == {"submodule": 1, "template": 2}
    known.remove("submodule", "a")
    assert known.counts() == {"template": 2}


def test_several_in_one_place_are_told_apart() -> None:
    known, other = Unseen(), Unseen()
    known.add("chart", "a", "b.yaml", which="web")
    known.add("chart", "a", "b.yaml", which="db")
    other.add("chart", "a", "b.yaml", which="db")
    other.add("chart", "a", "b.yaml", which="mail")
    known.update(other)
    assert known.counts("b.yaml".__eq__) == {"chart": 3}
    assert not known.counts("c.yaml".__eq__)
