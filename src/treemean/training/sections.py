"""The sections of a training configuration; what each setting means stands in presets/tn-lcfrs.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from treemean.errors import InvalidOption
from treemean.grammars import GrammarConfig
from treemean.names import (
    BatchLengths,
    DialectName,
    EpochRule,
    FileFormat,
    Precision,
    PunctuationRule,
    Schedule,
)
from treemean.parsing import Normalisation
from treemean.training.bounds import MOST_RUNS, PATH, check_within

#: PyTorch takes no larger seeds, and crashes with thousands of threads.
_LARGEST_SEED, _MOST_THREADS = 2**63 - 1, 1024
#: No more steps or the like, no more sentences in a batch, no longer sentence: far beyond all use, and within
#: what can be computed with.
_MANY, _MOST_AT_ONCE, _LONGEST = 10**9, 10**6, 10_000
#: Products of these are within what float32 has room for.
_LARGE, _HUGE = 1000, 1e30
#: Exponentials of a few of these are numbers that a chart has room for; steps with more are computed again.
_STRONG = 20
#: Settings of `[training]` that are about guides.
_OF_GUIDES = ("guidance", "gap_guidance", "other_gaps")
#: What float32 tells apart from zero.
_SMALL = 1e-30


@dataclass(frozen=True)
class DataConfig:
    """`[data]`: what is trained on, and what words become."""

    train: tuple[str, ...] = field(default=(), metadata=PATH)
    development: str = field(default="", metadata=PATH)
    guides: tuple[str, ...] = field(default=(), metadata=PATH)
    format: FileFormat = ""
    development_format: FileFormat = ""
    dialect: DialectName = "auto"
    held_out: float = 0.02
    lower_case: bool = True
    number: str = "N"
    punctuation: PunctuationRule = "auto"
    vocabulary: int = 10_000
    max_length: int = 40

    def __post_init__(self) -> None:
        if not all(self.train):
            raise InvalidOption("data.train has an empty file name: give the name of a file")
        if self.guides and len(self.guides) != len(self.train):
            raise InvalidOption(
                f"data.guides needs as many files as data.train, in the same order, not {len(self.guides)} "
                f"for {len(self.train)}"
            )
        check_within("data", self, 1, _MANY, "vocabulary")
        check_within("data", self, 2, _LONGEST, "max_length")
        if not 0 < self.held_out < 1:
            raise InvalidOption(f"data.held_out must be more than 0 and less than 1, not {self.held_out}")

    @property
    def normalisation(self) -> Normalisation:
        """What happens to words."""
        return Normalisation(self.lower_case, self.number, self.punctuation)


@dataclass(frozen=True)
class BatchesConfig:
    """`[batches]`: which sentences are learnt from together, and the curriculum."""

    size: int = 20
    lengths: BatchLengths = "equal"
    at_once: int = 0
    first_limit: int = 30
    limit_step: int = 4

    def __post_init__(self) -> None:
        check_within("batches", self, 1, _MOST_AT_ONCE, "size")
        check_within("batches", self, 0, _MOST_AT_ONCE, "at_once")
        check_within("batches", self, 1, _MANY, "limit_step")
        check_within("batches", self, 2, _MANY, "first_limit")


@dataclass(frozen=True)
class OptimiserConfig:
    """`[optimiser]`: Adam, its rate over time, and averaged weights."""

    rate: float = 0.002
    betas: tuple[float, float] = (0.75, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float = 3.0
    schedule: Schedule = "constant"
    warm_up: int = 0
    final: float = 0.1
    average: float = 0.0

    def __post_init__(self) -> None:
        _check_positive("optimiser", self, _HUGE, "rate", "clip")
        check_within("optimiser", self, _SMALL, 1, "epsilon")
        check_within("optimiser", self, 0, _LARGE, "weight_decay")
        check_within("optimiser", self, 0, _MANY, "warm_up")
        check_within("optimiser", self, 0, 1, "final")
        if not all(0 <= beta < 1 for beta in (*self.betas, self.average)):
            raise InvalidOption(
                "optimiser.betas and optimiser.average must be at least 0 and below 1, not "
                f"{list(self.betas)} and {self.average}"
            )


@dataclass(frozen=True)
class LoopConfig:
    """`[training]`: how long, and which model is kept."""

    epochs: int = 30
    patience: int = 10
    select: EpochRule = "f1"
    device: str = "auto"
    precision: Precision = "float32"
    guidance: float = 1.0
    gap_guidance: float = 0.0
    other_gaps: float = 0.0
    threads: int = 0
    report_every: int = 10

    def __post_init__(self) -> None:
        check_within("training", self, 1, _MANY, "epochs", "patience", "report_every")
        check_within("training", self, 0, _MOST_THREADS, "threads")
        check_within("training", self, -_STRONG, _STRONG, *_OF_GUIDES)
        together = self.guidance + self.gap_guidance
        if abs(together) > _STRONG:
            raise InvalidOption(
                f"training.guidance and training.gap_guidance must add up to something from {-_STRONG} to "
                f"{_STRONG}, not {together:g}"
            )
        if self.device.partition(":")[0] == "meta":  # of PyTorch; it knows shapes, but no numbers
            raise InvalidOption(
                f"training.device cannot be {self.device!r}, which computes no numbers: give auto, cpu or "
                "cuda"
            )


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
        _check_positive("recovery", self, _HUGE, "spike", "drift")
        _check_positive("recovery", self, 1, "factor")
        check_within("recovery", self, 1, _MANY, "window", "skips")
        check_within("recovery", self, 0, _MANY, "most")


@dataclass(frozen=True)
class CheckpointConfig:
    """`[checkpoint]`: how often a run is saved, beside the end of every epoch, and what is kept."""

    steps: int = 0
    seconds: float = 300.0
    epochs: bool = False

    def __post_init__(self) -> None:
        check_within("checkpoint", self, 0, _MANY, "steps", "seconds")


@dataclass(frozen=True)
class RunConfig:
    """`[run]`: seeds, and how many runs."""

    init_seed: int = 1
    order_seed: int = 1
    shared_lengths: bool = True
    runs: int = 10
    parallel: int = 1

    def __post_init__(self) -> None:
        check_within("run", self, 1, MOST_RUNS, "runs", "parallel")
        check_within("run", self, 0, _LARGEST_SEED, "init_seed", "order_seed")


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides a training run; `experiments.config` adds what follows it."""

    grammar: GrammarConfig
    data: DataConfig = field(default_factory=DataConfig)
    batches: BatchesConfig = field(default_factory=BatchesConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    training: LoopConfig = field(default_factory=LoopConfig)
    recovery: RecoveryConfig = field(default_factory=RecoveryConfig)
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        usual = LoopConfig()
        for name in () if self.data.guides else _OF_GUIDES:
            if getattr(self.training, name) != getattr(usual, name):
                raise InvalidOption(
                    f"training.{name} works only with data.guides, and would change nothing here"
                )

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
        own = {section.name for section in fields(TrainingConfig)}  # not those of a larger configuration
        sections = {section: content for section, content in self.to_dict().items() if section in own}
        free = _FREE if self.data.guides else _FREE | {f"training.{name}" for name in _OF_GUIDES}
        return {key: value for key, value in flat(sections).items() if not free.intersection(_up(key))}


#: What may change between the parts of a resumed run: sections or settings.
_FREE = {
    *("data.train", "data.development", "data.guides"),
    *("data.format", "data.development_format", "data.dialect"),
    *(
        "grammar.backend",
        "batches.at_once",
        "training.device",
        "training.threads",
        "checkpoint",
        "run.runs",
        "run.parallel",
    ),
}


def _up(key: str) -> tuple[str, str]:
    return key, key.partition(".")[0]


def flat(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return settings by dotted name.

    >>> flat({"run": {"runs": 3}})
    {'run.runs': 3}
    """
    return {f"{section}.{name}": v for section, content in sections.items() for name, v in content.items()}


def _check_positive(section: str, config: Any, most: float, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if not 0 < value <= most:
            raise InvalidOption(f"{section}.{name} must be more than 0 and at most {most:g}, not {value}")
