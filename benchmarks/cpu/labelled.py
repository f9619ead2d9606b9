"""Both averages of labelled trees on corrupted copies of a treebank: nearness to gold, and times.

    python -m benchmarks.cpu.labelled [--gold FILE] [--sentences N]

Copies have labels and constituents changed at random, at several rates. Scores are labelled F1 against gold,
over all sentences together, of constituents of two words or more but the whole sentence; as multisets.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import treemean
from benchmarks.common import data_folder, show, times
from treemean.averaging import average
from treemean.reporting.tables import Cell
from treemean.trees import Constituent, Tree, Treebank, compatible

#: How many of the labels, and how many of the constituents, are changed.
RATES = ((0.1, 0.1), (0.3, 0.2), (0.5, 0.2), (0.3, 0.4))
COPIES = (3, 5, 10)
SEED = 16


def spoil(tree: Tree, labels: Sequence[str], label_rate: float, rate: float, rng: random.Random) -> Tree:
    """Return a tree in which some labels are drawn anew, and some constituents are replaced by others.

    A constituent is left out, and a random span with a random label comes in if it fits what is there. The
    whole sentence stays.
    """
    whole = (1 << len(tree.words)) - 1
    kept = [c for c in tree.constituents if c.mask == whole or rng.random() >= rate]
    masks = {c.mask for c in kept}
    for _ in range(len(tree.constituents) - len(kept)):
        begin, end = sorted(rng.sample(range(len(tree.words) + 1), 2))
        mask = (1 << end) - (1 << begin)
        if end - begin > 1 and mask not in masks and all(compatible(mask, other) for other in masks):
            masks.add(mask)
            kept.append(Constituent(mask, rng.choice(labels)))
    changed = [
        Constituent(c.mask, rng.choice(labels), c.function) if rng.random() < label_rate else c for c in kept
    ]
    return tree.replace(constituents=changed)


def copies_of(gold: Treebank, count: int, label_rate: float, rate: float, seed: int = SEED) -> list[Treebank]:
    """Return corrupted copies of a treebank; labels are drawn as often as they occur."""
    labels = gold.labels.tolist()
    rng = random.Random(f"{seed} {count} {label_rate} {rate}")
    return [
        Treebank.from_trees(spoil(tree, labels, label_rate, rate, rng) for tree in gold) for _ in range(count)
    ]


def labelled_f1(found: Treebank, gold: Treebank) -> float:
    """Return 100 times the F1 of labelled constituents, over all sentences."""
    common = total = 0
    for mine, theirs in zip(found, gold, strict=True):
        ours, gold_ones = Counter(_scored(mine)), Counter(_scored(theirs))
        common += (ours & gold_ones).total()
        total += ours.total() + gold_ones.total()
    return 200 * common / max(total, 1)


def _scored(tree: Tree) -> Iterator[tuple[int, str]]:
    return ((c.mask, c.label) for c in tree if 1 < len(c) < len(tree.words))


def read_gold(parser: argparse.ArgumentParser, path: str | None) -> Treebank:
    """Read what `--gold` names, or else the Alpino treebank."""
    folder = data_folder()
    if path is None and folder is None:
        parser.error("there is no real data (set TREEMEAN_DATA): name a treebank with --gold")
    return treemean.read(path or f"{folder}/dutch/alpino.xml.gz")


def main(arguments: Sequence[str]) -> None:
    """Print a table of scores and a line of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gold", help="the Alpino treebank under $TREEMEAN_DATA if not given")
    parser.add_argument("--sentences", type=int, default=1000, help="how many to score; all are timed")
    options = parser.parse_args(arguments)
    bank = read_gold(parser, options.gold)
    gold = bank[: options.sentences]
    rows: list[list[Cell]] = []
    for label_rate, rate in RATES:
        for count in COPIES:
            copies = copies_of(gold, count, label_rate, rate)
            best = max(labelled_f1(copy, gold) for copy in copies)
            averages = [
                average(copies),
                average(copies, labelled=True),
                average(copies, labelled=True, unaries="none"),
            ]
            shares = (str(count), f"{label_rate:.0%}", f"{rate:.0%}")
            rows.append([*shares, *(f"{f1:.1f}" for f1 in (best, *(labelled_f1(m, gold) for m in averages)))])
    columns = ["copies", "labels changed", "constituents changed", "best copy", "vote", "joint"]
    show([*columns, "joint, no unaries"], rows, f"labelled F1, {len(gold)} sentences")
    copies = copies_of(bank, 5, 0.3, 0.2)
    vote = times(lambda: average(copies, jobs=1), 5, time.process_time)[0]
    joint = times(lambda: average(copies, jobs=1, labelled=True), 5, time.process_time)[0]
    print(f"five corrupted copies of {len(bank)} sentences: vote {vote:.3f} s, joint {joint:.3f} s, ", end="")
    print(f"{joint / vote:.2f} times as long")


if __name__ == "__main__":
    main(sys.argv[1:])
