"""An SVG drawing of ours as plain strokes and texts, from which other kinds of pictures are made.

So there is one picture of a tree, whatever the file that it goes to. Only what our own drawings consist of is
understood: groups, nested pictures, paths of M, H, V and Q, texts, and a style sheet of classes and elements.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]

#: What a stroke does next: go there, draw a line there, or a curve there with one point of control.
Step = tuple[Literal["move", "line", "curve"], tuple[Point, ...]]

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_STEP = re.compile(r"([MHVQ])([^MHVQ]*)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")

Rules = list[tuple[list[str], dict[str, str]]]
"""Selectors, each the parts from the outermost element to the innermost, and what they set."""


@dataclass(frozen=True)
class Stroke:
    """Lines of one colour; lengths are in pixels."""

    steps: tuple[Step, ...]
    color: str
    width: float
    opacity: float
    dashes: tuple[float, ...]


@dataclass(frozen=True)
class Run:
    """A piece of text in one style; `size` is in units of the picture's font size."""

    text: str
    color: str
    size: float
    bold: bool


@dataclass(frozen=True)
class Text:
    """Pieces of text after one another; (x, y) is on their baseline, at the middle or the start."""

    x: float
    y: float
    runs: tuple[Run, ...]
    anchor: str


@dataclass(frozen=True)
class Picture:
    """Everything that is to be seen, with y downwards; the upper left corner is (left, top)."""

    left: float
    top: float
    width: float
    height: float
    font_size: float
    strokes: tuple[Stroke, ...]
    texts: tuple[Text, ...]


def read_picture(svg: str) -> Picture:
    """Read a document of `draw_svg` or `draw_sheet_svg`, in its light colours.

    >>> from treemean.trees.drawing.svg import draw_svg
    >>> from treemean.trees.tree import Tree
    >>> picture = read_picture(draw_svg(Tree(["go", "on"], [({0, 1}, "VP")])))
    >>> [text.runs[0].text for text in picture.texts], len(picture.strokes)
    (['VP', 'go', 'on'], 1)
    """
    root = ET.fromstring(svg)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    style = next(root.iter(f"{_NAMESPACE}style")).text or ""
    reader = _Reader(_rules(style.partition("@media")[0]))
    reader.read(root, [], 0.0, 0.0)
    size = float(root.attrib["font-size"])
    return Picture(left, top, width, height, size, tuple(reader.strokes), tuple(reader.texts))


def _rules(style: str) -> Rules:
    rules = []
    for selectors, body in _RULE.findall(style):
        properties = _declarations(body)
        rules += [(selector.split(), properties) for selector in selectors.split(",")]
    return rules


def _declarations(body: str) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in body.split(";") if part.strip())
    return {name.strip(): value.strip() for name, value in pairs}


class _Reader:
    """Walks through a document, knowing the way down to the present element."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.strokes: list[Stroke] = []
        self.texts: list[Text] = []

    def read(self, element: ET.Element, way: list[set[str]], x: float, y: float) -> None:
        """Read an element at the end of a way, with its coordinates shifted by (x, y)."""
        tag = element.tag.removeprefix(_NAMESPACE)
        if tag == "svg" and way:  # a picture inside: its own origin goes to where it stands
            left, top, *_ = map(float, element.attrib["viewBox"].split())
            x, y = x + float(element.attrib["x"]) - left, y + float(element.attrib["y"]) - top
        way = [*way, {tag, *(f".{name}" for name in element.get("class", "").split())}]
        if tag == "path":
            self.strokes.append(self._stroke(element, way, x, y))
        elif tag == "text":
            self.texts.append(self._text(element, way, x, y))
        else:
            for child in element:
                self.read(child, way, x, y)

    def _properties(self, element: ET.Element, way: list[set[str]]) -> dict[str, str]:
        """Return what attributes, the style sheet and the element's own style say, the last word last."""
        properties = dict(element.attrib)
        for parts, found in self.rules:
            if _matches(parts, way):
                properties |= found
        return properties | _declarations(element.get("style", ""))

    def _stroke(self, element: ET.Element, way: list[set[str]], x: float, y: float) -> Stroke:
        properties = self._properties(element, way)
        dashes = properties.get("stroke-dasharray", "none")
        return Stroke(
            tuple(_steps(element.attrib["d"], x, y)),
            properties["stroke"],
            float(properties["stroke-width"]),
            float(properties.get("stroke-opacity", 1)),
            () if dashes == "none" else tuple(map(float, dashes.split())),
        )

    def _text(self, element: ET.Element, way: list[set[str]], x: float, y: float) -> Text:
        own = self._properties(element, way)
        runs = [_run(element.text or "", own, 1.0)]
        for part in element:
            tag = part.tag.removeprefix(_NAMESPACE)
            inner = self._properties(part, [*way, {tag, *(f".{n}" for n in part.get("class", "").split())}])
            runs.append(_run(part.text or "", {**own, "font-size": "1em", **inner}, runs[0].size))
            runs.append(_run(part.tail or "", own, 1.0))
        place = float(element.attrib["x"]) + x, float(element.attrib["y"]) + y
        return Text(*place, tuple(run for run in runs if run.text), own.get("text-anchor", "middle"))


def _matches(parts: list[str], way: list[set[str]]) -> bool:
    """Tell whether a selector means the last element of a way."""
    if parts[-1] not in way[-1]:
        return False
    above = iter(way[:-1])
    return all(any(part in names for names in above) for part in parts[:-1])


def _run(text: str, properties: dict[str, str], outer: float) -> Run:
    size = outer * float(properties.get("font-size", "1em").removesuffix("em"))
    return Run(text, properties["fill"], size, int(properties.get("font-weight", 400)) >= 600)


def _steps(path: str, x: float, y: float) -> list[Step]:
    steps: list[Step] = []
    here = (0.0, 0.0)
    for command, arguments in _STEP.findall(path):
        numbers = [float(number) for number in arguments.split()]
        if command == "H":
            here = numbers[0] + x, here[1]
        elif command == "V":
            here = here[0], numbers[0] + y
        else:
            here = numbers[-2] + x, numbers[-1] + y
        if command == "Q":
            steps.append(("curve", ((numbers[0] + x, numbers[1] + y), here)))
        else:
            steps.append(("move" if command == "M" else "line", (here,)))
    return steps
