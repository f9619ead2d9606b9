"""What all tests share. Modules of this folder can be imported (`from strategies import trees`)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from examples import EVERY_DAY, USUAL

if TYPE_CHECKING:
    from treemean.trees import Treebank

# A program that tests start. Looking for doctests in it would import Triton before tests/kernels/conftest.py
# has asked for its interpreter, and kernels could not be run any more.
collect_ignore = ["compiled_kernels.py"]
# Neither are they sought in files that all have the same name.
collect_ignore_glob = ["*conftest.py"]

# Tests run side by side, one on each core; read when PyTorch is imported, here or in a process of its own.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Commands run in processes of their own, hundreds of them: not each should have to compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets what it starts in the background ignore Ctrl-C, tests and the commands that they start, too;
# those that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Not what Hypothesis would use where the variable CI is set: there it draws the same examples every night.
DEFAULT = settings.get_profile("default")
# The same examples every time; machines are noisy, so a slow one is no failure.
settings.register_profile("treemean", DEFAULT, deadline=None, max_examples=EVERY_DAY, derandomize=True)
# `make test-slow`: these, and more of them.
settings.register_profile("slow", settings.get_profile("treemean"), max_examples=USUAL)
# `make test-nightly`: new ones, and `examples` multiplies the numbers of tests that name their own.
settings.register_profile("nightly", DEFAULT, deadline=None, max_examples=10 * USUAL, print_blob=True)
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
