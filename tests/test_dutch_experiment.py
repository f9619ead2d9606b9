"""The trees of the Dutch experiment are kept without words and come back with them; its tables add up."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

import treemean
from benchmarks.learning import again, choosing, dutch, epochs, posteriors, prepare, supply
from benchmarks.learning.common import config_for
from benchmarks.page import discontinuity, results
from treemean import Tree, Treebank
from treemean.formats import read, write
from treemean.grammars import GrammarConfig, build_grammar
from treemean.parsing import Model, Vocabulary
from treemean.training.single import prepare_folder

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


def test_what_fills_gaps() -> None:
    gold = Treebank.from_trees([Tree("a b c d".split(), [(range(4), "S"), ({0, 2}, "X")])])
    columns, rows, _ = choosing.fillers([{(0, 0b101), (0, 0b1001)}, {(0, 0b101)}], gold)
    assert columns[0] == "in the gap"
    assert rows == [["b", 2, 2, "100.0%"], ["2 words", 1, 0, "0.0%"]]


def test_runs_that_choose_gaps_of_several_words() -> None:
    gold = Treebank.from_trees([Tree("a b c d".split(), [(range(4), "S")])])
    found = choosing.criteria([{(0, 0b101)}, {(0, 0b1001)}, set()], gold)
    assert found["how many"] == [1, 1, 0]
    assert found["share of gaps of several words"] == [0, 1, 0]
    assert found["share of whole sentences"] == [0, 1, 0]
    assert found["agreement with other runs"] == [0, 0, 0]


def test_choosing_by_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (run[:30] for run in treemean.sample.runs()[:2])
    banks = {"gold": treemean.sample.gold()[:30], "run01": first, "run-starts": second, "run-c-lcfrs": first}
    (tmp_path / "dev").mkdir()
    for name, bank in banks.items():
        write(bank, tmp_path / "dev" / f"{name}.jsonl")
    choosing.main(["--trees", str(tmp_path)])
    assert "over 2 runs" in capsys.readouterr().out  # the other grammar is left out


def test_variants_are_compared_with_the_same_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*gapped: float) -> dict[str, object]:
        common = {"log_likelihood": -10.0, "words": 5, "f1": 40.0, "f1_continuous": 50.0}
        return {
            "epochs": [
                common | {"epoch": number, "f1_discontinuous": f1} for number, f1 in enumerate(gapped, 1)
            ]
        }

    known = {"device": "d", "torch": "t", "preset": "tn-lcfrs"}
    begun = known | {"variants": {"base": []}, "base": {"base-1-1": run(1.0)}}
    report = known | {
        "variants": {"base": [], "no-gaps": ["a.b=0"]},
        "base": {"base-1-1": run(1.0, 4.0), "base-2-1": run(6.0, 8.0)},
        "no-gaps": {"no-gaps-1-1": run(0.0), "no-gaps-2-1": run(0.1)},
    }  # fmt: skip
    for folder in ("measurements", "images"):
        (tmp_path / folder).mkdir()
    (tmp_path / "discontinuity.md").write_text("<!-- variants -->\n<!-- end -->\n")
    for name, told in (("begun", begun), ("report", report)):
        (tmp_path / name).write_text(json.dumps(told))
    discontinuity.main(["--docs", str(tmp_path), str(tmp_path / "report"), str(tmp_path / "begun")])
    table = capsys.readouterr().out
    assert "| published | 2 | 2 | 40.0 ± 0.0 | 50.0 ± 0.0 | 6.0 ± 2.8 | 1 | 0 |  |" in table
    assert "| `a.b=0` | 1 | 2 | 40.0 ± 0.0 | 50.0 ± 0.0 | 0.1 ± 0.1 | 0 | 2 | -3.5 (p = 0.50) |" in table
    kept = (tmp_path / "measurements" / "discontinuity-h200.json").read_text()
    assert len(json.loads(kept)["runs"]) == 5  # one that was trained alone is another run
    discontinuity.main(["--docs", str(tmp_path)])
    assert capsys.readouterr().out == table
    assert (tmp_path / "images" / "discontinuity.svg").stat().st_size > 1000


def test_epochs_beside_the_last_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(treemean.sample.gold()[:40], tmp_path / "gold.jsonl")
    for number, run in enumerate(treemean.sample.runs()[:4]):
        write(run[:40], tmp_path / f"epoch{1 + number % 2}-run0{1 + number // 2}.jsonl")
    epochs.main([str(tmp_path), "--gold", str(tmp_path / "gold.jsonl"), "--model", "typed"])
    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.splitlines() if "epoch" in line]
    assert rows == [["| epoch 2", "2"], ["| epoch 1", "2"], ["| all epochs", "4"]]


def tiny_model(gold: treemean.Treebank, folder: Path) -> str:
    """Save a model that knows the words of some trees, and return its folder."""
    torch.manual_seed(1)
    sizes = {"nonterminals": 4, "preterminals": 6, "discontinuous": 3, "ranks": (4, 2, 4, 2), "embedding": 8}
    vocabulary = Vocabulary.most_frequent([word.lower() for tree in gold for word in tree.words], 20)
    model = Model(build_grammar(GrammarConfig("tn-lcfrs", **sizes), len(vocabulary)), vocabulary)
    model.save(folder / "model")
    return str(folder / "model")


def test_learning_again_from_trees_of_the_training_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = treemean.sample.gold()[:12]
    text = tmp_path / "train.txt"
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in gold))
    write(gold, tmp_path / "dev.jsonl")
    model = tiny_model(gold, tmp_path)
    words = [model, "--text", str(text), "--out", str(tmp_path), "--longest", "8"]
    again.main(words)
    assert "run01.jsonl.gz: 12 sentences" in capsys.readouterr().out
    again.main([*words, "--names", "run01"])  # it is there
    assert not capsys.readouterr().out
    guides = tmp_path / "run01.jsonl.gz"
    assert read(guides).lengths.max() > 8
    prepare.make(tmp_path, "some-guided", text, "dev.jsonl", f"data.guides={json.dumps([str(guides)])}")
    small = [f"grammar.{name}=5" for name in ("nonterminals", "preterminals", "discontinuous")]
    config = config_for(tmp_path, "some-guided", *small, "training.guidance=0")
    assert config.training.guidance == 0
    assert config.data.guides == (str(guides),)
    assert prepare_folder(config, tmp_path / "some-guided").guides is not None


def scored_average(folder: Path) -> float:
    """Return F1 of the average of a run's trees and of its table of spans."""
    run = read(folder / "run01.jsonl")
    average = treemean.average([run, posteriors.load_spans(folder / "run01.npz", run)])
    return treemean.evaluate(average, read(folder / "gold.jsonl"), "paper").overall.f1


def test_posteriors_of_a_trained_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = treemean.sample.gold()[:40]
    gold = gold.take(np.flatnonzero(gold.lengths <= 8))
    model = tiny_model(gold, tmp_path)
    for part in dutch.PARTS:
        write(gold, tmp_path / f"{part}.jsonl")
    words = ["collect", model, "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    posteriors.main([*words, "--least", "0.1"])
    for part in dutch.PARTS:
        write(gold, tmp_path / "out" / part / "gold.jsonl")
    monkeypatch.setattr(supply, "SIZES", (4,))
    posteriors.main(["compare", str(tmp_path / "out"), "--model", "logistic", "--draws", "2"])
    out = capsys.readouterr().out
    for row in (
        "| trees and tables | {:.2f} |",
        "| trees and tables | 4 |",
        f"| trees and tables | {len(gold)} |",
    ):
        assert row.format(scored_average(tmp_path / "out" / "test")) in out
    assert out.count("±") == 2 * 3  # means of two draws, with and without tables
