"""What the scripts of this folder share: data, configurations, budgets of time, results."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

#: When the script began, before PyTorch is imported, which takes seconds.
BEGAN = time.monotonic()
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch  # noqa: E402

from gpu.timing import Budget  # noqa: E402
from treemean.training import Progress, TrainingConfig, load_config  # noqa: E402

#: So many symbols are for a GPU; on a CPU, they would take days.
MANY = 1_000


def arguments(description: str, *, seconds: float) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="folder of prepared corpora")
    parser.add_argument("--out", type=Path, default=Path("out/gpu"), help="folder for the report")
    parser.add_argument("--work", type=Path, default=Path("out/learning"), help="folder for runs")
    parser.add_argument("--seconds", type=float, default=seconds, help="time that the script may take")
    parser.add_argument("--override", action="append", default=[], metavar="a.b=c", help="change a setting")
    return parser


class Report:
    """A JSON file that is written again after every part."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.json"
        self.values: dict[str, Any] = {"device": device_name(), "torch": torch.__version__}
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, **values: Any) -> None:
        """Add some values."""
        self.values |= values
        write_json(self._path, self.values)


def write_json(path: Path, values: Any) -> None:
    """Write a file, whole or not at all."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(values, indent=1, default=str))
    os.replace(temporary, path)


def device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def config_for(data: Path, corpus: str, *overrides: str, preset: str = "tn-lcfrs") -> TrainingConfig:
    """Return a configuration for a corpus that was prepared; its files need not be there.

    Ends with an error where it is too large for the machine.
    """
    grammar = load_config(preset, overrides).grammar
    if grammar.nonterminals + grammar.preterminals + grammar.discontinuous > MANY:
        need_gpu("--override grammar.nonterminals=8 and the like")
    description = data / corpus / "corpus" / "corpus.json"
    if not description.exists():
        sys.exit(f"there is no prepared corpus in {description.parent}: `make gpu-data` makes it")
    files = json.loads(description.read_text())["facts"]["files"]
    names = [name.partition(": ")[2] for name in files["train"]], list(files["development"])
    given = [
        f"data.train={json.dumps([str(data / name) for name in names[0]])}",
        f"data.development={data / names[1][0]}",
    ]
    return load_config(preset, [*given, *overrides])


def need_gpu(smaller: str) -> None:
    """End with an error where there is no GPU, which says how to choose sizes that a CPU can do."""
    if not torch.cuda.is_available():
        sys.exit(f"there is no CUDA device here, which published sizes need; {smaller} makes them smaller")


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
    """Take note of the seconds since this script began; return those of all calls for a folder of runs.

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
