"""An HTML page that we wrote, as a reader of HTML has it, and what must be true of each."""

import base64
import hashlib
import json
import re
from typing import Any

import html5lib

#: Elements and attributes with which a page loads, links or runs something.
_REACHING = frozenset({"img", "link", "iframe", "base"})
_LOADING = frozenset({"src", "style"})


def parse(page: str) -> Any:
    """*page* as an element tree; an error where it is no correct HTML."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def data(page: str) -> Any:
    """What the scripts of *page* read."""
    (element,) = (item for item in parse(page).iter("script") if item.get("id") == "data")
    return json.loads(element.text)


def reaching(page: str) -> list[str]:
    """The elements and attributes of *page* that load, run or link to something else, but for our two scripts."""
    elements = [item for item in parse(page).iter() if isinstance(item.tag, str)]
    attributes = {name for element in elements for name in element.attrib}
    links = [element.get("href", "") for element in elements if "href" in element.attrib]
    scripts = [element.tag for element in elements if element.tag == "script"]
    return [
        *scripts[2:],
        *(element.tag for element in elements if element.tag in _REACHING),
        *(link for link in links if not re.fullmatch(r"#[\w.-]+", link)),
        *(name for name in attributes if name in _LOADING or name.startswith("on")),
    ]


def policies(page: str) -> tuple[str, str]:
    """The content security policy that *page* states, and the one under which only its style and script count."""
    (stated,) = (
        item.get("content")
        for item in parse(page).iter("meta")
        if item.get("http-equiv") == "Content-Security-Policy"
    )
    (script,), (style,) = (
        [
            base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            for body in re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        ]
        for element in ("script", "style")
    )
    only_ours = (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return stated, only_ours


def uneven(page: str) -> list[str]:
    """What does not fit together in the table of VMs: cells, columns, and the values by which these are sorted."""
    (table,) = (item for item in parse(page).iter("table") if item.get("id") == "fleet")
    heads = list(table.find("thead").find("tr"))
    found = data(page)
    width = len((found if isinstance(found, list) else found["rows"])[0])
    keys = [key for head in heads for key in head.get("data-key").split()]
    faults = [f"no value {key}" for key in keys if int(key) >= width]
    faults += [f"value {key} sorts two columns" for key in {*keys} if keys.count(key) > 1]
    for row in table.iter("tr"):
        cells = sum(int(cell.get("colspan", 1)) for cell in row)
        if cells != len(heads):
            faults.append(f"{cells} cells: {' '.join(''.join(row.itertext()).split())[:40]}")
    return faults
