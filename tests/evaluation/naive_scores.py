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
    predicted_labels: Counter[str] = field(default_factory=Counter)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    right_tags: int = 0
    words: int = 0

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


def counted(constituents: list[Constituent], n: int, protocol: str) -> list[Constituent]:
    """Return the constituents that a protocol counts on either side, in canonical order."""
    if protocol in ("standard", "paper"):
        return [c for c in constituents if 1 < len(c) < n]
    if protocol == "sentence":
        [top, *others] = sorted(constituents, key=len, reverse=True)
        assert len(top) == n
        return [c for c in others if len(c) > 1]
    return [c for c in constituents if c.label not in ("TOP", "ROOT", "VROOT")]


def naive_sentence(
    predicted: Tree, gold: Tree, removed: list[bool], protocol: str, labelled: bool = False
) -> NaiveSentence:
    n, guesses = without(predicted, removed)
    _, truths = without(gold, removed)
    guesses, truths = counted(guesses, n, protocol), counted(truths, n, protocol)
    if protocol == "paper":
        truths = [c for c in truths if c.fan_out <= 2]
    result = NaiveSentence()
    for continuous, triple in ((True, result.continuous), (False, result.discontinuous)):
        ours = [c for c in guesses if c.is_continuous == continuous]
        theirs = [c for c in truths if c.is_continuous == continuous]
        triple.matched, triple.predicted, triple.gold = (
            labelled_triple(ours, theirs)
            if labelled
            else unlabelled_triple([c.mask for c in ours], [c.mask for c in theirs], protocol)
        )
    everything = result.overall
    result.exact = everything.matched == everything.predicted == everything.gold
    if labelled:
        count_labels(guesses, truths, result)
    else:
        for c in truths:
            for kind in kinds(c):
                result.labels[f"{kind}:{c.label}"] += 1
                result.found_labels[f"{kind}:{c.label}"] += c.mask in [g.mask for g in guesses]
    for guess, truth, gone in zip(predicted.tags, gold.tags, removed, strict=True):
        result.words += not gone
        result.right_tags += not gone and guess == truth
    return result


def labelled_triple(ours: list[Constituent], theirs: list[Constituent]) -> tuple[int, int, int]:
    """Tick off gold constituents one by one: the same words and the same label."""
    open_ones = [(c.mask, c.label) for c in theirs]
    matched = 0
    for c in ours:
        if (c.mask, c.label) in open_ones:
            open_ones.remove((c.mask, c.label))
            matched += 1
    return matched, len(ours), len(theirs)


def unlabelled_triple(ours: list[int], theirs: list[int], protocol: str) -> tuple[int, int, int]:
    if protocol == "discodop":
        return (Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs)
    matched = len(set(ours) & set(theirs))
    if protocol in ("standard", "sentence"):
        return matched, len(set(ours)), len(set(theirs))
    return matched, len(set(ours)), matched + len([mask for mask in theirs if mask not in ours])


def kinds(c: Constituent) -> list[str]:
    return ["all"] if c.is_continuous else ["all", "discontinuous"]


def count_labels(guesses: list[Constituent], truths: list[Constituent], result: NaiveSentence) -> None:
    """Count gold, predicted and matched constituents by label, and what was taken for what."""
    for mask in {c.mask for c in guesses} | {c.mask for c in truths}:
        ours = [c for c in guesses if c.mask == mask]
        theirs = [c for c in truths if c.mask == mask]
        for c in theirs:
            result.labels.update(f"{kind}:{c.label}" for kind in kinds(c))
        for c in ours:
            result.predicted_labels.update(f"{kind}:{c.label}" for kind in kinds(c))
        wrong = []
        missed = [c.label for c in theirs]  # from the top down, as are the guesses
        for c in ours:
            if c.label in missed:
                missed.remove(c.label)
                result.found_labels.update(f"{kind}:{c.label}" for kind in kinds(c))
            else:
                wrong.append(c.label)
        # What is left of a label are its lower copies.
        chain = [c.label for c in theirs]
        left = []
        for label in reversed(chain):
            if label in missed:
                missed.remove(label)
                left.insert(0, label)
        result.confusions.update(zip(left, wrong, strict=False))


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
