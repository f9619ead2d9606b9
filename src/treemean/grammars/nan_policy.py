"""What happens to a NaN, an infinity or an overflow.

The policy, for training, parsing and measuring alike: what is not finite is computed once more, in float64
and by PyTorch. If it is not finite then either, training skips the batch (`training/learner.py`), which
changes nothing, and counts it; parsing and measuring end with an error, since the parameters themselves are
broken. Whether finite numbers are exact enough is no question at run time: `make bench-gpu` and
`make soak-gpu` answer it, before kernels are relied on. docs/grammars.md says the same to users.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from treemean.errors import NumericalError

if TYPE_CHECKING:
    from treemean.grammars.grammar import Grammar

Result = TypeVar("Result")


class Guard:
    """Looks at results of kernels, and counts.

    Attributes
    ----------
    checked, refused : how many batches were looked at, and how many had to be computed again.
    """

    def __init__(self) -> None:
        self.checked = self.refused = 0

    def accepts_log_z(self, log_z: Tensor, lengths: Tensor) -> bool:
        """Tell whether log Z of all sentences of several words are numbers.

        >>> guard = Guard()
        >>> guard.accepts_log_z(torch.tensor([-3.0, -torch.inf]), torch.tensor([4, 1]))
        True
        """
        bad = ~log_z.isfinite() & (lengths > 1)
        return self._judge(bad, "log Z is not finite")

    def accepts_posteriors(self, expected: Tensor) -> bool:
        """Tell whether the expected numbers of constituents of all sentences are numbers."""
        return self._judge(~expected.isfinite(), "posteriors are not finite")

    def _judge(self, bad: Tensor, what: str) -> bool:
        self.checked += 1
        count = int(bad.sum())
        if not count:
            return True
        self.refused += 1
        warnings.warn(
            f"{what} for {count} of {bad.numel()} sentences: computed again in float64"
            f" ({self.refused} of {self.checked} batches so far)",
            RuntimeWarning,
            stacklevel=4,
        )
        return False


class Careful:
    """A grammar whose batches are computed once more, in float64, if they overflow.

    Charts overflow in rare grammars only, see docs/grammars.md; one batch of them must not end a long job.

    Parameters
    ----------
    grammar : in any precision; it must not change while this is in use.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._precise: Grammar | None = None
        #: How many sentences were computed again.
        self.again = 0

    def compute(self, sentences: int, task: Callable[[Grammar], Result]) -> Result:
        """Return what `task` makes of the grammar, or, if it raises `NumericalError`, of a precise copy.

        Raises the error of the copy, or of a grammar that is in float64 already: then its parameters are
        broken.

        Parameters
        ----------
        sentences : how many there are in the batch, to be counted.
        """
        try:
            return task(self._grammar)
        except NumericalError:
            if next(self._grammar.parameters()).dtype == torch.float64:
                raise
        self.again += sentences
        if self._precise is None:
            self._precise = in_float64(self._grammar)
        return task(self._precise)


def in_float64(grammar: Grammar) -> Grammar:
    """Return a copy of a grammar that computes in float64, with PyTorch, as not all kernels do so."""
    with torch.device("meta"):  # shapes without numbers
        precise = type(grammar)(replace(grammar.config, backend="torch"), grammar.vocabulary_size)
    tensors = {name: tensor.detach().double() for name, tensor in grammar.state_dict().items()}
    precise.load_state_dict(tensors, assign=True)
    return precise.train(grammar.training)


def is_capturing(tensor: Tensor) -> bool:
    """Tell whether a CUDA graph is being captured, when no result can be looked at."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()
