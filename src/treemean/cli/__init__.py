"""The command line: one file per command, each a thin wrapper over functions that return data."""

from treemean.cli import average, compare, convert, demo, draw, evaluate, fit, sample, stats  # noqa: F401 - they register
from treemean.cli.app import app, main

__all__ = ["app", "main"]
