"""Trees as PNG and PDF, drawn with matplotlib (the extra `plots`)."""

from __future__ import annotations

import io
import math
import re
import warnings
from typing import TYPE_CHECKING, Any, Literal

from treemean.errors import MissingDependency, TreemeanError
from treemean.trees.drawing.picture import Picture, Stroke, Text, read_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PIXELS_PER_INCH = 96
_POINTS_PER_PIXEL = 72 / _PIXELS_PER_INCH
_DPI = 2 * _PIXELS_PER_INCH
_MOST_PIXELS = 1 << 16
# The first one comes with matplotlib; the others, where they are installed, have what it lacks.
_FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Arial Unicode MS",
)
_MISSING_GLYPH = re.compile(r"Glyph (\d+) .*missing from font")


def image_of_svg(svg: str, format: Literal["png", "pdf"]) -> bytes:
    """Return a document of `draw_svg` or `draw_sheet_svg` as a PNG or PDF file; the same bytes each time.

    Raises `MissingDependency` if matplotlib is not installed, `TreemeanError` if no font has a character.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    settings: dict[Any, Any] = {
        "font.family": [name for name in _FONTS if name in installed],
        "pdf.fonttype": 42,  # whole fonts, from which text can be copied
    }
    picture = read_picture(svg)
    _check_size(picture, format)
    target = io.BytesIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure = _figure(picture)
        stamp: dict[str, Any] = {"CreationDate": None} if format == "pdf" else {}
        figure.savefig(target, format=format, dpi=_DPI, metadata=stamp)
    missing = {found[1] for w in caught if (found := _MISSING_GLYPH.match(str(w.message)))}
    if missing:
        characters = " ".join(chr(int(code)) for code in sorted(missing, key=int)[:10])
        raise TreemeanError(
            f"no font of matplotlib has {characters}: install one that does, such as Noto Sans CJK, "
            "or draw SVG"
        )
    return target.getvalue()


def _check_size(picture: Picture, format: str) -> None:
    """Raise `TreemeanError` if matplotlib cannot draw a picture of this size."""
    scale = _DPI / _PIXELS_PER_INCH if format == "png" else 1  # texts of a PDF are measured in pixels, too
    width, height = (math.ceil(scale * length) for length in (picture.width, picture.height))
    if max(width, height) >= _MOST_PIXELS:
        raise TreemeanError(
            f"a picture of {width} by {height} pixels is too large for {format.upper()}: "
            "draw fewer trees, or SVG"
        )


def check_matplotlib() -> None:
    """Raise `MissingDependency` if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            "PNG and PDF are drawn with matplotlib: pip install 'treemean[plots]'"
        ) from error


def _figure(picture: Picture) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = picture.width / _PIXELS_PER_INCH, picture.height / _PIXELS_PER_INCH
    figure = Figure(figsize=size, dpi=_PIXELS_PER_INCH, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(picture.left, picture.left + picture.width)
    axes.set_ylim(picture.top + picture.height, picture.top)
    for stroke in picture.strokes:
        axes.add_patch(_patch(stroke))
    for text in picture.texts:
        _write(axes, canvas.get_renderer(), text, picture.font_size)  # type: ignore[no-untyped-call]
    return figure


def _patch(stroke: Stroke) -> Any:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = {"move": [Path.MOVETO], "line": [Path.LINETO], "curve": [Path.CURVE3, Path.CURVE3]}
    width = stroke.width * _POINTS_PER_PIXEL
    dashes = tuple(length * _POINTS_PER_PIXEL / width for length in stroke.dashes)  # in units of the width
    return PathPatch(
        Path(
            [point for _, points in stroke.steps for point in points],
            [code for kind, _ in stroke.steps for code in codes[kind]],
        ),
        fill=False,
        edgecolor=stroke.color,
        linewidth=width,
        alpha=stroke.opacity,
        linestyle=(0, dashes) if dashes else "solid",
        capstyle="round",
    )


def _write(axes: Any, renderer: Any, text: Text, font_size: float) -> None:
    """Write the pieces of a text after one another, where the first one begins so that all are centred."""
    pieces = [
        axes.text(
            text.x,
            text.y,
            run.text,
            color=run.color,
            fontsize=run.size * font_size * _POINTS_PER_PIXEL,
            fontweight="bold" if run.bold else "normal",
            ha="left",
            va="baseline",
            parse_math=False,
        )
        for run in text.runs
    ]
    widths = [piece.get_window_extent(renderer).width for piece in pieces]  # in pixels, as the picture
    x = text.x - (sum(widths) / 2 if text.anchor == "middle" else 0)
    for piece, width in zip(pieces, widths, strict=True):
        piece.set_x(x)
        x += width
