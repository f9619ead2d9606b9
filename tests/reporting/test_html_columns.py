"""The columns of a report hold the trees as they are, and judge them as an evaluation does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from report_instances import nasty, small
from strategies import trees_over
from treemean import Tree, Treebank, agree, evaluate, transforms
from treemean.evaluation import compare_trees, get_protocol
from treemean.reporting.html import Subject, compare_sides, make_page
from treemean.reporting.html.columns import explorer_data
from treemean.trees.bitsets import mask_of


class Branch(NamedTuple):
    mask: int
    labels: tuple[tuple[str, str], ...]
    has: int
    verdicts: tuple[int, ...]
    counted: tuple[int, ...]


def decoded(data: dict[str, Any], gold: int | None) -> list[list[Branch]]:
    """Read columns as their description tells, slowly."""
    columns = data["branches"]
    spans, golds = iter(columns["spans"]), iter(columns.get("gold", []))
    place, sentences = 0, []
    for count in columns["count"]:
        found = []
        for _ in range(count):
            positions: list[int] = []
            end, more = 0, True
            while more:
                start, size = end + next(spans), next(spans)
                end, more = start + abs(size), size < 0
                positions += range(start, end)
            chain = columns["chains"][columns["chain"][place]]
            has = sum(column[place] << (30 * number) for number, column in enumerate(columns["has"]))
            counted = next(golds) if gold is not None and has >> gold & 1 else 0
            found.append(
                Branch(
                    mask_of(positions),
                    tuple(tuple(columns["labels"][code]) for code in chain),
                    has,
                    tuple(columns["verdict"][place] // 3**i % 3 for i in range(len(chain))),
                    tuple(counted >> i & 1 for i in range(len(chain))),
                )
            )
            place += 1
        sentences.append(found)
    assert next(spans, None) is None
    assert next(golds, None) is None
    return sentences


def everything(subject: Subject) -> dict[str, Any]:
    return explorer_data(subject, np.arange(len(subject.sentences)))


def check_trees(subject: Subject) -> None:
    """Every tree can be read from the columns."""
    gold = 0 if subject.gold is not None else None
    for s, branches in enumerate(decoded(everything(subject), gold)):
        for number, side in enumerate(subject.sides):
            own = [
                (branch.mask, *label)
                for branch in branches
                if branch.has >> number & 1
                for label in branch.labels
            ]
            assert own == [(c.mask, c.label, c.function) for c in side.trees[s]], (side.name, s)


def check_verdicts(subject: Subject) -> None:
    """What is right, wrong and missed is what drawings and scores say."""
    assert subject.gold is not None
    for s, branches in enumerate(decoded(everything(subject), 0)):
        gold = subject.gold.trees[s]
        for number, side in list(enumerate(subject.sides))[1:]:
            told = compare_trees(side.trees[s], gold, subject.protocol, punctuation=())
            verdicts = [v for b in branches if b.has >> number & 1 for v in b.verdicts]
            assert verdicts == [{None: 0, False: 1, True: 2}[right] for right in told.right]
    counted = [
        c for branches in decoded(everything(subject), 0) for b in branches for c in b.counted if b.has & 1
    ]
    evaluation = subject.sides[1].evaluation
    assert evaluation is not None
    if subject.protocol.duplicates == "multiset" or subject.protocol.labelled:
        assert sum(counted) == evaluation.overall.gold


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("protocol", ["standard", "paper", "discodop", "sentence"])
@pytest.mark.parametrize("instance", [nasty, lambda: small(20)], ids=["nasty", "small"])
def test_columns_hold_trees_and_judgements(
    instance: Callable[[], Any], protocol: str, labelled: bool
) -> None:
    runs, gold = instance()
    subject = compare_sides(runs, gold, protocol=protocol, labelled=labelled)
    check_trees(subject)
    check_verdicts(subject)


@st.composite
def several(draw: st.DrawFn) -> list[list[Tree]]:
    """Draw trees of some sentences, by several runs."""
    sentences = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    words = [tuple(f"w{p}" for p in range(n)) for n in sentences]
    return [[draw(trees_over(w)) for w in words] for _ in range(draw(st.integers(2, 4)))]


@examples(30)
@given(several(), st.booleans())
def test_any_trees_can_be_read_back(found: list[list[Tree]], labelled: bool) -> None:
    banks = [Treebank.from_trees(trees) for trees in found]
    runs = {f"run {number}": bank for number, bank in enumerate(banks[1:])}
    subject = compare_sides(runs, banks[0], labelled=labelled, punctuation=())
    check_trees(subject)
    check_verdicts(subject)
    check_trees(compare_sides({"gold": banks[0], **runs}, labelled=labelled, punctuation=()))


def test_more_trees_than_a_column_has_bits() -> None:
    runs, gold = nasty()
    check_trees(compare_sides({f"{name} {k}": run for k in range(25) for name, run in runs.items()}, gold))


def test_sentences_of_more_than_64_words() -> None:
    words = [f"w{p}" for p in range(130)]
    wide = Tree(words, [(range(130), "S"), (range(60, 70), "A"), ({1, 58, 72, 129}, "B")])
    flat = Tree(words, [(range(130), "S"), (range(128), "A")])
    check_trees(compare_sides({"a": Treebank.from_trees([wide]), "b": Treebank.from_trees([flat])}))


def test_scores_and_dispute_are_those_of_the_commands() -> None:
    runs, gold = small(30)
    subject = compare_sides(runs, gold, protocol="paper")
    for side in subject.runs:
        assert side.evaluation is not None
        assert side.evaluation.to_dict() == evaluate(runs[side.name], gold, "paper").to_dict()
    data = everything(subject)
    assert [sum(column) for column in data["scores"][2]] == [
        getattr(evaluate(runs["run1"], gold, "paper").overall, name)
        for name in ("matched", "predicted", "gold")
    ]
    alone = compare_sides(runs)
    assert everything(alone)["dispute"] == [round(d, 4) for d in agree(runs).dispute.tolist()]
    assert everything(alone)["scores"] == [None] * 6


def test_words_keep_their_punctuation() -> None:
    runs, gold = nasty()
    for subject in (compare_sides(runs, gold), compare_sides(runs)):
        data = everything(subject)
        texts = [data["words"]["texts"][code] for code in data["words"]["codes"]]
        assert texts == [word for tree in gold for word in tree.words]
        assert [texts[token] for token in data["punctuation"]] == ["!", ",", "."]


def test_the_fingerprint_is_of_sentences_and_trees() -> None:
    runs, gold = nasty()
    first = everything(compare_sides(runs, gold))["fingerprint"]
    assert everything(compare_sides(runs, gold, title="other"))["fingerprint"] == first
    assert everything(compare_sides({**runs, "ann": runs["bob"]}, gold))["fingerprint"] != first
    assert first in make_page(compare_sides(runs, gold)).html


def test_runs_without_punctuation_go_with_gold_that_has_it() -> None:
    runs, gold = nasty()
    stripped = {name: transforms.remove_punctuation(run) for name, run in runs.items()}
    with_it, without = compare_sides(runs, gold), compare_sides(stripped, gold)
    assert everything(with_it)["branches"] == everything(without)["branches"]
    assert get_protocol("standard") == with_it.protocol


def test_every_tree_has_its_own_tags() -> None:
    words, sets = ["Wake", "up", "."], [(range(3), "S")]
    runs = {
        name: Treebank.from_trees([Tree(words, sets, tags=tags)])
        for name, tags in {"a": ["V", "PRT", "."], "b": ["N", "PRT", "."], "c": None}.items()
    }
    data = everything(compare_sides(runs, runs["a"]))
    shown = [
        None if own is None else [own["texts"][code] for code in own["codes"]] for own in data["own_tags"]
    ]
    assert shown == [None, ["N", "PRT"], None, ["N", "PRT"], []]  # gold, the average by votes, a, b, c
    assert "own_tags" not in everything(compare_sides({"a": runs["a"], "b": runs["a"]}))
