"""Training parsers on raw text: configurations, the loop, checkpoints, many runs of one initialisation."""

from treemean import parsing as _parsing  # noqa: F401 - tells what to install if PyTorch is missing
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
