"""Does a change of the settings make runs learn discontinuous constituents? Several initialisations of each.

    python -m benchmarks.learning.discontinuity --out FOLDER --seconds 540 \\
        --variant base --variant more-ranks "grammar.ranks=[400,16,400,16]"

Trains every variant from the same initialisations and orders, keeps the model of every epoch, and measures
each of them (benchmarks/learning/gaps.py). Variants are compared with the first one, run by run, by a
permutation test. What is known without gold trees is compared with F1: could good runs be chosen so?
The same command goes on where it was stopped; more variants and initialisations may be asked for.
FOLDER/discontinuity.zip has the trees: of the development sentences after every epoch, and of development
and test sentences by the epoch with the highest likelihood.
"""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Budget, exit_if_failed, show
from benchmarks.learning import gaps
from benchmarks.learning.common import arguments, config_for, folder_for
from benchmarks.learning.ensemble import PRESETS, write_trees
from benchmarks.learning.study import study
from benchmarks.page.chance import sign_p_value
from benchmarks.reports import Report, guard
from treemean.formats import write
from treemean.parsing import Model
from treemean.training.folders import RunFolder
from treemean.training.single import device_of, prepare_folder
from treemean.training.together import Job

#: What tables show of an epoch, and how it is called there.
SHOWN = {
    "f1": "F1",
    "f1_discontinuous": "discontinuous",
    "recall": "recall",
    "nats": "nats per word",
    "nats_without_gaps": "without gaps",
    "expected": "expected gaps",
    "divergence": "divergence",
}
#: What is known of a run without gold trees, by which it could be chosen.
CRITERIA = (
    "likelihood",
    "gain",
    "agreement",
    "stability",
    "shorter_part",
    "expected",
    "proposed",
    "divergence",
)


@dataclass(frozen=True)
class Run:
    """An initialisation and an order of a variant."""

    variant: str
    initialisation: int
    order: int

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return f"{self.variant}-{self.initialisation}-{self.order}"

    @property
    def place(self) -> str:
        """What files of its trees are called, among those of its variant."""
        return f"run{self.initialisation:02d}" + (f"-{self.order}" if self.order > 1 else "")


def main(words: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__ or "", seconds=540)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--preset", choices=PRESETS, default=PRESETS[0], help="which grammar")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--inits", type=int, nargs="+", default=[1, 2, 3, 4, 5], help="seeds of parameters")
    parser.add_argument("--orders", type=int, nargs="+", default=[1], help="orders of sentences of each")
    parser.add_argument(
        "--variant",
        action="append",
        nargs="+",
        required=True,
        metavar=("NAME", "a.b=c"),
        help="what is compared",
    )
    parser.add_argument("--likelihoods", action="store_true", help="of every epoch, not of the last alone")
    options = parser.parse_args(words)
    variants = {name: changes for name, *changes in options.variant}
    if len(variants) < len(options.variant):
        parser.error("two variants have the same name")
    jobs = {name: _jobs(options, name, changes) for name, changes in variants.items()}
    budget, report = Budget(options.seconds), Report(options.out, "discontinuity", go_on=True)
    complete = []
    for place, (name, own) in enumerate(jobs.items()):
        seconds = budget.left() / (len(jobs) - place)  # what one does not need is left for those that follow
        named = {run.name: job for run, job in own.items()}
        complete.append(study(name, named, Budget(seconds), report, reserve=0.1 * seconds))
        guard(f"measuring {name}", _measure, own, report, budget, options)
        for run, job in own.items() if complete[-1] else ():
            target = _trees_of(options, name)
            guard(f"trees of {run.name}", write_trees, job, run.place, options.data, target, budget)
    shutil.make_archive(str(options.out / "discontinuity"), "zip", _trees_of(options))
    report.save(preset=options.preset, variants=variants, complete=all(complete))
    measured = [told for told in report.values.get("measured", []) if told["variant"] in variants]
    _tables(measured, list(variants))
    exit_if_failed()


def _jobs(options: Namespace, variant: str, changes: Sequence[str]) -> dict[Run, Job]:
    jobs: dict[Run, Job] = {}
    for seed in options.inits:
        given = [
            *(
                f"run.init_seed={seed}",
                f"training.epochs={options.epochs}",
                f"training.patience={options.epochs}",
            ),
            *("training.select=likelihood", "training.report_every=25"),
            *("checkpoint.seconds=0", "checkpoint.epochs=true"),
        ]
        given += [*options.override, *changes]
        config = config_for(options.data, options.corpus, *given, preset=options.preset)
        folder = folder_for(options.work / "discontinuity", f"{variant}-{seed}", options.data, options.corpus)
        jobs |= {Run(variant, seed, order): Job(config, folder, order) for order in options.orders}
    return jobs


def _trees_of(options: Namespace, variant: str = "") -> Path:
    folder: Path = options.work / "discontinuity-trees" / variant
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _measure(jobs: Mapping[Run, Job], report: Report, budget: Budget, options: Namespace) -> None:
    """Measure all epochs of the runs of a variant that were not measured before."""
    kept = report.values.get("measured", [])
    variant = next(iter(jobs)).variant
    models = [RunFolder(job.folder, job.run).models_of_epochs() for job in jobs.values()]
    common = min(map(len, models))  # epochs of which all runs have a model
    names = {(run.initialisation, run.order) for run in jobs}
    for entry in kept:
        known = {(run["initialisation"], run["order"]) for run in entry["runs"]}
        if entry["variant"] == variant and entry["epochs"] == common and known == names:
            return
    told: dict[Run, list[dict[str, Any]]] = {run: [] for run in jobs}
    found: dict[Run, list[gaps.GapSets]] = {run: [] for run in jobs}
    for run, job in jobs.items():
        data = prepare_folder(job.config, job.folder)
        for epoch in range(1, common + 1):
            model = Model.load(
                RunFolder(job.folder, job.run).model_of_epoch(epoch), device=device_of(job.config)
            )
            wanted = options.likelihoods or epoch == common
            scores, gapped, trees = gaps.measure_gaps(model.grammar, data, job.config, likelihoods=wanted)
            place = _trees_of(options, variant) / f"epoch{epoch}-{run.place}.jsonl"
            write(trees, place, warn=False)
            told[run].append({"epoch": epoch, **scores})
            found[run].append(gapped)
        print(f"{budget} {run.name} is measured", flush=True)
    entry = {
        "variant": variant,
        "epochs": common,
        "union_recall": [gaps.recall([own[epoch] for own in found.values()]) for epoch in range(common)],
        "runs": [asdict(run) | {"epochs": _with_criteria(run, told, found)} for run in jobs],
    }
    report.save(measured=[*(other for other in kept if other["variant"] != variant), entry])


def _with_criteria(
    run: Run, told: Mapping[Run, list[dict[str, Any]]], found: Mapping[Run, list[gaps.GapSets]]
) -> list[dict[str, Any]]:
    """Add to the epochs of a run what can be said of it without gold trees, beside the other runs."""
    own = found[run]
    others = [gapped for other, gapped in found.items() if other != run]
    epochs = []
    for place, scores in enumerate(told[run]):
        shared = [gaps.agreement(own[place].proposed, other[place].proposed) for other in others]
        before = own[place - 1].proposed if place else set()
        epochs.append(
            scores
            | {
                "likelihood": -scores["nats"],
                "gain": scores["nats_without_gaps"] - scores["nats"],
                "agreement": float(np.mean(shared)) if shared else 0.0,
                "stability": gaps.agreement(own[place].proposed, before),
            }
        )
    return epochs


# ---- tables -------------------------------------------------------------------------------------


def _tables(measured: Sequence[Mapping[str, Any]], variants: Sequence[str]) -> None:
    by_variant = {entry["variant"]: entry for entry in measured}
    known = [by_variant[name] for name in variants if name in by_variant and by_variant[name]["union_recall"]]
    if not known:
        print("no epoch is measured yet", flush=True)
        return
    rows = [
        [entry["variant"], place + 1, *(_cell(_values(entry, key, place)) for key in SHOWN), f"{union:.2f}"]
        for entry in known
        for place, union in enumerate(entry["union_recall"])
    ]
    columns = ["variant", "epoch", *SHOWN.values(), "recall of all runs"]
    show(columns, rows, "mean ± standard deviation over runs")
    if len(known) > 1:
        show(*_comparison(known))
    show(*_choosing(known))


def _comparison(known: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]], str]:
    base, rows = known[0], []
    for other in known[1:]:
        epoch = min(base["epochs"], other["epochs"])
        cells: list[str] = []
        for key in ("f1", "f1_discontinuous", "nats"):
            pairs = _pairs(base, other, key, epoch - 1)
            if not pairs:
                break
            differences = [second - first for first, second in pairs]
            cells.append(f"{np.mean(differences):+.3f} (p = {sign_p_value(differences):.3f})")
        rows.append([other["variant"], epoch, len(pairs), *(cells or ["–"] * 3)])
    columns = ["variant", "epoch", "pairs", "F1", "discontinuous", "nats per word"]
    return columns, rows, f"difference from {base['variant']}, run by run"


def _choosing(known: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]], str]:
    """Compare what is known without gold trees with F1, over the last epochs of all runs."""
    last = [run["epochs"][-1] for entry in known for run in entry["runs"]]
    rows = []
    for criterion in CRITERIA:
        if any(np.isnan(epoch[criterion]) for epoch in last):
            continue  # not all grammars have it
        values = [epoch[criterion] for epoch in last]
        found = [
            gaps.rank_correlation(values, [epoch[key] for epoch in last])
            for key in ("f1", "f1_discontinuous")
        ]
        rows.append([criterion, *("–" if value is None else f"{value:+.2f}" for value in found)])
    title = f"rank correlation with F1 of what is known without gold trees, {len(last)} runs"
    return ["criterion", "overall", "discontinuous"], rows, title


def _pairs(
    base: Mapping[str, Any], other: Mapping[str, Any], key: str, place: int
) -> list[tuple[float, float]]:
    """Return the values of runs that both variants have."""
    first, second = (
        {(run["initialisation"], run["order"]): run["epochs"][place][key] for run in entry["runs"]}
        for entry in (base, other)
    )
    return [(first[pair], second[pair]) for pair in first if pair in second]


def _values(entry: Mapping[str, Any], key: str, place: int) -> list[float]:
    return [run["epochs"][place][key] for run in entry["runs"]]


def _cell(values: Sequence[float]) -> str:
    if np.isnan(values).any():
        return "–"
    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{spread}"


if __name__ == "__main__":
    main()
