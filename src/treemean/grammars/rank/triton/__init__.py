"""The inside algorithm in rank space as Triton kernels, for GPUs."""

from treemean.grammars.rank.triton.partition import log_partition
from treemean.grammars.rank.triton.posteriors import span_posteriors

__all__ = ["log_partition", "span_posteriors"]
