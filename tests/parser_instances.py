"""Small corpora and configurations on which parsers are trained in a second."""

from __future__ import annotations

from pathlib import Path

from treemean import write
from treemean.training import TrainingConfig, load_config
from treemean.trees import Tree, Treebank

#: Sizes of a grammar that is trained in milliseconds.
SIZES = {"nonterminals": 4, "preterminals": 5, "discontinuous": 3, "ranks": [4, 2, 4, 2], "embedding": 8}

#: An ensemble of two such grammars, as overrides of a configuration.
TINY_ENSEMBLE = [
    *(f"grammar.{name}={size}" for name, size in SIZES.items()),
    *("data.vocabulary=50", "data.max_length=6", "training.epochs=1"),
    *("run.runs=2", "run.parallel=1", "ensemble.keep=2"),
]

_SIZES = "\n".join(f"{name} = {size}" for name, size in SIZES.items())

#: Such a grammar, and little else changed.
TINY = f"""
extends = "tn-lcfrs-small"

[grammar]
{_SIZES}

[data]
train = ["train.txt"]
development = "dev.jsonl"
max_length = 7

[batches]
size = 4
first_limit = 6

[optimiser]
rate = 0.002
schedule = "constant"
warm_up = 0

[training]
epochs = 2
threads = 1
report_every = 3

[checkpoint]
seconds = 0.0
steps = 3

[run]
runs = 2
"""

SENTENCES = [
    "De kat slaapt .",
    "Ik zie de kat",
    "Heb jij de hond gezien ?",
    "De hond , die slaapt , ziet 25 katten .",
    "Slaap !",
    "Zij heeft de 3 katten gisteren gezien",
    "De oude hond ziet de kat .",
    "Ik heb geslapen",
    "De kat zag de oude hond gisteren .",
    "Jij slaapt",
    "Wie ziet de hond ?",
    "Gisteren sliep de kat .",
]


def gold_trees() -> Treebank:
    """Return trees over some of the sentences, right-branching but for a gap in some."""
    trees = []
    for number, text in enumerate(SENTENCES):
        words = text.split()
        n = len(words)
        constituents = [(range(n), "S")] + [(range(i, n - 1), "X") for i in range(1, n - 2)]
        if n == 5:
            constituents = [(range(n), "S"), ({0, 3}, "VP"), ({1, 2}, "NP")]
        trees.append(Tree(words, constituents, id=str(number)))
    return Treebank.from_trees(trees)


def write_instance(folder: Path) -> Path:
    """Write corpus, gold trees and configuration to a folder and return the configuration's name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.txt").write_text("\n".join(SENTENCES * 3) + "\n", encoding="utf-8")
    write(gold_trees(), folder / "dev.jsonl")
    path = folder / "config.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


def tiny_config(folder: Path, *overrides: str) -> TrainingConfig:
    """Return the configuration of an instance in a folder."""
    return load_config(write_instance(folder), overrides)
