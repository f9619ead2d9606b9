"""What do runs put into gaps, and can good runs be told from bad ones without gold trees?

    python -m benchmarks.learning.choosing --trees out/dutch/starts

Takes the trees of all TN-LCFRS runs of `benchmarks.learning.dutch`. Of the trees of each run on the
development sentences, several things are known without gold trees. How do they correlate, over all runs, with
F1? And what F1 would the ten runs have that come first by each? Then, over the runs of all grammars with
gaps: how often is a discontinuous constituent correct, by the number of runs that propose it?
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import show
from benchmarks.learning.gaps import Gapped, agreement, discontinuous, mean_shorter_part, rank_correlation
from benchmarks.learning.supply import kind_of, trees_of
from treemean.evaluation import evaluate
from treemean.evaluation.alignment import align
from treemean.evaluation.protocols import get_protocol
from treemean.trees import Treebank, bitsets

#: How many runs are chosen, and how many fillers of gaps are shown.
CHOSEN, FILLERS = 10, 20
#: By how many runs constituents are proposed: rows of a table.
SHARED = ((1, 1), (2, 3), (4, 10), (11, 20), (21, 1000))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trees", type=Path, default=Path("out/dutch/starts"), help="with dev")
    options = parser.parse_args(words)
    gold, every = trees_of(options.trees / "dev")
    gapped_runs = {name: trees for name, trees in every.items() if not kind_of(name).endswith("PCFG")}
    show(*by_proposers(gapped_runs, gold))
    runs = {name: trees for name, trees in every.items() if kind_of(name) in ("", "STARTS")}
    found = [evaluate(trees, gold, "paper") for trees in runs.values()]
    overall, gapped = [run.overall.f1 for run in found], [run.discontinuous.f1 for run in found]
    pairs = [align(trees, gold, get_protocol("paper")) for trees in runs.values()]
    proposed = [discontinuous(pair.predicted) for pair in pairs]
    show(*fillers(proposed, pairs[0].gold))
    rows = []
    for name, values in criteria(proposed, pairs[0].gold).items():
        best = np.argsort(values, kind="stable")[::-1][:CHOSEN]
        correlations = [rank_correlation(values, scores) for scores in (overall, gapped)]
        cells = ["–" if value is None else f"{value:+.2f}" for value in correlations]
        rows.append([name, *cells, np.mean(np.take(overall, best)), np.mean(np.take(gapped, best))])
    rows.append(["all runs", "", "", np.mean(overall), np.mean(gapped)])
    columns = ["known without gold trees", "overall", "discontinuous", "F1 of the ten", "discontinuous F1"]
    show(columns, rows, f"rank correlation with F1 over {len(runs)} runs; the {CHOSEN} runs with most of it")


def fillers(proposed: Sequence[Gapped], gold: Treebank) -> tuple[list[str], list[list[Any]], str]:
    """Return what fills the gaps of all runs most often, how often, and how often that is right."""
    right = discontinuous(gold)
    found: dict[str, list[bool]] = defaultdict(list)
    for number, mask in (constituent for own in proposed for constituent in own):
        (_, end), (start, _) = list(bitsets.spans_of(mask))[:2]
        word = gold[number].words[end].lower() if start - end == 1 else f"{min(start - end, 4)} words"
        found[word].append((number, mask) in right)
    often = sorted(found.items(), key=lambda item: -len(item[1]))[:FILLERS]
    rows = [[word, len(hits), sum(hits), f"{100 * sum(hits) / len(hits):.1f}%"] for word, hits in often]
    return (
        ["in the gap", "proposed", "correct", "share"],
        rows,
        "what fills gaps most often; 4: or more words",
    )


def by_proposers(runs: Mapping[str, Treebank], gold: Treebank) -> tuple[list[str], list[list[Any]], str]:
    """Return how many constituents with gaps are correct, by how many runs propose them."""
    pairs = {name: align(trees, gold, get_protocol("paper")) for name, trees in runs.items()}
    proposed = {name: discontinuous(pair.predicted) for name, pair in pairs.items()}
    right = discontinuous(next(iter(pairs.values())).gold)
    proposers = Counter(constituent for own in proposed.values() for constituent in own)
    rows = []
    for least, most in SHARED:
        row = [constituent for constituent, count in proposers.items() if least <= count <= most]
        rows.append([f"{least} to {most} runs" if most > 1 else "1 run", *_correct(row, right)])
    for name, own in proposed.items():
        if kind_of(name) not in ("", "STARTS"):
            alone = [constituent for constituent in own if proposers[constituent] == 1]
            rows += [[name, *_correct(own, right)], [f"{name} alone", *_correct(alone, right)]]
    return ["proposed by", "constituents", "correct", "share"], rows, f"with gaps, of {len(runs)} runs"


def _correct(constituents: Collection[tuple[int, int]], right: Gapped) -> list[Any]:
    correct = sum(constituent in right for constituent in constituents)
    return [len(constituents), correct, f"{100 * correct / max(len(constituents), 1):.1f}%"]


def criteria(proposed: Sequence[Gapped], sentences: Treebank) -> dict[str, list[float]]:
    """Return what is known of the discontinuous constituents of each run, by name."""
    lengths = sentences.lengths

    def share(of: Callable[[int, list[tuple[int, int]]], bool]) -> list[float]:
        return [
            float(np.mean([of(number, list(bitsets.spans_of(mask))) for number, mask in own])) if own else 0.0
            for own in proposed
        ]

    longer = [{(number, mask) for number, mask in own if _gap(mask) > 1} for own in proposed]
    return {
        "how many": [float(len(own)) for own in proposed],
        "agreement with other runs": mean_agreement(proposed),
        "agreement on gaps of several words": mean_agreement(longer),
        "share of gaps of several words": share(lambda _, spans: spans[1][0] - spans[0][1] > 1),
        "share of whole sentences": share(
            lambda number, spans: spans[0][0] == 0 and spans[-1][1] == lengths[number]
        ),
        "words in the shorter part": [mean_shorter_part(own) for own in proposed],
    }


def mean_agreement(proposed: Sequence[Gapped]) -> list[float]:
    """Return the mean agreement of each run with all others.

    >>> mean_agreement([{(0, 0b101)}, {(0, 0b101)}, set()])
    [50.0, 50.0, 0.0]
    """
    return [
        float(np.mean([agreement(own, other) for place, other in enumerate(proposed) if place != number]))
        for number, own in enumerate(proposed)
    ]


def _gap(mask: int) -> int:
    (_, end), (start, _) = list(bitsets.spans_of(mask))[:2]
    return start - end


if __name__ == "__main__":
    main()
