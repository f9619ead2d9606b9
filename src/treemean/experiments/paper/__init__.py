"""Every results table and figure of the paper, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from treemean.experiments.paper.cases import cases
from treemean.experiments.paper.efficiency import pruning, run_time
from treemean.experiments.paper.individuals import individuals
from treemean.experiments.paper.outcome import ExperimentOutcome
from treemean.experiments.paper.scores import agreements, correlation, labels, main, positives
from treemean.experiments.paper.study import Study
from treemean.names import ExperimentName

#: By name, what makes it.
EXPERIMENTS: Mapping[ExperimentName, Callable[[Study], ExperimentOutcome]] = MappingProxyType(
    {
        "main": main,  # Table 2
        "positives": positives,  # Table 3
        "correlation": correlation,  # Figure 2
        "individuals": individuals,  # Figure 3
        "pruning": pruning,  # Figure 4
        "run-time": run_time,  # Figure 5
        "labels": labels,  # Figure 8
        "cases": cases,  # Figure 9
        "agreement": agreements,
    }
)


def run_experiment(
    name: ExperimentName, study: Study, folder: str | os.PathLike[str]
) -> tuple[ExperimentOutcome, list[Path]]:
    """Make a table or figure of the paper, write it, and return it with the files."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    outcome = EXPERIMENTS[name](study)
    return outcome, outcome.write(place, name)
