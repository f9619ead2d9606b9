"""Epochs over the Dutch training text, for several runs at once: expected from steps, and measured.

Steps are made as training makes them, by `StackedLearner`, with its vocabulary of 10,001 and one graph for
each length. What an epoch takes is expected from the time of a step of each length and how many sentences
have it. Where the prepared corpus is at hand (`make gpu-data`), batches of it are learnt from for some
seconds, too.
"""

from __future__ import annotations

import copy
import gc
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.common import Budget
from benchmarks.corpora import prepared_config
from benchmarks.kernels.timing import milliseconds
from benchmarks.reference import SENTENCES_BY_LENGTH
from treemean.grammars import Grammar
from treemean.training import Request, StepOutcome, TrainingConfig, load_config
from treemean.training.batches import BatchOrder
from treemean.training.corpus import Data, prepare
from treemean.training.development import measure as measure_development
from treemean.training.gpu import StackedLearner
from treemean.training.single import initial_grammar

RUNS = (1, 5, 10)
LENGTHS = tuple(SENTENCES_BY_LENGTH)
VOCABULARY = 10_001
#: Steps after which losses are read, as in training.
READ_EVERY = 50
#: An epoch whose curriculum has reached the longest sentences.
EPOCH = 4


def expected(times: Mapping[int, float], batch: int, counts: Mapping[int, int]) -> float:
    """Return the seconds of an epoch, from milliseconds of a step of each length.

    >>> expected({2: 1.0, 3: 2.0}, 20, {2: 41, 3: 20})
    0.005
    """
    return sum(-(-count // batch) * times[n] for n, count in counts.items()) / 1000


def load(data: Path) -> tuple[TrainingConfig, Data | None]:
    """Return the published configuration, and the prepared corpus if it is there."""
    config = prepared_config(data, "full")
    if config is None:
        print(f"  no prepared corpus in {data / 'full'}: epochs are expected from steps only", flush=True)
        return load_config("tn-lcfrs"), None
    return config, prepare(config.data, data / "full")


def measure(data: Path, budget: Budget, keep: Callable[[object], None], *, seconds: float = 5.0) -> None:
    """Time steps of all lengths and, if there is a corpus, real training, for 1, 5 and 10 runs.

    What has been found is handed to `keep` again and again, so that little is lost if time runs out.
    """
    config, corpus = load(data)
    grammar = initial_grammar(config, VOCABULARY)
    found: dict[str, Any] = {"runs": []}
    alone = StackedLearner([copy.deepcopy(grammar)], [config])
    beginning = {name: tensor.clone() for name, tensor in alone.state(0).items()}
    for runs in RUNS:
        learner = alone
        if runs > 1:
            learner = StackedLearner([copy.deepcopy(grammar) for _ in range(runs)], [config] * runs)
        row = _measure_learner(learner)
        if corpus is not None:
            row["measured"] = trained(learner, config, corpus, seconds)
        print(
            f"  {runs:2d} runs: an epoch takes {row['epoch']:.1f} s; sentences per second of all runs: "
            f"{row['expected']:,.0f} expected, {row.get('measured', math.nan):,.0f} measured; all "
            f"{len(LENGTHS)} graphs in {row['capture']:.0f} s, {row['memory']:.1f} GiB {budget}",
            flush=True,
        )
        found["runs"].append(row)
        keep(found)
        if runs == RUNS[-1]:
            found["together"] = compare(alone, learner, beginning)
        del learner
        gc.collect()
        torch.cuda.empty_cache()
    if corpus is not None:
        found["development"] = _time_development(grammar, corpus, config)
    keep(found)


def _measure_learner(learner: StackedLearner, repeats: int = 3) -> dict[str, Any]:
    """Capture the graphs of all lengths and time them; memory is what is reserved for them, in GiB."""
    gc.collect()
    torch.cuda.empty_cache()
    began, before = time.monotonic(), torch.cuda.memory_reserved()
    learner.prepare(LENGTHS)
    captured = time.monotonic() - began
    times = {n: milliseconds(_step(learner, n), repeats=repeats, warm_up=1) for n in LENGTHS}
    epoch = expected(times, 20, SENTENCES_BY_LENGTH)
    return {
        "runs": len(learner),
        "steps": times,
        "capture": captured,
        "memory": (torch.cuda.memory_reserved() - before) / 2**30,
        "epoch": epoch,
        "expected": len(learner) * sum(SENTENCES_BY_LENGTH.values()) / epoch,
    }


def _step(learner: StackedLearner, n: int, size: int = 20) -> Callable[[], Tensor]:
    """Return a call that makes a step of all runs from random words, from which nothing is learnt."""
    drawn = torch.Generator().manual_seed(n)
    asked = {
        run: Request(torch.randint(0, VOCABULARY, (size, n), generator=drawn), None, size * n, 0.0, -math.inf)
        for run in range(len(learner))
    }
    return lambda: learner.step(asked)


def trained(learner: StackedLearner, config: TrainingConfig, data: Data, seconds: float) -> float:
    """Learn from batches of a corpus for some seconds; return the sentences per second of all runs."""
    orders = [BatchOrder(data.train.lengths, config, run) for run in range(1, len(learner) + 1)]
    batches = list(zip(*(order.of_epoch(EPOCH) for order in orders)))
    sentences = 0
    outcomes = []
    torch.cuda.synchronize()
    began = time.monotonic()
    for step, places in enumerate(batches, 1):
        asked = {}
        for run, own in enumerate(places):
            words, lengths = data.train.batch(own)
            asked[run] = Request(words, lengths, words.numel(), config.optimiser.rate, math.inf, step)
        outcomes.append(learner.step(asked))
        sentences += sum(map(len, places))
        if step % READ_EVERY == 0:
            finite = torch.stack(outcomes).isfinite().all().item()
            assert finite, "losses are not finite"
            outcomes = []
            if time.monotonic() - began >= seconds:
                break
    torch.cuda.synchronize()
    return sentences / (time.monotonic() - began)


def compare(
    alone: StackedLearner, together: StackedLearner, beginning: Mapping[str, Tensor], steps: int = 6
) -> dict[str, Any]:
    """Make some steps of a run alone, and of the same run with others; tell how far apart they come."""
    for learner in (alone, together):
        learner.load_state(0, beginning)
    differences = []
    for step in range(steps):
        n = (40, 30, 20, 10)[step % 4]
        drawn = torch.Generator().manual_seed(step)
        words = torch.randint(0, VOCABULARY, (len(together), 20, n), generator=drawn)
        asked = {run: Request(own, None, own.numel(), 0.002, math.inf, step) for run, own in enumerate(words)}
        a, b = alone.step({0: asked[0]})[0], together.step(asked)[0]
        differences.append(float((a - b)[StepOutcome.LIKELIHOOD].abs()) / (20 * n))
    mine, other = alone.state(0), together.state(0)
    names = [name for name in mine if name.startswith("grammar.")]
    apart = sum(float((mine[name] - other[name]).square().sum()) for name in names) ** 0.5
    whole = sum(float(mine[name].square().sum()) for name in names) ** 0.5
    equal = all(torch.equal(mine[name], other[name]) for name in names)
    print(
        f"  a run alone and with {len(together) - 1} others, {steps} steps: "
        f"{'the same bits' if equal else 'NOT the same bits'}; loss per word off by {max(differences):.1e}, "
        f"parameters by {apart / whole:.1e} relative",
        flush=True,
    )
    return {"equal": equal, "loss_per_word": differences, "parameters": apart / whole}


def _time_development(grammar: Grammar, data: Data, config: TrainingConfig) -> dict[str, float]:
    """Time likelihood and trees of the development set, as after each epoch; the first time compiles."""
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        scores = measure_development(grammar.eval(), data, config)
        seconds.append(time.monotonic() - began)
    print(f"  {scores.sentences} development sentences measured in {seconds[-1]:.2f} s", flush=True)
    return {"sentences": scores.sentences, "seconds": seconds[-1], "first": seconds[0]}
