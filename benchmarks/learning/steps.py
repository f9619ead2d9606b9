"""Are steps right on a GPU: of grammars that draw numbers, in full precision, and for small parameters?

python benchmarks/learning/steps.py --out FOLDER [--only graphs]

graphs: N-LCFRS and C-LCFRS by CUDA graphs and without, and going on from a state, as learners and as runs.
exact: a step of TN-LCFRS in float64 beside the quick one, and how long the check of accuracy takes.
gradients: TN-LCFRS against float64, parameter by parameter, and how long a step takes.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from common import Report, arguments, events, need_gpu

from gpu.timing import Budget, exit_if_failed, guard
from treemean.training import Outcome, Request, TrainingConfig, load_config
from treemean.training.accuracy import differences
from treemean.training.gpu import StackedLearner
from treemean.training.single import initial_grammar
from treemean.training.stopping import Stopped
from treemean.training.together import Job, train_together

VOCABULARY = 2_000
PUBLISHED_VOCABULARY = 10_001
#: By how much losses per word may differ that only the order of additions changes.
CLOSE = 1e-3


def sized(kind: str, small: bool) -> list[str]:
    """Return overrides for a grammar that a CPU can train, if so wished."""
    if not small:
        return []
    sizes = ["grammar.nonterminals=4", "grammar.preterminals=5", "grammar.embedding=8"]
    sizes += ["grammar.discontinuous=3"] * kind.endswith("lcfrs") + ["grammar.latent=3"] * kind.startswith(
        "c-"
    )
    return sizes + ["grammar.ranks=[4, 2, 4, 2]"] * kind.startswith("tn-")


def request(count: int, n: int, seed: int, vocabulary: int = VOCABULARY) -> Request:
    """Return a batch of random words."""
    words = torch.randint(vocabulary, (count, n), generator=torch.Generator().manual_seed(seed))
    return Request(words, None, count * n, 0.002, math.inf)


def stacked(config: TrainingConfig, runs: int, vocabulary: int = VOCABULARY) -> StackedLearner:
    configs = [replace(config, run=replace(config.run, init_seed=seed)) for seed in range(1, runs + 1)]
    return StackedLearner([initial_grammar(own, vocabulary) for own in configs], configs)


def learners(config: TrainingConfig, steps: int = 6) -> dict[str, Any]:
    """Make the same steps with graphs and without, let a run wait, and go on from a state."""
    lengths, runs = (12, 8), (0, 1)
    quick, plain = stacked(config, 2), stacked(config, 2)
    plain._graphs = None
    quick.prepare(lengths)

    def asked(step: int) -> dict[int, Request]:
        n = lengths[step % 2]
        return {run: request(20, n, 10 * step + run) for run in (runs if step % 3 else runs[1:])}

    def apart(a: torch.Tensor, b: torch.Tensor, step: int) -> float:
        off = (a - b).abs()[list(asked(step)), : Outcome.NORM].max()
        return float(off) / (20 * lengths[step % 2])

    graphs, generators = [], True
    for step in range(steps):
        graphs.append(apart(quick.step(asked(step)), plain.step(asked(step)), step))
        states = [[learner.state(run)["random.generator"] for learner in (quick, plain)] for run in runs]
        generators = generators and all(torch.equal(*pair) for pair in states)
    resumed = stacked(config, 2)
    resumed.prepare(lengths)
    for run in runs:
        resumed.load_state(run, {name: x.cpu().clone() for name, x in quick.state(run).items()})
    again = [apart(quick.step(asked(k)), resumed.step(asked(k)), k) for k in range(steps, 2 * steps)]
    times = {}
    for name, learner in (("graphs", quick), ("eager", plain)):
        _wait()
        began = time.monotonic()
        for _ in range(5):
            learner.step(asked(1))
        _wait()
        times[name] = (time.monotonic() - began) / 5
    good = max(graphs + again) < CLOSE and generators
    print(
        f"  {config.grammar.kind}, 2 runs: loss per word with and without graphs off by {max(graphs):.1e}, "
        f"after going on by {max(again):.1e}; generators {'alike' if generators else 'DIFFER'}; "
        f"8 words: {1000 * times['graphs']:.1f} ms a step, {1000 * times['eager']:.1f} without graphs: "
        f"{'ok' if good else 'WRONG'}",
        flush=True,
    )
    return {"graphs": graphs, "resumed": again, "generators": generators, "seconds": times, "good": good}


class After:
    """Stops a run when it was asked so often."""

    def __init__(self, times: int) -> None:
        self._left = times

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0


def in_pieces(config: TrainingConfig, folder: Path) -> dict[str, Any]:
    """Train two runs at once and in pieces, from a text of random words."""
    rng = random.Random(1)
    text = folder / "train.txt"
    lines = [" ".join(f"w{rng.randrange(200)}" for _ in range(rng.choice((5, 9)))) for _ in range(400)]
    text.write_text("\n".join(lines))
    config = replace(config, data=replace(config.data, train=(str(text),)))
    train_together([Job(config, folder / "whole", run) for run in (1, 2)])
    for times in (7, 20, 10**9):
        with suppress(Stopped):
            train_together([Job(config, folder / "parts", run) for run in (1, 2)], stop=After(times))
    losses = [
        [entry["loss"] for run in (1, 2) for entry in events(folder / name, run)]
        for name in ("whole", "parts")
    ]
    worst = max(abs(a - b) for a, b in zip(*losses, strict=True)) / 9
    checks = [entry["difference"] for entry in events(folder / "whole", 1, "accuracy")]
    print(
        f"  {config.grammar.kind}, runs at once and in pieces: {len(losses[0])} reports, loss per word off "
        f"by {worst:.1e}: {'ok' if worst < 10 * CLOSE else 'WRONG'}; log Z off by {checks} nats",
        flush=True,
    )
    return {"losses": losses, "accuracy": checks, "good": worst < 10 * CLOSE}


def exact(config: TrainingConfig, n: int) -> dict[str, Any]:
    """Compare a quick step with one in full precision, of which neither is made, and check the accuracy."""
    learner = stacked(config, 1, PUBLISHED_VOCABULARY)
    asked = replace(request(20, n, 1, PUBLISHED_VOCABULARY), limit=-math.inf)
    found, seconds = [], []
    for one in (asked, asked, replace(asked, exact=True)):
        _wait()
        began = time.monotonic()
        found.append(learner.step({0: one})[0].tolist())
        seconds.append(time.monotonic() - began)
    loss = abs(found[1][0] - found[2][0]) / 20
    norm = abs(found[1][Outcome.NORM] / found[2][Outcome.NORM] - 1)
    words = request(4, n, 2, PUBLISHED_VOCABULARY).words
    lengths = torch.tensor([n // 4 + 1, n // 2, 3 * n // 4, n])
    times = []
    for _ in range(2):
        _wait()
        began = time.monotonic()
        off = max(differences(learner.grammars[0], words, lengths))
        times.append(time.monotonic() - began)
    memory = torch.cuda.max_memory_reserved() / 2**30 if torch.cuda.is_available() else 0.0
    print(
        f"  {config.grammar.kind}, {n} words: {1000 * seconds[1]:.1f} ms, in full precision "
        f"{seconds[2]:.2f} s; loss off by {loss:.1e} nats a sentence, norm by {norm:.1e}; "
        f"check of accuracy {times[1]:.2f} s: {off:.1e} nats per word; {memory:.1f} GiB reserved",
        flush=True,
    )
    return {"seconds": seconds, "loss": loss, "norm": norm, "check": times, "off": off, "memory": memory}


def gradients() -> dict[str, Any]:
    """Compare the gradients of all parameters with float64, then time steps."""
    from gpu.grammars import check
    from gpu.step import measure

    found: dict[str, Any] = {}
    for sharpness in (50.0, 8.0, 1.0):
        report = check(sharpness=sharpness)
        halves: Any = report["halves"]
        groups: dict[str, float] = {}
        for name, error in halves["errors"].items():
            group = name.partition(".")[0]
            groups[group] = max(groups.get(group, 0.0), error)
        print("    " + ", ".join(f"{name} {error:.1e}" for name, error in groups.items()), flush=True)
        found[str(sharpness)] = report
    for runs in (1, 10):
        found[f"step of {runs}"] = measure(10, 20, runs=runs)
    return found


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main() -> None:
    parser = arguments(__doc__ or "", seconds=100)
    parser.add_argument("--only", choices=("graphs", "exact", "gradients"), action="append", default=[])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU, to see that the script works")
    options = parser.parse_args()
    if not options.small:
        need_gpu("--small --device cpu")
    budget, report = Budget(options.seconds), Report(options.out, "steps")
    print(json.dumps(report.values), flush=True)
    given = [f"training.device={options.device}", "training.select=likelihood", "training.epochs=1"]
    given += ["batches.size=20", "training.report_every=5", "checkpoint.seconds=0", *options.override]

    def config_of(kind: str) -> TrainingConfig:
        return load_config(kind, [*given, *sized(kind, options.small)])

    def part(name: str, function: Callable[[], Any], least: float) -> None:
        if options.only and name.split()[0].strip(",") not in options.only:
            return
        if budget.left() < least:
            print(f"{budget} no time is left for {name}", flush=True)
            return
        print(f"{budget} {name}", flush=True)
        report.save(**{name: guard(name, function)})

    for kind in ("c-lcfrs", "n-lcfrs"):
        part(f"graphs of {kind}", lambda kind=kind: learners(config_of(kind)), 10)  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        part("graphs in pieces", lambda: in_pieces(config_of("c-lcfrs"), Path(folder)), 10)
    for n in (10,) if options.small else (20, 40):
        part(f"exact, {n} words", lambda n=n: exact(config_of("tn-lcfrs"), n), 10)  # type: ignore[misc]
    if torch.cuda.is_available():  # of grammars of published size
        part("gradients", gradients, 20)
    print(f"{budget} done", flush=True)
    exit_if_failed()


if __name__ == "__main__":
    main()
