"""Hit models: their estimates, what is maximised, edge cases, files."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import parallel_treebanks
from treemean import sample
from treemean.averaging import average
from treemean.errors import FormatError, InvalidOption, MismatchError, MissingDependency, TreemeanError
from treemean.evaluation import evaluate
from treemean.fitting import (
    MODELS,
    CorpusObjective,
    ExpectedObjective,
    HitModel,
    SentenceObjective,
    em,
    find_candidates,
    fit,
    load,
)
from treemean.fitting.candidates import Candidates
from treemean.fitting.development import make_development
from treemean.fitting.forest import Forest
from treemean.fitting.logistic import PENALTIES, fit_path, weighted_gram
from treemean.fitting.objectives import settle, solve
from treemean.fitting.selection import select
from treemean.trees import Tree, Treebank
from treemean.trees.bitsets import compatible


@pytest.fixture(scope="module")
def runs() -> list[Treebank]:
    return [run[:120] for run in sample.runs()]


@pytest.fixture(scope="module")
def gold() -> Treebank:
    return sample.gold()[:120]


def same(a: Treebank, b: Treebank) -> bool:
    return a == b


def bank(*shapes: list[set[int]], n: int = 4) -> Treebank:
    words = [f"w{p}" for p in range(n)]
    return Treebank.from_trees([Tree(words, [(range(n), ""), *((c, "") for c in shape)]) for shape in shapes])


# ---- every model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_model_fits_averages_and_survives_its_file(name, runs, gold, tmp_path) -> None:
    fitted = fit(runs, gold, name, folds=3)
    assert fitted.name == name
    result = fitted.average(runs)
    assert result.sentence_values["optimal"].all()
    score = evaluate(result, gold).overall.f1
    assert score > max(evaluate(run, gold).overall.f1 for run in runs)
    fitted.save(tmp_path / "hits.json")
    again = load(tmp_path / "hits.json")
    assert same(again.average(runs), result)
    assert again.to_dict() == fitted.to_dict()
    hits = fitted.hits(runs)
    assert [len(h) for h in hits] == [len(run.labels) for run in runs]
    report = fitted.report["cross_validated"]
    assert all(report[m]["low"] <= report[m]["f1"] <= report[m]["high"] for m in report)
    assert fitted.report["schemes"] >= 1
    assert [run["sentences"] for run in fitted.provenance["runs"]] == [120] * len(runs)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_data_give_the_same_model(name, runs, gold) -> None:
    few = [run[:40] for run in runs]
    first, second = (fit(few, gold[:40], name, folds=2, jobs=jobs).to_dict() for jobs in (1, 3))
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [1, 100])
def test_one_run_and_a_hundred(name, count, runs, gold) -> None:
    many = [runs[k % len(runs)][:12] for k in range(count)]
    fitted = fit(many, gold[:12], name, folds=2)
    result = fitted.average(many)
    assert len(result) == 12
    if count == 1 and name in ("equal", "scalar", "typed"):
        assert np.array_equal(result.bits, many[0].bits)  # a binary run is its own average


@pytest.mark.parametrize("name", MODELS)
def test_development_data_without_discontinuous_gold(name, runs, gold) -> None:
    flat = np.array([tree.fan_out == 1 for tree in gold])
    assert 20 < flat.sum() < len(gold)
    fitted = fit([run.take(flat) for run in runs], gold.take(flat), name, folds=3)
    result = fitted.average(runs)
    assert len(result) == len(gold)
    if name in ("scalar", "typed", "signed", "logistic", "boosted"):
        assert any("discontinuous" in note for note in fitted.report["notes"])
    if name in ("signed", "logistic", "boosted"):
        gapped = [evaluate(bank, gold).discontinuous.predicted for bank in (result, runs[0])]
        assert gapped[0] <= 0.2 * gapped[1]


def test_gold_without_any_correct_candidate() -> None:
    run = bank(*[[{0, 1}]] * 6)
    other = bank(*[[{1, 2}]] * 6)
    for name in MODELS:
        if name == "boosted":
            with pytest.raises(TreemeanError, match="none of the candidates"):
                fit([run, run], other, name, folds=2)
        else:
            assert len(fit([run, run], other, name, folds=2).average([run, run])) == 6


def test_sentences_without_candidates() -> None:
    run = bank([], [], [])
    for name in ("equal", "em", "scalar", "typed", "signed", "logistic"):
        assert fit([run, run], run, name, folds=2).average([run, run]) == average([run, run])


def test_runs_may_keep_the_punctuation_that_gold_marks() -> None:
    whole = sample.generate(40, seed=5)
    parses = sample.noisy_parses(whole, runs=3, seed=1)
    fitted = fit(parses, whole, "logistic", folds=2)
    mean = fitted.average(parses)
    assert evaluate(mean, whole).overall.f1 > evaluate(parses[0], whole).overall.f1


# ---- models that are told -------------------------------------------------------------------------------


def test_scalar_weights_follow_the_papers_rule(runs, gold) -> None:
    scores = [evaluate(run, gold).discontinuous.f1 for run in runs]
    assert same(fit(runs, gold, "scalar").average(runs), average(runs, scores))


def test_given_scores(runs, gold) -> None:
    given_scores = [3, 0, 1, 0, 2]
    assert same(fit(runs, gold, "scalar", scores=given_scores).average(runs), average(runs, given_scores))
    with pytest.raises(InvalidOption, match="2 scores for 5 runs"):
        fit(runs, gold, "scalar", scores=[1, 2])
    with pytest.raises(TreemeanError, match="not negative"):
        fit(runs, gold, "scalar", scores=[1, 1, 1, 1, -1])


def test_typed_weights_are_scores_of_either_kind(runs, gold) -> None:
    found = [evaluate(run, gold) for run in runs]
    weights = {}
    for kind in ("continuous", "discontinuous"):
        scores = np.array([e.counts(kind).f1 for e in found])
        weights[kind] = (scores / scores.mean()).tolist()
    assert same(fit(runs, gold, "typed").average(runs), average(runs, weights))


def test_em_recovers_how_reliable_runs_are() -> None:
    rng = np.random.default_rng(0)
    right, wrong = np.array([0.9, 0.7, 0.6, 0.8]), np.array([0.1, 0.2, 0.15, 0.3])
    truth = rng.random(20_000) < 0.4
    votes = rng.random((20_000, 4)) < np.where(truth[:, None], right, wrong)
    votes = votes[votes.any(axis=1)]  # nobody sees what nobody proposes: a quarter of them all
    count, none = len(votes), np.zeros(0, dtype=np.int64)
    assert count < 16_000
    candidates = Candidates(
        np.array([4]), np.zeros(count, dtype=np.int64), np.full((count, 1), 3, dtype=np.uint64), votes,
        (none,) * 4, (none,) * 4, np.zeros(4, dtype=np.int64),
    )  # fmt: skip
    model = em.train(candidates)
    assert model.prior == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(model.right, right, atol=0.03)
    np.testing.assert_allclose(model.wrong, wrong, atol=0.03)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_em_of_few_runs_counts_plain_votes(count, runs) -> None:
    few = runs[:count]
    assert same(fit(few, None, "em").average(few), average(few))


def test_em_and_equal_need_no_gold(runs, gold) -> None:
    for name in ("em", "equal"):
        fitted = fit(runs, None, name)
        assert "cross_validated" not in fitted.report
        assert same(fitted.average(runs), fit(runs, gold, name).average(runs))


def test_signed_weights_can_be_negative() -> None:
    """Two runs agree on what is wrong, and a vote of theirs counts against a candidate."""
    rng = np.random.default_rng(1)
    gold_shapes, good, bad = [], [], []
    for _ in range(80):
        shapes = [[{0, 1}], [{1, 2}], [{2, 3}]]
        rng.shuffle(shapes)
        gold_shapes.append(shapes[0])
        good.append(shapes[0] if rng.random() < 0.8 else shapes[1])
        bad.append(shapes[1])
    truth, individual, systematic = bank(*gold_shapes), bank(*good), bank(*bad)
    fitted = fit([individual, systematic, systematic], truth, "signed")
    assert fitted.values.continuous[0] > 0.5
    assert fitted.values.continuous[1:].max() < 0
    assert evaluate(fitted.average([individual, systematic, systematic]), truth).overall.f1 > 70


# ---- what is maximised ----------------------------------------------------------------------------------


def trees_of(candidates: Candidates) -> list[tuple[int, ...]]:
    """Return all compatible sets of candidates of a single sentence."""
    masks = [int(row[0]) for row in candidates.bits]
    return [
        chosen
        for size in range(len(masks) + 1)
        for chosen in itertools.combinations(range(len(masks)), size)
        if all(compatible(masks[a], masks[b]) for a, b in itertools.combinations(chosen, 2))
    ]


values_of_any_sign = st.lists(st.integers(-4, 4), min_size=12, max_size=12)


@settings(max_examples=40)
@given(
    parallel_treebanks(runs=3, min_sentences=1, max_sentences=1, min_words=2, max_words=5, unaries=False),
    values_of_any_sign,
)
def test_solve_finds_the_best_sum(banks: list[Treebank], numbers: list[int]) -> None:
    candidates = find_candidates(banks)
    values = np.resize(np.array(numbers, dtype=np.float64), len(candidates))
    best = max(sum(values[c] for c in chosen) for chosen in trees_of(candidates))
    chosen = tuple(solve(banks, candidates, values).tolist())
    assert chosen in trees_of(candidates)
    assert values[list(chosen)].sum() == pytest.approx(best)
    assert (values[list(chosen)] > 0).all() or not chosen


@settings(max_examples=40)
@given(
    parallel_treebanks(runs=3, min_sentences=1, max_sentences=1, min_words=2, max_words=5, unaries=False),
    values_of_any_sign,
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_expected_f1_is_the_best_ratio(banks: list[Treebank], numbers: list[int], rate: float) -> None:
    candidates = find_candidates(banks)
    p = np.resize(np.abs(np.array(numbers)) / 4, len(candidates))
    size = rate * candidates.words

    def expected(chosen: tuple[int, ...]) -> float:
        whole = len(chosen) + size
        return 2 * p[list(chosen)].sum() / whole if whole else 0.0

    objective = ExpectedObjective(rate)
    result = average(banks, **objective.arguments(banks, candidates, p, 1))
    best = max(map(expected, trees_of(candidates)))
    masks = {int(row[0]): place for place, row in enumerate(candidates.bits)}
    found = tuple(masks[c.mask] for c in result[0] if c.mask in masks)
    # With λ at its best, adding what is worth λ/2 changes nothing, and such constituents are left out.
    values = 2 * p - best
    assert values[list(found)].sum() - best * size == pytest.approx(0.0, abs=1e-6) or best == 0


def test_values_of_the_corpus_objective() -> None:
    objective = CorpusObjective(0.5, 0.6, 0.05, 0.5, 0.1, 0.4, 0.05)
    p = np.array([0.1, 0.7, 0.1, 0.7])
    gapped = np.array([False, False, True, True])
    per_word, per_word_gapped = 0.4 + 0.6, 0.05 + 0.05
    expected = (2 * p - 0.5) / per_word + gapped * 0.5 * (2 * p - 0.1) / per_word_gapped
    np.testing.assert_allclose(objective.values(p, gapped), expected * per_word)
    nothing = CorpusObjective(0.5, 0.6, 0.0)
    np.testing.assert_allclose(nothing.values(p, gapped), 2 * p - 0.5)


def test_settling_improves_the_expected_score(runs) -> None:
    candidates = find_candidates(runs)
    p = candidates.counts / candidates.runs
    start = CorpusObjective(0.5, 0.4, 0.05)

    def reached(objective: CorpusObjective) -> float:
        chosen = solve(runs, candidates, objective.values(p, candidates.discontinuous))
        return objective.with_trees(candidates, p, chosen).score

    settled = settle(start, runs, candidates, p)
    assert reached(settled) >= reached(start)
    assert reached(settled) >= max(reached(settle(start, runs, candidates, p, rounds=r)) for r in (1, 3))


def test_the_sentence_objective_with_votes_is_the_plain_average(runs) -> None:
    candidates = find_candidates(runs)
    votes = candidates.counts / candidates.runs
    arguments = SentenceObjective(1.0).arguments(runs, candidates, votes, 1)
    assert same(average(runs, **arguments), average(runs))


def test_objectives_and_targets_are_told_apart(runs, gold) -> None:
    overall, disc = (fit(runs, gold, "logistic", target=target) for target in ("overall", "disc"))
    assert overall.report["eta"] == 0 < disc.report["eta"]
    predicted = [evaluate(m.average(runs), gold).discontinuous.predicted for m in (overall, disc)]
    assert predicted[0] < predicted[1]
    for objective in ("sentence", "expected", "corpus"):
        fitted = fit(runs, gold, "signed", objective=objective)
        assert fitted.objective.to_dict()["kind"] == objective
    with pytest.raises(InvalidOption, match="sentence"):
        fit(runs, gold, "typed", objective="corpus")


def test_a_small_corpus_uses_the_scores_of_the_development_data(runs, gold) -> None:
    fitted = fit(runs, gold, "logistic")
    whole = fitted.average([run[:60] for run in runs])
    parts = [fitted.average([run[a:b] for run in runs]) for a, b in ((0, 20), (20, 60))]
    assert same(Treebank.concatenate(parts), whole)


# ---- estimators -----------------------------------------------------------------------------------------


def test_regressions_have_no_slope_left() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4)) * [1, 5, 0.1, 0] + 3
    correct = rng.random(300) < 1 / (1 + np.exp(-table[:, 0]))
    for regression in fit_path(table, correct, PENALTIES):
        x = (table - regression.means) / regression.scales
        p = 1 / (1 + np.exp(-regression.logits(table)))
        gradient = x.T @ (p - correct) + regression.penalty * regression.coefficients
        assert np.abs(gradient).max() < 0.05
    assert np.isfinite(next(iter(fit_path(table, np.zeros(300, dtype=bool), [1.0]))).intercept)


def test_gram_matrices_in_pieces() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((0, 3), (1, 3), (70_000, 3), (333, 60), (20, 500)):
        x, w = rng.normal(size=(rows, columns)).astype(np.float32), rng.random(rows).astype(np.float32)
        np.testing.assert_allclose(weighted_gram(x, w), (x * w[:, None]).T @ x, rtol=1e-3, atol=1e-2)


def test_forests_say_what_scikit_learn_says(runs, gold) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    from treemean.fitting.forest import forest_of

    development = make_development(runs, gold)
    table, correct = development.features.table, development.correct
    classifier = ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=1).fit(table, correct)
    forest = forest_of(classifier)
    again = Forest.from_dict(json.loads(json.dumps(forest.to_dict())), table.shape[1])
    for one in (forest, again):
        p = 1 / (1 + np.exp(-one.logits(table)))
        np.testing.assert_allclose(p, classifier.predict_proba(table)[:, 1], atol=1e-12)
    stages = forest.staged_logits(table, [5, 20])
    np.testing.assert_allclose(stages[1], forest.logits(table))
    np.testing.assert_allclose(stages[0], forest.first(5).logits(table))
    expected = list(classifier.staged_decision_function(table))[4]
    np.testing.assert_allclose(stages[0], np.ravel(expected), atol=1e-12)


@st.composite
def forests(draw) -> Forest:
    """Make a few random trees over three features, with parents before children."""
    roots, feature, threshold, left, right, value = [], [], [], [], [], []

    def grow(depth: int) -> int:
        node = len(feature)
        inner = depth < 5 and draw(st.booleans())
        for column, entry in ((feature, -1), (threshold, 0.0), (left, 0), (right, 0), (value, 0.0)):
            column.append(entry)
        if inner:
            feature[node], threshold[node] = draw(st.integers(0, 2)), draw(st.sampled_from([0.0, 0.5, 1.0]))
            left[node], right[node] = grow(depth + 1), grow(depth + 1)
        else:
            value[node] = float(draw(st.integers(-4, 4)))
        return node

    for _ in range(draw(st.integers(0, 3))):
        roots.append(grow(0))
    data = {"roots": roots, "feature": feature, "threshold": threshold, "left": left, "right": right}
    return Forest.from_dict({**data, "value": value, "base": 0.5}, 3)


@given(forests(), st.integers(0, 2**32 - 1))
def test_forests_are_walked_from_root_to_leaf(forest, seed) -> None:
    table = np.random.default_rng(seed).choice([-0.5, 0.0, 0.25, 0.5, 1.0, 2.0], size=(20, 3))
    for row, said in zip(table, forest.logits(table), strict=True):
        total = forest.base
        for node in forest.roots:
            while forest.feature[node] >= 0:
                goes_left = row[forest.feature[node]] <= forest.threshold[node]
                node = forest.left[node] if goes_left else forest.right[node]
            total += forest.value[node]
        assert said == total


def test_forests_of_many_leaves_and_thresholds() -> None:
    """A chain of 300 questions: more than a byte can number."""
    count = 300
    nodes = np.arange(2 * count + 1)
    asks = (nodes % 2 == 0) & (nodes < 2 * count)
    forest = Forest.from_dict(
        {
            "roots": [0],
            "feature": np.where(asks, 0, -1).tolist(),
            "threshold": np.where(asks, nodes / 2, 0.0).tolist(),
            "left": np.where(asks, nodes + 1, 0).tolist(),
            "right": np.where(asks, nodes + 2, 0).tolist(),
            "value": np.where(asks, 0.0, np.where(nodes < 2 * count, (nodes - 1) / 2, count)).tolist(),
            "base": 0.0,
        },
        1,
    )
    np.testing.assert_array_equal(forest.logits(np.arange(320.0)[:, None]), np.minimum(np.arange(320), count))


def test_boosting_leaves_the_threads_of_others_alone(runs, gold) -> None:
    control = pytest.importorskip("threadpoolctl")
    with control.threadpool_limits(limits=2, user_api="blas"):
        before = [pool["num_threads"] for pool in control.threadpool_info() if pool["user_api"] == "blas"]
        fit(runs, gold, "boosted", folds=2)
        after = [pool["num_threads"] for pool in control.threadpool_info() if pool["user_api"] == "blas"]
    assert before == after


def test_boosted_needs_scikit_learn_to_fit_and_not_to_load(runs, gold, tmp_path, monkeypatch) -> None:
    fitted = fit(runs, gold, "boosted", folds=2)
    fitted.save(tmp_path / "hits.json")
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingDependency, match=r"treemean\[fit\]"):
        fit(runs, gold, "boosted", folds=2)
    assert same(load(tmp_path / "hits.json").average(runs), fitted.average(runs))
    code = "import sys, treemean.fitting; print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]


def test_out_of_fold_estimates_did_not_see_their_sentences() -> None:
    """Gold that nothing predicts: only estimates that saw the answers could tell right from wrong."""
    from treemean.fitting import logistic

    rng = np.random.default_rng(3)
    shapes = [[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(60)]
    truth = bank(*[[[{0, 1}], [{1, 2}], [{2, 3}]][rng.integers(3)] for _ in range(60)])
    development = make_development([bank(*shapes)] * 2, truth)
    p, correct = logistic.train(development).out_of_fold, development.correct
    assert abs(p[correct].mean() - p[~correct].mean()) < 0.1


def test_settings_are_chosen_by_other_folds_than_those_they_are_scored_on(runs, gold) -> None:
    from treemean.fitting.estimator import best_settings

    development = make_development(runs, gold, folds=3)
    fold = development.folds[development.candidates.sentence]
    rows = np.ones(len(fold), dtype=bool)
    # Setting f is without loss in fold f alone: a choice that looked at its own fold would take it.
    losses = {float(f): np.where(fold == f, 0.0, 1.0) for f in range(3)}
    estimates = {setting: np.full(len(fold), setting) for setting in losses}
    _, unseen = best_settings(development, losses, estimates, rows)
    assert not (unseen == fold).any()


def test_estimates_do_not_depend_on_the_gold_of_their_own_fold(monkeypatch) -> None:
    """Change the gold of one fold: its out-of-fold estimates stay what they were, for any given penalty."""
    from treemean.fitting import logistic, signed

    for module in (logistic, signed):
        monkeypatch.setattr(module, "PENALTIES", (3.0,))
    parses, truth = [run[:60] for run in sample.runs()], sample.gold()[:60]
    held_out = make_development(parses, truth).folds == 0
    other = Treebank.from_trees([parses[0][s] if held_out[s] else tree for s, tree in enumerate(truth)])
    first, second = (make_development(parses, gold) for gold in (truth, other))
    own = held_out[first.candidates.sentence]
    assert (first.correct != second.correct)[own].any()
    for train in (logistic.train, signed.train):
        one, two = (train(data).out_of_fold for data in (first, second))
        np.testing.assert_allclose(one[own], two[own])
        assert not np.allclose(one[~own], two[~own])


def test_the_plain_average_stands_beside(runs, gold) -> None:
    plain = evaluate(average(runs), gold)
    for name in ("typed", "logistic"):
        report = fit(runs, gold, name).report
        assert report["plain_average"]["overall"] == plain.overall.f1
    worse = fit(runs, gold, "logistic", objective="sentence", beta=0.3).report
    assert any("plain average" in note for note in worse["notes"])


# ---- choosing -------------------------------------------------------------------------------------------


def test_selections() -> None:
    worth = {0: 3.0, 1: -1.0, 2: 2.0, 3: -2.0}
    order = [0, 2, 1, 3]

    def score(chosen: tuple[int, ...]) -> float:
        return sum(worth[k] for k in chosen)

    for selection in ("top", "forward", "backward"):
        assert select(selection, order, None, score) == (0, 2)
        assert select(selection, order, 3, score) == (0, 1, 2)
        assert select(selection, order, 1, score) == (0,)
    assert select("all", order, None, score) == (0, 1, 2, 3)
    with pytest.raises(InvalidOption, match="5 of 4"):
        select("top", order, 5, score)
    with pytest.raises(InvalidOption, match="sideways"):
        select("sideways", order, None, score)


@pytest.mark.parametrize("name", ["equal", "typed", "em", "logistic"])
def test_chosen_runs_alone_decide(name, runs, gold) -> None:
    fitted = fit(runs, gold, name, select="top", size=2, folds=2)
    assert len(fitted.chosen) == 2
    scores = [evaluate(run, gold).overall.f1 for run in runs]
    assert set(fitted.chosen) == set(np.argsort(scores)[-2:].tolist())
    alone = fit([runs[k] for k in fitted.chosen], gold, name, folds=2)
    assert np.array_equal(fitted.average(runs).bits, alone.average([runs[k] for k in fitted.chosen]).bits)


def test_beta_is_searched_for(runs, gold) -> None:
    fitted = fit(runs, gold, "equal", beta=None, target="overall")
    assert fitted.report["schemes"] > 1
    best = evaluate(average(runs, beta=fitted.objective.beta), gold).overall.f1
    assert best >= evaluate(average(runs), gold).overall.f1


def test_a_trade_off_has_a_front(runs, gold) -> None:
    for name in ("logistic", "equal"):
        points = fit(runs, gold, name, trade_off=True).report["trade_off"]
        front = [p for p in points if p["front"]]
        assert front
        for point in points:
            better = [o for o in points if o["discontinuous"] > point["discontinuous"]]
            assert not (point["front"] and any(o["overall"] >= point["overall"] for o in better))


# ---- errors ---------------------------------------------------------------------------------------------


def test_wrong_uses_are_told(runs, gold) -> None:
    with pytest.raises(InvalidOption, match="no model 'magic'"):
        fit(runs, gold, "magic")
    with pytest.raises(TreemeanError, match="needs gold"):
        fit(runs)
    with pytest.raises(TreemeanError, match="fitted to gold"):
        fit(runs, None, "typed")
    with pytest.raises(MismatchError, match="120 sentences, and the gold has 119"):
        fit(runs, gold[:119], "typed")
    with pytest.raises(TreemeanError, match="at least one"):
        fit([], gold, "typed")
    with pytest.raises(InvalidOption, match="eta is -1"):
        fit(runs, gold, "logistic", eta=-1)
    with pytest.raises(TreemeanError, match="at least 2"):
        fit(runs, gold, "typed", folds=1)
    with pytest.raises(MismatchError, match="5 runs, and 4 are given"):
        fit(runs, gold, "logistic").average(runs[:4])


def damaged(data: dict, change: str) -> str:
    if change == "version":
        data["version"] = 99
    elif change == "format":
        data["format"] = "something else"
    elif change == "model":
        data["model"] = "magic"
    elif change == "values":
        del data["values"]["forest"]["left"]
    elif change == "loop":
        data["values"]["forest"]["left"][0] = 0
    elif change == "length":
        data["values"]["forest"]["value"].pop()
    elif change == "chosen":
        data["chosen"] = [77]
    elif change == "objective":
        data["objective"]["kind"] = "luck"
    elif change == "dag":  # every node names the next one twice: as a walk it would take 2^80 steps
        later = [*range(1, 81), 0]
        data["values"]["forest"].update(
            roots=[0],
            feature=[0] * 80 + [-1],
            threshold=[0.5] * 81,
            left=later,
            right=later,
            value=[0.0] * 81,
        )
    elif change == "nan":
        data["values"]["continuous_share"] = float("nan")
    elif change == "large":
        data["values"]["forest"]["left"][0] = 10**30
    elif change == "text":
        data["runs"] = "abcde"
    elif change == "fraction":
        data["chosen"][0] = 0.5
    elif change == "escape":
        data["runs"][0] = "\x1b[31m"
    elif change == "negative":
        data["objective"]["gold"] = -1.0
    elif change == "number":
        data["objective"] = [1]
    elif change == "deep":
        return "[" * 100_000
    elif change == "cut":
        return json.dumps(data)[:-20]
    elif change == "list":
        return "[]"
    return json.dumps(data)


@pytest.fixture(scope="module")
def boosted(runs, gold) -> HitModel:
    return fit(runs, gold, "boosted", folds=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("version", "version 99"),
        ("format", "no file of hits"),
        ("model", "magic"),
        ("values", "damaged"),
        ("loop", "lead nowhere"),
        ("length", "different lengths"),
        ("chosen", "77"),
        ("objective", "damaged"),
        ("dag", "lead nowhere"),
        ("nan", "finite numbers"),
        ("large", "whole numbers"),
        ("text", "not a list"),
        ("fraction", "whole numbers"),
        ("escape", "printable"),
        ("negative", "not negative"),
        ("number", "objective"),
        ("deep", "no JSON"),
        ("cut", "no JSON"),
        ("list", "no file of hits"),
    ],
)
def test_broken_files_are_told(boosted, tmp_path, change, message) -> None:
    path = tmp_path / "hits.json"
    path.write_text(damaged(boosted.to_dict(), change))
    with pytest.raises(FormatError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("typed", "continuous", [-1, 1, 1, 1, 1]),
        ("scalar", "discontinuous", [0, 0, 0, 0, 0]),
        ("equal", "continuous", [1, 1]),
        ("em", "right", [0.0, 0.5, 0.5, 0.5, 0.5]),
        ("em", "wrong", [0.5, 0.5]),
        ("em", "prior", 2),
        ("signed", "continuous", [[0.1]] * 5),
        ("signed", "discontinuous", [0.1]),
    ],
)
def test_numbers_that_cannot_be_are_told(name, place, value, runs, gold) -> None:
    data = fit([run[:20] for run in runs], gold[:20], name, folds=2).to_dict()
    data["values"][place] = value
    with pytest.raises(FormatError):
        HitModel.from_dict(json.loads(json.dumps(data)))


def test_files_may_be_compressed_but_not_endless(runs, gold, tmp_path, monkeypatch) -> None:
    fitted = fit(runs, gold, "typed")
    fitted.save(tmp_path / "hits.json.gz")
    assert load(tmp_path / "hits.json.gz").to_dict() == fitted.to_dict()
    packed = (tmp_path / "hits.json.gz").read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="too early"):
        load(tmp_path / "cut.json.gz")
    monkeypatch.setattr("treemean.fitting.model._LARGEST", 100)
    with pytest.raises(FormatError, match="at most 100 bytes"):
        load(tmp_path / "hits.json.gz")


def test_options_that_would_change_nothing_are_told(runs, gold) -> None:
    for model, options in (
        ("logistic", {"beta": 0.5}),
        ("logistic", {"eta": 1.0, "target": "disc"}),
        ("typed", {"score": "overall"}),
        ("typed", {"size": 2}),
        ("signed", {"objective": "expected", "trade_off": True}),
    ):
        with pytest.raises(InvalidOption, match="change nothing"):
            fit(runs, gold, model, **options)
    for beta in (float("nan"), -1.0):
        with pytest.raises(InvalidOption, match="beta"):
            fit(runs, None, "em", beta=beta)


def test_a_missing_file_is_told(tmp_path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        load(tmp_path / "none.json")
