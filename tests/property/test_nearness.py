"""The nearest of several objects, and what is as near with other content: as going through all of them finds it."""

from hypothesis import given
from hypothesis import strategies as st

from render.manifests.nearness import Nearness, nearest
from render.manifests.repository.roots import distance

FOLDERS = st.lists(st.sampled_from("abc"), max_size=4).map(lambda steps: "/".join(steps) or ".")
OBJECTS = st.lists(st.tuples(FOLDERS, st.integers(0, 2), st.booleans()), min_size=1, max_size=12)


@given(OBJECTS, FOLDERS)
def test_the_nearest_is_found_as_among_all(
    objects: list[tuple[str, int, bool]], folder: str
) -> None:
    several: tuple[Nearness[int], Nearness[int]] = Nearness(), Nearness()
    for number, (place, content, is_second) in enumerate(objects):
        several[is_second].add(number, place, number, content)
    first, other = nearest(folder, several)

    def rank(number: int) -> tuple[int, str, int]:
        steps, place = distance(folder, objects[number][0])
        return steps, place, number

    ordered = sorted(range(len(objects)), key=rank)
    as_near = [n for n in ordered if rank(n)[0] == rank(ordered[0])[0]]
    rivals = [n for n in as_near if objects[n][1] != objects[ordered[0]][1]]
    assert (first, other) == (ordered[0], rivals[0] if rivals else None)
