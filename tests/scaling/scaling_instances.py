"""Small treebanks for jobs over shards, and what compares the folders that jobs write."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

from parser_instances import SENTENCES
from treemean import sample, scaling, write
from treemean.trees import Treebank

SHARD = 40


def runs_of(count: int, sentences: int) -> list[Treebank]:
    """Return runs of the sample, repeated until there are so many sentences, each with an id of its own."""
    from treemean.trees.strings import Strings

    runs = sample.runs()[:count]
    times = -(-sentences // len(runs[0]))
    ids = Strings.of(f"s{number}" for number in range(sentences))
    return [Treebank.concatenate([run] * times)[:sentences].with_columns(ids=ids) for run in runs]


def write_runs(folder: Path, count: int = 3, sentences: int = 130, *, sharded: bool = True) -> list[Path]:
    """Write runs as Parquet files, or as folders of shards of different sizes."""
    paths = []
    for number, run in enumerate(runs_of(count, sentences)):
        path = folder / f"run{number}.parquet"
        write(run, path)
        if sharded:
            scaling.convert(path, folder / f"run{number}", shard_size=SHARD + 7 * number, workers=1)
            path = folder / f"run{number}"
        paths.append(path)
    return paths


def write_banks(folder: Path, banks: Iterable[Treebank]) -> list[Path]:
    """Write treebanks as Parquet files."""
    paths = []
    for number, bank in enumerate(banks):
        paths.append(folder / f"{number}.parquet")
        write(bank, paths[-1])
    return paths


def write_ties(path: Path, sentences: int) -> Path:
    """Write random values for the constituents of a run, which decide between equally good trees."""
    rng = random.Random(2)
    with open(path, "w") as stream:
        for tree in runs_of(3, sentences)[1]:
            values = [[list(c.positions), rng.random()] for c in tree.constituents]
            stream.write(json.dumps(values) + "\n")
    return path


def content(folder: Path, *, manifest: bool = True) -> dict[str, bytes]:
    """Return all files of a folder, hidden ones among them, by their names."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (manifest or path.name != "_manifest.json")
    }


def make_model(folder: Path) -> Path:
    """Write a parser with random parameters, and return its folder."""
    import torch

    from treemean.grammars import GrammarConfig, build_grammar
    from treemean.parsing import UNKNOWN, Model, Normalisation, Vocabulary

    normalisation = Normalisation()
    words = sorted({normalisation.word(word) for text in SENTENCES for word in text.split()})
    vocabulary = Vocabulary([word for word in words if word != UNKNOWN])
    torch.manual_seed(5)
    config = GrammarConfig("tn-lcfrs", 4, 5, 3, ranks=(4, 2, 4, 2), embedding=8)
    Model(build_grammar(config, len(vocabulary)), vocabulary, normalisation, {}).save(folder)
    return folder
