"""What `treemean.average` promises around the search: errors, labels, support, methods."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from instances import flattened, mixed_trees, perturbed_trees, tree_of
from oracle import ranking
from treemean.averaging import METHODS, average, by_problem
from treemean.averaging.problem import Problem
from treemean.errors import MismatchError, TreemeanError
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
    assert average(trees, [1, 1, 2, 1]).constituents[1].label == "AP"
    assert average(trees[:3]).constituents[1].label == "AP"
    assert average(trees[:2], [1.5, 1]).constituents[1].label == "NP"


def test_of_a_unary_chain_the_upper_label_counts() -> None:
    chain = Tree(list("abc"), [({0, 1, 2}, "TOP"), ({0, 1, 2}, "S"), ({0, 1}, "NP"), ({0, 1}, "X")])
    result = average([chain])
    assert [c.label for c in result] == ["TOP", "NP"]
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


def test_words_tags_ids_and_metadata_come_from_the_first_one() -> None:
    first = Tree(["a", "b"], [({0, 1}, "S")], tags=["x", "y"], id="s7", metadata={"source": "here"})
    second = Tree(["a", "b"], [({0, 1}, "S")], tags=["p", "q"])
    result = average([first, second])
    assert (result.tags, result.id) == (("x", "y"), "s7")
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
    assert set(result.constituent_values) == {"support"}
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
