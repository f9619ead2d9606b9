"""The native core; see src/core/module.cpp."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Problem = tuple[bytes, int, int, int, int]
_Chunk = tuple[dict[str, Any], int, int, list[_Problem], bool]

def read_brackets(text: bytes, discontinuous: bool, final: bool, skip: bool) -> _Chunk: ...
def read_alpino(text: bytes, final: bool, skip: bool) -> _Chunk: ...
def find_invalid(
    word_offsets: NDArray[np.int64], constituent_offsets: NDArray[np.int64], bits: NDArray[np.uint64]
) -> tuple[int, str] | None: ...
