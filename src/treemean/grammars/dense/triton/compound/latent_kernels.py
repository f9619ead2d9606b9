# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Kernels of the vector z of a sentence, of which mean and log variance lie one behind the other."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def draw(encoded, noise, latent, divergence, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Draw z of a sentence, and compute how far its distribution is from a standard normal one."""
    sentence, column = tl.program_id(0), tl.arange(0, BLOCK)
    real = column < SIZE
    mean = tl.load(encoded + sentence * 2 * SIZE + column, mask=real, other=0.0)
    log_variance = tl.load(encoded + sentence * 2 * SIZE + SIZE + column, mask=real, other=0.0)
    drawn = tl.load(noise + sentence * SIZE + column, mask=real, other=0.0)
    tl.store(latent + sentence * SIZE + column, mean + drawn * tl.exp(0.5 * log_variance), mask=real)
    terms = mean * mean + tl.exp(log_variance) - 1.0 - log_variance
    tl.store(divergence + sentence, 0.5 * tl.sum(terms, 0))


@triton.jit
def draw_gradients(encoded, noise, of_latent, of_divergence, result, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Take the gradients of mean and log variance from those of both results of `draw`."""
    sentence, column = tl.program_id(0), tl.arange(0, BLOCK)
    real = column < SIZE
    at = sentence * 2 * SIZE + column
    mean = tl.load(encoded + at, mask=real, other=0.0)
    log_variance = tl.load(encoded + at + SIZE, mask=real, other=0.0)
    drawn = tl.load(noise + sentence * SIZE + column, mask=real, other=0.0)
    gradient = tl.load(of_latent + sentence * SIZE + column, mask=real, other=0.0)
    weight = tl.load(of_divergence + sentence)
    tl.store(result + at, gradient + weight * mean, mask=real)
    of_variance = gradient * drawn * tl.exp(0.5 * log_variance) + weight * (tl.exp(log_variance) - 1.0)
    tl.store(result + at + SIZE, 0.5 * of_variance, mask=real)
