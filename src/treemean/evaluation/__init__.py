"""Scores of predicted trees under named protocols, and whether differences mean anything."""

from treemean.evaluation.branching import Branching, branching_statistics
from treemean.evaluation.protocols import PROTOCOLS, Protocol, get_protocol
from treemean.evaluation.results import (
    Counts,
    Evaluation,
    LabelRecall,
    LengthBin,
    SentenceCounts,
)
from treemean.evaluation.scores import agreement, correctness, evaluate
from treemean.evaluation.significance import Comparison, Interval, bootstrap_interval, compare

__all__ = [
    "PROTOCOLS",
    "Branching",
    "Comparison",
    "Counts",
    "Evaluation",
    "Interval",
    "LabelRecall",
    "LengthBin",
    "Protocol",
    "SentenceCounts",
    "agreement",
    "bootstrap_interval",
    "branching_statistics",
    "compare",
    "correctness",
    "evaluate",
    "get_protocol",
]
