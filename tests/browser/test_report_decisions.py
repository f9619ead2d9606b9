"""Adjudication in Chromium: what is accepted, what is refused, what is kept, and the file that comes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import treemean
from commands import run
from treemean import Tree
from treemean.reporting.html import Subject

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from conftest import Opened

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it").expect
pytestmark = pytest.mark.browser


def exported(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click("#export")
    path = folder / "decisions.jsonl"
    download.value.save_as(path)
    assert download.value.suggested_filename == "decisions.jsonl"
    return path


def accept(page: Page, words: str) -> None:
    page.locator("#candidates tr", has_text=words).first.locator("input").click()


def test_a_tree_is_accepted_kept_and_exported(
    opened: Opened, subjects: dict[str, Subject], tmp_path: Path
) -> None:
    page, subject = opened("small", "#s=23"), subjects["small"]
    assert page.is_disabled("#export")
    page.get_by_label("Accept the tree of run3").click()
    assert page.inner_text("#message") == "The tree of run3 accepted."
    page.evaluate("location.hash = '#s=7'")
    expect(page.locator("#sentence-title")).to_have_text("Sentence 7")
    page.keyboard.press("a")
    assert page.inner_text("#decided-count") == "2 decided"
    page.reload()
    expect(page.locator("#decided-count")).to_have_text("2 decided")
    page.select_option("#decided", "yes")
    assert sorted(page.locator("#list .number").all_inner_texts()) == ["#23", "#7"]

    path = exported(page, tmp_path)
    run("convert", path, tmp_path / "decided.discbracket", cwd=tmp_path)
    decided = treemean.read(path)
    names = [side.name for side in subject.sides]
    expected = {7: subject.sides[1].trees[6], 23: subject.sides[names.index("run3")].trees[22]}
    assert [int(tree.metadata["sentence"]) for tree in decided] == [7, 23]
    for tree in decided:
        number = int(tree.metadata["sentence"])
        assert tree.words == subject.whole[number - 1].words
        assert tree.tags == subject.whole[number - 1].tags
    plain = treemean.transforms.remove_punctuation(decided)
    for tree, own in zip(plain, expected.values(), strict=True):
        assert [(c.mask, c.label) for c in tree] == [(c.mask, c.label) for c in own]
    assert len(treemean.read(tmp_path / "decided.discbracket")) == 2


def test_constituents_one_by_one_and_what_crosses_is_refused(opened: Opened, tmp_path: Path) -> None:
    page = opened("nasty", "#s=1")
    accept(page, "Wake … up")
    assert page.inner_text("#message") == "V [Wake … up] accepted."
    accept(page, "Wake … up")
    assert page.inner_text("#message") == "V [Wake … up] taken back."
    accept(page, "Wake … up")
    row = page.locator("#candidates tr", has_text="VP")
    row.first.locator("input").click()
    message = page.inner_text("#message")
    assert message.startswith("VP [your ")
    assert " crosses V [Wake … up], which you accepted" in message
    assert "refused" in page.get_attribute("#message", "class")
    assert not row.first.locator("input").is_checked()
    assert page.get_attribute("#message", "aria-live") == "polite"
    page.fill("#note", "a <b>note</b>")
    page.locator("#note").blur()
    [tree] = treemean.read(exported(page, tmp_path))
    assert {(c.positions, c.label) for c in tree} == {((0, 1, 2, 3, 4), "S"), ((0, 3), "V")}
    assert tree.metadata == {"adjudicated": "constituents", "sentence": "1", "note": "a <b>note</b>"}
    page.click("#clear")
    assert page.inner_text("#decided-count") == "nothing decided"


def test_another_label_takes_the_place_of_the_first(opened: Opened) -> None:
    page = opened("nasty", "#s=1")
    rows = page.locator("#candidates tr[data-set='1-3']")
    assert rows.count() == 2
    for place in (0, 1):
        rows.nth(place).locator("input").click()
    assert [rows.nth(place).locator("input").is_checked() for place in (0, 1)] == [False, True]


def test_a_click_in_a_drawing_accepts(opened: Opened) -> None:
    page = opened("nasty", "#s=1")
    page.locator("figure[data-tree='0'] .constituent[data-set='1-3'] .label").click()
    assert "accepted" in page.inner_text("#message")
    assert page.locator("figure[data-tree='0'] .constituent.accepted").count() == 1
    assert page.locator("#decision-tree .constituent").count() == 2


def test_an_accepted_tree_is_marked(opened: Opened) -> None:
    page = opened("small", "#s=41")
    button = page.get_by_label("Accept the tree of the average")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("#candidates input:checked").first.click()
    assert button.get_attribute("aria-pressed") == "false"
    for decided in ("1 decided", "nothing decided"):  # the second click takes it back
        button.click()
        assert page.inner_text("#decided-count") == decided
    page.locator("#candidates input").first.click()
    page.keyboard.press("j")  # a box that was ticked does not keep keys from working
    assert "41" not in page.inner_text("#sentence-title")


def test_export_and_import_again(opened: Opened, tmp_path: Path) -> None:
    page = opened("nasty", "#s=2")
    page.get_by_label("Accept the tree of gold").click()
    path = exported(page, tmp_path)
    [tree] = treemean.read(path)
    assert [c.label for c in tree][:2] == ["TOP", "S"]
    assert tree.constituents[1].function == "main"

    other = opened("nasty", "#view=sentences")
    assert other.inner_text("#decided-count") == "nothing decided"
    other.set_input_files("#import-file", path)
    expect(other.locator("#decided-count")).to_have_text("1 decided")
    again = tmp_path / "again"
    again.mkdir()
    assert exported(other, again).read_text() == path.read_text()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("Wake", "Walk"), "has other words"),
        (lambda text: text.replace('"sentence":"1"', '"sentence":"9"'), "names no sentence of this"),
        (lambda text: text[:40], "line 1"),
        (lambda text: text.replace("[[0,5]]", "[[0,2]]"), "cross"),
        (lambda text: text.replace('{"spans":[[0,5]],"label":"S"},', ""), "no constituent over all"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    opened: Opened, tmp_path: Path, change: object, reason: str
) -> None:
    page = opened("nasty", "#s=1")
    page.get_by_label("Accept the tree of gold").click()
    text = exported(page, tmp_path).read_text()
    changed = change(text)  # type: ignore[operator]
    assert changed != text
    page.click("#clear")
    (tmp_path / "changed.jsonl").write_text(changed)
    page.set_input_files("#import-file", tmp_path / "changed.jsonl")
    expect(page.locator("#message")).to_contain_text("imported")
    assert reason in page.inner_text("#message")
    assert page.inner_text("#decided-count") == "nothing decided"


def test_punctuation_makes_no_gaps(opened: Opened, tmp_path: Path) -> None:
    """Ring , [it old mother] . — a constituent around the comma holds it."""
    page = opened("nasty", "#s=2")
    page.get_by_label("Accept the tree of bob").click()
    [tree] = treemean.read(exported(page, tmp_path))
    assert isinstance(tree, Tree)
    assert (0, 1, 2) in [c.positions for c in tree]
    assert tree.is_continuous
