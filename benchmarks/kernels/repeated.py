"""What is computed again and again to see whether the bits stay the same: every kernel, forward and backward.

A `Repetition` computes tensors by name from an input that does not change. The names say which kernels they
come from. Memory is poisoned, so that what nobody writes is the same each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.kernels.charts import filled
from benchmarks.kernels.decoding import log_rules
from benchmarks.kernels.dense import rules_of
from benchmarks.kernels.epochs import load
from benchmarks.kernels.instances import (
    TENSORS,
    VOCABULARY,
    gradients_of,
    make_grammar,
    make_rank_grammar,
    random_parameters,
    span_weights,
)
from benchmarks.kernels.timing import captured, poisoned
from treemean.grammars import GrammarConfig
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton.forward_pass import Settings as DenseSettings
from treemean.grammars.dense.triton.viterbi import DenseViterbiChart
from treemean.grammars.gpu.max_plus import KernelMax
from treemean.grammars.gpu.mbr import best_ways
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.triton.backward_pass import Gradients, fill_gradients
from treemean.grammars.rank.triton.charts import Shape
from treemean.grammars.rank.triton.parameters import rank_rules
from treemean.grammars.rank.triton.partition import Total
from treemean.grammars.rank.triton.posteriors import compact_posteriors
from treemean.grammars.rank.triton.settings import DEFAULT
from treemean.grammars.rank.triton.viterbi import ViterbiChart
from treemean.training import Request, TrainingConfig, load_config
from treemean.training.gpu import StackedLearner
from treemean.training.single import initial_grammar

Outputs = dict[str, Tensor]
#: Sizes of published grammars; the last is how many runs a learner is trained for at most.
RUNS = 10
#: By which the weights of dense grammars are multiplied where their rules are given.
SHARPNESS = 3.0
#: The least score of a span, relative to its largest, where there is one.
FLOOR = 1e-3


@dataclass(frozen=True)
class Case:
    """What is repeated, and how.

    Parameters
    ----------
    what : a key of `BUILDERS`; after a blank, the kind of grammar, if it is not TN-LCFRS.
    grammar : "random", "sharp" (choices more decided) or "trained".
    floor : whether spans have a least score.
    weighed : whether spans have weights.
    graph : whether a CUDA graph is replayed instead of calling everything anew.
    streams : whether kernels may run side by side.
    mixed : whether sentences have several lengths.
    """

    what: str
    n: int
    runs: int = 1
    batch: int = 20
    grammar: str = "random"
    graph: bool = True
    streams: bool = True
    mixed: bool = False
    floor: bool = False
    weighed: bool = False

    def __str__(self) -> str:
        told = [f"{self.n} words", f"{self.runs} × {self.batch} sentences", self.grammar]
        told += ["graph" if self.graph else "eager", "streams" if self.streams else "one stream"]
        told += ["mixed lengths"] * self.mixed + ["floor"] * self.floor + ["weights"] * self.weighed
        return f"{self.what}: " + ", ".join(told)

    @property
    def builder(self) -> str:
        """The key of `BUILDERS`."""
        return self.what.partition(" ")[0]

    @property
    def kind(self) -> str:
        """The kind of grammar."""
        return self.what.partition(" ")[2] or "tn-lcfrs"


@dataclass
class Repetition:
    """A computation that can be repeated, and how to tell of one of its numbers where it belongs."""

    compute: Callable[[], Outputs]
    locate: Callable[[str, tuple[int, ...]], str] = lambda name, index: f"at {index}"
    prepare: Callable[[], None] = lambda: None


def build(case: Case, data: Path) -> Repetition:
    """Return what is to be repeated; a graph is captured if one is wanted."""
    repetition = BUILDERS[case.builder](case, data)
    if not case.graph or case.builder == "step":  # a step captures its graphs by itself
        return repetition
    kept: Outputs = {}

    def keep() -> None:
        kept.clear()
        kept.update(repetition.compute())

    graph = captured(keep)

    def replay(held: Repetition = repetition) -> Outputs:  # holds the inputs that the graph reads
        graph.replay()
        return kept

    return replace(repetition, compute=replay)


# ---- grammars and sentences ---------------------------------------------------------------------------


@cache
@torch.enable_grad()
def trained_parameters(data: Path, runs: int = RUNS, steps: int = 300) -> dict[str, Tensor]:
    """Return the stacked parameters of runs that have learnt a little from the Dutch text, if it is there."""
    config, corpus = load(data)
    if corpus is None:
        raise FileNotFoundError(f"there is no prepared corpus in {data}: `make gpu-data` makes it")
    configs = [replace(config, run=replace(config.run, init_seed=seed)) for seed in range(1, runs + 1)]
    learner = StackedLearner([initial_grammar(c, len(corpus.vocabulary)) for c in configs], configs)
    lengths = (8, 14, 20, 26)
    draw = np.random.default_rng(0)
    for step in range(steps):
        n = lengths[step % len(lengths)]
        places = np.flatnonzero(corpus.train.lengths == n)
        asked = {}
        for run in range(runs):
            words, _ = corpus.train.batch(draw.choice(places, 20, replace=False))
            asked[run] = Request(words, None, words.numel(), config.optimiser.rate, math.inf)
        learner.step(asked)
    names = [name for name, _ in learner.grammars[0].named_parameters()]
    return {name: tensor.clone() for name, tensor in zip(names, learner._stacked)}


_random_parameters = cache(random_parameters)


def parameters_of(case: Case, data: Path) -> dict[str, Tensor]:
    if case.grammar == "trained":
        return {name: tensor[: case.runs] for name, tensor in trained_parameters(data).items()}
    return _random_parameters(case.runs, 50.0 if case.grammar == "sharp" else 1.0)


def words_of(case: Case) -> Tensor:
    drawn = torch.Generator("cuda").manual_seed(case.n)
    return torch.randint(0, VOCABULARY, (case.runs, case.batch, case.n), generator=drawn, device="cuda")


def lengths_of(case: Case) -> Tensor | None:
    if not case.mixed:
        return None
    lengths = case.n - torch.arange(case.runs * case.batch, device="cuda") % (case.n - 1)
    return lengths.view(case.runs, case.batch)


def rules_for(case: Case, data: Path) -> RankRules:
    with torch.no_grad():
        config = GrammarConfig("tn-lcfrs", floor=FLOOR if case.floor else 0.0)
        return rank_rules(parameters_of(case, data), words_of(case), config)


# ---- TN-LCFRS ------------------------------------------------------------------------------------------


def rules_repetition(case: Case, data: Path) -> Repetition:
    """From parameters to rules, and back."""
    named = {name: p.detach().requires_grad_() for name, p in parameters_of(case, data).items()}
    words, config = words_of(case), GrammarConfig("tn-lcfrs")
    drawn = torch.Generator("cuda").manual_seed(1)
    weights: list[Tensor] = []

    def compute() -> Outputs:
        with poisoned():
            rules = rank_rules(named, words, config)
            tensors = [getattr(rules, name) for name in TENSORS]
            if not weights:
                weights.extend(torch.rand(t.shape, generator=drawn, device="cuda") for t in tensors)
            gradients = torch.autograd.grad(tensors, list(named.values()), weights)
        found = {f"rules, forward: {name}": t.detach() for name, t in zip(TENSORS, tensors)}
        found["rules, forward: scales"] = rules.scales
        return found | {f"rules, backward: {name}": g for name, g in zip(named, gradients)}

    return Repetition(compute, lambda name, index: f"run {index[0] + 1}, at {index[1:]}")


def inside_repetition(case: Case, data: Path) -> Repetition:
    """The inside pass and its gradients, from rules: every chart, whole."""
    rules, lengths = rules_for(case, data), lengths_of(case)
    settings = replace(DEFAULT, streams=case.streams)
    shape = Shape(case.runs, case.batch, case.n, rules.ranks)
    ones = torch.ones(case.runs, case.batch, device="cuda")
    weights = span_weights(shape.sentences, case.n) if case.weighed else None

    @torch.no_grad()
    def compute() -> Outputs:
        with poisoned():
            found = filled(rules, settings, weights)
            charts = found.charts
            total = Total(shape, charts, found.rules.root, lengths)
            gradients = Gradients.allocate(found.context, posteriors=not case.weighed)
            of_root = total.start(gradients, shape, ones, found.rules.root)
            fill_gradients(found.context, charts, found.rules, gradients)
        return {
            "continuous_forward: scores": charts.scores,
            "continuous_forward: scales": charts.scales,
            "continuous_forward: ratios": charts.ratios,
            "continuous_forward: coefficients": charts.coefficients,
            "publish_gap_views: parts": charts.parts,
            "large_forward, attach_forward: wrapping": charts.wrapping,
            "large_forward, attach_forward: attaching": charts.attaching,
            "attach_forward: attached": charts.attached,
            "products of scores and rules: views": charts.views,
            "log Z": total.log(),
            "discontinuous_backward: attached": gradients.attached,
            "discontinuous_backward: pairs": gradients.pairs,
            "discontinuous_backward: from_attached": gradients.from_attached,
            "discontinuous_backward: posteriors": gradients.posteriors,
            "large_backward: from_pairs": gradients.from_pairs,
            "large_, sibling_, wrapped_ and attached_backward: views": gradients.views,
            "products of gradients and rules: scores": gradients.scores,
            "root": of_root,
        }

    return Repetition(compute, lambda name, index: place_in_charts(shape, name, index))


def place_in_charts(shape: Shape, name: str, index: tuple[int, ...]) -> str:
    """Tell the run, the sentence and the span of a number in one of the charts."""
    chart = name.rpartition(": ")[2]
    if chart in ("parts", "pairs"):
        index = index[1:]
    if chart in ("scores", "scales", "views"):
        run, row = index[0], index[1]
        width = next(w for w in range(1, shape.n + 1) if row < shape.rows_of(w).stop)
        sentence, start = divmod(row - shape.rows_of(width).start, shape.n - width + 1)
        return f"run {run + 1}, sentence {sentence + 1}, span ({start}, {start + width}), at {index[2:]}"
    if chart in ("root", "log Z"):
        return f"run {index[0] + 1}, at {index[1:]}"
    run, sentence = divmod(index[0], shape.batch)
    told = f"run {run + 1}, sentence {sentence + 1}"
    if chart not in ("wrapping", "attaching", "attached", "posteriors"):
        return f"{told}, at {index[1:]}"
    cell, first = index[1], 0
    for left in range(1, shape.n - 1):
        for right in range(1, shape.n - left):
            size = shape.n - left - right
            if cell < first + size * (size + 1) // 2:
                i, p = (x[cell - first].item() for x in torch.triu_indices(size, size))
                span = (i, i + left, p + left + 1, p + left + 1 + right)
                return f"{told}, cell {span}, at {index[2:]}"
            first += size * (size + 1) // 2
    raise AssertionError(f"there is no cell {cell}")


def step_repetition(case: Case, data: Path) -> Repetition:
    """A whole step of training, parameters and moments included; the state is put back before each."""
    config = load_config(case.kind, [f"batches.lengths={'mixed' if case.mixed else 'equal'}"])
    learner = learner_of(case, config, data)
    if not case.graph:
        learner._graphs = None
    vocabulary = learner.grammars[0].vocabulary_size
    words, sizes = words_of(case).cpu() % vocabulary, lengths_of(case)
    asked = {
        run: Request(
            words[run], None if sizes is None else sizes[run].cpu(), words[run].numel(), 0.002, math.inf
        )
        for run in range(case.runs)
    }
    adam = learner._adam
    state = [*learner._stacked, *adam._first, *adam._second, adam.steps]
    beginning = [tensor.clone() for tensor in state]
    drawn = [generator.get_state() for generator in learner.generators]
    names = [name for name, _ in learner.grammars[0].named_parameters()]
    labels = [
        f"step: {kind}{name}" for kind in ("", "first moment of ", "second moment of ") for name in names
    ]

    def put_back() -> None:
        for tensor, given in zip(state, beginning):
            tensor.copy_(given)
        for generator, given in zip(learner.generators, drawn):
            generator.set_state(given)

    def compute() -> Outputs:
        outcomes = learner.step(asked)
        return {"step: outcome": outcomes} | dict(zip(labels, state))

    return Repetition(compute, lambda name, index: f"run {index[0] + 1}, at {index[1:]}", put_back)


def learner_of(case: Case, config: TrainingConfig, data: Path) -> StackedLearner:
    """Return what makes the steps of the runs of a case, with the parameters that it asks for."""
    if case.kind != "tn-lcfrs":
        configs = [replace(config, run=replace(config.run, init_seed=run + 1)) for run in range(case.runs)]
        return StackedLearner([initial_grammar(c, VOCABULARY) for c in configs], configs)
    parameters = parameters_of(case, data)
    vocabulary = parameters["words"].shape[1]
    grammars = [initial_grammar(config, vocabulary) for _ in range(case.runs)]
    learner = StackedLearner(grammars, [config] * case.runs)
    for mine, given in zip(learner._stacked, parameters.values()):
        mine.copy_(given)
    return learner


@torch.no_grad()
def trees_repetition(case: Case, data: Path) -> Repetition:
    """Minimum Bayes risk trees, from posteriors."""
    posteriors = compact_posteriors(rules_for(case, data), lengths_of(case))

    def compute() -> Outputs:
        with poisoned():
            ways, gapped = best_ways(posteriors)
        return {"best_continuous: ways": ways, "best_discontinuous: ways": gapped}

    return Repetition(compute)


@torch.no_grad()
def viterbi_repetition(case: Case, data: Path) -> Repetition:
    """Most probable derivations, from parameters."""
    grammar = make_rank_grammar("tn-lcfrs", 50.0 if case.grammar == "sharp" else 1.0).eval()
    words = words_of(case)[0]
    lengths = torch.full((case.batch,), case.n, device="cuda")

    @torch.no_grad()
    def compute() -> Outputs:
        with poisoned():
            rules = log_rules(grammar, words, KernelMax())
            chart = ViterbiChart(rules)
            nodes = chart.nodes(lengths)
        charts = {
            name: getattr(chart, name) for name in ("views", "scores", "wrapping", "extended", "attachments")
        }
        charts |= {f"rules, {name}": getattr(rules, name) for name in ("continuous", "discontinuous", "root")}
        return {f"viterbi: {name}": t for name, t in charts.items()} | {
            "viterbi: nodes": nodes[:, : case.n - 1]
        }

    return Repetition(compute)


# ---- dense grammars -------------------------------------------------------------------------------------


def dense_repetition(case: Case, _: Path) -> Repetition:
    """log Z of a grammar over symbols and its gradient, from parameters."""
    grammar, words = make_grammar(case.kind, seed=2), words_of(case)[0]

    def compute() -> Outputs:
        with poisoned():
            log_z = grammar.log_prob(words)
            gradients = gradients_of(log_z.sum(), grammar.parameters())
        names = [f"{case.kind}, backward: {name}" for name, _ in grammar.named_parameters()]
        return {f"{case.kind}, forward: log Z": log_z.detach()} | dict(zip(names, gradients))

    return Repetition(compute)


def dense_inside_repetition(case: Case, _: Path) -> Repetition:
    """The same from rules, with or without streams."""
    leaves = {
        name: tensor.requires_grad_()
        for name, tensor in rules_of(case.kind, case.n, case.batch, SHARPNESS).tensors().items()
    }
    settings = DenseSettings(streams=case.streams)

    def compute() -> Outputs:
        with poisoned():
            log_z = dense_kernels.log_partition(DenseRules(**leaves), settings=settings)
            gradients = gradients_of(log_z.sum(), leaves.values())
        names = [f"{case.kind}, inside backward: {name}" for name in leaves]
        return {f"{case.kind}, inside forward: log Z": log_z.detach()} | dict(zip(names, gradients))

    return Repetition(compute)


@torch.no_grad()
def dense_viterbi_repetition(case: Case, _: Path) -> Repetition:
    """Most probable derivations of a grammar over symbols, from rules."""
    rules = rules_of(case.kind, case.n, case.batch, SHARPNESS)
    lengths = torch.full((case.batch,), case.n, device="cuda")

    @torch.no_grad()
    def compute() -> Outputs:
        with poisoned():
            chart = DenseViterbiChart(rules)
            nodes = chart.nodes(lengths)
        charts = {
            "symbols": chart.symbols,
            "discontinuous": chart.discontinuous,
            "nodes": nodes[:, : case.n - 1],
        }
        return {f"dense viterbi, {case.kind}: {name}": tensor for name, tensor in charts.items()}

    return Repetition(compute)


BUILDERS: dict[str, Callable[[Case, Path], Repetition]] = {
    "rules": rules_repetition,
    "inside": inside_repetition,
    "step": step_repetition,
    "trees": trees_repetition,
    "viterbi": viterbi_repetition,
    "dense": dense_repetition,
    "dense-inside": dense_inside_repetition,
    "dense-viterbi": dense_viterbi_repetition,
}
