"""Trees as standalone SVG pictures, for papers, web pages and reports.

Branches have right angles; where a branch passes the bar of another constituent, the bar has a gap. The
colours are told apart by colour-blind people too, lines also by their style, and pages in dark mode are
respected. The style sheet is the same in every picture and speaks only of elements below
`.treemean-tree`, so that many pictures can live in one HTML page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from treemean.trees import bitsets
from treemean.trees.arguments import takes
from treemean.trees.drawing import captions
from treemean.trees.drawing.comparison import Missed, TreeComparison, comparison_with
from treemean.trees.drawing.layout import Arrangement, arrange, place
from treemean.trees.drawing.metrics import ems
from treemean.trees.tree import Tree

_FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, "
    "'Noto Sans CJK SC', sans-serif"
)

_STYLE = """
.treemean-tree .paper { fill: #ffffff }
.treemean-tree text { fill: #1f2328 }
.treemean-tree .tag, .treemean-tree .value { fill: #656d76 }
.treemean-tree .label { font-weight: 600 }
.treemean-tree .value { font-weight: 400 }
.treemean-tree path { fill: none; stroke: #7d8590; stroke-width: 1.4; stroke-linecap: round }
.treemean-tree .gapped path { stroke: #0072b2 }
.treemean-tree .gapped .label { fill: #0072b2 }
.treemean-tree .right path { stroke: #009e73 }
.treemean-tree .right .label { fill: #00795c }
.treemean-tree .wrong path { stroke: #d55e00; stroke-dasharray: 5 3.5 }
.treemean-tree .wrong .label { fill: #bf4d00 }
.treemean-tree .missed path { stroke: #0072b2; stroke-width: 1.8; stroke-dasharray: 0.1 3.6 }
.treemean-tree .missed .ends { stroke-width: 1.4; stroke-dasharray: none }
.treemean-tree .missed .bridge { stroke-width: 1; stroke-dasharray: 0.1 5 }
.treemean-tree .missed text { fill: #0067a3 }
@media (prefers-color-scheme: dark) {
.treemean-tree .paper { fill: #12161c }
.treemean-tree text { fill: #e6edf3 }
.treemean-tree .tag, .treemean-tree .value { fill: #9aa4af }
.treemean-tree path { stroke: #79828d }
.treemean-tree .gapped path { stroke: #56b4e9 }
.treemean-tree .gapped .label { fill: #56b4e9 }
.treemean-tree .right path { stroke: #2dbd92 }
.treemean-tree .right .label { fill: #3fd0a4 }
.treemean-tree .wrong path { stroke: #f0803c }
.treemean-tree .wrong .label { fill: #ff9552 }
.treemean-tree .missed path { stroke: #56b4e9 }
.treemean-tree .missed text { fill: #7cc4ee }
}
"""

# Distances, in units of the font size.
_MARGIN = 1.1
_GAP = 0.75  # between neighbours on a row
_SNAP = 0.8
_PITCH = 2.7  # from level to level
_LABEL_TOP = 0.95  # from the baseline up to where branches end
_LABEL_BOTTOM = 0.4  # from the baseline down to where branches begin
_BAR = 0.85  # from the baseline down to the bar
_CORNER = 0.4
_BREAK = 0.3  # half of the gap in a bar
_SMALL = 0.8  # size of tags, values and legend
_TAG_LINE = 1.25
_LANE = 2.1  # from missed constituent to missed constituent
_TICK = 0.4

# By whether a constituent is right; None: it does not count.
_CLASSES = {True: "constituent right", False: "constituent wrong", None: "constituent"}


@takes(Tree)
def draw_svg(
    tree: Tree,
    *,
    gold: Tree | TreeComparison | None = None,
    missed: bool = True,
    tags: bool = True,
    functions: bool = False,
    values: str | None = None,
    title: str | None = None,
    font_size: float = 14,
) -> str:
    """Draw a tree as an SVG document.

    Parameters
    ----------
    tree : any tree, discontinuous or not; without `gold`, discontinuous constituents are blue.
    gold : another tree over the same words, or a comparison (`treemean.evaluation.compare_trees`). Of what
        counts, constituents that it has too (whatever their labels) are green, others orange and dashed. The
        whole sentence and single words do not count.
    missed : draw the constituents that only the gold tree has as dotted brackets under the words.
    tags : show part-of-speech tags above the words.
    functions : show grammatical functions after labels and tags, as in "NP-SB".
    values : the name of a number of the constituents (as "support") to show after their labels; if all
        are between 0 and 1, branches with a smaller one are also thinner and paler.
    title : a description for those who cannot see the picture; the sentence if not given.
    font_size : in pixels.

    Raises `MismatchError` if the gold tree has other words, `TreemeanError` if `values` is unknown.

    >>> picture = draw_svg(Tree(["a", "<b>"], [({0, 1}, "S")]), tags=False)
    >>> picture.count('class="label"'), picture.count('class="word"'), "&lt;b&gt;" in picture
    (1, 2, True)
    """
    comparison = comparison_with(tree, gold)
    if title is None:
        title = "Tree of “" + " ".join(captions.words_of(tree)) + "”" if tree.words else captions.NO_WORDS
    if not tree.words:
        note = _text("word", 0, font_size, captions.NO_WORDS)
        half = ems(captions.NO_WORDS) * font_size / 2
        return _document([note], -half, half, font_size * 1.4, title, font_size)
    picture = _Picture(tree, comparison, tags, functions, values, font_size)
    elements = [*picture.constituents(), *picture.words()]
    left, right, bottom = 0.0, picture.width, picture.bottom
    if comparison is not None:
        if missed:
            brackets = picture.brackets(comparison.missed)
            elements += brackets.elements
            left, right = min(left, brackets.left), max(right, brackets.right)
            bottom = brackets.bottom
        legend = _legend(comparison, missed, left, bottom + 1.6 * font_size, font_size)
        elements += legend.elements
        right, bottom = max(right, legend.right), legend.bottom
    return _document(elements, left, right, bottom, title, font_size)


@dataclass(frozen=True)
class _Group:
    """Elements and the space that they need."""

    elements: list[str]
    left: float
    right: float
    bottom: float


class _Picture:
    """Coordinates of one tree, in pixels; baselines of the labels are at `y`."""

    def __init__(
        self,
        tree: Tree,
        comparison: TreeComparison | None,
        tags: bool,
        functions: bool,
        values: str | None,
        size: float,
    ) -> None:
        self.tree, self.comparison, self.size = tree, comparison, size
        self.word_texts = captions.words_of(tree)
        self.tag_texts = captions.tags_of(tree, tags=tags, functions=functions)
        self.label_texts = [captions.label_of(c, functions=functions) for c in tree.constituents]
        self.numbers = captions.numbers_of(tree, values)
        self.arrangement: Arrangement = arrange(tree)
        self.half_widths = [width * size / 2 for width in (*self._word_ems(), *self._label_ems())]
        places = place(
            self.arrangement, [(half, half) for half in self.half_widths], gap=_GAP * size, snap=_SNAP * size
        )
        self.x, self.width = places.x, places.width
        top = self.arrangement.top
        self.y = [(1 + (top - level) * _PITCH) * size for level in self.arrangement.level]
        self.word_y = self.y[0] + _TAG_LINE * size * any(self.tag_texts)
        self.bottom = self.word_y + _LABEL_BOTTOM * size

    def _word_ems(self) -> Iterator[float]:
        for word, tag in zip(self.word_texts, self.tag_texts, strict=True):
            yield max(ems(word), ems(tag) * _SMALL)

    def _label_ems(self) -> Iterator[float]:
        for label, number in zip(self.label_texts, self.numbers, strict=True):
            value = "" if number is None else " " + captions.number_text(number)
            yield ems(label) * 1.05 + ems(value) * _SMALL  # labels are semibold

    def words(self) -> Iterator[str]:
        for p, (word, tag) in enumerate(zip(self.word_texts, self.tag_texts, strict=True)):
            if tag:
                yield _text("tag", self.x[p], self.y[p], tag, small=True)
            yield _text("word", self.x[p], self.word_y, word)

    def constituents(self) -> Iterator[str]:
        known = [number for number in self.numbers if number is not None]
        shares = bool(known) and min(known) >= 0 and max(known) <= 1
        for i, c in enumerate(self.tree.constituents):
            node, number = self.arrangement.words + i, self.numbers[i]
            strength = ""
            if shares and number is not None:
                strength = (
                    f' style="stroke-width:{0.7 + 1.5 * number:.2f};stroke-opacity:{0.3 + 0.7 * number:.2f}"'
                )
            positions = " ".join(map(str, c.positions))
            yield f'<g class="{self._classes(i)}" data-positions="{positions}">'
            yield f'<path class="branch"{strength} d="{self._branches(node)}"/>'
            yield self._label(node, i)
            yield "</g>"

    def _classes(self, i: int) -> str:
        if self.comparison is not None:
            return _CLASSES[self.comparison.right[i]]
        return "constituent" if self.tree.constituents[i].is_continuous else "constituent gapped"

    def _label(self, node: int, i: int) -> str:
        number = self.numbers[i]
        value = None if number is None else captions.number_text(number)
        return _text("label", self.x[node], self.y[node], self.label_texts[i], value=value)

    def _branches(self, node: int) -> str:
        """Return the path of the bar, with a gap for every branch that passes, and of its stems."""
        size, x, middle = self.size, self.x, self.x[node]
        start, bar = self.y[node] + _LABEL_BOTTOM * size, self.y[node] + _BAR * size
        ends = [(x[child], self._top(child)) for child in self.arrangement.children[node]]
        if len(ends) == 1:
            return _path("M", middle, start, "V", ends[0][1])
        (left, left_end), *inner, (right, right_end) = ends
        corner = _CORNER * size
        steps: list[str | float]
        if left == middle:
            steps = ["M", left, start, "V", left_end, "M", left, bar]
        else:
            steps = ["M", left, left_end, "V", bar + corner, "Q", left, bar, left + corner, bar]
        for other in self.arrangement.crossing(node):
            steps += ["H", x[other] - _BREAK * size, "M", x[other] + _BREAK * size, bar]
        if right == middle:
            steps += ["H", right, "M", right, start, "V", right_end]
        else:
            steps += ["H", right - corner, "Q", right, bar, right, bar + corner, "V", right_end]
        for child, child_end in inner:
            steps += ["M", child, start if child == middle else bar, "V", child_end]
        if all(child != middle for child, _ in ends):
            steps += ["M", middle, start, "V", bar]
        return _path(*steps)

    def _top(self, node: int) -> float:
        """Return where a stem ends that comes down to a node."""
        if node >= self.arrangement.words:
            return self.y[node] - _LABEL_TOP * self.size
        if self.tag_texts[node]:
            return self.y[node] - _LABEL_TOP * _SMALL * self.size
        return self.word_y - _LABEL_TOP * self.size

    def brackets(self, missed: Iterable[Missed]) -> _Group:
        """Draw sets of words as brackets under the sentence, short ones first, in as few lanes as fit."""
        elements: list[str] = []
        lanes: list[list[tuple[float, float]]] = []
        for item in sorted(missed, key=lambda m: (m.mask.bit_length() - bitsets.first_of(m.mask), m.mask)):
            label = captions.chain_label(item.labels)
            spans = [
                (self.x[start] - self.half_widths[start], self.x[end - 1] + self.half_widths[end - 1])
                for start, end in bitsets.spans_of(item.mask)
            ]
            centre = (spans[0][0] + spans[-1][1]) / 2
            half = max(ems(label) * _SMALL * self.size / 2, centre - spans[0][0])
            lane = _free_lane(lanes, centre - half, centre + half, _GAP * self.size)
            elements += self._bracket(spans, self.bottom + (0.8 + lane * _LANE) * self.size, centre, label)
        taken = [interval for lane in lanes for interval in lane]
        return _Group(
            elements,
            min((left for left, _ in taken), default=0),
            max((right for _, right in taken), default=self.width),
            self.bottom + (len(lanes) * _LANE - 0.1) * self.size * bool(lanes),
        )

    def _bracket(
        self, spans: list[tuple[float, float]], y: float, centre: float, label: str
    ) -> Iterator[str]:
        top = y - _TICK * self.size
        yield '<g class="missed">'
        for left, right in spans:
            yield f'<path d="{_path("M", left, y, "H", right)}"/>'
            yield f'<path class="ends" d="{_path("M", left, top, "V", y, "M", right, top, "V", y)}"/>'
        for (_, left), (right, _) in pairwise(spans):
            yield f'<path class="bridge" d="{_path("M", left, y, "H", right)}"/>'
        yield _text("missed-label", centre, y + 0.95 * self.size, label, small=True)
        yield "</g>"


def _free_lane(lanes: list[list[tuple[float, float]]], left: float, right: float, gap: float) -> int:
    """Take an interval in the first lane where it is free, a new one if need be; return the lane."""
    for number, taken in enumerate(lanes):
        if all(right + gap <= start or end + gap <= left for start, end in taken):
            taken.append((left, right))
            return number
    lanes.append([(left, right)])
    return len(lanes) - 1


def _legend(comparison: TreeComparison, missed: bool, left: float, y: float, size: float) -> _Group:
    """Explain the kinds of lines that the picture has."""
    kinds = {
        "right": ("in gold", True in comparison.right),
        "wrong": ("not in gold", False in comparison.right),
        "missed": ("only in gold", missed and bool(comparison.missed)),
    }
    elements, x = [], left
    for kind, (text, present) in kinds.items():
        if present:
            line = _path("M", x, y - 0.28 * size, "H", x + 1.8 * size)
            width = ems(text) * _SMALL * size
            elements += [
                f'<g class="{kind}"><path d="{line}"/></g>',
                _text("legend", x + 2.3 * size + width / 2, y, text, small=True),
            ]
            x += 2.3 * size + width + 1.6 * size
    return _Group(elements, left, x - 1.6 * size, y + 0.2 * size)


def _text(kind: str, x: float, y: float, text: str, *, value: str | None = None, small: bool = False) -> str:
    size = f' font-size="{_SMALL}em"' if small else ""
    more = (
        f' <tspan class="value" font-size="{_SMALL}em">{escape(value)}</tspan>' if value is not None else ""
    )
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}"{size}>{escape(text)}{more}</text>'


def _path(*steps: str | float) -> str:
    return " ".join(step if isinstance(step, str) else _number(step) for step in steps)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _document(
    elements: Iterable[str], left: float, right: float, bottom: float, title: str, size: float
) -> str:
    margin = _MARGIN * size
    x, y, width, height = (
        _number(v) for v in (left - margin, -margin, right - left + 2 * margin, bottom + 2 * margin)
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="treemean-tree" role="img" '
            f'viewBox="{x} {y} {width} {height}" width="{width}" height="{height}" '
            f'font-family="{_FONTS}" font-size="{_number(size)}" text-anchor="middle">',
            f"<title>{escape(captions.printable(title))}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="paper" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>',
            *elements,
            "</svg>\n",
        ]
    )
