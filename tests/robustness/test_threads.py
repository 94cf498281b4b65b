"""`render` and the reader from many threads at once: the same answers as from one."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from render import Settings, render
from render.yaml import reader, scalars
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm

THREADS, ROUNDS = 16, 12


@pytest.fixture(autouse=True)
def nervous() -> Iterator[None]:
    """Threads that change places as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS * ROUNDS)))


def objects(number: int) -> list[dict[str, Any]]:
    texts = (
        vm(f"vm{number}", instancetype="mine", kind="VirtualMachineInstancetype"),
        instancetype("mine", kind="VirtualMachineInstancetype"),
        vm(f"other{number}", instancetype="u1.medium"),
    )
    found = [reader.read(text.encode(), "text").documents for text in texts]
    return [document.body for documents in found for document in documents]


@pytest.mark.parametrize("emit", ["vm", "vmi", "hashed", "revisions"])
def test_render(emit: Any) -> None:
    inputs = [objects(number % 7) for number in range(THREADS * ROUNDS)]
    settings = Settings(emit=emit)
    alone = [render(item, settings) for item in inputs[:7]]
    assert all(item.resources for item in alone)
    assert at_once(lambda number: render(inputs[number], settings)) == [
        alone[number % 7] for number in range(THREADS * ROUNDS)
    ]


def test_reading_while_the_memo_of_scalars_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalars, "_ROOM", 2)
    texts = [
        "".join(f"k{line}: v{number}x{line}\n" for line in range(20)) + f"f: [a{number}, 1]\n"
        for number in range(5)
    ]
    alone = [reader.read(text.encode(), "text").documents for text in texts]
    assert at_once(lambda number: reader.read(texts[number % 5].encode(), "text").documents) == [
        alone[number % 5] for number in range(THREADS * ROUNDS)
    ]


FRESH = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from render import Settings, render

sys.setswitchinterval(1e-6)
given = json.load(sys.stdin)
with ThreadPoolExecutor(16) as pool:
    made = list(pool.map(lambda one: render(one, Settings(emit="hashed")).resources, given * 400))
assert all(one == made[0] for one in made), "threads differ"
"""


def test_a_fresh_process() -> None:
    """What is imported or filled at first use is so from many threads at once: OpenSSL's digests after 250 others."""
    inputs = json.dumps([objects(0)])
    command = [sys.executable, "-c", FRESH]
    for _ in range(3):
        done = subprocess.run(
            command, cwd=ROOT, input=inputs, capture_output=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
