"""The sample treebank, as much of it as models are fitted to in a second."""

from __future__ import annotations

import pytest

from treemean import sample
from treemean.trees import Treebank


@pytest.fixture(scope="session")
def runs() -> list[Treebank]:
    return [run[:120] for run in sample.runs()]


@pytest.fixture(scope="session")
def gold() -> Treebank:
    return sample.gold()[:120]
