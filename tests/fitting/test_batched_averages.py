"""`treemean average` finds what depends on all sentences by passes over batches, as if it held them all."""

from __future__ import annotations

from pathlib import Path

import pytest

import treemean
from commands import run
from treemean import sample
from treemean.averaging import average
from treemean.fitting import add_probabilities, fit
from treemean.trees import Treebank

#: More than two batches of a file.
SENTENCES = 2300


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Treebank]]:
    folder = tmp_path_factory.mktemp("batches")
    gold = sample.generate(SENTENCES, seed=4)
    runs = sample.noisy_parses(gold, runs=3, seed=5)
    for number, one in enumerate(runs):
        treemean.write(one, folder / f"run{number}.jsonl")
    return folder, runs


def test_probabilities_by_the_runs_alone(files: tuple[Path, list[Treebank]]) -> None:
    folder, runs = files
    run("average", *(f"run{k}.jsonl" for k in range(3)), "-o", "mean.jsonl", "--probability", cwd=folder)
    found, expected = treemean.read(folder / "mean.jsonl"), add_probabilities(average(runs), runs)
    assert found == expected
    assert found.constituent_values["probability"] == pytest.approx(
        expected.constituent_values["probability"], abs=1e-12
    )


def test_hits_of_the_corpus(files: tuple[Path, list[Treebank]]) -> None:
    folder, runs = files
    development = sample.generate(200, seed=6)
    fitted = fit(sample.noisy_parses(development, runs=3, seed=7), development, "logistic", target="both")
    assert fitted.of_corpus
    fitted.save(folder / "hits.json")
    command = ["average", *(f"run{k}.jsonl" for k in range(3)), "-o", "mean.jsonl", "--hits", "hits.json"]
    run(*command, "--probability", cwd=folder)
    expected = fitted.average(runs, probability=True)
    found = treemean.read(folder / "mean.jsonl")
    assert found == expected
    assert found != average(runs)
    assert found.constituent_values["probability"] == pytest.approx(
        expected.constituent_values["probability"], abs=1e-12
    )


def test_models_without_gold(files: tuple[Path, list[Treebank]]) -> None:
    folder, runs = files
    names = [f"run{k}" for k in range(3)]
    for model in ("agreement", "equal"):
        command = ["fit", *(f"{name}.jsonl" for name in names), "--model", model, "-o", f"{model}.json"]
        run(*command, cwd=folder)
        fit(runs, None, model, names=names).save(folder / "expected.json")
        assert (folder / f"{model}.json").read_bytes() == (folder / "expected.json").read_bytes()
