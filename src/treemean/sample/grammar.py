"""Linear context-free rewriting systems: grammars whose constituents may have gaps.

A nonterminal derives not one string but a tuple of strings, its *components*; their number is its *fan-out*.
A rule says how the components of the parent are put together from those of its children:

    VP(x, y z) -> NP(x) verb(y) PP(z)

makes a VP of fan-out 2, whose first component is a noun phrase and whose second one is a verb with a
prepositional phrase. Whoever uses this VP decides what stands between the two. Every variable is used exactly
once: never twice (*linear*) and never not at all (*non-erasing*); no component is empty.

A symbol is a name with features after slashes, as in `noun/de/hum`. Features serve agreement and selection
only; the tree shows the name. A symbol that begins with an underscore is *hidden*: it has no node in the
tree, its children belong to the node above, and those of them that have no function of their own take over
its function.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from random import Random

from treemean.errors import TreemeanError

Yield = tuple[tuple[tuple[int, int], ...], ...]
"""For each component of the parent the (child, component of that child) pairs that make it."""


class GrammarError(TreemeanError, ValueError):
    """A grammar that is not a proper probabilistic linear context-free rewriting system."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewriting rule.

    Parameters
    ----------
    parent : the symbol that is rewritten.
    children : the symbols it is rewritten to.
    arguments : how the parent's components are made, see `Yield`.
    functions : the children's grammatical functions, empty where there is none.
    weight : its probability is its share in the weights of all rules of this parent.
    """

    parent: str
    children: tuple[str, ...]
    arguments: Yield
    functions: tuple[str, ...]
    weight: float = 1.0

    @property
    def fan_out(self) -> int:
        """The number of components of the parent."""
        return len(self.arguments)

    def __str__(self) -> str:
        names = {pair: f"x{i + 1}" for i, pair in enumerate(sorted(p for a in self.arguments for p in a))}
        left = ", ".join(" ".join(names[pair] for pair in argument) for argument in self.arguments)
        right = []
        for index, (child, function) in enumerate(zip(self.children, self.functions)):
            variables = ", ".join(names[pair] for pair in sorted(names) if pair[0] == index)
            right.append(f"{child}{':' if function else ''}{function}({variables})")
        return f"{self.parent}({left}) -> {' '.join(right)}"


@dataclass(frozen=True, slots=True)
class Derivation:
    """A symbol rewritten down to words: either `word` is given, or `rule` with one derivation per child."""

    symbol: str
    function: str = ""
    word: str = ""
    rule: Rule | None = None
    children: tuple[Derivation, ...] = ()

    @property
    def name(self) -> str:
        """The symbol without its features: a label or, above a word, a part-of-speech tag."""
        return self.symbol.partition("/")[0]

    @property
    def is_hidden(self) -> bool:
        """Whether the symbol has no node in the tree."""
        return self.symbol.startswith("_")


class Grammar:
    """A probabilistic linear context-free rewriting system.

    Parameters
    ----------
    rules : the rules; see `treemean.sample.notation` for a way to write them.
    lexicon : for every symbol directly above words its words, all equally probable.
    start : the symbol of whole sentences, of fan-out 1.

    Raises `GrammarError` if a rule is not linear or erases something, if fan-outs do not agree, if a weight
    is not a positive number, if a symbol cannot be rewritten or never be reached, or if the expected length
    of a sentence is infinite.

    >>> rule = Rule("S", ("A",), (((0, 0), (0, 1)),), ("",))
    >>> pair = Rule("A", ("a", "b"), (((0, 0),), ((1, 0),)), ("", ""))
    >>> grammar = Grammar([rule, pair], {"a": ["links"], "b": ["rechts"]})
    >>> str(pair), grammar.fan_outs["A"], grammar.expected_length
    ('A(x1, x2) -> a(x1) b(x2)', 2, 2.0)
    """

    def __init__(self, rules: Iterable[Rule], lexicon: Mapping[str, Sequence[str]], start: str = "S") -> None:
        self.rules = tuple(rules)
        self.lexicon = {symbol: tuple(words) for symbol, words in lexicon.items()}
        self.start = start
        self._by_parent: dict[str, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            _check_alone(rule)
            self._by_parent[rule.parent].append(rule)
        self.fan_outs = self._check_together()
        self._cumulative = {
            parent: list(accumulate(rule.weight for rule in rules))
            for parent, rules in self._by_parent.items()
        }
        self.expected_length = self._expected_length()

    def _check_together(self) -> dict[str, int]:
        """Check what concerns several rules; return the fan-out of every symbol."""
        fan_outs = dict.fromkeys(self.lexicon, 1)
        for symbol, words in self.lexicon.items():
            if not words or not all(words):
                raise GrammarError(f"{symbol} has no words, or an empty one")
            if symbol in self._by_parent:
                raise GrammarError(f"{symbol} has both words and rules")
        for rule in self.rules:
            if fan_outs.setdefault(rule.parent, rule.fan_out) != rule.fan_out:
                raise GrammarError(f"{rule}: {rule.parent} has fan-out {fan_outs[rule.parent]} elsewhere")
        for rule in self.rules:
            used = [
                sum(child == i for a in rule.arguments for child, _ in a) for i in range(len(rule.children))
            ]
            for child, count in zip(rule.children, used):
                if child not in fan_outs:
                    raise GrammarError(f"{rule}: nothing rewrites {child}")
                if fan_outs[child] != count:
                    raise GrammarError(f"{rule}: {child} has fan-out {fan_outs[child]}, but {count} are used")
        if fan_outs.get(self.start) != 1:
            raise GrammarError(f"the start symbol {self.start} must have rules and fan-out 1")
        lost = fan_outs.keys() - self.reachable()
        if lost:
            raise GrammarError(f"no sentence uses {', '.join(sorted(lost))}")
        return fan_outs

    def reachable(self) -> set[str]:
        """Return the symbols that derivations of the start symbol can use."""
        found, agenda = {self.start}, [self.start]
        while agenda:
            for rule in self._by_parent.get(agenda.pop(), ()):
                for child in rule.children:
                    if child not in found:
                        found.add(child)
                        agenda.append(child)
        return found

    def probability(self, rule: Rule) -> float:
        """Return the probability of a rule given its parent."""
        return rule.weight / self._cumulative[rule.parent][-1]

    def _expected_length(self) -> float:
        """Return the expected number of words of a sentence.

        The expectations satisfy linear equations, whose least solution is the limit of this iteration; for a
        grammar that does not terminate with certainty in finite expected time, it grows without end.
        """
        words = {symbol: float(symbol in self.lexicon) for symbol in self.fan_outs}
        weighted = [(rule.parent, self.probability(rule), rule.children) for rule in self.rules]
        for _ in range(1000):
            new = {symbol: float(symbol in self.lexicon) for symbol in self.fan_outs}
            for parent, probability, children in weighted:
                new[parent] += probability * sum(words[child] for child in children)
            if max(abs(new[symbol] - words[symbol]) for symbol in new) < 1e-6:
                if not all(new.values()):
                    raise GrammarError(f"never ends: {', '.join(sorted(s for s in new if not new[s]))}")
                return new[self.start]
            words = new
        raise GrammarError("the expected length of sentences is infinite: give recursive rules less weight")

    def derive(self, random: Random) -> Derivation:
        """Draw a derivation of the start symbol.

        Only `random.random()` is called, whose results are the same in all versions of Python.
        """
        return self._derive(self.start, "", random)

    def _derive(self, symbol: str, function: str, random: Random) -> Derivation:
        words = self.lexicon.get(symbol)
        if words is not None:
            return Derivation(symbol, function, word=words[int(random.random() * len(words))])
        cumulative = self._cumulative[symbol]
        choice = bisect_right(cumulative, random.random() * cumulative[-1])
        rule = self._by_parent[symbol][min(choice, len(cumulative) - 1)]
        children = tuple(
            self._derive(child, child_function, random)
            for child, child_function in zip(rule.children, rule.functions)
        )
        return Derivation(symbol, function, rule=rule, children=children)

    def derivations(self, random: Random) -> Iterator[Derivation]:
        """Draw derivations without end."""
        while True:
            yield self.derive(random)


def _check_alone(rule: Rule) -> None:
    """Check what one rule can get wrong by itself."""
    if not (rule.weight > 0 and isfinite(rule.weight)):
        raise GrammarError(f"{rule}: weight {rule.weight} is not a positive number")
    if len(rule.functions) != len(rule.children) or not rule.children:
        raise GrammarError(
            f"{rule.parent}: {len(rule.functions)} functions for {len(rule.children)} children"
        )
    if not rule.arguments or not all(rule.arguments):
        raise GrammarError(f"{rule}: a component is empty")
    pairs = [pair for argument in rule.arguments for pair in argument]
    if len(set(pairs)) != len(pairs):
        raise GrammarError(f"{rule}: not linear, a variable is used twice")
    for index, child in enumerate(rule.children):
        components = sorted(component for i, component in pairs if i == index)
        if not components or components != list(range(len(components))):
            raise GrammarError(f"{rule}: erases a component of {child}")
    if any(not 0 <= index < len(rule.children) for index, _ in pairs):
        raise GrammarError(f"{rule.parent}: an argument names a child that does not exist")
