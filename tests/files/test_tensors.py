"""Files of tensors: what the library of the format reads and writes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from treemean.errors import FormatError
from treemean.files.tensors import read_tensors, write_tensors

torch.set_num_threads(1)
TYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
    *(torch.int64, torch.int32, torch.uint8, torch.bool),
]


@st.composite
def named_tensors(draw: st.DrawFn) -> dict[str, torch.Tensor]:
    names = draw(st.lists(st.text("abé.\"\\ 'x0", min_size=1, max_size=6), max_size=5, unique=True))
    tensors = {}
    for name in names:
        shape = draw(st.lists(st.integers(0, 3), max_size=3))
        numbers = torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(draw(st.integers(0, 9))))
        tensors[name] = numbers.to(draw(st.sampled_from(TYPES)))
        if len(shape) == 2 and draw(st.booleans()):
            tensors[name] = tensors[name].T
    return tensors


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(named_tensors())
def test_the_file_is_that_of_the_library(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> None:
    path = tmp_path / "tensors"
    checksum = write_tensors(tensors, path)
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == checksum
    theirs = load(save({name: tensor.contiguous() for name, tensor in tensors.items()}))
    for found in (load(data), read_tensors(path, checksum)):
        assert found.keys() == theirs.keys()
        for name, tensor in theirs.items():
            assert found[name].dtype == tensor.dtype
            assert torch.equal(found[name], tensor)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tensors"
    checksum = write_tensors({"a": torch.ones(3)}, path)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(FormatError, match="damaged"):
        read_tensors(path, checksum)
