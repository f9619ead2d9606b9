"""Fitted hit models as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treemean.fitting import HitModel
from treemean.fitting.models.agreement import AgreementWeights
from treemean.fitting.models.weights import RunWeights
from treemean.reporting.tables import Cell, Table


def _and_tables(count: int) -> str:
    return f", and {count} table{'s' * (count != 1)} of spans" if count else ""


def fit_tables(model: HitModel) -> list[Table]:
    """Return the cross-validated scores of a model, what its probabilities are worth, weights, trade-off."""
    report = model.report
    notes = [
        f"Model {report['model']}{', with labels' if model.labelled else ''}, target {report['target']} "
        f"(η = {report['eta']:g}), objective "
        f"{model.objective.to_dict()['kind']}; {len(model.chosen) - model.tables} of "
        f"{len(model.runs) - model.tables} runs asked{_and_tables(model.tables)}.",
        f"{report['sentences']:,} sentences; {report['schemes']:,} "
        + ("scheme, nothing was compared." if report["schemes"] == 1 else "schemes compared."),
    ]
    tables = []
    if "cross_validated" in report:
        rows: list[list[Cell]] = [
            [
                metric,
                score["f1"],
                f"{score['low']:.2f} to {score['high']:.2f}",
                report["plain_average"][metric],
                *([report["labels_by_vote"][metric]] if model.labelled else []),
            ]
            for metric, score in report["cross_validated"].items()
        ]
        notes.insert(
            1,
            f"Scores of development sentences by models that did not see them ({report['folds']} folds, seed "
            f"{report['seed']}); 95% bootstrap intervals over sentences.",
        )
        columns = ["", "F1", "interval", "plain average"]
        if model.labelled:
            columns = ["", "labelled F1", "interval", "plain joint average", "labels by vote"]
        tables.append(Table(columns, rows, "Cross-validated on the development data"))
    if "confidence" in report:
        tables += confidence_tables(report["confidence"])
    if isinstance(model.values, RunWeights | AgreementWeights):
        weights = zip(model.chosen, model.values.continuous, model.values.discontinuous, strict=True)
        tables.append(
            Table(
                ["run", "continuous", "discontinuous"],
                [[model.runs[k], plain, gapped] for k, plain, gapped in weights],
                "Weights",
            )
        )
    if isinstance(model.values, AgreementWeights):
        notes.append(f"A gap of one word counts {model.values.one_word:.2f} of a longer one.")
    if "trade_off" in report:
        points: list[list[Cell]] = [
            [p["setting"], p["overall"], p["discontinuous"], "yes" if p["front"] else ""]
            for p in report["trade_off"]
        ]
        tables.append(Table(["setting", "overall", "discontinuous", "on the front"], points, "Trade-off"))
    notes += [f"Note: {note}." for note in report["notes"]]
    if not tables:
        tables = [Table(["run"], [[model.runs[k]] for k in model.chosen], "Fitted without gold trees")]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    return tables


def confidence_tables(confidence: Mapping[str, Any]) -> list[Table]:
    """Return calibration errors, Brier scores and the risk at each coverage, beside the share of votes."""
    kinds: list[list[Cell]] = [
        [
            kind,
            found["candidates"],
            found["right"],
            *(
                f"{found[name]:.4f}"
                for name in (
                    "calibration_error",
                    "votes_calibration_error",
                    "brier",
                    "votes_brier",
                    "constant_brier",
                )
            ),
        ]
        for kind, found in confidence.items()
        if kind != "risk_coverage"
    ]
    risks: list[list[Cell]] = [
        [f"{100 * point['coverage']:.0f}%", 100 * point["risk"], 100 * point["risk_by_votes"]]
        for point in confidence["risk_coverage"]
    ]
    return [
        Table(
            ["kept", "wrong (%)", "by votes (%)"],
            risks,
            "Risk: wrong ones among the most probable constituents of the averages",
        ),
        Table(
            [
                "candidates",
                "number",
                "right",
                "calibration error",
                "error of votes",
                "Brier score",
                "Brier of votes",
                "Brier of rate",
            ],
            kinds,
            "Probabilities of development candidates that were not seen",
            [
                "Calibration error in ten bins of equal size. Votes: the share of the votes as a "
                "probability. Rate: the share of right candidates as the probability of each."
            ],
        ),
    ]
