"""Most probable derivations by kernels against the plain version: the same bits, the same trees."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grammar_instances import cells_of, random_rank_rules, tiny_grammar
from treemean.grammars.charts.logarithms import log
from treemean.grammars.decoding.choices import best
from treemean.grammars.decoding.semirings import MAX
from treemean.grammars.gpu.max_plus import KernelMax
from treemean.grammars.grammar import Masks
from treemean.grammars.rank.decoding.chart import LogRankRules, RankChart
from treemean.grammars.rank.decoding.walk import RankWalker
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.rank.triton.viterbi import ViterbiChart, best_derivations

pytestmark = pytest.mark.usefixtures("poisoned")

GAPPED, PLAIN = Ranks(5, 3, 4, 2), Ranks(7)


def random_rules(batch: int, n: int, ranks: Ranks, *, seed: int) -> LogRankRules:
    drawn = random_rank_rules(batch, n, ranks, seed=seed, sharp=2.0)
    return LogRankRules(
        views=log(drawn.views) + drawn.scales[..., None],
        continuous=log(drawn.continuous),
        discontinuous=log(drawn.discontinuous),
        root=log(drawn.root),
        ranks=ranks,
    )


def rounded(rules: LogRankRules) -> LogRankRules:
    """Make ties likely, and some things impossible."""

    def few(x: Tensor) -> Tensor:
        return torch.where(x < x.mean() - 1.0, -torch.inf, x.round())

    tensors = {name: few(getattr(rules, name)) for name in ("views", "continuous", "discontinuous", "root")}
    return replace(rules, **tensors)


def moved(rules: LogRankRules, device: str) -> LogRankRules:
    tensors = ("views", "continuous", "discontinuous", "root")
    return replace(rules, **{name: getattr(rules, name).to(device) for name in tensors})


def plain_trees(rules: LogRankRules, lengths: Tensor) -> tuple[list[Masks], RankChart]:
    chart = RankChart(rules, MAX)
    walker = RankWalker(chart)
    return [walker.tree(k, length, best) for k, length in enumerate(lengths.tolist())], chart


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (3, 7, 33), (40, 5, 70), (33, 2, 161)])
def test_products_are_those_of_the_plain_version(rows: int, inner: int, columns: int, device: str) -> None:
    draw = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, inner, generator=draw, dtype=torch.float64)
    x[0, -1] = -torch.inf
    matrix = torch.randn(columns, inner, generator=draw, dtype=torch.float64).T
    found = KernelMax().product(x.to(device), matrix.to(device)).cpu()
    assert torch.equal(found, MAX.product(x, matrix))
    assert torch.equal(found, (x[:, :, None] + matrix).amax(1))
    assert torch.equal(KernelMax().product(x[-1].to(device), matrix.to(device)).cpu(), found[-1])


@pytest.mark.parametrize("ranks", [GAPPED, PLAIN], ids=["gaps", "no gaps"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (6, 9))])
def test_trees_are_those_of_the_plain_version(n: int, ranks: Ranks, device: str) -> None:
    for lengths in (torch.tensor([n, max(n - 1, 1), 1]), torch.tensor([n])):
        rules = random_rules(len(lengths), n, ranks, seed=10 * n + len(lengths))
        trees, chart = plain_trees(rules, lengths)
        found = ViterbiChart(moved(rules, device))
        assert found.trees(lengths.to(device)) == trees
        log_probs = found.log_probs(lengths.to(device)).tolist()
        for sentence, length in enumerate(lengths.tolist()):
            expected = -torch.inf
            if length > 1:
                expected = float((chart.scores[length][0, sentence] + rules.root).max())
            assert log_probs[sentence] == expected


@pytest.mark.parametrize("ranks", [GAPPED, PLAIN], ids=["gaps", "no gaps"])
def test_of_equal_derivations_the_first_is_taken(ranks: Ranks, device: str) -> None:
    for n in (3, 5):
        rules = rounded(random_rules(2, n, ranks, seed=n))
        trees, _ = plain_trees(rules, torch.tensor([n, n]))
        assert best_derivations(moved(rules, device), torch.tensor([n, n])) == trees


def test_charts_are_those_of_the_plain_version(device: str) -> None:
    n, batch = 5, 2
    rules = random_rules(batch, n, GAPPED, seed=1)
    _, chart = plain_trees(rules, torch.tensor([n, n]))
    found = ViterbiChart(moved(rules, device))
    row = 0
    for width in range(1, n + 1):
        count = (n - width + 1) * batch
        own = slice(row, row + count)
        views = found.views[:, own].cpu().view(-1, batch, n - width + 1)
        assert torch.equal(views.permute(2, 1, 0), chart.views.read(width))
        if width > 1:
            scores = found.scores[:, own].cpu().view(-1, batch, n - width + 1)
            assert torch.equal(scores.permute(2, 1, 0), chart.scores[width])
        row += count
    cells = list(cells_of(n))
    assert len(cells) == found.cells
    for cell, (left, right, i, p) in enumerate(cells):
        for name in ("wrapping", "extended", "attachments"):
            expected = getattr(chart, name).at(left + right)[left - 1, i, p]
            assert torch.equal(getattr(found, name)[:, :, cell].cpu().T, expected)


@pytest.mark.filterwarnings("ignore:All-NaN")  # of the interpreter
def test_what_is_not_a_number_does_no_harm(device: str) -> None:
    n = 4
    rules = moved(random_rules(1, n, GAPPED, seed=1), device)
    for name in ("views", "continuous", "discontinuous", "root"):
        broken = replace(rules, **{name: getattr(rules, name) * torch.nan})
        (tree,) = best_derivations(broken, torch.tensor([n]))
        assert len(tree) == n - 1


@pytest.mark.parametrize("kind", ["tn-lcfrs", "tn-pcfg"])
def test_a_grammar_by_kernels_finds_the_same_derivations(kind: str, device: str) -> None:
    words, lengths = torch.tensor([[0, 1, 2, 4, 3, 1], [4, 3, 0, 0, 0, 0]]), torch.tensor([6, 3])
    for seed in (0,):
        fast, slow = (
            tiny_grammar(kind, backend=backend, vocabulary_size=5, embedding=32, seed=seed).float().to(device)
            for backend in ("triton", "torch")
        )
        found = fast.viterbi(words.to(device), lengths.to(device))
        assert found == slow.viterbi(words.to(device), lengths.to(device))
        assert [len(tree) for tree in found] == [5, 2]
