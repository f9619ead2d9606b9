"""Reports as HTML: of trees of several runs, or of a folder that `treemean ensemble` made."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from treemean._version import __version__
from treemean.errors import FormatError, InvalidOption, MismatchError, reason_of
from treemean.evaluation import Evaluation, Protocol, evaluate
from treemean.experiments.predictions import (
    BINARY_FILE,
    HITS_FILE,
    NON_BINARY_FILE,
    RESULTS_FILE,
    TEST,
    read_folder,
)
from treemean.fitting import HitModel, add_probabilities, find_candidates, fit, load
from treemean.fitting.procedure.confidence import Unseen, confidence_report
from treemean.formats import read
from treemean.names import Match
from treemean.reporting.html import Subject, compare_sides
from treemean.reporting.html.subject import RIGHT, SCORED
from treemean.trees import Treebank

#: What results.json calls the averages.
_NON_BINARY, _BINARY = "non-binary ensemble", "binary ensemble"


def report_of_runs(
    runs: Mapping[str, Treebank],
    gold: Treebank | None = None,
    *,
    average: Treebank | None = None,
    model: HitModel | None = None,
    probability: bool = False,
    protocol: str | Protocol = "standard",
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    title: str = "",
    facts: Mapping[str, str] | None = None,
    jobs: int | None = None,
) -> Subject:
    """Compare runs with each other, with their average and with gold, for `reporting.html.make_page`.

    Parameters
    ----------
    average : shown in place of the plain average of the runs, which is made if nothing is given.
    model : fitted hits, which make the average and tell how likely constituents are right.
    probability : tell it by the runs alone, if there is no model.
    protocol, labelled, match, punctuation, ignore_case : see `evaluate`.
    facts : where all this comes from, by name.
    """
    if average is not None and model is not None:
        raise InvalidOption("an average that is given needs no hits: they make another one")
    if model is not None and len(model.runs) != len(runs):
        raise MismatchError(f"the hits are fitted to {len(model.runs)} runs, and {len(runs)} are given")
    if (probability or average is not None) and len(runs) < 2:
        raise InvalidOption("averages and probabilities are of two runs or more")
    told = dict(facts or {})
    if model is not None:
        told["probabilities"] = f"by the model {model.name}, fitted to gold trees of other sentences"
    elif probability:
        told["probabilities"] = "by the runs alone: that two further runs would both propose the constituent"
    subject = compare_sides(
        runs,
        gold,
        average=average if model is None else partial(_averaged, model, jobs),
        weights=None if model is None else _weights_of(model, list(runs)),
        probabilities=_judge(model) if model is not None or probability else None,
        protocol=protocol,
        labelled=labelled,
        match=match,
        punctuation=punctuation,
        ignore_case=ignore_case,
        title=title or _title(len(runs), gold is not None),
        jobs=jobs,
        facts={**told, "treemean": __version__},
    )
    return _with_confidence(subject, None if model is None else model.report.get("confidence"))


def report_of_ensemble(
    folder: str | os.PathLike[str], *, title: str = "", jobs: int | None = None
) -> Subject:
    """Report on a folder of `treemean ensemble`: runs, average, scores, tests, learning, fitted hits."""
    place = Path(folder)
    recorded = _results(place / RESULTS_FILE)
    test = read_folder(place / "parses" / TEST)
    results, names = recorded["results"], list(test.runs)
    chosen, weights = results["selection"]["chosen"], results["selection"]["weights"]
    model = (
        load(place / HITS_FILE) if (place / HITS_FILE).is_file() and results["selection"]["model"] else None
    )
    if missing := [name for name in chosen if name not in names]:
        raise FormatError(f"the parses of {', '.join(missing)} are gone", path=str(place / "parses" / TEST))
    average = read(place / NON_BINARY_FILE)
    note = results["selection"]["note"]
    subject = compare_sides(
        test.runs,
        test.gold,
        average=average,
        weights=dict(zip(chosen, weights, strict=True)),
        probabilities=None if model is None else _judge(model),
        protocol=results["protocol"],
        title=title or f"The ensemble in {place.resolve().name}",
        jobs=jobs,
        summary=[],
        rows=_rows(place, test.gold, results),
        stars=_stars(results["comparisons"]),
        curves=_curves(place),
        facts={
            "the average": f"{note[:1].upper()}{note[1:]}.",
            **_told(recorded),
            "treemean": recorded["treemean"],
        },
    )
    return _with_confidence(subject, None if model is None else model.report.get("confidence"))


def is_ensemble(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder looks like one that `treemean ensemble` made."""
    return (Path(folder) / RESULTS_FILE).is_file() and (Path(folder) / "parses" / TEST).is_dir()


def _title(runs: int, gold: bool) -> str:
    what = "One run" if runs == 1 else f"{runs} runs and their average"
    return f"{what}, against gold" if gold else what


# ---- fitted hits ------------------------------------------------------------------------------------


def _averaged(model: HitModel, jobs: int | None, runs: Sequence[Treebank]) -> Treebank:
    return model.average(runs, jobs=jobs)


def _weights_of(model: HitModel, names: Sequence[str]) -> dict[str, float]:
    return {name: float(place in model.chosen) for place, name in enumerate(names)}


def _judge(model: HitModel | None) -> Any:
    """Return what gives probabilities to trees; without a model it is fitted to the runs once."""
    if model is not None:
        model.check_calibrated()
        return model.with_probabilities
    fitted: list[HitModel] = []

    def judged(trees: Treebank, runs: Sequence[Treebank]) -> Treebank:
        if not fitted:
            fitted.append(fit(runs, None, "agreement"))
        return add_probabilities(trees, runs, fitted[0])

    return judged


def _with_confidence(subject: Subject, reported: Mapping[str, Any] | None) -> Subject:
    """Add what the probabilities are worth: on the sentences of the report if they have gold trees."""
    from dataclasses import replace

    average, gold = subject.average, subject.gold
    known = all("probability" in side.trees.constituent_values for side in subject.runs)
    if gold is None or average is None or not known:
        return replace(subject, confidence=reported)
    runs = [side.trees for side in subject.runs]
    candidates = find_candidates(runs)
    probability, scored = np.zeros(len(candidates)), np.zeros(len(candidates), dtype=bool)
    for run, nodes, places in zip(runs, candidates.nodes, candidates.places, strict=True):
        probability[places] = run.constituent_values["probability"][nodes]
        scored[places] = run.constituent_values[SCORED][nodes] > 0

    def among(trees: Treebank, flag: str) -> Any:
        found = candidates.find(trees)
        has = np.zeros(len(candidates), dtype=bool)
        has[found[(found >= 0) & (trees.constituent_values[flag] > 0)]] = True
        return has[scored]

    unseen = Unseen(
        probability[scored],
        candidates.counts[scored] / candidates.runs,
        among(gold.trees, RIGHT),
        candidates.discontinuous[scored],
        among(average.trees, SCORED),
    )
    return replace(subject, confidence=confidence_report([unseen]))


# ---- the folder of an ensemble ----------------------------------------------------------------------


def _results(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
        for key in ("protocol", "selection", "baselines", "comparisons"):
            found["results"][key]
        return dict(found)
    except OSError as error:
        raise FormatError(reason_of(error), path=str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(
            f"these are no results of an ensemble ({error!r}): run treemean ensemble again", path=str(path)
        ) from error


def _rows(place: Path, gold: Treebank, results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the scores of the binary average and of the baselines."""
    binary: Evaluation = evaluate(read(place / BINARY_FILE), gold, results["protocol"])
    return {
        "binary average": binary.to_dict(),
        **{name: {**told, "baseline": True} for name, told in results["baselines"].items()},
    }


def _stars(comparisons: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return marks for the scores in which the average is better than the best run, as its table has them."""
    found = {}
    for told in comparisons:
        if told["ensemble"] == _NON_BINARY and told["difference"] > 0 and told["p_value"] < 0.05:
            found[told["metric"]] = "**" if told["p_value"] < 0.01 else "*"
    return found


def _curves(place: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what was measured after every epoch of each run, if they were trained here."""
    found = {}
    for path in sorted((place / "runs").glob("run*/metrics.jsonl")):
        epochs = []
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry.get("event") == "epoch":
                epochs.append(
                    {"epoch": entry["epoch"], "selected": entry["selected"], **entry["development"]}
                )
        if epochs:
            found[path.parent.name] = epochs
    return found


def _told(recorded: Mapping[str, Any]) -> dict[str, str]:
    """Return what the configuration says that readers want to know."""
    config = recorded["config"]
    found = {}
    if grammar := config.get("grammar"):
        found["grammar"] = ", ".join(
            f"{key} {value}" for key, value in grammar.items() if value not in ("", None)
        )
    if training := recorded.get("training"):
        seconds = sum(run["seconds"] for run in training)
        found["training"] = f"{len(training)} runs, {seconds / 60:,.1f} minutes of training in all"
    if fitted := recorded.get("fitted"):
        scores = fitted.get("cross_validated", {})
        told = ", ".join(f"{metric} {score['f1']:.2f}" for metric, score in scores.items())
        found["fitted hits"] = f"{fitted['model']}" + (
            f"; cross-validated on development data: {told}" if told else ""
        )
    return found
