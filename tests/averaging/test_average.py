"""What `treemean.average` promises around the search: errors, labels, support, methods."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from averaging_oracles import ranking
from instances import flattened, independent_trees, mixed_trees, perturbed_trees, tree_of
from treemean.averaging import METHODS, all_optima, average, by_problem, count_optima, k_best
from treemean.averaging.reference.problem import Problem
from treemean.errors import InvalidOption, MismatchError, TreemeanError, Unsolved
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.binarise import binarise

ONE = tree_of(4, [0b0011, 0b0111])
OTHER = tree_of(4, [0b0110, 0b0111])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1]}, "1 weights for 2 individuals"),
        ({"weights": [1, -1]}, "weight 2 is -1"),
        ({"weights": [0, 0]}, "all weights are zero"),
        ({"weights": [1, float("nan")]}, "weight 2 is nan"),
        ({"weights": [float("inf"), 1]}, "weight 1 is inf"),
        ({"weights": {"continuous": [1, 1]}}, "keys 'continuous' and 'discontinuous'"),
        ({"weights": {"continuous": [0, 0], "discontinuous": [1, 1]}}, "all continuous weights are zero"),
        ({"beta": -1}, "beta is -1"),
        ({"beta": float("nan")}, "beta is nan"),
        ({"beta": 1e9}, "beta is"),
        ({"hits": [[1, 1, 1e300], [1, 1, 1]]}, "hits are too large"),
        ({"binary": "up"}, "binary must be"),
        ({"binary": True, "additive": True}, "leave out `additive`"),
        ({"method": "guess"}, "there is no method 'guess'; known are exact"),
        ({"node_limit": -1}, "node_limit is -1; it must be at least 0"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"jobs": 0}, "jobs is 0"),
        ({"hits": "probability"}, "individual 1 has no constituent values named 'probability'"),
        ({"hits": [[1, 1, 1]]}, "one array for each of 2 individuals"),
        ({"hits": [[1, 1, 1], [1, 1]]}, "individual 2 has 3 constituents, but hits of shape"),
        ({"hits": [[1, 1, 1], [1, 1, float("nan")]]}, "hits of constituent 3 are nan"),
        ({"method": "majority", "hits": [[1, 1, 1], [1, 1, 1]]}, "majority does not take hits"),
    ],
)
def test_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(TreemeanError, match=message):
        average([ONE, OTHER], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "12"}, "weights must be a list of numbers, not '12'"),
        ({"weights": 5}, "weights must be a list of numbers, not 5"),
        ({"weights": ["x", 1]}, "weight 1 is 'x'; it must be a number"),
        ({"weights": ["1", 1]}, "weight 1 is '1'; it must be a number"),
        ({"weights": [1, None]}, "weight 2 is None; it must be a number"),
        ({"weights": {"continuous": "11", "discontinuous": [1, 1]}}, "continuous weights must be a list"),
        ({"weights": {1: 2}}, "typed weights need the keys"),
        ({"node_limit": 1.5}, "node_limit is 1.5; it must be a whole number"),
        ({"node_limit": None}, "node_limit is None; it must be a whole number"),
        ({"jobs": 1.5}, "jobs is 1.5; it must be a whole number"),
        ({"jobs": "2"}, "jobs is '2'; it must be a whole number"),
        ({"time_limit": "1"}, "time_limit is '1'; it must be a number"),
        ({"time_limit": float("nan")}, "time_limit is nan; it must be positive"),
        ({"beta": "1"}, "beta is '1'; it must be a number"),
        ({"beta": None}, "beta is None; it must be a number"),
        ({"beta": 10**400}, "beta is inf"),
        ({"method": []}, r"there is no method \[\]; known are exact"),
        ({"method": None}, "there is no method None"),
        ({"binary": []}, r"binary must be True, False, left, right or balanced, not \[\]"),
        ({"binary": 2}, "binary must be True, False, left, right or balanced, not 2"),
        ({"hits": 5}, "hits must be the name of a column or an array per individual, not 5"),
        ({"hits": [["a", 1, 1], [1, 1, 1]]}, "the hits of individual 1 are no array of numbers"),
        ({"hits": [[[1], 1, 1], [1, 1, 1]]}, "the hits of individual 1 are no array of numbers"),
        ({"max_fan_out": 2}, "the method exact takes no max_fan_out"),
        ({"max_fan_out": 0, "method": "dynamic-programming"}, "max_fan_out is 0; it must be at least 1"),
        ({"max_fan_out": 1.5, "method": "dynamic-programming"}, "max_fan_out is 1.5"),
        ({"max_fan_out": 2, "method": "cyk"}, "the method cyk takes no max_fan_out"),
        ({"time_limit": 1, "method": "exhaustive"}, "the method exhaustive takes no time_limit"),
        ({"node_limit": 1, "method": "select"}, "the method select takes no node_limit"),
        ({"additive": True, "method": "majority"}, "the method majority does not maximise plain sums"),
        ({"hits": [[1, 1, 1]] * 2, "method": "greedy"}, "the method greedy does not take hits"),
        ({"skipped": []}, "skipped is for treebanks"),
        ({"additive": "yes"}, "additive must be True or False, not 'yes'"),
        ({"hits": [[1e308] * 3] * 2}, "hits are too large"),
        ({"hits": [[10**400] * 3] * 2}, "the hits of individual 1 are no array of numbers"),
        ({"hits": np.array(1.0)}, "one array for each of 2 individuals"),
    ],
)
def test_wrong_types_and_options_are_told(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        average([ONE, OTHER], **options)


@pytest.mark.parametrize("method", METHODS)
def test_continuous_weights_must_not_vanish_beside_discontinuous_ones(method: str) -> None:
    weights = {"continuous": [1e-12, 1e-12], "discontinuous": [1, 1]}
    with pytest.raises(InvalidOption, match="the continuous weights are too small"):
        average([ONE, OTHER], weights, method=method)


BANK = Treebank.from_trees([ONE])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: average(ONE), "must be a list of treebanks, or of trees over one sentence, not a Tree"),
        (lambda: average(BANK), "not a Treebank"),
        (lambda: average("run.dbr"), "not a str"),
        (lambda: average(None), "not a NoneType"),
        (lambda: average([1, 2]), "individual 1 is a int"),
        (lambda: average([ONE, "x"]), "individual 2 is a str"),
        (lambda: average([ONE, BANK]), "all trees or all treebanks"),
        (lambda: average([BANK, ONE]), "all trees or all treebanks"),
        (lambda: average([BANK], skipped=1), "skipped must be a list"),
        (lambda: count_optima([BANK]), "a list of trees over one sentence, but individual 1 is a Treebank"),
        (lambda: count_optima(ONE), "a list of trees over one sentence, not a Tree"),
        (lambda: all_optima([ONE], limit=1.5), "limit is 1.5; it must be a whole number"),
        (lambda: all_optima([ONE], limit=0), "limit is 0; it must be at least 1"),
        (lambda: k_best([ONE], 1.5), "k is 1.5; it must be a whole number"),
        (lambda: k_best([ONE], "2"), "k is '2'; it must be a whole number"),
        (lambda: k_best([ONE], 1, "1"), "weights must be a list of numbers"),
    ],
)
def test_wrong_individuals_are_told(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        call()


def test_individuals_may_come_from_a_generator() -> None:
    assert average(t for t in (ONE, OTHER)) == average([ONE, OTHER])
    assert count_optima(t for t in (ONE, OTHER)) == 2
    assert len(k_best((t for t in (ONE, OTHER)), np.int64(2))) == 2


def test_sentences_beyond_the_reach_of_a_method() -> None:
    rng = random.Random(5)
    gaps = [tree.replace(id="long") for tree in independent_trees(40, 3, rng, 0.0)]
    short = [tree.replace(id="short") for tree in independent_trees(5, 3, rng)]
    banks = [Treebank.from_trees([s, g, s]) for s, g in zip(short, gaps)]
    with pytest.raises(Unsolved, match=r"^sentence 2 \(long\): dynamic programming over 40 words"):
        average(banks, method="dynamic-programming")
    skipped: list[Unsolved] = []
    result = average(banks, method="dynamic-programming", skipped=skipped)
    assert result.ids.tolist() == ["short", "short"]
    assert [(u.sentence, u.id) for u in skipped] == [(2, "long")]
    assert "a lower max_fan_out needs fewer" in skipped[0].reason
    expected = average(banks).take([0, 2])
    assert result.sentence_values["objective"] == pytest.approx(expected.sentence_values["objective"])
    # Nothing is left where all are skipped.
    only_long = [bank.take([1]) for bank in banks]
    assert len(average(only_long, method="dynamic-programming", skipped=skipped)) == 0
    assert len(skipped) == 2


def test_a_bound_on_the_fan_out() -> None:
    gap = tree_of(4, [0b0101, 0b0111])
    free = average([gap, gap, ONE], method="dynamic-programming")
    assert (0, 2) in [c.positions for c in free]
    bounded = average([gap, gap, ONE], method="dynamic-programming", max_fan_out=1)
    assert all(c.is_continuous for c in bounded)
    assert bounded.values["optimal"] == 0
    assert bounded.metadata["average_note"].endswith("fan-out at most 1 were searched")
    long = independent_trees(40, 3, random.Random(5), 0.0)
    assert average(long, method="dynamic-programming", max_fan_out=1).values["objective"] > 0
    assert average([gap, gap, ONE], method="dynamic-programming", max_fan_out=10**9) == free


def test_individuals_must_fit() -> None:
    with pytest.raises(TreemeanError, match="nothing to average"):
        average([])
    with pytest.raises(MismatchError, match="individual 2 has 3 words"):
        average([ONE, tree_of(3, [])])
    words = Tree(["w0", "w1", "x", "w3"], [({0, 1, 2, 3}, "S")])
    with pytest.raises(MismatchError, match="word 3 is 'x' in individual 2 and 'w2'"):
        average([ONE, words])
    with pytest.raises(MismatchError, match="1 sentences"):
        average([Treebank.from_trees([ONE, ONE]), Treebank.from_trees([ONE])])


def test_labels_are_those_with_most_weight() -> None:
    def labelled(label: str) -> Tree:
        return Tree(list("abc"), [({0, 1, 2}, "S"), ({0, 1}, label)])

    trees = [labelled("NP"), labelled("VP"), labelled("AP"), labelled("VP")]
    assert average(trees).constituents[1].label == "VP"
    assert average(trees, [1, 1, 3, 1]).constituents[1].label == "AP"
    assert average(trees, [1, 1, 2, 1]).constituents[1].label == "VP"  # the more frequent one
    assert average(trees[:3]).constituents[1].label == "AP"
    assert average(trees[:2], [1.5, 1]).constituents[1].label == "NP"


def test_a_unary_chain_stays() -> None:
    chain = Tree(list("abc"), [({0, 1, 2}, "TOP"), ({0, 1, 2}, "S"), ({0, 1}, "NP"), ({0, 1}, "X")])
    result = average([chain])
    assert result == chain
    assert result.values["objective"] == 1


def test_single_words_need_a_majority() -> None:
    with_word = Tree(list("ab"), [({0, 1}, "S"), ({0}, "NP")])
    without = Tree(list("ab"), [({0, 1}, "S")])
    assert [c.positions for c in average([with_word, with_word, without])] == [(0, 1), (0,)]
    assert [c.positions for c in average([with_word, without])] == [(0, 1)]
    assert average([with_word, without]).values["objective"] == 1


def test_support_is_a_share_of_weight() -> None:
    result = average([ONE, OTHER, ONE], [2, 1, 1])
    support = {c.positions: c.values["support"] for c in result}
    assert support == {(0, 1, 2, 3): 1.0, (0, 1, 2): 1.0, (0, 1): 0.75}
    gap = tree_of(4, [0b0101])
    typed = {"continuous": [1, 1], "discontinuous": [3, 1]}
    result = average([gap, tree_of(4, [])], typed)
    assert {c.positions: c.values["support"] for c in result}[(0, 2)] == 0.75


def test_a_weight_of_zero_is_no_say() -> None:
    flat = Tree(["w0", "w1", "w2", "w3"], [({0, 1, 2, 3}, "A")])
    result = average([ONE, flat], [1, 0])
    assert result.masks == ONE.masks
    assert result.values["objective"] == 1
    assert result.constituents[0].label == "S"
    # Typed weights: no say about continuous constituents only.
    gap = tree_of(4, [0b0101])
    result = average([ONE, gap], {"continuous": [1, 0], "discontinuous": [0, 9]})
    assert result.masks == gap.masks


def test_ids_and_metadata_come_from_the_first_one() -> None:
    first = Tree(["a", "b"], [({0, 1}, "S")], tags=["x", "y"], id="s7", metadata={"source": "here"})
    second = Tree(["a", "b"], [({0, 1}, "S")], tags=["p", "q"])
    result = average([first, second])
    assert (result.tags, result.id) == (("p", "q"), "s7")
    assert dict(result.metadata) == {"source": "here", "average_method": "exact"}
    assert dict(average([second, first]).metadata) == {"average_method": "exact"}
    assert dict(average([second], method="majority").metadata) == {"average_method": "majority"}


def test_labels_of_added_constituents() -> None:
    flat = Tree(list("abcde"), [({0, 1, 2, 3, 4}, "S"), ({1, 2, 3}, "NP")])
    result = average([flat], binary=True)
    assert result == binarise(flat, "right")
    assert {c.label: c.values["support"] for c in result} == {"S": 1, "S|": 0, "NP": 1, "NP|": 0}
    again = average([result], binary="left")
    assert again == result


def test_the_columns_of_a_result() -> None:
    rng = random.Random(4)
    banks = [
        Treebank.from_trees(column) for column in zip(*(perturbed_trees(9, 3, 2, rng) for _ in range(5)))
    ]
    result = average(banks)
    assert set(result.sentence_values) == {
        "objective",
        "average_f1",
        "upper_bound",
        "optimal",
        "nodes",
        "candidates",
        "seconds",
    }
    assert all(len(column) == 5 for column in result.sentence_values.values())
    assert np.array_equal(result.sentence_values["objective"], result.sentence_values["average_f1"])
    assert set(result.constituent_values) == {"support", "support_labelled"}
    assert Treebank.from_trees(list(result)) == result


@dataclass(frozen=True)
class Answer:
    chosen: tuple[int, ...]
    added: tuple[int, ...]
    objective: Fraction
    upper_bound: Fraction
    optimal: bool
    nodes: int
    note: str = ""


def try_everything(problem: Problem, binary: str | None = None) -> Answer:
    value, chosen = ranking(problem)[0]
    if binary is None:
        return Answer(chosen, (), value, value, True, 1)
    # Not the best binary tree, but a binary one.
    masks = [(1 << problem.n) - 1, *(problem.candidates[c] for c in chosen)]
    tree = binarise(Tree([""] * problem.n, [Constituent(m) for m in masks]), binary)
    added = tuple(tree.masks - set(masks))
    return Answer(chosen, added, value, Fraction(1), False, 1)


def test_methods_that_solve_problems_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "everything", by_problem("everything", try_everything))
    rng = random.Random(6)
    sentences = [
        [flattened(t, 0.2, rng) for t in mixed_trees(rng.randint(1, 7), 4, 2, 1, rng)] for _ in range(30)
    ]
    banks = [Treebank.from_trees([s[k] for s in sentences]) for k in range(4)]
    weights = {"continuous": [0, 1, 3, 2], "discontinuous": [0, 1, 1, 4]}
    exact = average(banks, weights, beta=0.5)
    plugged = average(banks, weights, beta=0.5, method="everything")
    assert plugged == exact
    for name in ("objective", "average_f1", "upper_bound", "optimal"):
        assert plugged.sentence_values[name] == pytest.approx(exact.sentence_values[name], rel=1e-12)
    support = plugged.constituent_values["support"]
    assert support == pytest.approx(exact.constituent_values["support"], rel=1e-12)
    assert plugged[0].metadata["average_method"] == "everything"
    flat = Tree(list("abcd"), [({0, 1, 2, 3}, "S")])
    assert average([flat], binary="left", method="everything") == binarise(flat, "left")
    with pytest.raises(TreemeanError, match="does not maximise plain sums"):
        average(banks, additive=True, method="everything")


def test_errors_of_plugged_methods_name_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(problem: Problem) -> Answer:
        raise TreemeanError("too hard")

    monkeypatch.setitem(METHODS, "failing", by_problem("failing", fail))
    with pytest.raises(TreemeanError, match="sentence 1: too hard"):
        average([ONE], method="failing")
