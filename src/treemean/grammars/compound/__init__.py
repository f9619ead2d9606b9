"""Networks of dense grammars by kernels, for GPUs: encoder and emissions of every sentence's own grammar."""

from treemean.grammars.compound.blocks import residual
from treemean.grammars.compound.branches import side_by_side
from treemean.grammars.compound.emissions import word_log_probs
from treemean.grammars.compound.latent import conditioned, draw
from treemean.grammars.compound.lstm import largest_states

__all__ = ["conditioned", "draw", "largest_states", "residual", "side_by_side", "word_log_probs"]
