"""The file itself: nothing from outside, nothing taken for markup, never larger than it may be."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from report_instances import IMAGE, SCRIPT, nasty, small
from treemean import InvalidOption, Treebank
from treemean.reporting.html import Page, compare_sides, make_page
from treemean.reporting.html.charts import nice_ticks


class Elements(HTMLParser):
    """All elements of a page with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = tag if tag in self.inside else ""
        if self._open:
            self.inside[tag].append("")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


@pytest.fixture(scope="module")
def page() -> Page:
    runs, gold = nasty()
    return make_page(compare_sides(runs, gold, title=f"A report about {SCRIPT}"))


def test_words_stay_words(page: Page) -> None:
    elements = Elements(page.html)
    assert [attrs.get("type") for tag, attrs in elements.found if tag == "script"] == [
        "application/json",
        None,
    ]
    assert not [tag for tag, _ in elements.found if tag in ("img", "iframe", "object")]
    data = json.loads(elements.inside["script"][0])
    assert {SCRIPT, IMAGE} <= set(data["sentences"]["words"]["texts"])
    assert data["sentences"]["id"] == ["<b>one</b>", "two & a half"]
    assert SCRIPT not in page.html


def test_no_attribute_runs_anything_and_nothing_comes_from_elsewhere(page: Page) -> None:
    for tag, attributes in Elements(page.html).found:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name != "style", "the policy would refuse it"
            if name in ("src", "href", "action", "data"):
                assert (value or "").startswith(("#", "data:image/svg+xml,")), (tag, name, value)
    assert "url(" not in page.html
    assert "@import" not in page.html
    assert set(re.findall(r"https?://[^\"'\s)]+", page.html)) <= {"http://www.w3.org/2000/svg"}


def test_the_policy_allows_exactly_the_script_and_the_style(page: Page) -> None:
    elements = Elements(page.html)
    [policy] = [a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    for text, kind in ((elements.inside["script"][1], "script"), (elements.inside["style"][0], "style")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_page_never_writes_html_from_strings() -> None:
    from importlib.resources import files

    for asset in files("treemean.reporting.html").iterdir():
        if asset.name.endswith(".js"):
            text = asset.read_text()
            for way in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
            ):
                assert way not in text, (asset.name, way)


def test_every_element_that_scripts_look_for_is_there(page: Page) -> None:
    ids = {attributes["id"] for _, attributes in Elements(page.html).found if "id" in attributes}
    asked = set(re.findall(r'\$\("([\w-]+)"\)(?!\?)', page.html))
    assert asked <= ids
    assert len(asked) > 30


def test_the_same_trees_make_the_same_bytes(page: Page) -> None:
    runs, gold = nasty()
    assert make_page(compare_sides(runs, gold, title=f"A report about {SCRIPT}")).html == page.html


def test_the_overview_tells_protocol_counts_and_what_was_dropped() -> None:
    runs, gold = small(30)
    html = make_page(compare_sides(runs, gold, protocol="paper")).html
    assert "30 sentences scored under the protocol paper" in html
    for text in (
        "What counts, exactly",
        "F1 by length",
        "Recall by label",
        "Agreement of runs",
        "Most disputed",
    ):
        assert text in html
    labelled = make_page(compare_sides(runs, gold, labelled=True)).html
    assert "protocol standard (labelled)" in labelled
    assert "F1 by label" in labelled
    without = make_page(compare_sides(runs)).html
    assert "There are no gold trees" in without
    assert 'id="wrong"' not in without


def test_one_run_alone() -> None:
    runs, gold = nasty()
    subject = compare_sides({"ann": runs["ann"]}, gold)
    assert [side.kind for side in subject.sides] == ["gold", "run"]
    html = make_page(subject).html
    assert "Agreement of runs" not in html
    assert make_page(compare_sides({"ann": runs["ann"]})).shown == 2


def test_treebanks_without_sentences() -> None:
    empty = Treebank.empty()
    assert make_page(compare_sides({"a": empty, "b": empty}, empty)).shown == 0
    assert make_page(compare_sides({"a": empty})).shown == 0


def test_what_does_not_fit_is_left_out_loudly() -> None:
    runs, gold = small(180)
    subject = compare_sides(runs, gold)
    whole = make_page(subject)
    assert whole.left_out == 0
    limit = 0.8 * len(whole.html.encode()) / 1e6
    part = make_page(subject, limit=limit)
    assert len(part.html.encode()) <= 1e6 * limit
    assert part.shown > 20
    assert part.shown + part.left_out == 180
    assert f"{part.left_out:,} of 180 sentences are not in this file" in part.html
    data = json.loads(Elements(part.html).inside["script"][0])["sentences"]
    kept = sorted(subject.order[: part.shown].tolist())
    assert data["number"] == [int(subject.sentences[place]) + 1 for place in kept]
    with pytest.raises(InvalidOption, match="no room for a single sentence"):
        make_page(subject, limit=0.01)


def test_a_large_report_is_small(lassy: Callable[[str, str], Treebank]) -> None:
    """Of 2,000 sentences and ten runs at most 6 MB."""
    names = [f"run{number:02d}" for number in range(1, 11)]

    def twice(name: str) -> Treebank:
        both = Treebank.concatenate([lassy("test", name), lassy("dev", name)])
        return both if len(both) >= 2000 else Treebank.concatenate([both, both])[:2000]

    subject = compare_sides({name: twice(name) for name in names}, twice("gold"))
    page = make_page(subject)
    assert page.shown >= 1900
    assert page.left_out == 0
    assert len(page.html.encode()) <= 6_000_000


def test_ticks_are_round() -> None:
    assert nice_ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert nice_ticks(2, 2)[0] <= 2 <= nice_ticks(2, 2)[-1]
