"""Drawings of the page are those of treemean; at any size and in both colours, axe finds nothing."""

from __future__ import annotations

import json
import os
from importlib.resources import files as resources
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import PICTURES, SIZES
from report_instances import small
from treemean import Tree
from treemean.trees.branching import branching
from treemean.trees.drawing.layout import arrange, place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from conftest import Opened

pytestmark = pytest.mark.browser


def _trees() -> list[Tree]:
    runs, gold = small(60)
    random = [branching(gold, "random", seed=seed, max_fan_out=3) for seed in range(2)]
    return [tree for bank in (gold, runs["run1"], *random) for tree in bank]


def test_layouts_are_those_of_treemean(chromium: Browser) -> None:
    assets = resources("treemean.reporting.html")
    source = "".join(assets.joinpath(f"{name}.js").read_text() for name in ("sets", "layout"))
    page = chromium.new_page()
    trees = _trees()
    given = [
        {"words": len(tree), "sets": [list(map(list, c.spans)) for c in tree], "halves": _halves(tree)}
        for tree in trees
    ]
    found = page.evaluate(
        f"""(given) => {{ {source}
        return JSON.stringify(given.map(({{ words, sets, halves }}) => {{
          const found = arrange(words, sets.map(maskOfSpans));
          const placed = place(found, halves, 0.75, 0.8);
          const bars = found.children.map((own, node) => own.length > 1 ? crossing(found, node) : []);
          return {{ ...found, ...placed, crossing: bars }};
        }})); }}""",
        given,
    )
    page.close()
    for tree, own in zip(trees, json.loads(found), strict=True):
        expected = arrange(tree)
        assert own["level"] == list(expected.level)
        assert own["parent"] == list(expected.parent)
        assert own["children"] == [list(children) for children in expected.children]
        assert _neighbours(own) == set(expected.neighbours)
        assert [tuple(home) for home in own["home"]] == list(expected.home)
        for node in expected.constituents:
            if len(expected.children[node]) > 1:
                assert own["crossing"][node] == expected.crossing(node)
        places = place(expected, [(half, half) for half in _halves(tree)], gap=0.75, snap=0.8)
        assert own["x"] == pytest.approx(places.x)
        assert own["width"] == pytest.approx(places.width)


def _neighbours(own: dict[str, Any]) -> set[tuple[int, int, int]]:
    """Return the neighbours on the rows of a page of which at least one has its label there."""
    return {
        (level, left, right)
        for level, row in enumerate(own["rows"])
        for left, right in pairwise(row)
        if level in (own["level"][left], own["level"][right])
    }


def _halves(tree: Tree) -> list[float]:
    return [len(word) / 3 for word in tree.words] + [1 + len(c.label) / 4 for c in tree]


def _axe() -> str:
    path = Path(os.environ.get("AXE", ""))
    if not path.is_file():
        pytest.skip("there is no axe-core: make test-browser installs it, and AXE names its file")
    return path.read_text()


VIEWS = {"overview": "", "sentence": "#s=23", "numbers": "#s=41&show=support&colour=support&min=40"}


@pytest.mark.parametrize(("size", "scheme"), list(product(SIZES, ("light", "dark"))))
@pytest.mark.parametrize("view", VIEWS)
def test_no_accessibility_violation(opened: Opened, view: str, size: str, scheme: str) -> None:
    page = opened("small", VIEWS[view], size=size, scheme=scheme)
    if view == "sentence":
        page.locator("figure[data-tree='1'] .accept").click()
        page.locator("figure[data-tree='2'] summary").click()
    _check(page)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{view}-{size}-{scheme}.png", full_page=view == "overview")


@pytest.mark.parametrize("name", ["nasty", "without gold", "one run"])
def test_no_accessibility_violation_in_other_reports(opened: Opened, name: str) -> None:
    for address in ("", "#s=1"):
        _check(opened(name, address))
    page = opened(name, "#view=sentences")
    page.keyboard.press("?")
    _check(page)


def _check(page: Page) -> None:
    page.evaluate(_axe())
    found = page.evaluate("axe.run(document)")
    told = [
        (violation["id"], [f"{n['html'][:120]} {n['failureSummary'][:200]}" for n in violation["nodes"][:3]])
        for violation in found["violations"]
    ]
    assert told == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("size", SIZES)
def test_nothing_sticks_out_of_the_window(opened: Opened, size: str) -> None:
    for address in VIEWS.values():
        page = opened("small", address, size=size)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]


def test_print_has_overview_and_sentence(opened: Opened) -> None:
    page = opened("small", "#s=23")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.is_visible("#overview")
    assert page.is_visible("#sentence-text")
    assert page.is_hidden("#list")
    assert page.locator("figure svg").count() == 7
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.pdf(path=PICTURES / "print.pdf", format="A4")
