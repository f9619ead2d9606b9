"""A treebank as a file of its columns, which NumPy alone can read, where no format reader is at hand."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError
from treemean.trees import CodedStrings, Strings, Treebank, bitsets

_VERSION = 1
_TEXTS = ("ids", "metadata")
_CODED = ("words", "tags", "word_functions", "labels", "functions")
_PLAIN = ("word_offsets", "constituent_offsets", "bits")


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
    """Read what `write_columns` wrote; nothing in the file is ever unpickled."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            if not zipfile.is_zipfile(stream):  # NumPy would take it for a pickle
                raise FormatError("not a file of treebank columns, or an incomplete one", path=name)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
        version = int(arrays["version"])
        if version != _VERSION:
            raise FormatError(f"columns of version {version}; this treemean reads {_VERSION}", path=name)
        columns: dict[str, Any] = {key: _strings(arrays, key) for key in _TEXTS}
        columns |= {key: CodedStrings(arrays[f"{key}.codes"], _strings(arrays, key)) for key in _CODED}
        columns |= {key: arrays[key] for key in _PLAIN}
        bank = Treebank(**columns)
    except OSError as error:
        raise FormatError(error.strerror or str(error), path=name) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"not a file of treebank columns, or a damaged one: {error}", path=name) from error
    _check(bank, name)
    return bank


def _strings(arrays: dict[str, NDArray[Any]], name: str) -> Strings:
    return Strings(arrays[f"{name}.data"], arrays[f"{name}.offsets"])


def _check(bank: Treebank, name: str) -> None:
    """Raise `FormatError` if columns do not fit together; whether the trees are trees is not looked at."""
    sentences = len(bank.ids)
    fits = (
        len(bank.metadata) == sentences
        and all(len(o) == sentences + 1 and o[0] == 0 and (np.diff(o) >= 0).all() for o in _offsets(bank))
        and all(len(getattr(bank, c)) == bank.word_offsets[-1] for c in _CODED[:3])
        and all(len(getattr(bank, c)) == bank.constituent_offsets[-1] for c in _CODED[3:])
        and all(_codes_fit(getattr(bank, c)) for c in _CODED)
        and len(bank.bits) == int((bank.constituent_counts * bitsets.widths(bank.lengths)).sum())
    )
    if not fits:
        raise FormatError("the columns do not fit together", path=name)


def _offsets(bank: Treebank) -> list[NDArray[np.int64]]:
    return [bank.word_offsets, bank.constituent_offsets]


def _codes_fit(column: CodedStrings) -> bool:
    return len(column) == 0 or (
        int(column.codes.min()) >= 0 and int(column.codes.max()) < len(column.vocabulary)
    )
