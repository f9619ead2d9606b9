"""The sections of a training configuration; what each setting means stands in presets/tn-lcfrs.toml."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from treemean.errors import InvalidOption
from treemean.grammars import GrammarConfig
from treemean.parsing import Normalisation

Select = Literal["f1", "likelihood"]
_PATH = {"path": True}
#: PyTorch takes no larger seeds, and crashes with thousands of threads.
_SEEDS, _MOST_THREADS = 2**63, 1024


@dataclass(frozen=True)
class DataConfig:
    """`[data]`: what is trained on, and what words become."""

    train: tuple[str, ...] = field(default=(), metadata=_PATH)
    development: str = field(default="", metadata=_PATH)
    format: str = ""
    development_format: str = ""
    held_out: float = 0.02
    lower_case: bool = True
    number: str = "N"
    punctuation: Literal["auto", "tag", "word", "keep"] = "auto"
    vocabulary: int = 10_000
    max_length: int = 40

    def __post_init__(self) -> None:
        _positive("data", self, "vocabulary")
        if self.max_length < 2:
            raise InvalidOption(f"data.max_length must be 2 or more, not {self.max_length}")
        if not 0 < self.held_out < 1:
            raise InvalidOption(f"data.held_out is a share between 0 and 1, not {self.held_out}")

    @property
    def normalisation(self) -> Normalisation:
        """What happens to words."""
        return Normalisation(self.lower_case, self.number, self.punctuation)


@dataclass(frozen=True)
class BatchesConfig:
    """`[batches]`: which sentences are learnt from together, and the curriculum."""

    size: int = 20
    lengths: Literal["equal", "mixed"] = "equal"
    at_once: int = 0
    first_limit: int = 30
    limit_step: int = 4

    def __post_init__(self) -> None:
        _positive("batches", self, "size", "limit_step")
        if self.first_limit < 2 or self.at_once < 0:
            raise InvalidOption("batches.first_limit must be 2 or more, and batches.at_once 0 or more")


@dataclass(frozen=True)
class OptimiserConfig:
    """`[optimiser]`: Adam, its rate over time, and averaged weights."""

    rate: float = 0.002
    betas: tuple[float, float] = (0.75, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float = 3.0
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warm_up: int = 0
    final: float = 0.1
    average: float = 0.0

    def __post_init__(self) -> None:
        _positive("optimiser", self, "rate", "epsilon", "clip")
        if not all(0 <= beta < 1 for beta in (*self.betas, self.average)):
            raise InvalidOption("optimiser.betas and optimiser.average must be at least 0 and below 1")
        if self.warm_up < 0 or not 0 <= self.final <= 1 or self.weight_decay < 0:
            raise InvalidOption(
                "optimiser.warm_up and weight_decay must be 0 or more, and optimiser.final between 0 and 1"
            )


@dataclass(frozen=True)
class LoopConfig:
    """`[training]`: how long, and which model is kept."""

    epochs: int = 30
    patience: int = 10
    select: Select = "f1"
    device: str = "auto"
    precision: Literal["float32", "float64"] = "float32"
    threads: int = 0
    report_every: int = 10

    def __post_init__(self) -> None:
        _positive("training", self, "epochs", "patience", "report_every")
        if not 0 <= self.threads <= _MOST_THREADS:
            raise InvalidOption(f"training.threads must be from 0 to {_MOST_THREADS}, not {self.threads}")


@dataclass(frozen=True)
class RecoveryConfig:
    """`[recovery]`: what is done about jumps of the loss."""

    spike: float = 2.0
    drift: float = 0.3
    window: int = 200
    skips: int = 20
    factor: float = 0.5
    most: int = 5

    def __post_init__(self) -> None:
        _positive("recovery", self, "spike", "drift", "window", "skips", "factor")
        if self.factor > 1 or self.most < 0:
            raise InvalidOption("recovery.factor must be at most 1, and recovery.most 0 or more")


@dataclass(frozen=True)
class CheckpointConfig:
    """`[checkpoint]`: how often the state of a run is saved, beside the end of every epoch."""

    steps: int = 0
    seconds: float = 300.0

    def __post_init__(self) -> None:
        if self.steps < 0 or self.seconds < 0:
            raise InvalidOption("checkpoint.steps and checkpoint.seconds must be 0 or more")


@dataclass(frozen=True)
class RunConfig:
    """`[run]`: seeds, and how many runs."""

    init_seed: int = 1
    order_seed: int = 1
    shared_lengths: bool = True
    runs: int = 10
    parallel: int = 1

    def __post_init__(self) -> None:
        _positive("run", self, "runs", "parallel")
        if not (0 <= self.init_seed < _SEEDS and 0 <= self.order_seed < _SEEDS):
            raise InvalidOption("run.init_seed and run.order_seed must be from 0 to 2**63 - 1")


@dataclass(frozen=True)
class EnsembleConfig:
    """`[ensemble]`: what the runs are good for together; training itself does not look at it."""

    test: str = field(default="", metadata=_PATH)
    test_format: str = ""
    keep: int = 5
    weigh: str = "discontinuous"
    decoder: Literal["mbr", "viterbi"] = "mbr"
    protocol: str = "paper"

    def __post_init__(self) -> None:
        _positive("ensemble", self, "keep")


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides a training run."""

    grammar: GrammarConfig
    data: DataConfig = field(default_factory=DataConfig)
    batches: BatchesConfig = field(default_factory=BatchesConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    training: LoopConfig = field(default_factory=LoopConfig)
    recovery: RecoveryConfig = field(default_factory=RecoveryConfig)
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    run: RunConfig = field(default_factory=RunConfig)
    ensemble: EnsembleConfig = field(default_factory=EnsembleConfig)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return everything by section and name."""
        return {
            section: {
                name: list(value) if isinstance(value, tuple) else value for name, value in content.items()
            }
            for section, content in asdict(self).items()
        }

    def deciding(self) -> dict[str, Any]:
        """Return, by dotted name, the settings on which results depend beyond rounding.

        Files count by their content, which is recorded apart; see `corpus.prepare`.
        """
        return {key: value for key, value in flat(self.to_dict()).items() if not _FREE.intersection(_up(key))}


#: What may change between the parts of a resumed run: sections or settings.
_FREE = {
    *("data.train", "data.development", "data.format", "data.development_format"),
    *(
        "grammar.backend",
        "batches.at_once",
        "training.device",
        "training.threads",
        "checkpoint",
        "run.runs",
        "run.parallel",
    ),
    "ensemble",
}


def _up(key: str) -> tuple[str, str]:
    return key, key.partition(".")[0]


def flat(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return settings by dotted name.

    >>> flat({"run": {"runs": 3}})
    {'run.runs': 3}
    """
    return {f"{section}.{name}": v for section, content in sections.items() for name, v in content.items()}


def _positive(section: str, config: Any, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if not 0 < value < math.inf:
            raise InvalidOption(f"{section}.{name} must be more than 0 and finite, not {value}")
