"""How the kernels of N- and C- grammars are tried."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from treemean.grammars.backends import Trial
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.gpu.trials import WORDS, apart, drawn


def difference(device: torch.device, sizes: tuple[int, ...]) -> float:
    """Return the same for the kernels over symbols, and for those of networks of C- grammars before them."""
    from treemean.grammars.dense import triton as dense_kernels
    from treemean.grammars.dense.triton.compound import draw as draw_vectors
    from treemean.grammars.dense.triton.compound import largest_states, word_log_probs
    from treemean.grammars.gpu.matrices import precision

    draw = torch.Generator().manual_seed(1)

    def choice(*size: int) -> Tensor:
        return torch.rand(1, *size, generator=draw).to(device)

    words = torch.tensor([WORDS], device=device)
    rules = {
        "root": choice(2),
        "side_by_side": choice(2, 4, 4),
        "wrapping": choice(2, 4, 1),
        "apart": choice(1, 4, 4),
        "attaching": choice(1, 4, 4, 1),
    }
    lstm = drawn(lambda: nn.LSTM(3, 2, bidirectional=True), device)
    # Large numbers, by which all gradients are so large that it would show if they were wrong.
    vectors, preterminals, weights, bias = (
        (6 * choice(*size) - 3).squeeze(0) for size in ((4, 1, 3), (2, 4), (4, 4), (4,))
    )

    def by_kernels() -> Tensor:
        states = largest_states(lstm, vectors)
        latent, _ = draw_vectors(states.repeat(1, 2), torch.zeros_like(states))  # without noise, the means
        hidden = preterminals * latent[:, None]
        return dense_kernels.log_partition(
            DenseRules(words=word_log_probs(hidden, weights, bias, words), **rules)
        )

    def by_torch() -> Tensor:
        hidden = preterminals * lstm(vectors)[0].amax(0)[:, None]
        emissions = linear(hidden, weights, bias).log_softmax(-1)
        return dense_torch.log_partition(DenseRules(words=emissions[..., words[0]].mT, **rules))

    leaves = [*rules.values(), vectors, preterminals, weights, bias, *lstm.parameters()]
    with precision(torch.float16):  # whatever is set where it is asked
        return apart(by_kernels, by_torch, leaves)


TRIAL = Trial("dense", difference=difference)
