"""Computing again in float64 what does not fit into float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import torch

from treemean.errors import NumericalError
from treemean.grammars.build import assemble_grammar
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
    tensors = {name: tensor.detach().double() for name, tensor in grammar.state_dict().items()}
    config = replace(grammar.config, backend="torch")
    return assemble_grammar(config, grammar.vocabulary_size, tensors).train(grammar.training)
