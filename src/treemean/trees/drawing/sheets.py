"""Several trees on one sheet: runs beside one another, sentences below one another.

A sheet is a list of rows, one for each sentence; a row is a list of panels, one for each run. Without names
and headings, a sheet of one panel is just the drawing of its tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from treemean.trees.drawing import captions
from treemean.trees.drawing.comparison import TreeComparison
from treemean.trees.drawing.metrics import columns, ems
from treemean.trees.drawing.svg import draw_svg
from treemean.trees.drawing.text import draw
from treemean.trees.tree import Tree

_ANSI = re.compile(r"\033\[[0-9;]*m")
_SVG = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
_COLUMNS_BETWEEN = 4
# Of the headings of a picture, in units of the font size.
_LINE = 1.9
_BASELINE = 1.3
_MARGIN = 1.1
_BETWEEN = 1.5  # neighbouring panels, beside their own margins


@dataclass(frozen=True)
class Panel:
    """One tree of a sheet.

    Parameters
    ----------
    tree : what is drawn.
    name : of the run that the tree is from; stands above it.
    gold : what the tree is compared with, see `draw`.
    """

    tree: Tree
    name: str = ""
    gold: Tree | TreeComparison | None = None


@dataclass(frozen=True)
class Row:
    """Panels that stand beside one another, with a heading for all."""

    panels: Sequence[Panel]
    heading: str = ""


# ---- text -------------------------------------------------------------------------------------------


def draw_sheet(
    rows: Sequence[Row],
    *,
    color: bool = False,
    tags: bool = True,
    functions: bool = False,
    values: str | None = None,
    max_width: int | None = None,
) -> str:
    """Draw a sheet as lines of text.

    Parameters
    ----------
    rows : what is on the sheet.
    max_width : in columns; as many panels stand beside one another as fit, the next ones below them.
    color, tags, functions, values : see `draw`; trees without the named value are drawn without it, unless
        all are.

    >>> tree = Tree(["go", "on"], [({0, 1}, "VP")])
    >>> print(draw_sheet([Row([Panel(tree, "a"), Panel(tree, "b")], "sentence 1")]))
    sentence 1
    <BLANKLINE>
    a        b
     VP       VP
    ┌┴─┐     ┌┴─┐
    go on    go on
    """
    blocks = []
    for row in rows:
        blocks += [captions.printable(row.heading)] * bool(row.heading)
        named = any(panel.name for panel in row.panels)
        cells = [
            [captions.printable(panel.name)] * named
            + draw(
                panel.tree,
                gold=panel.gold,
                color=color,
                tags=tags,
                functions=functions,
                values=_values_of(panel, rows, values),
                max_width=max_width,
            ).split("\n")
            for panel in row.panels
        ]
        blocks += ["\n".join(_beside(group)) for group in _groups(cells, max_width)]
    return "\n\n".join(blocks)


def _values_of(panel: Panel, rows: Sequence[Row], values: str | None) -> str | None:
    """Return the name of the values if the panel has them, or no panel has them (which is reported later)."""
    if values is None or _has(panel, values):
        return values
    return None if any(_has(other, values) for row in rows for other in row.panels) else values


def _has(panel: Panel, values: str) -> bool:
    return any(values in c.values for c in panel.tree.constituents)


def _groups(cells: list[list[str]], max_width: int | None) -> Iterator[list[list[str]]]:
    """Yield the drawings that fit beside one another, at least one at a time."""
    group: list[list[str]] = []
    used = 0
    for cell in cells:
        width = _width(cell)
        if group and max_width is not None and used + _COLUMNS_BETWEEN + width > max_width:
            yield group
            group, used = [], 0
        used += width + _COLUMNS_BETWEEN * bool(group)
        group.append(cell)
    if group:
        yield group


def _beside(cells: list[list[str]]) -> Iterator[str]:
    widths = [_width(cell) for cell in cells]
    for index in range(max(map(len, cells))):
        line = ""
        for cell, width in zip(cells, widths, strict=True):
            text = cell[index] if index < len(cell) else ""
            line += text + " " * (width - _columns(text) + _COLUMNS_BETWEEN)
        yield line.rstrip()


def _width(cell: list[str]) -> int:
    return max(map(_columns, cell))


def _columns(line: str) -> int:
    return columns(_ANSI.sub("", line))


# ---- SVG --------------------------------------------------------------------------------------------


def draw_sheet_svg(
    rows: Sequence[Row],
    *,
    tags: bool = True,
    functions: bool = False,
    values: str | None = None,
    font_size: float = 14,
) -> str:
    """Draw a sheet as an SVG document: a picture that holds the pictures of its trees (see `draw_svg`).

    Parameters
    ----------
    rows : what is on the sheet.
    tags, functions, values, font_size : see `draw_svg`; trees without the named value are drawn without it,
        unless all are.

    >>> tree = Tree(["go", "on"], [({0, 1}, "VP")])
    >>> draw_sheet_svg([Row([Panel(tree, "a"), Panel(tree, "b")])]).count("<svg ")
    3
    """
    options: dict[str, Any] = {"tags": tags, "functions": functions, "font_size": font_size}
    if len(rows) == 1 and len(rows[0].panels) == 1 and not rows[0].heading and not rows[0].panels[0].name:
        [panel] = rows[0].panels
        return draw_svg(panel.tree, gold=panel.gold, values=values, **options)
    elements: list[str] = []
    right = y = 0.0
    for row in rows:
        x = 0.0
        if row.heading:
            elements.append(_line(row.heading, _MARGIN * font_size, y, font_size, "start"))
            right = max(right, (2 * _MARGIN + ems(row.heading) * 1.1) * font_size)
            y += _LINE * font_size
        named = _LINE * font_size * any(panel.name for panel in row.panels)
        bottom = y
        for panel in row.panels:
            picture = draw_svg(panel.tree, gold=panel.gold, values=_values_of(panel, rows, values), **options)
            size = _SVG.match(picture)
            assert size is not None  # that is how draw_svg begins
            width, height = float(size[1]), float(size[2])
            space = max(width, (ems(panel.name) * 1.1 + _MARGIN) * font_size)
            if panel.name:
                elements.append(_line(panel.name, x + space / 2, y, font_size, "middle"))
            place = f'<svg x="{x + (space - width) / 2:.2f}" y="{y + named:.2f}" '
            elements.append(picture.replace("<svg ", place, 1).rstrip())
            right, bottom = max(right, x + space), max(bottom, y + named + height)
            x += space + _BETWEEN * font_size
        y = bottom
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="treemean-tree" role="img" '
            f'viewBox="0 0 {right:.2f} {y:.2f}" width="{right:.2f}" height="{y:.2f}" '
            f'font-family="{_fonts(elements)}" font-size="{font_size:g}">',
            f"<title>{escape(captions.printable(_title(rows)))}</title>",
            f'<rect class="paper" width="{right:.2f}" height="{y:.2f}" rx="6"/>',
            *elements,
            "</svg>\n",
        ]
    )


def _line(text: str, x: float, top: float, font_size: float, anchor: str) -> str:
    return (
        f'<text class="name" x="{x:.2f}" y="{top + _BASELINE * font_size:.2f}" text-anchor="{anchor}" '
        f'font-weight="600">{escape(captions.printable(text))}</text>'
    )


def _fonts(elements: Sequence[str]) -> str:
    """Return the fonts of the trees, so that names are written in the same."""
    return next(found[1] for element in elements if (found := re.search(r'font-family="([^"]*)"', element)))


def _title(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(panel.name for row in rows for panel in row.panels if panel.name))
    trees = sum(len(row.panels) for row in rows)
    return f"{trees} trees" + (f" of {', '.join(names)}" if names else "")
