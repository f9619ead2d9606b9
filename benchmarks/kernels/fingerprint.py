"""What kernels and their results are known by: of which code a result is, and whether bits are the same."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import torch
import triton
from torch import Tensor

import treemean.grammars

#: An odd number, by which places are told from each other.
_FACTOR = 0x9E3779B97F4A7C1
#: The folders of kernels and of what launches them.
_FOLDERS = {"triton", "gpu"}


def fingerprint(folder: Path = Path(treemean.grammars.__file__).parent) -> str:
    """Return the SHA-256 of the code of all kernels and of the version of Triton.

    Comments, docstrings and the layout of the code do not count.
    """
    digest = hashlib.sha256(triton.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if not _FOLDERS & set(place.parts):
            continue
        digest.update(place.as_posix().encode())
        digest.update(_without_docstrings(ast.parse(path.read_text(encoding="utf-8"))).encode())
    return digest.hexdigest()


def _without_docstrings(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # Docstrings, and those of values: strings that stand alone.
            node.body = [x for x in body if not (isinstance(x, ast.Expr) and _is_text(x.value))]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def bits(tensor: Tensor) -> Tensor:
    """Return the same memory as whole numbers, so that NaN equals itself and 0 is not -0."""
    sizes = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(sizes[tensor.element_size()])


def bits_in_short(tensor: Tensor) -> str:
    """Return a number that is another one if any bit of a tensor is another one, but by a rare chance.

    It is a sum of whole numbers, which does not depend on its order.

    >>> bits_in_short(torch.tensor([1.0, 2.0])) == bits_in_short(torch.tensor([2.0, 1.0]))
    False
    """
    numbers = bits(tensor.contiguous()).flatten().long()
    places = torch.arange(1, len(numbers) + 1, device=numbers.device)
    return f"{int((numbers * (places * _FACTOR | 1)).sum()) & (2**64 - 1):016x}"
