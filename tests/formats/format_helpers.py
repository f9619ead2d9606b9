"""Trees with all sorts of texts, and writing and reading without files."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import strategies as st

from strategies import trees
from treemean.errors import FormatError
from treemean.files.source import Source
from treemean.formats import Format, Problems, Unwritable
from treemean.trees import Constituent, Tree, Treebank, as_treebank

#: The same small tree in all tests of formats and in the documentation.
WAKE = Tree(
    ["Wake", "your", "friend", "up"],
    [
        Constituent.over([0, 1, 2, 3], "S"),
        Constituent.over([0, 3], "VP", "HD"),
        Constituent.over([1, 2], "NP", "OBJ"),
    ],
    tags=["VB", "PRP$", "NN", "RP"],
    word_functions=["HD", "DET", "HD", "PRT"],
    id="1",
)

#: A tree with everything that a tree can have.
FULL = Tree(
    ["Wake", "up", "“猫”"],
    [Constituent(0b111, "S", "", {"support": 1.0}), Constituent(0b101, "", "x", {"support": 0.25})],
    tags=["V", "", "N"],
    word_functions=["", "prt", ""],
    id="é 1",
    metadata={"text": 'Wake "up"\n', "": "no key"},
    values={"score": 2, "loss": -0.5},
)

#: Texts that every format can express anywhere.
PLAIN = st.text(st.characters(categories=("L", "N"), max_codepoint=0x2FFF), min_size=1, max_size=6)
#: Whatever can be a text, and pieces that mean something in one format or another.
WILD = st.one_of(
    PLAIN,
    st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
    st.lists(
        st.sampled_from(
            ["--", "_", "%%", "#500", "#BOS", "#EOS", "<", "&amp;", '"', "'", "=", "(", " ", "\t", "\n", "0"]
        ),
        min_size=1,
        max_size=3,
    ).map("".join),
)


@st.composite
def dressed_trees(
    draw: st.DrawFn, texts: st.SearchStrategy[str] = PLAIN, *, min_words: int = 1, empty_too: bool = True
) -> Tree:
    """Draw a tree whose words, tags, labels, functions and id are drawn from `texts`.

    With `empty_too`, tags, labels and functions are empty now and then.
    """
    tree = draw(trees(min_words=min_words, max_words=8))
    pool = draw(st.lists(texts, min_size=1, max_size=5))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    others = [*pool, "", "VROOT", "ROOT"] if empty_too else pool
    return tree.replace(
        words=[rng.choice(pool) for _ in tree.words],
        tags=[rng.choice(others) for _ in tree.words],
        word_functions=[rng.choice(others) for _ in tree.words],
        constituents=[Constituent(c.mask, rng.choice(others), rng.choice(others)) for c in tree.constituents],
        id=rng.choice(pool),
    )


class LongStream(io.RawIOBase):
    """A stream that is made while it is read; `consumed` counts its bytes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""
        self.consumed = 0

    def read(self, size: int = -1) -> bytes:
        while not self._rest and (piece := next(self._pieces, None)) is not None:
            self._rest = piece
        part, self._rest = self._rest[:size], self._rest[size:]
        self.consumed += len(part)
        return part


def written(format: Format, trees: Treebank | Iterable[Tree], unwritable: Unwritable | None = None) -> bytes:
    """Return trees as a file of a format."""
    stream = io.BytesIO()
    writer = format.writer(stream, unwritable or Unwritable())
    writer.write(as_treebank(trees))
    writer.close()
    return stream.getvalue()


def check_gesungen(tree: Tree) -> None:
    """Check the first sentence of what is read from NEGRA export and from TIGER XML."""
    assert tree.words == ("Schön", "hat", "sie", "gesungen", ".")
    assert tree.tags == ("ADJD", "VAFIN", "PPER", "VVPP", "$.")
    assert tree.word_functions == ("MO", "HD", "SB", "HD", "")
    assert spans(tree) == [("VROOT", [(0, 5)]), ("S", [(0, 4)]), ("VP", [(0, 1), (3, 4)])]
    assert [c.function for c in tree] == ["", "", "OC"]


def trees_in(
    format: Format, data: bytes | str, problems: Problems | None = None, encoding: str = "utf-8"
) -> list[Tree]:
    """Return the trees of a file of a format."""
    raw = data.encode(encoding) if isinstance(data, str) else data
    source = Source(io.BytesIO(raw), "test")
    return [
        tree for batch in format.read(source, problems or Problems(), encoding=encoding) for tree in batch
    ]


def broken(text: str, old: str, new: str) -> str:
    """Return a text with one place changed, which must be there."""
    assert old in text
    return text.replace(old, new, 1)


def trees_but_one(format: Format, data: bytes | str, message: str) -> list[Tree]:
    """Return the trees that are left where one thing is skipped; it is an error with a message otherwise."""
    with pytest.raises(FormatError, match=message):
        trees_in(format, data)
    problems = Problems(skip=True)
    rest = trees_in(format, data, problems)
    assert problems.count == 1
    return rest


def spans(tree: Tree) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the labels and spans of a tree, for tests that a reader can check by eye."""
    return [(c.label, c.spans) for c in tree]


def without_dashes(tree: Tree) -> Tree:
    """Return a tree with `--`, which some treebanks have for no function, as no function."""

    def change(function: str) -> str:
        return "" if function == "--" else function

    return tree.replace(
        word_functions=[change(function) for function in tree.word_functions],
        constituents=[Constituent(c.mask, c.label, change(c.function)) for c in tree],
    )


def assert_same(read: Sequence[Tree], expected: Sequence[Tree]) -> None:
    """Assert that trees are equal, their ids too."""
    assert list(read) == list(expected)
    assert [tree.id for tree in read] == [tree.id for tree in expected]
