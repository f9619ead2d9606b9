"""Candidates and their features, against definitions in plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

from strategies import parallel_treebanks
from treemean.errors import MismatchError
from treemean.evaluation import correctness, evaluate
from treemean.fitting.candidates import Candidates, find_candidates
from treemean.fitting.candidates.features import features_of
from treemean.fitting.candidates.geometry import find_edges, find_families, pair_blocks
from treemean.fitting.models.objectives import locate
from treemean.trees import Tree, Treebank
from treemean.trees.bitsets import compatible, spans_of


def mask_of(row: np.ndarray) -> int:
    return sum(int(word) << 64 * column for column, word in enumerate(row))


def inner_masks(tree: Tree) -> set[int]:
    return {c.mask for c in tree if 1 < len(c.positions) < len(tree.words)}


def naive_votes(runs: list[Treebank]) -> dict[tuple[int, int], list[bool]]:
    votes: dict[tuple[int, int], list[bool]] = {}
    for k, run in enumerate(runs):
        for s, tree in enumerate(run):
            for mask in inner_masks(tree):
                votes.setdefault((s, mask), [False] * len(runs))[k] = True
    return votes


def names_of(candidates: Candidates) -> list[tuple[int, int]]:
    return [(int(s), mask_of(row)) for s, row in zip(candidates.sentence, candidates.bits)]


@given(parallel_treebanks(runs=3, min_sentences=1, max_sentences=4))
def test_candidates_are_the_proposed_sets(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    names = names_of(found)
    assert dict(zip(names, found.votes.tolist(), strict=True)) == naive_votes(runs)
    assert names == sorted(names)
    assert found.counts.min(initial=1) >= 1
    for run, nodes, places in zip(runs, found.nodes, found.places, strict=True):
        trees = list(run)
        flat = [(s, c.mask) for s, tree in enumerate(trees) for c in tree]
        assert [flat[node] for node in nodes] == [names[place] for place in places]


@given(parallel_treebanks(runs=2, min_sentences=1, max_sentences=3, min_words=60, max_words=70))
def test_long_sentences_take_several_words_of_bits(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    assert dict(zip(names_of(found), found.votes.tolist(), strict=True)) == naive_votes(runs)


@given(parallel_treebanks(runs=3, min_sentences=1, max_sentences=4))
def test_values_are_spread_over_proposals(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    values = np.arange(len(found)) - 2.0
    total = np.zeros(len(found))
    for hits, run, nodes, places in zip(found.spread(values), runs, found.nodes, found.places, strict=True):
        assert len(hits) == len(run.labels)
        np.add.at(total, places, hits[nodes])
        others = np.setdiff1d(np.arange(len(hits)), nodes)
        assert not hits[others].any()
    np.testing.assert_allclose(total, values)


@given(parallel_treebanks(runs=2, min_sentences=1, max_sentences=4))
def test_correctness_is_what_evaluation_counts(pair: list[Treebank]) -> None:
    run, gold = pair
    scored, correct = correctness(run, gold, punctuation=())
    found = evaluate(run, gold, punctuation=()).per_sentence["overall"]
    for flags, counted in ((scored, found.predicted), (correct, found.matched)):
        names = list(zip(run.sentence_of[flags].tolist(), run.firsts[flags], run.sizes[flags], strict=True))
        assert np.array_equal(
            np.bincount(np.array([s for s, *_ in set(names)], dtype=np.int64), minlength=len(run)), counted
        )


def test_correctness_looks_past_punctuation() -> None:
    words, tags = ["Ja", ",", "dat", "klopt"], ["noun", "punct", "noun", "noun"]
    gold = Treebank.from_trees([Tree(words, [(range(4), ""), ({2, 3}, "")], tags=tags)])
    run = Treebank.from_trees([Tree(words, [(range(4), ""), ({1, 2, 3}, ""), ({2, 3}, ""), ({0}, "")])])
    scored, correct = correctness(run, gold)
    told = {c.positions: (bool(a), bool(b)) for c, a, b in zip(run[0], scored, correct, strict=True)}
    assert told[1, 2, 3] == told[2, 3] == (True, True)
    assert told[0, 1, 2, 3] == told[(0,)] == (False, False)


@given(parallel_treebanks(runs=3, min_sentences=1, max_sentences=4))
def test_edges_pairs_and_families(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    names = names_of(found)
    edges = find_edges(found.bits)
    for row, (_, mask) in enumerate(names):
        spans = spans_of(mask)
        assert (edges.start[row], edges.first_end[row]) == spans[0]
        assert (edges.last_start[row], edges.end[row]) == spans[-1]
    seen = 0
    for block in pair_blocks(found):
        rows = range(*block.rows.indices(len(found)))
        ends = np.append(block.starts[1:], len(block.other))
        for row, start, end in zip(rows, block.starts, ends, strict=True):
            s, a = names[row]
            assert [names[other][0] for other in block.other[start:end]] == [s] * (end - start)
            for at in range(start, end):
                b = names[block.other[at]][1]
                assert block.conflict[at] == (not compatible(a, b))
                assert block.inside[at] == (a != b and a & b == b)
                assert block.around[at] == (a != b and a & b == a)
                seen += 1
    per_sentence = np.bincount(found.sentence, minlength=1)
    assert seen == (per_sentence**2).sum()
    families = find_families(found)
    runs_of = np.repeat(np.arange(3), [len(p) for p in found.places])
    for q, (place, parent) in enumerate(zip(families.place, families.parent, strict=True)):
        s, mask = names[place]
        above = [m for m in inner_masks(runs[runs_of[q]][s]) if m != mask and m & mask == mask]
        assert families.depth[q] == len(above)
        if above:
            assert names[families.place[parent]][1] == min(above, key=int.bit_count)
            assert runs_of[parent] == runs_of[q]
        else:
            assert parent == -1


@given(parallel_treebanks(runs=3, min_sentences=1, max_sentences=4, min_words=2))
def test_some_features_mean_what_they_say(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    features = features_of(found)
    assert features.table.shape == (len(found), len(features.names))
    assert np.isfinite(features.table).all()
    votes = naive_votes(runs)
    columns = dict(zip(features.names, features.table.T, strict=True))
    for row, (s, mask) in enumerate(names_of(found)):
        share = {m: sum(v) / 3 for (other, m), v in votes.items() if other == s}
        rivals = {m: share[m] for m in share if not compatible(m, mask)}
        gapped = {m: v for m, v in rivals.items() if len(spans_of(m)) > 1}
        n = len(runs[0][s].words)
        spans = spans_of(mask)
        expected = {
            "votes": share[mask],
            "vote of run 2": float(votes[s, mask][1]),
            "fan-out": len(spans),
            "share of the sentence": mask.bit_count() / n,
            "rivals": np.log1p(len(rivals)),
            "votes of rivals": sum(rivals.values()),
            "strongest rival": max(rivals.values(), default=0),
            "strongest discontinuous rival": max(gapped.values(), default=0),
            "votes inside": sum(v for m, v in share.items() if m != mask and m & mask == m),
            "votes around": sum(v for m, v in share.items() if m != mask and m & mask == mask),
            "votes with the same end": sum(
                v for m, v in share.items() if m != mask and m.bit_length() == mask.bit_length()
            ),
            "candidates per word": len(share) / n,
        }
        if len(spans) > 1:
            (_, start), (end, _) = spans[0], spans[-1]
            gap = ((1 << end) - 1) ^ ((1 << start) - 1)
            if len(spans) == 2 and end - start > 1:
                expected["votes for the gap"] = share.get(gap, 0.0)
        for name, value in expected.items():
            assert columns[name][row] == pytest.approx(value), name


@given(parallel_treebanks(runs=2, min_sentences=1, max_sentences=4))
def test_the_candidates_of_a_tree_are_found_again(runs: list[Treebank]) -> None:
    found = find_candidates(runs)
    for run, places in zip(runs, found.places, strict=True):
        np.testing.assert_array_equal(locate(found, run), np.sort(places))


def test_the_order_of_runs_moves_only_their_votes() -> None:
    words = "a b c d".split()
    shapes = [[{0, 1}], [{1, 2}], [{0, 3}], [{0, 1}, {2, 3}]]
    runs = [
        Treebank.from_trees([Tree(words, [(range(4), ""), *((shape, "") for shape in tree)])])
        for tree in shapes
    ]
    base = find_candidates(runs)
    for order in itertools.permutations(range(4)):
        moved = find_candidates([runs[k] for k in order])
        np.testing.assert_array_equal(moved.bits, base.bits)
        np.testing.assert_array_equal(moved.votes, base.votes[:, list(order)])


def test_different_sentences_are_named() -> None:
    a = Treebank.from_trees([Tree(["x", "y"], [({0, 1}, "")])])
    b = Treebank.from_trees([Tree(["x", "z"], [({0, 1}, "")])])
    with pytest.raises(MismatchError, match="word 2"):
        find_candidates([a, b])


def test_nothing_proposed_is_no_error() -> None:
    flat = Treebank.from_trees([Tree(["x", "y"], [({0, 1}, "")])])
    found = find_candidates([flat, flat])
    assert len(found) == 0
    assert features_of(found).table.shape[0] == 0
