"""Networks of dense grammars by kernels against PyTorch, in memory that starts as NaN."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from treemean.grammars.compound import largest_states, lstm, word_log_probs
from treemean.grammars.fused.matrices import precision


def gradients(value: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    weights = torch.linspace(-1.0, 2.0, value.numel(), dtype=value.dtype, device=value.device).view_as(value)
    return list(torch.autograd.grad((weights * value).sum(), leaves))


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(("n", "batch", "units"), [(1, 1, 3), (2, 3, 9), (5, 3, 4), (3, 33, 8)])
def test_lstm_is_that_of_pytorch(
    n: int, batch: int, units: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype, tolerance = (torch.float32, 1e-4) if device == "cuda" else (torch.float64, 1e-10)
    if device == "cpu":  # let loops go round more than once
        monkeypatch.setattr(lstm, "_CHUNKS", 2)
        monkeypatch.setattr(lstm, "_DEPTH", 2)
    torch.manual_seed(n)
    network = nn.LSTM(4, units, bidirectional=True).to(device, dtype)
    vectors = torch.randn(n, batch, 4, device=device, dtype=dtype, requires_grad=True)
    leaves = [vectors, *network.parameters()]
    found, expected = largest_states(network, vectors), network(vectors)[0].amax(0)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    for ours, theirs in zip(gradients(found, leaves), gradients(expected, leaves)):
        torch.testing.assert_close(ours, theirs, rtol=10 * tolerance, atol=tolerance)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("sentences", [1, 2])
@pytest.mark.parametrize("halves", [torch.float16, torch.float32])
def test_emissions_are_a_softmax_over_all_words(sentences: int, halves: torch.dtype, device: str) -> None:
    torch.manual_seed(sentences)
    hidden, weights, bias = (
        torch.randn(*size, device=device, requires_grad=True) for size in ((sentences, 5, 7), (67, 7), (67,))
    )
    words = torch.tensor([[3, 66, 3], [0, 1, 65]], device=device)
    with precision(halves):
        found = word_log_probs(hidden, weights, bias, words)
        ours = gradients(found, [hidden, weights, bias])
    logits = (hidden @ weights.T + bias).double()
    index = words[:, None].expand(-1, 5, -1)
    expected = logits.log_softmax(-1).expand(2, -1, -1).gather(2, index).mT
    tolerance = 2e-3 if halves == torch.float16 else 1e-5
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=tolerance)
    for mine, theirs in zip(ours, gradients(expected, [hidden, weights, bias])):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=tolerance * float(theirs.abs().max()))
