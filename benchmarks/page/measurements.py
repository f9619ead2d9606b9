"""What programs measured on a GPU, brought into one form: that of docs/measurements/gpu-h200.json."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

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
    "per word and F1 of the development set; steps left out (skips) and made in full precision (redone), and "
    "how often a run was set back (restores)",
    "ensemble": "ten runs over all sentences: likewise; seconds of the pieces and of the epochs of all runs",
    "stability, compare": "one long run; variants on every third sentence: likewise; overrides: settings "
    "that were changed for all of them",
}
#: What the names of parts in gpu.json are here; others are not kept.
PARTS = ("trained", "steps", "batches", "runs", "decoding", "viterbi", "parsing", "dense", "epochs")
#: Entries of theirs that are only good for looking at.
LEFT_OUT = {"kernels", "grammar_kernels", "log_z"}
#: Files of one study each, whose runs are under its name.
STUDIES = ("ensemble", "stability", "compare")
QUALITY = "quality-"


def bring_home(folders: Sequence[Path], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept with what some folders have; end with an error if that cannot be."""
    data, learnt = dict(kept), dict[str, dict[str, Any]]()
    for folder in folders:
        found = collect(folder, data)
        join(learnt, found.pop("learning", {}), folder)
        made = {row["part"] for row in found.get("checks", [])}  # perhaps not all
        others = [row for row in data.get("checks", []) if row["part"] not in made]
        data |= found | {"checks": others + found.get("checks", [])}
    runs = data.get("learning", {})
    for kind, new in learnt.items():
        gone = ", ".join(name for name in runs.get(kind, {}) if name not in new)
        if gone:
            print(f"kept no longer, as the new runs of {kind} replace all others: {gone}", file=sys.stderr)
    data["learning"] = runs | learnt
    home: dict[str, Any] = rounded({"about": ABOUT} | {key: data[key] for key in data if key != "about"})
    return home


def collect(folder: Path, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a folder has, in the form in which it is kept; end with an error if that cannot be.

    Parameters
    ----------
    kept : what there is already.
    """
    files = {
        path: read(path)
        for path in sorted(folder.glob("*.json"))
        if path.stem in ("gpu", *STUDIES) or path.stem.startswith(QUALITY)
    }
    if not files:
        refuse(f"there are no results in {folder}" if folder.is_dir() else f"there is no folder {folder}")
    found: dict[str, Any] = {}
    for file, told in files.items():
        name, kind = file.stem, file.stem.removeprefix(QUALITY)
        lost = replaced(name, told, kept)
        check_device(file, told, kept.get("device", found.get("device")), lost)
        found |= {key: told[key] for key in ("device", "torch") if key in told}
        if name == "gpu":
            found |= {part: without(told[part]) for part in PARTS if told.get(part)}
            found |= {"checks": checks(told["gate"])} if "gate" in told else {}
            rows, before = (len(part.get("epochs", {}).get("runs", [])) for part in (found, kept))
            if "epochs" in found and rows < before:
                del found["epochs"]
                print(f"{file}: epochs are left out: {rows} rows instead of {before}", file=sys.stderr)
        elif not has_epochs(told.get(kind, {})):
            if lost:
                refuse(f"{file} has runs of which no epoch is over; what would be lost: {lost}")
            print(f"{file} is left out: it has runs of which no epoch is over", file=sys.stderr)
        elif name in STUDIES:
            keys = ("complete", "corpus", "overrides", "pieces", "epoch_seconds")
            found[name] = {key: told[key] for key in keys if key in told} | {"runs": curves(told[kind])}
        else:
            found.setdefault("learning", {})[kind] = curves(told[kind])
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
    lost = f"what would be lost: {lost or 'nothing, but they would be mixed'}"
    if device is None:
        refuse(f"{file} does not say on which device it was measured; {lost}")
    if expected not in (None, device):
        refuse(f"{file} was measured on {device}, and what is kept on {expected}; {lost}")


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
    studied = kept.get(name, {}).get("runs")
    runs = studied if name in STUDIES else kept.get("learning", {}).get(name.removeprefix(QUALITY))
    longest = max((len(run["epochs"]) for run in (runs or {}).values()), default=0)
    return f"{name} (runs: {len(runs)}, epochs: {longest})" if runs else ""


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
            "redone": run.get("redone", 0),
        }
        for name, run in runs.items()
    }


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
