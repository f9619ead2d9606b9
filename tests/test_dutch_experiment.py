"""The trees of the Dutch experiment are kept without words and come back with them; its tables add up."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

import treemean
from benchmarks.learning import dutch, supply
from benchmarks.page import results
from treemean import Tree, Treebank
from treemean.formats import read, write

WORDS = {"dev": "The dog , it sleeps .", "test": "Wake your friend up !"}


def gold_of(part: str) -> Treebank:
    words = WORDS[part].split()
    long = Tree(["a"] * (dutch.LONGEST + 1), [(range(dutch.LONGEST + 1), "S")], id="long")
    return Treebank.from_trees([long, Tree(words, [(range(len(words)), "S")], id=part)])


def run_of(part: str) -> Tree:
    """A tree of the words without punctuation, as runs give it; with a gap."""
    words = [word for word in WORDS[part].split() if word.isalpha()]
    return Tree(words, [(range(4), "NT"), ({0, 3}, "NT")], id=part)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is kept of two runs of one kind and one of another."""
    for archive, names in {"trees": ("run01", "run02"), "trees-c-lcfrs": ("run01",)}.items():
        folder = tmp_path / archive
        folder.mkdir()
        for part in dutch.PARTS:
            trees = Treebank.from_trees([gold_of(part)[0], run_of(part)])
            for name in names:
                write(trees, folder / f"{part}-{name}.jsonl")
        shutil.make_archive(str(tmp_path / archive), "zip", folder)
    target = tmp_path / "kept.tar.xz"
    dutch.keep(tmp_path, target)
    monkeypatch.setattr(dutch, "KEPT", target)
    return target


def test_no_word_is_kept(kept: Path) -> None:
    with tarfile.open(kept) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    names = {
        f"./{part}/{run}.discbracket" for part in dutch.PARTS for run in ("run01", "run02", "run-c-lcfrs")
    }
    assert set(files) == names
    assert set(files.values()) == {b"(NT (NT 0=w0 3=w3) 1=w1 2=w2)\n"}


def test_trees_come_back_with_their_words(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dutch.unpack({part: gold_of(part) for part in dutch.PARTS}, out)
    for part in dutch.PARTS:
        assert {path.name for path in (out / part).iterdir()} == {"gold.jsonl", "run01.jsonl", "run02.jsonl"}
        assert read(out / part / "run02.jsonl")[0] == run_of(part)
        assert read(out / "kinds" / part / "run-c-lcfrs.jsonl")[0] == run_of(part)
        assert read(out / part / "gold.jsonl") == gold_of(part)[1:]


def test_other_sentences_are_refused(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not of these sentences of dev"):
        dutch.unpack({part: gold_of(part)[:1] for part in dutch.PARTS}, tmp_path / "out")


def test_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"there is no trees\.zip"):
        dutch.keep(tmp_path, tmp_path / "kept.tar.xz")


def test_grammars_are_compared_by_means() -> None:
    def scores(f1: float) -> dict[str, dict[str, float]]:
        return {metric: {"f1": f1} for metric in results.METRICS}

    single = {f"run-{preset}": scores(10.0) for preset in results.PRESETS[1:]}
    told = {"results": {"individuals": {"run01": scores(50.0), "run02": scores(53.0)} | single}}
    table = results.grammars_table(told)
    assert "| TN-LCFRS | 2 | 51.50 | 51.50 | 51.50 |" in table
    assert "| C-PCFG | 1 | 10.00 | 10.00 | 10.00 |" in table


def test_candidates_are_counted_once() -> None:
    gold = Treebank.from_trees([run_of("dev")])
    other = Tree(run_of("dev").words, [(range(4), "NT"), ({0, 2}, "NT")], id="dev")
    runs = [gold, gold, Treebank.from_trees([other])]
    assert supply.supply(runs, gold) == {"candidates": 2, "correct": 1, "gold": 1}


def test_fewer_trees_are_drawn_again_and_again(capsys: pytest.CaptureFixture[str]) -> None:
    gold = treemean.sample.gold()[:40]
    runs = {f"run{number}": bank[:40] for number, bank in enumerate(treemean.sample.runs()[:3], 1)}
    (point,) = supply.curve("typed", list(runs), (gold, runs), (gold, runs), draws=2)
    assert (point["trees"], point["draws"]) == (25, 2)
    assert 0 < point["overall"]["mean"] <= 100
    whole = supply.point_of(40, [supply.fitted_scores("typed", list(runs), (gold, runs), (gold, runs))])
    assert whole["overall"]["deviation"] is None
    assert [row[:2] for row in supply.curve_table({"three": [point, whole]})[1]] == [
        ["three", 25],
        ["three", 40],
    ]
