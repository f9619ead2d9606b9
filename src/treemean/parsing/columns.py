"""A treebank as a file of its columns, which NumPy alone can read, where no format reader is at hand."""

from __future__ import annotations

import os
import zipfile
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError, InvalidTree
from treemean.trees import CodedStrings, Strings, Tree, Treebank, bitsets

_VERSION = 1
_TEXTS = ("ids", "metadata")
_CODED = ("words", "tags", "word_functions", "labels", "functions")
_PLAIN: dict[str, type[np.generic]] = {
    "word_offsets": np.int64,
    "constituent_offsets": np.int64,
    "bits": np.uint64,
}
_DAMAGED = "not a file of treebank columns, or a damaged one"


def write_columns(treebank: Treebank, path: str | os.PathLike[str]) -> None:
    """Write a treebank as `.npz` of its columns (see docs/data-model.md); numbers beside trees are left out.

    >>> import tempfile
    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(["a", "b"], [({0, 1}, "S")])])
    >>> path = os.path.join(tempfile.mkdtemp(), "bank.npz")
    >>> write_columns(bank, path)
    >>> read_columns(path) == bank
    True
    """
    from treemean.formats.source import open_output

    arrays: dict[str, NDArray[Any]] = {"version": np.array(_VERSION)}
    for name in _TEXTS:
        arrays |= _text_arrays(name, getattr(treebank, name))
    for name in _CODED:
        column = getattr(treebank, name).compact()
        arrays[f"{name}.codes"] = column.codes
        arrays |= _text_arrays(name, column.vocabulary)
    arrays |= {name: getattr(treebank, name) for name in _PLAIN}
    with open_output(path) as stream:
        np.savez_compressed(cast(Any, stream), **cast(Any, arrays))


def _text_arrays(name: str, texts: Strings) -> dict[str, NDArray[Any]]:
    start, end = int(texts.offsets[0]), int(texts.offsets[-1])
    return {f"{name}.data": texts.data[start:end], f"{name}.offsets": texts.offsets - start}


def read_columns(path: str | os.PathLike[str]) -> Treebank:
    """Read what `write_columns` wrote; nothing in the file is ever unpickled.

    Raises `FormatError`, with the name of the file, if it is damaged: all is looked at, trees included.
    """
    name = os.fspath(path)
    arrays = _arrays(name)
    try:
        version = int(arrays["version"])
        if version != _VERSION:
            raise FormatError(f"columns of version {version}; this treemean reads {_VERSION}", path=name)
        texts = {key: _strings(arrays, key) for key in (*_TEXTS, *_CODED)}
        codes = {key: _array(arrays, f"{key}.codes", np.int32) for key in _CODED}
        columns: dict[str, Any] = {key: _array(arrays, key, dtype) for key, dtype in _PLAIN.items()}
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{_DAMAGED}: {error.args[0] if error.args else error}", path=name) from error
    columns |= {key: texts[key] for key in _TEXTS}
    columns |= {key: CodedStrings(codes[key], texts[key]) for key in _CODED}
    bank = Treebank(**columns)
    if not _fit_together(bank):
        raise FormatError("the columns do not fit together", path=name)
    _check_trees(bank, name)
    return bank


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name."""
    try:
        with open(name, "rb") as stream:
            if not zipfile.is_zipfile(stream):  # NumPy would take it for a pickle
                raise FormatError("not a file of treebank columns, or an incomplete one", path=name)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(error.strerror or str(error), path=name) from error
    except Exception as error:
        # Whatever the modules for archives, compression and arrays say of bytes that are not theirs.
        raise FormatError(f"{_DAMAGED}: {error}", path=name) from error


def _array(arrays: dict[str, NDArray[Any]], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"there is no column {name}")
    array = arrays[name]
    if array.ndim != 1 or array.dtype != dtype:
        raise ValueError(f"{name} is not a column of {np.dtype(dtype)}")
    return array


def _strings(arrays: dict[str, NDArray[Any]], name: str) -> Strings:
    texts = Strings(
        _array(arrays, f"{name}.data", np.uint8), _array(arrays, offsets := f"{name}.offsets", np.int64)
    )
    if not _are_offsets(texts.offsets, len(texts.data)):
        raise ValueError(f"{offsets} does not fit to {name}.data")
    try:
        _ = texts.texts  # decoded now, where the file is known
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not valid UTF-8") from error
    return texts


def _are_offsets(offsets: NDArray[np.int64], end: int) -> bool:
    return (
        len(offsets) > 0
        and int(offsets[0]) == 0
        and int(offsets[-1]) == end
        and bool((offsets[1:] >= offsets[:-1]).all())  # differences could overflow
    )


def _fit_together(bank: Treebank) -> bool:
    sentences = len(bank.ids)
    return (
        len(bank.metadata) == sentences
        and len(bank.word_offsets) == len(bank.constituent_offsets) == sentences + 1
        and _are_offsets(bank.word_offsets, len(bank.words))
        and _are_offsets(bank.constituent_offsets, len(bank.labels))
        and len(bank.tags) == len(bank.word_functions) == len(bank.words)
        and len(bank.functions) == len(bank.labels)
        and all(_codes_fit(getattr(bank, c)) for c in _CODED)
        and len(bank.bits) == int((bank.constituent_counts * bitsets.widths(bank.lengths)).sum())
    )


def _codes_fit(column: CodedStrings) -> bool:
    return len(column) == 0 or (
        int(column.codes.min()) >= 0 and int(column.codes.max()) < len(column.vocabulary)
    )


def _check_trees(bank: Treebank, name: str) -> None:
    """Raise `FormatError` if something is not a tree whose constituents are in canonical order."""
    for number in range(len(bank)):
        try:
            found = bank[number]
            if Tree(found.words, found.constituents).constituents != found.constituents:
                raise InvalidTree("the constituents are not in order")
        except ValueError as error:  # of trees, or of metadata that is not JSON
            raise FormatError(f"{_DAMAGED}: {error}", path=name, sentence=str(number + 1)) from error
