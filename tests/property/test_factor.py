"""Rendering backwards, for repositories that nobody wrote."""

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import Settings, render
from render.model.release import VERSIONS, Version, tag
from tests.differential.test_factor import rewritten, same, vmis
from tests.support.generated import repositories

Json = dict[str, Any]


@given(repositories(), st.sampled_from(VERSIONS))
def test_the_vmis_and_the_errors_stay_what_they_are(objects: list[Json], release: Version) -> None:
    settings = Settings(kubevirt=tag(release), annotations=False)
    after = rewritten(objects, settings)
    event("rewritten" if after != objects else "as it is")
    if after == objects:
        return
    before, now = vmis(objects, settings), vmis(after, settings)
    assert same(before[0], now[0])
    assert now[1] <= before[1]
    assert rewritten(after, settings) == after


@given(repositories(), st.sampled_from(VERSIONS))
def test_vms_that_were_written_out_start_the_same_with_what_is_found(
    objects: list[Json], release: Version
) -> None:

    settings = Settings(kubevirt=tag(release), annotations=False, preset_conflicts="override")
    plain = render(objects, settings).resources
    after = rewritten(plain, settings)
    before, now = vmis(plain, settings), vmis(after, settings)
    assert same(before[0], now[0])
    assert now[1] <= before[1]
