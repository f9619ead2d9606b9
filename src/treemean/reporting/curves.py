"""Curves as SVG for web pages: several lines over the same axes, without scripts and without matplotlib."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

#: Told apart by colour-blind people, too (Okabe and Ito); beyond eight lines they begin anew, dashed.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f")
_WIDTH, _HEIGHT = 560, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 14, 40
#: About so many numbers stand along an axis, and so many points make a line.
_TICKS, _POINTS = 5, 400

Points = Sequence[tuple[float, float]]


def curves_svg(
    lines: Mapping[str, Points],
    *,
    x: str,
    y: str,
    log: bool = False,
    marked: Mapping[str, float] | None = None,
) -> str:
    """Return a picture of lines by name; points that are not finite are left out.

    Parameters
    ----------
    x, y : what the axes are called.
    log : whether the y axis is logarithmic; points of 0 or less are left out then.
    marked : for lines, the x of a point to be marked.
    """
    shown = {
        name: [(a, b) for a, b in points if math.isfinite(a) and math.isfinite(b) and (b > 0 or not log)]
        for name, points in lines.items()
    }
    everything = [point for points in shown.values() for point in points]
    if not everything:
        return '<p class="nothing">Nothing was measured yet.</p>'
    across = _Axis([a for a, _ in everything], _LEFT, _WIDTH - _RIGHT, log=False)
    up = _Axis([b for _, b in everything], _HEIGHT - _BOTTOM, _TOP, log=log)
    parts = [f'<svg class="curves" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(y)}">']
    for value in up.ticks():
        place = up.place(value)
        parts.append(f'<path class="grid" d="M{_LEFT} {place:.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(_text(_LEFT - 6, place + 4, _short(value), "end"))
    for value in across.ticks():
        parts.append(_text(across.place(value), _HEIGHT - _BOTTOM + 16, _short(value), "middle"))
    parts.append(f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}"/>')
    parts.append(_text((_LEFT + _WIDTH) / 2, _HEIGHT - 6, x, "middle"))
    for number, (name, points) in enumerate(shown.items()):
        parts += _line(name, points, number, across, up, (marked or {}).get(name))
    return "".join([*parts, "</svg>"])


def legend_html(names: Sequence[str]) -> str:
    """Return which colour belongs to which line."""
    entries = []
    for number, name in enumerate(names):
        line = f"3px {'dashed' if number >= len(COLOURS) else 'solid'} {_colour(number)}"
        entries.append(f'<span><i style="border-top: {line}"></i>{escape(name)}</span>')
    return f'<p class="legend">{"".join(entries)}</p>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(
    name: str, points: Points, number: int, across: _Axis, up: _Axis, marked: float | None
) -> list[str]:
    if not points:
        return []
    thin = _thinned(points)
    path = "L".join(f"{across.place(a):.1f} {up.place(b):.1f}" for a, b in thin)
    dashes = ' stroke-dasharray="5 4"' if number >= len(COLOURS) else ""
    style = f'stroke="{_colour(number)}"{dashes}'
    parts = [f'<path class="line" d="M{path}" {style}><title>{escape(name)}</title></path>']
    dots = thin if len(thin) <= 40 else []
    for a, b in dots:
        title = f"{escape(name)}: {_short(b)} at {_short(a)}"
        size = 5 if marked == a else 2.2
        parts.append(
            f'<circle cx="{across.place(a):.1f}" cy="{up.place(b):.1f}" r="{size}" fill="{_colour(number)}">'
            f"<title>{title}</title></circle>"
        )
    return parts


def _thinned(points: Points) -> Points:
    """Return means of neighbouring points, if there are too many."""
    step = math.ceil(len(points) / _POINTS)
    groups = [points[start : start + step] for start in range(0, len(points), step)]
    return [(group[-1][0], sum(b for _, b in group) / len(group)) for group in groups]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


class _Axis:
    """From values to places, from the least value at `start` to the largest at `end`."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, log: bool) -> None:
        self._log, self._start, self._end = log, start, end
        low, high = (self._scaled(value) for value in (min(values), max(values)))
        if high == low:
            low, high = low - 0.5, high + 0.5
        self._low, self._high = low, high

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def place(self, value: float) -> float:
        share = (self._scaled(value) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        """Return round numbers within the axis."""
        if self._log:
            powers = range(math.floor(self._low), math.ceil(self._high) + 1)
            found = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
            inside = [value for value in found if self._low <= math.log10(value) <= self._high]
            if len(inside) >= 2:
                return inside[:: math.ceil(len(inside) / (_TICKS + 2))]
        low, high = (10**v if self._log else v for v in (self._low, self._high))
        rough = (high - low) / _TICKS
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
        first = math.ceil(low / step - 1e-9)
        return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _short(value: float) -> str:
    """Return a number in few characters.

    >>> _short(1500.0), _short(0.25), _short(12.0), _short(3e-5)
    ('1,500', '0.25', '12', '3e-05')
    """
    if value and (abs(value) < 0.001 or abs(value) >= 1e7):
        return f"{value:.2g}"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
