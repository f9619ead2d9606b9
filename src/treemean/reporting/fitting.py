"""Fitted hit models as tables."""

from __future__ import annotations

from treemean.fitting import HitModel
from treemean.fitting.weights import RunWeights
from treemean.reporting.tables import Cell, Table


def fit_tables(model: HitModel) -> list[Table]:
    """Return the cross-validated scores of a model, its weights where it has some, and its trade-off."""
    report = model.report
    notes = [
        f"Model {report['model']}, target {report['target']} (η = {report['eta']:g}), objective "
        f"{model.objective.to_dict()['kind']}; {len(model.chosen)} of {len(model.runs)} runs asked.",
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
            ]
            for metric, score in report["cross_validated"].items()
        ]
        notes.insert(
            1,
            f"Scores of development sentences by models that did not see them ({report['folds']} folds, seed "
            f"{report['seed']}); 95% bootstrap intervals over sentences.",
        )
        columns = ["", "F1", "interval", "plain average"]
        tables.append(Table(columns, rows, "Cross-validated on the development data"))
    if isinstance(model.values, RunWeights):
        weights = zip(model.chosen, model.values.continuous, model.values.discontinuous, strict=True)
        tables.append(
            Table(
                ["run", "continuous", "discontinuous"],
                [[model.runs[k], plain, gapped] for k, plain, gapped in weights],
                "Weights",
            )
        )
    if "trade_off" in report:
        points: list[list[Cell]] = [
            [p["setting"], p["overall"], p["discontinuous"], "yes" if p["front"] else ""]
            for p in report["trade_off"]
        ]
        tables.append(Table(["setting", "overall", "discontinuous", "on the front"], points, "Trade-off"))
    notes += [f"Note: {note}." for note in report["notes"]]
    if not tables:
        tables = [Table(["run"], [[model.runs[k]] for k in model.chosen], "Fitted without gold trees")]
    tables[-1] = Table(tables[-1].columns, tables[-1].rows, tables[-1].title, notes)
    return tables
