"""A list of trees, held in columns.

No Python object exists per tree until one is asked for. Slices share memory. All arrays have Arrow's layout
(offsets and values), see docs/data-model.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from treemean.errors import WrongType, check_type
from treemean.names import FrameRows
from treemean.trees import bitsets
from treemean.trees.bitsets import Bits, Ints
from treemean.trees.places import place_of, places_of
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.tree import Constituent, Tree

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SENTENCE_TEXTS = ("ids", "metadata")
_TOKEN_COLUMNS = ("words", "tags", "word_functions")
_CONSTITUENT_COLUMNS = ("labels", "functions")
#: How many sentences notebooks show.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Treebank:
    """Trees in columns; S sentences, N words and C constituents in all.

    Columns
    -------
    ids : S texts, the sentences' ids (may be empty).
    metadata : S texts, a JSON object each, or empty.
    word_offsets : int64[S + 1]; the words of sentence s are word_offsets[s] to word_offsets[s + 1] - 1.
    words, tags, word_functions : N coded texts each.
    constituent_offsets : int64[S + 1], likewise for constituents.
    labels, functions : C coded texts each.
    bits : uint64; the constituents' sets of positions, ceil(n / 64) words for each constituent of a sentence
        of n words, sentence after sentence.
    sentence_values : named numeric columns of S entries (objective, score, …).
    constituent_values : named float64 columns of C entries (support, probability, …).

    The constituents of a sentence are in canonical order (see `Tree`): the root first.

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])])
    >>> len(bank), bank[0].constituents[0].label
    (1, 'S')
    """

    ids: Strings
    metadata: Strings
    word_offsets: Ints
    words: CodedStrings
    tags: CodedStrings
    word_functions: CodedStrings
    constituent_offsets: Ints
    labels: CodedStrings
    functions: CodedStrings
    bits: Bits
    sentence_values: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    constituent_values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    # ---- making ---------------------------------------------------------------------------------

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Treebank:
        """Make a treebank from trees. Numbers missing in some trees are NaN."""
        if isinstance(trees, Tree | str | bytes) or not isinstance(trees, Iterable):
            hint = ": put it in a list" if isinstance(trees, Tree) else ""
            raise WrongType(
                f"a treebank is made from a list of trees, not from a {type(trees).__name__}{hint}"
            )
        trees = list(trees)
        for number, tree in enumerate(trees, 1):
            if not isinstance(tree, Tree):
                raise WrongType(f"tree {number} of the list is a {type(tree).__name__}, not a Tree")
        lengths = [len(tree.words) for tree in trees]
        counts = [len(tree.constituents) for tree in trees]
        parts = [
            mask.to_bytes(bitsets.width(n) * 8, "little")
            for tree, n in zip(trees, lengths)
            for mask in (c.mask for c in tree.constituents)
        ]
        sentence_names = dict.fromkeys(name for tree in trees for name in tree.values)
        constituent_names = dict.fromkeys(
            name for tree in trees for c in tree.constituents for name in c.values
        )
        return cls(
            ids=Strings.of(tree.id for tree in trees),
            metadata=Strings.of(_metadata_text(tree.metadata) for tree in trees),
            word_offsets=offsets_of(lengths),
            words=CodedStrings.of(w for tree in trees for w in tree.words),
            tags=CodedStrings.of(t for tree in trees for t in tree.tags),
            word_functions=CodedStrings.of(f for tree in trees for f in tree.word_functions),
            constituent_offsets=offsets_of(counts),
            labels=CodedStrings.of(c.label for tree in trees for c in tree.constituents),
            functions=CodedStrings.of(c.function for tree in trees for c in tree.constituents),
            bits=np.frombuffer(b"".join(parts), dtype="<u8").astype(np.uint64),
            sentence_values={
                name: np.array([tree.values.get(name, np.nan) for tree in trees]) for name in sentence_names
            },
            constituent_values={
                name: np.array([c.values.get(name, np.nan) for tree in trees for c in tree.constituents])
                for name in constituent_names
            },
        )

    @classmethod
    def empty(cls) -> Treebank:
        """Make a treebank without sentences."""
        return cls.from_trees([])

    @staticmethod
    def concatenate(treebanks: Sequence[Treebank]) -> Treebank:
        """Put treebanks one after the other. Numeric columns missing in one are filled with NaN."""
        check_type("what is put together", treebanks, Iterable)
        banks = list(treebanks)
        for number, bank in enumerate(banks, 1):
            check_type(f"item {number} of what is put together", bank, Treebank)
        if not banks:
            return Treebank.empty()
        if len(banks) == 1:
            return banks[0]
        columns: dict[str, Any] = {
            name: Strings.concatenate([getattr(b, name) for b in banks]) for name in _SENTENCE_TEXTS
        }
        for name in (*_TOKEN_COLUMNS, *_CONSTITUENT_COLUMNS):
            columns[name] = CodedStrings.concatenate([getattr(b, name) for b in banks])
        return Treebank(
            word_offsets=offsets_of(np.concatenate([b.lengths for b in banks])),
            constituent_offsets=offsets_of(np.concatenate([b.constituent_counts for b in banks])),
            bits=np.concatenate([b.bits for b in banks]),
            sentence_values=_join_values([(b.sentence_values, len(b)) for b in banks]),
            constituent_values=_join_values([(b.constituent_values, len(b.labels)) for b in banks]),
            **columns,
        )

    def with_columns(self, **columns: Any) -> Treebank:
        """Return the treebank with some columns replaced; the caller keeps them consistent."""
        return replace(self, **columns)

    # ---- reading --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Treebank: {len(self)} sentences, {len(self.words)} words, {len(self.labels)} constituents>"

    def __iter__(self) -> Iterator[Tree]:
        for index in range(len(self)):
            yield self._tree(index)

    def _repr_html_(self) -> str:
        """Return the table that notebooks show: the first sentences."""
        from treemean.trees.frames import columns_of
        from treemean.trees.html import html_table

        first = columns_of(self[:_SHOWN], "sentences")
        columns = ("id", "text", "length", "constituents", "discontinuous")
        rows = [[number, *row] for number, row in enumerate(zip(*(list(first[name]) for name in columns)))]
        left = len(self) - len(rows)
        return html_table(
            ["", *columns],
            [[str(row[0]), row[1], row[2], *map(int, row[3:])] for row in rows],
            f"{len(self):,} sentences, {len(self.words):,} words, {len(self.labels):,} constituents",
            [f"… and {left:,} more"] if left else [],
        )

    @overload
    def __getitem__(self, index: int | np.integer[Any] | str) -> Tree: ...
    @overload
    def __getitem__(self, index: slice | Sequence[Any] | NDArray[Any]) -> Treebank: ...
    def __getitem__(self, index: Any) -> Tree | Treebank:
        """Return the tree of a number or an id, or the treebank of a slice, a mask, a list of numbers or ids.

        >>> bank = Treebank.from_trees([Tree([name], [({0}, "S")], id=name) for name in "abc"])
        >>> bank["b"].id, bank[-1].id, bank[[2, 0]].ids.tolist(), bank[bank.lengths > 1].ids.tolist()
        ('b', 'c', ['c', 'a'], [])
        """
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._slice(start, max(start, stop))
            return self.take(np.arange(start, stop, step))
        if isinstance(index, str):
            return self._tree(place_of(index, self._places_of_ids))
        if not isinstance(index, int | np.integer):
            return self.take(places_of(index, len(self), self._places_of_ids))
        index = int(index)
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"sentence {index} of a treebank of {len(self)}")
        return self._tree(position)

    @cached_property
    def _places_of_ids(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, id in enumerate(self.ids.tolist()):
            places.setdefault(id, []).append(place)
        return places

    def __add__(self, other: Treebank) -> Treebank:
        """Put another treebank behind this one."""
        return Treebank.concatenate([self, other]) if isinstance(other, Treebank) else NotImplemented

    # ---- for other libraries --------------------------------------------------------------------

    def to_pandas(self, rows: FrameRows = "sentences") -> pandas.DataFrame:
        """Return a pandas data frame with a row for each of the `sentences`, `constituents` or `words`."""
        from treemean.trees.frames import pandas_frame

        return pandas_frame(self, rows)

    def to_polars(self, rows: FrameRows = "sentences") -> polars.DataFrame:
        """Return a Polars data frame with a row for each of the `sentences`, `constituents` or `words`."""
        from treemean.trees.frames import polars_frame

        return polars_frame(self, rows)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table with a row for each sentence, which `treemean.from_arrow` reads again.

        Nothing is lost; docs/data-model.md tells the columns. It needs the extra `parquet`.
        """
        from treemean.trees.arrow import table_of

        return table_of(self)

    def __eq__(self, other: object) -> bool:
        """Compare ids and trees (words, tags, functions, constituents), not metadata and numbers."""
        if not isinstance(other, Treebank):
            return NotImplemented
        return (
            self.ids == other.ids
            and np.array_equal(self.word_offsets, other.word_offsets)
            and np.array_equal(self.constituent_offsets, other.constituent_offsets)
            and np.array_equal(self.bits, other.bits)
            and all(getattr(self, n) == getattr(other, n) for n in (*_TOKEN_COLUMNS, *_CONSTITUENT_COLUMNS))
        )

    __hash__ = None  # type: ignore[assignment]

    def _tree(self, s: int) -> Tree:
        w0, w1 = self.word_offsets[s : s + 2].tolist()
        c0, c1 = self.constituent_offsets[s : s + 2].tolist()
        size = bitsets.width(w1 - w0) * 8
        b0 = int(self.bit_offsets[s])
        raw = self.bits[b0 : b0 + (c1 - c0) * size // 8].astype("<u8", copy=False).tobytes()
        columns = [(name, v[c0:c1].tolist()) for name, v in self.constituent_values.items()]
        constituents = tuple(
            Constituent(
                int.from_bytes(raw[i * size : (i + 1) * size], "little"),
                label,
                function,
                *([MappingProxyType({name: v[i] for name, v in columns})] if columns else []),
            )
            for i, (label, function) in enumerate(
                zip(self.labels.decode(c0, c1), self.functions.decode(c0, c1))
            )
        )
        text = self.metadata[s]
        return Tree._trusted(
            self.words.decode(w0, w1),
            constituents,
            self.tags.decode(w0, w1),
            self.word_functions.decode(w0, w1),
            self.ids[s],
            MappingProxyType(json.loads(text) if text else {}),
            MappingProxyType({name: v[s].item() for name, v in self.sentence_values.items()}),
        )

    def _slice(self, start: int, stop: int) -> Treebank:
        w, c = self.word_offsets[start : stop + 1], self.constituent_offsets[start : stop + 1]
        columns: dict[str, Any] = {n: getattr(self, n).slice(start, stop) for n in _SENTENCE_TEXTS}
        columns.update({n: getattr(self, n).slice(w[0], w[-1]) for n in _TOKEN_COLUMNS})
        columns.update({n: getattr(self, n).slice(c[0], c[-1]) for n in _CONSTITUENT_COLUMNS})
        return Treebank(
            word_offsets=w - w[0],
            constituent_offsets=c - c[0],
            bits=self.bits[self.bit_offsets[start] : self.bit_offsets[stop]],
            sentence_values={k: v[start:stop] for k, v in self.sentence_values.items()},
            constituent_values={k: v[c[0] : c[-1]] for k, v in self.constituent_values.items()},
            **columns,
        )

    def take(self, indices: NDArray[Any] | Sequence[int]) -> Treebank:
        """Return the sentences at `indices` (or under a Boolean mask), copied."""
        chosen = np.asarray(indices)
        if chosen.dtype == bool:
            if len(chosen) != len(self):
                raise IndexError(f"a mask of {len(chosen)} for a treebank of {len(self)} sentences")
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or (len(chosen) and not np.issubdtype(chosen.dtype, np.integer)):
            raise WrongType("sentences are taken by a list of whole numbers or a Boolean mask")
        chosen = chosen.astype(np.int64)
        for beyond in chosen[(chosen < -len(self)) | (chosen >= len(self))].tolist():
            raise IndexError(f"sentence {beyond} of a treebank of {len(self)}")
        tokens = gather(self.word_offsets, chosen)
        nodes = gather(self.constituent_offsets, chosen)
        columns: dict[str, Any] = {n: getattr(self, n).take(chosen) for n in _SENTENCE_TEXTS}
        columns.update({n: getattr(self, n).take(tokens) for n in _TOKEN_COLUMNS})
        columns.update({n: getattr(self, n).take(nodes) for n in _CONSTITUENT_COLUMNS})
        return Treebank(
            word_offsets=offsets_of(self.lengths[chosen]),
            constituent_offsets=offsets_of(self.constituent_counts[chosen]),
            bits=self.bits[gather(self.bit_offsets, chosen)],
            sentence_values={k: v[chosen] for k, v in self.sentence_values.items()},
            constituent_values={k: v[nodes] for k, v in self.constituent_values.items()},
            **columns,
        )

    # ---- derived columns ------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Ints:
        """int64[S]: the number of words of each sentence."""
        return np.diff(self.word_offsets)

    @cached_property
    def constituent_counts(self) -> Ints:
        """int64[S]: the number of constituents of each sentence."""
        return np.diff(self.constituent_offsets)

    @cached_property
    def bit_offsets(self) -> Ints:
        """int64[S + 1]: where the bits of each sentence begin."""
        return offsets_of(self.constituent_counts * bitsets.widths(self.lengths))

    @cached_property
    def sentence_of(self) -> Ints:
        """int64[C]: the sentence of each constituent."""
        return np.repeat(np.arange(len(self)), self.constituent_counts)

    def rows(self) -> Iterator[tuple[Ints, Bits]]:
        """Yield the sets grouped by width: (indices of constituents, their bits as a (m, width) array)."""
        width = bitsets.widths(self.lengths)
        for w in np.flatnonzero(np.bincount(width)).tolist():  # there are few
            chosen = np.flatnonzero(width == w)
            nodes = gather(self.constituent_offsets, chosen)
            if len(chosen) == len(self):
                yield nodes, self.bits.reshape(len(nodes), w)
            else:
                yield nodes, self.bits[gather(self.bit_offsets, chosen)].reshape(len(nodes), w)

    def _per_row(self, measure: Any) -> Ints:
        result = np.zeros(len(self.labels), dtype=np.int64)
        for nodes, rows in self.rows():
            result[nodes] = measure(rows)
        return result

    @cached_property
    def sizes(self) -> Ints:
        """int64[C]: the number of words of each constituent."""
        return self._per_row(bitsets.row_sizes)

    @cached_property
    def firsts(self) -> Ints:
        """int64[C]: the first position of each constituent."""
        return self._per_row(bitsets.row_firsts)

    @cached_property
    def fan_outs(self) -> Ints:
        """int64[C]: the number of continuous parts of each constituent."""
        return self._per_row(bitsets.row_fan_outs)

    @cached_property
    def repeats(self) -> NDArray[np.bool_]:
        """bool[C]: whether a constituent has the same words as the one above it (a unary chain)."""
        same = np.zeros(len(self.labels), dtype=bool)
        if len(same) > 1:
            for column in (self.sentence_of, self.firsts, self.sizes):
                equal = column[1:] == column[:-1]
                same[1:] = equal if column is self.sentence_of else same[1:] & equal
        return same

    def keep_constituents(self, keep: NDArray[np.bool_]) -> Treebank:
        """Return the treebank with only some constituents; the caller keeps the roots."""
        width = np.repeat(bitsets.widths(self.lengths), self.constituent_counts)
        counts = np.bincount(self.sentence_of[keep], minlength=len(self))
        return replace(
            self,
            constituent_offsets=offsets_of(counts),
            labels=self.labels.take(keep),
            functions=self.functions.take(keep),
            bits=self.bits[np.repeat(keep, width)],
            constituent_values={k: v[keep] for k, v in self.constituent_values.items()},
        )


def offsets_of(counts: Any) -> Ints:
    """Return int64 offsets, beginning with 0, of parts with the given sizes."""
    counts = np.asarray(counts, dtype=np.int64)
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def gather(offsets: Ints, chosen: Ints) -> Ints:
    """Return the indices of all entries of the chosen parts, one part after the other."""
    sizes = (offsets[1:] - offsets[:-1])[chosen]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    indices: Ints = np.arange(total) + np.repeat(offsets[:-1][chosen] - (ends - sizes), sizes)
    return indices


def _metadata_text(metadata: Mapping[str, str]) -> str:
    return json.dumps(dict(metadata), ensure_ascii=False) if metadata else ""


def _join_values(parts: list[tuple[Mapping[str, NDArray[Any]], int]]) -> dict[str, NDArray[Any]]:
    names = dict.fromkeys(name for columns, _ in parts for name in columns)
    return {
        name: np.concatenate([c[name] if name in c else np.full(size, np.nan) for c, size in parts])
        for name in names
    }
