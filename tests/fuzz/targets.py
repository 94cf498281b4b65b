"""What a fuzzer throws bytes at: nothing may be raised, and what is claimed must hold.

`scripts/fuzz.py` drives them with atheris; what it found is kept in fixtures/fuzz and tried in every test run.
"""

import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator

from render.diagnostics.diagnostic import Location
from render.frontends.kustomize import message
from render.manifests import kustomization
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.pipeline import order
from render.revisions import lockfile
from render.settings import Settings
from render.yaml import libyaml, plain, positions, writer
from render.yaml.budget import Budget
from render.yaml.builder import UnbuildableError, build
from render.yaml.reader import Limits, read

_LIMITS = Limits(file_bytes=1 << 16, documents=20, depth=30, alias_nodes=200)


def yaml(data: bytes) -> None:
    """The reader: every finding has a place, what is read is written and read back, and both readers agree."""
    found = read(data, "f", _LIMITS)
    for one in found.diagnostics:
        assert one.location.line > 0
        assert one.location.column > 0
    for document in found.documents:
        line, column = positions.locate(data, document.origin, (*document.body, 0))
        assert min(line, column) > 0
        for text in (writer.write([document.body]), document.text):
            if text is not None:
                again = read(writer.write([text]).encode(), "f")
                assert [one.body for one in again.documents] == [document.body]
    try:
        text = data.decode() + "\n"
    except UnicodeDecodeError:
        return
    quick = plain.read(text, _LIMITS.depth)
    if quick is not None:
        assert repr(quick[0]) == repr(_built(text))


def _built(text: str) -> object:
    try:
        return build(text, _LIMITS.depth, Budget(_LIMITS.alias_nodes)).body
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
        order.render([document.body])
        if not faults:
            again, later = lockfile.read(lockfile.document(found), Location())
            assert later == []
            assert again.pins == found.pins
            assert again.revisions.items() <= found.revisions.items()  # those in use


def resource_list(data: bytes) -> None:
    """The function's message: received, rendered and answered."""
    received, _ = message.receive(io.BytesIO(data), "", _LIMITS)
    rendered = order.render([one.body for one in received.documents], Settings(emit="vm"))
    answer = read(message.reply(received, rendered.resources).encode(), "f")
    assert answer.diagnostics == []


_LISTS = (
    "resources", "bases", "components", "crds", "configurations", "generators", "transformers",
    "validators", "patchesstrategicmerge",
)  # fmt: skip
_PATHS = ("patches", "patchesjson6902", "replacements", "openapi")
_SOURCES = ("configmapgenerator", "secretgenerator")


def kustomizations(data: bytes) -> None:
    """What kustomize would fetch, by a model of its own decoder, is never let through."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/kustomization.yaml"
        with open(file, "wb") as stream:
            stream.write(data)
        found = kustomization.reach(folder, _LIMITS, allow_remote=False, bounds=folder)
        kustomization.survey([folder], _LIMITS)
        for named in (*found.kustomizations, *found.resources, *found.others):
            assert os.path.realpath(named).startswith(os.path.realpath(folder))
        refused = any(one.is_error for one in found.diagnostics)
        for document in read(data, file, _LIMITS).documents[:1]:
            assert refused or not any(map(_is_fetched, _loaded(document.body)))


def _go_fold(key: str) -> str:
    """As encoding/json compares names: ASCII letters, and the two others that fold to one (its fold.go)."""
    return "".join(
        {"\u017f": "s", "\u212a": "k"}.get(c, c.lower() if c < "\x80" else c) for c in key
    )


def _field(body: object, *names: str) -> Iterator[object]:
    if isinstance(body, dict):
        yield from (value for key, value in body.items() if _go_fold(key) in names)


def _each(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        yield from value if isinstance(value, list) else [value]


def _loaded(body: object) -> Iterator[object]:
    """What kustomize loads by the fields of types.Kustomization."""
    yield from _each(_field(body, *_LISTS))
    for item in _each(_field(body, *_PATHS)):
        yield from _field(item, "path")
    for item in _each(_field(body, *_SOURCES)):
        yield from _each(_field(item, "envs", "env"))
        for source in _each(_field(item, "files")):
            yield source.partition("=")[2] or source if isinstance(source, str) else None


def _is_fetched(entry: object) -> bool:
    """As kustomize's IsRemoteFile says; an address with a blank or a control character is none to Go."""
    return (
        isinstance(entry, str)
        and entry.isprintable()
        and entry.lower().startswith(("http:", "https:"))
    )


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": yaml,
    "quantity": quantities,
    "lock": locks,
    "resourcelist": resource_list,
    "kustomization": kustomizations,
}
