"""The vector z of a sentence, and what depends on it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from treemean.grammars.dense.triton.compound import latent_kernels
from treemean.grammars.dense.triton.compound.parallel_networks import Aside
from treemean.grammars.gpu.tiles import power


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
        latent_kernels.draw[(batch,)](
            encoded=encoded, noise=noise, latent=latent, divergence=divergence, SIZE=size, BLOCK=power(size)
        )
        ctx.save_for_backward(encoded, noise)
        return latent, divergence

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_latent: Tensor, of_divergence: Tensor) -> tuple[Tensor, None]:
        encoded, noise = ctx.saved_tensors
        result = torch.empty_like(encoded)
        batch, size = noise.shape
        latent_kernels.draw_gradients[(batch,)](
            encoded=encoded,
            noise=noise,
            of_latent=of_latent.contiguous(),
            of_divergence=of_divergence.contiguous(),
            result=result,
            SIZE=size,
            BLOCK=power(size),
        )
        return result, None


def conditioned(layer: nn.Linear, embeddings: Tensor, latent: Tensor) -> Tensor:
    """Apply a layer to embeddings (count, s), each followed by each vector z (B, latent): (B, count, size).

    Products with embeddings are the same for all z. Gradients are written where they belong, instead of
    being filled up and added; those that only parameters wait for aside.
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
        aside, of_symbols = Aside(latent.device), latent.new_empty(len(embeddings), len(weight))
        with aside.block():
            torch.mm(embeddings, weight[:, :size].T, out=of_symbols)
        of_sentences = torch.addmm(bias, latent, weight[:, size:].T)
        aside.join()
        return of_symbols + of_sentences[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        weight, embeddings, latent = ctx.saved_tensors
        size = embeddings.shape[1]
        aside = Aside(grad.device)
        of_weight, of_embeddings = torch.empty_like(weight), torch.empty_like(embeddings)
        of_bias = weight.new_empty(len(weight))
        with aside.block():
            of_symbols = grad.sum(0)
            torch.mm(of_symbols.T, embeddings, out=of_weight[:, :size])
            torch.mm(of_symbols, weight[:, :size], out=of_embeddings)
            torch.sum(of_symbols, 0, out=of_bias)
        of_sentences = grad.sum(1)
        of_latent = of_sentences @ weight[:, size:]
        torch.mm(of_sentences.T, latent, out=of_weight[:, size:])
        aside.join()
        return of_weight, of_bias, of_embeddings, of_latent
