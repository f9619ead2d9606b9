"""Draw the figures of docs/theory.md as SVG, from the constructions that the tests build."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import cos, pi, sin
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [str(ROOT / "tests" / "theory"), str(ROOT / "tests")]

from binary_output import phases  # noqa: E402
from closures import two_weighted  # noqa: E402
from crossing_pairs import ten_words  # noqa: E402
from gadget import odd_cycle  # noqa: E402
from graphs import Graph  # noqa: E402
from wires import Layout  # noqa: E402

#: One colour for every class; they can be told apart in grey as well, by the numbers beside them.
COLOURS = ["#1f4e9c", "#c0392b", "#2e8b57", "#8e44ad", "#b9770e", "#16a085", "#555555"]


class Picture:
    """An SVG that grows."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str = "black", width: float = 1.2
    ) -> None:
        """Draw a straight line."""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )

    def path(
        self, points: Iterable[tuple[float, float]], colour: str, *, closed: bool = False, fill: str = "none"
    ) -> None:
        """Draw a line through points."""
        steps = " L ".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(
            f'<path d="M {steps}{" Z" if closed else ""}" fill="{fill}" stroke="{colour}" '
            f'stroke-width="1.2"/>'
        )

    def arc(
        self, x1: float, x2: float, y: float, height: float, colour: str, *, dashed: bool = False
    ) -> None:
        """Draw a flat arch from x1 to x2 above y."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        bend = min(12.0, abs(x2 - x1) / 2)
        side = bend if x2 > x1 else -bend
        top = y - height
        corners = (
            f"M {x1:.1f} {y:.1f} L {x1:.1f} {top + bend:.1f} Q {x1:.1f} {top:.1f} {x1 + side:.1f} {top:.1f} "
            f"L {x2 - side:.1f} {top:.1f} Q {x2:.1f} {top:.1f} {x2:.1f} {top + bend:.1f} L {x2:.1f} {y:.1f}"
        )
        self.parts.append(f'<path d="{corners}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')

    def dot(self, x: float, y: float, colour: str = "black", radius: float = 3) -> None:
        """Draw a point."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a rounded box."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" fill="none" '
            f'stroke="{colour}" stroke-width="1.6"/>'
        )

    def text(
        self, x: float, y: float, words: str, colour: str = "black", size: float = 12, anchor: str = "middle"
    ) -> None:
        """Write words."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="DejaVu Sans, sans-serif" font-size="{size}" '
            f'text-anchor="{anchor}" fill="{colour}">{words}</text>'
        )

    def save(self, name: str) -> None:
        """Write the file."""
        body = "\n".join(self.parts)
        (IMAGES / f"theory-{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
        )


def crossing_pairs() -> None:
    """Five pairs of which any two cross or lie apart."""
    pairs = [sorted(pair) for pair in ten_words().average]
    picture = Picture(520, 150)
    for p in range(10):
        picture.text(40 + 48 * p, 138, str(p))
        picture.dot(40 + 48 * p, 120)
    for number, (a, b) in enumerate(pairs):
        picture.arc(40 + 48 * a, 40 + 48 * b, 120, 30 + 18 * (number % 5), COLOURS[number])
    picture.save("crossing-pairs")


def odd_cycle_of_groups() -> None:
    """The groups for five trees on a cycle, and an edge that becomes a path."""
    groups = odd_cycle(5)
    length = len(groups)
    picture = Picture(680, 220)
    places = [
        (120 + 75 * sin(2 * pi * i / length), 110 - 75 * cos(2 * pi * i / length)) for i in range(length)
    ]
    for i in range(length):
        picture.line(*places[i], *places[(i + 1) % length], "#888888")
    for i, (x, y) in enumerate(places):
        picture.dot(x, y, COLOURS[i], 6)
        names = ",".join(map(str, sorted(groups[i])))
        picture.text(
            120 + 104 * sin(2 * pi * i / length),
            114 - 97 * cos(2 * pi * i / length),
            f"{{{names}}}",
            COLOURS[i],
        )
    names = ["u", *(f"x{'₁₂₃₄₅₆'[i]}" for i in range(length - 1)), "v"]
    for i in range(length + 1):
        x = 300 + 66 * i
        klass = i % length
        if i < length:
            picture.line(x, 100, x + 66, 100, "#888888")
        picture.dot(x, 100, COLOURS[klass], 6)
        picture.text(x, 84, names[i])
        picture.text(x, 124, f"class {klass}", COLOURS[klass], 11)
        picture.text(x, 140, "{" + ",".join(map(str, sorted(groups[klass]))) + "}", COLOURS[klass], 11)
    picture.save("odd-cycle")


def draw_layout(
    picture: Picture, layout: Layout, words: range, place: dict[int, float], y: float, step: float
) -> None:
    """Draw the sets of a layout that lie in some words: arcs above, runs as boxes."""
    number = 0
    for mine, klass, is_arc in zip(layout.words, layout.classes, layout.is_arc):
        inside = [p for p in mine if p in words]
        colour = COLOURS[klass]
        if is_arc:
            if not inside:
                continue
            number += 1
            whole = len(inside) == 2
            # Steps lead out of the picture; they are nested.
            first, last = min(place.values()), max(place.values())
            left = place[mine[0]] if mine[0] in place else first - 14 - 0.3 * (place[mine[1]] - first)
            right = place[mine[1]] if mine[1] in place else last + 14 + 0.3 * (last - left)
            height = (
                26 + step * (mine[1] - mine[0]) + 12 * (number % 2) if whole else 100 + 0.4 * (right - left)
            )
            picture.arc(left, right, y, height, colour, dashed=not whole)
            picture.text((left + right) / 2, y - height - 4, str(klass), colour, 11)
        elif inside:
            picture.box(place[mine[0]] - 10, y + 4, place[mine[-1]] - place[mine[0]] + 20, 24, colour)
            picture.text((place[mine[0]] + place[mine[-1]]) / 2, y + 44, str(klass), colour, 11)


def name_words(picture: Picture, layout: Layout, place: dict[int, float], y: float) -> None:
    """Write G at guards; a dot at words of sets."""
    shared = [p for mine in layout.words for p in mine]
    for p, x in place.items():
        if p < layout.count:
            picture.text(x, y + 20, f"z{'₀₁₂₃₄₅₆₇₈₉'[p]}")
        elif shared.count(p) < 2:
            picture.text(x, y + 20, "G", "#888888", 11)
        picture.dot(x, y, "black", 2.5)


def one_edge() -> None:
    """The whole sentence for one edge and five trees."""
    layout = Layout(5, Graph(2, ((0, 1),)))
    picture = Picture(600, 210)
    place = {p: 30 + 41.0 * p for p in range(layout.n)}
    draw_layout(picture, layout, range(layout.n), place, 150, 11)
    name_words(picture, layout, place, 150)
    picture.save("one-edge")


def swap() -> None:
    """A block in which two wires change places."""
    graph = Graph(4, ((0, 2), (1, 3)))
    layout = Layout(5, graph, idle=1)
    block = next(b for b in layout.blocks[1:-1] if len(b) > 2 * 2 * len(graph.edges))
    gadget = [p for p in block if any(p in mine and len(mine) == 3 for mine in layout.words)]
    words = range(gadget[0] - 2, gadget[-1] + 3)
    picture = Picture(760, 250)
    place = {p: 60 + 32.5 * (p - words.start) for p in words}
    draw_layout(picture, layout, words, place, 180, 6)
    name_words(picture, layout, place, 180)
    picture.text(place[words.start + 1], 215, "P")
    picture.text(place[words.stop - 1], 215, "Q")
    for number in range(len(gadget) // 3):
        picture.text(place[gadget[3 * number + 1]], 240, f"R{'₁₂₃₄₅₆₇'[number]}")
    picture.save("swap")


def package() -> None:
    """How the words below an arc are filled in, row by row."""
    names = ["G", "a", "", "a′", "", "b′", "", "b"]
    rows = [[1, 7], [0, 1, 7], [0, 1, 2, 7], [0, 1, 2, 3, 4, 5, 7], list(range(8))]
    picture = Picture(560, 250)
    place = [150 + 44.0 * p for p in range(8)]
    picture.arc(place[1], place[7], 92, 66, COLOURS[1])
    picture.arc(place[3], place[5], 92, 34, COLOURS[0])
    for x, name in zip(place, names):
        picture.dot(x, 92)
        picture.text(x, 112, name)
    notes = ["the pair", "its guard", "a word", "a package", "a word"]
    for number, (row, note) in enumerate(zip(rows, notes)):
        y = 124 + 24 * number
        picture.text(20, y + 14, f"{'' if number == 0 else '+ '}{note}", anchor="start")
        for p in row:
            old = number and p in rows[number - 1]
            picture.parts.append(
                f'<rect x="{place[p] - 16:.1f}" y="{y:.1f}" width="32" height="17" '
                f'fill="{"#dddddd" if old else COLOURS[1]}"/>'
            )
    picture.save("package")


def zones() -> None:
    """The words of an edge, of a link and of a vertex, with one copy of each side.

    One word of either side for each unit of weight; with one edge, links weigh 1, edges 3 and vertices 6.
    """
    picture = Picture(760, 230)
    zones = {
        "edge e": ["a₃", "a₂", "a₁", "s", "t", "t", "b₁", "b₂", "b₃"],
        "link (e, u)": ["a₁", "s", "b₁"],
        "vertex u": ["a₆", "…", "a₁", "t′", "s", "b₁", "…", "b₆"],
    }
    place: dict[str, list[float]] = {}
    x = 40.0
    for zone, words in zones.items():
        place[zone] = [x + 30 * p for p in range(len(words))]
        for px, word in zip(place[zone], words):
            if word != "…":
                picture.dot(px, 110, "black", 2.5)
            picture.text(px, 130, word)
        picture.text((place[zone][0] + place[zone][-1]) / 2, 215, zone)
        x = place[zone][-1] + 60
    edge, link, vertex = (place[zone] for zone in zones)
    above, below = COLOURS[0], COLOURS[1]
    # Side A above the words, side B below them.
    for left, right in ((edge[0], edge[3]), (link[0], link[1]), (vertex[0], vertex[4])):
        picture.box(left - 12, 78, right - left + 24, 22, above)
    for left, right in ((edge[3], edge[8]), (link[1], link[2]), (vertex[4], vertex[7])):
        picture.box(left - 12, 140, right - left + 24, 22, below)
    picture.box(edge[4] - 12, 78, 24, 22, above)
    picture.arc(edge[4], link[0], 78, 26, above)
    picture.box(vertex[3] - 12, 140, 24, 22, below)
    picture.path([(link[2], 162), (link[2], 184), (vertex[3], 184), (vertex[3], 162)], below)
    picture.text(24, 50, "side A", above, anchor="start")
    picture.text(24, 190, "side B", below, anchor="start")
    picture.save("zones")


def corners() -> None:
    """Points of two trees, with level lines; and the line of the weighted problem."""
    picture = Picture(720, 300)
    common, sizes = 12, (22, 18)

    def value(i: float, j: float) -> float:
        whole = common + i + j
        return (common + i) / (whole + sizes[0]) + (common + j) / (whole + sizes[1])

    unit, x0, y0 = 28.0, 40.0, 260.0
    most = {0: 6, 1: 6, 2: 5, 3: 5, 4: 4, 5: 4, 6: 3, 7: 2, 8: 2, 9: 1, 10: 0}
    for level in (0.72, 0.74, 0.76, 0.78, 0.8, 0.81, 0.82, 0.83):
        line = []
        for step in range(201):
            i = step / 20
            low, high = 0.0, 6.6
            if (value(i, low) - level) * (value(i, high) - level) > 0:
                continue
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (
                    (middle, high)
                    if (value(i, low) - level) * (value(i, middle) - level) > 0
                    else (low, middle)
                )
            line.append((x0 + unit * i, y0 - unit * low))
        if len(line) > 1:
            picture.path(line, "#bbbbbb")
    points = [(i, j) for i, top in most.items() for j in range(top + 1)]
    hull = [(0, 0), (10, 0), (8, 2), (5, 4), (1, 6), (0, 6)]
    picture.path([(x0 + unit * i, y0 - unit * j) for i, j in hull], COLOURS[0], closed=True)
    best = max(points, key=lambda point: value(*point))
    for i, j in points:
        picture.dot(x0 + unit * i, y0 - unit * j, "black", 2)
    picture.dot(x0 + unit * best[0], y0 - unit * best[1], COLOURS[1], 5)
    picture.text(x0 + unit * 10.6, y0 + 5, "i")
    picture.text(x0 - 12, y0 - unit * 6.4, "j")

    sides = two_weighted(7, 3, 700)
    left, top = 430.0, 40.0
    scores = [sides.score(*sides.on_line(x)) for x in range(8)]
    lowest, highest = min(scores), max(scores)
    for x, score in enumerate(scores):
        height = float((score - lowest) / (highest - lowest)) if highest > lowest else 0.0
        px, py = left + 36 * x, top + 180 * (1 - height)
        picture.dot(px, py, COLOURS[1] if x == 3 else "black", 5 if x == 3 else 3)
        picture.text(px, top + 205, str(x))
    picture.line(left - 12, top + 188, left + 264, top + 188)
    picture.text(left + 126, top + 228, "weight of the closed set; target 3")
    picture.text(left + 126, top - 12, "value on the line")
    picture.save("corners")


def growing_runs() -> None:
    """How one tree builds a run of words: the sets of four phases, each one word larger than the last."""
    length, (i, j, gap) = 15, (2, 11, 3)
    built = phases(i, j, gap, length)
    # From the smallest to the largest set.
    rows = [(phase, mask) for phase, masks in enumerate(built) for mask in sorted(masks, key=int.bit_count)]
    picture = Picture(560, 36 + 15 * len(rows))
    place = [150 + 26.0 * word for word in range(length)]
    for word, name in ((0, "0"), (i, "i"), (j - gap - 1, "j−τ−1"), (j, "j"), (length - 1, "p−1")):
        picture.text(place[word], 20, name)
    for number, (phase, mask) in enumerate(rows):
        y = 28 + 15 * number
        if number == 0 or rows[number - 1][0] != phase:
            picture.text(20, y + 11, f"phase {phase + 1}", COLOURS[phase], anchor="start")
        for word in range(length):
            if mask >> word & 1:
                old = number and rows[number - 1][1] >> word & 1
                picture.parts.append(
                    f'<rect x="{place[word] - 11:.1f}" y="{y:.1f}" width="22" height="12" '
                    f'fill="{"#dddddd" if old else COLOURS[phase]}"/>'
                )
    picture.save("growing-runs")


def main() -> None:
    """Draw all figures."""
    for draw in (crossing_pairs, odd_cycle_of_groups, one_edge, swap, package, corners, zones, growing_runs):
        draw()


if __name__ == "__main__":
    main()
