"""Constituents with gaps from runs of another kind, and of those only what the other runs do not have.

Runs of one grammar that is learnt without trees share their habits of wrapping frequent words, and so the
votes for constituents with gaps are mostly votes for habits. Runs of a second grammar have some of these
habits, too, and besides some constituents of their own. What both kinds propose is therefore left out, and
what the second kind alone proposes counts by itself, however many runs of the first kind there are. Nothing
is learnt from the trees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import FormatError, InvalidOption, MismatchError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.votes import VoteTable

#: What a constituent with a gap is worth that all runs of the second kind propose, where 1 is the worth of a
#: continuous one that all runs of the first kind do. Found on development trees, see docs/discontinuity.md.
GAP_WEIGHT = 0.9


@dataclass(frozen=True)
class Apart:
    """Which of the runs constituents with gaps come from: bool[K], and what these are worth."""

    name: ClassVar[str] = "apart"
    gapped: Flags
    gap_weight: float = GAP_WEIGHT

    @staticmethod
    def of_runs(runs: int, gaps_from: tuple[int, ...], gap_weight: float = GAP_WEIGHT) -> Apart:
        """Make the model of so many runs; raise `InvalidOption` unless there are some runs of either kind."""
        wrong = [place for place in gaps_from if place not in range(runs)]
        if wrong:
            raise InvalidOption(f"gaps_from has {wrong[0]}, and the {runs} runs are 0 to {runs - 1}")
        if not 0 < len(set(gaps_from)) < runs:
            raise InvalidOption(
                "the model apart needs to be told which runs constituents with gaps come from: gaps_from, or "
                "--gaps-from on the command line; and it needs at least one other run"
            )
        if not (math.isfinite(gap_weight) and gap_weight >= 0):
            raise InvalidOption(f"gap_weight is {gap_weight}; it must be finite and not negative")
        gapped = np.zeros(runs, dtype=bool)
        gapped[list(gaps_from)] = True
        return Apart(gapped, float(gap_weight))

    def probabilities(self, candidates: Candidates | VoteTable) -> Floats:
        """Return shares of votes: of the other runs, or for what has a gap, weighted, of those named.

        >>> from treemean.fitting.candidates import find_candidates
        >>> from treemean.trees import Tree, Treebank
        >>> gap = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 2}, "")])])
        >>> pair = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 1}, "")])])
        >>> [Apart.of_runs(2, (1,)).probabilities(find_candidates([a, gap])).tolist() for a in (pair, gap)]
        [[1.0, 0.9], [0.0]]
        """
        if candidates.runs != len(self.gapped):
            raise MismatchError(f"{len(self.gapped)} runs are told apart, and these are {candidates.runs}")
        others, named = candidates.votes[:, ~self.gapped], candidates.votes[:, self.gapped]
        alone = np.where(others.any(axis=1), 0.0, self.gap_weight * named.mean(axis=1))
        return np.where(candidates.discontinuous, alone, others.mean(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {"gapped": self.gapped.astype(int).tolist(), "gap_weight": self.gap_weight}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Apart:
        """Make a model from what `to_dict` gave."""
        flags, weight = stored.wholes(data, "gapped"), stored.real(data, "gap_weight")
        if not np.isin(flags, (0, 1)).all():
            raise FormatError("'gapped' holds something other than zeros and ones")
        try:
            return Apart.of_runs(len(flags), tuple(np.flatnonzero(flags).tolist()), weight)
        except InvalidOption as error:
            raise FormatError(str(error)) from error
