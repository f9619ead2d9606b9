"""What jobs write and print beside their shards is what the same commands write without an engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scaling_instances import SHARD, content, runs_of, write_runs, write_ties

import treemean
from commands import run
from treemean import scaling
from treemean.averaging import average
from treemean.errors import InvalidOption, MismatchError, TreemeanError

ENGINE = ("--engine", "local", "--workers", 2, "--shard-size", SHARD)


def same_trees(found: Path, expected: Path) -> None:
    """The same trees with the same values, but for seconds."""
    ours, theirs = treemean.read(found), treemean.read(expected)
    assert ours == theirs
    assert {*theirs.sentence_values} - {*ours.sentence_values} == {"seconds"}
    for column in ("constituent_values", "sentence_values"):
        for name, values in getattr(ours, column).items():
            assert np.array_equal(values, getattr(theirs, column)[name]), name


@pytest.mark.parametrize("options", [(), ("--labelled",), ("--weights", "1,0,2")], ids=str)
def test_probabilities_by_the_runs_alone(tmp_path: Path, options: tuple[object, ...]) -> None:
    paths = write_runs(tmp_path)
    run("average", *paths, "-o", tmp_path / "plain.parquet", "--probability", *options)
    run("average", *paths, "-o", tmp_path / "mean", "--probability", *options, *ENGINE)
    same_trees(tmp_path / "mean", tmp_path / "plain.parquet")
    assert "probability" in treemean.read(tmp_path / "mean").constituent_values


def test_one_run_tells_no_probabilities(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 2)
    with pytest.raises(InvalidOption, match="one run alone"):
        scaling.average(paths, tmp_path / "mean", probability=True, weights=[1, 0], workers=1)


def test_ties_by_a_file(tmp_path: Path) -> None:
    paths, ties = write_runs(tmp_path, 2), write_ties(tmp_path / "ties.jsonl", 130)
    run("average", *paths, "-o", tmp_path / "plain.parquet", "--ties", ties)
    run("average", *paths, "-o", tmp_path / "mean", "--ties", ties, *ENGINE)
    same_trees(tmp_path / "mean", tmp_path / "plain.parquet")
    assert treemean.read(tmp_path / "mean") != average(runs_of(2, 130))  # they decide something
    assert not [name for name in content(tmp_path / "mean") if name.startswith(".")]
    before = content(tmp_path / "mean")
    assert "nothing to do" in run("average", *paths, "-o", tmp_path / "mean", "--ties", ties, *ENGINE).stderr
    lines = ties.read_text().splitlines()
    ties.write_text("\n".join(["[]", *lines[1:]]) + "\n")  # other values are another job
    assert "nothing" not in run("average", *paths, "-o", tmp_path / "mean", "--ties", ties, *ENGINE).stderr
    assert content(tmp_path / "mean").keys() != before.keys()


def test_bad_files_of_ties(tmp_path: Path) -> None:
    paths, ties = write_runs(tmp_path, 2), write_ties(tmp_path / "ties.jsonl", 130)
    lines = ties.read_text().splitlines()
    ties.write_text("\n".join([*lines[:99], '[["x"]]', *lines[100:]]))
    with pytest.raises(TreemeanError, match=r"ties\.jsonl:100: not a list of"):
        scaling.average(paths, tmp_path / "mean", ties_file=str(ties), workers=2, shard_size=SHARD)
    ties.write_text("\n".join(lines[:-1]))
    with pytest.raises(MismatchError, match="ends after 129 sentences"):
        scaling.average(paths, tmp_path / "mean", ties_file=str(ties), workers=1, shard_size=SHARD)
    ties.write_text("\n".join([*lines, "[]"]))
    with pytest.raises(MismatchError, match="goes on after the last of 130"):
        scaling.average(paths, tmp_path / "mean", ties_file=str(ties), workers=1, shard_size=SHARD)
    with pytest.raises(InvalidOption, match="files that are there"):
        scaling.average(paths, tmp_path / "mean", ties_file="-", workers=1)


UNSOLVED = pytest.param(("--method", "dynamic-programming", "--skip-unsolved"), marks=pytest.mark.slow)


@pytest.mark.parametrize("options", [(), UNSOLVED], ids=str)
def test_numbers_of_sentences(tmp_path: Path, options: tuple[str, ...]) -> None:
    """All but the seconds."""
    paths = write_runs(tmp_path)
    run("average", *paths, "-o", tmp_path / "plain.parquet", "--stats", tmp_path / "plain.json", *options)
    command = ["average", *paths, "-o", tmp_path / "mean", "--stats", tmp_path / "sharded.json", *options]
    run(*command, *ENGINE)
    plain, sharded = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "sharded"))
    assert plain["summary"].pop("seconds") > 0
    for sentence in plain["sentences"]:
        del sentence["seconds"]
    assert sharded == plain
    assert bool(plain["skipped"]) == bool(options)
    written = (tmp_path / "sharded.json").read_bytes()
    (tmp_path / "sharded.json").unlink()
    assert "nothing to do" in run(*command, *ENGINE).stderr
    assert (tmp_path / "sharded.json").read_bytes() == written


# ---- scores ------------------------------------------------------------------------------------------


def scored(folder: Path, *files: object, form: str = "csv") -> list[object]:
    return ["evaluate", *files, "--per-sentence", folder / f"scores.{form}", "--json"]


SCORES = ("--engine", "local", "--workers", 2, "--work")


@pytest.mark.parametrize(
    ("form", "options"),
    [("csv", ()), ("jsonl", ("--protocol", "sentence", "--max-length", "9")), ("csv.gz", ())],
    ids=str,
)
def test_scores_of_every_sentence(tmp_path: Path, form: str, options: tuple[str, ...]) -> None:
    paths = write_runs(tmp_path)
    command = scored(tmp_path, *paths, form=form)
    expected = run(*command, *options)
    plain = (tmp_path / f"scores.{form}").read_bytes()
    (tmp_path / f"scores.{form}").unlink()
    found = run(*command, *options, *SCORES, tmp_path / "work")
    if not options:  # means over sentences are added up in another order
        assert found.stdout == expected.stdout
    assert (tmp_path / f"scores.{form}").read_bytes() == plain
    assert not [*(tmp_path / "work").iterdir()]


def test_scores_of_text_and_of_other_orders(tmp_path: Path) -> None:
    """What is no Parquet is copied, and other orders are brought into that of the gold trees."""
    gold, first, second = runs_of(3, 130)
    order = np.random.default_rng(3).permutation(130)
    files = []
    for number, bank in enumerate((first.take(order), second, gold)):
        files.append(tmp_path / f"{number}.{('jsonl', 'parquet', 'export')[number]}")
        treemean.write(bank, files[-1])
    command = [*scored(tmp_path, *files), "--match", "id"]
    expected = run(*command)
    plain = (tmp_path / "scores.csv").read_bytes()
    found = run(*command, *SCORES, tmp_path / "work")
    assert found.stdout == expected.stdout
    assert (tmp_path / "scores.csv").read_bytes() == plain
    assert "1 of 3 treebanks were brought into the order of" in found.stderr
    assert not [*(tmp_path / "work").iterdir()]
    with pytest.raises(TreemeanError, match="sentence 1 "):
        scaling.evaluate(files[:1], files[-1], workers=1, work=tmp_path / "work")
    assert not [*(tmp_path / "work").iterdir()]


def test_ids_that_tell_nothing_are_an_error(tmp_path: Path) -> None:
    gold, run = runs_of(2, 50)
    treemean.write(gold, tmp_path / "gold.parquet")
    treemean.write(run.with_columns(ids=gold.ids.take(np.arange(50) // 2)), tmp_path / "run.parquet")
    with pytest.raises(MismatchError, match="ids that occur more than once, and sentences"):
        scaling.evaluate([tmp_path / "run.parquet"], tmp_path / "gold.parquet", match="id", workers=1)


def test_a_killed_evaluation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was scored is not scored again; damaged sums are."""
    from treemean.scaling import evaluations

    paths = write_runs(tmp_path)
    how = {"work": tmp_path / "work", "shard_size": 30, "workers": 1, "names": ["a", "b"]}
    names = [tmp_path / "plain.jsonl", tmp_path / "killed.jsonl"]
    expected = scaling.evaluate(paths[1:], paths[0], per_sentence=names[0], **how)
    score, times = evaluations._score, []

    def killed(how: object, task: object) -> object:
        if len(times) == 3:
            raise KeyboardInterrupt
        times.append(task)
        return score(how, task)

    monkeypatch.setattr(evaluations, "_score", killed)
    with pytest.raises(KeyboardInterrupt):
        scaling.evaluate(paths[1:], paths[0], per_sentence=names[1], **how)
    (folder,) = (tmp_path / "work").iterdir()
    kept = sorted(folder.glob("sums-*"))
    assert len(kept) == 3
    kept[1].write_bytes(kept[1].read_bytes()[:-30])
    times.clear()
    monkeypatch.setattr(evaluations, "_score", lambda how, task: times.append(task) or score(how, task))
    said: list[str] = []
    found = scaling.evaluate(paths[1:], paths[0], per_sentence=names[1], say=said.append, **how)
    assert said == ["2 of 5 shards were there from an earlier attempt"]
    assert len(times) == 3
    assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]
    assert names[0].read_bytes() == names[1].read_bytes()
    assert not [*(tmp_path / "work").iterdir()]


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    from treemean.scaling.scratch import scratch_folder

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"treemean-evaluate-{'0' * 16}").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(TreemeanError, match="not a folder of this user"),
        scratch_folder("evaluate", "0" * 64, tmp_path),
    ):
        pass
