"""What a format has no place for is told, with the formats that have one."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from treemean import Constituent, LossWarning, Tree, Treebank, read, sample, write
from treemean.formats import TreebankWriter, all_formats
from treemean.formats.losses import FUNCTIONS, IDS, LEFT_OUT, METADATA, VALUES
from treemean.trees import as_treebank

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
FULL = Tree(
    ["a", "b", "c"],
    [Constituent(7, "S"), Constituent(3, "X", "SBJ", {"support": 0.5, "probability": 0.25})],
    id="s1",
    metadata={"source": "letters"},
    values={"objective": 0.5},
    tags=["A", "B", "C"],
    word_functions=["hd", "mod", "hd"],
)


def lost(name: str, bank: Treebank, folder: Path) -> TreebankWriter:
    with TreebankWriter(folder / "out", format=name) as writer:
        writer.write(bank)
    return writer


@pytest.mark.parametrize("name", sorted(all_formats()))
def test_what_is_left_out_is_what_is_not_read_again(name: str, tmp_path: Path) -> None:
    writer = lost(name, as_treebank(FULL), tmp_path)
    (again,) = read(tmp_path / "out", format=name)
    gone = {
        IDS: again.id != FULL.id,
        FUNCTIONS: any(c.mask == 3 and c.function == "" for c in again),
        METADATA: "source" not in again.metadata,
        VALUES: not any(c.values for c in again) and not again.values,
    }
    assert set(writer.losses.found) == {what for what, is_gone in gone.items() if is_gone}
    assert (writer.losses.describe() is None) == (not writer.losses.found)


def test_the_page_says_the_same() -> None:
    rows = re.findall(r"^\| \[.*?\| `(\w+)` \|(.*)\|$", PAGE.read_text(), re.M)
    for name, row in rows:
        _, ids, _, _, functions, _, metadata, numbers = (cell.strip() for cell in row.split("|"))
        told = {IDS: ids, FUNCTIONS: functions, METADATA: metadata, VALUES: numbers}
        without = {what for what, cell in told.items() if cell in ("–", "comment")}
        assert without == set(LEFT_OUT.get(name, ())), name  # type: ignore[call-overload]


def test_formats_that_keep_it_are_named(tmp_path: Path) -> None:
    told = lost("discbracket", as_treebank(FULL), tmp_path).losses.describe()
    assert told == (
        "no place in discbracket for ids, functions, metadata and values (support, probability, …), "
        "left out here; jsonl, parquet keep them"
    )
    told = lost("ptb", as_treebank(Tree(["a", "b"], [({0, 1}, "S")], id="x")), tmp_path).losses.describe()
    assert told is not None
    assert told.endswith("brackets for ids, left out here; export, tiger, jsonl, parquet keep them")


def test_nothing_is_told_of_nothing(tmp_path: Path) -> None:
    plain = Treebank.from_trees(
        tree.replace(id="", metadata={"comment": "x"}) for tree in sample.runs()[0][:5]
    )
    assert lost("discbracket", plain, tmp_path).losses.describe() is None
    assert lost("discbracket", Treebank.empty(), tmp_path).losses.describe() is None


def test_write_warns_once_a_call_and_names_the_file(tmp_path: Path) -> None:
    two = Treebank.from_trees([FULL, FULL])
    with pytest.warns(LossWarning) as told:
        write(two, tmp_path / "out.dbr")
    (warning,) = told
    assert str(warning.message).startswith(
        f"{tmp_path / 'out.dbr'}: no place in discbracket for ids, functions"
    )
    assert warning.filename == __file__  # it points to whoever wrote the file
    assert len(read(tmp_path / "out.dbr")) == 2


def test_write_warns_of_nothing_if_nothing_is_lost_or_nobody_wants_to_know(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(FULL, tmp_path / "out.jsonl")
        write(FULL, tmp_path / "out.dbr", warn=False)
