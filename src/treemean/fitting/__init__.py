"""Better averages from the same runs: what proposed constituents are worth is fitted to development data."""

from __future__ import annotations

from treemean.fitting.candidates import Candidates, find_candidates
from treemean.fitting.features import Features, features_of
from treemean.fitting.fit import fit
from treemean.fitting.model import MODELS, HitModel, load
from treemean.fitting.objectives import CorpusObjective, ExpectedObjective, SentenceObjective

__all__ = [
    "MODELS",
    "Candidates",
    "CorpusObjective",
    "ExpectedObjective",
    "Features",
    "HitModel",
    "SentenceObjective",
    "features_of",
    "find_candidates",
    "fit",
    "load",
]
