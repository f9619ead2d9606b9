"""The vector z of a sentence, and what depends on it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from treemean.grammars.compound import latent_kernels
from treemean.grammars.fused.matrices import power


def draw(encoded: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Return vectors z (B, latent) and KL(q(z | x) ‖ N(0, I)) (B,), differentiable by the first argument.

    Parameters
    ----------
    encoded : (B, 2 latent), means and log variances of z.
    noise : (B, latent), what a standard normal distribution gave.
    """
    latent, divergence = _Draw.apply(encoded, noise)  # type: ignore[no-untyped-call]
    return latent, divergence


class _Draw(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, encoded: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        encoded, noise = encoded.contiguous(), noise.contiguous()
        latent, divergence = torch.empty_like(noise), noise.new_empty(len(noise))
        batch, size = noise.shape
        latent_kernels.draw[(batch,)](encoded, noise, latent, divergence, SIZE=size, BLOCK=power(size))
        ctx.save_for_backward(encoded, noise)
        return latent, divergence

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_latent: Tensor, of_divergence: Tensor) -> tuple[Tensor, None]:
        encoded, noise = ctx.saved_tensors
        result = torch.empty_like(encoded)
        batch, size = noise.shape
        latent_kernels.draw_gradients[(batch,)](
            encoded,
            noise,
            of_latent.contiguous(),
            of_divergence.contiguous(),
            result,
            SIZE=size,
            BLOCK=power(size),
        )
        return result, None


def conditioned(layer: nn.Linear, embeddings: Tensor, latent: Tensor) -> Tensor:
    """Apply a layer to embeddings (count, s), each followed by each vector z (B, latent): (B, count, size).

    Products with embeddings are the same for all z. Gradients are written where they belong, instead of
    being filled up and added.
    """
    result: Tensor = _Conditioned.apply(  # type: ignore[no-untyped-call]
        layer.weight, layer.bias, embeddings, latent
    )
    return result


class _Conditioned(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, embeddings: Tensor, latent: Tensor) -> Tensor:
        size = embeddings.shape[1]
        ctx.save_for_backward(weight, embeddings, latent)
        of_latent = torch.addmm(bias, latent, weight[:, size:].T)
        return embeddings @ weight[:, :size].T + of_latent[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        weight, embeddings, latent = ctx.saved_tensors
        size = embeddings.shape[1]
        of_symbols, of_sentences = _total(grad, 0), _total(grad, 1)
        of_weight = torch.empty_like(weight)
        torch.mm(of_symbols.T, embeddings, out=of_weight[:, :size])
        torch.mm(of_sentences.T, latent, out=of_weight[:, size:])
        of_embeddings, of_latent = of_symbols @ weight[:, :size], of_sentences @ weight[:, size:]
        return of_weight, _total(of_symbols, 0), of_embeddings, of_latent


def _total(x: Tensor, axis: int) -> Tensor:
    """Sum up along an axis; a single summand is not copied."""
    return x.squeeze(axis) if x.shape[axis] == 1 else x.sum(axis)
