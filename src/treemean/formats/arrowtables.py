"""Arrow tables with a row per sentence, as `trees.arrow` makes them, back to treebanks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean._version import __version__
from treemean.errors import FormatError, InvalidTree
from treemean.files.source import MAX_RECORD
from treemean.formats.jsonl import decode_object
from treemean.formats.limits import (
    MAX_CELLS,
    MAX_CONSTITUENTS,
    MAX_NOTE,
    MAX_WORDS,
    check_size,
    first_beyond,
    too_large,
)
from treemean.trees import CodedStrings, Strings, Treebank
from treemean.trees.arrow import (
    CONSTITUENT_TEXTS,
    CONSTITUENT_VALUE,
    LAYOUT_KEY,
    REQUIRED,
    SENTENCE_TEXTS,
    SENTENCE_VALUE,
    SPANS_LAYOUT,
    SPANS_REQUIRED,
    TREES_LAYOUT,
    WORD_TEXTS,
    Arrow,
    load_pyarrow,
    missing_values,
    table_of,
)
from treemean.trees.bitsets import Ints, widths
from treemean.trees.treebank import offsets_of

__all__ = [
    "Arrow",
    "check_batch",
    "columns_to_read",
    "consistent_rows",
    "from_arrow",
    "load_pyarrow",
    "missing_values",
    "table_of",
    "treebank_of",
]


def load_compute() -> ModuleType:
    """Return PyArrow's functions on arrays."""
    load_pyarrow()
    import pyarrow.compute

    return pyarrow.compute  # type: ignore[no-any-return]


# ---- from Arrow -------------------------------------------------------------------------------------


#: What helps who mistakes a table of spans for a treebank, or something else for such a table.
ABOUT_SPANS = (
    "`treemean parse --span-posteriors` writes such tables, and the option --spans of `treemean average` "
    "and `treemean fit` reads all files up to the next option as such"
)


def columns_to_read(schema: Arrow, layout: str = TREES_LAYOUT) -> list[str]:
    """Return which columns of a table are a treebank's; raise `FormatError` if it is laid out differently."""
    found = (schema.metadata or {}).get(LAYOUT_KEY.encode(), TREES_LAYOUT.encode()).decode(errors="replace")
    kind = SPANS_LAYOUT.partition(" ")[0]
    if found.startswith(kind) != layout.startswith(kind):
        is_one = (
            "is a table of spans, which has no trees" if found.startswith(kind) else "is no table of spans"
        )
        raise FormatError(f"this {is_one}; {ABOUT_SPANS}")
    if found != layout:
        raise FormatError(f"its layout is {found!r}, and this version ({__version__}) reads layout {layout}")
    kind, required = ("table of spans", SPANS_REQUIRED) if layout == SPANS_LAYOUT else ("treebank", REQUIRED)
    for name in required:
        if name not in schema.names:
            raise FormatError(f"there is no column {name!r}; a {kind} has at least {', '.join(required)}")
    known = {*SENTENCE_TEXTS, *WORD_TEXTS, *CONSTITUENT_TEXTS, "bits"}
    names = [n for n in schema.names if n in known or n.startswith((SENTENCE_VALUE, CONSTITUENT_VALUE))]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(f"there are several columns {name!r}")
        if not _fits(name, schema.field(name).type):
            raise FormatError(f"column {name!r} cannot have the type {schema.field(name).type}")
    return names


def _fits(name: str, kind: Arrow) -> bool:
    types = load_pyarrow().types

    def is_text(kind: Arrow) -> bool:
        plain = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(plain) or types.is_large_string(plain))

    def is_number(kind: Arrow) -> bool:
        return bool(types.is_floating(kind) or types.is_integer(kind))

    if name in SENTENCE_TEXTS:
        return is_text(kind)
    if name.startswith(SENTENCE_VALUE):
        return is_number(kind)
    if not (types.is_list(kind) or types.is_large_list(kind)):
        return False
    if name == "bits":
        return bool(types.is_uint64(kind.value_type))
    return is_number(kind.value_type) if name.startswith(CONSTITUENT_VALUE) else is_text(kind.value_type)


def treebank_of(batch: Arrow, report: Callable[[int, str], None]) -> Treebank:
    """Return a record batch as a treebank, without the rows that are no trees.

    Parameters
    ----------
    batch : a record batch with the columns that `columns_to_read` names.
    report : called with the index of each bad row and the reason; may raise.
    """
    treebank, rows = consistent_rows(batch, report)
    good = np.ones(len(treebank), dtype=bool)
    start = 0
    while (found := check_batch(treebank[start:])) is not None:
        index, reason = found
        report(int(rows[start + index]), reason)
        good[start + index] = False
        start += index + 1
    start = 0
    while (deep := first_beyond(treebank.take(good) if not good.all() else treebank, start)) is not None:
        index = int(np.flatnonzero(good)[deep[0]])
        report(int(rows[index]), str(deep[1]))
        good[index] = False
        start = deep[0]
    return treebank if good.all() else treebank.take(good)


def consistent_rows(batch: Arrow, report: Callable[[int, str], None]) -> tuple[Treebank, Ints]:
    """Return the rows of a record batch whose lists fit together, as columns, and which rows these are.

    The sets of words are not looked at.
    """
    reasons = _rows_too_large(batch)  # before anything is done with what is in them
    rows = np.array([row for row in range(len(batch)) if row not in reasons], dtype=np.int64)
    batch = _rows_of(batch, rows)
    reasons |= {int(rows[row]): reason for row, reason in _inconsistent_rows(batch).items()}
    for row in sorted(reasons):
        report(row, reasons[row])
    sound = np.array([row not in reasons for row in rows.tolist()], dtype=bool)
    return _assemble(_rows_of(batch, np.flatnonzero(sound))), rows[sound]


def from_arrow(table: Arrow) -> Treebank:
    """Return an Arrow table, as `Treebank.to_arrow` makes it, as a treebank; each row is checked.

    Raises `FormatError`, which names the row, counted from 1.
    """

    def refuse(row: int, reason: str) -> None:
        raise FormatError(reason, sentence=str(before + row + 1))

    names = columns_to_read(table.schema)
    before = 0
    parts = []
    for batch in table.select(names).to_batches():
        parts.append(treebank_of(batch, refuse))
        before += len(batch)
    return Treebank.concatenate(parts)


def check_batch(treebank: Treebank) -> tuple[int, str] | None:
    """Return the first sentence whose constituents are not a tree in canonical order, and why, or None."""
    return _core.find_invalid(treebank.word_offsets, treebank.constituent_offsets, treebank.bits)


def _rows_of(batch: Arrow, rows: Ints) -> Arrow:
    """Return some rows of a batch, in their order."""
    if len(rows) == len(batch):
        return batch
    chosen = np.zeros(len(batch), dtype=bool)
    chosen[rows] = True
    return batch.filter(load_pyarrow().array(chosen))


def _rows_too_large(batch: Arrow) -> dict[int, str]:
    """Return the rows of sentences that are beyond the limits, and why."""
    words, labels = (np.maximum(_lengths(batch.column(name)), 0) for name in ("words", "labels"))
    suspicious = (words > MAX_WORDS) | (labels > MAX_CONSTITUENTS) | (words * labels > MAX_CELLS)
    reasons = {}
    for row in np.flatnonzero(suspicious).tolist():
        try:
            check_size(int(words[row]), int(labels[row]))
        except InvalidTree as error:
            reasons[row] = str(error)
    for name in batch.schema.names:
        if _is_list(batch, name):
            for row in np.flatnonzero(_lengths(batch.column(name)) > MAX_CELLS // 64).tolist():
                reasons.setdefault(row, str(too_large(f"more than {MAX_CELLS // 64} entries of {name!r}")))
    return reasons


def _inconsistent_rows(batch: Arrow) -> dict[int, str]:
    """Return the rows whose lists do not fit together, and why."""
    reasons: dict[int, str] = {}

    def note(rows: NDArray[np.bool_], reason: str, name: str = "", **numbers: Ints) -> None:
        for row in np.flatnonzero(rows).tolist():
            text = reason.format(name=name, **{key: column[row] for key, column in numbers.items()})
            reasons.setdefault(row, text)

    lists = {name: batch.column(name) for name in batch.schema.names if _is_list(batch, name)}
    lengths = {name: _lengths(column) for name, column in lists.items()}
    for name, length in lengths.items():
        note(length < 0, "column {name!r} is null", name)
        if not name.startswith(CONSTITUENT_VALUE):
            note(_has_null(lists[name]), "column {name!r} has an entry that is null", name)
    words, labels = lengths["words"], lengths["labels"]
    _note_long_texts(batch, lists, note)
    expected = dict.fromkeys(WORD_TEXTS, words) | {"bits": labels * widths(words)}
    for name, length in lengths.items():
        wanted = expected.get(name, labels)
        note(
            length != wanted,
            "column {name!r} has {length} entries; {words} words and {labels} constituents need {wanted}",
            name,
            length=length,
            words=words,
            labels=labels,
            wanted=wanted,
        )
    if "metadata" in batch.schema.names:
        notes = batch.column("metadata")
        for row in np.flatnonzero(_sizes(notes)).tolist():
            if row not in reasons and (problem := _metadata_problem(notes[row].as_py())):
                reasons[row] = problem
    return reasons


def _note_long_texts(batch: Arrow, lists: Mapping[str, Arrow], note: Callable[..., None]) -> None:
    """Note rows whose texts are longer than those of a sentence; a file may say them once for many words."""
    sizes = np.zeros(len(batch), dtype=np.int64)
    for name in (*WORD_TEXTS, *CONSTITUENT_TEXTS):
        if name in lists:
            rows = np.repeat(np.arange(len(batch)), np.maximum(_lengths(lists[name]), 0))
            sizes += np.bincount(rows, _sizes(lists[name].flatten()), len(batch)).astype(np.int64)
    note(sizes > MAX_RECORD, str(too_large(f"texts of more than {MAX_RECORD} bytes")))
    for name in SENTENCE_TEXTS:
        if name in batch.schema.names:
            reason = f"column {{name!r}} has a text of more than {MAX_NOTE} bytes"
            note(_sizes(batch.column(name)) > MAX_NOTE, reason, name)


def _sizes(texts: Arrow) -> Ints:
    """Return how many bytes each text has; 0 for null."""
    compute = load_compute()
    if load_pyarrow().types.is_dictionary(texts.type):
        sizes: Ints = compute.binary_length(texts.dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
        codes = texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        coded: Ints = np.append(sizes, 0)[codes]  # the last one is that of null
        return coded
    found: Ints = compute.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _is_list(batch: Arrow, name: str) -> bool:
    types = load_pyarrow().types
    kind = batch.schema.field(name).type
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _lengths(lists: Arrow) -> Ints:
    """Return the length of each list, -1 for one that is null."""
    lengths: Ints = lists.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths


def _has_null(lists: Arrow) -> NDArray[np.bool_]:
    """Return which lists have an entry that is null."""
    missing = lists.flatten().is_null().to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(lists)), np.maximum(_lengths(lists), 0))
    found = np.zeros(len(lists), dtype=bool)
    found[rows[missing]] = True
    return found


def _metadata_problem(text: str) -> str | None:
    try:
        data = decode_object(text)
    except FormatError as error:
        return f"column 'metadata': {error.message}"
    return (
        None
        if all(isinstance(v, str) for v in data.values())
        else "column 'metadata' has a value that is no text"
    )


def _assemble(batch: Arrow) -> Treebank:
    """Build the treebank of rows that fit together."""
    names = batch.schema.names
    word_offsets = offsets_of(_lengths(batch.column("words")))
    constituent_offsets = offsets_of(_lengths(batch.column("labels")))
    columns: dict[str, Any] = {}
    for name, attribute in SENTENCE_TEXTS.items():
        columns[attribute] = _strings(batch.column(name)) if name in names else Strings.blank(len(batch))
    for texts, count in ((WORD_TEXTS, word_offsets[-1]), (CONSTITUENT_TEXTS, constituent_offsets[-1])):
        for name, attribute in texts.items():
            given = name in names
            columns[attribute] = (
                _coded(batch.column(name).flatten()) if given else CodedStrings.constant("", int(count))
            )
    return Treebank(
        word_offsets=word_offsets,
        constituent_offsets=constituent_offsets,
        bits=batch.column("bits").flatten().to_numpy(zero_copy_only=False),
        sentence_values={
            name.removeprefix(SENTENCE_VALUE): _numbers(batch.column(name))
            for name in names
            if name.startswith(SENTENCE_VALUE)
        },
        constituent_values={
            name.removeprefix(CONSTITUENT_VALUE): _numbers(batch.column(name).flatten())
            for name in names
            if name.startswith(CONSTITUENT_VALUE)
        },
        **columns,
    )


def _strings(texts: Arrow) -> Strings:
    plain = texts.cast(load_pyarrow().large_string()).fill_null("")
    if not len(plain):
        return Strings.blank(0)
    _, offsets, data = plain.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[plain.offset : plain.offset + len(plain) + 1]
    return Strings(np.frombuffer(data or b"", dtype=np.uint8), bounds)


def _coded(texts: Arrow) -> CodedStrings:
    arrow = load_pyarrow()
    if not arrow.types.is_dictionary(texts.type):
        texts = texts.cast(arrow.large_string()).dictionary_encode()
    codes = texts.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if _is_vocabulary(texts):
        return CodedStrings(codes, _strings(texts.dictionary))
    # A file may have the same text twice in its dictionary.
    different = texts.dictionary.cast(arrow.large_string()).dictionary_encode()
    return CodedStrings(different.indices.to_numpy()[codes], _strings(different.dictionary)).compact()


def _is_vocabulary(texts: Arrow) -> bool:
    """Tell whether a dictionary has every text once, as files may come from anywhere."""
    words = texts.dictionary
    return not words.null_count and len(words.unique()) == len(words) and texts.indices.type.bit_width <= 32


def _numbers(values: Arrow) -> NDArray[np.float64]:
    numbers = values.cast(load_pyarrow().float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
