"""One constituency tree: words, and constituents as sets of word positions.

A tree is immutable. Its constituents are kept in *canonical order*: by first word, larger ones first; of
several with the same words (a unary chain) the upper one first. The first constituent is therefore always
the root, and a parent always comes before its children. Single words are not listed unless the tree really
has a constituent over one word (as in NP over a noun); part-of-speech tags belong to the words.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import Any

from treemean.errors import InvalidTree, WrongType, check_type
from treemean.trees import bitsets
from treemean.trees.arguments import per_word, texts
from treemean.trees.containment import find_parents, interleave

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Constituent:
    """A set of word positions with a label.

    Parameters
    ----------
    mask : the positions as a bit mask (bit p is word p).
    label : syntactic category, empty if unknown.
    function : grammatical function, that is the label of the edge to the parent; empty if unknown.
    values : numbers attached to the constituent (its support, a probability); not compared.

    >>> Constituent.over([0, 3], "VP").spans
    [(0, 1), (3, 4)]
    """

    mask: int
    label: str = ""
    function: str = ""
    values: Mapping[str, float] = field(default_factory=lambda: _NOTHING, compare=False)

    @classmethod
    def over(cls, positions: Iterable[int], label: str = "", function: str = "") -> Constituent:
        """Make a constituent from positions."""
        return cls(bitsets.mask_of(positions), label, function)

    @property
    def positions(self) -> tuple[int, ...]:
        """The word positions in ascending order."""
        return tuple(bitsets.positions_of(self.mask))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The maximal continuous parts, as half-open spans."""
        return bitsets.spans_of(self.mask)

    @property
    def first(self) -> int:
        """The first position."""
        return bitsets.first_of(self.mask)

    @property
    def fan_out(self) -> int:
        """The number of continuous parts: 1 if the constituent is continuous."""
        return bitsets.fan_out_of(self.mask)

    @property
    def is_continuous(self) -> bool:
        """Whether the constituent has no gap."""
        return self.fan_out == 1

    def __reduce__(self) -> tuple[Any, ...]:  # read-only views cannot be pickled
        return Constituent, (self.mask, self.label, self.function, dict(self.values))

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __contains__(self, position: int) -> bool:
        return bool(self.mask >> position & 1)


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a constituent: `is_word` tells whether `index` counts words or constituents."""

    is_word: bool
    index: int


class Tree:
    """A constituency tree over a sentence, of any fan-out, binary or not. Immutable.

    Parameters
    ----------
    words : the words of the sentence.
    constituents : in any order, as `Constituent` or as (positions, label) pairs; the whole sentence must be
        among them. Of equal sets the one given first is the upper one.
    tags : part-of-speech tag per word, empty strings if not given.
    word_functions : grammatical function per word, empty strings if not given.
    id : the sentence's id.
    metadata : free texts about the sentence.
    values : numbers about the tree as a whole (an objective, a score).

    Two trees are equal when words, tags, functions and constituents with labels and functions are; `id`,
    `metadata` and `values` do not count. Raises `InvalidTree` if the constituents are not a tree.

    >>> tree = Tree("Wake your friend up".split(), [({0, 1, 2, 3}, "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
    >>> tree.fan_out, tree.is_binary, tree.is_well_nested
    (2, True, True)
    """

    words: tuple[str, ...]
    constituents: tuple[Constituent, ...]
    tags: tuple[str, ...]
    word_functions: tuple[str, ...]
    id: str
    metadata: Mapping[str, str]
    values: Mapping[str, float]

    def __init__(
        self,
        words: Sequence[str],
        constituents: Iterable[Constituent | tuple[Iterable[int], str]],
        *,
        tags: Sequence[str] | None = None,
        word_functions: Sequence[str] | None = None,
        id: str = "",
        metadata: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
    ) -> None:
        if isinstance(words, str):
            raise WrongType("words must be a sequence of strings, not one string: split it first")
        words = texts("words", words)
        listed = [c if isinstance(c, Constituent) else _from_pair(c, len(words)) for c in constituents]
        self._set(
            words,
            tuple(sorted(listed, key=lambda c: (bitsets.first_of(c.mask), -c.mask.bit_count()))),
            per_word("tags", tags, words),
            per_word("word_functions", word_functions, words),
            id,
            MappingProxyType(dict(metadata)) if metadata else _NOTHING,
            MappingProxyType(dict(values)) if values else _NOTHING,
        )
        self._check_types()
        self._validate()

    def _check_types(self) -> None:
        """Raise `WrongType` for labels, an id, metadata and values of another type."""
        check_type("id", self.id, str)
        texts("labels", [c.label for c in self.constituents])
        texts("functions", [c.function for c in self.constituents])
        if self.metadata:
            texts("metadata", [*self.metadata, *self.metadata.values()])
        for name, value in self.values.items():
            check_type("the name of a value", name, str)
            if not isinstance(value, Real):
                raise WrongType(f"the value {name!r} is {value!r}, which is no number")

    def _set(self, *fields: Any) -> None:
        names = ("words", "constituents", "tags", "word_functions", "id", "metadata", "values")
        for name, value in zip(names, fields, strict=True):
            self.__dict__[name] = value

    @classmethod
    def _trusted(cls, *fields: Any) -> Tree:
        """Make a tree from fields known to be valid and in canonical order (see `Treebank`)."""
        tree = cls.__new__(cls)
        tree._set(*fields)
        return tree

    @classmethod
    def with_root(
        cls,
        words: Sequence[str],
        constituents: Iterable[Constituent | tuple[Iterable[int], str]],
        *,
        root_label: str = "ROOT",
        **fields: Any,
    ) -> Tree:
        """Make a tree, adding a constituent over the whole sentence where there is none.

        >>> Tree.with_root(["a", "b"], []).constituents[0].label
        'ROOT'
        """
        everything = (1 << len(words)) - 1
        listed = [c if isinstance(c, Constituent) else _from_pair(c, len(words)) for c in constituents]
        if words and not any(c.mask == everything for c in listed):
            listed.insert(0, Constituent(everything, root_label))
        return cls(words, listed, **fields)

    def replace(self, **changes: Any) -> Tree:
        """Return a copy with some fields changed, checked again."""
        fields: dict[str, Any] = {
            "words": self.words,
            "constituents": self.constituents,
            "tags": self.tags,
            "word_functions": self.word_functions,
            "id": self.id,
            "metadata": self.metadata,
            "values": self.values,
        }
        unknown = changes.keys() - fields.keys()
        if unknown:
            raise TypeError(f"a tree has no field {', '.join(sorted(unknown))}")
        fields.update(changes)
        return Tree(fields.pop("words"), fields.pop("constituents"), **fields)

    def _validate(self) -> None:
        """Check root and nesting: O(sum of constituent sizes)."""
        n = len(self.words)
        if n == 0:
            if self.constituents:
                raise InvalidTree("a tree without words cannot have constituents")
            return
        everything = (1 << n) - 1
        for c in self.constituents:
            if c.mask <= 0:
                raise InvalidTree(f"constituent {c.label!r} has no words")
            if c.mask > everything:
                raise InvalidTree(
                    f"constituent {c.label!r} has word {c.mask.bit_length() - 1}, "
                    f"but the sentence ends with word {n - 1}"
                )
        if not self.constituents or self.constituents[0].mask != everything:
            raise InvalidTree(
                f"no constituent spans the whole sentence of {n} words (Tree.with_root adds one)"
            )
        find_parents(n, [c.mask for c in self.constituents], self._describe)

    def _describe(self, index: int) -> str:
        c = self.constituents[index]
        words = " ".join(self.words[p] for p in c.positions[:8]) + (" …" if len(c) > 8 else "")
        return f"{c.label or 'constituent'} [{words}]"

    # ---- identity -------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("trees are immutable; use tree.replace(...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("trees are immutable; use tree.replace(...)")

    def __reduce__(self) -> tuple[Any, ...]:  # read-only views cannot be pickled
        fields = (self.words, self.constituents, self.tags, self.word_functions, self.id)
        return _unpickled, (*fields, dict(self.metadata), dict(self.values))

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Constituent]:
        return iter(self.constituents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.words == other.words
            and self.constituents == other.constituents
            and self.tags == other.tags
            and self.word_functions == other.word_functions
        )

    def __hash__(self) -> int:
        return hash((self.words, tuple(c.mask for c in self.constituents)))

    def __repr__(self) -> str:
        name = f" {self.id}" if self.id else ""
        return f"<Tree{name}: {len(self.words)} words, {len(self.constituents)} constituents>"

    def to_nltk(self, *, positions: bool = False) -> Any:
        """Return an `nltk.Tree`; discontinuous ones need `positions`, which makes leaves such as `0=Wake`."""
        from treemean.trees.to_nltk import to_nltk

        return to_nltk(self, positions=positions)

    @cached_property
    def masks(self) -> frozenset[int]:
        """The distinct sets of positions, as bit masks, without labels."""
        return frozenset(c.mask for c in self.constituents)

    def same_structure(self, other: Tree) -> bool:
        """Tell whether both trees have the same words and sets of constituents, whatever their labels."""
        return self.words == other.words and self.masks == other.masks

    # ---- structure ------------------------------------------------------------------------------

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For every constituent the index of its parent, -1 for the root."""
        return self._structure[0]

    @cached_property
    def word_parents(self) -> tuple[int, ...]:
        """For every word the index of the smallest constituent that holds it."""
        return self._structure[1]

    @cached_property
    def _structure(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return find_parents(len(self.words), [c.mask for c in self.constituents], self._describe)

    @cached_property
    def children(self) -> tuple[tuple[Child, ...], ...]:
        """For every constituent its children, words and constituents, by their first word."""
        found: list[list[tuple[int, Child]]] = [[] for _ in self.constituents]
        for index, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append((self.constituents[index].first, Child(False, index)))
        for position, parent in enumerate(self.word_parents):
            found[parent].append((position, Child(True, position)))
        return tuple(tuple(child for _, child in sorted(f, key=lambda pair: pair[0])) for f in found)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """For every constituent the longest way down to a word (1 directly above words)."""
        height = [1] * len(self.constituents)
        for index in range(len(height) - 1, 0, -1):
            parent = self.parents[index]
            height[parent] = max(height[parent], height[index] + 1)
        return tuple(height)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """For every constituent the number of constituents above it."""
        depth: list[int] = []
        for parent in self.parents:
            depth.append(0 if parent < 0 else depth[parent] + 1)
        return tuple(depth)

    @property
    def height(self) -> int:
        """The height of the root; 0 for a tree without words."""
        return self.heights[0] if self.constituents else 0

    @property
    def fan_out(self) -> int:
        """The largest fan-out of a constituent."""
        return max((c.fan_out for c in self.constituents), default=0)

    @property
    def gap_degree(self) -> int:
        """The largest number of gaps of a constituent."""
        return max(self.fan_out - 1, 0)

    @property
    def is_continuous(self) -> bool:
        """Whether no constituent has a gap."""
        return self.fan_out <= 1

    @property
    def is_binary(self) -> bool:
        """Whether every set of several words divides into exactly two (unary chains do not matter).

        Such a tree has n - 1 different constituents of two words or more.
        """
        multiword = sum(1 for mask in self.masks if mask & (mask - 1))
        return multiword == max(len(self.words) - 1, 0)

    @cached_property
    def is_well_nested(self) -> bool:
        """Whether no two disjoint constituents interleave (a … b … a … b). O(p log p) for p parts in all.

        If two do, then so do two children of one constituent, those that hold them; only such are compared.
        """
        parts: dict[int, list[tuple[int, int]]] = {}
        for index, parent in enumerate(self.parents):
            parts.setdefault(parent, []).extend((start, index) for start, _ in self.constituents[index].spans)
        return not any(interleave([index for _, index in sorted(found)]) for found in parts.values())


def _unpickled(*fields: Any) -> Tree:
    *rest, metadata, values = fields
    return Tree._trusted(*rest, MappingProxyType(metadata), MappingProxyType(values))


def _from_pair(pair: tuple[Iterable[int], str], n: int) -> Constituent:
    try:
        positions, label = pair
        listed = [operator.index(position) for position in positions]
    except (TypeError, ValueError):
        raise WrongType(f"{pair!r} is no constituent: give positions and a label") from None
    for position in listed:
        if not 0 <= position < n:
            raise InvalidTree(
                f"constituent {label!r} has word {position}, but the sentence has words 0 to {n - 1}"
            )
    return Constituent(bitsets.mask_of(listed), label)
