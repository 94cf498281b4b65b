"""Who decided the fields of VMs: what is made for one of them goes with it."""

import gc

from render.machine import Machine
from render.model.resource import Resource, from_body
from render.model.tree import Tree
from render.pipeline.provenance.deciders import Judge, explaining
from render.pipeline.run import run
from render.pipeline.stages import emit
from render.settings import Settings
from render.yaml.budget import Limits
from render.yaml.reader import read
from tests.support.manifests import instancetype, vm


def resources() -> list[Resource]:
    text = f"{instancetype('small')}---\n{vm('a', instancetype='small')}"
    documents = read(text.encode(), "a.yaml", Limits()).documents
    return [from_body(document.body, n) for n, document in enumerate(documents)]


def test_who_takes_objects_one_by_one_keeps_no_provenance() -> None:
    bodies: list[Tree] = []
    settings = explaining(Settings())
    assert run(resources(), settings, traced=True).provenance
    rendered = run(resources(), settings, sink=lambda body, _: bodies.append(body), traced=True)
    assert bodies
    assert not rendered.provenance


def test_nothing_is_left_of_a_vm_where_nobody_collects() -> None:
    """As in a process of ours, which has turned the collector off."""
    seen: list[tuple[Machine, Tree]] = []
    run(
        resources(),
        explaining(Settings()),
        lambda machine, vmi: seen.append((machine, vmi)),
        traced=True,
        emitter=emit.vmi,
    )
    ((machine, vmi),) = seen
    Judge(machine, vmi)
    gc.collect()
    gc.disable()
    try:
        judge = Judge(machine, vmi)
        assert {judge.decide(leaf).winner.decider for leaf in judge.leaves} >= {
            "vm",
            "instancetype",
        }
        del judge
        assert gc.collect() == 0
    finally:
        gc.enable()
