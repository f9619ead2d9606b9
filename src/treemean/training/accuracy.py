"""How good quick results are: log Z of some training sentences beside float64."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.grammars import Grammar
from treemean.grammars.memory import told_if_too_little
from treemean.grammars.precision import in_float64
from treemean.training.corpus import Corpus

#: By how many nats per word log Z may be off before the quick way is not used any more.
LARGEST_DIFFERENCE = 1e-3
_LESS = "In float64, that is; leave out long sentences (data.max_length)"


@dataclass(frozen=True)
class Accuracy:
    """What a check has found.

    Parameters
    ----------
    difference : by how many nats per word log Z is off in the sentence where it is off most; infinite where
        only float64 has a result. Sentences of which float64 has none either are left out; it is no number if
        there are no others.
    sentence : the place of that sentence in the corpus.
    repeated : the largest difference of any sentence if all is computed once more, where it was too large at
        first.
    broken : how many sentences were left out.
    """

    difference: float
    sentence: int
    repeated: float | None = None
    broken: int = 0

    def asks_for_full_precision(self, *, was_exact: bool) -> bool:
        """Tell whether steps should be made in full precision from now on.

        Parameters
        ----------
        was_exact : whether they were until now. It stays so if there is nothing to compare: then the
            parameters are broken, and no precision helps.
        """
        if math.isnan(self.difference):
            return was_exact
        return (self.difference if self.repeated is None else self.repeated) > LARGEST_DIFFERENCE

    def describe(self, *, was_exact: bool) -> str:
        """Return what a user should know of it; nothing if all is as it was.

        Parameters
        ----------
        was_exact : whether steps were made in full precision until now.
        """
        if math.isnan(self.difference):
            return "log Z of no sentence is a number, in full precision neither: the parameters are broken"
        off = "no number" if math.isinf(self.difference) else f"off by {self.difference:.1e} nats per word"
        if self.asks_for_full_precision(was_exact=was_exact):
            if was_exact:
                return ""
            return (
                f"log Z of a sentence is {off}: steps are made in full precision until it is not, which is "
                'slow. If that goes on, set grammar.backend = "torch", or, if it is, lower the rate'
            )
        told = []
        if self.repeated is not None:
            told.append(
                f"log Z of a sentence was {off}, but when all was computed again none was off by more than "
                f"{self.repeated:.1e}: this device does not repeat its results"
            )
        if was_exact:
            told.append("log Z is exact enough: steps are quick again")
        return ". ".join(told)


def check_accuracy(grammar: Grammar, corpus: Corpus, *, longest: bool) -> Accuracy:
    """Compare log Z of a few sentences with float64, a second time if it is off.

    What is off once only is no matter of precision: a device that does not repeat its results is at fault, or
    a kernel. It is not a reason to compute everything slowly, but it has to be told.

    Parameters
    ----------
    longest : see `some_of_all_lengths`.
    """
    places = some_of_all_lengths(corpus.lengths, longest=longest)
    words, lengths = corpus.batch(places)
    with told_if_too_little(len(words), words.shape[1], _LESS):
        expected = log_z_in_float64(grammar, words, lengths)
    found = np.array(differences(grammar, words, lengths, expected))
    broken = int(np.isnan(found).sum())
    if broken == len(found):
        return Accuracy(math.nan, int(places[0]), broken=broken)
    worst = int(np.nanargmax(found))
    again = None
    if found[worst] > LARGEST_DIFFERENCE:
        again = float(np.nanmax(differences(grammar, words, lengths, expected)))
    return Accuracy(float(found[worst]), int(places[worst]), again, broken)


def some_of_all_lengths(lengths: NDArray[np.int64], *, longest: bool) -> NDArray[np.int64]:
    """Return the places of up to three sentences, at a quarter, half and three quarters of all lengths.

    Parameters
    ----------
    longest : whether the longest is wanted too, which takes by far the most time in full precision.

    >>> some_of_all_lengths(np.array([7, 2, 9, 3, 4, 5, 6, 8]), longest=True).tolist()
    [3, 5, 0, 2]
    """
    order = np.argsort(lengths, kind="stable")
    quarters = len(order) * np.arange(1, 5 if longest else 4) // 4 - 1
    places: NDArray[np.int64] = order[np.unique(quarters.clip(0))]
    return places


@torch.no_grad()
def log_z_in_float64(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> Tensor:
    """Return log Z (B,) of sentences in full precision, on the device of the grammar."""
    return in_float64(grammar).log_prob(*_beside(grammar, words, lengths))


@torch.no_grad()
def differences(
    grammar: Grammar, words: Tensor, lengths: Tensor | None, expected: Tensor | None = None
) -> list[float]:
    """Return by how many nats per word log Z of each sentence is off; if it is not finite, see `Accuracy`.

    Parameters
    ----------
    expected : what `log_z_in_float64` has found; it is computed if it is not given.
    """
    if expected is None:
        expected = log_z_in_float64(grammar, words, lengths)
    words, lengths = _beside(grammar, words, lengths)
    known = expected.isfinite()
    off = torch.full_like(expected, math.nan)
    if bool(known.any()):
        own = None if lengths is None else lengths[known]
        refused = grammar.guard.refused
        found = grammar.log_prob(words[known], own).double()
        if grammar.guard.refused > refused:  # these are not results of kernels, which had none
            found = torch.full_like(found, math.nan)
        off[known] = (found - expected[known]).abs().nan_to_num(nan=math.inf, posinf=math.inf)
    off /= words.shape[1] if lengths is None else lengths
    numbers: list[float] = off.tolist()
    return numbers


def _beside(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return a batch on the device of a grammar."""
    device = next(grammar.parameters()).device
    return words.to(device), None if lengths is None else lengths.to(device)
