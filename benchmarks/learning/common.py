"""What the programs of this folder share: options, data, configurations, what runs recorded."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import BEGAN
from benchmarks.common import Budget
from benchmarks.corpora import prepared_config
from benchmarks.reports import need_gpu, write_json
from treemean.training import Progress, TrainingConfig, load_config

#: So many symbols are for a GPU; on a CPU, they would take days.
MANY = 1_000


def arguments(description: str, *, seconds: float) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="folder of prepared corpora")
    parser.add_argument("--out", type=Path, default=Path("out/gpu"), help="folder for the report")
    parser.add_argument("--work", type=Path, default=Path("out/learning"), help="folder for runs")
    parser.add_argument("--seconds", type=float, default=seconds, help="time that the program may take")
    parser.add_argument("--override", action="append", default=[], metavar="a.b=c", help="change a setting")
    return parser


def config_for(data: Path, corpus: str, *overrides: str, preset: str = "tn-lcfrs") -> TrainingConfig:
    """Return a configuration for a prepared corpus; end with an error if it is too large for the machine."""
    sizes = [override for override in overrides if override.startswith("grammar.")]
    grammar = load_config(preset, sizes).grammar
    if grammar.nonterminals + grammar.preterminals + grammar.discontinuous > MANY:
        smaller = "--override grammar.nonterminals=8 and the like makes them smaller"
        need_gpu(f", which published sizes need; {smaller}")
    config = prepared_config(data, corpus, *overrides, preset=preset)
    if config is None:
        sys.exit(f"there is no prepared corpus in {data / corpus}: `make gpu-data` makes it")
    return config


def folder_for(work: Path, name: str, data: Path, corpus: str) -> Path:
    """Return the folder of some runs with the prepared corpus in it."""
    folder = work / name
    if not (folder / "corpus").exists():
        shutil.copytree(data / corpus / "corpus", folder / "corpus")
    return folder


def events(folder: Path, run: int = 1, kind: str = "step") -> list[dict[str, Any]]:
    """Return what a run recorded of one kind."""
    lines = (folder / f"run{run:02d}" / "metrics.jsonl").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["event"] == kind]


def note_piece(folder: Path) -> list[float]:
    """Take note of the seconds since this program began; return those of all calls for a folder of runs.

    Calls after the runs were finished do not count.
    """
    path = folder / "pieces.json"
    told: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"seconds": [], "size": 0}
    size = sum(file.stat().st_size for file in folder.glob("run*/metrics.jsonl"))
    if size > told["size"]:
        told = {"seconds": [*told["seconds"], round(time.monotonic() - BEGAN, 1)], "size": size}
        write_json(path, told)
    return list(told["seconds"])


class Reporter:
    """Prints the progress of runs, but of steps only every few seconds."""

    def __init__(self, budget: Budget, every: float = 10.0) -> None:
        self._budget, self._every, self._last = budget, every, 0.0

    def __call__(self, event: Progress) -> None:
        now = time.monotonic()
        if event.kind == "step":
            if now - self._last < self._every:
                return
            self._last = now
        print(f"{self._budget} {event.describe()}", flush=True)
