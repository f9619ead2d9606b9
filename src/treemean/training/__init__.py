"""Training parsers on raw text: configurations, the loop, checkpoints, many runs of one initialisation.

Names are loaded when they are first used: `python -m treemean.training` begins with this file, and should be
able to tell what is missing, or to be interrupted, while the rest is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.training.config import Resolved, load_config, preset_names, resolve
    from treemean.training.folders import RunResult
    from treemean.training.learner import Learner, Request, StepOutcome
    from treemean.training.progress import Progress
    from treemean.training.runs import train_runs
    from treemean.training.sections import TrainingConfig
    from treemean.training.single import train

__all__ = [
    "Learner",
    "Progress",
    "Request",
    "Resolved",
    "RunResult",
    "StepOutcome",
    "TrainingConfig",
    "load_config",
    "preset_names",
    "resolve",
    "train",
    "train_runs",
]

_HOMES = {
    "config": ("Resolved", "load_config", "preset_names", "resolve"),
    "folders": ("RunResult",),
    "learner": ("Learner", "StepOutcome", "Request"),
    "progress": ("Progress",),
    "runs": ("train_runs",),
    "sections": ("TrainingConfig",),
    "single": ("train",),
}


#: What names were called.
_FORMER = {"Outcome": "StepOutcome"}


def __getattr__(name: str) -> Any:
    name = _FORMER.get(name, name)
    for module, names in _HOMES.items():
        if name in names:
            import_module("treemean.parsing")  # tells what to install if PyTorch is missing
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
