"""The inside algorithm over symbols as Triton kernels, for GPUs."""

from treemean.grammars.dense.triton.partition import log_partition, span_posteriors

__all__ = ["log_partition", "span_posteriors"]
