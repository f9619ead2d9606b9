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

from treemean.trees import bitsets
from treemean.trees.drawing import captions
from treemean.trees.drawing.comparison import Comparison, Missed, compare
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


def draw_svg(
    tree: Tree,
    *,
    gold: Tree | None = None,
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
    gold : another tree over the same words. Constituents that it has too (whatever their labels) are green,
        others orange and dashed.
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
    comparison = None if gold is None else compare(tree, gold)
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
        comparison: Comparison | None,
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
            self.arrangement,
            [(half, half) for half in self.half_widths],
            gap=_GAP * size,
            snap=_SNAP * size,
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
        shares = bool(known) and 0 <= min(known) and max(known) <= 1
        for i, c in enumerate(self.tree.constituents):
            node, number = self.arrangement.words + i, self.numbers[i]
            strength = ""
            if shares and number is not None:
                strength = f' style="stroke-width:{0.7 + 1.5 * number:.2f};stroke-opacity:{0.3 + 0.7 * number:.2f}"'
            positions = " ".join(map(str, c.positions))
            yield f'<g class="{self._classes(i)}" data-positions="{positions}">'
            yield f'<path class="branch"{strength} d="{self._branches(node)}"/>'
            yield self._label(node, i)
            yield "</g>"

    def _classes(self, i: int) -> str:
        if self.comparison is not None:
            return "constituent right" if self.comparison.right[i] else "constituent wrong"
        return "constituent" if self.tree.constituents[i].is_continuous else "constituent gapped"

    def _label(self, node: int, i: int) -> str:
        number = self.numbers[i]
        value = None if number is None else captions.number_text(number)
        return _text("label", self.x[node], self.y[node], self.label_texts[i], value=value)

    def _branches(self, node: int) -> str:
        """Return the path of the bar, with a gap for every branch that passes, and of its stems."""
        size, x = self.size, self.x
        start = self.y[node] + _LABEL_BOTTOM * size
        bar = self.y[node] + _BAR * size
        first, *_, last = children = (*self.arrangement.children[node],) * (
            2 if len(self.arrangement.children[node]) == 1 else 1
        )
        return ""
