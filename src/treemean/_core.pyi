"""The native core; see src/core/module.cpp."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Ranked = tuple[NDArray[np.int32], NDArray[np.int32]]
_Problem = tuple[bytes, int, int, int, int]
_Texts = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]
_Chunk = tuple[dict[str, Any], int, int, list[_Problem], bool, int]

#: Words, constituents, constituents above each other, words times constituents, and pieces of one sentence.
LIMITS: tuple[int, int, int, int, int]

class Vocabularies:
    def __init__(self) -> None: ...

def read_brackets(
    text: bytes,
    discontinuous: bool,
    final: bool,
    skip: bool,
    keep_wrapper: bool = False,
    leaves: int = 0,
    helsinki: bool = False,
    guessed: bool = False,
    keep_empty: bool = False,
    keep_lemmas: bool = False,
    known: Vocabularies | None = None,
) -> tuple[_Chunk, int, int, bytes, int]: ...
def survey_brackets(text: bytes) -> dict[str, int]: ...
def read_alpino(text: bytes, final: bool, skip: bool, known: Vocabularies | None = None) -> _Chunk: ...
def write_brackets(
    trees: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]],
    words: _Texts,
    tags: _Texts,
    labels: _Texts,
    positions: bool,
) -> bytes: ...

_Plain = tuple[
    dict[str, Any], int, int, list[tuple[int, int, int, int, int]], int, dict[str, Any], dict[str, Any]
]
_Strings = tuple[NDArray[np.uint8], NDArray[np.int64]]
_Batch = tuple[
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]],
    _Texts,
    _Texts,
    _Texts,
    _Texts,
    _Texts,
    _Strings,
    _Strings,
]

def read_export(text: bytes, final: bool, state: int, known: Vocabularies) -> _Plain: ...
def read_conllu(text: bytes, final: bool, state: int, known: Vocabularies) -> _Plain: ...
def read_jsonl(text: bytes, final: bool, state: int, known: Vocabularies) -> _Plain: ...
def read_tiger(
    text: bytes, final: bool, state: int, known: Vocabularies
) -> tuple[dict[str, Any], int, list[tuple[int, int, int]], int]: ...
def write_export(batch: _Batch, version: int) -> tuple[bytes, int]: ...
def write_conllu(batch: _Batch) -> tuple[bytes, int]: ...
def write_tiger(batch: _Batch, first: int) -> tuple[bytes, int]: ...
def write_jsonl(batch: _Batch, values: _Texts) -> tuple[bytes, int]: ...
def find_invalid(
    word_offsets: NDArray[np.int64], constituent_offsets: NDArray[np.int64], bits: NDArray[np.uint64]
) -> tuple[int, str] | None: ...

class Individuals:
    def __init__(self, word_offsets: NDArray[np.int64], value_scale: float) -> None: ...
    def add(
        self,
        constituent_offsets: NDArray[np.int64],
        bits: NDArray[np.uint64],
        labels: _Ranked,
        functions: _Ranked | None,
        values: NDArray[np.float64] | None,
        preferences: NDArray[np.int64] | None,
        posteriors: NDArray[np.float64] | None,
        sizes: NDArray[np.int64] | None,
        weights: tuple[int, int],
    ) -> None: ...
    def set_frequencies(
        self,
        labels: NDArray[np.int64],
        longer_chains: list[tuple[list[int], int]],
        functions: NDArray[np.int64],
    ) -> None: ...

class Options:
    def __init__(
        self,
        *,
        goal: str,
        direction: str,
        p: int,
        q: int,
        node_limit: int,
        time_limit: float,
        labelled: bool,
        keep_chains: bool,
        ties: str,
    ) -> None: ...

def count_chains(
    word_offsets: NDArray[np.int64],
    constituent_offsets: NDArray[np.int64],
    bits: NDArray[np.uint64],
    labels: _Ranked,
) -> tuple[NDArray[np.int64], list[tuple[list[int], int]]]: ...
def average(individuals: Individuals, options: Options, threads: int) -> dict[str, NDArray[Any]]: ...
def best_trees(
    individuals: Individuals, options: Options, limit: int, only_optimal: bool
) -> dict[str, NDArray[Any]]: ...
def count_best_trees(individuals: Individuals, options: Options) -> list[tuple[int, int]]: ...
