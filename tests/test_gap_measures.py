"""The bench for discontinuous constituents: its measures against other ways to compute them; a small run."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from benchmarks.learning import discontinuity, gaps, parted
from benchmarks.page import discontinuity as page
from benchmarks.page.chance import sign_p_value
from examples import examples
from parser_instances import SIZES, write_instance
from treemean.grammars import GrammarConfig, build_grammar
from treemean.training import load_config
from treemean.training.corpus import Corpus, prepare
from treemean.trees import Tree, Treebank, bitsets

NUMBERS = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=7)


@pytest.fixture(scope="module")
def grammar():
    torch.manual_seed(2)
    drawn = build_grammar(GrammarConfig("tn-lcfrs", **SIZES), vocabulary_size=9).double()
    with torch.no_grad():
        for parameter in drawn.parameters():
            parameter.mul_(2)  # rules that differ
    return drawn


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.of([[1, 2, 3, 4], [5], [3, 3], [8, 1, 4, 2, 6], [7, 7, 1]])


@torch.no_grad()
def test_without_gaps_a_grammar_is_the_sum_over_its_trees_without_gaps(grammar, corpus) -> None:
    plain = gaps.without_gaps(grammar)
    words = torch.tensor([[8, 1, 4, 2, 6]])
    # Rules that wrap nothing, normalised again, and what no longer occurs left out.
    factors = grammar.factors(words)
    r1 = grammar.ranks.r1
    parents = factors.parents[:, :r1] / factors.parents[:, :r1].sum(-1, keepdim=True)
    chart = {}
    nonterminals = len(factors.root)
    for width in range(1, 6):
        for i in range(6 - width):
            if width == 1:
                chart[i, i + 1] = torch.cat([torch.zeros(nonterminals), factors.words[0, i].exp()]).double()
                continue
            inside = torch.zeros(nonterminals, dtype=torch.float64)
            for j in range(i + 1, i + width):
                both = (factors.left[:r1] @ chart[i, j]) * (factors.right[:r1] @ chart[j, i + width])
                inside = inside + parents @ both
            chart[i, i + width] = torch.cat([inside, torch.zeros(len(factors.words[0, 0])).double()])
    expected = float((factors.root @ chart[0, 5][:nonterminals]).log())
    assert float(plain.log_prob(words)) == pytest.approx(expected, abs=1e-9)
    several = [plain.log_prob(torch.tensor([s])) for s in ([1, 2, 3, 4], [3, 3], [8, 1, 4, 2, 6], [7, 7, 1])]
    assert gaps.log_likelihood(plain, corpus) == pytest.approx(float(sum(several)), abs=1e-9)


def test_expected_gaps_are_those_of_samples(grammar, corpus) -> None:
    generator = torch.Generator().manual_seed(1)
    count, found = 1500, 0
    for numbers in ([1, 2, 3, 4], [8, 1, 4, 2, 6], [7, 7, 1]):
        (samples,) = grammar.sample(torch.tensor([numbers]), count=count, generator=generator)
        found += sum(bitsets.fan_out_of(mask) > 1 for masks in samples for mask in masks)
    assert found > 100
    assert gaps.expected_gaps(grammar, corpus) == pytest.approx(found / count, rel=0.1)


def test_divergence_is_that_of_scipy(grammar) -> None:
    choices = gaps.gapped_choices(grammar).numpy()
    pairs = [jensenshannon(a, b) ** 2 for k, a in enumerate(choices) for b in choices[k + 1 :]]
    assert gaps.mean_divergence(torch.from_numpy(choices)) == pytest.approx(np.mean(pairs))


@examples(40)
@given(NUMBERS, st.randoms(use_true_random=False))
def test_rank_correlation_is_that_of_scipy(first, random) -> None:
    second = [random.choice([0.0, 1.0, 2.0]) for _ in first]
    found = gaps.rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(first, second).statistic)


@examples(25)
@given(NUMBERS)
def test_chance_of_pairs_is_that_of_scipy(differences) -> None:
    found = stats.permutation_test(
        (np.array(differences),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_p_value(differences) == pytest.approx(min(found.pvalue, 1.0))


def test_one_command_compares_variants(tmp_path: Path, capsys) -> None:
    write_instance(tmp_path)
    given = [
        f"data.train={json.dumps([str(tmp_path / 'train.txt')])}",
        f"data.development={tmp_path / 'dev.jsonl'}",
    ]
    prepare(load_config("tn-lcfrs", [*given, "data.max_length=5"]).data, tmp_path / "data" / "full")
    sizes = [f"--override=grammar.{name}={size}" for name, size in SIZES.items()]
    words = [
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path), "--work", str(tmp_path / "work")),
        *("--epochs", "1", "--inits", "1", "2", "--override", "data.max_length=5", *sizes),
        *("--override", "batches.first_limit=4", "--override", "training.threads=1"),
        *("--variant", "base", "--variant", "faster", "optimiser.rate=0.01"),
    ]
    for part in ("dev", "test"):
        shutil.copy(tmp_path / "dev.jsonl", tmp_path / "data" / f"{part}.jsonl")
    discontinuity.main(words)
    shown = capsys.readouterr().out
    for told in ("difference from base", "rank correlation", "recall of all runs", "everything is done"):
        assert told in shown
    report = json.loads((tmp_path / "discontinuity.json").read_text())
    assert report["complete"]
    assert [entry["variant"] for entry in report["measured"]] == ["base", "faster"]
    for entry in report["measured"]:
        assert len(entry["union_recall"]) == 1
        for run in entry["runs"]:
            scores = report[entry["variant"]][f"{entry['variant']}-{run['initialisation']}-1"]["epochs"]
            for measured, told in zip(run["epochs"], scores, strict=True):
                assert measured["f1"] == told["f1"]
                assert measured["nats"] == pytest.approx(-told["log_likelihood"] / told["words"])
    with ZipFile(tmp_path / "discontinuity.zip") as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    of_runs = ["dev-run{}.jsonl", "test-run{}.jsonl", "epoch1-run{}.jsonl"]
    pairs = product(("base", "faster"), of_runs, ("01", "02"))
    assert names == {f"{variant}/{name.format(run)}" for variant, name, run in pairs}
    discontinuity.main(words)  # everything is there already
    assert "is measured" not in capsys.readouterr().out


def test_a_variant_without_a_finished_epoch_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"variant": "slow", "epochs": 0, "union_recall": [], "runs": [{"epochs": []}]}
    discontinuity._tables([entry], ["slow"])
    assert "no epoch is measured yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("preset", "settings"),
    [("tn-lcfrs", ("a.b=1",)), ("c-lcfrs", ("--preset c-lcfrs", "a.b=1"))],
)
def test_runs_of_other_grammars_stand_apart(preset: str, settings: tuple[str, ...]) -> None:
    report = {"preset": preset, "variants": {"x": ["a.b=1"]}, "x": {"x-3-2": {"epochs": []}}}
    assert list(page.runs_of(report)) == [((settings, 3, 2, 1), [])]


def test_each_kind_of_constituent_has_votes_of_its_own() -> None:
    words = list("abcde")
    first, second = (
        Treebank.from_trees([Tree(words, [(positions, "") for positions in (range(5), *own)])])
        for own in ([[0, 1], [0, 1, 2, 3]], [[0, 3]])
    )
    positions = [
        {c.positions for c in parted.parted_average([first], [second], ratio)[0]} for ratio in (0.0, 5.0)
    ]
    assert positions[0] == {(0, 1), (0, 1, 2, 3), tuple(range(5))}
    assert positions[1] == {(0, 3), (0, 1, 2, 3), tuple(range(5))}  # (0, 1) crosses (0, 3)
