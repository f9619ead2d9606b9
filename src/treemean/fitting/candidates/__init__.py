"""Candidates: the different constituents that runs propose, and who proposes them.

Without labels only constituents of 2 to n - 1 words take part; all trees have the others. With labels all of
them do, single words and whole sentences too, as their labels are chosen. Everything is held in columns, and
candidates are grouped by sentence, set of words and label by sorting, so that a thousand sentences of ten
runs take some ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treemean.averaging.alignment import check_aligned
from treemean.averaging.arguments import check_tables_last, columns_of, columns_of_all
from treemean.errors import InvalidOption
from treemean.evaluation.counting import ranks
from treemean.trees import Individual, SpanTable, Treebank, bitsets
from treemean.trees.bitsets import Bits, Ints

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Labelling:
    """The labels of M candidates, which several of them may have the words of one set under.

    Parameters
    ----------
    texts : the different labels, in alphabetical order.
    label : int64[M], that of each candidate, a place in `texts`.
    copy : int64[M], how many candidates above it have the same words and the same label: 0, but for the lower
        one of NP over NP.
    sets : candidates without labels, those of single words and whole sentences included.
    set_of : int64[M], which of them each candidate is a label of; ascending.
    """

    texts: tuple[str, ...]
    label: Ints
    copy: Ints
    sets: Candidates
    set_of: Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different proposed constituents of S sentences and K runs; M candidates, Q proposals in all.

    After the K runs there may be T tables of spans, K + T individuals in all.

    Columns
    -------
    lengths : int64[S], the number of words of each sentence.
    sentence : int64[M], ascending; the sentence of each candidate.
    bits : uint64[M, W], its words; position p is bit p % 64 of column p // 64.
    votes : bool[M, K], which runs propose it.
    nodes : for each individual, int64: its constituents that are proposals.
    places : for each individual, int64: the candidates of these proposals.
    constituents : int64[K + T], how many constituents each individual has, proposals or not.
    posteriors : float64[M, T], the posterior of each candidate in each table of spans; 0 if it is not there.
    labelling : the labels, where a candidate is a set of words with a label; None where labels do not count.

    >>> from treemean.trees import Tree
    >>> a = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 1}, "")])])
    >>> b = Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), ({0, 2}, "")])])
    >>> found = find_candidates([a, b, a])
    >>> found.bits.ravel().tolist(), found.votes.astype(int).tolist(), found.fan_outs.tolist()
    ([3, 5], [[1, 0, 1], [0, 1, 0]], [1, 2])
    """

    lengths: Ints
    sentence: Ints
    bits: Bits
    votes: Flags
    nodes: tuple[Ints, ...]
    places: tuple[Ints, ...]
    constituents: Ints
    posteriors: Floats
    labelling: Labelling | None = None

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def runs(self) -> int:
        """K, the number of runs."""
        return int(self.votes.shape[1])

    @property
    def tables(self) -> int:
        """T, the number of tables of spans."""
        return int(self.posteriors.shape[1])

    @cached_property
    def words(self) -> int:
        """The number of words of all sentences."""
        return int(self.lengths.sum())

    @cached_property
    def counts(self) -> Ints:
        """int64[M]: how many runs propose each candidate; at least one, if there are no tables of spans."""
        counts: Ints = self.votes.sum(axis=1, dtype=np.int64)
        return counts

    @cached_property
    def proposers(self) -> Ints:
        """int64[M]: how many individuals have each candidate, at least one."""
        times: Ints = np.bincount(np.concatenate(self.places), minlength=len(self))
        return times

    @cached_property
    def sizes(self) -> Ints:
        """int64[M]: the number of words."""
        return bitsets.row_sizes(self.bits)

    @cached_property
    def fan_outs(self) -> Ints:
        """int64[M]: the number of continuous parts."""
        return bitsets.row_fan_outs(self.bits)

    @cached_property
    def discontinuous(self) -> Flags:
        """bool[M]: whether there is a gap."""
        return self.fan_outs > 1

    @cached_property
    def inner(self) -> Flags:
        """bool[M]: whether there are 2 to n - 1 words; always so without labels."""
        inner: Flags = (self.sizes > 1) & (self.sizes < self.lengths[self.sentence])
        return inner

    def without_run(self, run: int) -> Candidates:
        """Return the candidates of the other runs, in the same order."""
        votes = np.delete(self.votes, run, axis=1)
        kept = votes.any(axis=1)
        number = np.cumsum(kept) - 1
        labelling = self.labelling
        if labelling is not None:
            others = labelling.sets.without_run(run)
            left = np.cumsum(np.delete(labelling.sets.votes, run, axis=1).any(axis=1)) - 1
            labelling = replace(
                labelling,
                label=labelling.label[kept],
                copy=labelling.copy[kept],
                sets=others,
                set_of=left[labelling.set_of[kept]],
            )
        return Candidates(
            self.lengths,
            self.sentence[kept],
            self.bits[kept],
            votes[kept],
            self.nodes[:run] + self.nodes[run + 1 :],
            tuple(number[places] for places in self.places[:run] + self.places[run + 1 :]),
            np.delete(self.constituents, run),
            self.posteriors[kept],
            labelling,
        )

    def find(self, trees: Treebank, sentences: Ints | None = None) -> Ints:
        """Return for every constituent of trees its candidate, or -1: int64[C].

        The trees are those of all sentences, or of some whose numbers are given.
        """
        rows = rows_of(trees, np.arange(len(trees.labels)), self.bits.shape[1])
        mine, theirs = [*self.bits.T], [*rows.T]
        if self.labelling is not None:
            label = codes_of(trees, self.labelling.texts)
            mine += [self.labelling.copy, self.labelling.label]
            theirs += [copies_of([*rows.T, trees.sentence_of, label]), label]
        mine += [self.sentence]
        theirs += [trees.sentence_of if sentences is None else sentences[trees.sentence_of]]
        number, first = group([np.concatenate(columns) for columns in zip(mine, theirs, strict=True)])
        # Sorting keeps the order of equal rows: candidates, which are all different, come first.
        found = first[number[len(self) :]]
        return np.where(found < len(self), found, -1)

    def spread(self, values: Floats) -> list[Floats]:
        """Return hits for `treemean.average` that make every candidate worth a value, for each individual.

        The value of a candidate is divided equally among its proposers; with `additive=True` and equal
        weights the average then maximises the sum of the values. Constituents that are no candidates get 0.
        """
        share = values / self.proposers
        hits = [np.zeros(int(count)) for count in self.constituents]
        for array, nodes, places in zip(hits, self.nodes, self.places, strict=True):
            array[nodes] = share[places]
        return hits


def find_candidates(individuals: Sequence[Individual], *, labelled: bool = False) -> Candidates:
    """Return the candidates of aligned runs, ordered by sentence and then by their words as binary numbers.

    Tables of spans come after all runs, and have no labels. With labels, those of a set come in alphabetical
    order. O(Q log Q) for Q proposals. Raises `MismatchError` if the runs speak of different sentences.

    >>> from treemean.trees import Tree
    >>> a = Treebank.from_trees([Tree(["x", "y"], [({0, 1}, "S"), ({0, 1}, "VP")])])
    >>> b = Treebank.from_trees([Tree(["x", "y"], [({0, 1}, "VP")])])
    >>> found = find_candidates([a, b], labelled=True)
    >>> [found.labelling.texts[label] for label in found.labelling.label], found.votes.astype(int).tolist()
    (['S', 'VP'], [[1, 0], [1, 1]])
    """
    runs = columns_of_all(individuals)
    check_aligned(runs)
    check_tables_last(individuals)
    tables = [individual for individual in individuals if isinstance(individual, SpanTable)]
    if not labelled:
        found = _sets_of(runs, [inner_constituents(individual) for individual in individuals])
        return _with_posteriors(found, tables) if tables else found
    if tables:
        raise InvalidOption("tables of spans have no labels: leave out labelled")
    nodes = [np.arange(len(run.labels)) for run in runs]
    everything = _sets_of(runs, nodes)  # lower constituents of unary chains are proposals of their own here
    upper = [~run.repeats for run in runs]
    sets = replace(
        everything,
        nodes=tuple(at[flags] for at, flags in zip(nodes, upper)),
        places=tuple(place[flags] for place, flags in zip(everything.places, upper)),
    )
    texts = tuple(sorted({text for run in runs for text in run.labels.texts}))
    labels = [codes_of(run, texts) for run in runs]
    copies = [copies_of([place, label]) for place, label in zip(everything.places, labels)]
    label, copy, set_of = (np.concatenate(parts) for parts in (labels, copies, everything.places))
    found, first = _numbered(runs, nodes, [copy, label, set_of])
    return replace(
        found,
        sentence=sets.sentence[set_of[first]],
        bits=sets.bits[set_of[first]],
        labelling=Labelling(texts, label[first], copy[first], sets, set_of[first]),
    )


def _with_posteriors(found: Candidates, tables: Sequence[SpanTable]) -> Candidates:
    """Return candidates whose last individuals vote by posteriors."""
    runs = found.runs - len(tables)
    posteriors = np.zeros((len(found), len(tables)))
    for number, table in enumerate(tables):
        posteriors[found.places[runs + number], number] = table.posteriors[found.nodes[runs + number]]
    return replace(found, votes=found.votes[:, :runs], posteriors=posteriors)


def _sets_of(runs: Sequence[Treebank], nodes: Sequence[Ints]) -> Candidates:
    """Return the different sets among some constituents of each run."""
    width = max(1, bitsets.width(int(runs[0].lengths.max(initial=0))))
    bits = np.concatenate([rows_of(run, at, width) for run, at in zip(runs, nodes)])
    sentence = np.concatenate([run.sentence_of[at] for run, at in zip(runs, nodes)])
    found, first = _numbered(runs, nodes, [*bits.T, sentence])
    return replace(found, sentence=sentence[first], bits=bits[first])


def _numbered(
    runs: Sequence[Treebank], nodes: Sequence[Ints], keys: Sequence[NDArray[np.generic]]
) -> tuple[Candidates, Ints]:
    """Return candidates, one for each different key, without their words; and the first proposal of each."""
    place, first = group(keys)
    votes = np.zeros((len(first), len(runs)), dtype=bool)
    places = tuple(np.split(place, np.cumsum([len(at) for at in nodes])[:-1]))
    for run, at in enumerate(places):
        votes[at, run] = True
    sizes = np.array([len(run.labels) for run in runs], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    no_bits = np.zeros((0, 1), dtype=np.uint64)
    posteriors = np.zeros((len(first), 0))
    found = Candidates(runs[0].lengths, nothing, no_bits, votes, tuple(nodes), places, sizes, posteriors)
    return found, first


def codes_of(run: Treebank, texts: Sequence[str]) -> Ints:
    """Return the label of every constituent as a place in a list of labels, -1 for others."""
    code = {text: place for place, text in enumerate(texts)}
    codes: Ints = np.array([code.get(text, -1) for text in run.labels.texts], dtype=np.int64)
    return codes[run.labels.codes] if len(run.labels) else codes[:0]


def copies_of(keys: Sequence[NDArray[np.generic]]) -> Ints:
    """Return for every row of some key columns how many rows before it are the same."""
    return ranks(group(keys)[0])


def inner_constituents(individual: Individual) -> Ints:
    """Return the constituents of 2 to n - 1 words; of a unary chain the uppermost one."""
    run = columns_of(individual)
    inner = (run.sizes > 1) & (run.sizes < run.lengths[run.sentence_of])
    # In a table of spans no set repeats, but two that begin and are as large as each other may cross.
    return np.flatnonzero(inner if isinstance(individual, SpanTable) else inner & ~run.repeats)


def rows_of(run: Treebank, nodes: Ints, width: int) -> Bits:
    """Return the words of some constituents as rows of `width` columns, 0 beyond their sentences."""
    own = bitsets.widths(run.lengths)[run.sentence_of[nodes]]
    start = run.bit_offsets[run.sentence_of[nodes]]
    start = start + (nodes - run.constituent_offsets[run.sentence_of[nodes]]) * own
    rows = np.zeros((len(nodes), width), dtype=np.uint64)
    for column in range(width):
        has = np.flatnonzero(own > column)
        rows[has, column] = run.bits[start[has] + column]
    return rows


def group(keys: Sequence[NDArray[np.generic]]) -> tuple[Ints, Ints]:
    """Number the different rows of some key columns, the last column being the most significant.

    Returns the number of each row, and for each number the first row that has it.

    >>> group([np.array([1, 0, 1]), np.array([5, 5, 4])])
    (array([2, 1, 0]), array([2, 1, 0]))
    """
    order = np.lexsort(keys)
    begins = np.ones(len(order), dtype=bool)
    if len(order):
        begins[1:] = False
        for key in keys:
            in_order = key[order]
            begins[1:] |= in_order[1:] != in_order[:-1]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(begins) - 1
    return number, order[begins]
