"""Averages over shards: rate, processor seconds and memory, with the local engine and with Ray.

    python -m benchmarks.cpu.scaling [--sentences 1000000] [--runs 5] [--workers 2] [--engines local ray]

The trees are those of the published predictions for LASSY, drawn at random with fresh ids, and words drawn
from a vocabulary of 100,000 by a Zipf law, so that files are as large as those of text; without the
predictions it is the sample. Engines are timed from the moment on which they are up.
"""

from __future__ import annotations

import argparse
import operator
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import data_folder, show
from treemean import read, sample, scaling
from treemean.formats import TreebankWriter
from treemean.scaling.engines import open_engine
from treemean.trees import Treebank
from treemean.trees.strings import CodedStrings, Strings

VOCABULARY = 100_000
AT_ONCE = 8192


def base_runs(count: int) -> list[Treebank]:
    folder = data_folder()
    if folder is None or not (folder / "lassy-predictions").is_dir():
        return sample.runs()[:count]
    parts = [folder / "lassy-predictions" / part for part in ("dev", "test")]
    return [
        Treebank.concatenate([read(part / f"run{number:02}.discbracket.gz") for part in parts])
        for number in range(1, count + 1)
    ]


def write_runs(folder: Path, sentences: int, count: int) -> list[Path]:
    """Write runs as Parquet files."""
    runs = base_runs(count)
    paths = [folder / f"run{number}.parquet" for number in range(1, count + 1)]
    words = Strings.of(f"word{number:x}" for number in range(VOCABULARY))
    writers = [TreebankWriter(path) for path in paths]
    for writer in writers:
        writer.__enter__()
    for start in range(0, sentences, AT_ONCE):
        some = min(AT_ONCE, sentences - start)
        rng = np.random.default_rng([1, start])
        which = rng.integers(len(runs[0]), size=some)
        codes = np.minimum(rng.zipf(1.3, size=int(runs[0].lengths[which].sum())), VOCABULARY) - 1
        columns = {
            "ids": Strings.of(f"s{number}" for number in range(start, start + some)),
            "words": CodedStrings(codes.astype(np.int32), words),
        }
        for run, writer in zip(runs, writers, strict=True):
            writer.write(run.take(which).with_columns(**columns))
    for writer in writers:
        writer.__exit__(None, None, None)
    return paths


def bytes_of(paths: list[Path]) -> int:
    return sum(f.stat().st_size for p in paths for f in (p.rglob("*.parquet") if p.is_dir() else [p]))


def used() -> tuple[float, int]:
    """Return processor seconds of all processes that ended, and the largest memory of one, in bytes."""
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime, told.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engines", nargs="+", default=["local"], choices=["local", "ray"])
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="treemean-", dir=given.folder) as place:
        folder = Path(place)
        plain = write_runs(folder, given.sentences, given.runs)
        sharded = []
        for path in plain:
            scaling.convert(path, folder / path.stem, workers=given.workers)
            sharded.append(folder / path.stem)
        rows: list[list[str]] = []
        rates: dict[str, float] = {}
        for engine in given.engines:
            for kind, paths in (("files", plain), ("shards", sharded)):
                output = folder / f"mean-{engine}-{kind}"
                before, _ = used()
                with open_engine(engine, workers=given.workers) as opened:
                    list(opened.map(operator.add, 0, range(2 * given.workers)))  # once everything is up
                    begun = time.perf_counter()
                    scaling.average(paths, output, engine=opened)
                    seconds = time.perf_counter() - begun
                after, memory = used()
                rates[f"{engine} {kind}"] = given.sentences / seconds
                rows.append(
                    [
                        *(engine, kind, f"{seconds:.1f}", f"{given.sentences / seconds:,.0f}"),
                        f"{after - before:.1f}" if engine == "local" else "",
                        f"{memory / 2**20:.0f}" if engine == "local" else "",
                    ]
                )
                moved = [round(bytes_of(some) / given.sentences) for some in (paths, [output])]
        columns = ["engine", "input", "seconds", "sentences a second", "processor seconds", "MB of a worker"]
        show(columns, rows, f"{given.sentences:,} sentences, {given.runs} runs, {given.workers} workers")
        print(f"Bytes of a sentence: {moved[0]} read, {moved[1]} written.")
        if len(given.engines) == 2:
            share = rates["ray shards"] / rates["local shards"]
            print(f"Ray reaches {100 * share:.0f}% of the rate of the local engine.")


if __name__ == "__main__":
    main()
