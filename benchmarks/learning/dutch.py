"""The trees of the Dutch experiment (docs/results.md), kept without words, and put back where the words are.

    python -m benchmarks.learning.dutch --out out/dutch    write the kept trees beside gold trees
    python -m benchmarks.learning.dutch --keep FOLDER      keep other ones: trees*.zip that ensemble wrote

The first makes out/dutch/dev and out/dutch/test, each with gold.jsonl and run01.jsonl, …, for `treemean
ensemble --dev out/dutch/dev --test out/dutch/test`; out/dutch/kinds has the same and one run of each of the
other grammars, run-c-lcfrs.jsonl and so on; out/dutch/starts has all that and 25 runs of TN-LCFRS from other
starts, run-starts.jsonl, run-starts-02.jsonl and so on, most of them of one or two epochs. It needs the
folder dutch below $TREEMEAN_DATA or ../shared/data. Sentences of more than 40 words, punctuation apart, are
left out. What is kept (docs/measurements/dutch-parses.tar.xz) has a tree a line, of w0, w1, …, in the order
of the sentences.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import ROOT
from benchmarks.learning.prepare import dutch_folder, parts_of_treebank
from treemean.formats import read, write
from treemean.trees import Tree, Treebank
from treemean.trees.punctuation import remove_punctuation

KEPT = ROOT / "docs" / "measurements" / "dutch-parses.tar.xz"
LONGEST = 40
PARTS = ("dev", "test")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/dutch"), help="folder for the trees")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where ensemble wrote trees*.zip")
    options = parser.parse_args(words)
    if options.keep is not None:
        keep(options.keep)
        return
    gold = parts_of_treebank(dutch_folder())
    unpack(gold, options.out)


def unpack(gold: Mapping[str, Treebank], out: Path) -> None:
    """Write the kept trees of all parts with the words of their sentences, and the gold trees beside."""
    with TemporaryDirectory() as folder:
        shutil.unpack_archive(KEPT, folder, filter="data")
        for part in PARTS:
            with_words(Path(folder) / part, gold[part], out, part)


def keep(folder: Path, target: Path = KEPT) -> None:
    """Keep the trees that runs of `ensemble` gave to sentences that are not too long, without their words."""
    archives = sorted(folder.glob("trees*.zip"))
    if not archives:
        sys.exit(f"there is no trees.zip in {folder}: benchmarks.learning.ensemble writes it")
    with TemporaryDirectory() as temporary:
        for archive in archives:
            own = archive.stem.removeprefix("trees").removeprefix("-")
            unpacked = Path(temporary) / "unpacked" / archive.stem
            shutil.unpack_archive(archive, unpacked)
            for path in sorted(unpacked.glob("*-run*.jsonl")):
                part, _, run = path.stem.partition("-")
                short = read(path)
                short = short.take(np.flatnonzero(short.lengths <= LONGEST))
                trees = [tree.replace(words=_placeholders(len(tree.words)), id="") for tree in short]
                place = Path(temporary) / "kept" / part / f"{_kept_name(own, run)}.discbracket"
                place.parent.mkdir(parents=True, exist_ok=True)
                write(Treebank.from_trees(trees), place)
        with tarfile.open(target, "w:xz", preset=9) as kept:
            kept.add(Path(temporary) / "kept", arcname=".", filter=_without_owner)
    print(f"{target.name}: {target.stat().st_size / 1e3:,.0f} kB")


def _kept_name(grammar: str, run: str) -> str:
    """Return what a run is called: run01 of TN-LCFRS, run-c-lcfrs of another grammar, then run-c-lcfrs-02.

    >>> [_kept_name("", "run02"), _kept_name("c-lcfrs", "run01"), _kept_name("c-lcfrs", "run02")]
    ['run02', 'run-c-lcfrs', 'run-c-lcfrs-02']
    """
    if not grammar:
        return run
    return f"run-{grammar}" if run == "run01" else f"run-{grammar}-{run.removeprefix('run')}"


def _placeholders(words: int) -> list[str]:
    return [f"w{place}" for place in range(words)]


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def with_words(kept: Path, gold: Treebank, out: Path, part: str) -> None:
    """Write the kept trees of a part with the words and ids of its sentences, and the gold trees beside."""
    for folder in (out, out / "kinds", out / "starts"):
        for earlier in (folder / part).glob("run*.jsonl"):
            earlier.unlink()
    bare = remove_punctuation(gold, drop_empty=False)
    places = np.flatnonzero(bare.lengths <= LONGEST)
    bare = bare.take(places)
    for path in sorted(kept.glob("*.discbracket")):
        bank = read(path)
        if not np.array_equal(bank.lengths, bare.lengths):
            sys.exit(f"{path.name} of {KEPT.name} is not of these sentences of {part}")
        trees = [tree.replace(words=sentence.words, id=sentence.id) for tree, sentence in zip(bank, bare)]
        for folder in _folders_of(path.stem, out):
            _write(trees, folder / part / f"{path.stem}.jsonl")
    for folder in (out, out / "kinds", out / "starts"):
        _write(list(gold.take(places)), folder / part / "gold.jsonl")
    print(f"{out / part}: {len(places)} sentences of at most {LONGEST} words")


def _folders_of(run: str, out: Path) -> list[Path]:
    """Return where the trees of a run belong."""
    if "-" not in run:  # one of the ten
        return [out, out / "kinds", out / "starts"]
    return [out / "starts"] if run.startswith("run-starts") else [out / "kinds", out / "starts"]


def _write(trees: Sequence[Tree], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write(Treebank.from_trees(trees), path)


if __name__ == "__main__":
    main()
