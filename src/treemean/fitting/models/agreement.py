"""Reliability without gold: how much a run's constituents are also those of other runs, by their shape.

A run's votes count by its *agreement*: of what it proposes, the mean share of the other runs that propose
the same. Continuous and discontinuous constituents are weighed apart, the latter by agreement on gaps of
several words only. A gap of one word is the cheapest use of a gap, and grammars that are learnt without trees
agree on such gaps for bad reasons: they wrap the same frequent words. Where runs agree on gaps of one word
more than on longer ones, votes for the former count less in that proportion; where they do not, as with
independent errors, nothing is taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treemean.errors import FormatError, MismatchError
from treemean.files import stored
from treemean.fitting.candidates import Candidates, Flags, Floats
from treemean.fitting.candidates.votes import VoteTable, has_one_word_gaps, votes_of

#: Of two runs, neither agrees more than the other.
LEAST_RUNS = 3
#: So many proposals of all runs must have gaps of several words before anything is concluded from them.
LEAST_PROPOSALS = 100


@dataclass(frozen=True)
class AgreementWeights:
    """What votes are worth: a weight for each run and kind, float64[K] each, 1 on average.

    `one_word` is what votes for gaps of one word count beside others, from 0 to 1.
    """

    name: ClassVar[str] = "agreement"
    continuous: Floats
    discontinuous: Floats
    one_word: float

    def probabilities(self, candidates: Candidates | VoteTable) -> Floats:
        """Return the weighted share of the votes of each candidate."""
        if candidates.runs != len(self.continuous):
            raise MismatchError(f"weights of {len(self.continuous)} runs for {candidates.runs} runs")
        votes = candidates.votes.astype(np.float64)
        gapped = (votes @ self.discontinuous) * np.where(has_one_word_gaps(candidates), self.one_word, 1.0)
        return np.where(candidates.discontinuous, gapped, votes @ self.continuous) / candidates.runs

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "continuous": self.continuous.tolist(),
            "discontinuous": self.discontinuous.tolist(),
            "one_word": self.one_word,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> AgreementWeights:
        """Make a model from what `to_dict` gave."""
        continuous, discontinuous = (stored.reals(data, name) for name in ("continuous", "discontinuous"))
        one_word = stored.real(data, "one_word")
        if len(continuous) != len(discontinuous) or min(continuous.min(), discontinuous.min()) < 0:
            raise FormatError("the weights by agreement are not negative, two for each run")
        if not 0 <= one_word <= 1:
            raise FormatError("votes for gaps of one word count between 0 and 1")
        return AgreementWeights(continuous, discontinuous, one_word)


def train(candidates: Candidates | VoteTable) -> AgreementWeights:
    """Weigh runs by their agreement with the others."""
    equal = np.ones(candidates.runs)
    if candidates.runs < LEAST_RUNS:
        return AgreementWeights(equal, equal, 1.0)
    votes = votes_of(candidates)
    longer = votes.discontinuous & ~votes.one_word
    continuous = _weights(_by_run(votes, ~votes.discontinuous))
    if (votes.counts * votes.times)[longer].sum() < LEAST_PROPOSALS:
        return AgreementWeights(continuous, equal, 1.0)
    one, several = _overall(votes, votes.one_word), _overall(votes, longer)
    return AgreementWeights(
        continuous, _weights(_by_run(votes, longer)), 1.0 if one <= several else several / one
    )


def _by_run(given: VoteTable, which: Flags) -> Floats:
    """Return the agreement of each run on some candidates, 0 where it proposes none of them."""
    votes, times = given.votes[which].astype(np.float64), given.times[which].astype(np.float64)
    proposals = votes.T @ times
    agreed = votes.T @ (times * (given.counts[which] - 1.0))
    shares: Floats = agreed / np.maximum(proposals, 1.0) / (given.runs - 1)
    return shares


def _overall(given: VoteTable, which: Flags) -> float:
    """Return the agreement on some candidates over all proposals; 0 if there are none."""
    counts, times = given.counts[which].astype(np.float64), given.times[which].astype(np.float64)
    return float((times * counts * (counts - 1)).sum() / max((times * counts).sum(), 1.0) / (given.runs - 1))


def _weights(agreement: Floats) -> Floats:
    """Bring agreement to a mean of 1; nobody agrees with anybody means equal weights."""
    mean = agreement.mean()
    return agreement / mean if mean > 0 else np.ones_like(agreement)
