"""Make docs/benchmarks.svg of the figures in docs/benchmarks.md: a log-log plot, without a library.

Usage: python -m scripts.bench.plot
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
TARGET = FIGURES.with_suffix(".svg")
#: What is drawn, under the names of the table.
TOOLS = ("virt-render", "kustomize", "sigs.k8s.io/yaml")
_ROW = re.compile(
    r"^\| ([\d,]+) VMs?(?: and its 2 resources|, one file each) \| ([^|]+) \| ([\d.]+) \|",
    re.MULTILINE,
)
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 640, 420, 70, 50, 60, 30
_DASHES = ("", "", "6 4")
STYLE = """\
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .page { fill: #ffffff }
  .grid { stroke: #d1d9e0 }
  .line { fill: none; stroke-width: 2 }
  .c0 { stroke: #1f5fbf } .c1 { stroke: #c2410c } .c2 { stroke: #4d7c0f }
  .f0 { fill: #1f5fbf } .f1 { fill: #c2410c } .f2 { fill: #4d7c0f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .page { fill: #0d1117 }
    .grid { stroke: #3d444d }
    .c0 { stroke: #79c0ff } .c1 { stroke: #ffa657 } .c2 { stroke: #7ee787 }
    .f0 { fill: #79c0ff } .f1 { fill: #ffa657 } .f2 { fill: #7ee787 }
  }
"""


def picture(figures: str) -> str:
    """The plot of *figures*, the text of docs/benchmarks.md."""
    rows = [
        (tool, (float(vms.replace(",", "")), float(cpu)))
        for vms, tool, cpu in _ROW.findall(figures)
    ]
    lines = {tool: [point for name, point in rows if name == tool] for tool in TOOLS}
    title = "CPU time to build a tree of VirtualMachines"
    return log_log(title, ("VMs, one file each", "CPU seconds"), lines)


def log_log(
    title: str, axes: tuple[str, str], lines: Mapping[str, Sequence[tuple[float, float]]]
) -> str:
    """*lines* by name, each a list of points above zero; *axes* are the captions of x and y."""
    points = [point for line in lines.values() for point in line]
    left, right = _decades([x for x, _ in points])
    low, high = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - left) / (right - left)
        up = (math.log10(y) - low) / (high - low)
        wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return round(_LEFT + across * wide, 1), round(_HEIGHT - _BOTTOM - up * tall, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{title}</title>",
        f"<style>\n{STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text x="{_LEFT}" y="20">{title}</text>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 15}" text-anchor="middle">{axes[0]}</text>',
        f'<text transform="translate(16 {_HEIGHT / 2}) rotate(-90)">{axes[1]}</text>',
    ]
    for decade in range(left, right + 1):
        x, y = place(10**decade, 10**low)
        parts.append(f'<path d="M{x} {y}V{_TOP}" class="grid"/>')
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{_number(decade)}</text>')
    for decade in range(low, high + 1):
        x, y = place(10**left, 10**decade)
        parts.append(f'<path d="M{x} {y}H{_WIDTH - _RIGHT}" class="grid"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{_number(decade)}</text>')
    for index, (name, line) in enumerate(lines.items()):
        route = " ".join(f"{x},{y}" for x, y in (place(*point) for point in line))
        parts.append(
            f'<polyline points="{route}" class="line c{index}" stroke-dasharray="{_DASHES[index]}"/>'
        )
        for point in line:
            x, y = place(*point)
            parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" class="f{index}"/>')
        x = _LEFT + 10 + index * 145
        parts.append(f'<text x="{x}" y="38" class="f{index}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around *values*."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _number(decade: int) -> str:
    return f"{10**decade:,}" if decade >= 0 else f"{10.0**decade:.{-decade}f}"


if __name__ == "__main__":
    TARGET.write_text(picture(FIGURES.read_text(encoding="utf-8")), encoding="utf-8")
