"""A report of batches is that of all sentences at once; it holds no more sentences than it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from report_instances import small
from treemean import Treebank, sample
from treemean.agreement import agree
from treemean.experiments.report import report_of_parallel, report_of_runs
from treemean.fitting import fit
from treemean.reporting.html import ParallelTreebanks, compare_sides, make_page
from treemean.trees.strings import CodedStrings

RUNS, GOLD = small(120)


def in_batches(runs: Mapping[str, Treebank], gold: Treebank | None, size: int) -> ParallelTreebanks:
    banks = [*runs.values(), *([] if gold is None else [gold])]
    starts = range(0, len(banks[0]), size)
    return ParallelTreebanks(
        lambda: ([bank[start : start + size] for bank in banks] for start in starts),
        tuple(runs),
        gold=gold is not None,
    )


@pytest.fixture(scope="module")
def logistic() -> Any:
    runs, gold = small(60)
    return fit(list(runs.values()), gold, "logistic")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"labelled": True},
        {"protocol": "paper"},
        {"protocol": "sentence"},
        {"probability": True},
        {"model": True},
        {"most": 20},
        {"most": 7, "probability": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("with_gold", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_batches_change_no_byte(options: dict[str, Any], with_gold: bool, logistic: Any) -> None:
    """Averages, ties, punctuation and probabilities are those of all sentences, whatever the batches."""
    gold = GOLD if with_gold else None
    if "model" in options:
        options = {"model": logistic}
    expected = make_page(report_of_runs(RUNS, gold, **options)).html
    for size in (9, 50):
        assert make_page(report_of_parallel(in_batches(RUNS, gold, size), **options)).html == expected


def test_punctuation_tags_that_come_late_are_seen() -> None:
    """The first sentences have none, so punctuation seems to be told by words."""
    gold = sample.gold()[:40]
    late = Treebank.concatenate([gold.with_columns(tags=CodedStrings.constant("X", len(gold.words))), gold])
    for told in (late, None):
        expected = make_page(compare_sides({"a": late, "b": late}, told)).html
        found = report_of_parallel(in_batches({"a": late, "b": late}, told, 40), title="Trees side by side")
        assert re.sub(r"<section><h2>How it was made.*?</section>", "", make_page(found).html) == expected


def test_the_most_disputed_sentences_are_held() -> None:
    page = make_page(report_of_parallel(in_batches(RUNS, GOLD, 16), most=30))
    assert (page.shown, page.left_out, page.too_large) == (30, 90, False)
    assert "90 of 120 sentences are not in this file: only the 30 most disputed ones" in page.html
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.html)[1])["sentences"]  # type: ignore[index]
    everything = report_of_runs(RUNS, GOLD)
    assert data["number"] == (np.sort(everything.order[:30]) + 1).tolist()
    assert "120 sentences scored" in page.html
    dispute = agree(RUNS).dispute
    assert data["dispute"] == [round(dispute[number - 1], 4) for number in data["number"]]


def test_the_first_sentences_of_a_single_run_are_held() -> None:
    page = make_page(report_of_parallel(in_batches({"a": RUNS["run1"]}, GOLD, 16), most=30))
    assert "only the 30 first ones" in page.html
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.html)[1])["sentences"]  # type: ignore[index]
    assert data["number"] == [*range(1, 31)]


def test_words_of_sentences_that_are_not_held_are_forgotten() -> None:
    """Or vocabularies would grow with the input."""
    subject = report_of_parallel(in_batches(RUNS, GOLD, 16), most=3)
    used = {word for tree in subject.whole for word in tree.words}
    assert set(subject.whole.words.texts) == used
    assert all(len(side.trees.words.texts) <= len(used) for side in subject.sides)
