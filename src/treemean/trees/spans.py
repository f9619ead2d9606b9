"""Tables of spans: sets of words with a posterior each, many for a sentence, which may cross.

A parser knows more than the one tree that it returns: how likely every set of words is a constituent. A
tree cannot hold such sets, since they cross.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treemean.errors import InvalidTree, WrongType, check_type
from treemean.trees import bitsets
from treemean.trees.bitsets import Ints
from treemean.trees.frames import pandas_frame
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.treebank import Treebank, offsets_of

if TYPE_CHECKING:
    import pandas

#: The values of the sets and of the sentences in the columns of a table.
POSTERIOR, EXPECTED = "posterior", "expected"


class SpanRow(NamedTuple):
    """The spans of one sentence.

    Parameters
    ----------
    words, id : of the sentence.
    spans : sets of 2 to n - 1 words as bit masks, each with its posterior, from 0 to 1.
    expected : how many constituents of 2 to n - 1 words a tree is expected to have: the sum of all
        posteriors, those included that are too small to be listed. For binary trees it is n - 2. With less
        than the sum of those that are listed, an average may have an F1 above 1.
    """

    words: Sequence[str]
    id: str
    spans: Sequence[tuple[int, float]]
    expected: float


@dataclass(frozen=True, eq=False)
class SpanTable:
    """The spans of many sentences and their posteriors, in columns.

    Parameters
    ----------
    columns : those of a treebank, whose constituents are the spans. First in every sentence comes the set of
        all its words, with posterior 1; single words are left out. The sets of a sentence may cross, so it
        has no trees. Constituents have the value `posterior`, sentences the value `expected` (see `SpanRow`).

    >>> table = SpanTable.from_rows([SpanRow("a b c".split(), "s1", [(0b011, 0.7), (0b101, 0.3)], 1.0)])
    >>> len(table), table.posteriors.tolist(), table.columns.fan_outs.tolist()
    (1, [1.0, 0.7, 0.3], [1, 1, 2])
    """

    columns: Treebank

    def __post_init__(self) -> None:
        check_type("the columns of a table of spans", self.columns, Treebank)
        if POSTERIOR not in self.columns.constituent_values or EXPECTED not in self.columns.sentence_values:
            raise WrongType(
                "a treebank is no table of spans: SpanTable.from_rows makes one of spans and posteriors"
            )

    @classmethod
    def from_rows(cls, rows: Iterable[SpanRow], label: str = "") -> SpanTable:
        """Make a table of sentences; every span gets the same label."""
        sentences = [_checked(row, number) for number, row in enumerate(rows, 1)]
        lengths = [len(row.words) for row in sentences]
        spans = [
            (mask.to_bytes(bitsets.width(n) * 8, "little"), posterior)
            for row, n in zip(sentences, lengths)
            if n
            for mask, posterior in [((1 << n) - 1, 1.0), *row.spans]
        ]
        words = [word for row in sentences for word in row.words]
        posteriors = np.array([posterior for _, posterior in spans], dtype=np.float64)
        return cls(
            Treebank(
                ids=Strings.of(row.id for row in sentences),
                metadata=Strings.blank(len(sentences)),
                word_offsets=offsets_of(lengths),
                words=CodedStrings.of(words),
                tags=CodedStrings.constant("", len(words)),
                word_functions=CodedStrings.constant("", len(words)),
                constituent_offsets=offsets_of(
                    [len(row.spans) + (n > 0) for row, n in zip(sentences, lengths)]
                ),
                labels=CodedStrings.constant(label, len(spans)),
                functions=CodedStrings.constant("", len(spans)),
                bits=np.frombuffer(b"".join(bits for bits, _ in spans), dtype="<u8").astype(np.uint64),
                sentence_values={EXPECTED: np.array([row.expected for row in sentences], dtype=np.float64)},
                constituent_values={POSTERIOR: posteriors},
            )
        )

    @staticmethod
    def concatenate(tables: Sequence[SpanTable]) -> SpanTable:
        """Put tables one after the other."""
        if not tables:
            return SpanTable.from_rows([])
        return SpanTable(Treebank.concatenate([table.columns for table in tables]))

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<SpanTable of {len(self)} sentences with {len(self.columns.labels)} spans>"

    def __getitem__(self, chosen: slice) -> SpanTable:
        """Return some sentences that follow each other."""
        check_type("the sentences of a table", chosen, slice)
        return SpanTable(self.columns[chosen])

    def take(self, indices: NDArray[Any] | Sequence[int]) -> SpanTable:
        """Return chosen sentences, in the order given."""
        return SpanTable(self.columns.take(indices))

    @property
    def posteriors(self) -> NDArray[np.float64]:
        """The posterior of every span."""
        return self.columns.constituent_values[POSTERIOR]

    @property
    def expected(self) -> NDArray[np.float64]:
        """How many constituents of 2 to n - 1 words a tree of each sentence is expected to have."""
        return self.columns.sentence_values[EXPECTED]

    @property
    def expected_counts(self) -> Ints:
        """The same as whole numbers, no more than a tree can have."""
        most = np.maximum(self.columns.lengths - 2, 0)
        return np.rint(np.minimum(self.expected, most)).astype(np.int64)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas with a row for each span; sentences are counted from 0."""
        return pandas_frame(self.columns, "constituents").drop(columns=["label", "function"])


#: What can be averaged: trees, or spans that may cross.
Individual = Treebank | SpanTable


def _checked(row: SpanRow, number: int) -> SpanRow:
    """Return a row whose numbers are sound; raise `InvalidTree` otherwise."""
    if isinstance(row.words, str | bytes):
        raise WrongType(f"the words of sentence {number} must be a list, not one text")
    seen = set()
    spans = []
    for span, value in row.spans:
        try:
            mask, posterior = operator.index(span), float(value)
        except (TypeError, ValueError):
            raise WrongType(
                f"sentence {number}: a span is a bit mask with a number, not {span!r} with {value!r}"
            ) from None
        if mask < 0 or not 2 <= mask.bit_count() < len(row.words) or mask.bit_length() > len(row.words):
            raise InvalidTree(
                f"sentence {number}: a span has two words or more, but not all of the {len(row.words)}"
            )
        if not 0 <= posterior <= 1:
            raise InvalidTree(f"sentence {number}: the posterior {posterior} is not between 0 and 1")
        if mask in seen:
            raise InvalidTree(f"sentence {number} has a span twice")
        seen.add(mask)
        spans.append((mask, posterior))
    try:
        expected = float(row.expected)
    except (TypeError, ValueError):
        raise WrongType(f"sentence {number}: {row.expected!r} is no number of constituents") from None
    if not 0 <= expected < float("inf"):
        raise InvalidTree(f"sentence {number}: {expected} constituents cannot be expected")
    return row._replace(spans=spans, expected=expected)
