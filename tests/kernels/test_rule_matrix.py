"""The matrix of rules, against one that is put together part by part."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import pad

from examples import examples
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.charts import Sizes, rule_matrix

NAMES = ("side_by_side", "apart", "wrapping", "attaching")


def padded(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Pad all axes but the first with zeros."""
    missing: list[int] = []
    for have, want in zip(reversed(tensor.shape[1:]), reversed(sizes)):
        missing += [0, want - have]
    return pad(tensor, missing)


def naive_matrix(rules: DenseRules, sizes: Sizes) -> Tensor:
    nonterminals, gapped, symbols = sizes.nonterminals, sizes.gapped, sizes.symbols
    parts = [padded(rules.side_by_side.permute(0, 3, 1, 2), (symbols, nonterminals, symbols))]
    if sizes.has_gaps:
        parts.append(padded(rules.apart.permute(0, 2, 1, 3), (symbols, gapped, symbols)))
        parts.append(padded(rules.wrapping.permute(0, 2, 1, 3), (symbols, nonterminals, gapped)))
        parts.append(padded(rules.attaching.permute(0, 3, 2, 4, 1), (symbols, 4, gapped, gapped)))
    return torch.cat([part.flatten(2) for part in parts], 2)


def rules_of(sets: int, nonterminals: int, preterminals: int, gapped: int, device: str) -> DenseRules:
    """Return rules of which the kinds of one parent are parts of one tensor, as those of a grammar are."""
    symbols = nonterminals + preterminals
    pairs = symbols * symbols
    of_parents = torch.randn(sets, nonterminals, pairs + symbols * gapped, device=device)
    of_gapped = torch.randn(sets, gapped, pairs + 4 * symbols * gapped, device=device)
    return DenseRules(
        words=torch.zeros(1, 2, preterminals, device=device),
        root=torch.ones(sets, nonterminals, device=device),
        side_by_side=of_parents[..., :pairs].unflatten(2, (symbols, symbols)),
        wrapping=of_parents[..., pairs:].unflatten(2, (symbols, gapped)),
        apart=of_gapped[..., :pairs].unflatten(2, (symbols, symbols)),
        attaching=of_gapped[..., pairs:].unflatten(2, (4, symbols, gapped)),
    )


def check(rules: DenseRules, sizes: Sizes) -> None:
    leaves = [getattr(rules, name).requires_grad_() for name in NAMES]
    found, expected = rule_matrix(rules, sizes), naive_matrix(rules, sizes)
    assert torch.equal(found, expected)
    weights = torch.randn_like(found).mT.contiguous().mT
    ours, theirs = (
        torch.autograd.grad((weights * matrix).sum(), leaves, allow_unused=True, materialize_grads=True)
        for matrix in (found, expected)
    )
    for name, mine, wanted in zip(NAMES, ours, theirs):
        assert torch.equal(mine, wanted), name


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("gapped", [0, 1, 5])
def test_matrix_and_gradients_are_those_of_the_parts(gapped: int, device: str) -> None:
    torch.manual_seed(gapped)
    rules = rules_of(2, 3, 4, gapped, device)
    check(rules, Sizes.of(rules))


@examples(8)
@given(st.data())
def test_any_padding_will_do(data: st.DataObject) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    nonterminals, preterminals = (data.draw(st.integers(1, 18)) for _ in range(2))
    gapped = data.draw(st.integers(0, 17))
    rules = rules_of(data.draw(st.integers(1, 2)), nonterminals, preterminals, gapped, device)
    wide = [data.draw(st.sampled_from([16, 32, 64])) for _ in range(3)]
    most = [max(16, 1 << (x - 1).bit_length()) for x in (nonterminals, gapped, nonterminals + preterminals)]
    check(rules, Sizes(*(max(x, y) for x, y in zip(wide, most)), gapped > 0))


def test_rules_may_lie_in_any_order(device: str) -> None:
    torch.manual_seed(1)
    rules = rules_of(2, 3, 4, 5, device)
    rules.side_by_side = rules.side_by_side.mT
    rules.attaching = rules.attaching.expand(2, -1, -1, -1, -1).transpose(0, 1).contiguous().transpose(0, 1)
    check(rules, Sizes.of(rules))
