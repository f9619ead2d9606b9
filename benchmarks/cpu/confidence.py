"""Probabilities of candidates on LASSY: table and reliability diagram of docs/measurements/fitting.md.

`python -m benchmarks.cpu.confidence`; the predictions are looked for under $TREEMEAN_DATA. Models are fitted
on the development sentences; test sentences only tell how often the candidates are right.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.common import ROOT, data_folder, show
from treemean import Treebank, average, read, sample
from treemean.fitting import HitModel, fit
from treemean.fitting.candidates.development import Development, make_development
from treemean.fitting.procedure.confidence import Unseen, confidence_report
from treemean.names import Language
from treemean.reporting.figures import draw_reliability
from treemean.trees.transforms import remove_punctuation

IMAGES = ROOT / "docs" / "images"

#: Numbers of development sentences, and how often so many are drawn.
SIZES = (25, 50, 100)
DRAWS = 3

Part = tuple[list[Treebank], Treebank]


def load() -> tuple[Part, Part]:
    """Read the runs and the gold trees of LASSY, the development and the test sentences."""
    data = data_folder()
    if data is None:
        sys.exit("the real data is absent (set TREEMEAN_DATA)")

    def part(name: str) -> Part:
        folder = data / "lassy-predictions" / name
        runs = [read(folder / f"run{k:02}.discbracket.gz") for k in range(1, 11)]
        return runs, read(folder / "gold.discbracket.gz")

    return part("dev"), part("test")


def judged(model: HitModel, beside: Development, trees: Treebank) -> dict[str, Any]:
    """Return what the probabilities of a model are worth on sentences that it has not seen."""
    candidates, probabilities = model.probabilities(beside.runs)
    averaged = np.zeros(len(candidates), dtype=bool)
    places = candidates.find(trees)
    averaged[places[places >= 0]] = True
    rows = beside.scored
    return confidence_report(
        [
            Unseen(
                probabilities[rows],
                candidates.counts[rows] / candidates.runs,
                beside.correct[rows],
                candidates.discontinuous[rows],
                averaged[rows],
            )
        ]
    )


def confidence(dev: Part, test: Part, beside: Development) -> None:
    """Print calibration errors and Brier scores of test candidates, and draw the diagram of `boosted`."""
    fitted = {
        "`agreement` of the test runs, no gold": fit(test[0], None, "agreement"),
        **{f"`{name}`": fit(*dev, name) for name in ("equal", "signed", "logistic", "boosted")},
    }
    found = {
        name: judged(model, beside, model.average(test[0]) if "boosted" in name else average(test[0]))
        for name, model in fitted.items()
    }
    kinds = ("continuous", "discontinuous")
    some = found["`boosted`"]
    plain = [("calibration error", "votes_calibration_error"), ("Brier score", "votes_brier")]
    rows = [["share of the votes", *(f"{some[kind][name]:.4f}" for kind in kinds for _, name in plain)]]
    rows.append(["share of right ones (on test)", *(f"{v}" for k in kinds for v in rate(some[k]))])
    for name, told in found.items():
        cells = [f"{told[kind][value]:.4f}" for kind in kinds for value in ("calibration_error", "brier")]
        rows.append([name, *cells])
    columns = ["probability", *(f"{kind} {name}" for kind in kinds for name, _ in plain)]
    show(columns, rows, "LASSY test, all candidates, ten bins of equal size")
    for kind in kinds:
        print(f"{kind}: {some[kind]['candidates']} candidates, {some[kind]['right']} right")
        cells = [f"{100 * b['expected']:.1f}/{100 * b['observed']:.1f}" for b in some[kind]["bins"]]
        print(f"  boosted, probability/right in percent, bin by bin: {', '.join(cells)}")
    show(
        ["kept", "wrong (%)", "by votes (%)"],
        [[f"{p['coverage']:.0%}", 100 * p["risk"], 100 * p["risk_by_votes"]] for p in some["risk_coverage"]],
        "boosted: wrong ones among the most probable constituents of the averages",
    )
    draw_reliability(some, IMAGES / "fitting-reliability.svg")


def few_sentences(dev: Part, beside: Development) -> None:
    """Print what `logistic` is worth if fitted to random parts of the development sentences."""
    trees = average(list(beside.runs))
    rows = []
    for size in SIZES:
        found = []
        for draw in range(DRAWS):
            part = np.sort(np.random.default_rng(draw).permutation(len(dev[1]))[:size])
            model = fit([run.take(part) for run in dev[0]], dev[1].take(part), "logistic", seed=draw)
            told = judged(model, beside, trees)
            kinds = (told["continuous"], told["discontinuous"])
            found.append([kind[name] for kind in kinds for name in ("calibration_error", "brier")])
        rows.append([f"{size} sentences", *(f"{mean:.4f}" for mean in np.mean(found, axis=0))])
    columns = ["logistic", "continuous error", "Brier score", "discontinuous error", "Brier score"]
    show(columns, rows, "Fitted to few sentences")


def without_gold(parts: dict[str, Part]) -> None:
    """Print how far probabilities by the runs alone are from the truth, beside the share of the votes."""
    measures = ("votes_calibration_error", "calibration_error", "votes_brier", "brier", "constant_brier")
    rows = []
    for name, (runs, gold) in parts.items():
        told = judged(fit(runs, None, "agreement"), make_development(runs, gold), average(runs))
        for kind in ("continuous", "discontinuous"):
            rows.append([f"{name}, {kind}", *(f"{told[kind][measure]:.3f}" for measure in measures)])
    columns = ["runs", "error of votes", "error", "Brier of votes", "Brier score", "Brier of rate"]
    show(columns, rows, "By the runs alone")


def made_up(seed: int, language: Language, runs: int) -> Part:
    """Return simulated parses of a generated treebank."""
    gold = remove_punctuation(sample.generate(1000, language=language, seed=seed))
    return sample.noisy_parses(gold, runs=runs, seed=seed), gold


def rate(told: dict[str, Any]) -> list[str]:
    """Return calibration error and Brier score of the share of right candidates; the first is 0."""
    return ["0", f"{told['constant_brier']:.4f}"]


def main() -> None:
    dev, test = load()
    beside = make_development(*test)
    confidence(dev, test, beside)
    few_sentences(dev, beside)
    without_gold(
        {
            "LASSY test, ten": test,
            "LASSY dev, ten": dev,
            "LASSY test, 1 to 5": (test[0][:5], test[1]),
            "LASSY test, 1 to 3": (test[0][:3], test[1]),
            "the sample, five": (sample.runs(), sample.gold()),
            "generated de, ten (seed 3)": made_up(3, "de", 10),
            "generated en, five (seed 5)": made_up(5, "en", 5),
            "generated nl, two (seed 6)": made_up(6, "nl", 2),
        }
    )


if __name__ == "__main__":
    main()
