"""What happens to a NaN, an infinity or an overflow.

The policy, for training, parsing and measuring alike: what is not finite is computed once more, in float64
and by PyTorch. If it is not finite then either, training skips the batch (`training/learner.py`), which
changes nothing, and counts it; parsing and measuring end with an error, since the parameters themselves are
broken. Whether finite numbers are exact enough is no question at run time: `make bench-gpu` and
`make soak-gpu` answer it, before kernels are relied on. docs/grammars.md says the same to users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import torch

from treemean.errors import NumericalError
from treemean.grammars.grammar import Grammar

Result = TypeVar("Result")


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
