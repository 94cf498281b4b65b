"""Make docs/diff.svg, the picture of the README: an edit of the demo, and what `virt-render diff` says of it.

Usage: python -m scripts.make_picture

Text on a terminal, light or dark as the reader's page is; as narrow as a telephone, and folded where it does not fit.
"""

import re
import subprocess
import tempfile
import textwrap
from html import escape
from pathlib import Path

from scripts import demo

TARGET = Path(__file__).resolve().parents[1] / "docs" / "diff.svg"
COLUMNS, WIDTH, HEIGHT, MARGIN = 62, 8.43, 20, 18
STYLE = """\
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #1f2328 }
  .page { fill: #ffffff; stroke: #d1d9e0 }
  .typed { font-weight: 600 }
  .gone { fill: #b42318 } .new { fill: #1a7f37 } .worst { fill: #9a6700; font-weight: 600 } .said { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .page { fill: #0d1117; stroke: #3d444d }
    .gone { fill: #ff7b72 } .new { fill: #3fb950 } .worst { fill: #d29922 } .said { fill: #9198a1 }
  }
"""


def review_lines(folder: Path) -> list[str]:
    """The lines on the terminal: the edit, the command, and what it prints."""
    shop = demo.open_shop(folder)
    demo.fix_conflict(shop)
    command = ["git", "-C", str(shop), "diff", "--unified=0"]
    edited = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    changes = [line for line in edited.splitlines() if re.match(r"[-+] ", line)]
    text = demo.run(shop, *demo.REVIEW).splitlines()
    text = text[: next(n for n, line in enumerate(text) if line.startswith("assumed:"))]
    # The commit of the demo is made anew each time, and says nothing.
    text = [re.sub(r"^[0-9a-f]{10} ", "HEAD ", line) for line in text]
    return [
        f"# {demo.SIZES}",
        *changes,
        "",
        f"$ virt-render {' '.join(demo.REVIEW)}",
        *text[:-1],
    ]


def kind(line: str) -> str:
    """The class of a line: what it is, for its colour."""
    for pattern, name in (
        (r"\$ ", "typed"),
        (r"- ", "gone"),
        (r"\+ ", "new"),
        (r"(refused|error|stop|restart|migrate|recreate)\b", "worst"),
        (r"# |  \d+ ", "said"),
    ):
        if re.match(pattern, line):
            return name
    return ""


def folded(line: str) -> list[str]:
    """*line* on as many as it takes: where a change ends and its place begins, then between words."""
    change, _, place = line.rstrip().rpartition("  ")
    is_placed = len(line) > COLUMNS and re.search(r":\d+", place) and change.strip()
    parts = [change, f"    {place}"] if is_placed else [line]
    return [
        row
        for part in parts
        for row in textwrap.wrap(
            part, COLUMNS, subsequent_indent=f"{_indent(part)}    ",
            drop_whitespace=True, replace_whitespace=False, break_on_hyphens=False,
        ) or [""]
    ]  # fmt: skip


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def drawn(lines: list[str]) -> str:
    """*lines* as an SVG."""
    rows_of = [(part, kind(line)) for line in lines for part in folded(line)]
    wide, high = round(COLUMNS * WIDTH + 2 * MARGIN), len(rows_of) * HEIGHT + 2 * MARGIN
    rows = []
    for number, (line, name) in enumerate(rows_of):
        if not line:
            continue
        described = f' class="{name}"' if name else ""
        indent = len(line) - len(line.lstrip())
        place = f'x="{MARGIN + indent * WIDTH:.2f}" y="{MARGIN + HEIGHT * number + 14}"'
        # As long in any font: who has another one reads no line that is cut.
        fitted = f' textLength="{len(line[indent:]) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
        rows.append(f"<text {place}{fitted}{described}>{escape(line[indent:])}</text>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" viewBox="0 0 {wide} {high}" role="img">\n'
        "<title>virt-render diff names the VM that an edited instancetype restarts</title>\n"
        f"<style>\n{STYLE}</style>\n"
        f'<rect class="page" x=".5" y=".5" width="{wide - 1}" height="{high - 1}" rx="8"/>\n'
        + "\n".join(rows)
        + "\n</svg>\n"
    )


def picture() -> str:
    """The picture of what the demo says now."""
    with tempfile.TemporaryDirectory() as folder:
        return drawn(review_lines(Path(folder)))


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
