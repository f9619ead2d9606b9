"""The small networks that turn embeddings into rule probabilities."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Residual(nn.Module):
    """Two linear layers with ReLU, added to their input."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., size)."""
        added: Tensor = self.layers(x)
        return x + added


def residual_network(inputs: int, size: int, blocks: int, outputs: int | None = None) -> nn.Sequential:
    """Return a linear layer, some residual blocks and, if `outputs` is given, another linear layer."""
    layers: list[nn.Module] = [nn.Linear(inputs, size)]
    layers += [Residual(size) for _ in range(blocks)]
    if outputs is not None:
        layers.append(nn.Linear(size, outputs))
    return nn.Sequential(*layers)


def projection(size: int) -> nn.Sequential:
    """Return a linear layer with ReLU."""
    return nn.Sequential(nn.Linear(size, size), nn.ReLU())


def embedding(*shape: int) -> nn.Parameter:
    """Return a matrix of parameters; `initialise` fills it."""
    return nn.Parameter(torch.zeros(*shape))


def initialise(module: nn.Module) -> None:
    """Draw all matrices Xavier-uniform from the global generator, in order; biases stay as they are."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def word_log_probs(hidden: Tensor, embeddings: Tensor, words: Tensor) -> Tensor:
    """Return log p(word | preterminal) for the words of a batch only, (B, n, T).

    Parameters
    ----------
    hidden : (T, s), a vector for each preterminal.
    embeddings : (V, s), a vector for each word.
    words : (B, n).
    """
    norm = (hidden @ embeddings.T).logsumexp(-1)
    chosen = embeddings.index_select(0, words.reshape(-1)) @ hidden.T
    return (chosen - norm).view(*words.shape, -1)
