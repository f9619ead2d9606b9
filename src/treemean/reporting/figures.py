"""Figures, drawn with matplotlib (the extra `plots`); the same data give the same bytes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from treemean.errors import InvalidOption, MissingDependency
from treemean.files.output import check_folder, open_output

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
    check_folder(path)
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

    size = options.pop("figsize", (5.0 * panels, 3.8))
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "treemean",
            "text.parse_math": False,  # names of files may have $ in them
            "font.size": 9,
            "axes.grid": True,
            "grid.alpha": 0.3,
        }
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


def draw_reliability(confidence: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Draw expected against observed shares of right candidates of either kind, and risk against coverage.

    Parameters
    ----------
    confidence : what `fit` reports under this name.
    """
    kinds = [kind for kind in confidence if kind != "risk_coverage"]
    with figure_to(path, len(kinds) + 1, figsize=(4.4 * (len(kinds) + 1), 3.8)) as drawn:
        panels = drawn if kinds else [drawn]
        for axes, kind in zip(panels, kinds, strict=False):
            bins = confidence[kind]["bins"]
            expected, observed = ([100 * b[name] for b in bins] for name in ("expected", "observed"))
            limit = max(*expected, *observed, 1.0)
            axes.plot([0, limit], [0, limit], color="tab:grey", linewidth=1, linestyle="--")
            axes.plot(expected, observed, marker="o", markersize=4, color="tab:blue")
            error = f"calibration error {confidence[kind]['calibration_error']:.4f}"
            axes.set(xlabel="probability (%)", ylabel="right (%)", title=f"{kind} candidates: {error}")
        points = confidence["risk_coverage"]
        kept = [100 * point["coverage"] for point in points]
        for name, key in (("probability", "risk"), ("share of votes", "risk_by_votes")):
            panels[-1].plot(
                kept, [100 * point[key] for point in points], marker="o", markersize=4, label=name
            )
        panels[-1].set(xlabel="constituents kept (%)", ylabel="wrong (%)", title="risk and coverage")
        panels[-1].set_ylim(bottom=0)
        panels[-1].legend(fontsize=7)


def draw_lines(
    panels: Mapping[str, Mapping[str, Line]],
    path: str | os.PathLike[str],
    *,
    x: str | Mapping[str, str],
    y: str,
    diagonal: bool = False,
    logarithmic: Literal["", "x", "y"] = "",
) -> None:
    """Draw lines with names, in panels with titles.

    Parameters
    ----------
    panels : by title, by name the places of the points of a line, and perhaps how far they spread.
    x, y : what the axes show; x perhaps by the title of the panel.
    diagonal : also draw where x and y are equal.
    logarithmic : which axis is, if any.
    """
    with figure_to(path, len(panels)) as drawn:
        for axes, (title, lines) in zip(drawn if len(panels) > 1 else [drawn], panels.items()):
            for name, (xs, ys, *spread) in lines.items():
                error = spread[0] if spread else None
                axes.errorbar(xs, ys, error, marker="o", markersize=3, capsize=2, elinewidth=0.8, label=name)
            if diagonal:
                limit = max(max(xs, default=0) for xs, *_ in lines.values())
                axes.plot([0, limit], [0, limit], color="tab:grey", linewidth=1, linestyle="--")
            if logarithmic == "y":
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")  # powers of ten would be shown as formulas
            if logarithmic == "x":
                axes.set_xscale("log")
                ticks = sorted({value for xs, *_ in lines.values() for value in xs})
                axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                axes.minorticks_off()
            axes.set(xlabel=x if isinstance(x, str) else x[title], ylabel=y, title=title)
            axes.legend(fontsize=7)


def draw_points(
    points: Mapping[str, tuple[float, float]],
    path: str | os.PathLike[str],
    *,
    x: str,
    y: str,
    title: str = "",
) -> None:
    """Draw points with names."""
    with figure_to(path) as axes:
        axes.scatter(*zip(*points.values(), strict=True), color="tab:blue")
        for name, place in points.items():
            axes.annotate(name, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
        axes.margins(0.14)  # room for the names
        axes.set(xlabel=x, ylabel=y, title=title)


def draw_bars(
    panels: Mapping[str, tuple[Sequence[str], Mapping[str, tuple[Sequence[float], Sequence[float] | None]]]],
    path: str | os.PathLike[str],
    *,
    y: str,
) -> None:
    """Draw groups of bars, in panels with titles.

    Parameters
    ----------
    panels : by title, what each group is called, and by name the bars of all groups with their spread.
    y : what the axis shows.
    """
    with figure_to(path, len(panels), figsize=(6.5 * len(panels), 3.8)) as drawn:
        for axes, (title, (groups, bars)) in zip(drawn if len(panels) > 1 else [drawn], panels.items()):
            width = 0.8 / max(1, len(bars))
            for number, (name, (heights, spread)) in enumerate(bars.items()):
                places = [group - 0.4 + (number + 0.5) * width for group in range(len(groups))]
                axes.bar(places, heights, width, yerr=spread, capsize=2, label=name)
            axes.set_xticks(range(len(groups)), groups, fontsize=7)
            axes.set(ylabel=y, title=title)
            axes.legend(fontsize=7)


def draw_matrices(
    matrices: Mapping[str, Sequence[Sequence[float]]],
    names: Sequence[str],
    path: str | os.PathLike[str],
    *,
    lowest: float = 0,
    digits: int = 0,
) -> None:
    """Draw square matrices of percentages between things with names, in panels with titles.

    Parameters
    ----------
    matrices : by title; NaN is shown as a dash.
    lowest : what is white; 100 is dark.
    digits : how many digits after the point.
    """
    side = max(4.2, 0.4 * len(names))
    upright = len(names) * max(map(len, names)) > 13 * side  # else names of columns would touch each other
    with figure_to(path, len(matrices), figsize=((side + 0.4) * len(matrices), side)) as drawn:
        for axes, (title, matrix) in zip(drawn if len(matrices) > 1 else [drawn], matrices.items()):
            axes.imshow(matrix, cmap="Blues", vmin=lowest, vmax=100)
            axes.grid(visible=False)
            for row, values in enumerate(matrix):
                for column, value in enumerate(values):
                    colour = "white" if value > lowest + 0.55 * (100 - lowest) else "black"
                    text = "–" if math.isnan(value) else f"{value:.{0 if value == 100 else digits}f}"
                    axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
            axes.set_xticks(range(len(names)), names, fontsize=7, rotation=90 if upright else 0)
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.set(xlabel="run", ylabel="run", title=title)
