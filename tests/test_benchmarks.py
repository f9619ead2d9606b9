"""What was measured on a GPU becomes one file, tables and figures; and programs start where they must."""

from __future__ import annotations

import doctest
import importlib
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.learning import ensemble, quality, stability
from benchmarks.page import chance, learning_tables, measurements, tables
from benchmarks.page.__main__ import main as bring_home
from commands import program
from examples import examples

ROOT = Path(__file__).parents[1]


def epochs(count: int, f1: float) -> list[dict[str, Any]]:
    return [
        {
            "epoch": number, "seconds": 10.0 * number, "log_likelihood": -60.0 + number, "words": 10,
            "f1": f1 + number, "f1_continuous": f1 + 2, "f1_discontinuous": 1.0,
        }
        for number in range(1, count + 1)
    ]  # fmt: skip


def runs(names: list[str], count: int) -> dict[str, Any]:
    return {
        name: {"epochs": epochs(count, 30.0 + place), "restores": [], "skips": place}
        for place, name in enumerate(names)
    }


def measured(folder: Path) -> None:
    parts = {"grammar": 1.0, "inside": 0.2, "backward": 0.3, "update": 0.1}
    steps = [{"n": n, "batch": 20, "runs": 1, "whole": 1.7, "memory": 1.0, **parts} for n in (10, 20, 30, 40)]
    check = {"case": "n = 2", "good": True, "found": {"log_z": 1e-4, "gradients": {"root": 2e-4}}}
    (folder / "gpu.json").write_text(
        json.dumps({"device": "a GPU", "gate": {"passed": True, "inside": [check]}, "steps": steps})
    )
    told = {"device": "a GPU", "ensemble": runs(["run 1", "run 2"], 3), "complete": True}
    (folder / "ensemble.json").write_text(
        json.dumps(told | {"pieces": [40.0, 5.5], "epoch_seconds": [9, 9, 9]})
    )
    quality = {"device": "a GPU", "ours-0": runs(["ours-0-1"], 2)}
    (folder / "quality-ours-0.json").write_text(json.dumps(quality))


def page_for(folder: Path, kept: dict[str, Any]) -> Path:
    """Write a page with marks, and what was measured before; return the folder of both."""
    docs = folder / "docs"
    for name in ("images", "measurements"):
        (docs / name).mkdir(parents=True)
    marks = ("checks", "steps", "ensemble", "learning", "precision", "curves")
    (docs / "measurements" / "gpu.md").write_text(
        "".join(f"<!-- {name} -->\nold\n<!-- end -->\n" for name in marks)
    )
    (docs / "measurements" / "gpu-h200.json").write_text(json.dumps(kept))
    return docs


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def kept_in(docs: Path) -> Any:
    return json.loads((docs / "measurements" / "gpu-h200.json").read_text())


def test_measurements_are_brought_home(tmp_path: Path) -> None:
    measured(tmp_path)
    docs = page_for(tmp_path, {"learning": {"float32-0": measurements.curves(runs(["float32-0-1"], 1))}})
    bring_home([str(tmp_path), "--docs", str(docs)])
    page, data = (docs / "measurements" / "gpu.md").read_text(), kept_in(docs)
    assert "old" not in page
    assert "| inside, for given rules | 1 | 1e-04 | 2e-04 | – |" in page
    assert "| 10 | 20 | 1.70 | 56 | 1.00 | 0.20 | 0.30 | 0.10 | 1.00 | – | 36 |" in page
    assert "| 1 | 5.900 ± 0.000 | 31.5 ± 0.7 | 32.5 ± 0.7 | 1.0 ± 0.0 | 9 |" in page
    assert "1 step left out, never set back. In all 46 s in 2 pieces" in page
    assert set(data["learning"]) == {"float32-0", "ours-0"}  # the one was kept, the other is new
    assert data["ensemble"]["runs"]["run 2"]["epochs"][2]["overall"] == 34.0
    images = {path.name for path in (docs / "images").iterdir()}
    assert images == {"gpu-steps.svg", "gpu-learning.svg", "gpu-precision.svg"}


@pytest.mark.parametrize(("before", "new", "kept"), [(2, 1, 2), (2, 2, 2), (1, 2, 2), (0, 1, 1)])
def test_fewer_epochs_do_not_replace_those_that_are_kept(
    before: int, new: int, kept: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(count: int, epoch: float) -> dict[str, Any]:
        return {"runs": [{"runs": 5 * place + 1, "epoch": epoch} for place in range(count)]}

    told = {"device": "a GPU", "epochs": rows(new, 2.0), "dense": [{"n": 10}]}
    (tmp_path / "gpu.json").write_text(json.dumps(told))
    old = {"device": "a GPU"} | ({"epochs": rows(before, 1.0)} if before else {})
    found = measurements.collect(tmp_path, old)
    assert found["dense"] == told["dense"]
    assert (old | found)["epochs"] == rows(kept, 1.0 if before > new else 2.0)
    assert ("epochs are left out" in capsys.readouterr().err) == (before > new)


def write_quality(folder: Path, kind: str, seeds: list[int]) -> str:
    """Write runs of a kind, as from one call; return the folder."""
    folder.mkdir(exist_ok=True)
    told = {"device": "a GPU", kind: runs([f"{kind}-{seed}" for seed in seeds], 2)}
    (folder / f"quality-{kind}.json").write_text(json.dumps(told))
    return str(folder)


def page_with_runs(folder: Path) -> Path:
    """Write a page for which three runs of a kind, and one of another, were measured before."""
    measured(folder)
    kept = {
        "device": "a GPU",
        "steps": json.loads((folder / "gpu.json").read_text())["steps"],
        "learning": {
            "ours-0": measurements.curves(runs(["ours-0-1", "ours-0-2", "ours-0-7"], 4)),
            "float32-0": measurements.curves(runs(["float32-0-1"], 4)),
        },
    }
    return page_for(folder, kept)


def test_runs_of_several_folders_are_joined_and_replace_those_that_were_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = page_with_runs(tmp_path)
    later = write_quality(tmp_path / "later", "ours-0", [3, 10])
    first = write_quality(tmp_path / "first", "ours-0", [1, 2])
    write_quality(tmp_path / "first", "ours-1e-09", [1])
    bring_home([later, first, "--docs", str(docs)])
    told = capsys.readouterr().err
    assert "kept no longer, as the new runs of ours-0 replace all others: ours-0-7\n" in told
    learning = kept_in(docs)["learning"]
    assert {kind: list(found) for kind, found in learning.items()} == {
        "ours-0": ["ours-0-1", "ours-0-2", "ours-0-3", "ours-0-10"],
        "float32-0": ["float32-0-1"],
        "ours-1e-09": ["ours-1e-09-1"],
    }
    assert {len(run["epochs"]) for run in learning["ours-0"].values()} == {2}  # all of them are new
    page = (docs / "measurements" / "gpu.md").read_text()
    assert "| kernels, no floor | 4 | 1 | 5.900 (5.900–5.900) | 31.5 (31.0–32.0) | 1.0 (1.0–1.0) |" in page


def test_the_same_run_twice_is_an_error(tmp_path: Path) -> None:
    docs = page_with_runs(tmp_path)
    before = files_of(docs)
    folders = [write_quality(tmp_path / f"from{k}", "ours-0", [k, k + 1]) for k in (1, 2)]
    with pytest.raises(SystemExit, match=r"from2 has runs that .* has, too: ours-0-2\. Nothing was changed"):
        bring_home([*folders, "--docs", str(docs)])
    assert files_of(docs) == before


def test_kinds_of_runs_are_compared() -> None:
    ends = {"ours-0": 50.0, "float32-0": 40.0, "ours-1e-09": 40.0, "float32-1e-09": 50.0}
    kinds = {}
    for kind, f1 in ends.items():
        told = {
            f"{kind}-{seed}": {"epochs": epochs(5 - seed, f1 + seed), "restores": [], "skips": 0}
            for seed in (1, 2)
        }
        kinds[kind] = measurements.curves(told)
    lines = learning_tables.learning_table(kinds).splitlines()
    assert lines[2:4] == [
        "| kernels, no floor | 2 | 1 | 5.900 (5.900–5.900) | 52.5 (52.0–53.0) | 1.0 (1.0–1.0) |",
        "|  |  | 2 | 5.800 (5.800–5.800) | 53.5 (53.0–54.0) | 1.0 (1.0–1.0) |",
    ]
    assert lines[4].startswith("|  |  | 3 | 5.700")  # the last one that is over for both
    # Two against two differ as much in two of six ways; both differences together make up for each other.
    start = lines.index("| means after epoch 3 (p) | runs | nats per word | F1 overall | F1 discontinuous |")
    assert [line.split(" | ")[1:4:2] for line in lines[start + 2 :]] == [
        ["2 / 2", "54.5 / 44.5 (0.33)"],
        ["2 / 2", "44.5 / 54.5 (0.33)"],
        ["4 / 4", "49.5 / 49.5 (1)"],
        ["2 / 2", "54.5 / 44.5 (0.33)"],
        ["2 / 2", "44.5 / 54.5 (0.33)"],
        ["4 / 4", "49.5 / 49.5 (1)"],
    ]


scores = st.lists(st.integers(-20, 20).map(lambda number: number / 10), min_size=1, max_size=3)


@examples(40)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=2))
def test_chance_is_that_of_all_orders(strata: list[tuple[list[float], list[float]]]) -> None:
    def sums(first: list[float], second: list[float]) -> list[float]:
        return [sum(order[: len(first)]) for order in itertools.permutations([*first, *second])]

    dealt = [sum(parts) for parts in itertools.product(*(sums(*pair) for pair in strata))]
    mean = sum(dealt) / len(dealt)
    found = abs(sum(sum(first) for first, _ in strata) - mean)
    naive = sum(abs(each - mean) >= found - 1e-6 for each in dealt) / len(dealt)
    assert chance.p_value(strata) == pytest.approx(naive)


def test_chance_is_that_of_a_known_permutation_test() -> None:
    first, second = [5.38, 5.41, 5.44, 5.45, 5.43, 5.36], [5.435, 5.476, 5.477, 5.458, 5.465, 5.456]
    known = stats.permutation_test(
        (first, second), lambda a, b: sum(a) / len(a) - sum(b) / len(b), n_resamples=np.inf
    )
    assert chance.p_value([(first, second)]) == pytest.approx(known.pvalue)


KEPT = {
    "device": "a GPU",
    "steps": [{"n": 10}],
    "ensemble": {"runs": {"run 1": {"epochs": [{"epoch": 1}, {"epoch": 2}], "skips": 0, "restores": 0}}},
}
ELSEWHERE = {"device": "CPU", "ensemble": runs(["run 1"], 3)}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (None, "there is no folder"),
        ({}, "there are no results in"),
        ({"ensemble": ELSEWHERE}, "on CPU, and what is kept on a GPU; .*: ensemble .runs: 1, epochs: 2"),
        ({"gpu": {"device": "CPU", "steps": []}}, "on CPU, and what is kept on a GPU; .* lost: steps"),
        ({"stability": {"device": "CPU", "stability": {}}}, "on CPU, and what is kept on a GPU"),
        ({"gpu": {"steps": []}}, "does not say on which device"),
        ({"ensemble": {"device": "a GPU"}}, "no epoch is over; .* ensemble .runs: 1, epochs: 2"),
        ({"ensemble": {"device": "a GPU", "ensemble": {"run 1": {}}}}, "no epoch is over"),
        ({"ensemble": {"device": "a GPU", "ensemble": runs(["run 1"], 0)}}, "no epoch is over"),
        ({"ensemble": []}, "has no results"),
        ({"ensemble": None}, "is no JSON"),
    ],
)
def test_what_is_kept_is_not_lost(tmp_path: Path, files: dict[str, Any] | None, told: str) -> None:
    docs = page_for(tmp_path, KEPT)
    good = tmp_path / "good"  # a folder before it, which must not be brought home then
    good.mkdir()
    measured(good)
    (good / "ensemble.json").unlink()
    folder = tmp_path / "results"
    if files is not None:
        folder.mkdir()
    for name, values in (files or {}).items():
        (folder / f"{name}.json").write_text("{" if values is None else json.dumps(values))
    before = files_of(docs)
    with pytest.raises(SystemExit, match=f"{told}.*Nothing was changed"):
        bring_home([str(good), str(folder), "--docs", str(docs)])
    assert files_of(docs) == before


def test_interrupted_results_are_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = page_for(tmp_path, KEPT)
    measured(tmp_path)
    (tmp_path / "stability.json").write_text(json.dumps({"device": "a GPU", "corpus": "full"}))
    bring_home([str(tmp_path), "--docs", str(docs)])
    assert "stability.json is left out: it has runs of which no epoch is over" in capsys.readouterr().err
    data = kept_in(docs)
    assert "stability" not in data
    assert len(data["ensemble"]["runs"]) == 2


@pytest.fixture
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("_no_gpu")
@pytest.mark.parametrize("program", [ensemble, quality, stability])
def test_published_sizes_are_not_for_a_cpu(tmp_path: Path, program: Any) -> None:
    with pytest.raises(SystemExit, match="there is no CUDA device here"):
        program.main(["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work")])
    assert not files_of(tmp_path)


@pytest.mark.usefixtures("_no_gpu")
def test_small_sizes_only_want_data(tmp_path: Path) -> None:
    small = [f"--override=grammar.{name}=4" for name in ("nonterminals", "preterminals", "discontinuous")]
    with pytest.raises(SystemExit, match="there is no prepared corpus in"):
        stability.main(["--data", str(tmp_path), "--out", str(tmp_path), *small])


def test_checks_with_grown_layers_have_a_line_of_their_own() -> None:
    exact = {"halves": {"log_z": 1e-4, "whole": 2e-4}}
    grown = {"whole": 5e-3, "log_z_per_word": 1}
    cases = {"tn-lcfrs, sharpness 1": exact, "hidden layers up to 2e+04": grown}
    rows = [{"case": case, "good": True, "found": found} for case, found in cases.items()]
    lines = (
        tables.checks_table({"checks": measurements.checks({"grammars": rows})}).to_markdown().splitlines()
    )
    assert lines[2] == "| from parameters to log Z | 1 | 1e-04 | 2e-04 | – |"
    assert lines[3] == "| likewise, with hidden layers that have grown | 1 | – | 5e-03 | – |"


def modules(*areas: str) -> dict[str, Path]:
    """Return the modules of some areas by name, and those beside the areas."""
    paths = [path for area in ("", *areas) for path in sorted(ROOT.glob(f"benchmarks/{area}/*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths)}


def test_the_examples_run() -> None:
    found = [name for name, path in modules("kernels", "page").items() if ">>> " in path.read_text()]
    assert len(found) > 4
    for name in found:
        assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_programs_for_a_gpu_start_where_nothing_is_installed() -> None:
    """But PyTorch, Triton, safetensors and NumPy. Every program tells of its options there.

    What becomes of the trees of the Dutch experiment is for where treemean is installed.
    """
    pytest.importorskip("triton")
    absent = "treemean._core matplotlib scipy sklearn nltk pyarrow lxml typer rich pytest hypothesis".split()
    names = [*modules("kernels", "learning"), "benchmarks.page.tables"]
    installed = ("choosing", "dutch", "epochs", "parted", "supply")
    names = [name for name in names if name.rpartition(".")[2] not in installed]
    code = f"""
import json, runpy, sys
from importlib import import_module
sys.modules |= dict.fromkeys({absent!r})
sys.argv = ["program", "--help"]
ended = {{}}
for name in {names!r}:
    if hasattr(import_module(name), "main"):
        sys.modules.pop(name)
        try:
            runpy.run_module(name, run_name="__main__")
        except SystemExit as end:
            ended[name] = end.code
print(json.dumps(ended))
"""
    bare = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, "-c", code]
    found = program(*words, cwd=ROOT, env=bare)
    areas = {"kernels": "__main__ dense hazard ranks soak"}
    areas["learning"] = (
        "again discontinuity ensemble gradients posteriors prepare quality reproducible stability"
    )
    programs = {f"benchmarks.{area}.{name}" for area, names in areas.items() for name in names.split()}
    assert json.loads(found.stdout.splitlines()[-1]) == dict.fromkeys(programs, 0)
