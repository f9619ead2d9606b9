"""Where a run stands: what checkpoints hold beside tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treemean.files.records import record
from treemean.training.development import DevelopmentScores
from treemean.training.divergence import Watch

#: What checkpoints of earlier versions hold, too: whether steps were to be in float64 for a while.
_FORMER = {"exact", "check"}


@dataclass
class EpochSums:
    """What the steps of an epoch add up to."""

    likelihood: float = 0.0
    divergence: float = 0.0
    words: int = 0
    sentences: int = 0
    skipped: int = 0
    redone: int = 0


@dataclass
class RunState:
    """Where a run stands, beside the tensors of its learner.

    Attributes
    ----------
    epoch, place : the epoch, from 1, and the number of its batches that are done.
    step : all steps so far.
    factor : by what the learning rate was lowered after trouble.
    recoveries : how often that was.
    watch : running means of the objective.
    sums : of this epoch so far.
    best, best_epoch, waited : the best scores, when they were reached, and how many epochs were worse since.
    seconds : time so far, over all interruptions.
    metrics_size : bytes of the file of metrics.
    finished : why the run ended; empty while it goes on.
    """

    epoch: int = 1
    place: int = 0
    step: int = 0
    factor: float = 1.0
    recoveries: int = 0
    watch: Watch = field(default_factory=Watch)
    sums: EpochSums = field(default_factory=EpochSums)
    best: DevelopmentScores | None = None
    best_epoch: int = 0
    waited: int = 0
    seconds: float = 0.0
    metrics_size: int = 0
    finished: str = ""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunState:
        """Make it from what `asdict` returned; raise `ValueError` for what no run can have come to."""
        if isinstance(data, Mapping):
            data = {name: value for name, value in data.items() if name not in _FORMER}
        state = record(cls, data)
        if state.epoch < 1 or not 0 < state.factor <= 1:
            raise ValueError(f"no run is in epoch {state.epoch} with a rate times {state.factor}")
        if state.seconds < 0 or any(level.variance < 0 for level in state.watch.levels.values()):
            raise ValueError("neither time nor a variance is negative")
        return state
