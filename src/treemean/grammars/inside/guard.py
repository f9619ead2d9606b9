"""A guard over results of limited precision: what cannot be right is computed again in full precision."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor


class Guard:
    """Looks at results of kernels, and counts.

    Parameters
    ----------
    tolerance : by how much of its value the expected number of constituents of a sentence may be off. A
        binary tree over n words has n - 1 constituents of several words, so that this is known beforehand.

    Attributes
    ----------
    checked, refused : how many batches were looked at, and how many had to be computed again.
    """

    def __init__(self, tolerance: float = 1e-2) -> None:
        self.tolerance = tolerance
        self.checked = self.refused = 0

    def accepts_log_z(self, log_z: Tensor, lengths: Tensor) -> bool:
        """Tell whether log Z of all sentences of several words are numbers.

        >>> guard = Guard()
        >>> guard.accepts_log_z(torch.tensor([-3.0, -torch.inf]), torch.tensor([4, 1]))
        True
        """
        bad = ~log_z.isfinite() & (lengths > 1)
        return self._judge(bad, "log Z is not finite")

    def accepts_constituents(self, expected: Tensor, lengths: Tensor, *, known: bool = True) -> bool:
        """Tell whether the expected numbers of constituents of several words are right.

        Parameters
        ----------
        known : whether they are known beforehand; otherwise any numbers are right.
        """
        if not known:
            return self._judge(~expected.isfinite(), "posteriors are not finite")
        wanted = (lengths - 1).to(expected.dtype)
        bad = ~((expected - wanted).abs() <= self.tolerance * wanted)
        return self._judge(bad, "posteriors do not add up to the number of constituents of a tree")

    def _judge(self, bad: Tensor, what: str) -> bool:
        self.checked += 1
        count = int(bad.sum())
        if not count:
            return True
        self.refused += 1
        warnings.warn(
            f"{what} for {count} of {bad.numel()} sentences: computed again in full precision"
            f" ({self.refused} of {self.checked} batches so far)",
            RuntimeWarning,
            stacklevel=4,
        )
        return False


def is_capturing(tensor: Tensor) -> bool:
    """Tell whether a CUDA graph is being captured, when no result can be looked at."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()
