"""Changing the trees of a treebank, batch by batch or shard by shard: what `treemean convert` does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any

from treemean.errors import TreemeanError
from treemean.names import BinarisingRule, BranchingRule, ChainLabel, FunctionRule
from treemean.scaling.shards import Work
from treemean.scaling.sums import Sums
from treemean.trees import Treebank, transforms
from treemean.trees.punctuation import settle_punctuation
from treemean.trees.ranges import Ranges
from treemean.trees.selecting import ConstituentSelector, SentenceSelector

_LABEL = "label "


@dataclass(frozen=True)
class Conversion(Work):
    """Which sentences and constituents of a treebank stay, and how its trees change; see `treemean convert`.

    Sentences are taken by number and id first; then punctuation is moved or removed, lengths are counted, and
    functions are split from labels; then constituents are removed, and sentences without gaps left out; all
    other changes come last.
    """

    name = "convert"
    source: str = "the treebank"
    sentences: str | None = None
    ids: tuple[str, ...] | None = None
    discontinuous: bool = False
    minimum: Mapping[str, float] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    move_punctuation: bool = False
    remove_punctuation: bool = False
    punctuation: str | Collection[str] = "auto"
    collapse_unaries: bool = False
    keep_label: ChainLabel = "top"
    drop_labels: bool = False
    functions: FunctionRule = "keep"
    binarise: BinarisingRule | None = None
    branching: BranchingRule | None = None
    seed: int = 0
    min_length: int = 0
    max_length: int | None = None
    lower_case: bool = False
    normalise_numbers: bool = False
    make_continuous: bool = False
    skip_bad: bool = False

    def describe(self) -> dict[str, Any]:
        """Return all that decides about the trees."""
        told = asdict(self)
        told.pop("source")
        if not isinstance(self.punctuation, str):
            told["punctuation"] = sorted(self.punctuation)
        return told

    def settled(self, first: Treebank) -> Conversion:
        """Return the conversion with what the first sentences decide for all: how punctuation is told."""
        if not (self.remove_punctuation or self.move_punctuation):
            return self
        return replace(self, punctuation=settle_punctuation(first, self.punctuation))

    @property
    def ranges(self) -> Ranges | None:
        """The numbers of the sentences that are wanted, None for all."""
        return None if self.sentences is None else Ranges.parse(self.sentences)

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield the changed trees; `first` numbers the sentences, and shards draw at random by it."""
        converter = Converter(self, sums, first)
        for (batch,) in batches:
            yield converter.change(batch)
            if converter.done:
                break
        for label in self.labels or ():
            sums.counts[_LABEL + label] += converter.has_label(label)

    def check(self, sums: Sums) -> None:
        """Raise `TreemeanError` if something that was named has not been there."""
        read = sums.counts["read"]
        absent = None if self.ranges is None else self.ranges.first_above(read)
        if absent is not None:
            raise TreemeanError(f"{self.source}: there is no sentence {absent}; it has {read}")
        if self.ids is not None and sums.counts["taken"] < len(set(self.ids)) and self.sentences is None:
            raise TreemeanError(
                f"{self.source}: {len(set(self.ids)) - sums.counts['taken']} of the ids have no sentence"
            )
        if (
            self.labels
            and sums.counts["taken"]
            and not any(sums.counts[_LABEL + name] for name in self.labels)
        ):
            named = ", ".join(map(repr, self.labels))
            raise TreemeanError(f"{self.source}: no constituent has any of the labels {named}")

    def absent_labels(self, sums: Sums) -> list[str]:
        """Return the labels that no constituent had, in the order given."""
        return [label for label in self.labels or () if not sums.counts[_LABEL + label]]


class Converter:
    """Changes the batches of a treebank, or of a shard, in turn; `sums` takes what is counted."""

    def __init__(self, conversion: Conversion, sums: Sums, first: int = 0) -> None:
        self._settled = conversion
        self._sums = sums
        self._wanted = SentenceSelector(conversion.ranges, conversion.ids, conversion.source, before=first)
        self._kept = ConstituentSelector(conversion.minimum, conversion.labels, conversion.source)
        # One for all batches; every shard has its own.
        self._draw = Random(conversion.seed) if first == 0 else Random(f"{conversion.seed}:{first}")

    @property
    def done(self) -> bool:
        """Whether no sentence that is still to come can be wanted."""
        return self._wanted.done

    def finish(self) -> None:
        """Raise `TreemeanError` if something that was named has not been there."""
        self._wanted.finish()
        self._kept.finish()

    def has_label(self, label: str) -> bool:
        """Tell whether some constituent had a label that was named."""
        return self._kept.knows_labels and label not in self._kept.absent_labels

    @property
    def absent_labels(self) -> list[str]:
        """The labels that were named, and that no constituent had."""
        return self._kept.absent_labels

    def change(self, batch: Treebank) -> Treebank:
        """Return the next batch, changed."""
        self._settled = how = self._settled.settled(batch)  # the first batch decides for all
        counts = self._sums.counts
        counts["read"] += len(batch)
        batch = self._wanted.take(batch)
        counts["taken"] += len(batch)
        if how.move_punctuation:
            batch = transforms.move_punctuation(batch, how.punctuation)
        if how.remove_punctuation:
            batch = transforms.remove_punctuation(batch, how.punctuation)
        batch = transforms.filter_by_length(batch, how.min_length, how.max_length)
        if how.functions == "split":  # before labels are looked at
            batch = transforms.split_functions(batch)
        before = len(batch.labels)
        batch = self._kept.take(batch)
        counts["removed"] += before - len(batch.labels)
        if how.discontinuous:
            batch = transforms.discontinuous_sentences(batch)
        if how.collapse_unaries:
            batch = transforms.collapse_unaries(batch, keep=how.keep_label)
        if how.functions == "drop":
            batch = transforms.drop_functions(batch)
        elif how.functions == "join":
            batch = transforms.join_functions(batch)
        if how.drop_labels:
            batch = transforms.drop_labels(batch)
        if how.lower_case:
            batch = transforms.lower_case(batch)
        if how.normalise_numbers:
            batch = transforms.normalise_numbers(batch)
        if how.make_continuous and (batch.fan_outs > 1).any():
            trees = [tree if tree.is_continuous else transforms.make_continuous(tree) for tree in batch]
            counts["changed"] += len({*batch.sentence_of[batch.fan_outs > 1].tolist()})
            batch = Treebank.from_trees(trees)
        if how.branching is not None:
            batch = transforms.branching(batch, how.branching, seed=self._draw)
        if how.binarise is not None:
            batch = Treebank.from_trees(transforms.binarise(tree, how.binarise) for tree in batch)
        counts["written"] += len(batch)
        return batch
