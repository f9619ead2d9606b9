"""Named tensors in files: written whole or not at all, and checked when they are read."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from treemean.errors import FormatError, reason_of
from treemean.files.output import open_output

#: What the format calls the types of numbers.
_TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def write_tensors(tensors: Mapping[str, Tensor], path: str | os.PathLike[str]) -> str:
    """Write tensors as safetensors and return the SHA-256 of the file.

    The file appears under its name only when all of it is on the disk; equal tensors give equal bytes.
    """
    digest = hashlib.sha256()
    with open_output(path) as stream:
        for part in _parts(tensors):
            stream.write(part)
            digest.update(part)
    return digest.hexdigest()


def _parts(tensors: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file, those of tensors from where they are: copies would take most of the time.

    The file is the size of its header, the header, and all numbers, large types first for alignment.
    """
    chosen = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header, end = {}, 0
    for name, tensor in chosen:
        start, end = end, end + tensor.numel() * tensor.element_size()
        shape = list(tensor.shape)
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text))
    yield text
    for _, tensor in chosen:
        yield tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data


def read_tensors(path: str | os.PathLike[str], checksum: str) -> dict[str, Tensor]:
    """Read tensors; raise `FormatError` if the file is not exactly the one with this SHA-256."""
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error
    if hashlib.sha256(data).hexdigest() != checksum:
        raise FormatError(
            "the file is damaged or incomplete: its checksum is not the one that was recorded with it",
            path=name,
        )
    try:
        return load(data)
    except SafetensorError as error:
        raise FormatError(f"not a safetensors file: {error}", path=name) from error
