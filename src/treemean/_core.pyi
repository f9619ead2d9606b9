"""The native core; see src/core/module.cpp."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Problem = tuple[bytes, int, int, int, int]
_Chunk = tuple[dict[str, Any], int, int, list[_Problem], bool, int]

def read_brackets(text: bytes, discontinuous: bool, final: bool, skip: bool) -> _Chunk: ...
def read_alpino(text: bytes, final: bool, skip: bool) -> _Chunk: ...
def write_brackets(
    word_offsets: NDArray[np.int64],
    constituent_offsets: NDArray[np.int64],
    bits: NDArray[np.uint64],
    positions: bool,
    words: NDArray[np.int32],
    word_data: NDArray[np.uint8],
    word_texts: NDArray[np.int64],
    tags: NDArray[np.int32],
    tag_data: NDArray[np.uint8],
    tag_texts: NDArray[np.int64],
    labels: NDArray[np.int32],
    label_data: NDArray[np.uint8],
    label_texts: NDArray[np.int64],
) -> bytes: ...
def find_invalid(
    word_offsets: NDArray[np.int64], constituent_offsets: NDArray[np.int64], bits: NDArray[np.uint64]
) -> tuple[int, str] | None: ...

class Individuals:
    def __init__(
        self,
        word_offsets: NDArray[np.int64],
        constituent_offsets: Sequence[NDArray[np.int64]],
        bits: Sequence[NDArray[np.uint64]],
        labels: Sequence[NDArray[np.int32]],
        label_ranks: Sequence[NDArray[np.int32]],
        values: Sequence[NDArray[np.float64]],
        continuous: Sequence[int],
        discontinuous: Sequence[int],
        value_scale: float,
    ) -> None: ...

def average(
    individuals: Individuals,
    goal: str,
    direction: str,
    p: int,
    q: int,
    node_limit: int,
    time_limit: float,
    threads: int,
) -> dict[str, NDArray[Any]]: ...
def best_trees(
    individuals: Individuals, p: int, q: int, node_limit: int, limit: int, only_optimal: bool
) -> dict[str, NDArray[Any]]: ...
def count_best_trees(individuals: Individuals, p: int, q: int, node_limit: int) -> list[tuple[int, int]]: ...
