from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from treemean.trees import Constituent, Tree, Treebank

_TOKEN = re.compile(r"\((\S+)|\)|(\d+)=(\S+?)(?=\))")


def data_folder() -> Path:
    """Return the folder of the development data, which is not part of the project."""
    default = Path(__file__).parents[2] / ".." / "shared" / "data"
    return Path(os.environ.get("TREEMEAN_DATA", default))


def parse_discbracket(line: str) -> Tree:
    """Read a tree such as `(S (X 0=a) (NP (X 1=b) (X 2=c)))`; nodes over one leaf alone are tags."""
    words: dict[int, str] = {}
    tags: dict[int, str] = {}
    found: list[tuple[int, str]] = []  # upper ones before lower ones, as Tree wants equal sets
    open_nodes: list[list[int]] = []  # place in `found`, mask, position of a leaf directly below or -1
    for match in _TOKEN.finditer(line):
        label, position, word = match.groups()
        if label is not None:
            open_nodes.append([len(found), 0, -1])
            found.append((0, label))
        elif word is not None:
            words[int(position)] = word
            open_nodes[-1][1:] = [1 << int(position), int(position)]
        else:
            place, mask, leaf = open_nodes.pop()
            if leaf >= 0:
                tags[leaf] = found[place][1]
                mask_in_list = 0
            else:
                mask_in_list = mask
            found[place] = (mask_in_list, found[place][1])
            if open_nodes:
                open_nodes[-1][1] |= mask
    return Tree(
        [words[i] for i in range(len(words))],
        [Constituent(mask, label) for mask, label in found if mask],
        tags=[tags[i] for i in range(len(words))],
    )


@cache
def _read(path: Path) -> Treebank:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return Treebank.from_trees(parse_discbracket(line) for line in lines if line.strip())


@pytest.fixture(scope="session")
def lassy() -> Callable[[str, str], Treebank]:
    """A function from a part (`dev`, `test`) and a name (`gold`, `run01`) to a treebank."""
    folder = data_folder() / "lassy-predictions"
    if not folder.is_dir():
        pytest.skip(f"the data folder {folder} is absent (set TREEMEAN_DATA to the folder that has it)")
    return lambda part, name: _read(folder / part / f"{name}.discbracket.gz")
