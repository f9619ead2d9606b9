"""Figures, drawn with matplotlib (the extra `plots`); the same data give the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treemean.errors import InvalidOption, MissingDependency, TreemeanError

FORMATS = ("svg", "png", "pdf")

#: Where the points of a line are, and perhaps how far each of them spreads upwards and downwards.
Line = tuple[Sequence[float], Sequence[float]] | tuple[Sequence[float], Sequence[float], Sequence[float]]


def check_figure(path: str | os.PathLike[str]) -> str:
    """Return the format that the name of a figure tells; raise an error if it could not be drawn there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependency("figures are drawn with matplotlib: pip install 'treemean[plots]'") from error
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise InvalidOption(f"{os.fspath(path)}: figures are {', '.join(FORMATS)}, not {ending or 'nothing'}")
    if not Path(path).absolute().parent.is_dir():
        raise TreemeanError(f"{os.fspath(path)}: there is no such folder")
    return ending


@contextmanager
def figure_to(path: str | os.PathLike[str], panels: int = 1, **options: Any) -> Iterator[Any]:
    """Give the axes of a new figure (one, or a list for several panels), and write it when the block ends.

    The name's ending tells the format: svg, png or pdf.
    """
    ending = check_figure(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from treemean.formats.source import open_output

    size = options.pop("figsize", (5.0 * panels, 3.8))
    with matplotlib.rc_context(
        {"svg.hashsalt": "treemean", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    ):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, panels, squeeze=False, **options)[0]
        yield axes[0] if panels == 1 else list(axes)
        stamp = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[ending]
        with open_output(path) as stream:
            figure.savefig(stream, format=ending, dpi=150, metadata=stamp)


def draw_trade_off(
    points: Sequence[Mapping[str, Any]], path: str | os.PathLike[str], *, title: str = ""
) -> None:
    """Draw overall against discontinuous F1 of several settings; those that none beats in both are joined."""
    with figure_to(path) as axes:
        front = sorted((p for p in points if p["front"]), key=lambda p: p["overall"])
        axes.plot(
            [p["overall"] for p in front], [p["discontinuous"] for p in front], color="tab:blue", zorder=1
        )
        for point in points:
            colour = "tab:blue" if point["front"] else "tab:grey"
            place = (point["overall"], point["discontinuous"])
            axes.scatter(*place, color=colour, zorder=2)
            axes.annotate(point["setting"], place, xytext=(4, 4), textcoords="offset points", fontsize=7)
        axes.margins(0.14)  # room for the names of the settings
        axes.set(xlabel="F1 overall (cross-validated)", ylabel="F1 discontinuous", title=title)


def draw_lines(
    panels: Mapping[str, Mapping[str, Line]],
    path: str | os.PathLike[str],
    *,
    x: str,
    y: str,
    diagonal: bool = False,
    logarithmic: bool = False,
) -> None:
    """Draw lines with names, in panels with titles.

    Parameters
    ----------
    panels : by title, by name the places of the points of a line, and perhaps how far they spread.
    x, y : what the axes show.
    diagonal : also draw where x and y are equal.
    logarithmic : whether the x-axis is.
    """
    with figure_to(path, len(panels)) as drawn:
        for axes, (title, lines) in zip(drawn if len(panels) > 1 else [drawn], panels.items()):
            for name, (xs, ys, *spread) in lines.items():
                error = spread[0] if spread else None
                axes.errorbar(xs, ys, error, marker="o", markersize=3, capsize=2, elinewidth=0.8, label=name)
            if diagonal:
                limit = max(max(xs, default=0) for xs, *_ in lines.values())
                axes.plot([0, limit], [0, limit], color="tab:grey", linewidth=1, linestyle="--")
            if logarithmic:
                axes.set_xscale("log")
                ticks = sorted({value for xs, *_ in lines.values() for value in xs})
                axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                axes.minorticks_off()
            axes.set(xlabel=x, ylabel=y, title=title)
            axes.legend(fontsize=7)


def draw_matrices(
    matrices: Mapping[str, Sequence[Sequence[float]]], names: Sequence[str], path: str | os.PathLike[str]
) -> None:
    """Draw square matrices of percentages between things with names, in panels with titles."""
    with figure_to(path, len(matrices), figsize=(4.6 * len(matrices), 4.2)) as drawn:
        for axes, (title, matrix) in zip(drawn if len(matrices) > 1 else [drawn], matrices.items()):
            axes.imshow(matrix, cmap="Blues", vmin=0, vmax=100)
            axes.grid(visible=False)
            for row, values in enumerate(matrix):
                for column, value in enumerate(values):
                    colour = "white" if value > 55 else "black"
                    axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
            axes.set_xticks(range(len(names)), names, fontsize=7)
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.set(xlabel="run", ylabel="run", title=title)
