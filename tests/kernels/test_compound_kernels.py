"""Networks of dense grammars by kernels against PyTorch, in memory that starts as NaN."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kernel_checks import rounded_at_random
from torch import Tensor, nn

from grammar_instances import tiny_grammar
from treemean.errors import InvalidOption
from treemean.grammars.backends import problem_of_kernels
from treemean.grammars.dense.trial import TRIAL
from treemean.grammars.dense.triton.compound import (
    conditioned,
    draw,
    emission_kernels,
    emissions,
    largest_states,
    latent_kernels,
    lstm,
    parallel_networks,
    residual,
    word_log_probs,
)
from treemean.grammars.gpu.matrices import half_matrix, precision
from treemean.grammars.networks import Residual


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
        monkeypatch.setattr(lstm, "_ADVANCE", (2, 2))
        monkeypatch.setattr(lstm, "_RETREAT", (2, 2))
    torch.manual_seed(n)
    network = nn.LSTM(4, units, bidirectional=True).to(device, dtype)
    vectors = torch.randn(n, batch, 4, device=device, dtype=dtype, requires_grad=True)
    leaves = [vectors, *network.parameters()]
    found, expected = largest_states(network, vectors), network(vectors)[0].amax(0)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    ours = gradients(found, leaves)
    for mine, theirs in zip(ours, gradients(expected, leaves)):
        torch.testing.assert_close(mine, theirs, rtol=10 * tolerance, atol=tolerance)
    # Gradients are added to in place where a batch has several parts.
    assert len({gradient.data_ptr() for gradient in ours}) == len(leaves)


def test_lstm_does_not_lose_what_is_no_number(device: str) -> None:
    torch.manual_seed(1)
    network = nn.LSTM(4, 3, bidirectional=True).to(device)
    vectors = torch.randn(3, 2, 4, device=device)
    vectors[0, 1] = torch.nan
    assert torch.equal(largest_states(network, vectors).isnan().any(1).cpu(), torch.tensor([False, True]))


def test_of_equal_states_the_first_one_of_a_direction_is_learnt_from(device: str) -> None:
    network = nn.LSTM(2, 1, bidirectional=True).to(device)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    vectors = torch.ones(3, 1, 2, device=device)
    (found,) = torch.autograd.grad(largest_states(network, vectors).sum(), [network.weight_ih_l0_reverse])
    (one,) = torch.autograd.grad(network(vectors[:1])[0].sum(), [network.weight_ih_l0_reverse])
    torch.testing.assert_close(found, one)


def test_batches_with_more_gates_than_kernels_of_an_lstm_can_count_are_refused() -> None:
    network, vectors = (
        nn.LSTM(1, 2, bidirectional=True, device="meta"),
        torch.empty(2**9, 2**18, 1, device="meta"),
    )
    with pytest.raises(InvalidOption, match="take fewer sentences"):
        largest_states(network, vectors)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    ("sentences", "halves"),
    [
        (1, torch.float32),
        (2, torch.float16),
        pytest.param(1, torch.float16, marks=pytest.mark.slow),
        pytest.param(2, torch.float32, marks=pytest.mark.slow),
    ],
)
def test_emissions_are_a_softmax_over_all_words(
    sentences: int, halves: torch.dtype, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emissions, "_AT_ONCE", 2)  # let loops over positions go round more than once
    for name, size in {"_LOOK": 2, "_WORDS": 64, "_COLUMNS": 16, "_PLACES": 4, "_STEP": 2}.items():
        monkeypatch.setattr(emissions, name, size)
    torch.manual_seed(sentences)
    hidden, weights, bias = (
        (torch.randn(*size, device=device) / 2).requires_grad_()
        for size in ((sentences, 5, 18), (67, 18), (67,))
    )
    words = torch.tensor([[3, 66, *range(10), *range(0, 14, 2)], [0, 1, 65, *[3] * 16]], device=device)
    with precision(halves):
        found = word_log_probs(hidden, weights, bias, words)
        ours = gradients(found, [hidden, weights, bias])
    logits = hidden.double() @ weights.double().T + bias
    index = words[:, None].expand(-1, 5, -1)
    expected = logits.log_softmax(-1).expand(2, -1, -1).gather(2, index).mT
    # Values come from operands that are split, gradients from halves.
    torch.testing.assert_close(
        found.double(), expected, rtol=0, atol=2e-5 if halves == torch.float16 else 1e-5
    )
    tolerance = 2e-3 if halves == torch.float16 else 1e-5
    for mine, theirs in zip(ours, gradients(expected, [hidden, weights, bias])):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=tolerance * float(theirs.abs().max()))


@pytest.mark.usefixtures("poisoned")
def test_emissions_may_lie_in_any_order(device: str) -> None:
    torch.manual_seed(1)
    hidden, weights, bias = (torch.randn(*size, device=device) for size in ((2, 3, 4), (67, 4), (67,)))
    words = torch.tensor([[3, 66, 3], [0, 1, 65]], device=device)
    strided = hidden.mT.contiguous().mT, weights.mT.contiguous().mT, bias.repeat(2, 1).T.contiguous()[:, 0]
    found, expected = (
        [x.detach().requires_grad_() for x in given] for given in (strided, (hidden, weights, bias))
    )
    values = word_log_probs(*found, words.T.contiguous().T), word_log_probs(*expected, words)
    assert torch.equal(*values)
    assert all(map(torch.equal, gradients(values[0], found), gradients(values[1], expected)))


@pytest.mark.usefixtures("poisoned")
def test_small_vectors_of_words_keep_the_digits_of_float32(device: str) -> None:
    """What rounding to halves takes away from them is smaller than halves hold."""
    torch.manual_seed(1)
    hidden, weights, bias = 1e3 * torch.randn(2, 5, 255), 3e-3 * torch.randn(67, 255), torch.randn(67)
    words = torch.arange(66).view(2, 33)
    exact, usual = (
        (x.to(kind) @ weights.T.to(kind) + bias)
        .log_softmax(-1)
        .gather(2, words[:, None].expand(-1, 5, -1))
        .mT
        for x, kind in ((hidden, torch.float64), (hidden, torch.float32))
    )
    with precision(torch.float16):
        found = word_log_probs(*(x.to(device) for x in (hidden, weights, bias)), words.to(device)).cpu()
    assert (found - exact).norm() < 8 * (usual - exact).norm()


@pytest.mark.usefixtures("poisoned")
def test_kernels_of_emissions_are_the_same_for_batches_of_any_size(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks that grew with the batch would outgrow registers, and be compiled for each size."""
    sizes: list[dict[str, Any]] = []

    class Recorded:
        def __init__(self, kernel: Any) -> None:
            self.kernel = kernel

        def __getitem__(self, programs: tuple[int, ...]) -> Any:
            def launch(*arguments: Any, **options: Any) -> None:
                compiled_in = {n: v for n, v in options.items() if n.isupper() or n.startswith("num_")}
                sizes.append(compiled_in)
                self.kernel[programs](*arguments, **options)

            return launch

    for name in ("extend", "logit_gradients", "hidden_gradients", "word_gradients", "weigh"):
        monkeypatch.setattr(emission_kernels, name, Recorded(getattr(emission_kernels, name)))
    for sentences in (1, 3):
        given = [torch.randn(*size, device=device) for size in ((sentences, 3, 4), (67, 4), (67,))]
        leaves = [x.requires_grad_() for x in given]
        gradients(word_log_probs(*leaves, torch.zeros(sentences, 2, dtype=int, device=device)), leaves)
    assert len(sizes) == 12  # two matrices of inputs and words
    assert sizes[:6] == sizes[6:]


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("halves", [torch.float16, torch.float32])
def test_preterminals_with_one_word_emit_it_for_sure_however_large_their_logits(
    halves: torch.dtype, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words and normalisers come from one product: sums on a GPU depend on the shape of a product."""
    torch.manual_seed(1)
    hidden, weights, bias = (torch.randn(*size) for size in ((2, 5, 7), (67, 7), (67,)))
    hidden *= 1e5  # more than halves hold
    log_probs = (hidden.double() @ weights.double().T + bias).log_softmax(-1)
    words = log_probs.argmax(-1)  # of each preterminal its word
    assert log_probs.amax(-1).min() > -1e-6
    monkeypatch.setattr(emissions, "product", rounded_at_random(emissions.product))
    given = [x.to(device).requires_grad_() for x in (hidden, weights, bias)]
    with precision(halves):
        found = word_log_probs(*given, words.to(device)).detach()
    assert found.max() <= 0.0
    assert found.diagonal(0, 1, 2).abs().max() < 1e-5
    expected = log_probs.gather(2, words[:, None].expand(-1, 5, -1)).mT
    torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("halves", [torch.float16, torch.float32])
def test_words_of_preterminals_that_emit_nothing_else_are_left_where_they_are(
    halves: torch.dtype, device: str
) -> None:
    """Vectors are so large that rounding would move words more than all that is to be learnt."""
    torch.manual_seed(1)
    weights, bias = torch.randn(67, 7), torch.randn(67)
    hidden = 200 * weights[torch.tensor([[3, 3, 5], [3, 3, 3]])] + torch.randn(2, 3, 7)
    hidden[0, 1] *= 1e-2  # one that is not sure
    sure = (hidden @ weights.T + bias).softmax(-1)
    assert sure[..., 3].flatten().sort().values[2] > 0.999  # the other one is of another word
    words = torch.tensor([[3, 3, 7, 3, 3], [3, 3, 3, 3, 8]])
    posteriors = torch.zeros(2, 5, 3)
    posteriors[0, :, 0] = torch.tensor([1.0, 0.5, 0.0, 0.25, 1.0])
    posteriors[0, :, 1] = 1 - posteriors[0, :, 0]
    posteriors[1, :4] = torch.tensor([0.5, 0.3, 0.2])
    posteriors[1, 4] = torch.tensor([1e-6, 0.0, 0.0])
    given = [x.to(device).requires_grad_() for x in (hidden, weights, bias)]
    with precision(halves):
        found = torch.autograd.grad(word_log_probs(*given, words.to(device)), given, posteriors.to(device))
    exact = [x.double().requires_grad_() for x in (hidden, weights, bias)]
    log_probs = (exact[0] @ exact[1].T + exact[2]).log_softmax(-1)
    chosen = log_probs.gather(2, words[:, None].expand(-1, 3, -1)).mT
    for mine, wanted in zip(found, torch.autograd.grad(chosen, exact, posteriors.double())):
        assert float((mine.cpu() - wanted).norm()) < 1e-3 * float(wanted.norm())


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_not_lost(place: int, device: str) -> None:
    given = [torch.randn(*size, device=device) for size in ((2, 3, 4), (67, 4), (67,))]
    words = torch.tensor([[3, 66, 3], [0, 1, 65]], device=device)
    gradient = torch.ones(2, 3, 3, device=device)
    gradient[1, 1, place] = torch.nan
    leaves = [x.clone().requires_grad_() for x in given]
    found = torch.autograd.grad(word_log_probs(*leaves, words), leaves, gradient)
    assert not found[0][1, place].isfinite().any()
    assert not found[1].isfinite().all()
    given[place].view(-1)[-1] = torch.nan
    assert not word_log_probs(*given, words).isfinite().all()


@pytest.mark.usefixtures("poisoned")
def test_probabilities_of_all_words_are_kept_for_gradients_only(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []

    def reserve(*shape: int, device: torch.device) -> Tensor:
        if shape[-1] in (0, 128):  # all words, filled up
            kept.append(shape[-1] > 0)
        return half_matrix(*shape, device=device)

    monkeypatch.setattr(emissions, "half_matrix", reserve)
    given = [torch.randn(*size, device=device) for size in ((2, 3, 4), (67, 4), (67,))]
    words = torch.tensor([[3, 66, 3], [0, 1, 65]], device=device)
    without = word_log_probs(*given, words)
    given[0].requires_grad_()
    differentiable = word_log_probs(*given, words)
    with torch.no_grad():
        silent = word_log_probs(*given, words)
    assert kept == [False, True, False]
    assert [x.requires_grad for x in (without, differentiable, silent)] == kept
    assert torch.equal(without, differentiable)
    assert torch.equal(without, silent)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("size", [1, 5])
def test_vectors_are_drawn_from_what_is_encoded(size: int, device: str) -> None:
    torch.manual_seed(size)
    encoded = torch.randn(3, 2 * size, device=device, dtype=torch.float64, requires_grad=True)
    noise = torch.randn(3, size, device=device, dtype=torch.float64)
    mean, log_variance = encoded.chunk(2, 1)
    prior, posterior = (
        torch.distributions.Normal(torch.zeros_like(mean), 1.0),
        torch.distributions.Normal(mean, (0.5 * log_variance).exp()),
    )
    expected = mean + posterior.scale * noise, torch.distributions.kl_divergence(posterior, prior).sum(1)
    found = draw(encoded, noise)
    for mine, theirs in zip(found, expected):
        torch.testing.assert_close(mine, theirs)
    ours, wanted = (gradients(torch.cat([z, kl[:, None]], 1), [encoded]) for z, kl in (found, expected))
    torch.testing.assert_close(ours, wanted)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(("batch", "count"), [(3, 4), (3, 1), (1, 4), (1, 1)])
def test_layers_see_each_symbol_with_each_vector(batch: int, count: int, device: str) -> None:
    torch.manual_seed(batch)
    layer = nn.Linear(5, 6).to(device, torch.float64)
    embeddings, latent = (
        torch.randn(*size, device=device, dtype=torch.float64, requires_grad=True)
        for size in ((count, 3), (batch, 2))
    )
    leaves = [embeddings, latent, *layer.parameters()]
    pairs = embeddings.expand(batch, -1, -1), latent[:, None].expand(-1, count, -1)
    found, expected = conditioned(layer, embeddings, latent), layer(torch.cat(pairs, 2))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found, leaves), gradients(expected, leaves))


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("kind", ["c-pcfg", "c-lcfrs"])
def test_losses_and_gradients_by_kernels_are_those_of_pytorch(kind: str, device: str) -> None:
    words = torch.tensor([[0, 1, 2, 3], [4, 3, 3, 0]], device=device)
    found = []
    for backend in ("triton", "torch"):
        grammar = tiny_grammar(kind, backend=backend, vocabulary_size=5).float().to(device)
        with precision(torch.float32):
            loss = torch.stack(grammar.loss(words, generator=torch.Generator(device).manual_seed(1)))
            found.append((loss.detach(), gradients(loss, list(grammar.parameters()))))
    (loss, ours), (expected, theirs) = found
    torch.testing.assert_close(loss, expected, rtol=0, atol=1e-4)
    for mine, wanted in zip(ours, theirs):
        torch.testing.assert_close(mine, wanted, rtol=1e-3, atol=1e-4)


def test_networks_side_by_side_give_what_they_give_one_after_the_other(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU these are streams, forward and backward, again and again in the same memory."""
    words = torch.tensor([[0, 1, 2]], device=device)
    grammar = tiny_grammar("c-lcfrs", backend="triton", vocabulary_size=5).float().to(device)

    def differentiate() -> list[Tensor]:
        loss = torch.stack(grammar.loss(words, generator=torch.Generator(device).manual_seed(1)))
        return [loss.detach(), *gradients(loss, list(grammar.parameters()))]

    found = []
    for enabled in (True, False):
        monkeypatch.setattr(parallel_networks, "enabled", enabled)
        found += [differentiate() for _ in range(2)]
    for other in found[1:]:
        assert all(map(torch.equal, found[0], other))


@pytest.mark.usefixtures("poisoned")
def test_residual_blocks_are_those_of_pytorch(device: str) -> None:
    torch.manual_seed(1)
    block = Residual(4).to(device, torch.float64)
    x = torch.randn(2, 3, 4, device=device, dtype=torch.float64, requires_grad=True)
    leaves = [x, *block.parameters()]
    found, expected = residual(block, x), block(x)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found, leaves), gradients(expected, leaves))


@pytest.mark.parametrize("name", ["draw", "draw_gradients"])
def test_kernels_that_draw_vectors_are_tried_before_they_are_used(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent_kernels, name, None)
    assert "NoneType" in problem_of_kernels.__wrapped__(torch.device(device), TRIAL)
    monkeypatch.undo()
    assert not problem_of_kernels.__wrapped__(torch.device(device), TRIAL)
