"""Reports as HTML: of trees of several runs, or of a folder that `treemean ensemble` made."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from treemean._version import __version__
from treemean.errors import FormatError, InvalidOption, MismatchError, reason_of
from treemean.evaluation import Evaluation, get_protocol
from treemean.evaluation.streaming import PunctuationLater, Scoring, evaluate_batches
from treemean.experiments.predictions import (
    BINARY_FILE,
    GOLD,
    HITS_FILE,
    NON_BINARY_FILE,
    RESULTS_FILE,
    TEST,
    files_of,
)
from treemean.fitting import HitModel, find_candidates, load
from treemean.fitting.probabilities import fit_alone
from treemean.fitting.procedure.confidence import Unseen, confidence_report
from treemean.formats import read
from treemean.formats.parallel import read_parallel
from treemean.names import Match
from treemean.reporting.html import MOST, ParallelTreebanks, Side, Subject, compare_parallel
from treemean.reporting.html.comparing import Averager, Judge
from treemean.reporting.html.parts import Runs
from treemean.reporting.html.subject import RIGHT, SCORED
from treemean.trees import Treebank

#: What is found of treebanks.
Result = TypeVar("Result")
#: Lists of equally long batches.
Batches = Iterable[Sequence[Treebank]]
AnyPath = str | os.PathLike[str]
#: What results.json calls the averages.
_NON_BINARY, _BINARY = "non-binary ensemble", "binary ensemble"


def report_of_runs(
    runs: Mapping[str, Treebank],
    gold: Treebank | None = None,
    *,
    average: Treebank | None = None,
    **options: Any,
) -> Subject:
    """Compare runs with each other, with their average and with gold, for `reporting.html.make_page`.

    Parameters
    ----------
    average : shown in place of the plain average of the runs, which is made if nothing is given.
    options : see `report_of_parallel`.
    """
    return report_of_parallel(ParallelTreebanks.of(runs, average, gold), **options)


def report_of_files(
    runs: Mapping[str, AnyPath],
    gold: AnyPath | None = None,
    *,
    average: AnyPath | None = None,
    match: Match = "position",
    reading: Mapping[str, Any] | None = None,
    called: Mapping[str, str] | None = None,
    through: Callable[[Iterator[list[Treebank]]], Batches] = iter,
    **options: Any,
) -> Subject:
    """Do what `report_of_runs` does with treebanks in files, of which only some sentences are held at a time.

    Parameters
    ----------
    reading : options of `treemean.read`.
    called : what errors call runs, `average` and `gold`, by these names.
    through : batches are passed through it as they are read, to show progress.
    """
    paths = [*runs.values(), *(path for path in (average, gold) if path is not None)]
    given = ParallelTreebanks(list, tuple(runs), average is not None, gold is not None, called or {})
    return side_by_side(
        paths,
        lambda parts: report_of_parallel(replace(given, read=parts), match=match, **options),
        match=match,
        through=through,
        **(reading or {}),
    )


def report_of_parallel(
    given: ParallelTreebanks,
    *,
    model: HitModel | None = None,
    probability: bool = False,
    title: str = "",
    facts: Mapping[str, str] | None = None,
    **options: Any,
) -> Subject:
    """Compare treebanks that are read side by side; see `report_of_runs`.

    Parameters
    ----------
    model : fitted hits, which make the average and tell how likely constituents are right.
    probability : tell it by the runs alone, if there is no model.
    facts : where all this comes from, by name.
    options : protocol, labelled, match, punctuation, ignore_case, jobs and most of
        `reporting.html.compare_parallel`.
    """
    names = given.runs
    if given.average and model is not None:
        raise InvalidOption("give either an average or hits, which make another average")
    if model is not None and model.tables:
        raise InvalidOption(
            "the hits are fitted to tables of spans, too, and a report reads trees only: make the average "
            "with `treemean average --spans`, and give it to the report (--average)"
        )
    if model is not None and len(model.runs) != len(names):
        raise MismatchError(f"the hits are fitted to {len(model.runs)} runs, and {len(names)} are given")
    if (probability or given.average) and len(names) < 2:
        raise InvalidOption("averages and probabilities need two runs or more")
    told = dict(facts or {})
    if model is not None:
        told["probabilities"] = f"by the model {model.name}, fitted to gold trees of other sentences"
    elif probability:
        told["probabilities"] = "by the runs alone: that two further runs would both propose the constituent"
    return _compared(
        given,
        model,
        probability,
        weights=None if model is None else _weights_of(model, names),
        title=title or _title(len(names), given.gold),
        facts={**told, "treemean": __version__},
        **options,
    )


def report_of_ensemble(
    folder: str | os.PathLike[str], *, title: str = "", jobs: int | None = None, most: int = MOST
) -> Subject:
    """Report on a folder of `treemean ensemble`: runs, average, scores, tests, learning, fitted hits."""
    place = Path(folder)
    recorded = _recorded(place / RESULTS_FILE)
    files = files_of(place / "parses" / TEST)
    gold = files.pop(GOLD)
    names = tuple(files)
    model = load(place / HITS_FILE) if recorded.fitted and (place / HITS_FILE).is_file() else None
    if missing := [name for name in recorded.weights if name not in names]:
        raise FormatError(f"the parses of {', '.join(missing)} are gone", path=str(place / "parses" / TEST))
    told: dict[str, Any] = {
        "weights": recorded.weights,
        "protocol": recorded.protocol,
        "title": title or f"The ensemble in {place.resolve().name}",
        "jobs": jobs,
        "most": most,
        "summary": [],
        "rows": _rows(place, gold, recorded),
        "stars": recorded.stars,
        "curves": _curves(place),
        "facts": recorded.facts,
    }
    return side_by_side(
        [*files.values(), place / NON_BINARY_FILE, gold],
        lambda parts: _compared(
            ParallelTreebanks(parts, names, average=True, gold=True), model, False, **told
        ),
    )


def side_by_side(
    paths: Sequence[AnyPath],
    of: Callable[[Callable[[], Batches]], Result],
    *,
    match: Match = "position",
    through: Callable[[Iterator[list[Treebank]]], Batches] = iter,
    **reading: Any,
) -> Result:
    """Return what is found of treebanks that are read batch by batch.

    Whole files are read where sentences are matched by ids, and where treebanks do not have the same
    sentences in the same order, which may be right: sentences that are not scored can be absent.
    """
    if match == "position":
        with suppress(MismatchError):
            return of(lambda: through(read_parallel(paths, **reading)))
    banks = [read(path, **reading) for path in paths]
    return of(lambda: [banks])


def _compared(given: ParallelTreebanks, model: HitModel | None, probability: bool, **options: Any) -> Subject:
    """Compare treebanks, with probabilities if there is a model, or if runs alone are to tell."""
    if model is not None:
        model.check_calibrated()
    worth = _Worth()
    prepare = partial(_prepared, given, model, options.get("jobs"))
    subject = compare_parallel(
        given, prepare=prepare if model is not None or probability else None, watch=worth.watch, **options
    )
    return replace(subject, confidence=worth.report(model))


def is_ensemble(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder looks like one that `treemean ensemble` made."""
    return (Path(folder) / RESULTS_FILE).is_file() and (Path(folder) / "parses" / TEST).is_dir()


def _title(runs: int, gold: bool) -> str:
    what = "One run" if runs == 1 else f"{runs} runs and their average"
    return f"{what}, against gold" if gold else what


# ---- fitted hits ------------------------------------------------------------------------------------


def _weights_of(model: HitModel, names: Sequence[str]) -> dict[str, float]:
    return {name: float(place in model.chosen) for place, name in enumerate(names)}


def _prepared(
    given: ParallelTreebanks, model: HitModel | None, jobs: int | None, runs: Runs
) -> tuple[Averager | None, Judge]:
    """Return what averages, and what gives probabilities; what depends on all sentences is found here."""
    if model is None:
        return None, fit_alone(runs, len(given.runs)).with_probabilities
    if given.average:
        return None, model.with_probabilities
    settled = model if runs.single else model.settled(runs, jobs=jobs)

    def averaged(batch: Sequence[Treebank]) -> Treebank:
        return settled.average(batch, jobs=jobs, settled=not runs.single, frequencies=runs.frequencies)

    return averaged, settled.with_probabilities


class _Worth:
    """What probabilities are worth: on the sentences of the report if they have gold trees."""

    def __init__(self) -> None:
        self._seen: Unseen | None = None

    def watch(self, sides: Sequence[Side]) -> None:
        """Look at a part."""
        by_kind = {side.kind: side.trees for side in sides}
        runs = [side.trees for side in sides if side.kind == "run"]
        known = all("probability" in run.constituent_values for run in runs)
        if known and "gold" in by_kind and "average" in by_kind:
            found = _unseen(runs, by_kind["gold"], by_kind["average"])
            self._seen = found if self._seen is None else Unseen.pooled([self._seen, found])

    def report(self, model: HitModel | None) -> Mapping[str, Any] | None:
        """Return what was found; where nothing was, what the model found when it was fitted."""
        if self._seen is not None:
            return confidence_report([self._seen])
        return None if model is None else model.report.get("confidence")


def _unseen(runs: Sequence[Treebank], gold: Treebank, average: Treebank) -> Unseen:
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

    return Unseen(
        probability[scored],
        candidates.counts[scored] / candidates.runs,
        among(gold, RIGHT),
        candidates.discontinuous[scored],
        among(average, SCORED),
    )


# ---- the folder of an ensemble ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Recorded:
    """What results.json tells.

    Parameters
    ----------
    weights : of the chosen runs, by name; `fitted` : whether hits made the average.
    stars : see `_stars`.
    facts : what readers want to know, by name.
    """

    protocol: str
    baselines: Mapping[str, Mapping[str, Any]]
    weights: dict[str, float]
    fitted: bool
    stars: dict[str, str]
    facts: dict[str, str]


def _recorded(path: Path) -> _Recorded:
    try:
        found = json.loads(path.read_bytes())
        results, selection = found["results"], found["results"]["selection"]
        note = selection["note"]
        return _Recorded(
            results["protocol"],
            dict(results["baselines"]),
            dict(zip(selection["chosen"], selection["weights"], strict=True)),
            bool(selection["model"]),
            _stars(results["comparisons"]),
            {
                "the average": f"{note[:1].upper()}{note[1:]}.",
                **_recorded_facts(found),
                "treemean": found["treemean"],
            },
        )
    except OSError as error:
        raise FormatError(reason_of(error), path=str(path)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"these are no results of an ensemble ({error!r}): run treemean ensemble again", path=str(path)
        ) from error


def _rows(place: Path, gold: Path, recorded: _Recorded) -> dict[str, Mapping[str, Any]]:
    """Return the scores of the binary average and of the baselines."""
    scoring = Scoring(get_protocol(recorded.protocol))

    def scored(parts: Callable[[], Any]) -> Evaluation:
        try:
            return evaluate_batches(parts, scoring, 1)[0]
        except PunctuationLater:
            return evaluate_batches(parts, replace(scoring, punctuation="tag"), 1)[0]

    binary = side_by_side([place / BINARY_FILE, gold], scored)
    return {
        "binary average": binary.to_dict(),
        **{name: {**told, "baseline": True} for name, told in recorded.baselines.items()},
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
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                entry = json.loads(line)
                if entry["event"] == "epoch":
                    epochs.append(
                        {"epoch": entry["epoch"], "selected": entry["selected"], **entry["development"]}
                    )
            except (ValueError, KeyError, TypeError) as error:
                message = f"not what training writes ({error!r}): remove the file, and curves are left out"
                raise FormatError(message, path=str(path), line=number) from error
        if epochs:
            found[path.parent.name] = epochs
    return found


def _recorded_facts(recorded: Mapping[str, Any]) -> dict[str, str]:
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
