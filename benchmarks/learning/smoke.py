"""Do training steps as CUDA graphs work, how fast are they, and are runs together what they are alone?

python benchmarks/learning/smoke.py --data out/gpu-data --out FOLDER
"""

from __future__ import annotations

import copy
import math
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from common import FromFirstStep, Report, Reporter, arguments, config_for, curve, events, folder_for

from gpu.timing import Budget, guard, kernel_times, milliseconds, print_kernels
from treemean.grammars import Grammar
from treemean.training import Outcome, TrainingConfig
from treemean.training.corpus import Corpus, prepare
from treemean.training.development import measure
from treemean.training.gpu import StackedLearner
from treemean.training.gpu.objective import FusedObjective, PlainObjective
from treemean.training.learner import Request
from treemean.training.stopping import Stopped
from treemean.training.together import Job, train_together
from treemean.training.train import initial_grammar

LENGTHS = (40, 30, 20, 10)


def request(corpus: Corpus, n: int, seed: int, size: int = 20) -> Request:
    """Return a batch of real sentences of one length."""
    places = (corpus.lengths == n).nonzero()[0]
    words, _ = corpus.batch(places[(torch.arange(size).numpy() * 7 + 31 * seed) % len(places)])
    return Request(words, None, size * n, 0.002, math.inf)


def agreement_of_objectives(grammar: Grammar, corpus: Corpus) -> dict[str, float]:
    """Compare the gradients of the fused objective with those of the plain one in full float32."""
    grammars = [grammar, copy.deepcopy(grammar)]
    names = [name for name, _ in grammar.named_parameters()]
    stacked = {
        name: torch.stack([dict(g.named_parameters())[name].detach() for g in grammars]) for name in names
    }
    words = torch.stack([request(corpus, 12, seed).words for seed in (1, 2)]).cuda()
    found = []
    for objective in (FusedObjective(stacked, grammar.config), PlainObjective(grammars)):
        value = objective.loss(words, None).negative_log_likelihood
        gradients = torch.autograd.grad(value.mean(1).sum(), objective.leaves)
        found.append((value.detach(), objective.of_runs(gradients)))
    (ours, mine), (theirs, expected) = found
    print(f"  loss off by at most {float((ours - theirs).abs().max()):.1e} nats; gradients off by, relative:")
    errors = {
        name: max(float((a[k] - b[k]).norm() / b[k].norm()) for a, b in zip(mine, expected))
        for k, name in enumerate(names)
    }
    print("   ", ", ".join(f"{name} {error:.0e}" for name, error in errors.items()), flush=True)
    return errors


def graphs(learner: StackedLearner, corpus: Corpus) -> list[dict[str, float]]:
    """Capture graphs and time them; nothing is learnt."""
    rows = []
    runs = len(learner)
    for n in LENGTHS:
        began = time.monotonic()
        learner.prepare([n])
        seconds = time.monotonic() - began
        asked = {run: request(corpus, n, run) for run in range(runs)}
        asked = {run: Request(given.words, None, given.count, 0.0, -math.inf) for run, given in asked.items()}
        time_ = milliseconds(lambda asked=asked: learner.step(asked), repeats=8)  # type: ignore[misc]
        reserved = torch.cuda.memory_reserved() / 2**30
        rows.append({"runs": runs, "n": n, "milliseconds": time_, "capture": seconds, "reserved": reserved})
        print(
            f"  {runs:2d} runs, n = {n}: {time_:7.2f} ms a step, captured in {seconds:.1f} s; "
            f"{reserved:.1f} GiB reserved",
            flush=True,
        )
    return rows


def same_bits(alone: StackedLearner, together: StackedLearner, corpus: Corpus) -> dict[str, Any]:
    """Make some steps of a run alone, and with others; compare."""
    differences = []
    for step in range(6):
        n = LENGTHS[step % len(LENGTHS)]
        asked = {run: request(corpus, n, 10 * step + run) for run in range(len(together))}
        a, b = alone.step({0: asked[0]})[0], together.step(asked)[0]
        differences.append(float((a - b).abs()[Outcome.LIKELIHOOD] / (20 * n)))
    mine, other = alone.state(0), together.state(0)
    tensors = [name for name in mine if name.startswith("grammar.")]
    equal = all(torch.equal(mine[name], other[name]) for name in tensors)
    apart = sum(float((mine[name] - other[name]).square().sum()) for name in tensors) ** 0.5
    whole = sum(float(mine[name].square().sum()) for name in tensors) ** 0.5
    print(
        f"  a run alone and with {len(together) - 1} others, 6 steps: "
        f"{'the same bits' if equal else 'NOT the same bits'}; loss per word off by {differences}; "
        f"parameters off by {apart / whole:.1e} relative",
        flush=True,
    )
    return {"equal": equal, "loss_per_word": differences, "parameters": apart / whole}


def train_for(
    config: TrainingConfig, folder: Path, numbers: Sequence[int], seconds: float, budget: Budget
) -> dict[str, Any]:
    """Train runs for some time; tell how fast that was."""
    stop = FromFirstStep(seconds)
    torch.cuda.reset_peak_memory_stats()
    began = time.monotonic()
    with suppress(Stopped):
        train_together([Job(config, folder, run) for run in numbers], progress=Reporter(budget), stop=stop)
    ended = time.monotonic()
    rows = events(folder, numbers[0])
    first, last = rows[min(3, len(rows) - 1)], rows[-1]
    passed = last["seconds"] - first["seconds"]
    steps, words = (
        last["step"] - first["step"],
        sum(row["words"] for row in rows if row["step"] > first["step"]),
    )
    result = {
        "runs": len(numbers),
        "start": stop.began - began,
        "saving": ended - stop.began - seconds,
        "steps": last["step"],
        "steps_per_second": steps / passed,
        "sentences_per_second": steps / passed * config.batches.size * len(numbers),
        "words_per_second": words / passed * len(numbers),
        "memory": torch.cuda.max_memory_reserved() / 2**30,
        "epochs": events(folder, numbers[0], "epoch"),
    }
    print(
        f"{budget} {len(numbers)} runs: {result['steps_per_second']:.1f} steps/s, "
        f"{result['sentences_per_second']:.0f} sentences/s; {result['start']:.1f} s until the first step, "
        f"{result['saving']:.1f} s to stop and save; {result['memory']:.1f} GiB reserved\n"
        f"  perplexity by step: {curve(rows)}",  # type: ignore[arg-type]
        flush=True,
    )
    return result


def decoding(grammar: Grammar, corpus: Corpus, budget: Budget) -> dict[int, float]:
    """Time MBR decoding of batches of 20, as long as that takes no longer than it may."""
    times = {}
    for n in (10, 20, 30, 40):
        words = request(corpus, n, 1).words.cuda()
        grammar.mbr(words)
        torch.cuda.synchronize()
        began = time.monotonic()
        grammar.mbr(words)
        times[n] = time.monotonic() - began
        print(f"  n = {n}: {1000 * times[n]:.0f} ms to decode 20 sentences {budget}", flush=True)
        if times[n] > 3:
            break
    return times


def main() -> None:
    parser = arguments(__doc__ or "", seconds=170)
    parser.add_argument(
        "--each", type=float, default=25, help="seconds of training, once alone and once together"
    )
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    budget, report = Budget(options.seconds), Report(options.out, "smoke")
    given = ("training.report_every=25", "checkpoint.seconds=0")
    config = config_for(options.data, "smoke", *given, *options.override)
    work = options.work / "smoke"
    shutil.rmtree(work, ignore_errors=True)
    data = prepare(config.data, folder_for(work, "alone", options.data, "smoke"))
    size = len(data.vocabulary)
    print(f"{report.values}; vocabulary {size}", flush=True)
    grammar = initial_grammar(config, size)
    report.save(objectives=guard("objectives", lambda: agreement_of_objectives(grammar, data.train)))

    def learners() -> None:
        alone = StackedLearner([copy.deepcopy(grammar)], [config])
        rows = graphs(alone, data.train)
        together = StackedLearner(
            [copy.deepcopy(grammar) for _ in range(options.runs)], [config] * options.runs
        )
        rows += graphs(together, data.train)
        report.save(graphs=rows)
        report.save(bits=guard("bits", lambda: same_bits(alone, together, data.train)))
        report.save(decoding=guard("decoding", lambda: decoding(together.grammars[0], data.train, budget)))
        began = time.monotonic()
        scores = guard("measure", lambda: measure(together.grammars[0], data, config))
        seconds = time.monotonic() - began
        print(f"{budget} {len(data.development)} sentences measured in {seconds:.2f} s: {scores}", flush=True)
        report.save(measure=seconds)
        asked = {run: request(data.train, 20, run) for run in range(options.runs)}
        kernels = guard("kernels", lambda: kernel_times(lambda: together.step(asked)))
        if kernels:
            print_kernels(f"{options.runs} runs, n = 20", kernels, 12)

    guard("graphs", learners)
    print(f"{budget} training alone, then together", flush=True)
    for name, numbers in (("alone", [1]), ("together", list(range(1, options.runs + 1)))):
        if budget.left() < options.each + 25:
            print(f"no time is left to train {name}")
            break
        folder = folder_for(work, name, options.data, "smoke")
        seconds = min(options.each, budget.left() - 25)
        found = guard(name, lambda f=folder, k=numbers, s=seconds: train_for(config, f, k, s, budget))  # type: ignore[misc]
        report.save(**{name: found})

    def compare() -> None:
        alone, together = events(work / "alone"), events(work / "together")
        pairs = [(a["step"], a["loss"], b["loss"]) for a, b in zip(alone, together)]
        chosen = pairs[:: max(1, len(pairs) // 12)]
        print("loss per sentence of run 1 (step: alone / together):")
        print("  " + ", ".join(f"{step}: {a:.4f} / {b:.4f}" for step, a, b in chosen))
        report.save(losses=pairs)

    guard("compare", compare)


if __name__ == "__main__":
    main()
