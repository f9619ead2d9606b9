"""Errors of too little memory, with advice on what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from treemean.errors import TreemeanError


@contextmanager
def told_if_too_little(sentences: int, words: int, advice: str) -> Iterator[None]:
    """Raise `TreemeanError` in place of PyTorch's errors about memory.

    Parameters
    ----------
    sentences, words : the size of a batch, and the length of its sentences.
    advice : what to do about it.

    >>> with told_if_too_little(20, 40, "Try less"):
    ...     raise MemoryError
    Traceback (most recent call last):
    treemean.errors.TreemeanError: there is not enough memory for 20 × 40 words at a time. Try less
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # On the CPU it is a plain RuntimeError that only its text tells from others.
        lacking = isinstance(error, MemoryError | torch.OutOfMemoryError)
        if not lacking and "allocate memory" not in str(error):
            raise
        raise TreemeanError(
            f"there is not enough memory for {sentences} × {words} words at a time. {advice}"
        ) from error
