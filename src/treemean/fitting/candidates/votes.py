"""Who votes for what, added up: all that models without gold know of candidates.

Candidates that the same runs propose, and that are of the same kind, are the same to these models. So a
table of how often each combination occurs takes the place of the candidates; it can be added up over the
parts of a corpus, and has at most 3 · 2^K rows for K runs, however many sentences there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from treemean.fitting.candidates import Candidates, Flags
from treemean.fitting.candidates.geometry import find_edges
from treemean.trees.bitsets import Ints

#: The kinds of candidates: without a gap, with gaps of one word only, with longer ones.
_CONTINUOUS, _ONE_WORD, _LONGER = range(3)


@dataclass(frozen=True, eq=False)
class VoteTable:
    """Combinations of votes and kinds of candidates, and how often each occurs.

    Columns
    -------
    votes : bool[M, K], which runs propose such candidates.
    discontinuous : bool[M], whether they have a gap; `one_word` : bool[M], gaps of one word only.
    times : int64[M], how many such candidates there are.
    """

    votes: Flags
    discontinuous: Flags
    one_word: Flags
    times: Ints

    @property
    def runs(self) -> int:
        """K, the number of runs."""
        return int(self.votes.shape[1])

    @cached_property
    def counts(self) -> Ints:
        """int64[M]: how many runs propose such candidates, at least one."""
        counts: Ints = self.votes.sum(axis=1, dtype=np.int64)
        return counts

    def take(self, rows: Flags) -> VoteTable:
        """Return some rows."""
        return VoteTable(self.votes[rows], self.discontinuous[rows], self.one_word[rows], self.times[rows])

    def without_run(self, run: int) -> VoteTable:
        """Return the candidates of the other runs, in the same order."""
        kept = self.counts > self.votes[:, run]
        rest = self.take(kept)
        return VoteTable(np.delete(rest.votes, run, axis=1), rest.discontinuous, rest.one_word, rest.times)


@dataclass
class VoteSums:
    """A table of votes that grows; plain, so that processes can send it to each other.

    Parameters
    ----------
    runs : K.
    times : how often each combination occurs, by a name for it: a digit for the kind, and a digit for the
        vote of each run.

    >>> from treemean.fitting.candidates import find_candidates
    >>> from treemean.trees import Tree, Treebank
    >>> a = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 1}, "")])])
    >>> b = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 2}, "")])])
    >>> VoteSums.of(find_candidates([a, b, a])).times
    Counter({'0101': 1, '1010': 1})
    """

    runs: int
    times: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def of(candidates: Candidates) -> VoteSums:
        """Count the votes for candidates."""
        kind = np.where(has_one_word_gaps(candidates), _ONE_WORD, _LONGER)
        kind = np.where(candidates.discontinuous, kind, _CONTINUOUS)
        digits = np.column_stack([kind, candidates.votes]).astype(np.uint8) + ord("0")
        names = np.ascontiguousarray(digits).view(f"S{digits.shape[1]}").ravel()
        found, times = np.unique(names, return_counts=True)
        rows = zip(found.tolist(), times.tolist(), strict=True)
        return VoteSums(candidates.runs, Counter({name.decode(): count for name, count in rows}))

    def add(self, other: VoteSums | Mapping[str, int]) -> None:
        """Add what was counted in another part of the corpus."""
        self.times.update(other.times if isinstance(other, VoteSums) else other)

    def table(self) -> VoteTable:
        """Return the table, in the order of the names."""
        names = sorted(self.times)
        digits = np.frombuffer("".join(names).encode(), dtype=np.uint8).reshape(len(names), self.runs + 1)
        kind = digits[:, 0] - ord("0")
        return VoteTable(
            digits[:, 1:] == ord("1"),
            kind != _CONTINUOUS,
            kind == _ONE_WORD,
            np.array([self.times[name] for name in names], dtype=np.int64),
        )


def votes_of(candidates: Candidates | VoteTable) -> VoteTable:
    """Return the table of votes for candidates."""
    return candidates if isinstance(candidates, VoteTable) else VoteSums.of(candidates).table()


def has_one_word_gaps(candidates: Candidates | VoteTable) -> Flags:
    """Tell which candidates have gaps, all of them of one word."""
    if isinstance(candidates, VoteTable):
        return candidates.one_word
    edges = find_edges(candidates.bits)
    missing = edges.end - edges.start - candidates.sizes
    short: Flags = candidates.discontinuous & (missing == candidates.fan_outs - 1)
    return short
