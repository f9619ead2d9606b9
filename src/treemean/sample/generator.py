"""Sentences with their trees, drawn from the grammars of the sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count as count_from
from random import Random
from types import MappingProxyType

from treemean.errors import TreemeanError
from treemean.sample import dutch, english, german
from treemean.sample.grammar import Derivation, Grammar
from treemean.trees import Constituent, Tree, Treebank

LANGUAGES: Mapping[str, Callable[[], Grammar]] = MappingProxyType(
    {"nl": dutch.grammar, "de": german.grammar, "en": english.grammar}
)
"""The grammars by language code."""

_PUNCTUATION = "punct"
_SHORTEST = 3
_SAID_ONCE = frozenset({"noun", "name", "verb", "adj", "adv"})
"""Words with these tags do not occur twice in a sentence: `de man ziet de man` is grammatical, but silly."""


class UnknownLanguage(TreemeanError, ValueError):
    """A language that has no grammar in the sample."""


def generate(
    count: int,
    *,
    language: str = "nl",
    seed: int = 0,
    punctuation: bool = True,
    max_length: int | None = None,
) -> Treebank:
    """Draw sentences with their trees.

    Parameters
    ----------
    count : how many sentences.
    language : `nl`, `de` or `en`.
    seed : the same seed gives the same sentences, on all machines; a larger `count` continues them.
    punctuation : whether to keep the punctuation, which is attached to the root; the sentences are the same.
    max_length : draw again sentences with more words (without punctuation) than this.

    Returns
    -------
    A treebank with labels, tags and functions; the ids are `nl-0001`, `nl-0002`, …

    >>> print(*generate(2, punctuation=False)[1].words)
    Dat boek las zij soms
    """
    if language not in LANGUAGES:
        raise UnknownLanguage(f"no grammar of {language!r}; there are {', '.join(LANGUAGES)}")
    grammar = LANGUAGES[language]()
    trees = _sentences(grammar, Random(f"{language} {seed}"), punctuation, max_length)
    return Treebank.from_trees(next(trees).replace(id=sentence_id(language, i)) for i in range(1, count + 1))


def sentence_id(language: str, number: int) -> str:
    """Return the id of a generated sentence; numbers begin with 1."""
    return f"{language}-{number:04}"


def _sentences(
    grammar: Grammar, random: Random, punctuation: bool, max_length: int | None
) -> Iterator[Tree]:
    for derivation in grammar.derivations(random):
        tree = tree_of(derivation, punctuation=punctuation)
        said = [(tag, word.lower()) for tag, word in zip(tree.tags, tree.words)]
        once = [pair for pair in said if pair[0] in _SAID_ONCE]
        length = sum(tag != _PUNCTUATION for tag in tree.tags)
        long = max_length is not None and length > max_length
        if length >= _SHORTEST and not long and len(set(once)) == len(once):
            yield tree


def tree_of(derivation: Derivation, *, punctuation: bool = True) -> Tree:
    """Return the tree of a derivation, with a capital letter at its beginning.

    Punctuation is attached to the root, so that it makes gaps in constituents around it; or left out.
    A comma before another punctuation mark is always left out.
    """
    number = count_from()
    leaves: list[tuple[str, str, str]] = []
    phrases: list[tuple[str, str, list[int]]] = []

    def walk(node: Derivation, function: str) -> tuple[list[int], ...]:
        """Collect leaves and phrases; return the leaves of each component."""
        if node.rule is None:
            leaves.append((node.word, node.name, function))
            return ([next(number)],)
        if not node.is_hidden:
            members: list[int] = []
            phrases.append((node.name, function, members))
        inherited = function if node.is_hidden else ""
        parts = [walk(child, child.function or inherited) for child in node.children]
        components = tuple(
            [leaf for child, component in argument for leaf in parts[child][component]]
            for argument in node.rule.arguments
        )
        if not node.is_hidden:
            members.extend(leaf for component in components for leaf in component)
        return components

    (order,) = walk(derivation, derivation.function)
    marks = {leaf for leaf in order if leaves[leaf][1] == _PUNCTUATION}
    dropped = marks if not punctuation else {a for a, b in zip(order, order[1:]) if a in marks and b in marks}
    kept = [leaf for leaf in order if leaf not in dropped]
    position = {leaf: index for index, leaf in enumerate(kept)}
    words, tags, functions = zip(*(leaves[leaf] for leaf in kept))
    constituents = [
        Constituent.over(
            (
                position[leaf]
                for leaf in members
                if leaf in position and (leaf not in marks or len(members) == len(leaves))
            ),
            label,
            function,
        )
        for label, function, members in phrases
    ]
    return Tree((words[0][0].upper() + words[0][1:], *words[1:]), constituents, tags=tags, word_functions=functions)
