"""Networks of dense grammars by kernels, for GPUs: encoder and emissions of every sentence's own grammar."""

from treemean.grammars.dense.triton.compound.blocks import residual
from treemean.grammars.dense.triton.compound.emissions import word_log_probs
from treemean.grammars.dense.triton.compound.latent import conditioned, draw
from treemean.grammars.dense.triton.compound.lstm import largest_states
from treemean.grammars.dense.triton.compound.parallel_networks import side_by_side

__all__ = ["conditioned", "draw", "largest_states", "residual", "side_by_side", "word_log_probs"]
