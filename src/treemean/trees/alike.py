"""Trees and treebanks alike: what is written for one of them takes the other, and lists of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, overload

from treemean.errors import InvalidTree, WrongType
from treemean.trees.tree import Tree
from treemean.trees.treebank import Treebank

Options = ParamSpec("Options")


class Transform(Protocol[Options]):
    """A transform: a tree gives a tree, a treebank or a list of trees gives a treebank."""

    __name__: str

    @overload
    def __call__(self, trees: Tree, /, *args: Options.args, **options: Options.kwargs) -> Tree: ...
    @overload
    def __call__(
        self, trees: Treebank | Iterable[Tree], /, *args: Options.args, **options: Options.kwargs
    ) -> Treebank: ...


def as_treebank(trees: Tree | Treebank | Iterable[Tree]) -> Treebank:
    """Return trees as a treebank: a single tree as one of one sentence, a treebank as it is.

    >>> len(as_treebank(Tree(["a"], [({0}, "S")])))
    1
    """
    if isinstance(trees, Treebank):
        return trees
    listed = [trees] if isinstance(trees, Tree) else trees
    if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
        raise WrongType(f"a tree, a treebank or a list of trees is needed, not a {type(trees).__name__}")
    found = list(listed)
    for tree in found:
        if not isinstance(tree, Tree):
            raise WrongType(f"a list of trees is needed, not one with a {type(tree).__name__}")
    return Treebank.from_trees(found)


def of_treebanks(change: Callable[Concatenate[Treebank, Options], Treebank]) -> Transform[Options]:
    """Let a transform of treebanks take a single tree as well; if no word is left, that is `InvalidTree`."""

    @wraps(change)
    def changed(
        trees: Tree | Treebank | Iterable[Tree], /, *args: Options.args, **options: Options.kwargs
    ) -> Tree | Treebank:
        result = change(as_treebank(trees), *args, **options)
        if not isinstance(trees, Tree):
            return result
        if not len(result):
            raise InvalidTree(f"{change.__name__} leaves no word of this tree")
        return result[0]

    return changed  # type: ignore[return-value]  # overloads are not inferred


def of_trees(change: Callable[Concatenate[Tree, Options], Tree]) -> Transform[Options]:
    """Let a transform of single trees take a treebank as well."""

    @wraps(change)
    def changed(
        trees: Tree | Treebank | Iterable[Tree], /, *args: Options.args, **options: Options.kwargs
    ) -> Tree | Treebank:
        if isinstance(trees, Tree):
            return change(trees, *args, **options)
        return Treebank.from_trees(change(tree, *args, **options) for tree in as_treebank(trees))

    return changed  # type: ignore[return-value]  # overloads are not inferred
