"""Best trees by kernels against the plain version."""

from __future__ import annotations

import pytest
import torch

from grammar_instances import cells_of
from treemean.grammars.gpu.mbr import best_trees
from treemean.grammars.gpu.posteriors import Posteriors, places_of_cells
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.spans import SpanPosteriors

pytestmark = pytest.mark.usefixtures("poisoned")


def random_posteriors(batch: int, n: int, *, gaps: bool, seed: int) -> tuple[Posteriors, SpanPosteriors]:
    """Draw the same numbers in both forms; they need not be posteriors of anything."""
    draw = torch.Generator().manual_seed(seed)
    continuous = torch.rand(batch, n + 1, n + 1, generator=draw)
    places, sizes = places_of_cells(n, torch.device("cpu")) if gaps and n > 2 else (torch.zeros(0).long(), {})
    cells = 1.5 * torch.rand(batch, len(places), generator=draw)
    flat = torch.zeros(batch, sum(sizes.values()))
    flat[:, places] = cells
    charts, start = {}, 0
    for width, size in sizes.items():
        charts[width] = flat[:, start : start + size].view(batch, width - 1, n - width, n - width)
        start += size
    return Posteriors(continuous, cells, torch.zeros(batch)), SpanPosteriors(continuous, charts)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(
    "n", [*range(1, 6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 10))]
)
def test_trees_are_those_of_the_plain_version(n: int, gaps: bool, device: str) -> None:
    lengths = torch.tensor([n, max(n - 1, 1), 1])
    compact, plain = random_posteriors(3, n, gaps=gaps, seed=n)
    moved = Posteriors(*(x.to(device) for x in (compact.continuous, compact.cells, compact.log_z)))
    assert best_trees(moved, lengths) == mbr.best_trees(plain, lengths)


def test_of_equal_trees_the_first_is_taken(device: str) -> None:
    for n in (3, 5):
        compact, plain = random_posteriors(2, n, gaps=True, seed=n)
        for tensor in (compact.continuous, compact.cells, *plain.discontinuous.values()):
            tensor.copy_((2 * tensor).round())  # many ties
        plain.continuous.copy_(compact.continuous)
        moved = Posteriors(*(x.to(device) for x in (compact.continuous, compact.cells, compact.log_z)))
        assert best_trees(moved, torch.tensor([n, n])) == mbr.best_trees(plain)


@pytest.mark.parametrize(
    ("parent", "child"),
    [({0, 1, 3}, {1, 3}), ({0, 1, 3}, {0, 3}), ({0, 2, 3}, {0, 3}), ({0, 2, 3}, {0, 2})],
    ids=["before left", "after left", "before right", "after right"],
)
def test_words_are_attached_at_each_edge_of_a_part(parent: set[int], child: set[int], device: str) -> None:
    n = 4
    sets = [
        {*range(i, i + left), *range(p + 1 + left, p + 1 + left + right)} for left, right, i, p in cells_of(n)
    ]
    cells = torch.tensor([[float(found in (parent, child)) for found in sets]], device=device)
    nothing = torch.zeros(1, n + 1, n + 1, device=device)
    (tree,) = best_trees(Posteriors(nothing, cells, nothing[0, 0, :1]), torch.tensor([n]))
    assert set(tree) == {sum(1 << word for word in words) for words in (range(n), parent, child)}
