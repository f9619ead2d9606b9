"""Configurations of whole experiments: those of training, and what becomes of the runs together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from treemean.experiments.settings import EnsembleConfig
from treemean.training import Resolved, TrainingConfig  # tells what to install if PyTorch is missing
from treemean.training.config import resolve_as

__all__ = ["EnsembleConfig", "ExperimentConfig", "load_config", "resolve"]


@dataclass(frozen=True)
class ExperimentConfig(TrainingConfig):
    """Everything that decides an experiment."""

    ensemble: EnsembleConfig = field(default_factory=EnsembleConfig)


def load_config(source: str | os.PathLike[str], overrides: Iterable[str] = ()) -> ExperimentConfig:
    """Return the configuration of a TOML file or of a preset, see `training.resolve`.

    >>> load_config("tn-lcfrs", ["ensemble.keep=3"]).ensemble.keep
    3
    """
    return resolve(source, overrides).config


def resolve(source: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Resolved[ExperimentConfig]:
    """Bring a configuration together and tell where each value comes from, see `training.resolve`."""
    return resolve_as(ExperimentConfig, source, overrides)


def files_of(config: TrainingConfig) -> list[str]:
    """Return the files of data that a configuration names, which no run may write over."""
    data = config.data
    test = config.ensemble.test if isinstance(config, ExperimentConfig) else ""
    return [path for path in (*data.train, data.development, test) if path]
