"""How long the pages of a large fleet take in a browser; alone: ``python -m scripts.bench.pages [VMS]``.

Wall clock of headless Chromium (`apt-get install chromium-headless-shell`): opening, until the first frame behind the
load event; a word in the filter, and a sort by memory, each until the next frame. The best of some, since others may
use the machine too.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.bench import fleet
from scripts.bench.fleet import Tree
from tests.support import browser

TRIES = 5
VMS = 2000
_SECTION = f"""
## Pages in a browser

Of {VMS:,} VMs, in headless Chromium; wall clock, the best of {TRIES}: opening, until the first frame behind the
load event; a word in the filter, and a sort by memory, each until the next frame. The change that `diff` shows reaches
all of them.

"""
_HEAD = "| page | MB | opening ms | filter ms | sort ms |\n|---|---|---|---|---|\n"
_NOWHERE = "Not measured: there was no Chromium (`apt-get install chromium-headless-shell`).\n"
_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
_TIMED = f"(async () => {{ const t = performance.now(); %s; await {_FRAME}; return performance.now() - t; }})()"
_FILTER = _TIMED % (
    "const f = document.querySelector('#name'); f.value = f.value ? '' : 'vm-0001'; "
    "f.dispatchEvent(new Event('input', {bubbles: true}))"
)
_SORT = _TIMED % "document.querySelectorAll('#fleet thead button')[%d].click()"
_LOADED = (
    "document.readyState === 'complete' || new Promise((done) => addEventListener('load', done))"
)
_OPENED = f"(async () => {{ await ({_LOADED}); await {_FRAME}; return performance.now(); }})()"


def measured(page: browser.Page, file: Path, column: int) -> tuple[float, float, float]:
    """Milliseconds of opening *file*, of filtering by name, and of sorting by *column*."""

    def best(work: Callable[[], float]) -> float:
        return min(work() for _ in range(TRIES))

    def opened() -> float:
        page.open(file)
        milliseconds: float = page.run(_OPENED)
        return milliseconds

    return best(opened), best(lambda: page.run(_FILTER)), best(lambda: page.run(_SORT % column))


class PageFigures(NamedTuple):
    """A page of *name*, how many bytes it has, and milliseconds of the browser."""

    name: str
    size: int
    opening: float
    filtering: float
    sorting: float


def figures(vms: int = VMS) -> Iterator[PageFigures]:
    """Of both pages of a fleet, the second of a change that reaches all its VMs; nothing where there is no browser."""
    if not browser.found():
        return
    with tempfile.TemporaryDirectory() as folder:
        base, head = (Path(folder, name) for name in ("base", "head"))
        for tree in (base, head):
            fleet.write(str(tree), Tree(vms, several=True))
            (tree / "kustomization.yaml").unlink()
        for file in (head / "platform").glob("*.yaml"):
            file.write_text(file.read_text().replace("guest: 2\n", "guest: 4\n"))
        columns = {"report": 4, "diff": 5}
        pages = {
            "report": ["report", str(base)],
            "diff": ["diff", "--format", "html", "--emit", "vm", str(base), str(head)],
        }
        for name, words in pages.items():
            out = Path(folder, f"{name}.html")
            command = [sys.executable, "-m", "render", *words, "--output", str(out)]
            subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
            with browser.page() as page:
                times = measured(page, out, columns[name])
            yield PageFigures(name, out.stat().st_size, *times)


def section(pages: Sequence[PageFigures]) -> str:
    """What docs/benchmarks.md says of them."""
    rows = (
        f"| `virt-render {name}` | {size / 1e6:.1f} | {opening:,.0f} | {filtering:,.0f} | {sorting:,.0f} |\n"
        for name, size, opening, filtering, sorting in pages
    )
    return _SECTION + (_HEAD + "".join(rows) if pages else _NOWHERE)


def main(vms: int = VMS) -> None:
    """Print a row of each page."""
    print(f"{vms:,} VMs  bytes  opening ms  filter ms  sort ms")
    for page in figures(vms):
        times = (page.opening, page.filtering, page.sorting)
        print(f"{page.name:9}  {page.size:,}  " + "  ".join(f"{each:,.0f}" for each in times))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
