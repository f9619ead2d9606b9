"""Runs in other orders are brought into that of the first by their ids, where these tell."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from scaling_instances import runs_of, write_banks

import treemean
from treemean import scaling
from treemean.errors import TreemeanError
from treemean.trees import Treebank


def test_other_orders_are_matched_by_id(tmp_path: Path) -> None:
    runs = runs_of(3, 130)
    order = np.random.default_rng(3).permutation(130)
    shuffled = [runs[0], runs[1].take(order), runs[2]]
    paths = write_banks(tmp_path, shuffled)
    said: list[str] = []
    scaling.average(paths, tmp_path / "mean", workers=1, shard_size=33, match="id", say=said.append)
    assert treemean.read(tmp_path / "mean") == treemean.average(runs)
    assert said == [f"1 of 3 treebanks were brought into the order of {paths[0]}"]
    assert not list((tmp_path / "mean").glob(".*"))


def test_without_unique_ids_sentences_are_matched_by_position(tmp_path: Path) -> None:
    twice = [Treebank.concatenate([run, run]) for run in runs_of(2, 50)]
    twice[1] = twice[1].with_columns(ids=twice[1].ids.take(np.arange(100)[::-1]))
    paths = write_banks(tmp_path, twice)
    said: list[str] = []
    scaling.average(paths, tmp_path / "mean", workers=1, match="id", say=said.append)
    assert len(said) == 1
    assert "occur more than once: sentences are matched by position" in said[0]


def test_an_id_for_all_sentences_is_no_order(tmp_path: Path) -> None:
    """No sentence belongs to the first shards then."""
    (run,) = runs_of(1, 50)
    paths = write_banks(tmp_path, [run, run.with_columns(ids=run.ids.take(np.full(50, 49)))])
    said: list[str] = []
    scaling.average(paths, tmp_path / "mean", workers=1, match="id", shard_size=10, say=said.append)
    assert said == [f"{paths[1]} has ids that occur more than once: sentences are matched by position"]


def test_no_room_for_the_index_of_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    (run,) = runs_of(1, 50)
    paths = write_banks(tmp_path, [run, run.take(np.arange(50)[::-1])])
    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(TreemeanError, match=r"ids\.sqlite: database or disk is full"):
        scaling.average(paths, tmp_path / "mean", workers=1, match="id")
