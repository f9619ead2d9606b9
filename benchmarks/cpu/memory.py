"""The memory that each command takes, by the number of sentences.

    python -m benchmarks.cpu.memory [--sizes 3000 30000 300000] [--only evaluate average …]

Each number is the largest resident set of a process of the command, its workers among them. The trees are
those of `benchmarks.cpu.scaling`, with the first run as gold.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import show
from benchmarks.cpu.scaling import write_runs

# Runs a command, and prints the largest memory of a process that it, or one of its workers, had.
MEASURE = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "treemean", *sys.argv[1:]], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def commands(folder: Path, runs: list[Path], hits: Path, model: Path, size: int) -> dict[str, list[object]]:
    """Return every command that reads treebanks, by what it is called in the table."""
    gold, *others = runs
    out = folder / "out"
    mean = ["average", *runs]
    engine = ["--engine", "local", "--workers", 2]
    return {
        "stats": ["stats", gold],
        "convert": ["convert", gold, f"{out}.jsonl"],
        "draw one sentence": ["draw", gold, "--sentences", 1],
        "average": [*mean, "-o", f"{out}.parquet"],
        "average --probability": [*mean, "-o", f"{out}.parquet", "--probability"],
        "average --hits, of the corpus": [*mean, "-o", f"{out}.parquet", "--hits", hits],
        "average --engine local": [*mean, "-o", f"{out}-mean", *engine],
        "average --probability --engine local": [*mean, "-o", f"{out}-sure", "--probability", *engine],
        "evaluate": ["evaluate", others[0], gold],
        "evaluate --per-sentence": ["evaluate", others[0], gold, "--per-sentence", f"{out}.csv"],
        "evaluate --engine local": ["evaluate", others[0], gold, *engine],
        "compare": ["compare", others[0], others[1], gold],
        "compare --test bootstrap": ["compare", others[0], others[1], gold, "--test", "bootstrap"],
        "agree": ["agree", *runs],
        "agree --labelled --disputed": ["agree", *runs, "--labelled", "--disputed", f"{out}-disputed.csv"],
        "agree --json": ["agree", *runs, "--json"],
        "fit --model agreement": ["fit", *runs, "--model", "agreement", "-o", f"{out}-hits.json"],
        "fit --gold, logistic": [
            *("fit", *others, "--gold", gold, "--model", "logistic", "-o", f"{out}-hits.json"),
        ],
        "fit --gold, boosted": [
            *("fit", *others, "--gold", gold, "--model", "boosted", "-o", f"{out}-hits.json"),
        ],
        "report": ["report", *others, "--gold", gold, "-o", f"{out}.html"],
        "report --most 1000": ["report", *others, "--gold", gold, "-o", f"{out}.html", "--most", 1000],
        "report --probability": ["report", *others, "--gold", gold, "-o", f"{out}.html", "--probability"],
        "sample --generate": ["sample", f"{out}-sample.dbr", "--generate", size],
        "parse --jobs 2": [
            *("parse", model, gold, "-o", f"{out}-parsed.jsonl", "--max-length", 5, "--jobs", 2),
        ],
        "parse": ["parse", model, gold, "-o", f"{out}-parsed.jsonl", "--max-length", 5],
        "parse --engine local": ["parse", model, gold, "-o", f"{out}-parsed", "--max-length", 5, *engine],
    }


def memory_of(command: list[object]) -> int:
    """Return megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, command)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return round(int(done.stdout) / 1024)


def prepare(folder: Path, count: int) -> tuple[Path, Path]:
    """Return a file of hits that look at the corpus, and a small parser that learnt nothing."""
    import torch

    from treemean import read
    from treemean.fitting import fit
    from treemean.grammars import GrammarConfig, build_grammar
    from treemean.parsing import Model, Normalisation, Vocabulary

    runs = [read(path) for path in write_runs(folder, 300, count)]
    hits = folder / "hits.json"
    fit(runs, runs[0], "logistic", names=[f"run{number}" for number in range(1, count + 1)]).save(hits)
    torch.manual_seed(1)
    vocabulary = Vocabulary([f"word{number:x}" for number in range(1000)])
    config = GrammarConfig("tn-pcfg", 4, 5, ranks=(4, 0, 0, 0), embedding=8)
    Model(build_grammar(config, len(vocabulary)), vocabulary, Normalisation(), {}).save(folder / "model")
    return hits, folder / "model"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[3_000, 30_000, 300_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="beginnings of names")
    given = parser.parse_args()
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="treemean-") as place:
        hits, model = prepare(Path(place), given.runs)
        for size in given.sizes:
            folder = Path(place) / str(size)
            folder.mkdir()
            runs = write_runs(folder, size, given.runs)
            for name, command in commands(folder, runs, hits, model, size).items():
                if given.only and not name.startswith(tuple(given.only)):
                    continue
                found.setdefault(name, []).append(f"{memory_of(command):,}")
                print(f"{size:,} {name}: {found[name][-1]} MB", file=sys.stderr, flush=True)
    columns = ["command", *(f"{size:,} sentences" for size in given.sizes)]
    show(columns, [[name, *row] for name, row in found.items()], f"megabytes, {given.runs} runs")


if __name__ == "__main__":
    main()
