"""Prepare the Dutch data for a machine that has only NumPy and PyTorch: `make gpu-data`.

    python -m benchmarks.learning.prepare --out out/gpu-data

Makes, from the folder dutch below $TREEMEAN_DATA or ../shared/data, a folder to be copied there:

full/    all of train.txt.gz as numbers, and the development part of the treebank
third/   every third sentence of it, with the same development part
smoke/   all of it, with every sixteenth sentence of the development part
short/   its sentences of at most 20 words and 5,000 known words, and such development sentences: for a CPU
dev.jsonl, dev-small.jsonl, test.jsonl   gold trees; sentences of more than 40 words are left out later

    python -m benchmarks.learning.prepare --out out/gpu-data --guides TREES --corpus full

makes full-guided/ beside them: the same sentences, with guides (trees of all sentences of train.txt.gz).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import data_folder
from treemean.files.output import write_file
from treemean.formats import read, write
from treemean.training import load_config
from treemean.training.corpus import prepare
from treemean.trees import Treebank

#: The share of the sentences that the small corpora have: one of so many.
THIRD, SMALL = 3, 16
#: What a CPU can learn from in minutes.
SHORT = ("data.max_length=20", "data.vocabulary=5000")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/gpu-data"))
    parser.add_argument("--guides", type=Path, help="trees of the training sentences")
    parser.add_argument("--corpus", choices=("full", "short"), default="full", help="which one gets guides")
    options = parser.parse_args(words)
    out: Path = options.out
    source = dutch_folder()
    train = source / "train.txt.gz"
    if options.guides is not None:
        others = SHORT if options.corpus == "short" else ()
        make(
            out, f"{options.corpus}-guided", train, "dev.jsonl", f'data.guides=["{options.guides}"]', *others
        )
        return
    out.mkdir(parents=True, exist_ok=True)
    trees = parts_of_treebank(source)
    for name, part in {
        "dev": trees["dev"],
        "test": trees["test"],
        "dev-small": trees["dev"][::SMALL],
    }.items():
        write(part, out / f"{name}.jsonl")
        print(f"{name}.jsonl: {len(part)} sentences", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        third = Path(folder) / "third.txt.gz"
        write_share(train, third, THIRD)
        make(out, "full", train, "dev.jsonl")
        make(out, "third", third, "dev.jsonl")
        make(out, "smoke", train, "dev-small.jsonl")
        make(out, "short", train, "dev.jsonl", *SHORT)


def make(out: Path, name: str, text: Path, development: str, *others: str) -> None:
    """Prepare a corpus of a text."""
    given = [f"data.train={json.dumps([str(text)])}", f"data.development={out / development}", *others]
    data = prepare(load_config("tn-lcfrs", given).data, out / name)
    print(f"{name}: {data.describe()}", flush=True)


def dutch_folder() -> Path:
    """Return the folder of the Dutch data; end with a word about it if it is absent."""
    folder = data_folder()
    if folder is None or not (folder / "dutch" / "train.txt.gz").exists():
        sys.exit(
            "the Dutch data is absent: set TREEMEAN_DATA to the folder that has dutch/train.txt.gz in it"
        )
    return folder / "dutch"


def parts_of_treebank(source: Path) -> dict[str, Treebank]:
    """Return the parts of the Alpino treebank by name."""
    bank = read(source / "alpino.xml.gz")
    places = {bank.ids[place]: place for place in range(len(bank))}
    splits = json.loads((source / "splits.json").read_text())
    return {part: bank.take([places[name] for name in names]) for part, names in splits.items()}


def write_share(source: Path, target: Path, every: int) -> None:
    """Write every so many lines of a compressed text, compressed."""
    with gzip.open(source, "rb") as lines:
        chosen = b"".join(line for number, line in enumerate(lines) if number % every == 0)
    write_file(target, chosen)


if __name__ == "__main__":
    main()
