"""Figure 9: sentences that show what an ensemble can do, chosen by a rule and drawn."""

from __future__ import annotations

import numpy as np

from treemean.experiments.main_results import NON_BINARY
from treemean.experiments.paper.outcome import ExperimentOutcome
from treemean.experiments.paper.study import Study
from treemean.reporting.tables import Cell, Table
from treemean.trees import transforms
from treemean.trees.drawing import Panel, Row, draw_sheet_svg

#: How many cases are shown, of how many words.
CASES, SHORTEST, LONGEST = 3, 6, 20
#: How many words stand beside one another.
WIDTH = 40
RULE = (
    f"Of the sentences of {SHORTEST} to {LONGEST} words in which the non-binary ensemble finds a "
    "discontinuous gold constituent, those where its F1 exceeds the mean F1 of its individuals most; of "
    "equal ones the first. Where there are fewer, sentences without one follow by the same order."
)


def cases(study: Study) -> ExperimentOutcome:
    """Draw gold, individuals and ensemble of the sentences that the rule chooses."""
    ensemble = study.results.ensembles[NON_BINARY]
    alone = [scores.sentence_f1 for scores in study.results.chosen.values()]
    mean = np.mean(alone, axis=0)
    gain = ensemble.sentence_f1 - mean
    gold = transforms.remove_punctuation(study.test.gold, drop_empty=False)
    right = ensemble.per_sentence["discontinuous"].matched > 0
    lengths = gold.lengths[ensemble.sentences]
    fits = (lengths >= SHORTEST) & (lengths <= LONGEST)
    order = np.lexsort((np.arange(len(gain)), -gain, ~right, ~fits))[:CASES]
    rows: list[list[Cell]] = []
    drawings = {}
    names = {study.names[i]: run for i, run in zip(study.selection.chosen, study.chosen, strict=True)}
    trees = {**names, NON_BINARY: study.ensembles.non_binary}
    for number, place in enumerate(order.tolist(), 1):
        s = int(ensemble.sentences[place])
        reference = gold[s]
        words = " ".join(reference.words)
        rows.append([f"cases-{number}", s + 1, words, float(ensemble.sentence_f1[place]), float(mean[place])])
        panels = [
            Panel(reference, "gold"),
            *(Panel(bank[s], name, reference) for name, bank in trees.items()),
        ]
        beside = max(1, WIDTH // len(reference.words))
        rows_of_trees = [Row(panels[i : i + beside]) for i in range(0, len(panels), beside)]
        drawings[f"-{number}"] = draw_sheet_svg(rows_of_trees)
    columns = ["case", "sentence", "words", "F1 of the ensemble", "mean F1 of its individuals"]
    title = "Case studies (the paper's Figure 9)"
    return ExperimentOutcome({"": Table(columns, rows, title, [RULE, study.note()])}, drawings=drawings)
