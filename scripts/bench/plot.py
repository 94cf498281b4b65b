"""A log-log plot as SVG, without a library."""

import math
from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 640, 420, 70, 50, 60, 20
_COLOURS = ("#1f5fbf", "#c2410c", "#4d7c0f", "#7c3aed")
_DASHES = ("", "", "6 4", "6 4")


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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="20">{title}</text>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 15}" text-anchor="middle">{axes[0]}</text>',
        f'<text transform="translate(16 {_HEIGHT / 2}) rotate(-90)">{axes[1]}</text>',
    ]
    for decade in range(left, right + 1):
        x, y = place(10**decade, 10**low)
        parts.append(f'<path d="M{x} {y}V{_TOP}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{_number(decade)}</text>')
    for decade in range(low, high + 1):
        x, y = place(10**left, 10**decade)
        parts.append(f'<path d="M{x} {y}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{_number(decade)}</text>')
    for index, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[index]
        route = " ".join(f"{x},{y}" for x, y in (place(*point) for point in line))
        parts.append(
            f'<polyline points="{route}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{_DASHES[index]}"/>'
        )
        for point in line:
            x, y = place(*point)
            parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>')
        x = _LEFT + 10 + index * 145
        parts.append(f'<text x="{x}" y="38" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around *values*."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _number(decade: int) -> str:
    return f"{10**decade:,}" if decade >= 0 else f"{10.0**decade:.{-decade}f}"
