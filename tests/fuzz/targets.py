"""What a fuzzer throws bytes at: nothing may be raised, and what is claimed must hold.

`scripts/fuzz.py` drives them with atheris; what it found is kept in fixtures/fuzz and tried in every test run.
"""

import functools
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Callable

from render.diagnostics.diagnostic import Location
from render.frontends.kustomize import message
from render.manifests import kustomization
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.pipeline.run import render
from render.revisions import lockfile
from render.settings import Settings
from render.yaml import libyaml, plain, positions, writer
from render.yaml.budget import Aliases, Limits
from render.yaml.builder import UnbuildableError, build
from render.yaml.reader import read
from tests.fuzz.repositories import repository
from tests.support.tools import required

_LIMITS = Limits(file_bytes=1 << 16, documents=20, depth=30, alias_nodes=200)


def yaml(data: bytes) -> None:
    """The reader: every finding has a place, what is read is written and read back, and both readers agree."""
    found = read(data, "f", _LIMITS)
    for diagnostic in found.diagnostics:
        assert diagnostic.location.line > 0
        assert diagnostic.location.column > 0
    for document in found.documents:
        line, column = positions.locate(data, document.origin, (*document.body, 0))
        assert min(line, column) > 0
        for text in (writer.write([document.body]), document.text):
            if text is not None:
                again = read(writer.write([text]).encode(), "f")
                assert [document.body for document in again.documents] == [document.body]
    try:
        text = data.decode() + "\n"
    except UnicodeDecodeError:
        return
    quick = plain.read(text, _LIMITS.depth)
    if quick is not None:
        assert repr(quick[0]) == repr(_built(text))


def _built(text: str) -> object:
    try:
        return build(text, _LIMITS.depth, Aliases(_LIMITS.alias_nodes)).body
    except UnbuildableError as error:
        return error
    except libyaml.ERRORS as error:
        return error


def quantities(data: bytes) -> None:
    """The quantity parser: canonical text is a fixed point, and means the same."""
    text = data.decode("utf-8", "replace")
    try:
        canonical = quantity.canonical(text)
        again = quantity.canonical(canonical)  # may have grown beyond the digits that are read
    except QuantityError:
        return
    # QUIRK(pkg/api/resource/quantity.go): 62.5Ki is printed as 64000, and that is read as 64k.
    assert quantity.canonical(again) == again
    # QUIRK(pkg/api/resource/suffix.go): there is no suffix above E, and Go prints 1000E as 1.
    if quantity.compare(text, "1000E") < 0 < quantity.compare(text, "-1000E"):
        assert quantity.compare(text, canonical) == 0
    assert quantity.is_zero(text) == quantity.is_zero(canonical)
    quantity.value(text)


def locks(data: bytes) -> None:
    """The revision lock: what is read without a finding is written and read back."""
    for document in read(data, "f", _LIMITS).documents:
        found, faults = lockfile.read(document.body, Location())
        render([document.body])
        if not faults:
            again, later = lockfile.read(lockfile.document(found), Location())
            assert later == []
            assert again.pins == found.pins
            assert again.revisions.items() <= found.revisions.items()  # those in use


def resource_list(data: bytes) -> None:
    """The function's message: received, rendered and answered."""
    received, _ = message.receive(io.BytesIO(data), "", _LIMITS)
    rendered = render([document.body for document in received.documents], Settings(emit="vm"))
    answer = read(message.reply(received, rendered.resources).encode(), "f")
    assert answer.diagnostics == []


_READS = "kustomize-reads"
_OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
_BELOW = {"b/kustomization.yaml": "resources: [a]\n", "b/a": _OBJECT}
_TREE = {
    "app/a": _OBJECT,
    **{f"{at}{name}": text for at in ("app/", "") for name, text in _BELOW.items()},
}


def kustomizations(data: bytes) -> None:
    """What kustomize would fetch, or open outside, is never let through, and whatever else it opens is known."""
    requested = _reads(data)
    with tempfile.TemporaryDirectory() as temporary:
        bounds = os.path.realpath(temporary)
        folder, file = f"{bounds}/app", f"{bounds}/app/kustomization.yaml"
        for name, text in _TREE.items():
            os.makedirs(os.path.dirname(f"{bounds}/{name}"), exist_ok=True)
            with open(f"{bounds}/{name}", "w", encoding="utf-8") as stream:
                stream.write(text)
        with open(file, "wb") as stream:
            stream.write(data)
        found = kustomization.reach(folder, _LIMITS, allow_remote=False, bounds=bounds)
        kustomization.survey([folder], _LIMITS)
        known = {
            os.path.realpath(item)
            for item in (*found.kustomizations, *found.resources, *found.others)
        }
        assert all(item.startswith(f"{bounds}/") for item in known)
        if not any(diagnostic.is_error for diagnostic in found.diagnostics):
            assert requested["fetched"] == []
            for item in requested["opened"]:
                assert f"{bounds}/{item.removeprefix('/repository/')}" in known, item


def _reads(data: bytes) -> dict[str, list[str]]:
    """What kustomize fetches and opens for *data*: the answer of the program in tests/fuzz/kustomize_reads."""
    done = _started()
    assert done.stdin is not None
    assert done.stdout is not None
    done.stdin.write(len(data).to_bytes(4, "big") + data)
    done.stdin.flush()
    answer: dict[str, list[str]] = json.loads(done.stdout.readline())
    return answer


@functools.cache
def _started() -> "subprocess.Popen[bytes]":
    program = required(_READS)
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": yaml,
    "quantity": quantities,
    "lock": locks,
    "resourcelist": resource_list,
    "kustomization": kustomizations,
    "repository": repository,
}
