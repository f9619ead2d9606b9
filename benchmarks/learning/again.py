"""Trees of the training sentences by trained models, so that others can learn again from their averages.

    python -m benchmarks.learning.again MODEL … --names run01 … --text train.txt.gz --out FOLDER

writes FOLDER/run01.jsonl.gz, … on a machine where nothing can be installed: trees of all sentences, those of
too long ones with only a root. Several models parse at a time, in processes of their own. Here,

    cd FOLDER; treemean fit run*.jsonl.gz c.jsonl.gz --model apart --gaps-from c.jsonl.gz -o hits.json
    treemean average run*.jsonl.gz c.jsonl.gz --hits hits.json -o guides.jsonl.gz
    python -m benchmarks.learning.prepare --out out/gpu-data --guides FOLDER/guides.jsonl.gz

average the trees and make a corpus with guides; and there

    python -m benchmarks.learning.discontinuity --corpus full-guided --variant base training.guidance=0 \\
        --variant guided training.gap_guidance=2 training.other_gaps=-3

compares runs that learn again with runs from the same initialisations that do not. docs/discontinuity.md
says which runs and settings were tried so, and what came out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from treemean.formats import TreebankWriter
from treemean.parsing import Model, parse, read_sentences

#: Sentences of more words are not learnt from, and not parsed.
LONGEST = 40
PROGRAM = [sys.executable, "-m", "benchmarks.learning.again"]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", type=Path, nargs="+", help="folders of models")
    parser.add_argument("--names", nargs="+", help="of their files; by default run01, run02, …")
    parser.add_argument("--text", type=Path, required=True, help="the training text")
    parser.add_argument("--out", type=Path, default=Path("out/again"), help="folder for the trees")
    parser.add_argument("--longest", type=int, default=LONGEST, help="longer sentences have only a root")
    parser.add_argument("--together", type=int, default=4, help="how many models at a time")
    options = parser.parse_args(words)
    names = options.names or [f"run{number:02d}" for number in range(1, len(options.models) + 1)]
    todo = [
        (model, options.out / f"{name}.jsonl.gz")
        for model, name in zip(options.models, names, strict=True)
        if not (options.out / f"{name}.jsonl.gz").exists()
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    if len(todo) == 1:
        write_trees(*todo[0], options.text, options.longest)
        return
    for start in range(0, len(todo), options.together):
        shared = ["--text", options.text, "--out", options.out, "--longest", str(options.longest)]
        begun = [
            subprocess.Popen([*PROGRAM, model, "--names", file.name.split(".")[0], *shared])
            for model, file in todo[start : start + options.together]
        ]
        ended = [process.wait() for process in begun]
        if any(ended):
            sys.exit("a model could not be parsed with")


def write_trees(path: Path, file: Path, text: Path, longest: int) -> None:
    """Parse a text with a model; the file appears when it is complete."""
    began = time.monotonic()
    model = Model.load(path, device="cuda" if torch.cuda.is_available() else "cpu")
    sentences = read_sentences(text, model.normalisation)
    count = 0
    with TreebankWriter(file) as writer:
        for trees in parse(model, sentences, max_length=longest):
            writer.write(trees)
            count += len(trees)
    print(f"{file.name}: {count} sentences in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
