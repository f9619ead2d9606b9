"""What a step of several runs is computed from: the batches of all of them, as tensors of fixed shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from treemean.training.learner import Request


@dataclass(frozen=True)
class Inputs:
    """The batches of E runs, filled up to B sentences of n words.

    Parameters
    ----------
    words : int64 (E, B, n).
    lengths : int64 (E, B), None if all sentences have n words.
    weights : (E, B), one over the size of the batch for its sentences, 0 for what only fills it up.
    numbers : float64 (E, 3), for each run the rate, the limit and the number of words of its `Request`.
    """

    words: Tensor
    lengths: Tensor | None
    weights: Tensor
    numbers: Tensor

    @property
    def key(self) -> tuple[int, bool]:
        """What steps that can be computed alike have in common, given E and B."""
        return self.words.shape[2], self.lengths is not None

    def part(self, sentences: slice) -> Inputs:
        """Return some sentences of every run."""
        lengths = None if self.lengths is None else self.lengths[:, sentences]
        return Inputs(self.words[:, sentences], lengths, self.weights[:, sentences], self.numbers)

    def to(self, device: torch.device) -> Inputs:
        """Return the same on a device."""
        return Inputs(*(None if x is None else x.to(device) for x in self._tensors()))  # type: ignore[arg-type]

    def copy_from(self, other: Inputs) -> None:
        """Take over the numbers of inputs on the CPU, without waiting for the device."""
        for mine, given in zip(self._tensors(), other._tensors(), strict=True):
            if mine is not None and given is not None:
                mine.copy_(given.pin_memory(), non_blocking=True)

    def _tensors(self) -> list[Tensor | None]:
        return [getattr(self, entry.name) for entry in fields(self)]


def stack_requests(requests: Mapping[int, Request], runs: int, size: int) -> Inputs:
    """Bring the requests of some runs together.

    Parameters
    ----------
    requests : by the place of the run, from 0. Runs without a request get sentences of zeros and a limit that
        nothing keeps to, so that they learn nothing.
    runs : E.
    size : B, the sentences of the largest batch.

    A batch that is too small is filled up with copies of its first sentence, which weigh nothing. Batches of
    different lengths are padded to the longest.
    """
    n = max(request.words.shape[1] for request in requests.values())
    words = torch.zeros(runs, size, n, dtype=torch.int64)
    lengths = torch.full((runs, size), n)
    weights = torch.zeros(runs, size)
    numbers = torch.tensor([[0.0, -math.inf, 1.0]] * runs, dtype=torch.float64)
    mixed = False
    for run, request in requests.items():
        count, width = request.words.shape
        own = torch.full((count,), width) if request.lengths is None else request.lengths
        mixed = mixed or request.lengths is not None or width < n
        words[run, :count, :width], words[run, count:, :width] = request.words, request.words[0]
        lengths[run, :count], lengths[run, count:] = own, own[0]
        weights[run, :count] = 1 / count
        numbers[run] = torch.tensor([request.rate, request.limit, request.count], dtype=torch.float64)
    return Inputs(words, lengths if mixed else None, weights, numbers)


def blank_inputs(runs: int, size: int, n: int, *, mixed: bool, device: torch.device) -> Inputs:
    """Return inputs of sentences of zeros from which nothing is learnt."""
    nobody = Request(
        torch.zeros(1, n, dtype=torch.int64), torch.tensor([n]) if mixed else None, n, 0.0, -math.inf
    )
    return stack_requests({0: nobody}, runs, size).to(device)
