"""A treebank against itself has 100 in every number of `standard`, labelled or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from score_checks import assert_all_100

from treemean import sample
from treemean.errors import TreemeanError
from treemean.evaluation import evaluate
from treemean.formats import Problems, read
from treemean.trees import Treebank

DIALECTS = (
    *("atis.mrg", "cess-esp.tbf", "floresta.ptb", "handparsed.mrg", "icepahc-25.psd", "mtg.discbracket"),
    *("taa-case.discbrackets", "tiger-secondary-edges.xml", "treetools-continuous.brackets"),
)


def assert_100(bank: Treebank) -> None:
    for labelled in (False, True):
        evaluation = evaluate(bank, bank, labelled=labelled)
        assert_all_100(evaluation)
        assert evaluation.overall.f1 == 100.0
        assert evaluation.protocol.name == "standard"


def test_the_sample() -> None:
    assert_100(sample.gold())
    for run in sample.runs():
        assert_100(run)


def test_the_alpino_treebank(data_folder: Path) -> None:
    path = data_folder / "dutch" / "alpino.xml.gz"
    if not path.is_file():
        pytest.skip(f"the Alpino treebank is absent: there is no file {path}")
    bank = read(path)
    assert len(bank) > 7000
    assert_100(bank)
    assert evaluate(bank, bank).gold_fan_out_above_2 > 0
    assert evaluate(bank, bank, "paper").overall.f1 < 100.0  # which leaves out gold of fan-out above 2


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects(data_folder: Path, name: str) -> None:
    path = data_folder / "dialects" / name
    if not path.is_file():
        pytest.skip(f"there is no file {path}")
    try:
        bank = read(path, problems=Problems(skip=True))
    except TreemeanError as error:
        pytest.skip(f"{name} cannot be read: {error}")
    if not len(bank):
        pytest.skip(f"no sentence of {name} can be read")
    for labelled in (False, True):
        assert_all_100(evaluate(bank, bank, labelled=labelled))
