"""Sentences with their trees, drawn from the grammars of the sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from random import Random
from types import MappingProxyType

from treemean.errors import TreemeanError
from treemean.sample.grammar import Derivation, Grammar
from treemean.sample.languages import dutch, english, german
from treemean.trees import Constituent, Tree, Treebank

LANGUAGES: Mapping[str, Callable[[], Grammar]] = MappingProxyType({"nl": dutch, "de": german, "en": english})
"""The grammars by language code."""

_PUNCTUATION = "punct"
_SHORTEST = 3
_BATCH = 8192
_Leaf = tuple[str, str, str]  # word, tag and function
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

    >>> print(*generate(1, seed=3)[0].words)
    Die oude verhalen las de jonge man vaak .
    """
    return Treebank.concatenate(
        list(generate_batches(count, language, seed=seed, punctuation=punctuation, max_length=max_length))
    )


def generate_batches(
    count: int,
    language: str,
    *,
    seed: int,
    punctuation: bool,
    max_length: int | None = None,
) -> Iterator[Treebank]:
    """Draw the same sentences as `generate`, some thousands at a time."""
    if language not in LANGUAGES:
        raise UnknownLanguage(f"no grammar of {language!r}; there are {', '.join(LANGUAGES)}")
    if max_length is not None and max_length < _SHORTEST:
        raise TreemeanError(f"no sentence has {max_length} words or fewer; the shortest have {_SHORTEST}")
    grammar = LANGUAGES[language]()
    trees = _sentences(grammar, Random(f"{language} {seed}"), punctuation, max_length)
    for start in range(1, count + 1, _BATCH):
        numbers = range(start, min(start + _BATCH, count + 1))
        yield Treebank.from_trees(next(trees).replace(id=sentence_id(language, i)) for i in numbers)


def sentence_id(language: str, number: int) -> str:
    """Return the id of a generated sentence; numbers begin with 1."""
    return f"{language}-{number:04}"


def _sentences(grammar: Grammar, random: Random, punctuation: bool, max_length: int | None) -> Iterator[Tree]:
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
    leaves: list[_Leaf] = []
    (order,), phrases = _collect(derivation, derivation.function, leaves)
    marks = {leaf for leaf in order if leaves[leaf][1] == _PUNCTUATION}
    dropped = {a for a, b in pairwise(order) if a in marks and b in marks} if punctuation else marks
    kept = [leaf for leaf in order if leaf not in dropped]
    position = {leaf: index for index, leaf in enumerate(kept)}
    constituents = []
    for label, function, members in phrases:
        is_root = len(members) == len(leaves)
        visible = [leaf for leaf in members if leaf not in dropped and (is_root or leaf not in marks)]
        constituents.append(Constituent.over((position[leaf] for leaf in visible), label, function))
    words, tags, functions = zip(*(leaves[leaf] for leaf in kept))
    capital = words[0][0].upper() + words[0][1:]
    return Tree((capital, *words[1:]), constituents, tags=tags, word_functions=functions)


def _collect(
    node: Derivation, function: str, leaves: list[_Leaf]
) -> tuple[list[list[int]], list[tuple[str, str, list[int]]]]:
    """Add the leaves below a node; return its components, as leaves, and the phrases, upper ones first."""
    if node.rule is None:
        leaves.append((node.word, node.name, function))
        return [[len(leaves) - 1]], []
    inherited = function if node.is_hidden else ""
    below = [_collect(child, child.function or inherited, leaves) for child in node.children]
    components = [
        [leaf for child, component in argument for leaf in below[child][0][component]]
        for argument in node.rule.arguments
    ]
    phrases = [phrase for _, phrases in below for phrase in phrases]
    if not node.is_hidden:
        phrases.insert(0, (node.name, function, [leaf for component in components for leaf in component]))
    return components, phrases
