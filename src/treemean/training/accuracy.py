"""How good quick results are: log Z of some training sentences beside float64."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.grammars import Grammar
from treemean.grammars.precision import in_float64
from treemean.training.corpus import Corpus

#: By how many nats per word log Z may be off before the quick way is not used any more.
LARGEST_DIFFERENCE = 1e-3


@dataclass(frozen=True)
class Accuracy:
    """What a check has found.

    Parameters
    ----------
    difference : by how many nats per word log Z is off in the sentence where it is off most; infinite where
        only float64 has a result, and no number where it has none either: then the parameters are broken, and
        no precision helps.
    sentence : its place in the corpus.
    repeated : what the difference is if all is computed once more, where it was too large at first.
    """

    difference: float
    sentence: int
    repeated: float | None = None

    @property
    def is_good(self) -> bool:
        """Whether the quick way can be used, as far as this check tells."""
        return not (self.difference if self.repeated is None else self.repeated) > LARGEST_DIFFERENCE

    def describe(self, *, was_exact: bool) -> str:
        """Return what a user should know of it; nothing if all is as it was.

        Parameters
        ----------
        was_exact : whether steps were made in full precision until now.
        """
        if not self.is_good and was_exact:
            return ""
        if not self.is_good:
            return (
                f"log Z of a sentence is off by {self.difference:.1e} nats per word: steps are made in full "
                "precision until it is not, which is slow. If that goes on, set grammar.backend = "
                '"torch", or, if it is, lower the rate'
            )
        if self.repeated is not None:
            return (
                f"log Z of a sentence was off by {self.difference:.1e} nats per word, but by "
                f"{self.repeated:.1e} when it was computed again: this device does not repeat its results"
            )
        return "log Z is exact enough: steps are quick again" if was_exact else ""


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
    found = differences(grammar, words, lengths)
    worst = int(np.argmax(found))  # of what is no number the first
    difference = found[worst]
    again = max(differences(grammar, words, lengths)) if difference > LARGEST_DIFFERENCE else None
    return Accuracy(difference, int(places[worst]), again)


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
def differences(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> list[float]:
    """Return by how many nats per word log Z of each sentence is off; if it is not finite, see `Accuracy`."""
    device = next(grammar.parameters()).device
    words, lengths = words.to(device), None if lengths is None else lengths.to(device)
    expected = in_float64(grammar).log_prob(words, lengths)
    if not bool(expected.isfinite().all()):
        return [math.nan] * len(words)
    off = (grammar.log_prob(words, lengths).double() - expected).abs()
    off /= words.shape[1] if lengths is None else lengths
    found: list[float] = off.nan_to_num(nan=math.inf).tolist()
    return found
