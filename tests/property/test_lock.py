"""Whatever stands in a lock, reading it ends in a lock or in findings."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render import Settings, render
from render.diagnostics.diagnostic import Location
from render.model import tree
from render.pipeline import pinning
from render.revisions import lockfile
from render.revisions.hashes import KIND_CLASSES, Ref, content_hash
from render.revisions.lockfile import CLASSES, Entry, Lock, Pin
from render.yaml import writer

HASHES = st.integers(min_value=0, max_value=2**256 - 1).map(lambda n: f"sha256:{n:064x}")
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | HASHES
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *CLASSES,
        *KIND_CLASSES,
        "revision",
        "rendered",
        "instancetypeBefore",
        "preferenceVolume",
        "spec",
    ]
)
LOCKS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from(["virt-render.dev/v1alpha1", "virt-render.dev/v2"]) | JSON,
        "kind": st.just("RevisionLock") | JSON,
        "metadata": JSON,
        "revisions": st.dictionaries(
            HASHES | st.text(), st.dictionaries(KEYS, JSON, max_size=2) | JSON
        )
        | JSON,
        "pins": st.dictionaries(st.text(), st.dictionaries(KEYS, JSON) | JSON) | JSON,
    },
)
NAMES = st.sampled_from(["a", "b", "prod/a", "prod/b", "test/c"])
SPECS = st.integers(min_value=1, max_value=4).map(
    lambda cpus: {"cpu": {"guest": cpus}, "memory": {"guest": "1Gi"}}
)
REFS = SPECS.map(
    lambda spec: Ref("VirtualMachineInstancetype", "it", content_hash("instancetype", spec))
)
PINS = st.builds(
    lambda revision, ref, before, named, rendered: Pin(
        revision, {"instancetype": Entry(ref, "", before, named)}, rendered
    ),
    st.integers(min_value=1, max_value=9), REFS, st.none() | REFS, st.sampled_from(["", "r-1"]), HASHES,
)  # fmt: skip
CONTENTS = {
    content_hash("instancetype", spec): lockfile.Content("instancetype", spec)
    for spec in ({"cpu": {"guest": n}, "memory": {"guest": "1Gi"}} for n in range(1, 5))
}
WHOLE = st.dictionaries(NAMES, PINS, max_size=4).map(lambda pins: Lock(CONTENTS, pins))


@given(LOCKS)
def test_reading_anything_raises_nothing(body: dict[str, Any]) -> None:
    before = tree.copy(body)
    lock, faults = lockfile.read(body, Location())
    assert body == before
    assert not faults or lock == lockfile.EMPTY
    if not faults:
        again, _ = lockfile.read(lockfile.document(lock), Location())
        assert again.pins == lock.pins


@given(LOCKS)
def test_rendering_with_anything_raises_nothing(body: dict[str, Any]) -> None:
    render([], Settings(lock=body))


@given(WHOLE)
def test_document_is_sorted_and_read_back(lock: Lock) -> None:
    document = lockfile.document(lock)
    again, faults = lockfile.read(document, Location())
    assert not faults
    assert again.pins == lock.pins
    assert writer.dump(lockfile.document(again)) == writer.dump(document)


@given(WHOLE, WHOLE, WHOLE)
def test_merging_has_no_sides(base: Lock, ours: Lock, upstream: Lock) -> None:
    merged, refused = pinning.merge(base, ours, upstream)
    other, again = pinning.merge(base, upstream, ours)
    assert refused == again
    assert merged.pins == other.pins
    for vm in {*base.pins, *ours.pins, *upstream.pins}:
        sides = [side.pins.get(vm) for side in (base, ours, upstream)]
        if vm in refused:
            assert len({repr(side) for side in sides}) == 3
        else:
            assert merged.pins.get(vm) in sides[1:]


@given(WHOLE, WHOLE)
def test_merging_an_unchanged_side_gives_the_other(base: Lock, changed: Lock) -> None:
    assert pinning.merge(base, base, changed) == pinning.merge(base, changed, base)
    merged, refused = pinning.merge(base, base, changed)
    assert not refused
    assert merged.pins == changed.pins
