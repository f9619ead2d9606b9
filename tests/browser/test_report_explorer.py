"""The explorer in Chromium: search, sort, filters, slider, highlights, keys, links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from treemean import Tree
from treemean.evaluation import compare_trees
from treemean.reporting.html import Subject

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from conftest import Opened

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it").expect
pytestmark = pytest.mark.browser

SENTENCES = "#view=sentences"


def numbers(page: Page) -> list[int]:
    """Return the sentences of the list, in its order, scrolling through it."""
    found: list[int] = []
    box = page.locator("#list")
    box.evaluate("list => list.scrollTop = 0")
    count = int(re.match(r"[\d,]+", page.inner_text("#count"))[0].replace(",", ""))  # type: ignore[index]
    while len(found) < count:
        page.wait_for_timeout(30)
        for text in page.locator("#list .row .number").all_inner_texts():
            if (number := int(text[1:])) not in found:
                found.append(number)
        box.evaluate("list => list.scrollTop += list.clientHeight")
    return found


def shown(page: Page) -> int:
    return int(re.search(r"\d+", page.inner_text("#sentence-title"))[0])  # type: ignore[index]


def test_search_in_words_and_by_number(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("small", SENTENCES), subjects["small"]
    assert page.inner_text("#count") == "60 sentences"
    page.fill("#q", "EN")
    expect(page.locator("#count")).to_contain_text(" of ")
    wanted = [
        place + 1
        for place, tree in enumerate(subject.whole)
        if "en" in " ".join([*tree.words, tree.id]).lower()
    ]
    assert sorted(numbers(page)) == wanted
    page.fill("#q", "#17")
    expect(page.locator("#count")).to_contain_text("1 of")
    assert numbers(page) == [17]
    assert shown(page) == 17
    page.fill("#q", "no such words")
    page.wait_for_selector("#empty:visible")
    assert page.is_hidden("#sentence")


def test_search_by_id(opened: Opened) -> None:
    page = opened("nasty", SENTENCES)
    page.fill("#q", "a half")
    expect(page.locator("#count")).to_contain_text("1 of")
    assert numbers(page) == [2]


def test_every_sort(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("small", SENTENCES), subjects["small"]
    average = subject.average
    assert average is not None
    assert average.scores is not None
    counts = average.scores
    runs = sum(side.scores.f1 for side in subject.runs if side.scores is not None)
    gain = counts.f1 - runs / len(subject.runs)
    keys = {
        "dispute": -subject.dispute.round(4),
        "gain": -gain,
        "loss": gain,
        "errors": -(counts.predicted + counts.gold - 2 * counts.matched),
        "longest": -subject.whole.lengths,
        "shortest": subject.whole.lengths,
        "number": subject.sentences,
    }
    offered = page.locator("#sort option").evaluate_all("options => options.map(option => option.value)")
    assert set(offered) == set(keys)
    for name, values in keys.items():
        page.select_option("#sort", name)
        found = [round(float(values[number - 1]), 6) for number in numbers(page)]
        assert found == sorted(found), name


def test_filters(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("small", f"{SENTENCES}&sort=number"), subjects["small"]
    gold, average = subject.gold, subject.average
    assert gold is not None
    assert average is not None
    assert average.scores is not None
    wrong = average.scores.f1 < 100

    def places(test: object) -> list[int]:
        return [place + 1 for place in range(60) if test(place)]  # type: ignore[operator]

    page.select_option("#gap", "gold")
    assert numbers(page) == places(lambda s: not gold.trees[s].is_continuous)
    page.select_option("#gap", "average")
    assert numbers(page) == places(lambda s: not average.trees[s].is_continuous)
    page.select_option("#gap", "some")
    assert numbers(page) == places(lambda s: any(not side.trees[s].is_continuous for side in subject.sides))
    page.select_option("#gap", "")
    page.select_option("#label", "PP")
    assert numbers(page) == places(lambda s: any(c.label == "PP" for c in gold.trees[s]))
    page.select_option("#label", "")
    page.check("#wrong")
    assert numbers(page) == places(lambda s: wrong[s])


def drawn(page: Page, tree: int) -> list[str]:
    """Return the sets of the constituents that are drawn of a tree."""
    figure = page.locator(f"figure[data-tree='{tree}']")
    figure.scroll_into_view_if_needed()
    figure.locator("svg").wait_for()
    return figure.locator(".constituent").evaluate_all("groups => groups.map(group => group.dataset.set)")


def spans(tree: Tree) -> list[str]:
    return [",".join(f"{start}-{end}" for start, end in c.spans) for c in tree]


def test_all_trees_are_drawn_as_they_are(opened: Opened, subjects: dict[str, Subject]) -> None:
    for name in ("small", "nasty", "without gold", "one run"):
        page, subject = opened(name, SENTENCES), subjects[name]
        for number in (1, 2):
            page.evaluate(f"location.hash = '#s={number}'")
            expect(page.locator("#sentence-title")).to_contain_text(f"Sentence {number}")
            for place, side in enumerate(subject.sides):
                assert drawn(page, place) == spans(side.trees[number - 1])


def test_only_what_can_be_seen_is_drawn(opened: Opened) -> None:
    page = opened("small", "#s=41", size="phone")
    page.wait_for_selector("figure svg")
    assert page.locator("figure").count() == 7
    assert page.locator("figure .drawing svg").count() < 7
    assert page.locator("#list .row").count() < 30


def test_marks_and_missed_constituents(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("nasty", "#s=2"), subjects["nasty"]
    assert subject.gold is not None
    for place, side in list(enumerate(subject.sides))[1:]:
        drawn(page, place)
        told = compare_trees(side.trees[1], subject.gold.trees[1], subject.protocol, punctuation=())
        figure = page.locator(f"figure[data-tree='{place}']")
        assert figure.locator(".constituent.right").count() == told.right.count(True)
        assert figure.locator(".constituent.wrong").count() == told.right.count(False)
        labels = figure.locator(".constituent .label").all_text_contents()
        assert sum("✓" in label for label in labels) == told.right.count(True)
        assert sum("✗" in label for label in labels) == told.right.count(False)
        assert figure.locator(".missed").count() == len(told.missed)
        missed = figure.locator(".missed text").all_text_contents()
        assert sorted(missed) == sorted("+".join(m.labels) for m in told.missed)


def test_the_slider_collapses_what_lies_below(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("small", "#s=23"), subjects["small"]
    runs = [set(side.trees[22].masks) for side in subject.runs]
    everything = drawn(page, 1)
    page.fill("#min", "70")
    expect(page.locator("#min-told")).to_have_text("support below 70% collapsed")
    for place, side in list(enumerate(subject.sides))[1:]:
        tree = side.trees[22]
        whole = (1 << len(tree)) - 1
        kept = [c for c in tree if c.mask == whole or sum(c.mask in run for run in runs) / len(runs) >= 0.7]
        assert drawn(page, place) == spans(Tree(tree.words, kept))
    assert drawn(page, 0) == spans(subject.sides[0].trees[22])
    page.fill("#min", "0")
    expect(page.locator("#min-told")).to_have_text("nothing collapsed")
    assert drawn(page, 1) == everything


def test_pointing_at_a_constituent_lights_it_everywhere(opened: Opened, subjects: dict[str, Subject]) -> None:
    page, subject = opened("small", "#s=23"), subjects["small"]
    names = drawn(page, 1)
    name = names[-1]
    for place in range(len(subject.sides)):
        drawn(page, place)
    page.locator(f"figure[data-tree='1'] .constituent[data-set='{name}'] .label").hover()
    has = [place for place, side in enumerate(subject.sides) if name in spans(side.trees[22])]
    lit = page.locator("#trees .constituent.lit").evaluate_all(
        "groups => groups.map(group => Number(group.closest('figure').dataset.tree))"
    )
    assert sorted(set(lit)) == has
    start, end = map(int, name.split(",")[0].split("-"))
    assert page.locator("#sentence-text .lit").count() >= end - start
    assert page.locator("#candidates tr.lit").count() >= 1
    page.mouse.move(5, 5)
    assert page.locator(".lit").count() == 0


def test_keys(opened: Opened) -> None:
    page = opened("small", f"{SENTENCES}&sort=number")
    assert shown(page) == 1
    for key, expected in (("j", 2), ("ArrowRight", 3), ("k", 2), ("ArrowLeft", 1), ("k", 1)):
        page.keyboard.press(key)
        assert shown(page) == expected, key
    page.focus("#list")
    for key, expected in (("ArrowDown", 2), ("End", 60), ("ArrowUp", 59), ("Home", 1)):
        page.keyboard.press(key)
        assert shown(page) == expected, key
    assert page.get_attribute("#list", "aria-activedescendant") == "row-0"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("jk")  # in the field they are letters
    assert page.input_value("#q") == "jk"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert page.is_hidden("#help")


def test_the_slash_leads_from_the_overview_to_the_search(opened: Opened) -> None:
    page = opened("small")
    assert page.is_visible("#overview")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.is_hidden("#overview")


def test_links_to_sentences_and_filters(opened: Opened) -> None:
    page = opened("small", "#s=41&gap=gold&sort=longest&min=40&colour=support&show=support&q=e")
    assert shown(page) == 41
    asked = {"gap": "gold", "sort": "longest", "min": "40", "colour": "support", "q": "e"}
    for control, value in asked.items():
        assert page.input_value(f"#{control}") == value
    address = page.get_attribute("#link", "href")
    assert address == "#s=41"
    page.locator("#list .row").first.click()
    first = shown(page)
    assert first != 41
    assert f"s={first}" in page.url
    assert "gap=gold" in page.url
    page.go_back()
    expect(page.locator("#sentence-title")).to_have_text("Sentence 41")
    page.goto(page.url.split("#")[0] + "#s=7")
    expect(page.locator("#sentence-title")).to_have_text("Sentence 7")
    assert page.input_value("#gap") == ""


def test_the_overview_links_to_disputed_sentences(opened: Opened) -> None:
    page = opened("small")
    link = page.locator(".disputed a").first
    text = link.inner_text()
    link.click()
    page.wait_for_selector("#sentences:visible")
    words = page.locator("#sentence-text [data-position]").all_inner_texts()
    assert " ".join(words) == text


def test_every_drawing_has_a_text_alternative(opened: Opened) -> None:
    page = opened("nasty", "#s=1")
    for place in range(5):
        drawn(page, place)
        figure = page.locator(f"figure[data-tree='{place}']")
        assert figure.locator("svg[role=img]").get_attribute("aria-labelledby") == f"tree-{place}-title"
        assert "constituents" in figure.locator("svg title").text_content()
        figure.locator("summary").click()
        assert figure.locator("pre").inner_text().startswith("S [Wake your")
    average = page.locator("figure[data-tree='1'] pre").inner_text()
    assert "(right, support 67%)" in average


def test_words_that_look_like_scripts_stay_words(opened: Opened) -> None:
    for address in ("", "#s=1", "#s=2"):
        page = opened("nasty", address)
        page.wait_for_timeout(100)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert page.locator("main img").count() == 0
    assert "<img/src=x" in page.inner_text("#sentence-text")
    assert page.title() == "<b>Nasty</b> words"


def test_light_dark_and_back(opened: Opened) -> None:
    page = opened("small", scheme="light")

    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    for _ in range(2):
        page.click("#theme")
    dark = paper()
    assert dark != light
    page.reload()
    assert paper() == dark
    page.click("#theme")
    assert paper() == light
    assert opened("small", scheme="dark").evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_every_tree_has_its_own_tags(opened: Opened) -> None:
    page = opened("other tags", "#s=2")
    page.wait_for_selector("#trees figure svg")
    assert shown(page) == 2
    tags = []
    for figure in page.locator("#trees figure").all():
        figure.scroll_into_view_if_needed()  # only what is near the window is drawn
        expect(figure.locator("svg")).to_be_visible()
        tags.append(figure.locator("text.tag").all_text_contents())
    gold = ["v", "d", "a", "n"]
    assert [tags[0], tags[2], tags[3], tags[4]] == [gold, gold, [f"{tag}-bob" for tag in gold], []]
