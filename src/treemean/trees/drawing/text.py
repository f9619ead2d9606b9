"""Trees in a terminal, with box-drawing characters.

A branch is joined to a bar only where the bar has a corner or a tee (┌ ┬ ┐ ├ ┤ ┴ ┼). Where a plain │ stands
in a bar, the branch of another constituent passes it:

     S
 ┌───┴───┐
 V       │
 ├───────│───────┐     V is over "Wake" and "up"; the branch from S to NP passes
 │       NP      │
 │    ┌──┴──┐    │
Wake your friend up

Sentences too wide for the terminal are drawn sideways, one word on each line and the root at the left. Here
too a plain │ in a horizontal line means that the two pass each other:

S ─┬─ V ─┬──────── Wake
   └─────│─ NP ─┬─ your
         │      └─ friend
         └──────── up
"""

from __future__ import annotations

from dataclasses import dataclass

from treemean.trees.arguments import takes
from treemean.trees.drawing import captions
from treemean.trees.drawing.canvas import Arms, Canvas, glyph, paint
from treemean.trees.drawing.comparison import TreeComparison, comparison_with
from treemean.trees.drawing.layout import Arrangement, arrange, place
from treemean.trees.drawing.metrics import columns
from treemean.trees.tree import Tree

# By whether a constituent is right; None: it does not count.
_SIGNS = {True: " ✓", False: " ✗", None: ""}
_STYLES = {True: "right", False: "wrong", None: ""}


@takes(Tree)
def draw(
    tree: Tree,
    *,
    gold: Tree | TreeComparison | None = None,
    color: bool = False,
    tags: bool = True,
    functions: bool = False,
    values: str | None = None,
    max_width: int | None = None,
) -> str:
    """Draw a tree as lines of text, the root on top and the words in a row at the bottom.

    Parameters
    ----------
    tree : any tree, discontinuous or not.
    gold : another tree over the same words, or a comparison (`treemean.evaluation.compare_trees`). Of what
        counts, constituents that it has too (whatever their labels) are marked with ✓, others with ✗; those
        that only it has are listed below. The whole sentence and single words do not count.
    color : use ANSI colours as well: green, red and yellow for these; without `gold`, discontinuous
        constituents are coloured.
    tags : show part-of-speech tags above the words.
    functions : show grammatical functions after labels and tags, as in "NP-SB".
    values : the name of a number of the constituents (as "support") to show after their labels.
    max_width : in columns. A wider drawing is turned: words from top to bottom, the root at the left. Lines
        are never cut: if neither way fits, the narrower one is returned.

    Raises `MismatchError` if the gold tree has other words, `TreemeanError` if `values` is unknown.

    >>> print(draw(Tree("Wake your friend up".split(), [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")])))
         S
     ┌───┴───┐
     V       │
     ├───────│───────┐
     │       NP      │
     │    ┌──┴──┐    │
    Wake your friend up
    """
    comparison = comparison_with(tree, gold)
    if not tree.words:
        return captions.NO_WORDS
    texts = _Texts(
        captions.words_of(tree),
        captions.tags_of(tree, tags=tags, functions=functions),
        _labels(tree, comparison, functions, values),
        _styles(tree, comparison),
        color,
    )
    arrangement = arrange(tree)
    drawing = _upright(arrangement, texts)
    if max_width is not None and drawing.columns > max_width:
        drawing = min(drawing, _sideways(arrangement, texts), key=lambda d: d.columns)
    lines = drawing.canvas.render()
    if comparison is not None and comparison.missed:
        lines += ["", *_missed(tree, comparison, color, max_width)]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Texts:
    words: list[str]
    tags: list[str]
    labels: list[str]
    styles: list[str]
    color: bool

    @property
    def has_tags(self) -> bool:
        return any(self.tags)


@dataclass(frozen=True)
class _Drawing:
    canvas: Canvas
    columns: int


def _labels(tree: Tree, marked: TreeComparison | None, functions: bool, values: str | None) -> list[str]:
    texts = []
    for i, (c, number) in enumerate(zip(tree.constituents, captions.numbers_of(tree, values), strict=True)):
        text = captions.label_of(c, functions=functions)
        if number is not None:
            text += f" {captions.number_text(number)}"
        if marked is not None:
            text += _SIGNS[marked.right[i]]
        texts.append(text)
    return texts


def _styles(tree: Tree, comparison: TreeComparison | None) -> list[str]:
    if comparison is None:
        return ["" if c.is_continuous else "gapped" for c in tree.constituents]
    return [_STYLES[right] for right in comparison.right]


def _upright(arrangement: Arrangement, texts: _Texts) -> _Drawing:
    """Draw the root on top: two rows for each level, label and bar."""
    n, top = arrangement.words, arrangement.top
    word_widths = [max(columns(w), columns(t)) for w, t in zip(texts.words, texts.tags, strict=True)]
    label_widths = [columns(label) for label in texts.labels]
    extents = [((width - 1) // 2, width // 2) for width in word_widths + label_widths]
    places = place(arrangement, extents, gap=2, snap=1, whole=True)
    x = [int(position) for position in places.x]
    width = int(places.width) + 1
    canvas = Canvas(2 * top + 1 + texts.has_tags, width, color=texts.color)
    label_rows = [2 * (top - level) for level in arrangement.level]

    starts = label_rows[:]
    for node, text in enumerate(texts.words):
        canvas.write(2 * top + texts.has_tags, x[node] - (columns(text) - 1) // 2, text)
        tag = texts.tags[node]
        canvas.write(2 * top, x[node] - (columns(tag) - 1) // 2, tag)
        starts[node] += texts.has_tags and not tag  # the branch goes on where others have a tag
    for node, text in enumerate(texts.labels, n):
        canvas.write(label_rows[node], x[node] - extents[node][0], text, texts.styles[node - n])
    ends = [row + 1 for row in label_rows]
    _Branches(canvas, arrangement, x, starts, ends, ends, texts.styles, turned=False).draw()
    return _Drawing(canvas, width)


def _sideways(arrangement: Arrangement, texts: _Texts) -> _Drawing:
    """Draw the root at the left: a line for each word, a band of columns for each level."""
    n, top = arrangement.words, arrangement.top
    nodes = len(arrangement.level)
    places = place(arrangement, [(0, 0)] * nodes, gap=1, snap=1, whole=True)
    rows = [int(position) for position in places.x]
    widest = [0] * (top + 1)
    for node, text in enumerate(texts.labels, n):
        widest[arrangement.level[node]] = max(widest[arrangement.level[node]], columns(text))
    label_columns, bar_columns = [0] * (top + 1), [0] * (top + 1)
    for level in range(top, 0, -1):
        bar_columns[level] = label_columns[level] + widest[level] + 2
        label_columns[level - 1] = bar_columns[level] + 3
    word_column = label_columns[0] + max(columns(tag) + 1 for tag in texts.tags) * texts.has_tags
    width = word_column + max(columns(word) for word in texts.words)
    canvas = Canvas(len(texts.words), width, color=texts.color)

    starts = [label_columns[level] - 1 for level in arrangement.level]
    ends = starts[:]
    for node, text in enumerate(texts.words):
        canvas.write(rows[node], label_columns[0], texts.tags[node])
        canvas.write(rows[node], word_column, text)
    for node, text in enumerate(texts.labels, n):
        column = label_columns[arrangement.level[node]]
        canvas.write(rows[node], column, text, texts.styles[node - n])
        ends[node] = column + columns(text) + 1
    bars = [bar_columns[level] for level in arrangement.level]
    _Branches(canvas, arrangement, rows, starts, ends, bars, texts.styles, turned=True).draw()
    return _Drawing(canvas, width)


@dataclass(frozen=True)
class _Branches:
    """Draws all lines, described as for a root on top and turned on request.

    Parameters
    ----------
    x : the anchor of every node, along the sentence.
    starts, ends : of every node's text, in the direction from the root to the words.
    bars : where the bar of every node lies in this direction.
    """

    canvas: Canvas
    arrangement: Arrangement
    x: list[int]
    starts: list[int]
    ends: list[int]
    bars: list[int]
    styles: list[str]
    turned: bool

    def draw(self) -> None:
        """Draw vertical lines last: where two lines pass each other, the horizontal one gives way."""
        if self.turned:
            self._stems()
            self._bars()
        else:
            self._bars()
            self._stems()

    def _bars(self) -> None:
        for node in self.arrangement.constituents:
            children = {self.x[child] for child in self.arrangement.children[node]}
            first, last = min(children), max(children)
            if first == last:
                continue
            bar = slice(self.bars[node], self.bars[node] + 1)
            self._fill(bar, slice(first, last + 1), Arms.LEFT | Arms.RIGHT, node)
            for x in children | ({self.x[node]} if first <= self.x[node] <= last else set()):
                arms = Arms.LEFT * (x > first) | Arms.RIGHT * (x < last)
                arms |= Arms.UP * (x == self.x[node]) | Arms.DOWN * (x in children)
                self._fill(bar, slice(x, x + 1), Arms(arms), node)

    def _stems(self) -> None:
        for node in self.arrangement.constituents:
            lone = len(self.arrangement.children[node]) == 1
            self._stem(node, self.ends[node], self.bars[node] + lone, node)
        for node, parent in enumerate(self.arrangement.parent):
            if parent >= 0:
                self._stem(node, self.bars[parent] + 1, self.starts[node], parent)

    def _stem(self, node: int, start: int, end: int, owner: int) -> None:
        self._fill(slice(start, end), slice(self.x[node], self.x[node] + 1), Arms.UP | Arms.DOWN, owner)

    def _fill(self, depths: slice, x: slice, arms: Arms, owner: int) -> None:
        style = self.styles[owner - self.arrangement.words]
        if self.turned:
            self.canvas.fill(x, depths, glyph(arms.turned), style)
        else:
            self.canvas.fill(depths, x, glyph(arms), style)


def _missed(tree: Tree, comparison: TreeComparison, color: bool, max_width: int | None) -> list[str]:
    """List what only the gold tree has, one set of words after the other."""
    lines = ["missed:"]
    labels = [captions.chain_label(missed.labels) for missed in comparison.missed]
    indent = max(columns(label) for label in labels) + 4
    for missed, label in zip(comparison.missed, labels, strict=True):
        line = "  " + label + " " * (indent - 2 - columns(label))
        used = indent
        for word in captions.excerpt(tree, missed.mask):
            if max_width is not None and used > indent and used + columns(word) > max_width:
                lines.append(line)
                line, used = " " * indent, indent
            line += word + " "
            used += columns(word) + 1
        lines.append(line)
    return [paint(line.rstrip(), "missed" if color else "") for line in lines]
