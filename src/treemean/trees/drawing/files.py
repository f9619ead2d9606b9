"""What goes into a file of a drawing, as the end of its name tells."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from treemean.errors import InvalidOption
from treemean.names import DrawingFormat
from treemean.trees.drawing.images import check_matplotlib, image_of_svg
from treemean.trees.drawing.sheets import Row, draw_sheet, draw_sheet_svg
from treemean.trees.drawing.tikz import tikz_of_svg


def drawing_format(path: str | os.PathLike[str]) -> DrawingFormat:
    """Return the format that the name of a drawing tells.

    Raises `InvalidOption` for an unknown ending, `MissingDependency` if what draws it is not installed.

    >>> drawing_format("tree.SVG")
    'svg'
    """
    ending = Path(path).suffix.removeprefix(".").lower()
    known = get_args(DrawingFormat)
    if ending not in known:
        told = f"not .{ending}" if ending else "this name has no ending"
        raise InvalidOption(
            f"{os.fspath(path)}: drawings end in {', '.join(f'.{name}' for name in known)}; {told}"
        )
    if ending in ("png", "pdf"):
        check_matplotlib()
    return cast(DrawingFormat, ending)


def draw_as(
    rows: Sequence[Row],
    format: DrawingFormat,
    *,
    tags: bool = True,
    functions: bool = False,
    values: str | None = None,
    color: bool = False,
) -> bytes:
    """Return the content of a file with a sheet; see `draw_sheet` (for `color`) and `draw_sheet_svg`."""
    if format == "txt":
        text = draw_sheet(rows, color=color, tags=tags, functions=functions, values=values)
    else:
        text = draw_sheet_svg(rows, tags=tags, functions=functions, values=values)
        if format == "png" or format == "pdf":
            return image_of_svg(text, format)
        if format == "tex":
            text = tikz_of_svg(text)
    return (text.rstrip("\n") + "\n").encode()
