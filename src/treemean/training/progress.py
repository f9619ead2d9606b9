"""What a run tells while it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Progress:
    """A moment of a run.

    Parameters
    ----------
    kind : `step` after some steps, `epoch` after an epoch was measured, `note` for anything else worth
        telling, `end` when the run is finished.
    run : its number.
    epoch, epochs : the epoch, from 1, and how many there are at most.
    step, steps : the steps made in the epoch, and how many it has.
    loss : the objective per sentence of the last steps, in nats.
    perplexity : per word, of the last steps.
    rate : the learning rate.
    words_per_second : of the last steps.
    seconds_left : until the last epoch is over, if training does not end early.
    development : what was measured, see `DevelopmentScores`; after an epoch only.
    selected : whether the epoch is the best so far.
    message : a note, or why the run ended.
    """

    kind: Literal["step", "epoch", "note", "end"]
    run: int
    epoch: int
    epochs: int
    step: int = 0
    steps: int = 0
    loss: float = 0.0
    perplexity: float = 0.0
    rate: float = 0.0
    words_per_second: float = 0.0
    seconds_left: float = 0.0
    development: Mapping[str, Any] = field(default_factory=dict)
    selected: bool = False
    message: str = ""

    def to_json(self) -> str:
        """Return everything as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Progress:
        """Make it from what `to_json` returned."""
        return cls(**json.loads(line))

    def describe(self) -> str:
        """Return one line for people.

        >>> print(Progress("note", 1, 2, 30, message="4 empty lines left out").describe())
        run 1, epoch 2/30: 4 empty lines left out
        """
        text = f"run {self.run}, epoch {self.epoch}/{self.epochs}"
        if self.kind == "step":
            return (
                f"{text}, step {self.step}/{self.steps}: loss {short(self.loss, 3)}, "
                f"perplexity {short(self.perplexity)}, {self.words_per_second:,.0f} words/s, "
                f"{clock(self.seconds_left)} left"
            )
        if self.kind == "epoch":
            return (
                f"{text}: {described_scores(self.development)}{', the best so far' if self.selected else ''}"
            )
        return f"{text}: {self.message}"


def described_scores(scores: Mapping[str, Any]) -> str:
    """Return development scores in words.

    >>> described_scores({"perplexity": 99.5, "f1": 40.0, "f1_continuous": 45.0, "f1_discontinuous": 2.5})
    'development perplexity 99.5, F1 40.00 (continuous 45.00, discontinuous 2.50)'
    """
    text = f"development perplexity {short(scores['perplexity'])}"
    if scores.get("f1") is not None:
        text += f", F1 {scores['f1']:.2f} (continuous {scores['f1_continuous']:.2f}, "
        text += f"discontinuous {scores['f1_discontinuous']:.2f})"
    if scores.get("again"):
        text += f", {scores['again']} sentences computed again in float64"
    return text


def described_redone(redone: int, made: int, steps: int) -> str:
    """Return in words what became of steps that gave NaN and were computed in float64.

    Parameters
    ----------
    redone, made : how many these were, and how many of them could be made.
    steps : of how many.

    >>> print(described_redone(3, 3, 50))
    3 of 50 steps gave NaN; in float64 they were made
    >>> print(described_redone(3, 1, 50))
    3 of 50 steps gave NaN; in float64 1 of them was made
    """
    if made == redone:
        fate = "it was made" if made == 1 else "they were made"
    elif made:
        fate = f"{made} of them {'was' if made == 1 else 'were'} made"
    else:
        fate = "neither"
    return f"{redone} of {steps} steps gave NaN; in float64 {fate}"


def short(value: float, places: int = 1) -> str:
    """Return a perplexity or the like in few digits, also that of a grammar that went astray.

    >>> short(99.52), short(9.95, 3), short(2e120), short(float("inf"))
    ('99.5', '9.950', '2.0e+120', 'inf')
    """
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.1e}"


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> clock(3725)
    '1:02:05'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


#: Is called with every moment of a run.
Watcher = Callable[[Progress], None]
