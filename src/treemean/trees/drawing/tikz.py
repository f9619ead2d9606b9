"""Trees as TikZ, for papers: `\\usepackage{tikz}`, then `\\input{tree}`.

All lengths are in em, so that a picture has the size of the text around it.
"""

from __future__ import annotations

from collections.abc import Iterator

from treemean.trees.drawing.picture import Picture, Point, Run, Step, Stroke, Text, read_picture

# Strokes are thinner in print than on a screen.
_WIDTH = 0.6
# Ordinary text has the colour of the paper's text.
_TEXT_COLOR = "#1f2328"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r'\string"',  # which some languages give a meaning
    "-": "{-}",  # two in a row are no dash
    ",": "{,}",  # two in a row are no quotation mark
    "?": "{?}",  # nor one with a quotation mark a Spanish one
    "!": "{!}",
    "•": r"\textbullet{}",
    "…": r"\dots{}",
    "∅": r"\ensuremath{\emptyset}",
}
_TABLE = str.maketrans(_SPECIAL)


def tikz_of_svg(svg: str) -> str:
    r"""Return a document of `draw_svg` or `draw_sheet_svg` as a `tikzpicture`.

    It needs the package `tikz` and nothing else. Words in other scripts than Latin need XeLaTeX or LuaLaTeX
    with a font that has them.

    >>> from treemean.trees.drawing.svg import draw_svg
    >>> from treemean.trees.tree import Tree
    >>> print(tikz_of_svg(draw_svg(Tree(["go"], [({0}, "VP")]))))
    % Needs \usepackage{tikz}.
    \begin{tikzpicture}[x=1em, y=-1em, line cap=round, every node/.style={inner sep=0pt, outer sep=0pt}]
    \definecolor{treemean7d8590}{HTML}{7D8590}
    \draw[treemean7d8590, line width=0.06em] (0.73,1.4) -- (0.73,2.75);
    \node[anchor=base] at (0.73,1) {{\bfseries VP}};
    \node[anchor=base] at (0.73,3.7) {go};
    \end{tikzpicture}
    """
    picture = read_picture(svg)
    return "\n".join(_lines(picture))


def tex(text: str) -> str:
    r"""Return a text as TeX prints it.

    >>> tex("PRP$ 100% a_b")
    'PRP\\$ 100\\% a\\_b'
    """
    return text.translate(_TABLE)


def _lines(picture: Picture) -> Iterator[str]:
    yield r"% Needs \usepackage{tikz}."
    yield (
        r"\begin{tikzpicture}[x=1em, y=-1em, line cap=round, "
        "every node/.style={inner sep=0pt, outer sep=0pt}]"
    )
    used = [stroke.color for stroke in picture.strokes] + [r.color for t in picture.texts for r in t.runs]
    for color in dict.fromkeys(used):
        if color != _TEXT_COLOR:
            yield rf"\definecolor{{{_name(color)}}}{{HTML}}{{{color[1:].upper()}}}"
    for stroke in picture.strokes:
        yield _draw(stroke, picture)
    for text in picture.texts:
        yield _node(text, picture)
    yield r"\end{tikzpicture}"


def _name(color: str) -> str:
    return f"treemean{color[1:]}"


def _draw(stroke: Stroke, picture: Picture) -> str:
    options = [_name(stroke.color), f"line width={_number(_WIDTH * stroke.width / picture.font_size)}em"]
    if stroke.opacity < 1:
        options.append(f"draw opacity={_number(stroke.opacity)}")
    if stroke.dashes:
        on, off = (f"{length / picture.font_size:.3f}em" for length in stroke.dashes)
        options.append(f"dash pattern=on {on} off {off}")
    return rf"\draw[{', '.join(options)}] {' '.join(_path(stroke.steps, picture))};"


def _path(steps: tuple[Step, ...], picture: Picture) -> Iterator[str]:
    here: Point = (0.0, 0.0)
    for kind, points in steps:
        end = points[-1]
        if kind == "curve":  # as a cubic one
            first, second, last = (
                _point(p, picture) for p in (_towards(here, points[0]), _towards(end, points[0]), end)
            )
            yield f".. controls {first} and {second} .. {last}"
        else:
            yield "-- " * (kind == "line") + _point(end, picture)
        here = end


def _towards(start: Point, end: Point) -> Point:
    return start[0] + 2 / 3 * (end[0] - start[0]), start[1] + 2 / 3 * (end[1] - start[1])


def _node(text: Text, picture: Picture) -> str:
    anchor = "base" if text.anchor == "middle" else "base west"
    place = _point((text.x, text.y), picture)
    return rf"\node[anchor={anchor}] at {place} {{{''.join(map(_styled, text.runs))}}};"


def _styled(run: Run) -> str:
    commands = r"\footnotesize" * (run.size < 0.9) + r"\bfseries" * run.bold
    commands += rf"\color{{{_name(run.color)}}}" * (run.color != _TEXT_COLOR)
    if not commands:
        return tex(run.text)
    return f"{{{commands}{' ' * (not commands.endswith('}'))}{tex(run.text)}}}"


def _point(point: Point, picture: Picture) -> str:
    return f"({_number(point[0] / picture.font_size)},{_number(point[1] / picture.font_size)})"


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
