from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from treemean.formats import read
from treemean.trees import Treebank

_read = cache(read)


@pytest.fixture(scope="session")
def lassy(data_folder: Path) -> Callable[[str, str], Treebank]:
    """A function from a part (`dev`, `test`) and a name (`gold`, `run01`) to a treebank."""
    folder = data_folder / "lassy-predictions"
    if not folder.is_dir():
        pytest.skip(f"the published predictions are absent: there is no folder {folder}")
    return lambda part, name: _read(folder / part / f"{name}.discbracket.gz")
