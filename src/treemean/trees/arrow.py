"""A treebank as an Arrow table, one row per sentence; see docs/data-model.md. `formats` reads such tables.

Numbers are columns of their own, named `sentence.<name>` and `constituent.<name>`. PyArrow is imported only
when it is needed.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from treemean._version import __version__
from treemean.errors import MissingDependency
from treemean.trees.bitsets import Ints
from treemean.trees.strings import CodedStrings, Strings

if TYPE_CHECKING:
    from treemean.trees.treebank import Treebank

#: Raised by one when older versions could not read the new layout.
LAYOUT = 1
#: What a table says of itself: whether it has trees, or spans, which have the same columns.
TREES_LAYOUT, SPANS_LAYOUT = f"{LAYOUT}", f"spans {LAYOUT}"
LAYOUT_KEY = "treemean.layout"

#: Column of the table -> column of `Treebank`.
SENTENCE_TEXTS = {"id": "ids", "metadata": "metadata"}
WORD_TEXTS = {"words": "words", "tags": "tags", "word_functions": "word_functions"}
CONSTITUENT_TEXTS = {"labels": "labels", "functions": "functions"}
REQUIRED = ("words", "labels", "bits")
SENTENCE_VALUE = "sentence."
CONSTITUENT_VALUE = "constituent."
SPANS_REQUIRED = (*REQUIRED, f"{CONSTITUENT_VALUE}posterior", f"{SENTENCE_VALUE}expected")

#: An Arrow array, type, batch or table: PyArrow has no published types.
Arrow = Any


def load_pyarrow() -> ModuleType:
    """Return PyArrow; raise `MissingDependency` if it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependency("Parquet and Arrow need PyArrow: pip install 'treemean[parquet]'") from error
    return pyarrow  # type: ignore[no-any-return]


def table_of(treebank: Treebank, layout: str = TREES_LAYOUT) -> Arrow:
    """Return a treebank, or columns like those of one, as an Arrow table."""
    arrow = load_pyarrow()
    columns: dict[str, Arrow] = {"id": _text_array(treebank.ids)}
    for name, attribute in WORD_TEXTS.items():
        columns[name] = _lists(treebank.word_offsets, _decoded(getattr(treebank, attribute)))
    for name, attribute in CONSTITUENT_TEXTS.items():
        columns[name] = _lists(treebank.constituent_offsets, _decoded(getattr(treebank, attribute)))
    columns["bits"] = _lists(treebank.bit_offsets, arrow.array(treebank.bits))
    columns["metadata"] = _text_array(treebank.metadata)
    for name, values in sorted(treebank.sentence_values.items()):
        columns[SENTENCE_VALUE + name] = arrow.array(np.asarray(values, dtype=np.float64))
    for name, values in sorted(treebank.constituent_values.items()):
        numbers = arrow.array(np.asarray(values, dtype=np.float64))
        columns[CONSTITUENT_VALUE + name] = _lists(treebank.constituent_offsets, numbers)
    return arrow.table(columns).replace_schema_metadata({"treemean.version": __version__, LAYOUT_KEY: layout})


def _text_array(texts: Strings) -> Arrow:
    arrow = load_pyarrow()
    buffers = [None, arrow.py_buffer(np.ascontiguousarray(texts.offsets)), arrow.py_buffer(texts.data)]
    return arrow.Array.from_buffers(arrow.large_string(), len(texts), buffers).cast(arrow.string())


def _decoded(texts: CodedStrings) -> Arrow:
    arrow = load_pyarrow()
    compact = texts.compact()
    return arrow.DictionaryArray.from_arrays(
        compact.codes, _text_array(compact.vocabulary)
    ).dictionary_decode()


def _lists(offsets: Ints, values: Arrow) -> Arrow:
    arrow = load_pyarrow()
    return arrow.LargeListArray.from_arrays(offsets, values).cast(arrow.list_(values.type))


def missing_values(table: Arrow, name: str) -> Arrow:
    """Return the column of numbers `name` for a table without it: all are not a number."""
    arrow = load_pyarrow()
    if name.startswith(SENTENCE_VALUE):
        return arrow.array(np.full(len(table), np.nan))
    counts = table.column("labels").combine_chunks().value_lengths().to_numpy()
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return _lists(offsets, arrow.array(np.full(int(counts.sum()), np.nan)))
