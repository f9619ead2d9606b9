"""Bring measurements home: one JSON file, the tables and figures of docs/gpu.md.

    python benchmarks/gpu/report.py FOLDER …

Each FOLDER may have gpu.json (`make bench-gpu`), quality-*.json, ensemble.json, stability.json, compare.json
(benchmarks/learning) and average.json (its average.py). What is in none of them is kept as it was in
docs/measurements/gpu-h200.json. Tables are written between the marks in docs/gpu.md. Without any folder,
tables and figures are made again from what is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu.figures import draw_learning, draw_steps
from gpu.learning_tables import learning_tables
from gpu.tables import (
    checks_table,
    decoding_table,
    dense_table,
    epochs_table,
    parsing_table,
    runs_table,
    steps_table,
    trained_table,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
ABOUT = {
    "device, torch": "on and with what the newest of the measurements were made",
    "checks": "largest errors against float64 at published sizes: log_z in nats, gradients relative to their "
    "norm, posteriors absolute; parameters: each gradient alone; same_bits: whether twice the same is equal",
    "trained": "after some seconds of training on the Dutch text (learnt: sentences), by words: mean log Z "
    "(value), by how many nats it is off (largest, mean), by rules or inside algorithm alone; gradients: "
    "relative to their norm",
    "steps, batches, runs": "a training step as one CUDA graph, n words, batch sentences of each run: "
    "milliseconds of the whole and of its parts, memory in GiB; vocabulary of 10,000",
    "decoding, viterbi": "MBR trees of a batch, milliseconds: graph (posteriors, ways) and reading of trees; "
    "trees of best derivations: rules, chart and walk as graphs; eager: call by call",
    "parsing": "seconds in which 1,000 sentences are parsed; first: with kernels to be compiled",
    "dense": "a step of the grammars without ranks, milliseconds as a graph and call by call (eager), GiB",
    "epochs": "training on the Dutch text: milliseconds of steps by length, GiB for all their graphs, "
    "seconds of an epoch and sentences per second of all runs, expected from steps and measured; together: a "
    "run alone and with others; development: seconds to measure the development set",
    "learning": "every third sentence, by kind (precision-floor) and initialisation: after each epoch, nats "
    "per word and F1 of the development set; steps left out (skips) and made in full precision (redone), how "
    "often a run was set back (restores), and the largest error of log Z per word that its checks found "
    "(accuracy)",
    "ensemble": "ten runs over all sentences: likewise; seconds of the pieces and of the epochs of all runs",
    "stability, compare": "one long run; variants on every third sentence: likewise",
    "average": "F1 on the test set of runs and of their averages, chosen and weighted by the development set",
}
#: What the names of parts in gpu.json are here; others are not kept.
PARTS = ("trained", "steps", "batches", "runs", "decoding", "viterbi", "parsing", "dense", "epochs")
#: Entries of theirs that are only good for looking at.
LEFT_OUT = {"kernels", "grammar_kernels", "log_z"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", help="that scripts wrote into")
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    target = options.docs / "measurements" / "gpu-h200.json"
    data = json.loads(target.read_text()) if target.exists() else {}
    for folder in options.folders:
        found = collect(folder)
        learning = data.get("learning", {}) | found.get("learning", {})
        made = {row["part"] for row in found.get("checks", [])}  # perhaps not all
        kept = [row for row in data.get("checks", []) if row["part"] not in made]
        data |= found | {"learning": learning, "checks": kept + found.get("checks", [])}
    data = rounded({"about": ABOUT} | {key: data[key] for key in data if key != "about"})
    write(target, json.dumps(data, indent=1) + "\n")
    page = options.docs / "gpu.md"
    tables = all_tables(data)
    write(page, fill(page.read_text(), tables))
    for name, text in tables.items():
        print(f"{name}:\n\n{text}\n")
    draw_steps(data, options.docs / "images" / "gpu-steps.svg")
    draw_learning(data, options.docs / "images" / "gpu-learning.svg")


def collect(folder: Path) -> dict[str, Any]:
    """Return what a folder has, in the form in which it is kept."""
    found: dict[str, Any] = {}
    files = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    if "gpu" in files:
        measured = files["gpu"]
        found |= {name: without(measured[name]) for name in PARTS if measured.get(name)}
        if "gate" in measured:
            found["checks"] = checks(measured["gate"])
    kinds = {name.removeprefix("quality-"): told for name, told in files.items() if name[:8] == "quality-"}
    if kinds:
        found["learning"] = {kind: curves(told[kind]) for kind, told in kinds.items() if kind in told}
    for name in ("ensemble", "stability", "compare"):
        if name in files:
            keys = ("complete", "corpus", "pieces", "epoch_seconds")
            found[name] = {key: files[name][key] for key in keys if key in files[name]}
            found[name]["runs"] = curves(files[name][name])
    if "average" in files:
        found["average"] = files["average"]
    for told in files.values():
        found |= {key: told[key] for key in ("device", "torch") if key in told}
    return found


def without(value: Any) -> Any:
    """Return measurements without what is only good for looking at."""
    if isinstance(value, Mapping):
        return {key: without(item) for key, item in value.items() if key not in LEFT_OUT}
    return [without(item) for item in value] if isinstance(value, list) else value


def checks(gate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the errors of every check in few numbers."""
    rows = []
    for part in ("inside", "grammars", "trees", "dense"):
        for entry in gate.get(part, []):
            row: dict[str, Any] = {"part": part, "case": entry["case"], "good": entry["good"]}
            found = entry["found"]
            if isinstance(found, Mapping):
                errors = found.get("halves", found)
                gradients = errors.get("whole", errors.get("gradients"))
                row["log_z"] = errors.get("log_z")
                row["gradients"] = max(gradients.values()) if isinstance(gradients, Mapping) else gradients
                row["posteriors"] = errors.get("posteriors")
                row["same_bits"] = found.get("repeatable", found.get("same_bits"))
                row["parameters"] = errors.get("errors")
            rows.append({key: value for key, value in row.items() if value is not None})
    return rows


def curves(runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what runs reached after each epoch, and how often something went wrong."""
    return {
        name: {
            "epochs": [
                {
                    "epoch": epoch["epoch"],
                    "seconds": epoch["seconds"],
                    "nats": -epoch["log_likelihood"] / epoch["words"],
                    "overall": epoch["f1"],
                    "continuous": epoch["f1_continuous"],
                    "discontinuous": epoch["f1_discontinuous"],
                }
                for epoch in run["epochs"]
            ],
            "skips": run["skips"],
            "restores": len(run["restores"]),
            **(
                {"redone": run["redone"], "accuracy": largest(run["accuracy"])} if run.get("accuracy") else {}
            ),
        }
        for name, run in runs.items()
        if run
    }


def largest(errors: Sequence[float | None]) -> float | None:
    """Return the largest error, or None if one was not finite, for which metrics have null.

    >>> largest([1e-5, 3e-4]), largest([1e-5, None])
    (0.0003, None)
    """
    finite = [error for error in errors if error is not None]
    return max(finite) if len(finite) == len(errors) else None


def rounded(value: Any) -> Any:
    """Return numbers with six digits, which is more than the machine repeats.

    >>> rounded({"whole": [2.08198392, 3]})
    {'whole': [2.08198, 3]}
    """
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def all_tables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables by the names of their marks; only those for which something was measured."""
    makers = {
        "checks": checks_table,
        "trained": trained_table,
        "steps": steps_table,
        "runs": runs_table,
        "decoding": decoding_table,
        "parsing": parsing_table,
        "epochs": epochs_table,
        "dense": dense_table,
    }
    return {name: make(data) for name, make in makers.items() if data.get(name)} | learning_tables(data)


def fill(page: str, tables: Mapping[str, str]) -> str:
    r"""Return a page with tables between their marks.

    >>> fill("a\n<!-- steps -->\nold\n<!-- end -->\nb", {"steps": "new"})
    'a\n<!-- steps -->\nnew\n<!-- end -->\nb'
    """
    for name, text in tables.items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        if not mark:
            print(f"there is no place for the table {name!r} in the page", file=sys.stderr)
            continue
        _, end, after = rest.partition("<!-- end -->")
        page = f"{before}{mark}{text}\n{end}{after}"
    return page


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


if __name__ == "__main__":
    main()
