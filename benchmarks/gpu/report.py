"""Bring measurements home: one JSON file, the tables and figures of docs/gpu.md.

    python benchmarks/gpu/report.py FOLDER …

Each FOLDER may have gpu.json (`make bench-gpu`), quality-*.json, ensemble.json, stability.json, compare.json
(benchmarks/learning) and average.json (its average.py). What is in none of them is kept as it was in
docs/measurements/gpu-h200.json. Tables are written between the marks in docs/gpu.md. Without any folder,
tables and figures are made again from what is kept.

Runs of one kind (quality-KIND.json) may be in several folders of one call, with other seeds in each: they are
joined, and together replace what was kept of that kind, which another version of the code may have made.

Nothing is changed if something is wrong with one of the folders: it is absent, or has results that are from
another device than those that are kept, or that have not come to the end of an epoch and would replace some,
or a run that a folder before it has, too. Epochs for fewer numbers of runs than are kept, since time ran out,
are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu.figures import draw_learning, draw_precision, draw_steps
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
    "stability, compare": "one long run; variants on every third sentence: likewise; overrides: settings "
    "that were changed for all of them",
    "average": "F1 on the test set of runs and of their averages, chosen and weighted by the development set",
}
#: What the names of parts in gpu.json are here; others are not kept.
PARTS = ("trained", "steps", "batches", "runs", "decoding", "viterbi", "parsing", "dense", "epochs")
#: Entries of theirs that are only good for looking at.
LEFT_OUT = {"kernels", "grammar_kernels", "log_z"}
#: Files of one study each, whose runs are under its name.
STUDIES = ("ensemble", "stability", "compare")
QUALITY = "quality-"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", help="that scripts wrote into")
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    target = options.docs / "measurements" / "gpu-h200.json"
    data = json.loads(target.read_text()) if target.exists() else {}
    learnt: dict[str, dict[str, Any]] = {}
    for folder in options.folders:
        found = collect(folder, data)
        join(learnt, found.pop("learning", {}), folder)
        made = {row["part"] for row in found.get("checks", [])}  # perhaps not all
        kept = [row for row in data.get("checks", []) if row["part"] not in made]
        data |= found | {"checks": kept + found.get("checks", [])}
    data["learning"] = replace(data.get("learning", {}), learnt)
    data = rounded({"about": ABOUT} | {key: data[key] for key in data if key != "about"})
    write(target, json.dumps(data, indent=1) + "\n")
    page = options.docs / "gpu.md"
    tables = all_tables(data)
    write(page, fill(page.read_text(), tables))
    for name, text in tables.items():
        print(f"{name}:\n\n{text}\n")
    draw_steps(data, options.docs / "images" / "gpu-steps.svg")
    draw_learning(data, options.docs / "images" / "gpu-learning.svg")
    draw_precision(data["learning"], options.docs / "images" / "gpu-precision.svg")


def collect(folder: Path, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a folder has, in the form in which it is kept; end with an error if that cannot be.

    Parameters
    ----------
    kept : what there is already.
    """
    files = {path.stem: read(path) for path in sorted(folder.glob("*.json")) if is_result(path.stem)}
    if not files:
        refuse(f"there are no results in {folder}" if folder.is_dir() else f"there is no folder {folder}")
    found: dict[str, Any] = {}
    for name, told in files.items():
        file = folder / f"{name}.json"
        check_device(file, told, kept.get("device", found.get("device")), replaced(name, told, kept))
        found |= {key: told[key] for key in ("device", "torch") if key in told}
        if name == "gpu":
            found |= {part: without(told[part]) for part in PARTS if told.get(part)}
            found |= {"checks": checks(told["gate"])} if "gate" in told else {}
            rows, before = (len(part.get("epochs", {}).get("runs", [])) for part in (found, kept))
            if 0 < rows < before:
                del found["epochs"]
                print(f"{file}: epochs are left out: {rows} rows instead of {before}", file=sys.stderr)
        elif name == "average":
            found[name] = {key: value for key, value in told.items() if key != "device"}
        elif not has_epochs(told.get(runs_name(name), {})):
            lost = replaced(name, told, kept)
            if lost:
                refuse(f"{file} has runs of which no epoch is over; what would be lost: {lost}")
            print(f"{file} is left out: it has runs of which no epoch is over", file=sys.stderr)
        elif name in STUDIES:
            keys = ("complete", "corpus", "overrides", "pieces", "epoch_seconds")
            found[name] = {key: told[key] for key in keys if key in told}
            found[name]["runs"] = curves(told[name])
        else:
            found.setdefault("learning", {})[runs_name(name)] = curves(told[runs_name(name)])
    return found


def join(learnt: dict[str, dict[str, Any]], found: Mapping[str, Any], folder: Path) -> None:
    """Add the runs of a folder, by kind, to those of folders before it; the same run twice is an error."""
    for kind, runs in found.items():
        before = learnt.get(kind, {})
        twice = ", ".join(name for name in runs if name in before)
        if twice:
            refuse(f"{folder} has runs that a folder before it has, too: {twice}")
        together = before | runs
        learnt[kind] = {name: together[name] for name in sorted(together, key=lambda name: (len(name), name))}


def replace(kept: Mapping[str, Any], learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs of all kinds, the new ones where there are any; tell which are kept no longer."""
    for kind, runs in learnt.items():
        gone = ", ".join(name for name in kept.get(kind, {}) if name not in runs)
        if gone:
            print(f"kept no longer, as the new runs of {kind} replace all others: {gone}", file=sys.stderr)
    return {**kept, **learnt}


def is_result(name: str) -> bool:
    """Tell whether a file of this name has something to bring home."""
    return name in ("gpu", "average", *STUDIES) or name.startswith(QUALITY)


def runs_name(name: str) -> str:
    """Return the key under which a file of this name has its runs.

    >>> runs_name("ensemble"), runs_name("quality-ours-0")
    ('ensemble', 'ours-0')
    """
    return name.removeprefix(QUALITY)


def has_epochs(runs: Mapping[str, Any]) -> bool:
    """Tell whether there are runs, and each has come to the end of an epoch.

    >>> has_epochs({"run 1": {"epochs": [{}]}}), has_epochs({"run 1": {}}), has_epochs({})
    (True, False, False)
    """
    return bool(runs) and all(run.get("epochs") for run in runs.values())


def read(path: Path) -> dict[str, Any]:
    """Return the results in a file."""
    try:
        told = json.loads(path.read_text())
    except ValueError as error:
        refuse(f"{path} is no JSON: {error}")
    if not isinstance(told, dict):
        refuse(f"{path} has no results")
    return told


def check_device(file: Path, told: Mapping[str, Any], expected: str | None, lost: str) -> None:
    """End with an error if results are not from the device that all others are from."""
    device = told.get("device")
    why = ""
    if device is None:
        why = "does not say on which device it was measured"
    elif expected not in (None, device):
        why = f"was measured on {device}, and what is kept on {expected}"
    if why:
        refuse(f"{file} {why}; what would be lost: {lost or 'nothing, but they would be mixed'}")


def replaced(name: str, told: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """Return, in words, what is kept and would be replaced by a file; nothing if that is nothing.

    >>> runs = {"run 1": {"epochs": [{}, {}]}, "run 2": {"epochs": [{}]}}
    >>> replaced("ensemble", {}, {"ensemble": {"runs": runs}})
    'ensemble (runs: 2, epochs: 2)'
    >>> replaced("gpu", {"gate": {}, "steps": [], "dense": []}, {"steps": [1], "checks": [1]})
    'checks, steps'
    """
    if name == "gpu":
        parts = ["checks"] * ("gate" in told) + [part for part in PARTS if part in told]
        return ", ".join(part for part in parts if kept.get(part))
    if name == "average":
        return name if kept.get(name) else ""
    runs = (
        kept.get(name, {}).get("runs") if name in STUDIES else kept.get("learning", {}).get(runs_name(name))
    )
    if not runs:
        return ""
    return f"{name} (runs: {len(runs)}, epochs: {max(len(run['epochs']) for run in runs.values())})"


def refuse(why: str) -> NoReturn:
    """End with an error; nothing was written before."""
    sys.exit(f"{why}. Nothing was changed.")


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
