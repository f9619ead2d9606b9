"""Scores of predicted trees under named protocols, and whether differences mean anything."""

from treemean.evaluation.branching import Branching, branching_statistics
from treemean.evaluation.protocols import PROTOCOLS, Protocol, get_protocol, read_prm
from treemean.evaluation.results import (
    Confusion,
    Counts,
    Evaluation,
    LabelScore,
    LengthBin,
    SentenceCounts,
    TagCounts,
)
from treemean.evaluation.scores import (
    Judgement,
    agreement,
    correct_spans,
    correctness,
    evaluate,
    judge,
)
from treemean.evaluation.significance import Comparison, Interval, bootstrap_interval, compare
from treemean.evaluation.single import compare_trees

__all__ = [
    "PROTOCOLS",
    "Branching",
    "Comparison",
    "Confusion",
    "Counts",
    "Evaluation",
    "Interval",
    "Judgement",
    "LabelScore",
    "LengthBin",
    "Protocol",
    "SentenceCounts",
    "TagCounts",
    "agreement",
    "bootstrap_interval",
    "branching_statistics",
    "compare",
    "compare_trees",
    "correct_spans",
    "correctness",
    "evaluate",
    "get_protocol",
    "judge",
    "read_prm",
]
