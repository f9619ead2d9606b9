"""The files of the demo, fewer of them, on which ensembles are trained in seconds."""

from __future__ import annotations

from pathlib import Path

import treemean
from treemean import transforms
from treemean.experiments.demo import write_demo


def write_small_demo(folder: Path) -> Path:
    """Write text, trees and a configuration to a folder, and return the name of the latter."""
    config = write_demo(folder)
    text = (folder / "train.txt").read_text().splitlines(keepends=True)
    (folder / "train.txt").write_text("".join(text[:150]))
    for name in ("dev.discbracket", "test.discbracket"):
        short = transforms.filter_by_length(treemean.read(folder / name), 2, 8)
        treemean.write(short[:12], folder / name)
    return config
