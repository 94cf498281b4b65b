"""How long the pages of a large fleet take in a browser: ``python -m scripts.bench.pages [VMS]``; writes nothing.

Wall clock of headless Chromium (`apt-get install chromium-headless-shell`): opening, until the first frame behind the
load event; a word in the filter, and a sort by memory, each until the next frame. The best of some, since others may
use the machine too.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts.bench import fleet
from scripts.bench.fleet import Tree
from tests.support import browser

TRIES = 5
_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
_TIMED = f"(async () => {{ const t = performance.now(); %s; await {_FRAME}; return performance.now() - t; }})()"
_FILTER = _TIMED % (
    "const f = document.querySelector('#name'); f.value = f.value ? '' : 'vm-0001'; "
    "f.dispatchEvent(new Event('input', {bubbles: true}))"
)
_SORT = _TIMED % "document.querySelectorAll('#fleet thead button')[%d].click()"
_OPENED = f"(async () => {{ await {_FRAME}; return performance.now(); }})()"


def measured(page: browser.Page, file: Path, column: int) -> tuple[float, float, float]:
    """Milliseconds of opening *file*, of filtering by name, and of sorting by *column*."""

    def best(work: Callable[[], float]) -> float:
        return min(work() for _ in range(TRIES))

    def opened() -> float:
        page.open(file)
        milliseconds: float = page.run(_OPENED)
        return milliseconds

    return best(opened), best(lambda: page.run(_FILTER)), best(lambda: page.run(_SORT % column))


def main(vms: int = 2000) -> None:
    """Make both pages of a fleet, the second of a change that reaches all its VMs, and print a row of each."""
    print(f"{vms:,} VMs  bytes  opening ms  filter ms  sort ms")
    with tempfile.TemporaryDirectory() as folder:
        base, head, home = (Path(folder, name) for name in ("base", "head", "profile"))
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
            with browser.page(home) as page:
                times = measured(page, out, columns[name])
            print(f"{name:9}  {out.stat().st_size:,}  " + "  ".join(f"{one:,.0f}" for one in times))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
