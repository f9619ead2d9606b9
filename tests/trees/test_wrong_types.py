"""Arguments of wrong types are named as such, where they are passed."""

from __future__ import annotations

import os

import numpy as np
import pytest

import treemean
from treemean import Tree, Treebank, transforms
from treemean.errors import InvalidOption, TreemeanError, WrongType

TREE = Tree(["a", "b"], [({0, 1}, "S")])
BANK = Treebank.from_trees([TREE])
COMPLEX = [np.array([1j])] * 2

WRONG = {
    "sentences are taken by a list of whole numbers": [
        lambda: BANK.take([0.5]),
        lambda: BANK.take(["a"]),
        lambda: BANK.take([1j]),
        lambda: BANK.take([None]),
        lambda: BANK.take(0),
    ],
    "sentences are named by": [
        lambda: BANK[0.5],
        lambda: BANK[[0.5]],
        lambda: BANK[None],
        lambda: BANK[[[0]]],
    ],
    "a treebank is made from a list of trees, not from a Tree: put it in a list": [
        lambda: Treebank.from_trees(TREE),
        lambda: transforms.branching(Treebank.from_trees(TREE), "left"),
    ],
    "a tree, a treebank or a list of trees is needed, not a int": [
        lambda: treemean.write(5, os.devnull, format="ptb"),
        lambda: treemean.evaluate(5, BANK),
        lambda: treemean.evaluate(BANK, 5),
        lambda: treemean.statistics(5),
    ],
    "a list of trees is needed, not one with a int": [lambda: treemean.evaluate(BANK, [5])],
    "tree 2 of the list is a int, not a Tree": [lambda: Treebank.from_trees([TREE, 1])],
    "item 1 of what is put together must be a Treebank, not a Tree": [lambda: Treebank.concatenate([TREE])],
    "path must be a str or a PathLike, not": [
        lambda: treemean.read(5),
        lambda: treemean.read(None),
        lambda: treemean.read(["a.ptb"]),
        lambda: treemean.write(BANK, 5),
    ],
    "encoding must be a str, not a int": [lambda: treemean.read("a.ptb", encoding=5)],
    "problems must be a Problems or a NoneType, not a int": [lambda: treemean.read("a.ptb", problems=5)],
    "the hits of individual 1 are complex numbers": [
        lambda: treemean.average([BANK, BANK], hits=COMPLEX),
        lambda: treemean.average([BANK, BANK], hits=COMPLEX, labelled=True),
    ],
    "the first evaluation must be a Evaluation": [lambda: treemean.compare(BANK, BANK)],
    "runs must be a list of treebanks, not a": [lambda: treemean.agree(5), lambda: treemean.agree(BANK)],
    "the tree of draw must be a Tree, not a Treebank": [lambda: treemean.draw(BANK)],
    "gold must be a Tree or a TreeComparison or a NoneType, not a int": [lambda: treemean.draw(TREE, gold=5)],
    "words must be a Iterable, not None": [lambda: Tree(None, [])],
    "number 2 of the words is 5, which is no text": [lambda: Tree(["a", 5], [({0, 1}, "S")])],
    "number 1 of the tags is b'x', which is no text": [lambda: Tree(["a"], [({0}, "S")], tags=[b"x"])],
    "number 1 of the labels is 5": [lambda: Tree(["a"], [({0}, 5)])],
    "is no constituent: give positions and a label": [
        lambda: Tree(["a"], [1]),
        lambda: Tree(["a"], [({0.0}, "S")]),
        lambda: Tree(["a"], [({"x"}, "S")]),
    ],
    "id must be a str, not a int": [lambda: Tree(["a"], [({0}, "S")], id=5)],
    "of the metadata is 2": [lambda: Tree(["a"], [({0}, "S")], metadata={"x": 2})],
    "the value 'x' is 1j, which is no number": [lambda: Tree(["a"], [({0}, "S")], values={"x": 1j})],
    "minimum must be a Integral, not a str": [lambda: transforms.filter_by_length(BANK, "a")],
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_types(message):
    for call in WRONG[message]:
        with pytest.raises(WrongType) as error:
            call()
        assert message in str(error.value)
        assert isinstance(error.value, TypeError)
        assert isinstance(error.value, InvalidOption)


def test_numbers_beyond_the_treebank_and_complex_weights():
    for number in (1, -2):
        with pytest.raises(IndexError, match=f"sentence {number} of a treebank of 1"):
            BANK.take([number])
    assert len(BANK.take([])) == 0
    assert len(BANK.take([-1, 0])) == 2
    for weights in ([1j, 1], [np.complex128(1 + 2j), 1]):
        with pytest.raises(TreemeanError, match=r"weight 1 is .*; it must be a number"):
            treemean.average([BANK, BANK], weights=weights)


@pytest.mark.parametrize("name", transforms.__all__)
def test_every_transform_names_a_wrong_type(name):
    with pytest.raises(WrongType, match="a tree, a treebank or a list of trees is needed, not a int"):
        getattr(transforms, name)(5)
