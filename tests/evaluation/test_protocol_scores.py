from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_scores import NaiveSentence, Triple, harmonic_mean, is_punctuation, naive_sentence, sentence_scores
from score_checks import assert_all_100

from examples import examples
from strategies import parallel_treebanks
from treemean.evaluation import PROTOCOLS, Counts, Evaluation, agreement, evaluate, judge
from treemean.evaluation.results import METRICS, Metric
from treemean.trees import Tree, Treebank
from treemean.trees.punctuation import punctuation_mask, remove_words

names = st.sampled_from(sorted(PROTOCOLS))


def naive(
    predicted: Treebank, gold: Treebank, protocol: str, max_length: int | None, labelled: bool = False
) -> list[NaiveSentence]:
    found = []
    for guess, truth, removed in zip(predicted, gold, is_punctuation(gold, protocol)):
        left = removed.count(False)
        length = len(truth) if protocol == "discodop" else left
        shortest = 2 if protocol == "sentence" else 1
        if left >= shortest and (max_length is None or length <= max_length):
            found.append(naive_sentence(guess, truth, removed, protocol, labelled))
    return found


def assert_equal_to_naive(evaluation: Evaluation, expected: list[NaiveSentence]) -> None:
    assert len(evaluation.sentences) == len(expected)
    for metric in METRICS:
        triples: list[Triple] = [getattr(sentence, metric) for sentence in expected]
        counts = evaluation.per_sentence[metric]
        assert list(zip(counts.matched, counts.predicted, counts.gold)) == [t.as_tuple() for t in triples]
        scores = [sentence_scores(triple) for triple in triples]
        assert counts.precision.tolist() == pytest.approx([100 * s[0] for s in scores])
        assert counts.recall.tolist() == pytest.approx([100 * s[1] for s in scores])
        assert counts.f1.tolist() == pytest.approx([100 * s[2] for s in scores])
        assert_total(evaluation, metric, triples)
    assert evaluation.exact_matches == sum(sentence.exact for sentence in expected)
    if evaluation.tags is not None:
        assert evaluation.tags.matched == sum(sentence.right_tags for sentence in expected)
        assert evaluation.tags.words == sum(sentence.words for sentence in expected)
    labels = sum((sentence.labels for sentence in expected), Counter())
    hits = sum((sentence.found_labels for sentence in expected), Counter())
    predicted = sum((sentence.predicted_labels for sentence in expected), Counter())
    for kind, table in (("all", evaluation.by_label), ("discontinuous", evaluation.by_label_discontinuous)):
        told = {key.removeprefix(f"{kind}:") for key in labels | predicted if key.startswith(f"{kind}:")}
        assert set(table) == told
        for name, score in table.items():
            assert score.gold == labels[f"{kind}:{name}"]
            assert score.matched == hits[f"{kind}:{name}"]
            if evaluation.protocol.labelled:
                assert score.predicted == predicted[f"{kind}:{name}"]
            else:
                assert score.predicted is None
    confusions = sum((sentence.confusions for sentence in expected), Counter())
    assert {(c.gold, c.predicted): c.count for c in evaluation.confusions} == dict(confusions)


def assert_total(evaluation: Evaluation, metric: Metric, triples: list[Triple]) -> None:
    total = evaluation.counts(metric)
    m, p, g = (sum(t.as_tuple()[i] for t in triples) for i in range(3))
    assert (total.matched, total.predicted, total.gold) == (m, p, g)
    if evaluation.protocol.level == "sentence":
        scores = [sentence_scores(t) for t in triples]
        expected = [sum(s[i] for s in scores) / len(scores) if scores else 0.0 for i in range(3)]
    else:
        expected = [m / p if p else 0.0, m / g if g else 0.0]
        expected.append(harmonic_mean(*expected))
    assert [total.precision, total.recall, total.f1] == pytest.approx([100 * e for e in expected])


@examples(150)
@given(parallel_treebanks(punctuation=True), names, st.one_of(st.none(), st.integers(1, 12)))
def test_equals_naive(banks: list[Treebank], protocol: str, max_length: int | None) -> None:
    predicted, gold = banks
    evaluation = evaluate(predicted, gold, protocol, max_length=max_length)
    assert_equal_to_naive(evaluation, naive(predicted, gold, protocol, max_length))


@examples(200)
@given(
    parallel_treebanks(punctuation=True, min_sentences=1, labels=("S", "NP", "VP")),
    names,
    st.one_of(st.none(), st.integers(1, 12)),
)
def test_labelled_equals_naive(banks: list[Treebank], protocol: str, max_length: int | None) -> None:
    """Unary chains, repeated labels, functions (which do not count) and punctuation."""
    predicted, gold = banks
    evaluation = evaluate(predicted, gold, protocol, labelled=True, max_length=max_length)
    assert evaluation.protocol.labelled
    assert_equal_to_naive(evaluation, naive(predicted, gold, protocol, max_length, labelled=True))


@examples(100)
@given(parallel_treebanks(punctuation=True, labels=("S", "NP")), names, st.booleans())
def test_judgements_are_what_is_counted(banks: list[Treebank], protocol: str, labelled: bool) -> None:
    predicted, gold = banks
    told = judge(predicted, gold, protocol, labelled=labelled)
    counts = evaluate(predicted, gold, protocol, labelled=labelled)
    if labelled:
        assert told.predicted_scored.sum() == counts.overall.predicted
        assert told.gold_scored.sum() == counts.overall.gold
        assert told.predicted_right.sum() == told.gold_found.sum() == counts.overall.matched
    assert not (told.predicted_right & ~told.predicted_scored).any()
    assert not (told.gold_found & ~told.gold_scored).any()
    assert told.gold_found.sum() == sum(score.matched for score in counts.by_label.values())


@examples(50)
@given(parallel_treebanks(punctuation=True, labels=("S", "NP")), st.booleans())
def test_standard_is_symmetric(banks: list[Treebank], labelled: bool) -> None:
    a, b = banks
    there, back = (evaluate(x, y, labelled=labelled, punctuation="tag") for x, y in ((a, b), (b, a)))
    for metric in METRICS:
        one, other = there.counts(metric), back.counts(metric)
        assert (one.matched, one.predicted, one.gold) == (other.matched, other.gold, other.predicted)


@examples(50)
@given(parallel_treebanks(), names)
def test_equals_naive_without_punctuation_tags(banks: list[Treebank], protocol: str) -> None:
    assert_equal_to_naive(evaluate(*banks, protocol), naive(*banks, protocol, None))


@examples(15)
@given(parallel_treebanks(min_sentences=1, max_sentences=3, min_words=40, max_words=140), names)
def test_equals_naive_across_widths(banks: list[Treebank], protocol: str) -> None:
    assert_equal_to_naive(evaluate(*banks, protocol), naive(*banks, protocol, None))


@examples(50)
@given(parallel_treebanks(punctuation=True), names, st.booleans(), st.booleans())
def test_prediction_may_lack_punctuation(
    banks: list[Treebank], protocol: str, drop_empty: bool, by_protocol: bool
) -> None:
    """Whether a parser saw punctuation or not, and kept empty sentences or not, scores are the same."""
    predicted, gold = banks
    mask = punctuation_mask(gold)
    if by_protocol:
        mask = np.array([d for sentence in is_punctuation(gold, protocol) for d in sentence], dtype=bool)
    stripped = remove_words(predicted, mask, drop_empty=drop_empty)
    expected = naive(predicted, gold, protocol, None)
    assert_equal_to_naive(evaluate(stripped, gold, protocol), expected)
    assert_equal_to_naive(evaluate(stripped, gold, protocol, match="id"), expected)


@examples(50)
@given(parallel_treebanks(punctuation=True), names, st.randoms(use_true_random=False))
def test_matching_by_id_does_not_mind_the_order(
    banks: list[Treebank], protocol: str, rng: random.Random
) -> None:
    predicted, gold = banks
    order = list(range(len(gold)))
    rng.shuffle(order)
    evaluation = evaluate(predicted.take(order), gold, protocol, match="id")
    assert_equal_to_naive(evaluation, naive(predicted, gold, protocol, None))


@examples(50)
@given(parallel_treebanks(runs=1, punctuation=True, min_sentences=1), st.booleans())
def test_a_treebank_has_100_in_every_number_of_standard(banks: list[Treebank], labelled: bool) -> None:
    assert_all_100(evaluate(banks[0], banks[0], labelled=labelled))


@examples(50)
@given(parallel_treebanks(runs=1, max_fan_out=2), names)
def test_a_treebank_agrees_with_itself(banks: list[Treebank], protocol: str) -> None:
    evaluation = evaluate(banks[0], banks[0], protocol)
    assert evaluation.exact_matches == len(evaluation.sentences)
    for metric in METRICS:
        counts = evaluation.counts(metric)
        assert counts.matched == counts.predicted == counts.gold
        assert counts.f1 in (0.0 if counts.gold == 0 else 100.0, 100.0)


@examples(50)
@given(parallel_treebanks(punctuation=True), names)
def test_length_bins_add_up(banks: list[Treebank], protocol: str) -> None:
    evaluation = evaluate(*banks, protocol)
    assert sum(part.sentences for part in evaluation.by_length) == len(evaluation.sentences)
    for metric in METRICS:
        parts = [getattr(part, metric) for part in evaluation.by_length]
        assert sum(p.matched for p in parts) == evaluation.counts(metric).matched
        assert sum(p.predicted for p in parts) == evaluation.counts(metric).predicted
        assert sum(p.gold for p in parts) == evaluation.counts(metric).gold


def bank_of(*trees: Tree) -> Treebank:
    return Treebank.from_trees(trees)


def test_conventions_of_sentence_in_one_example() -> None:
    """One whole-sentence span is dropped, a second one counts; see `eval.py` of compound PCFGs."""
    words = ["a", "b", "c"]
    chain = bank_of(Tree(words, [(range(3), "TOP"), (range(3), "S"), ({0, 1}, "NP"), ({2}, "VP")]))
    single = bank_of(Tree(words, [(range(3), "NT"), ({0, 1}, "NT")]))
    counts = evaluate(single, chain, "sentence").overall
    assert (counts.matched, counts.predicted, counts.gold) == (1, 1, 2)
    assert evaluate(chain, single, "sentence").overall.precision == 50.0
    # Of two words, nothing is left on either side: 100; with a unary chain in the gold, 0.
    two = bank_of(Tree(["a", "b"], [(range(2), "S")]))
    doubled = bank_of(Tree(["a", "b"], [(range(2), "TOP"), (range(2), "S")]))
    assert evaluate(two, two, "sentence").overall.f1 == 100.0
    assert evaluate(two, doubled, "sentence").overall.f1 == 0.0
    assert evaluate(doubled, two, "sentence").overall.f1 == 0.0
    # Sentences of one word are not in the mean.
    both = bank_of(Tree(["a"], [({0}, "S")]), Tree(["a", "b"], [(range(2), "TOP"), (range(2), "S")]))
    plain = bank_of(Tree(["a"], [({0}, "S")]), Tree(["a", "b"], [(range(2), "S")]))
    assert evaluate(plain, both, "sentence").overall.f1 == 0.0


def test_labelled_chains_in_one_example() -> None:
    """NP over NP counts twice; what is left of the chains is confused from the top down."""
    words = ["a", "b", "c"]
    gold = Tree(words, [(range(3), "S"), ({0, 1}, "NP"), ({0, 1}, "NP"), ({0, 1}, "VP"), ({2}, "X")])
    guess = Tree(words, [(range(3), "Q"), ({0, 1}, "PP"), ({0, 1}, "NP"), ({0, 1}, "AP")])
    evaluation = evaluate(bank_of(guess), bank_of(gold), labelled=True)
    assert (evaluation.overall.matched, evaluation.overall.predicted, evaluation.overall.gold) == (1, 3, 3)
    assert [(c.gold, c.predicted, c.count) for c in evaluation.confusions] == [
        ("NP", "PP", 1),
        ("VP", "AP", 1),
    ]
    assert evaluation.by_label["NP"].to_dict() == {
        "f1": pytest.approx(200 / 3),
        "precision": 100.0,
        "recall": 50.0,
        "matched": 1,
        "predicted": 1,
        "gold": 2,
    }
    assert evaluation.by_label["PP"].recall == 0.0
    unlabelled = evaluate(bank_of(guess), bank_of(gold))
    assert (unlabelled.overall.f1, unlabelled.overall.gold, unlabelled.confusions) == (100.0, 1, ())


def test_length_bins() -> None:
    def flat(n: int) -> Tree:
        return Tree(["w"] * n, [(range(n), "S"), ({0, 1}, "X")])

    bank = bank_of(flat(10), flat(11), flat(20), flat(51))
    bins = evaluate(bank, bank).by_length
    assert [(b.name, b.sentences, b.overall.matched) for b in bins] == [
        ("1-10", 1, 1),
        ("11-20", 2, 2),
        ("51+", 1, 1),
    ]


def test_conventions_of_the_paper_in_one_example() -> None:
    """A doubled gold set counts once when found and twice when missed; fan-out 3 is left out."""
    words = [f"w{i}" for i in range(7)]
    gold = Tree(
        words,
        [
            (range(7), "S"),
            ({0, 1}, "A"),
            ({0, 1}, "B"),
            ({2, 3}, "C"),
            ({2, 3}, "D"),
            ({2, 3, 5}, "E"),
            ({6}, "F"),
        ],
    )
    guess = Tree(words, [(range(7), "S"), ({0, 1}, "X"), ({0, 1}, "X"), ({0, 1, 2}, "X")])
    evaluation = evaluate(bank_of(guess), bank_of(gold), "paper")
    assert (evaluation.continuous.matched, evaluation.continuous.predicted, evaluation.continuous.gold) == (
        1,
        2,
        3,
    )
    assert (evaluation.discontinuous.predicted, evaluation.discontinuous.gold) == (0, 1)
    assert evaluation.overall.false_positives == 1
    assert evaluation.overall.false_negatives == 3
    assert evaluation.gold_fan_out_above_2 == 0
    wide = gold.replace(constituents=[(range(7), "S"), ({0, 2, 4}, "A")])
    other = evaluate(bank_of(guess), bank_of(wide), "paper")
    assert (other.gold_fan_out_above_2, other.overall.gold) == (1, 0)
    assert other.to_dict()["gold_fan_out_above_2_left_out"] is True
    assert evaluate(bank_of(guess), bank_of(wide), "sentence").overall.gold == 1


@pytest.mark.parametrize("last", [1, 63, 64, 128, 129])
def test_sets_that_differ_in_one_distant_word_are_different(last: int) -> None:
    words = [f"w{i}" for i in range(131)]
    guess = bank_of(Tree(words, [(range(131), "S"), ({0, last}, "X")]))
    for other in (last, last + 1):
        gold = bank_of(Tree(words, [(range(131), "S"), ({0, other}, "X")]))
        assert evaluate(guess, gold).overall.matched == (other == last)


def test_conventions_of_discodop_in_one_example() -> None:
    """Labels decide about roots, not spans; one-word constituents and copies count."""
    words = ["a", "b", "c"]
    gold = Tree(words, [(range(3), "TOP"), (range(3), "S"), ({0, 1}, "NP"), ({0, 1}, "NX"), ({2}, "VP")])
    guess = Tree(words, [(range(3), "NT"), ({0, 1}, "NT"), ({1}, "NT"), ({2}, "NT"), ({2}, "NT")])
    counts = evaluate(bank_of(guess), bank_of(gold), "discodop").overall
    assert (counts.matched, counts.predicted, counts.gold) == (3, 5, 4)
    lower_case = gold.replace(constituents=[(range(3), "top")])
    assert evaluate(bank_of(guess), bank_of(lower_case), "discodop").overall.gold == 0


def test_discodop_length_limit_counts_punctuation() -> None:
    bank = bank_of(Tree(["a", ",", "b"], [(range(3), "S")], id="x"))
    assert evaluate(bank, bank, "discodop", max_length=2).dropped == {"longer than the limit": ("x",)}
    assert evaluate(bank, bank, "paper", max_length=2).dropped == {}


def test_what_was_dropped_and_why() -> None:
    bank = bank_of(
        Tree(["."], [({0}, "S")]),
        Tree(["a", "b"], [(range(2), "S")], id="two"),
        Tree(["a", "b", "c"], [(range(3), "S")]),
    )
    evaluation = evaluate(bank, bank, max_length=2)
    assert evaluation.dropped == {
        "no words are left without punctuation": ("#1",),
        "longer than the limit": ("#3",),
    }
    assert evaluation.sentences.tolist() == [1]


def test_nothing_to_score() -> None:
    for protocol in PROTOCOLS:
        evaluation = evaluate(Treebank.empty(), Treebank.empty(), protocol)
        assert evaluation.overall.f1 == evaluation.exact_match == 0.0
        assert evaluation.by_length == ()
    one_word = bank_of(Tree(["a"], [({0}, "S")]))
    assert evaluate(one_word, one_word).overall == Counts(0, 0, 0)
    assert evaluate(one_word, one_word, "sentence").dropped == {
        "fewer words than the protocol asks for": ("#1",)
    }
    assert evaluate(one_word, one_word).overall.to_dict()["f1"] is None
    assert evaluate(one_word, one_word).sentence_f1.tolist() == [100.0]


def test_to_dict_is_json() -> None:
    words = ["Wake", "your", "friend", "up"]
    gold = bank_of(Tree(words, [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")]))
    guess = bank_of(Tree(words, [(range(4), "S"), ({1, 2, 3}, "X"), ({1, 2}, "Y")]))
    for protocol in PROTOCOLS:
        data = json.loads(json.dumps(evaluate(guess, gold, protocol).to_dict(), allow_nan=False))
        assert data["protocol"]["name"] == protocol
        for metric in METRICS:
            assert set(data[metric]) == {"f1", "precision", "recall", "matched", "predicted", "gold"}
        assert data["by_label"]["NP"] == {"recall": 100.0, "matched": 1, "gold": 1}
        assert data["by_label_discontinuous"] == {"V": {"recall": 0.0, "matched": 0, "gold": 1}}
        assert data["sentences"] == 1


@examples(30)
@given(parallel_treebanks(runs=3), names, st.sampled_from(METRICS))
def test_agreement_is_the_mean_of_both_directions(
    banks: list[Treebank], protocol: str, metric: Metric
) -> None:
    matrix = agreement(banks, protocol, metric=metric)
    assert matrix.shape == (3, 3)
    for i, a in enumerate(banks):
        for j, b in enumerate(banks):
            both = [evaluate(x, y, protocol).counts(metric).f1 for x, y in ((a, b), (b, a))]
            assert matrix[i, j] == pytest.approx(sum(both) / 2)
