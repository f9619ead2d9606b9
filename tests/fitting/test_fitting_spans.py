"""Tables of spans as candidates and features of fitted hits."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from treemean import SpanTable, Treebank, average
from treemean.errors import FormatError, InvalidOption, MismatchError, TreemeanError
from treemean.fitting import HitModel, find_candidates, fit
from treemean.fitting.candidates.development import make_development
from treemean.fitting.candidates.features import features_of
from treemean.fitting.models.objectives import solve
from treemean.trees import SpanRow
from treemean.trees.punctuation import remove_punctuation


def table_for(runs: list[Treebank], seed: int, right: Treebank | None = None) -> SpanTable:
    """Return a table with the sets of some runs, more probable if they are right, and sets of nobody."""
    rng = random.Random(seed)
    rows = []
    for s, tree in enumerate(runs[0]):
        n = len(tree.words)
        masks = {c.mask for run in runs for c in run[s].constituents if 2 <= c.mask.bit_count() < n}
        masks |= {mask for mask in (rng.getrandbits(n) for _ in range(3)) if 2 <= mask.bit_count() < n}
        known = set() if right is None else {c.mask for c in right[s].constituents}
        spans = [(mask, rng.uniform(0.6, 0.9) if mask in known else rng.uniform(0, 0.5)) for mask in masks]
        rows.append(SpanRow(tree.words, tree.id, spans, float(max(n - 2, 0))))
    return SpanTable.from_rows(rows, "NT")


@pytest.fixture(scope="module")
def bare(gold: Treebank) -> Treebank:
    """Return the gold trees over the words that the runs have."""
    return remove_punctuation(gold)


@pytest.fixture(scope="module")
def tables(runs: list[Treebank], bare: Treebank) -> list[SpanTable]:
    return [table_for(runs[3:], 1, bare), table_for(runs[3:4], 2)]


def test_candidates_of_tables_and_their_posteriors(runs: list[Treebank], tables: list[SpanTable]) -> None:
    found = find_candidates([*runs[:2], *tables])
    assert (found.runs, found.tables, len(found.places)) == (2, 2, 4)
    plain = find_candidates(runs[:2])
    assert len(found) > len(plain)
    only_tables = found.counts == 0
    assert only_tables.any()
    np.testing.assert_array_equal(found.bits[~only_tables], plain.bits)
    np.testing.assert_array_equal(found.votes[~only_tables], plain.votes)
    times = found.votes.sum(axis=1) + np.array(
        [[place in set(own.tolist()) for own in found.places[2:]] for place in range(len(found))]
    ).sum(axis=1)
    np.testing.assert_array_equal(found.proposers, times)
    for number, table in enumerate(tables):
        nodes, places = found.nodes[2 + number], found.places[2 + number]
        np.testing.assert_array_equal(found.posteriors[places, number], table.posteriors[nodes])
        elsewhere = np.setdiff1d(np.arange(len(found)), places)
        assert not found.posteriors[elsewhere, number].any()


def test_values_of_candidates_are_maximised_wherever_they_come_from(
    runs: list[Treebank], tables: list[SpanTable]
) -> None:
    """The best trees under values are the same if every candidate is proposed by a tree of its own."""
    individuals = [run[:20] for run in runs[:2]] + [table[:20] for table in tables]
    found = find_candidates(individuals)
    values = np.random.default_rng(3).normal(size=len(found)).round(3)
    chosen = solve(individuals, found, values)
    one_by_one = SpanTable.from_rows(
        SpanRow(
            tree.words,
            "",
            [
                (sum(int(word) << 64 * k for k, word in enumerate(found.bits[place])), 1.0)
                for place in np.flatnonzero(found.sentence == s)
            ],
            0.0,
        )
        for s, tree in enumerate(individuals[0])
    )
    again = solve([one_by_one], find_candidates([one_by_one]), values)
    np.testing.assert_array_equal(chosen, again)


def test_what_is_right_among_spans_that_cross(
    runs: list[Treebank], gold: Treebank, bare: Treebank, tables: list[SpanTable]
) -> None:
    development = make_development([*runs[:2], *tables], gold, protocol="paper")
    known = [{c.mask for c in tree.constituents} for tree in bare]
    found = development.candidates
    masks = [sum(int(word) << 64 * k for k, word in enumerate(row)) for row in found.bits]
    right = [mask in known[s] for mask, s in zip(masks, found.sentence.tolist(), strict=True)]
    assert development.correct.tolist() == right
    assert development.scored.all()


def test_features_of_posteriors(runs: list[Treebank], tables: list[SpanTable]) -> None:
    found = find_candidates([*runs[:3], *tables])
    features = features_of(found)
    column = dict(zip(features.names, features.table.T, strict=True))
    assert np.isfinite(features.table).all()
    np.testing.assert_array_equal(column["posterior in table 2"], found.posteriors[:, 1])
    np.testing.assert_allclose(column["posterior"], found.posteriors.mean(axis=1))
    masks = [sum(int(word) << 64 * k for k, word in enumerate(row)) for row in found.bits]
    for place in range(0, len(found), 97):
        rivals = [
            column["posterior"][other]
            for other in np.flatnonzero(found.sentence == found.sentence[place])
            if masks[other] & masks[place] not in (0, masks[other], masks[place])
        ]
        assert column["posteriors of rivals"][place] == pytest.approx(sum(rivals), abs=1e-9)
        assert column["posterior of the strongest rival"][place] == max(rivals, default=0.0)
    plain = features_of(find_candidates(runs[:3]))
    assert plain.names == features.names[: len(plain.names)]


@pytest.mark.parametrize("model", ["logistic", "boosted"])
def test_tables_that_know_something_help(
    model: str, runs: list[Treebank], gold: Treebank, tables: list[SpanTable]
) -> None:
    with_tables, without = fit([*runs[:3], *tables], gold, model), fit(runs[:3], gold, model)
    scores = [m.report["cross_validated"]["overall"]["f1"] for m in (with_tables, without)]
    assert scores[0] > scores[1] + 3
    assert with_tables.tables == 2
    trees = with_tables.average([*runs[:3], *tables], probability=True)
    again = HitModel.from_dict(json.loads(json.dumps(with_tables.to_dict())))
    assert again.to_dict() == with_tables.to_dict()
    assert again.average([*runs[:3], *tables], probability=True) == trees
    assert (
        (trees.constituent_values["probability"] >= 0) & (trees.constituent_values["probability"] <= 1)
    ).all()


def test_selected_runs_keep_their_tables(
    runs: list[Treebank], gold: Treebank, tables: list[SpanTable]
) -> None:
    model = fit([*runs[:3], *tables], gold, "logistic", select="top", size=1)
    assert len(model.chosen) == 3
    assert model.chosen[1:] == (3, 4)
    assert len(model.average([*runs[:3], *tables])) == len(gold)


def test_what_does_not_go_together(runs: list[Treebank], gold: Treebank, tables: list[SpanTable]) -> None:
    few = [*runs[:2], tables[0]]
    for model in ("equal", "typed", "signed", "em", "agreement"):
        with pytest.raises(InvalidOption, match=f"{model} takes no tables of spans; logistic and boosted do"):
            fit(few, gold, model)
    with pytest.raises(InvalidOption, match="have no labels"):
        fit(few, gold, "logistic", labelled=True)
    with pytest.raises(InvalidOption, match="give at least one"):
        fit(tables, gold, "logistic")
    with pytest.raises(InvalidOption, match="after all treebanks"):
        fit([tables[0], *runs[:2]], gold, "logistic")
    with pytest.raises(TreemeanError, match="needs gold trees"):
        fit(few)
    with pytest.raises(MismatchError, match="119 sentences"):
        average([runs[0], tables[0][:119]])
    model = fit(few, gold, "logistic")
    with pytest.raises(
        MismatchError, match=r"fitted to 2 runs and 1 tables of spans \(--spans\), and 2 are given"
    ):
        model.average(runs[:2])
    with pytest.raises(MismatchError, match=r"fitted to 2 runs and 1 tables .* and 3 are given"):
        model.average(runs[:3])
    told = model.to_dict()
    for wrong in ({"tables": ["a"]}, {"tables": list(model.runs)}, {"tables": 1}, {"tables": None}):
        with pytest.raises(FormatError):
            HitModel.from_dict({**told, **wrong})
