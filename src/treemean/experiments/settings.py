"""`[ensemble]` of a configuration: what runs are good for together. Needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field

from treemean.names import DecoderName, EnsembleModel, FileFormat, Individuals, ProtocolName, WeightRule
from treemean.training.bounds import MOST_RUNS, PATH, check_within


@dataclass(frozen=True)
class EnsembleConfig:
    """`[ensemble]`: what the runs are good for together; training itself does not look at it."""

    test: str = field(default="", metadata=PATH)
    test_format: FileFormat = ""
    others: tuple[str, ...] = field(default=(), metadata=PATH)
    individuals: Individuals = "runs"
    model: EnsembleModel = "paper"
    keep: int = 5
    weigh: WeightRule = "discontinuous"
    decoder: DecoderName = "mbr"
    protocol: ProtocolName = "paper"

    def __post_init__(self) -> None:
        check_within("ensemble", self, 1, MOST_RUNS, "keep")
