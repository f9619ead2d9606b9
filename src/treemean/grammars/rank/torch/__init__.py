"""The inside algorithm in rank space, vectorised, by PyTorch on any device."""

from treemean.grammars.rank.torch.partition import log_partition, span_posteriors

__all__ = ["log_partition", "span_posteriors"]
