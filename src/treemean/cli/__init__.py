"""The command line: one file per command, each a thin wrapper over functions that return data."""

from treemean.cli import (  # noqa: F401 - they register
    agree,
    average,
    compare,
    convert,
    debug,
    demo,
    draw,
    ensemble,
    evaluate,
    experiment,
    fit,
    info,
    parse,
    report,
    sample,
    stats,
    train,
)
from treemean.cli.app import app, main

__all__ = ["app", "main"]
