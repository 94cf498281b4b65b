"""The same objects in other files, another order and another notation: the same objects out, the same findings.

Files on disk, and the command that reads them; the library's answer for the plain objects is what is expected.
"""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import render
from render.diagnostics.exits import Exit
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.yaml.reader import read
from tests.support.generated import repositories
from tests.support.notations import files

Json = dict[str, Any]


def canonical(bodies: Iterable[Json]) -> list[str]:
    return sorted(json.dumps(body, sort_keys=True) for body in bodies)


def built(folder: Path, layout: dict[str, bytes]) -> tuple[list[str] | None, list[list[Any]]]:
    """What ``build`` writes for the files of *layout*, None for nothing, and what it finds apart from places."""
    for name, data in layout.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    out, report = folder / "out.yaml", folder / "report.json"
    flags: dict[str, str | bool] = {
        "--output": str(out),
        "--json-file": str(report),
        "--verbose": True,
    }
    status = execute(Call("build", (str(folder / "in"),), flags), {})
    found = json.loads(report.read_text())["diagnostics"]
    text = [
        [diagnostic["code"], diagnostic["message"], diagnostic["field"], diagnostic["resource"]]
        for diagnostic in found
    ]
    if status is not Exit.OK:
        assert status is Exit.FINDINGS
        assert not out.exists(), "all or nothing"
        return None, text
    documents = read(out.read_bytes(), "out").documents
    assert not any(document.ambiguous for document in documents)
    return canonical(document.body for document in documents), text


@given(repositories(), st.data())
def test_the_notation_does_not_matter(objects: list[Json], data: st.DataObject) -> None:
    rendered = render(objects)
    layout = data.draw(files(objects))
    with tempfile.TemporaryDirectory() as folder:
        output, text = built(Path(folder), layout)
    event("errors" if output is None else "rendered")
    if any(found.is_error for found in rendered.diagnostics):
        assert output is None
    else:
        assert output == canonical(rendered.resources)
    wanted = [
        [d.code, d.message, d.field, d.resource and d.resource._asdict()]
        for d in rendered.diagnostics
    ]
    assert sorted(map(json.dumps, text)) == sorted(map(json.dumps, wanted))
