"""What all tests share. Modules of this folder can be imported (`from strategies import trees`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from treemean.trees import Treebank

# Machines are noisy: a slow example is no failure.
settings.register_profile("treemean", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("treemean")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real data; tests that need it say so when it is absent."""
    folder = Path(os.environ.get("TREEMEAN_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the real data is absent: there is no folder {folder} (set TREEMEAN_DATA)")
    return folder


@pytest.fixture(scope="session")
def lassy(data_folder: Path) -> Callable[[str, str], Treebank]:
    """A function from a part (`dev`, `test`) and a name (`gold`, `run01`) to a treebank, read once."""
    from treemean.formats import read

    folder = data_folder / "lassy-predictions"
    if not folder.is_dir():
        pytest.skip(f"the published predictions are absent: there is no folder {folder}")
    return cache(lambda part, name: read(folder / part / f"{name}.discbracket.gz"))
