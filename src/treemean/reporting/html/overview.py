"""The overview of a report: what came out, in a few sentences, tables and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treemean.agreement import of_pairs
from treemean.evaluation import Evaluation
from treemean.evaluation.results import METRICS
from treemean.reporting.evaluation import NO_LABEL
from treemean.reporting.html.charts import Line, heat_map, line_chart, range_chart
from treemean.reporting.html.markup import Child, Markup, element, join
from treemean.reporting.html.subject import Side, Subject
from treemean.reporting.tables import NOTHING

#: How many labels and how many disputed sentences are shown.
_LABELS, _DISPUTED = 14, 12


def overview(subject: Subject, notices: Sequence[str] = ()) -> Markup:
    """Return the overview; `notices` are shown prominently, above everything else."""
    parts: list[Child] = [
        *(element("p", notice, class_="warning", role="note") for notice in notices),
        element(
            "header",
            element("h1", subject.title),
            *(element("p", text, class_="lead") for text in [*subject.summary, *_findings(subject)]),
            _tiles(subject),
            class_="opening",
        ),
        _scores(subject),
        element("div", *_charts(subject), class_="charts"),
        _confusions(subject),
        _disputed(subject),
        _facts(subject),
    ]
    return join(*parts)


def _section(title: str, *children: Child, note: str = "") -> Markup:
    return element(
        "section",
        element("h2", title),
        *children,
        element("p", note, class_="quiet note") if note else None,
    )


def _number(value: float | None, digits: int = 2) -> str:
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


# ---- opening ----------------------------------------------------------------------------------------


def _asked(subject: Subject) -> list[Side]:
    """The runs that have a say in the average."""
    return [side for side in subject.runs if side.weight > 0] or subject.runs


def _findings(subject: Subject) -> Iterator[str]:
    """Say in words what the numbers say."""
    average, asked = subject.average, _asked(subject)
    if average is not None and average.evaluation is not None:
        own = average.evaluation.overall.f1
        others = {side.name: side.evaluation.overall.f1 for side in asked if side.evaluation is not None}
        best = max(others, key=others.__getitem__)
        mean = sum(others.values()) / len(others)
        ahead = _distance(own - others[best], f"the best of them ({best}, {others[best]:.1f})")
        yield (
            f"The average of {len(asked)} runs reaches an F1 of {own:.1f}: {ahead}, and "
            f"{_distance(own - mean, f'their mean of {mean:.1f}')}."
        )
    elif subject.main.evaluation is not None:
        yield f"{subject.main.name} reaches an F1 of {subject.main.evaluation.overall.f1:.1f}."
    if subject.agreement is not None:
        found = subject.agreement
        f1, corrected = of_pairs(found.f1), of_pairs(found.chance.corrected)
        if not math.isnan(f1):
            beyond = (
                ""
                if math.isnan(corrected)
                else f" ({corrected:.2f} beyond chance, where 1 is full agreement)"
            )
            yield f"Two runs agree with an F1 of {f1:.1f} on average{beyond}."


def _distance(difference: float, what: str) -> str:
    """Say how far above or below something a score is.

    >>> _distance(3.16, "the best"), _distance(-0.04, "the best")
    ('3.2 above the best', 'as good as the best')
    """
    if abs(difference) < 0.05:
        return f"as good as {what}"
    return f"{abs(difference):.1f} {'above' if difference > 0 else 'below'} {what}"


def _tiles(subject: Subject) -> Markup:
    tiles: list[tuple[str, str, str]] = [("sentences", f"{subject.count:,}", f"{subject.words:,} words")]
    if (found := subject.main.evaluation) is not None:
        for metric in METRICS:
            counts = found.counts(metric)
            star = subject.stars.get(metric, "")
            detail = f"{counts.matched:,} of {counts.gold:,} found"
            tiles.append((f"F1 {metric}", _number(counts.shown.f1) + star, detail))
    runs = len(subject.runs)
    chosen = len(_asked(subject))
    tiles.append(("runs", str(runs), f"{chosen} in the average" if subject.average is not None else ""))
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", value, element("small", more)))
            for name, value, more in tiles
        ),
        class_="tiles",
    )


# ---- scores -----------------------------------------------------------------------------------------

_COLUMNS = (
    "F1",
    "precision",
    "recall",
    "continuous",
    "discontinuous",
    "exact",
    "matched",
    "predicted",
    "gold",
)


def _scores(subject: Subject) -> Markup:
    if subject.main.evaluation is None:
        return _section(
            "Scores",
            element("p", "There are no gold trees: the report shows how runs agree, not how right they are."),
        )
    weighted = subject.average is not None and len({side.weight for side in subject.runs}) > 1
    rows = []
    if subject.average is not None and subject.average.evaluation is not None:
        rows.append(_row("average", subject.average.evaluation.to_dict(), "", "main", subject.stars))
    rows += [_row(name, told, "", "") for name, told in subject.rows.items() if not told.get("baseline")]
    for side in subject.runs:
        assert side.evaluation is not None
        weight = f"{side.weight:.2f}" if side.weight > 0 else NOTHING
        rows.append(_row(side.name, side.evaluation.to_dict(), weight if weighted else "", ""))
    rows += [_row(name, told, "", "baseline") for name, told in subject.rows.items() if told.get("baseline")]
    head = element(
        "tr",
        element("th", "trees", scope="col"),
        element("th", "weight", scope="col") if weighted else None,
        *(element("th", name, scope="col") for name in _COLUMNS),
    )
    if not weighted:
        rows = [Markup(row.replace("<td></td>", "", 1)) for row in rows]
    table = element(
        "div",
        element("table", element("thead", head), element("tbody", *rows), class_="scores"),
        class_="scroll",
        tabindex=0,
        role="group",
        aria_label="Scores",
    )
    return _section("Scores", table, _conventions(subject))


def _row(name: str, told: Mapping[str, Any], weight: str, kind: str, stars: Mapping[str, str] = {}) -> Markup:
    overall = told["overall"]
    cells: list[Child] = [
        join(_bar(overall["f1"]), _number(overall["f1"]) + stars.get("overall", "")),
        _number(overall["precision"]),
        _number(overall["recall"]),
        _number(told["continuous"]["f1"]) + stars.get("continuous", ""),
        _number(told["discontinuous"]["f1"]) + stars.get("discontinuous", ""),
        _number(told["exact_match"]),
        *(f"{overall[key]:,}" for key in ("matched", "predicted", "gold")),
    ]
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", weight),
        *(element("td", cell) for cell in cells),
        class_=kind or None,
    )


def _bar(value: float | None) -> Markup:
    return element(
        "svg",
        element("rect", class_="all", width=48, height=5, rx=2.5),
        element("rect", class_="part", width=48 * (value or 0) / 100, height=5, rx=2.5),
        class_="meter",
        viewBox="0 0 48 5",
        width=48,
        height=5,
        aria_hidden="true",
    )


def _conventions(subject: Subject) -> Markup:
    found = subject.main.evaluation
    assert found is not None
    count = subject.count
    notes = [f"{count:,} sentence{'s' * (count != 1)} scored under the protocol {subject.protocol.title}."]
    notes += [f"{len(names):,} left out: {why}." for why, names in subject.dropped.items()]
    if found.gold_fan_out_above_2:
        limit = subject.protocol.max_gold_fan_out
        fate = "left out" if limit is not None and limit <= 2 else "counted"
        notes.append(f"{found.gold_fan_out_above_2:,} gold constituents with a fan-out above 2 are {fate}.")
    if subject.stars:
        notes.append("* p < 0.05, ** p < 0.01 against the best run in each score (sign test, one-sided).")
    told = subject.protocol.conventions()
    listed = join(*(join(element("dt", about), element("dd", text)) for about, text in told.items()))
    return join(
        element("p", " ".join(notes), class_="quiet note"),
        element("details", element("summary", "What counts, exactly"), element("dl", listed, class_="plain")),
    )


# ---- charts -----------------------------------------------------------------------------------------


def _charts(subject: Subject) -> Iterator[Markup]:
    if subject.curves:
        yield from _learning(subject.curves)
    if subject.main.evaluation is not None:
        yield from _by_length(subject)
        yield from _by_label(subject)
    if subject.agreement is not None:
        found = subject.agreement
        yield _section(
            "Agreement of runs",
            heat_map(found.runs, found.f1.tolist(), title="F1 of each pair of runs"),
            note=f"F1 of each pair of runs, protocol {found.protocol.title}.",
        )
    if subject.confidence is not None:
        yield from _calibration(subject.confidence)


def _learning(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Markup]:
    for key, name, least in (("f1", "development F1", 0.0), ("perplexity", "development perplexity", None)):
        lines, longest = [], 1
        for run, epochs in curves.items():
            told = [epoch for epoch in epochs if epoch.get(key) is not None]
            points = [(float(epoch["epoch"]), float(epoch[key])) for epoch in told]
            longest = max([longest, *(epoch["epoch"] for epoch in told)])
            selected = [number for number, epoch in enumerate(told) if epoch.get("selected")]
            if points:
                lines.append(Line(run, points, "other", selected[-1:]))
        if lines:
            step = 1 + (longest - 1) // 10
            chart = line_chart(
                lines,
                title=f"{name} by epoch, a line for each run",
                x="epoch",
                y=name,
                ticks={float(epoch): str(epoch) for epoch in range(1, longest + 1, step)},
                least=least,
            )
            yield _section(
                "Learning" if key == "f1" else "Likelihood",
                chart,
                note="A line for each run; the dot is the epoch that was kept.",
            )


def _by_length(subject: Subject) -> Iterator[Markup]:
    found = subject.main.evaluation
    assert found is not None
    if len(found.by_length) < 2:
        return
    names = {float(place): f"{part.name} ({part.sentences:,})" for place, part in enumerate(found.by_length)}
    lines = [
        Line(side.name, _lengths(side.evaluation), "main" if side is subject.main else "other")
        for side in (subject.main, *(run for run in subject.runs if run is not subject.main))
        if side.evaluation is not None
    ]
    chart = line_chart(
        lines, title="F1 by sentence length", x="words (sentences)", y="F1", ticks=names, least=0.0
    )
    yield _section("F1 by length", chart, note=_lines_note(subject))


def _lines_note(subject: Subject) -> str:
    return "" if subject.average is None else "The bold line is the average, the thin ones are the runs."


def _lengths(evaluation: Evaluation) -> list[tuple[float, float]]:
    return [(float(place), part.overall.f1) for place, part in enumerate(evaluation.by_length)]


def _by_label(subject: Subject) -> Iterator[Markup]:
    found = subject.main.evaluation
    assert found is not None
    labelled = subject.protocol.labelled
    runs = [side.evaluation for side in _asked(subject) if side is not subject.main and side.evaluation]
    rows = []
    for label, score in list(found.by_label.items())[:_LABELS]:
        if not score.gold:
            continue
        others = [
            (other.f1 or 0.0) if labelled else other.recall
            for other in (run.by_label.get(label) for run in runs)
            if other is not None
        ]
        value = (score.f1 or 0.0) if labelled else score.recall
        rows.append((label or NO_LABEL, f"{score.gold:,}", value, others))
    if not rows:
        return
    measure = "F1" if labelled else "recall"
    chart = range_chart(rows, title=f"{measure} by gold label", x=f"{measure} (%)", main=subject.main.name)
    left = len([s for s in found.by_label.values() if s.gold]) - len(rows)
    more = f" {left} rarer labels are not shown." if left > 0 else ""
    yield _section(
        f"{measure[0].upper()}{measure[1:]} by label",
        chart,
        note=("Large dots are the average, small ones its runs" if subject.average else "Dots are the run")
        + f"; beside each label its gold constituents.{more}",
    )


def _calibration(confidence: Mapping[str, Any]) -> Iterator[Markup]:
    for kind, told in confidence.items():
        if kind == "risk_coverage" or not told["bins"]:
            continue
        points = [(100 * b["expected"], 100 * b["observed"]) for b in told["bins"]]
        limit = max(max(point) for point in points)
        lines = [
            Line("expected as observed", [(0.0, 0.0), (limit, limit)], "guide"),
            Line("right", points, "main"),
        ]
        chart = line_chart(
            lines,
            title=f"Reliability of probabilities, {kind}",
            x="probability (%)",
            y="right (%)",
            least=0.0,
        )
        yield _section(
            f"Calibration, {kind}",
            chart,
            note=f"{told['candidates']:,} candidates in ten bins of equal size: calibration error "
            f"{told['calibration_error']:.3f}, Brier score {told['brier']:.3f} "
            f"(share of votes {told['votes_brier']:.3f}).",
        )
    if risks := confidence.get("risk_coverage"):
        lines = [
            Line(name, [(100 * p["coverage"], 100 * p[key]) for p in risks], kind)
            for name, key, kind in (
                ("by probability", "risk", "main"),
                ("by votes", "risk_by_votes", "other"),
            )
        ]
        chart = line_chart(
            lines, title="Risk and coverage", x="constituents kept (%)", y="wrong (%)", least=0.0
        )
        yield _section(
            "Risk and coverage",
            chart,
            note="Of the average, the most probable constituents are kept; the thin line keeps by votes.",
        )


def _confusions(subject: Subject) -> Markup | None:
    found = subject.main.evaluation
    if found is None or not found.confusions:
        return None
    head = element("tr", *(element("th", name, scope="col") for name in ("gold", "predicted", "count")))
    rows = [
        element(
            "tr",
            element("th", c.gold or NO_LABEL, scope="row"),
            element("td", c.predicted or NO_LABEL),
            element("td", f"{c.count:,}"),
        )
        for c in found.confusions[:12]
    ]
    return _section("Confused labels", element("table", element("thead", head), element("tbody", *rows)))


# ---- sentences and facts ----------------------------------------------------------------------------


def _disputed(subject: Subject) -> Markup | None:
    if subject.agreement is None:
        return None
    items: list[Markup] = []
    for place in subject.order[:_DISPUTED].tolist():
        dispute = float(subject.dispute[place])
        if not dispute:
            break
        number = int(subject.sentences[place]) + 1
        start, stop = subject.main.trees.word_offsets[place : place + 2].tolist()
        text = " ".join(subject.main.trees.words.decode(start, stop))
        items.append(
            element(
                "li",
                element("a", text, href=f"#s={number}"),
                " ",
                element("span", f"{100 * dispute:.0f}%", class_="quiet"),
            )
        )
    if not items:
        return None
    return _section(
        "Most disputed sentences",
        element("ol", *items, class_="disputed"),
        note="Dispute is 1 − the mean F1 of the average tree with the trees of the runs.",
    )


def _facts(subject: Subject) -> Markup | None:
    if not subject.facts:
        return None
    listed = join(*(join(element("dt", what), element("dd", told)) for what, told in subject.facts.items()))
    return _section("How it was made", element("dl", listed, class_="plain"))
