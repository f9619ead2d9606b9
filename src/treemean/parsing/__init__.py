"""Trained parsers: what a model is, how text is read for it, and parsing with it."""

from __future__ import annotations

from treemean.errors import MissingDependency

try:
    import numpy  # noqa: F401 - PyTorch begins without it
    import safetensors
    import torch
except ImportError as error:
    raise MissingDependency(
        f"training and parsing need PyTorch and safetensors ({error}): pip install 'treemean[train]'"
    ) from error

from treemean.parsing.model import Model
from treemean.parsing.normalisation import Normalisation
from treemean.parsing.parse import ParseCounts, parse
from treemean.parsing.text import ReadCounts, Sentence, read_sentences
from treemean.parsing.vocabulary import UNKNOWN, Vocabulary

__all__ = [
    "UNKNOWN",
    "Model",
    "Normalisation",
    "ParseCounts",
    "ReadCounts",
    "Sentence",
    "Vocabulary",
    "parse",
    "read_sentences",
]

del safetensors, torch
