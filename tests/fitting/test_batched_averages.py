"""`treemean average` finds what depends on all sentences by passes over batches, as if it held them all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from commands import run
from examples import examples
from treemean import sample
from treemean.averaging import average
from treemean.fitting import add_probabilities, fit, load
from treemean.fitting.procedure.drawn import draw_sentences
from treemean.trees import Tree, Treebank

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


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 12), st.integers(0, 3))
@examples(60)
def test_drawn_sentences(sizes: list[int], most: int, seed: int) -> None:
    """Against the definition: all numbers are drawn, and the sentences with the smallest stay in order."""
    total = sum(sizes)
    bank = Treebank.from_trees(Tree([str(n)], [({0}, "")]) for n in range(total))
    ends = np.cumsum([0, *sizes]).tolist()
    batches = [[bank[a:b], bank[a:b]] for a, b in pairwise(ends)]
    found, count = draw_sentences(batches, most, seed)
    numbers = np.random.default_rng(seed).random(total)
    expected = sorted(range(total), key=lambda n: numbers[n])[:most]
    assert count == total
    assert len(found) == (2 if sizes else 0)
    for part in found:
        assert [int(tree.words[0]) for tree in part] == sorted(expected)


def test_a_fit_to_some_of_the_sentences(files: tuple[Path, list[Treebank]]) -> None:
    folder, runs = files
    treemean.write(sample.generate(SENTENCES, seed=4), folder / "gold.jsonl")
    command = ["fit", *(f"run{k}.jsonl" for k in range(3)), "--gold", "gold.jsonl", "--model", "typed"]
    found = run(*command, "-o", "few.json", "--most", 150, cwd=folder)
    assert "150 of 2,300 sentences were drawn by the seed" in found.stdout
    assert "DRAWN: 150 of 2,300 sentences" in found.stderr
    printed = run(*command, "-o", "-", "--most", 150, cwd=folder)  # hits are all that is on standard output
    assert "DRAWN: 150 of 2,300 sentences" in printed.stderr
    assert "DRAWN" not in run(*command, "-o", "all.json", "--most", 2300, cwd=folder).stderr
    fitted = load(folder / "few.json")
    drawn, _ = draw_sentences([runs], 150, 0)
    assert [told["sentences"] for told in fitted.provenance["runs"]] == [150] * 3
    gold, _ = draw_sentences([[sample.generate(SENTENCES, seed=4)]], 150, 0)
    assert fitted.values == fit(drawn, gold[0], "typed").values
