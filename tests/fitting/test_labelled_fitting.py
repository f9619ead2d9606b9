"""Fitting with labels: candidates and features against their definitions, trees against brute force."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from fitting_instances import ONE_KIND
from hypothesis import given
from hypothesis import strategies as st

import treemean
from commands import run
from examples import examples
from labelled_instances import random_tree
from treemean import sample
from treemean.averaging import average
from treemean.averaging.reference.labelled import all_trees, make_labelled_problem
from treemean.averaging.request import squared_beta
from treemean.averaging.weights import make_weights
from treemean.errors import FormatError, InvalidOption, TreemeanError
from treemean.evaluation import evaluate
from treemean.fitting import HitModel, add_probabilities, find_candidates, fit
from treemean.fitting.candidates import Candidates
from treemean.fitting.candidates.development import make_development
from treemean.fitting.candidates.features import features_of
from treemean.fitting.models.logistic import solved
from treemean.trees import CodedStrings, Tree, Treebank

#: Sentence, set of words, label, and how many of this label stand above over the same words.
Name = tuple[int, int, str, int]


@st.composite
def runs_with_labels(draw: st.DrawFn, most: int = 4) -> list[Treebank]:
    """Draw runs over some sentences of up to four words, with unary chains."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    lengths = [rng.randint(1, 4) for _ in range(draw(st.integers(1, 3)))]
    count = draw(st.integers(1, most))
    return [
        Treebank.from_trees([random_tree(n, rng, rng.choice([1, 3])) for n in lengths]) for _ in range(count)
    ]


def names_of_tree(s: int, tree: Tree) -> list[Name]:
    """Name the constituents of a tree, one after the other."""
    seen: Counter[tuple[int, str]] = Counter()
    names = []
    for c in tree:
        names.append((s, c.mask, c.label, seen[c.mask, c.label]))
        seen[c.mask, c.label] += 1
    return names


def names_of(candidates: Candidates) -> list[Name]:
    labelling = candidates.labelling
    assert labelling is not None
    columns = zip(candidates.sentence, candidates.bits[:, 0], labelling.label, labelling.copy)
    return [(int(s), int(mask), labelling.texts[label], int(copy)) for s, mask, label, copy in columns]


@given(runs_with_labels())
def test_candidates_are_the_labelled_constituents(runs) -> None:
    found = find_candidates(runs, labelled=True)
    votes: dict[Name, list[bool]] = {}
    for k, bank in enumerate(runs):
        for s, tree in enumerate(bank):
            for name in names_of_tree(s, tree):
                votes.setdefault(name, [False] * len(runs))[k] = True
    names = names_of(found)
    assert names == sorted(votes)
    assert dict(zip(names, found.votes.tolist(), strict=True)) == votes
    for bank, nodes, places in zip(runs, found.nodes, found.places, strict=True):
        flat = [name for s, tree in enumerate(bank) for name in names_of_tree(s, tree)]
        assert nodes.tolist() == list(range(len(flat)))
        assert [names[place] for place in places] == flat
        assert found.find(bank).tolist() == places.tolist()
    sets = found.labelling.sets
    plain = find_candidates(runs)
    inner = np.flatnonzero(sets.inner)
    assert np.array_equal(sets.bits[inner], plain.bits)
    assert np.array_equal(sets.votes[inner], plain.votes)
    assert [(s, mask) for s, mask, *_ in names] == [
        (int(sets.sentence[c]), int(sets.bits[c, 0])) for c in found.labelling.set_of
    ]


@given(runs_with_labels())
def test_trees_of_others_are_found_by_set_label_and_copy(runs) -> None:
    found = find_candidates(runs[1:] or runs, labelled=True)
    names = names_of(found)
    flat = [name for s, tree in enumerate(runs[0]) for name in names_of_tree(s, tree)]
    assert found.find(runs[0]).tolist() == [names.index(name) if name in names else -1 for name in flat]


@given(runs_with_labels(), st.data())
def test_leaving_out_a_run(runs, data) -> None:
    left_out = data.draw(st.integers(0, len(runs) - 1))
    others = [bank for k, bank in enumerate(runs) if k != left_out]
    if not others:
        return
    found = find_candidates(runs, labelled=True).without_run(left_out)
    expected = find_candidates(others, labelled=True)
    assert names_of(found) == names_of(expected)
    assert np.array_equal(found.votes, expected.votes)
    assert np.array_equal(found.labelling.set_of, expected.labelling.set_of)
    assert np.array_equal(found.labelling.sets.bits, expected.labelling.sets.bits)
    assert [p.tolist() for p in found.places] == [p.tolist() for p in expected.places]
    assert np.array_equal(features_of(found).table, features_of(expected).table)


@given(runs_with_labels())
def test_features_of_labels_are_what_they_say(runs) -> None:
    found = find_candidates(runs, labelled=True)
    names, features = names_of(found), features_of(found, ["label: A", "label: Z"])
    assert len(set(features.names)) == len(features.names)
    column = dict(zip(features.names, features.table.T, strict=True))
    of_sets = features_of(found.labelling.sets)
    for name, values in zip(of_sets.names, of_sets.table.T, strict=True):
        assert np.array_equal(column[name], values[found.labelling.set_of])
    proposed = [[names_of_tree(s, tree) for s, tree in enumerate(bank)] for bank in runs]
    share = {n: sum(n in trees[n[0]] for trees in proposed) / len(runs) for n in names}
    for place, name in enumerate(names):
        s, mask, label, copy = name
        others = [share[n] for n in names if n[:2] == (s, mask) and n != name]
        chains = [[n for n in trees[s] if n[1] == mask] for trees in proposed if name in trees[s]]
        has_set = sum(any(n[1] == mask for n in trees[s]) for trees in proposed)
        words = len(runs[0][s].words)
        expected = {
            **{f"label vote of run {k + 1}": name in trees[s] for k, trees in enumerate(proposed)},
            "label votes": share[name],
            "label votes squared": share[name] ** 2,
            "one label vote": len(chains) == 1,
            "all label votes": len(chains) == len(runs),
            "share of the set's votes": len(chains) / has_set,
            "labels over the set": np.log(1 + len(others)),
            "strongest other label": max(others, default=0),
            "lead over the strongest other label": share[name] - max(others, default=0),
            "copies above": copy,
            "labels of the chain": np.mean([len(chain) for chain in chains]),
            "place in the chain": np.mean([chain.index(name) for chain in chains]),
            "one word": mask.bit_count() == 1,
            "whole sentence": mask.bit_count() == words,
            "label: A": label == "A",
            "label: Z": False,
        }
        assert expected.keys() | set(of_sets.names) == set(features.names)
        for feature, value in expected.items():
            assert column[feature][place] == pytest.approx(float(value)), feature


def test_frequent_labels_have_a_column() -> None:
    trees = [Tree(["a", "b"], [({0, 1}, label)]) for label in ["N"] * 12 + ["V"] * 9 + ["x\n"] * 12]
    bank = Treebank.from_trees(trees)
    names = features_of(find_candidates([bank, bank], labelled=True)).names
    assert [name for name in names if name.startswith("label: ")] == ["label: N"]


@given(runs_with_labels(3), st.sampled_from(["keep", "none"]))
@examples(100)
def test_sums_of_values_against_all_labelled_trees(runs, unaries) -> None:
    candidates = find_candidates(runs, labelled=True)
    values = np.random.default_rng(len(candidates)).integers(-4, 5, len(candidates)) / 4
    result = average(runs, hits=candidates.spread(values), additive=True, labelled=True, unaries=unaries)
    worth = dict(zip(names_of(candidates), values.tolist(), strict=True))
    for s, mean in enumerate(result):
        trees = [bank[s] for bank in runs]
        problem = make_labelled_problem(
            trees, make_weights(None, len(trees)), squared_beta(1), unaries, Counter()
        )
        sums = [
            sum(
                worth[s, mask, label, chain[:place].count(label)]
                for mask, chain in (problem.candidates[c] for c in indices)
                for place, label in enumerate(chain)
            )
            for indices in all_trees(problem)
        ]
        assert sum(worth[name] for name in names_of_tree(s, mean)) == pytest.approx(max(sums))


@given(runs_with_labels())
def test_correct_is_what_labelled_scores_match(runs) -> None:
    if len(runs) < 2 or len(runs[0]) < 2:
        return
    gold, *others = runs
    data = make_development(others, gold, protocol="standard", labelled=True, folds=2)
    right = {name for s, tree in enumerate(gold) for name in names_of_tree(s, tree)}
    names = names_of(data.candidates)
    assert data.scored.all()
    assert data.correct.tolist() == [name in right for name in names]
    inner = data.candidates.inner
    for k, bank in enumerate(others):
        counts = evaluate(bank, gold, labelled=True).overall
        assert counts.matched == (data.correct & inner & data.candidates.votes[:, k]).sum()
        assert counts.gold == data.gold_counts[:, 0].sum()


# ---- whole fits -------------------------------------------------------------------------------------


def confused(bank: Treebank, rate: float, seed: int) -> Treebank:
    """Return trees in which some labels are drawn anew."""
    rng = np.random.default_rng(seed)
    changed = rng.random(len(bank.labels)) < rate
    codes = np.where(changed, rng.permutation(bank.labels.codes), bank.labels.codes).astype(np.int32)
    return bank.with_columns(labels=CodedStrings(codes, bank.labels.vocabulary))


@pytest.fixture(scope="module")
def gold() -> Treebank:
    return treemean.transforms.remove_punctuation(sample.gold()[:120])


@pytest.fixture(scope="module")
def runs(gold) -> list[Treebank]:
    """Labels and sets of the gold, spoilt."""
    parses = sample.noisy_parses(gold, runs=3, seed=3)
    labelled = [
        Treebank.from_trees(
            tree.replace(constituents=[replace(c, label=right.get(c.mask, "NP")) for c in tree])
            for tree, right in zip(bank, ({c.mask: c.label for c in tree} for tree in gold), strict=True)
        )
        for bank in parses
    ]
    return [confused(bank, 0.2, seed) for seed, bank in enumerate(labelled)]


@pytest.mark.parametrize("name", ONE_KIND)
def test_every_model_learns_labels_and_survives_its_file(name, runs, gold, tmp_path) -> None:
    fitted = fit(runs, gold, name, labelled=True, folds=2, protocol="standard", target="overall")
    assert fitted.labelled
    result = fitted.average(runs, probability=True)
    assert result.sentence_values["optimal"].all()
    score = evaluate(result, gold, labelled=True).overall.f1
    assert score > max(evaluate(bank, gold, labelled=True).overall.f1 for bank in runs)
    if name in ("logistic", "boosted"):
        assert (
            fitted.report["cross_validated"]["overall"]["f1"] > fitted.report["plain_average"]["overall"] + 2
        )
    fitted.save(tmp_path / "hits.json")
    again = treemean.fitting.load(tmp_path / "hits.json")
    assert again.labelled
    assert again.average(runs, probability=True) == result
    assert again.to_dict() == fitted.to_dict()
    assert np.isfinite(result.constituent_values["probability"]).all()


def test_probabilities_are_those_of_labels(runs, gold) -> None:
    fitted = fit(runs, gold, "logistic", labelled=True, folds=2)
    mean = average(runs)
    wrong = mean.with_columns(labels=CodedStrings.of(["?"] * len(mean.labels)))
    assert not fitted.with_probabilities(wrong, runs).constituent_values["probability"].any()
    told = fitted.with_probabilities(gold, runs).constituent_values["probability"]
    assert 0 < told.mean() < 1
    alone = add_probabilities(mean, runs, labelled=True).constituent_values["probability"]
    without = add_probabilities(mean, runs).constituent_values["probability"]
    inner = (mean.sizes > 1) & (mean.sizes < mean.lengths[mean.sentence_of])
    assert alone[inner].mean() < without[inner].mean()  # runs agree more on sets than on labels


def test_the_wrong_kind_of_average_is_refused(runs, gold) -> None:
    without, labelled = (fit(runs, gold, "equal", labelled=flag) for flag in (False, True))
    with pytest.raises(InvalidOption, match="without labels, and the average is a labelled one"):
        without.average(runs, labelled=True)
    with pytest.raises(InvalidOption, match="of labelled constituents, and the average is one without"):
        labelled.average(runs, labelled=False)
    assert without.average(runs) == average(runs)
    assert labelled.average(runs) == average(runs, labelled=True)
    assert labelled.average(runs, unaries="none") == average(runs, labelled=True, unaries="none")


def test_binary_trees_with_labels(runs, gold) -> None:
    fitted = fit(runs, gold, "logistic", labelled=True, folds=2)
    for tree in fitted.average(runs, binary=True)[:10]:
        assert all(len(children) <= 2 for children in tree.children)


def test_files_of_earlier_versions_are_for_trees_without_labels(runs, gold) -> None:
    data = fit(runs, gold, "logistic", folds=2).to_dict()
    assert data["labelled"] is False
    expected = HitModel.from_dict(data).average(runs)
    old = {name: value for name, value in data.items() if name != "labelled"} | {"version": 2}
    assert HitModel.from_dict(old).average(runs) == expected
    assert HitModel.from_dict({**old, "version": 1}).average(runs) == expected
    for value in (None, "yes", 1):
        with pytest.raises(FormatError, match="labelled"):
            HitModel.from_dict({**data, "labelled": value})
    with pytest.raises(FormatError, match="incomplete"):
        HitModel.from_dict({**old, "version": 3})


def test_trees_without_labels_are_told(runs, gold) -> None:
    bare = runs[1].with_columns(labels=CodedStrings.of([""] * len(runs[1].labels)))
    with pytest.raises(TreemeanError, match="run 2 has no labels"):
        fit([runs[0], bare], gold, "logistic", labelled=True)


def test_large_systems_are_solved_in_parts() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 95, 96, 140, 230):
        x = rng.standard_normal((size, 2 * size))
        matrix, right = x @ x.T, rng.standard_normal(size)
        np.testing.assert_allclose(matrix @ solved(matrix, right), right, atol=1e-8)


def test_the_commands(runs, gold, tmp_path) -> None:
    names = [f"run{k}.jsonl" for k in (1, 2, 3)]
    for name, bank in zip([*names, "gold.jsonl"], [*runs, gold], strict=True):
        treemean.write(bank[:40], tmp_path / name)
    fitting = ["fit", *names, "--gold", "gold.jsonl", "--model", "logistic", "--folds", "2"]
    shown = run(*fitting, "--labelled", "-o", "labelled.json", cwd=tmp_path)
    assert "labelled F1" in shown.stdout
    assert "labels by vote" in shown.stdout
    assert json.loads((tmp_path / "labelled.json").read_text())["labelled"] is True
    averaging = ["average", *names, "-o", "mean.jsonl", "--hits", "labelled.json"]
    run(*averaging, "--labelled", "--probability", cwd=tmp_path)
    fitted = treemean.fitting.load(tmp_path / "labelled.json")
    expected = fitted.average([bank[:40] for bank in runs], probability=True)
    mean = treemean.read(tmp_path / "mean.jsonl")
    assert [tree.constituents for tree in mean] == [tree.constituents for tree in expected]
    refused = run(*averaging, cwd=tmp_path, code=1)
    assert "labelled.json: the hits are of labelled constituents" in refused.stderr
