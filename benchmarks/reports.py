"""Results as JSON, in a file that is whole after every part, and parts that may fail alone on a GPU."""

from __future__ import annotations

import gc
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch

from benchmarks.common import fail
from treemean.files.output import write_file

T = TypeVar("T")


class Report:
    """A JSON file that is written again after every part; `values` are what it has.

    Parameters
    ----------
    go_on : whether what the file has already is kept; it must be from the same device and PyTorch.
    """

    def __init__(self, folder: Path, name: str, *, go_on: bool = False) -> None:
        self._path = folder / f"{name}.json"
        folder.mkdir(parents=True, exist_ok=True)
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
        made_by = {"device": device, "torch": torch.__version__}
        self.values: dict[str, Any] = dict(made_by)
        if go_on and self._path.exists():
            self.values = json.loads(self._path.read_text())
            if any(self.values[key] != value for key, value in made_by.items()):
                sys.exit(f"{self._path} is of another device or PyTorch: choose another --out")

    def save(self, **values: Any) -> None:
        """Add some values."""
        self.values |= values
        write_json(self._path, self.values)


def write_json(path: Path, values: Any) -> None:
    """Write a file, whole or not at all."""
    write_file(path, json.dumps(values, indent=1, default=str).encode() + b"\n")


def need_gpu(otherwise: str = "") -> None:
    """End with an error where there is no GPU, which may say what else can be done."""
    if not torch.cuda.is_available():
        sys.exit(f"there is no CUDA device here{otherwise}")


def guard(name: str, function: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Run a part; if it fails, print why, take note of it, and go on with the others."""
    try:
        return function(*arguments, **options)
    except Exception:
        # Whatever a compiler, a driver or a check raises: minutes of a GPU are not given up for one part, and
        # `exit_if_failed` makes the whole fail.
        fail(name)
        traceback.print_exc()
        return None
    finally:
        gc.collect()
        torch.cuda.empty_cache()
