"""Most probable derivations over symbols by kernels against the plain version."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grammar_instances import cells_of, random_dense_rules, tiny_grammar
from treemean.grammars.decoding.choices import best
from treemean.grammars.decoding.semirings import MAX
from treemean.grammars.dense.decoding.chart import DenseChart
from treemean.grammars.dense.decoding.walk import DenseWalker
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.viterbi import DenseViterbiChart, best_dense_derivations
from treemean.grammars.grammar import Masks

pytestmark = pytest.mark.usefixtures("poisoned")


def plain_trees(rules: DenseRules, lengths: Tensor) -> list[Masks]:
    walker = DenseWalker(DenseChart(rules, MAX))
    return [walker.tree(k, length, best) for k, length in enumerate(lengths.tolist())]


def moved(rules: DenseRules, device: str) -> DenseRules:
    return DenseRules(**{name: tensor.to(device) for name, tensor in rules.tensors().items()})


@pytest.mark.parametrize("per_sentence", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize("gapped", [0, 2])
@pytest.mark.parametrize("n", [1, 2, 3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (6, 9))])
def test_trees_are_those_of_the_plain_version(n: int, gapped: int, per_sentence: bool, device: str) -> None:
    for lengths in (torch.tensor([n, max(n - 1, 1), 1]), torch.tensor([n])):
        rules = random_dense_rules(
            len(lengths), n, 3, 2, gapped, per_sentence=per_sentence, seed=n, sharp=2.0
        )
        assert best_dense_derivations(moved(rules, device), lengths.to(device)) == plain_trees(rules, lengths)


@pytest.mark.parametrize("gapped", [0, 3])
def test_of_equal_derivations_the_first_is_taken(gapped: int, device: str) -> None:
    for n in (3, 5):
        rules = random_dense_rules(2, n, 2, 2, gapped, seed=n, sharp=2.0)
        few = {}
        for name, tensor in rules.tensors().items():
            # Sums of whole numbers are exact, and often the same; a few rules are impossible.
            few[name] = tensor.round() if name == "words" else tensor.log().round().exp2()
            if name not in ("words", "root"):
                few[name][tensor < 0.3 * tensor.mean()] = 0.0
        rules = DenseRules(**few)
        lengths = torch.tensor([n, n])
        assert best_dense_derivations(moved(rules, device), lengths.to(device)) == plain_trees(rules, lengths)


@pytest.mark.parametrize("per_sentence", [False, True], ids=["shared", "own"])
def test_charts_are_those_of_the_plain_version(per_sentence: bool, device: str) -> None:
    n, batch = 5, 2
    rules = random_dense_rules(batch, n, 3, 2, 2, per_sentence=per_sentence, seed=1)
    plain, found = DenseChart(rules, MAX), DenseViterbiChart(moved(rules, device))
    row = 0
    for width in range(1, n + 1):
        starts = n - width + 1
        symbols = found.symbols[:, row : row + starts * batch].cpu().view(-1, batch, starts)
        assert torch.equal(symbols.permute(2, 1, 0), plain.continuous[:starts, width - 1])
        row += starts * batch
    cells = list(cells_of(n))
    assert len(cells) == found.cells
    for cell, (left, right, i, p) in enumerate(cells):
        expected = plain.discontinuous.at(left + right)[left - 1, i, p]
        assert torch.equal(found.discontinuous[:, :, cell].cpu().T, expected)


@pytest.mark.filterwarnings("ignore:All-NaN")  # of the interpreter
def test_what_is_not_a_number_does_no_harm(device: str) -> None:
    n = 4
    rules = moved(random_dense_rules(1, n, 2, 2, 2), device)
    for name, tensor in rules.tensors().items():
        broken = DenseRules(**(rules.tensors() | {name: tensor * torch.nan}))
        (tree,) = best_dense_derivations(broken, torch.tensor([n]))
        assert len(tree) == n - 1


@pytest.mark.parametrize("kind", ["c-lcfrs", "n-pcfg"])
def test_a_grammar_by_kernels_finds_the_same_trees(kind: str, device: str) -> None:
    words, lengths = torch.tensor([[0, 1, 2, 2], [2, 1, 0, 0]]).to(device), torch.tensor([4, 3])
    fast, slow = (
        tiny_grammar(kind, backend=backend, seed=5).float().to(device) for backend in ("triton", "torch")
    )
    found = fast.viterbi(words, lengths.to(device))
    assert found == slow.viterbi(words, lengths.to(device))
    assert [len(tree) for tree in found] == [3, 2]
    assert fast.mbr(words, lengths.to(device)) == slow.mbr(words, lengths.to(device))
