"""SVG drawings: valid, complete, and nothing runs into anything else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from drawing_examples import GERMAN, GERMAN_GUESS, WAKE, supported
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from strategies import trees, trees_over
from treemean.errors import MismatchError, TreemeanError
from treemean.trees import Tree
from treemean.trees.drawing import draw_svg
from treemean.trees.drawing.metrics import ems

SVG = "{http://www.w3.org/2000/svg}"
SIZE = 14.0

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def parse(picture: str) -> ET.Element:
    return ET.fromstring(picture.encode())


def with_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def text_box(element: ET.Element) -> Box:
    """Estimate the space of a text."""
    own = SIZE * float((element.get("font-size") or "1em").removesuffix("em"))
    width = own * ems(element.text or "")
    for part in element:
        width += own * float((part.get("font-size") or "1em").removesuffix("em")) * ems(part.text or "")
    x, y = float(element.get("x", "")), float(element.get("y", ""))
    return x - width / 2, y - 0.75 * own, x + width / 2, y + 0.2 * own


def segments(path: ET.Element) -> list[Box]:
    """Return the straight lines of a path; of a round corner, the box in which it lies."""
    lines: list[Box] = []
    x = y = 0.0
    for command, arguments in re.findall(r"([MHVQ])([^MHVQ]*)", path.get("d", "")):
        numbers = [float(number) for number in arguments.split()]
        match command:
            case "M":
                x, y = numbers
                continue
            case "H":
                end = numbers[0], y
            case "V":
                end = x, numbers[0]
            case "Q":
                end = numbers[2], numbers[3]
        lines.append((min(x, end[0]), min(y, end[1]), max(x, end[0]), max(y, end[1])))
        x, y = end
    return lines


def meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def touch(a: Box, b: Box) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """Draw two trees over the same words."""
    tree = draw(trees(min_words=draw(st.sampled_from([1, 6]))))
    return tree, draw(trees_over(tree.words))


@given(trees(), st.booleans(), st.booleans())
def test_everything_is_there_once(tree: Tree, tags: bool, functions: bool) -> None:
    root = parse(draw_svg(tree, tags=tags, functions=functions))
    labels = with_class(root, "label")
    expected = [
        (c.label or "•") + (f"-{c.function}" if functions and c.function else "") for c in tree.constituents
    ]
    assert [label.text for label in labels] == expected
    assert [word.text for word in with_class(root, "word")] == list(tree.words)
    assert len(with_class(root, "tag")) == (len(tree) if tags else 0)
    groups = with_class(root, "constituent")
    assert [g.get("data-positions") for g in groups] == [
        " ".join(map(str, c.positions)) for c in tree.constituents
    ]
    assert len(with_class(root, "gapped")) == sum(not c.is_continuous for c in tree.constituents)


@given(pairs())
def test_no_text_meets_another_text_or_a_line(pair: tuple[Tree, Tree]) -> None:
    root = parse(draw_svg(pair[0], gold=pair[1]))
    boxes = [text_box(element) for element in root.iter(f"{SVG}text")]
    assert not any(meet(a, b) for a, b in combinations(boxes, 2))
    lines = [line for path in root.iter(f"{SVG}path") for line in segments(path)]
    assert not any(touch(box, line) for box in boxes for line in lines)
    left, top, width, height = map(float, root.get("viewBox", "").split())
    for box in boxes + lines:
        assert left < box[0]
        assert top < box[1]
        assert box[2] < left + width
        assert box[3] < top + height


@examples(150)
@given(trees(min_words=4, max_words=14))
def test_branches_of_different_constituents_never_touch(tree: Tree) -> None:
    """Where they pass each other, one of them has a gap."""
    branches = [segments(path) for path in with_class(parse(draw_svg(tree)), "branch")]
    for a, b in combinations(branches, 2):
        assert not any(touch(x, y) for x in a for y in b)


@examples(150)
@given(trees(min_words=4, max_words=14))
def test_branches_lead_from_a_label_to_its_children(tree: Tree) -> None:
    root = parse(draw_svg(tree, tags=False))
    labels, words = (
        [(float(e.get("x", "")), float(e.get("y", ""))) for e in with_class(root, kind)]
        for kind in ("label", "word")
    )
    for i, path in enumerate(with_class(root, "branch")):
        lines = segments(path)
        ends = {(x, y) for x, _, _, y in lines if y == max(b for a, _, _, b in lines if a == x)}
        for child in tree.children[i]:
            x, y = words[child.index] if child.is_word else labels[child.index]
            assert any(end_x == x and 0 < y - end_y < SIZE for end_x, end_y in ends)


@given(pairs())
def test_gold(pair: tuple[Tree, Tree]) -> None:
    tree, gold = pair
    root = parse(draw_svg(tree, gold=gold))
    counts = [1 < len(c) < len(tree) for c in tree.constituents]
    right = [c.mask in gold.masks for c in tree.constituents]
    classes = [g.get("class", "").split() for g in with_class(root, "constituent")]
    assert ["wrong" in c for c in classes] == [k and not r for k, r in zip(counts, right, strict=True)]
    assert ["right" in c for c in classes] == [k and r for k, r in zip(counts, right, strict=True)]
    missed = {c.mask for c in gold.constituents if 1 < len(c) < len(gold)} - tree.masks
    assert len(with_class(root, "missed-label")) == len(missed)
    legend = {element.text for element in with_class(root, "legend")}
    assert legend == {
        *(["in gold"] if any("right" in c for c in classes) else []),
        *(["not in gold"] if any("wrong" in c for c in classes) else []),
        *(["only in gold"] if missed else []),
    }
    assert not with_class(parse(draw_svg(tree, gold=gold, missed=False)), "missed-label")
    assert not with_class(root, "gapped")


def test_brackets_cover_the_missed_words() -> None:
    root = parse(draw_svg(GERMAN_GUESS, gold=GERMAN))
    (group,) = (g for g in with_class(root, "missed") if g.find(f"{SVG}text") is not None)
    spans = [segments(path)[0] for path in group.iter(f"{SVG}path") if path.get("class") is None]
    words = [float(word.get("x", "")) for word in with_class(root, "word")]
    covered = [p for p, x in enumerate(words) if any(left < x < right for left, _, right, _ in spans)]
    assert covered == [0, 2, 3, 5]


def test_values() -> None:
    tree = supported(WAKE, [1.0, 0.8, float("nan")])
    root = parse(draw_svg(tree, values="support"))
    assert [value.text for value in with_class(root, "value")] == ["1", "0.8"]
    styles = [path.get("style", "") for path in with_class(root, "branch")]
    assert styles == ["stroke-width:2.20;stroke-opacity:1.00", "stroke-width:1.90;stroke-opacity:0.86", ""]
    counts = parse(draw_svg(supported(WAKE, [5, 4, 3]), values="support"))
    assert all(path.get("style") is None for path in with_class(counts, "branch"))
    with pytest.raises(TreemeanError, match="there are no values at all"):
        draw_svg(WAKE, values="support")


def test_odd_texts_give_valid_xml() -> None:
    words = ["<&>", '"', "]]>", "\x00", "\ud800", "\uffff", "e\u0301"]
    picture = draw_svg(Tree(words, [(range(7), "</text>")]), title="a <b> & c\x01")
    root = parse(picture)
    assert [word.text for word in with_class(root, "word")][:3] == words[:3]
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "a <b> & c␁"


def test_the_sentence_is_the_title() -> None:
    title = parse(draw_svg(WAKE)).find(f"{SVG}title")
    assert title is not None
    assert title.text == "Tree of “Wake your friend up”"


def test_a_tree_without_words() -> None:
    (note,) = parse(draw_svg(Tree([], []))).iter(f"{SVG}text")
    assert note.text == "(a tree without words)"


def test_gold_over_other_words_is_refused() -> None:
    with pytest.raises(MismatchError):
        draw_svg(WAKE, gold=GERMAN)


def test_the_font_size_scales_everything() -> None:
    small, large = (parse(draw_svg(WAKE, font_size=size)) for size in (10, 20))
    assert float(large.get("width", "")) == pytest.approx(2 * float(small.get("width", "")), abs=0.1)
    assert float(large.get("height", "")) == pytest.approx(2 * float(small.get("height", "")), abs=0.1)
