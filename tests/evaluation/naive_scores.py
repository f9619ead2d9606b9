"""The protocols, one tree and one constituent at a time, written from their table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from treemean.trees import Constituent, Tree, Treebank

DELETED_WORDS = {".", ",", ":", ";", "'", "`", '"', "``", "''", "-", "(", ")", "/", "&", "$", "!", "!!!", "?"}
DELETED_WORDS |= {"??", "???", "..", "...", "«", "»", "-LRB-"}


@dataclass
class Triple:
    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def as_tuple(self) -> tuple[int, int, int]:
        return self.matched, self.predicted, self.gold


@dataclass
class NaiveSentence:
    continuous: Triple = field(default_factory=Triple)
    discontinuous: Triple = field(default_factory=Triple)
    exact: bool = False
    labels: Counter[str] = field(default_factory=Counter)
    found_labels: Counter[str] = field(default_factory=Counter)

    @property
    def overall(self) -> Triple:
        a, b = self.continuous, self.discontinuous
        return Triple(a.matched + b.matched, a.predicted + b.predicted, a.gold + b.gold)


def is_punctuation(gold: Treebank, protocol: str) -> list[list[bool]]:
    """Decide for every word of every gold sentence: by tag if there are such tags or a list, else by word."""
    trees = list(gold)
    by_tag = protocol == "discodop" or any("punct" in tree.tags for tree in trees)
    decisions = []
    for tree in trees:
        decision = [
            tag == "punct" if by_tag else (word == "-LRB-" or not any(c.isalnum() for c in word))
            for word, tag in zip(tree.words, tree.tags)
        ]
        if protocol == "discodop":
            decision = [d or word in DELETED_WORDS for d, word in zip(decision, tree.words)]
        decisions.append(decision)
    return decisions


def without(tree: Tree, removed: list[bool]) -> tuple[int, list[Constituent]]:
    """Return the number of words and the constituents that are left, renumbered."""
    left = [p for p in range(len(tree)) if not removed[p]]
    constituents = []
    for c in tree.constituents:
        positions = [left.index(p) for p in c.positions if p in left]
        if positions:
            constituents.append(Constituent.over(positions, c.label))
    return len(left), constituents


def naive_sentence(predicted: Tree, gold: Tree, removed: list[bool], protocol: str) -> NaiveSentence:
    n, guesses = without(predicted, removed)
    _, truths = without(gold, removed)
    if protocol in ("paper", "sentence"):
        guesses = [c for c in guesses if 1 < len(c) < n]
        truths = [c for c in truths if 1 < len(c) < n]
    else:
        guesses = [c for c in guesses if c.label not in ("TOP", "ROOT", "VROOT")]
        truths = [c for c in truths if c.label not in ("TOP", "ROOT", "VROOT")]
    if protocol == "paper":
        truths = [c for c in truths if c.fan_out <= 2]
    result = NaiveSentence()
    for continuous, triple in ((True, result.continuous), (False, result.discontinuous)):
        ours = [c.mask for c in guesses if c.is_continuous == continuous]
        theirs = [c.mask for c in truths if c.is_continuous == continuous]
        if protocol == "discodop":
            triple.matched = (Counter(ours) & Counter(theirs)).total()
            triple.predicted, triple.gold = len(ours), len(theirs)
        elif protocol == "sentence":
            triple.matched = len(set(ours) & set(theirs))
            triple.predicted, triple.gold = len(set(ours)), len(set(theirs))
        else:
            triple.matched = len(set(ours) & set(theirs))
            triple.predicted = len(set(ours))
            triple.gold = triple.matched + len([mask for mask in theirs if mask not in ours])
    everything = result.overall
    result.exact = everything.matched == everything.predicted == everything.gold
    for c in truths:
        for kind in ("all", *(() if c.is_continuous else ("discontinuous",))):
            result.labels[f"{kind}:{c.label}"] += 1
            result.found_labels[f"{kind}:{c.label}"] += c.mask in [g.mask for g in guesses]
    return result


def harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def sentence_scores(triple: Triple) -> tuple[float, float, float]:
    """Precision, recall and F1 of one sentence, as fractions of 1."""
    if triple.gold == 0:
        recall = 1.0
        precision = 1.0 if triple.predicted == 0 else 0.0
    else:
        recall = triple.matched / triple.gold
        precision = triple.matched / triple.predicted if triple.predicted else 0.0
    return precision, recall, harmonic_mean(precision, recall)
