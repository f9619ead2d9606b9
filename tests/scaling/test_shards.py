"""Sharded treebanks: what is written is what was read, in files whose names and bytes are always the same."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaling_instances import SHARD, content, runs_of, write_banks, write_runs

import treemean
from examples import examples
from instances import cycle_blow_up, trees_of_graph
from treemean import scaling
from treemean.averaging import count_labels
from treemean.errors import FormatError, InvalidOption, MismatchError, TreemeanError
from treemean.formats.reading import BATCH
from treemean.formats.sharded import MANIFEST, UNFINISHED, load_manifest
from treemean.scaling.inputs import Contents, File, cut
from treemean.scaling.sums import frequencies_from_dict
from treemean.trees import Treebank


def test_a_sharded_treebank_is_read_like_a_file(tmp_path: Path) -> None:
    (run,) = runs_of(1, 130)
    (path,) = write_runs(tmp_path, 1)
    manifest = load_manifest(path)
    assert [shard.sentences for shard in manifest.shards] == [40, 40, 40, 10]
    assert manifest.sentences == 130
    assert treemean.read(path) == run
    assert frequencies_from_dict(manifest.sums["frequencies"]) == count_labels([[run]])[0]


def test_other_programs_read_the_folder(tmp_path: Path) -> None:
    """PyArrow reads folders for pandas; it passes over what begins with an underscore."""
    (path,) = write_runs(tmp_path, 1)
    table = pyarrow.parquet.read_table(path)
    assert table.column("id").to_pylist() == [f"s{number}" for number in range(130)]


def test_the_queries_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    scaling.average(write_runs(tmp_path), tmp_path / "mean", workers=1)
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
    (block,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    least, labels = (duckdb.sql(query).fetchall() for query in block.split(";")[:2])
    mean = treemean.read(tmp_path / "mean")
    assert [row[2] for row in least] == sorted(mean.sentence_values["average_f1"].tolist())[:10]
    assert {label: times for label, times, _ in labels} == Counter(mean.labels.tolist())


def test_text_becomes_the_same_shards_as_parquet(tmp_path: Path) -> None:
    (run,) = runs_of(1, 130)
    treemean.write(run, tmp_path / "run.jsonl.gz")
    treemean.write(run, tmp_path / "run.parquet")
    for name in ("run.jsonl.gz", "run.parquet"):
        scaling.convert(tmp_path / name, tmp_path / f"{name}-shards", shard_size=SHARD, workers=1)
        assert treemean.read(tmp_path / f"{name}-shards") == run


@pytest.mark.parametrize("sharded", [True, False])
def test_the_average_of_shards_is_the_average(tmp_path: Path, sharded: bool) -> None:
    """Whatever the sizes of the shards that are read and written: ties are decided by the whole."""
    paths = write_runs(tmp_path, sharded=sharded)
    expected = treemean.average(runs_of(3, 130))
    for size in (None, 33):
        done = scaling.average(paths, tmp_path / f"mean{size}", shard_size=size, workers=1)
        found = treemean.read(tmp_path / f"mean{size}")
        assert found == expected
        assert np.array_equal(found.sentence_values["objective"], expected.sentence_values["objective"])
        assert "seconds" not in found.sentence_values
        assert done.sums.counts["optimal"] == 130


def test_workers_and_sharding_change_no_byte(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    for workers in (1, 3):
        scaling.average(paths, tmp_path / f"mean{workers}", workers=workers)
    assert content(tmp_path / "mean1") == content(tmp_path / "mean3")


def test_a_finished_job_does_nothing(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    first = scaling.average(paths, tmp_path / "mean", workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "mean").iterdir()}
    second = scaling.average(paths, tmp_path / "mean", workers=1)
    assert (first.before, second.before) == (False, True)
    assert (first.made, second.made) == (4, 0)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "mean").iterdir()} == before


def test_a_finished_job_leaves_no_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the manifest was written, or given again: copies of inputs and other shards go."""
    treemean.write(runs_of(1, 90)[0], tmp_path / "run.jsonl")
    paths, mean = [tmp_path / "run.jsonl"] * 2, tmp_path / "mean"
    scaling.average(paths, mean, workers=1, shard_size=SHARD, binary=True)
    with monkeypatch.context() as patch:
        patch.setattr("treemean.scaling.folders.clear_leftovers", lambda *_: None)
        scaling.average(paths, mean, workers=1, shard_size=SHARD)
    assert len([*mean.glob("part-*")]) == 6
    assert scaling.average(paths, mean, workers=1, shard_size=SHARD).before
    scaling.average(paths, tmp_path / "undisturbed", workers=1, shard_size=SHARD)
    assert content(mean) == content(tmp_path / "undisturbed")


def test_another_job_takes_the_place_of_the_first(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    scaling.average(paths, tmp_path / "mean", workers=1)
    scaling.average(paths, tmp_path / "mean", workers=1, binary=True)
    scaling.average(paths, tmp_path / "binary", workers=1, binary=True)
    assert content(tmp_path / "mean") == content(tmp_path / "binary")


def test_going_on_makes_only_what_is_missing(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    scaling.average(paths, tmp_path / "mean", workers=1)
    expected = content(tmp_path / "mean")
    (tmp_path / "mean" / MANIFEST).unlink()
    lost = sorted((tmp_path / "mean").glob("part-*"))[1]
    lost.unlink()
    (tmp_path / "mean" / ".part-00001-x.parquet.abc.treemean.part").write_bytes(b"left by a dead process")
    (tmp_path / "mean" / "part-00001-0123456789abcdef.parquet").write_bytes(b"of another job")
    (tmp_path / "mean" / UNFINISHED).write_bytes(b"{}")
    with pytest.raises(FormatError, match="not finished"):
        treemean.read(tmp_path / "mean")
    done = scaling.average(paths, tmp_path / "mean", workers=1)
    assert (done.made, done.found) == (1, 3)
    assert content(tmp_path / "mean") == expected


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 1)
    target = tmp_path / "mine"
    target.mkdir()
    (target / "thesis.tex").write_text("precious")
    with pytest.raises(TreemeanError, match=r"something else than a sharded treebank \(thesis.tex\)"):
        scaling.convert(paths[0], target, workers=1)
    assert content(target) == {"thesis.tex": b"precious"}


def test_nothing_is_left_of_a_job_that_does_not_begin(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    for name in ("new", "before"):
        with pytest.raises(TreemeanError, match="absent"):
            scaling.average([tmp_path / "absent"], tmp_path / name, workers=1)
    assert [*tmp_path.iterdir()] == [tmp_path / "before"]


def test_two_jobs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    from treemean.scaling.folders import working_in

    paths = write_runs(tmp_path, 1)
    with (
        working_in(tmp_path / "out"),
        pytest.raises(TreemeanError, match="another process is writing"),
    ):
        scaling.convert(paths[0], tmp_path / "out", workers=1)
    scaling.convert(paths[0], tmp_path / "out", workers=1)


def test_a_shard_that_is_removed_while_the_job_runs_is_missed(tmp_path: Path) -> None:
    """Without a manifest nothing is called finished; the same command makes the shard again."""
    (path,) = write_runs(tmp_path, 1)

    def remove_the_first(done: int, total: int | None) -> None:
        if done == 80:
            sorted((tmp_path / "out").glob("part-*"))[0].unlink()

    with pytest.raises(TreemeanError, match=r"part-00000-.*somebody removed"):
        scaling.convert(path, tmp_path / "out", workers=1, progress=remove_the_first)
    assert not (tmp_path / "out" / MANIFEST).exists()
    done = scaling.convert(path, tmp_path / "out", workers=1)
    assert (done.made, done.found) == (1, 3)
    assert treemean.read(tmp_path / "out") == runs_of(1, 130)[0]


# ---- bad input ---------------------------------------------------------------------------------------


def damage(shard: Path) -> None:
    """Change a bit."""
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 1
    shard.write_bytes(data)


def test_a_damaged_shard_is_noticed(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    shard = sorted(paths[0].glob("part-*"))[0]
    damage(shard)
    with pytest.raises(FormatError, match="not the one that the manifest describes"):
        treemean.read(paths[0])
    with pytest.raises(TreemeanError, match="has changed since"):
        scaling.average(paths, tmp_path / "mean", workers=1)
    assert not (tmp_path / "mean" / MANIFEST).exists()


@pytest.mark.parametrize("finished", [True, False])
def test_the_same_command_mends_what_was_damaged(tmp_path: Path, finished: bool) -> None:
    """A bit that changed, in a file of the same size: the same command makes that shard again."""
    paths = write_runs(tmp_path)
    scaling.average(paths, tmp_path / "mean", workers=1)
    expected = content(tmp_path / "mean")
    shard = sorted((tmp_path / "mean").glob("part-*"))[2]
    damage(shard)
    if not finished:
        (tmp_path / "mean" / MANIFEST).unlink()
    done = scaling.average(paths, tmp_path / "mean", workers=1)
    assert (done.made, done.found) == (1, 3)
    assert content(tmp_path / "mean") == expected


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    (run,) = runs_of(1, 30)
    treemean.write(run, tmp_path / "run.parquet")
    odd = tmp_path / os.fsdecode(b"b\xff\n d.parquet")
    (tmp_path / "run.parquet").rename(odd)
    scaling.average([odd, odd], tmp_path / os.fsdecode(b"m\xfe"), workers=2, shard_size=10)
    assert len(treemean.read(tmp_path / os.fsdecode(b"m\xfe"))) == 30
    assert (
        load_manifest(tmp_path / os.fsdecode(b"m\xfe")).provenance["inputs"][0]["name"]
        == "b\\xff\n d.parquet"
    )
    text = tmp_path / os.fsdecode(b"t\xff.jsonl")
    treemean.write(run, tmp_path / "run.jsonl")
    text.write_bytes((tmp_path / "run.jsonl").read_bytes() + b'{"words": 7}\n')
    with pytest.raises(FormatError, match=r":31: "):
        scaling.convert(text, tmp_path / "converted", workers=2)
    work = scaling.Conversion(source=str(text), skip_bad=True)
    done = scaling.convert(text, tmp_path / "converted", work, workers=2)
    assert (done.manifest.sentences, done.sums.counts["bad"]) == (30, 1)


def rename_first(told: dict[str, Any], name: str) -> None:
    del told["sha256"]
    told["shards"][0]["file"] = name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.update(kind="shopping list"), "does not fit the checksum"),
        (lambda told: told.pop("sha256") and told.update(schema=7), "its schema is 7"),
        (lambda told: told.pop("sha256") and told.update(kind="x"), "no manifest"),
        *((partial(rename_first, name=name), "no file of") for name in ("../x", "", "a\0b", "\ud800")),
        (lambda told: told.pop("sha256") and told["shards"][0].pop("bytes"), "damaged manifest"),
        (lambda told: told.pop("sha256") and told.update(words=7), "its number of words is not that"),
    ],
)
def test_damaged_manifests(tmp_path: Path, change, message: str) -> None:
    (path,) = write_runs(tmp_path, 1)
    told = json.loads((path / MANIFEST).read_text())
    change(told)
    (path / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(FormatError, match=message):
        treemean.read(path)


def tell_other_counts(path: Path, first: int) -> None:
    """Write a manifest that fits its checksum and its own sums, and tells wrong counts of two shards."""
    manifest = load_manifest(path)
    a, b, *others = manifest.shards
    shards = (replace(a, sentences=first), replace(b, sentences=a.sentences + b.sentences - first), *others)
    replace(manifest, shards=shards).save(path)


@pytest.mark.parametrize("first", [SHARD - 10, SHARD + 10])
@pytest.mark.parametrize("size", [None, 7])
def test_counts_of_a_manifest_are_not_believed(tmp_path: Path, first: int, size: int | None) -> None:
    """Neither too many sentences nor too few, which would be lost, in whole shards and in parts of them."""
    paths = write_runs(tmp_path, 2)
    tell_other_counts(paths[0], first)
    told = rf"{SHARD} sentences are in the file, and [35]0 should be"
    with pytest.raises(FormatError, match=told):
        treemean.read(paths[0])
    with pytest.raises(FormatError, match=told):
        scaling.average(paths, tmp_path / "mean", workers=2, shard_size=size)
    assert not (tmp_path / "mean" / MANIFEST).exists()


def test_bad_records_are_set_aside_with_reason_and_source(tmp_path: Path) -> None:
    (run,) = runs_of(1, 5)
    treemean.write(run, tmp_path / "good.jsonl")
    lines = (tmp_path / "good.jsonl").read_text().splitlines()
    lines.insert(3, '{"words": 7}')
    source = tmp_path / "some.jsonl"
    source.write_text("\n".join(lines) + "\n")
    with pytest.raises(TreemeanError, match=r"some.jsonl:4"):
        scaling.convert(source, tmp_path / "out", shard_size=2, workers=1)
    work = scaling.Conversion(source=str(source), skip_bad=True)
    done = scaling.convert(source, tmp_path / "out", work, shard_size=2, workers=1)
    assert done.manifest.sentences == 5
    assert done.sums.counts["bad"] == 1
    (aside,) = (tmp_path / "out").glob("_bad-*.jsonl")
    (record,) = map(json.loads, aside.read_text().splitlines())
    assert record["source"] == str(source)
    assert record["line"] == 4
    assert record["record"].strip() == '{"words": 7}'
    assert treemean.read(tmp_path / "out") == run


@pytest.mark.parametrize("wanted", [None, "1-2"])
def test_bad_records_at_the_end_are_set_aside(tmp_path: Path, wanted: str | None) -> None:
    """Also where the last shard ends with a batch of the reader, and where nobody wants its sentences."""
    source = tmp_path / "some.discbracket"
    source.write_text("(S 0=a 1=b)\n" * BATCH + "(S 0=a\n")
    work = scaling.Conversion(source=str(source), skip_bad=True, sentences=wanted)
    done = scaling.convert(source, tmp_path / "out", work, shard_size=BATCH // 2, workers=1)
    assert done.sums.counts["bad"] == 1
    (aside,) = (tmp_path / "out").glob("_bad-*.jsonl")
    (record,) = map(json.loads, aside.read_text().splitlines())
    assert record["sentence"] == str(BATCH + 1)
    expected = content(tmp_path / "out")
    for file in (MANIFEST, aside.name, done.manifest.shards[1].file):
        (tmp_path / "out" / file).unlink()
    assert scaling.convert(source, tmp_path / "out", work, shard_size=BATCH // 2, workers=1).found == 1
    assert content(tmp_path / "out") == expected


def test_a_sentence_beyond_its_budget_holds_nobody_up(tmp_path: Path) -> None:
    rng = random.Random(1)
    trees, _ = trees_of_graph(*cycle_blow_up(60, 4, rng), rng)
    paths = write_banks(tmp_path, (Treebank.from_trees([tree]) for tree in trees))
    done = scaling.average(paths, tmp_path / "mean", workers=1, node_limit=0)
    (note,) = done.sums.notes["bounded"]
    assert note["sentence"] == 1
    assert note["upper_bound"] >= note["objective"]
    assert "stopped after 0 steps" in note["reason"]


def test_options_that_do_not_repeat_are_refused(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 2)
    for options in ({"time_limit": 1.0}, {"jobs": 2}):
        with pytest.raises(InvalidOption, match="node_limit"):
            scaling.average(paths, tmp_path / "mean", workers=1, **options)
    with pytest.raises(InvalidOption, match="weights"):
        scaling.average(paths, tmp_path / "mean", workers=1, weights=[1.0])
    assert not (tmp_path / "mean").exists()


def test_runs_of_other_sentences_are_refused(tmp_path: Path) -> None:
    a, b = runs_of(2, 60)
    treemean.write(a, tmp_path / "a.parquet")
    treemean.write(b[:59], tmp_path / "b.parquet")
    treemean.write(b.take(np.arange(60)[::-1]), tmp_path / "c.parquet")
    with pytest.raises(MismatchError, match="59 sentences"):
        scaling.average([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "mean", workers=1)
    with pytest.raises(MismatchError, match="sentence 1 "):
        scaling.average([tmp_path / "a.parquet", tmp_path / "c.parquet"], tmp_path / "mean", workers=1)


# ---- other orders ------------------------------------------------------------------------------------


# ---- cutting -----------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=3),
    st.integers(1, 12),
)
@examples(60)
def test_cuts_have_every_sentence_once(sizes: list[list[int]], size: int) -> None:
    total = sum(sizes[0])
    runs = []
    for number, files in enumerate(sizes):
        rows = [*files, total]
        kept = []
        for count in rows:
            kept.append(min(count, total - sum(kept)))
        entries = tuple(
            File(f"{number}/{place}", count, f"{number}{place}") for place, count in enumerate(kept)
        )
        runs.append(Contents(str(number), entries))
    cuts = cut(runs, size)
    for number, run in enumerate(runs):
        everything = [(file.path, row) for file in run.files for row in range(file.rows)]
        found = [
            (rows.file.path, row)
            for piece in cuts
            for rows in piece.runs[number]
            for row in range(rows.start, rows.stop)
        ]
        assert found == everything
    assert [piece.first for piece in cuts] == list(range(0, total, size))
