"""Better averages from the same runs: what proposed constituents are worth is fitted to development data."""

from __future__ import annotations

from treemean.fitting.candidates import Candidates, find_candidates
from treemean.fitting.candidates.features import Features, features_of
from treemean.fitting.models.hit_model import MODELS, HitModel, load
from treemean.fitting.models.objectives import CorpusObjective, ExpectedObjective, SentenceObjective
from treemean.fitting.probabilities import add_probabilities
from treemean.fitting.procedure import fit
from treemean.fitting.procedure.confidence import brier_score, reliability, risk_at

__all__ = [
    "MODELS",
    "Candidates",
    "CorpusObjective",
    "ExpectedObjective",
    "Features",
    "HitModel",
    "SentenceObjective",
    "add_probabilities",
    "brier_score",
    "features_of",
    "find_candidates",
    "fit",
    "load",
    "reliability",
    "risk_at",
]
