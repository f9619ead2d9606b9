"""Charts of the report as inline SVG; the style sheet of the page gives them their colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treemean.reporting.html.markup import Markup, element

#: All charts are as wide as this; the page makes them smaller where it is narrow.
WIDTH = 480
_TOP, _RIGHT, _BOTTOM, _LEFT = 16, 14, 34, 40
_HEIGHT = 260  # of a chart of lines
_NAME = 15  # letters of a name that stands beside a chart


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Parameters
    ----------
    name : what it is, shown when the pointer is on it.
    points : pairs of x and y.
    kind : `main` for the one that matters, `other` for those around it, `guide` for what is no data.
    marked : the points that are drawn larger.
    """

    name: str
    points: Sequence[tuple[float, float]]
    kind: str = "other"
    marked: Sequence[int] = ()


def _chart(*parts: Markup, height: float, title: str, width: float = WIDTH) -> Markup:
    return element(
        "svg",
        *parts,
        class_="chart",
        role="img",
        aria_label=title,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def _text(x: float, y: float, text: str, kind: str = "tick", anchor: str = "middle") -> Markup:
    return element("text", text, class_=kind, x=float(x), y=float(y), text_anchor=anchor)


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers that begin at or below `low` and end at or above `high`.

    >>> nice_ticks(3, 47)
    [0, 10, 20, 30, 40, 50]
    """
    raw = max(high - low, 1e-9) / (most - 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next((factor * power for factor in (1, 2, 5) if factor * power >= raw * (1 - 1e-9)), 10 * power)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def line_chart(
    lines: Sequence[Line],
    *,
    title: str,
    x: str,
    y: str,
    ticks: Mapping[float, str] | None = None,
    least: float | None,
) -> Markup:
    """Draw lines over a common axis.

    Parameters
    ----------
    x, y : what the axes show.
    ticks : what stands at places of the x axis; round numbers if not given.
    least : where the y axis begins at the latest.
    """
    xs = [place for line in lines for place, _ in line.points]
    ys = [value for line in lines for _, value in line.points]
    shown_x = dict(ticks) if ticks is not None else {t: f"{t:g}" for t in nice_ticks(min(xs), max(xs))}
    shown_y = nice_ticks(min(*ys, *([] if least is None else [least]), max(ys)), max(ys), 5)
    low_x, high_x = min(*xs, *shown_x), max(*xs, *shown_x)
    if ticks is not None:  # names stand in the middle of their places
        low_x, high_x = low_x - 0.4, high_x + 0.4
    inner = (WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM)

    def at(place: float, value: float) -> tuple[float, float]:
        across = (place - low_x) / ((high_x - low_x) or 1)
        up = (value - shown_y[0]) / ((shown_y[-1] - shown_y[0]) or 1)
        return _LEFT + across * inner[0], _TOP + (1 - up) * inner[1]

    parts = []
    for value in shown_y:
        _, level = at(low_x, value)
        parts.append(element("path", class_="grid", d=f"M {_LEFT} {level:.1f} H {WIDTH - _RIGHT}"))
        parts.append(_text(_LEFT - 7, level + 4, f"{value:g}", anchor="end"))
    for place, name in shown_x.items():
        parts.append(_text(at(place, shown_y[0])[0], _HEIGHT - _BOTTOM + 16, name))
    parts += [_text(_LEFT + inner[0] / 2, _HEIGHT - 3, x, "axis"), _text(2, 10, y, "axis", "start")]
    for line in sorted(lines, key=lambda line: {"guide": 0, "other": 1, "main": 2}[line.kind]):
        points = [at(*point) for point in line.points]
        path = "M " + " L ".join(f"{a:.1f} {b:.1f}" for a, b in points)
        dots = [
            element(
                "circle",
                element("title", f"{line.name}: {line.points[number][1]:.2f}"),
                class_="dot marked" if number in line.marked else "dot",
                cx=a,
                cy=b,
                r=4.0 if number in line.marked else 2.6,
            )
            for number, (a, b) in enumerate(points)
            if line.kind == "main" or number in line.marked
        ]
        parts.append(
            element(
                "g", element("title", line.name), element("path", d=path), *dots, class_=f"line {line.kind}"
            )
        )
    return _chart(*parts, height=_HEIGHT, title=title)


def range_chart(
    rows: Sequence[tuple[str, str, float, Sequence[float]]], *, title: str, x: str, main: str
) -> Markup:
    """Draw for every row a value and the range of others around it, from 0 to 100.

    Parameters
    ----------
    rows : name, what stands behind the name, the value, and the others.
    main : what the value is.
    """
    left, pitch, top = 118, 24, 8
    height = top + pitch * len(rows) + 36
    inner = WIDTH - left - _RIGHT

    def at(value: float) -> float:
        return left + inner * value / 100

    bottom = top + pitch * len(rows)
    parts = []
    for tick in range(0, 101, 20):
        parts.append(element("path", class_="grid", d=f"M {at(tick):.1f} {top} V {bottom}"))
        parts.append(_text(at(tick), bottom + 15, str(tick)))
    parts.append(_text(left + inner / 2, height - 3, x, "axis"))
    for place, (name, more, value, others) in enumerate(rows):
        y = top + pitch * (place + 0.5)
        parts.append(_text(left - 46, y + 4, _short(name), "name", "end"))
        parts.append(_text(left - 8, y + 4, more, "tick", "end"))
        marks = [element("title", f"{name}: {main} {value:.1f}" + _range(others))]
        if others:
            marks.append(
                element("path", class_="span", d=f"M {at(min(others)):.1f} {y} H {at(max(others)):.1f}")
            )
            marks += [element("circle", class_="other", cx=at(other), cy=y, r=2.2) for other in others]
        marks.append(element("circle", class_="value", cx=at(value), cy=y, r=5.0))
        parts.append(element("g", *marks, class_="range"))
    return _chart(*parts, height=height, title=title)


def _range(others: Sequence[float]) -> str:
    return f"; runs {min(others):.1f} to {max(others):.1f}" if others else ""


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def heat_map(names: Sequence[str], values: Sequence[Sequence[float]], *, title: str) -> Markup:
    """Draw a square of percentages between things with names; NaN is shown as a dash."""
    count = len(names)
    pairs = [values[a][b] for a in range(count) for b in range(count) if a != b]
    known = [value for value in pairs if not math.isnan(value)]
    low = 5 * math.floor(min(known, default=0.0) / 5)
    high = max(low + 5.0, 5 * math.ceil(max(known, default=100.0) / 5))
    margin = 14 + 6.6 * min(_NAME, max(map(len, names)))
    cell = min(44.0, (WIDTH - margin - 8) / count)
    width = margin + cell * count + 8
    numbers = cell >= 25
    parts = []
    for row, name in enumerate(names):
        y = cell * row + 4
        parts.append(_text(margin - 6, y + cell / 2 + 4, _short(name), "name", "end"))
        for column, value in enumerate(values[row]):
            told = "–" if math.isnan(value) else "100" if value == 100 else f"{value:.1f}"
            step = 0 if math.isnan(value) else min(9, max(0, int(10 * (value - low) / (high - low))))
            x = margin + cell * column
            square = [
                element("title", f"{name} and {names[column]}: {told}"),
                element(
                    "rect",
                    class_="self" if row == column else f"heat-{step}",
                    x=x + 0.75,
                    y=y + 0.75,
                    width=cell - 1.5,
                    height=cell - 1.5,
                    rx=3,
                ),
            ]
            if numbers and row != column:
                square.append(_text(x + cell / 2, y + cell / 2 + 3.6, told.split(".")[0], "cell"))
            parts.append(element("g", *square))
    height = cell * count + 8
    for column, name in enumerate(names):
        parts.append(_text(margin + cell * (column + 0.5), height + 12, _column_name(name, column, cell)))
    return _chart(*parts, height=height + 20, title=title, width=max(width, 260))


def _column_name(name: str, column: int, cell: float) -> str:
    return name if len(name) * 6.2 <= cell else str(column + 1)
