"""Named tensors in files: written whole or not at all, and checked when they are read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from treemean.errors import FormatError


def write_tensors(tensors: Mapping[str, Tensor], path: str | os.PathLike[str]) -> str:
    """Write tensors as safetensors and return the SHA-256 of the file.

    The file appears under its name only when all of it is on the disk; equal tensors give equal bytes.
    """
    from treemean.formats.source import open_output

    data = save({name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())})
    with open_output(path) as stream:
        stream.write(data)
    return hashlib.sha256(data).hexdigest()


def read_tensors(path: str | os.PathLike[str], checksum: str) -> dict[str, Tensor]:
    """Read tensors; raise `FormatError` if the file is not exactly the one with this SHA-256."""
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(error.strerror or str(error), path=name) from error
    if hashlib.sha256(data).hexdigest() != checksum:
        raise FormatError(
            "the file is damaged or incomplete: its checksum is not the one that was recorded with it",
            path=name,
        )
    try:
        return load(data)
    except SafetensorError as error:
        raise FormatError(f"not a safetensors file: {error}", path=name) from error
