"""Training parsers on raw text: configurations, the loop, checkpoints, many runs of one initialisation.

Names are loaded when they are first used: `python -m treemean.training` begins with this file, and should be
able to tell what is missing, or to be interrupted, while the rest is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.training.config import Resolved, load_config, preset_names, resolve
    from treemean.training.folders import RunResult
    from treemean.training.learner import Learner, Outcome, Request
    from treemean.training.progress import Progress
    from treemean.training.runs import train_runs
    from treemean.training.sections import TrainingConfig
    from treemean.training.train import train

__all__ = [
    "Learner",
    "Outcome",
    "Progress",
    "Request",
    "Resolved",
    "RunResult",
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
    "learner": ("Learner", "Outcome", "Request"),
    "progress": ("Progress",),
    "runs": ("train_runs",),
    "sections": ("TrainingConfig",),
    "train": ("train",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


class _Package(ModuleType):
    """This package, in which `train` is the function, also after the module of that name is imported."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import_module("treemean.parsing")  # tells what to install if PyTorch is missing
        value = getattr(import_module(_HOME_OF[name]), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
