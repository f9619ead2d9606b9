"""Decoding on the GPU: the same trees as by the plain versions, the time of its parts, and parsing a text."""

from __future__ import annotations

import cProfile
import gc
import io
import pstats
import random
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.kernels import dense
from benchmarks.kernels.instances import TENSORS, VOCABULARY, make_grammar, make_rank_grammar, random_words
from benchmarks.kernels.step import Step
from benchmarks.kernels.timing import graph_milliseconds, kernel_times, milliseconds, poisoned, print_kernels
from benchmarks.reference import SENTENCES_BY_LENGTH
from treemean.grammars.decoding.choices import best
from treemean.grammars.decoding.semirings import MAX, Semiring
from treemean.grammars.dense import triton as dense_kernels
from treemean.grammars.dense.decoding.chart import DenseChart
from treemean.grammars.dense.decoding.walk import DenseWalker
from treemean.grammars.dense.triton.viterbi import best_dense_derivations
from treemean.grammars.gpu.max_plus import KernelMax
from treemean.grammars.gpu.mbr import best_trees_of_spans, best_ways, read_trees
from treemean.grammars.rank.decoding import mbr
from treemean.grammars.rank.decoding.chart import LogRankRules, RankChart
from treemean.grammars.rank.decoding.walk import RankWalker
from treemean.grammars.rank.grammar import LowRankGrammar, contract_logarithms
from treemean.grammars.rank.triton.posteriors import compact_posteriors
from treemean.grammars.rank.triton.viterbi import ViterbiChart
from treemean.parsing import Model, Normalisation, Vocabulary, parse

#: Kind, length, and how decided choices are: hardly, as at the beginning of training, or very.
CASES = [
    ("tn-lcfrs", 10, 1.0),
    ("tn-lcfrs", 20, 50.0),
    ("tn-lcfrs", 30, 1.0),
    ("tn-lcfrs", 30, 150.0),
    ("tn-lcfrs", 40, 1.0),
    ("tn-lcfrs", 40, 50.0),
    ("tn-lcfrs", 40, 150.0),
    ("tn-pcfg", 40, 50.0),
]
DENSE = ("n-pcfg", "n-lcfrs", "c-lcfrs")
SENTENCES = 1000


def log_rules(grammar: LowRankGrammar, words: Tensor, semiring: Semiring) -> LogRankRules:
    return contract_logarithms(grammar.factors(words), grammar.ranks, semiring)


def check() -> dict[str, Any]:
    """Compare all trees of all cases with those of the plain versions; "good" if none differs."""
    found = [check_case(*case) for case in CASES] + [check_dense(kind) for kind in DENSE]
    return {"good": all(row["good"] for row in found), "cases": found}


@torch.no_grad()
def check_case(kind: str, n: int, sharpness: float) -> dict[str, Any]:
    """Compare MBR trees from the same posteriors, and best derivations from the same factors.

    Memory is poisoned. One sentence repeats a single word, so that many spans are worth the same.
    """
    grammar = make_rank_grammar(kind, sharpness).eval()
    lengths = torch.tensor([n, n, n, n - 3, n // 2, 2, 1], device="cuda")
    words = random_words(len(lengths), n)
    words[1] = words[1, 0]
    with poisoned():
        posteriors = compact_posteriors(grammar.rules(words).stack(), lengths[None])
        trees = read_trees(*best_ways(posteriors), lengths)
    different = count_different(trees, mbr.best_trees(posteriors.spans(), lengths))
    off = float((posteriors.constituents() - (lengths - 1)).abs().max())
    with poisoned():
        rules = log_rules(grammar, words, KernelMax())
        chart = ViterbiChart(rules)
        log_probs, derived = chart.log_probs(lengths), chart.trees(lengths)
    gaps = sum(bin(mask ^ (mask << 1)).count("1") > 2 for tree in derived for mask in tree)
    plain_rules = log_rules(grammar, words, MAX)
    same_rules = all(torch.equal(getattr(rules, name), getattr(plain_rules, name)) for name in TENSORS)
    plain = RankChart(plain_rules, MAX)
    walker = RankWalker(plain)
    expected = [walker.tree(k, length, best) for k, length in enumerate(lengths.tolist())]
    scores = [
        (plain.scores[length][0, k] + plain_rules.root).amax()
        for k, length in enumerate(lengths.tolist())
        if length > 1
    ]
    difference = float((log_probs[lengths > 1] - torch.stack(scores)).abs().max())
    derived_different = count_different(derived, expected)
    good = different == derived_different == 0 and difference < 1e-9
    print(
        f"  {kind}, n = {n}, sharpness {sharpness:g}: {different} of {len(trees)} MBR trees differ"
        f" (posteriors of a sentence add up to its length - 1 within {off:.1e}); {derived_different} trees of"
        f" best derivations differ ({gaps} constituents with gaps), their log probabilities by"
        f" {difference:.1e}, rules {'are the same bits' if same_rules else 'DIFFER'}",
        flush=True,
    )
    return {
        "kind": kind,
        "n": n,
        "sharpness": sharpness,
        "mbr_different": different,
        "viterbi_different": derived_different,
        "log_probs": difference,
        "same_rules": same_rules,
        "good": good,
    }


@torch.no_grad()
def check_dense(kind: str, n: int = 40, sharpness: float = 3.0) -> dict[str, Any]:
    """Compare the trees of best derivations over symbols, and MBR trees from the same posteriors."""
    lengths = torch.tensor([n, n, n - 7, 3], device="cuda")
    rules = dense.rules_of(kind, n, len(lengths), sharpness)
    with poisoned():
        derived = best_dense_derivations(rules, lengths)
    walker = DenseWalker(DenseChart(rules, MAX))
    expected = [walker.tree(k, length, best) for k, length in enumerate(lengths.tolist())]
    spans = dense_kernels.span_posteriors(rules, lengths)
    different = count_different(best_trees_of_spans(spans, lengths), mbr.best_trees(spans, lengths))
    derived_different = count_different(derived, expected)
    print(
        f"  {kind}, n = {n}: {different} of {len(lengths)} MBR trees differ; {derived_different} trees of"
        " best derivations differ",
        flush=True,
    )
    found = {"kind": kind, "n": n, "mbr_different": different, "viterbi_different": derived_different}
    return found | {"good": different == derived_different == 0}


def count_different(found: list[Any], expected: list[Any]) -> int:
    return sum(a != b for a, b in zip(found, expected, strict=True))


def measure(n: int, batch: int = 20, runs: int = 1) -> dict[str, object]:
    """Time MBR decoding of a batch, as a graph and call by call, and the reading of trees."""
    step = Step(n, batch, runs=runs)
    lengths = torch.full((runs, batch), n, device="cuda")
    kept: dict[str, Any] = {}

    @torch.no_grad()
    def posteriors() -> None:
        kept["posteriors"] = compact_posteriors(step.rules(), lengths)

    def ways() -> None:
        kept["ways"] = best_ways(kept["posteriors"])

    def whole() -> None:
        posteriors()
        ways()

    def eager() -> None:
        whole()
        read_trees(kept["ways"][0], kept["ways"][1], lengths.flatten())

    posteriors()
    ways()
    graph_posteriors, graph_whole = graph_milliseconds(posteriors), graph_milliseconds(whole)
    posteriors()
    graph_ways = graph_milliseconds(ways)
    whole()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(5):
        read_trees(kept["ways"][0], kept["ways"][1], lengths.flatten())
    reading = (time.perf_counter() - start) * 200
    called = milliseconds(eager, repeats=5, warm_up=1)
    print(
        f"  n = {n:2d}, batch {batch}, runs {runs}: as a graph {graph_whole:.2f} ms"
        f" (posteriors {graph_posteriors:.2f}, best ways {graph_ways:.2f})"
        f" + reading trees {reading:.2f}; call by call {called:.1f} ms in all",
        flush=True,
    )
    return {
        "n": n,
        "batch": batch,
        "runs": runs,
        "graph": graph_whole,
        "posteriors": graph_posteriors,
        "ways": graph_ways,
        "reading": reading,
        "eager": called,
    }


@torch.no_grad()
def measure_viterbi(
    n: int, batch: int = 20, *, kind: str = "tn-lcfrs", profile: bool = False
) -> dict[str, Any]:
    """Time best derivations of a batch: rules, charts and walk as graphs, everything call by call."""
    grammar = make_rank_grammar(kind, 50.0).eval()
    words = random_words(batch, n)
    lengths = torch.full((batch,), n, device="cuda")
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    grammar.viterbi(words)
    memory = (torch.cuda.max_memory_allocated() - before) / 2**30
    rules = log_rules(grammar, words, KernelMax())
    chart = ViterbiChart(rules)
    times = {
        "rules": graph_milliseconds(lambda: log_rules(grammar, words, KernelMax()), repeats=5),
        "chart": graph_milliseconds(lambda: ViterbiChart(rules), repeats=5),
        "walk": graph_milliseconds(lambda: chart.nodes(lengths), repeats=5),
        "eager": milliseconds(lambda: grammar.viterbi(words), repeats=5, warm_up=1),
    }
    print(
        f"  {kind}, n = {n:2d}, batch {batch}: best derivations call by call {times['eager']:.1f} ms; as"
        f" graphs rules {times['rules']:.2f} + charts {times['chart']:.2f} + walk {times['walk']:.2f} ms;"
        f" {memory:.2f} GiB",
        flush=True,
    )
    row: dict[str, Any] = {"kind": kind, "n": n, "batch": batch, "memory": memory, **times}
    if profile:
        row["kernels"] = kernel_times(lambda: grammar.viterbi(words))
        print_kernels(f"{kind}, n = {n}", row["kernels"], 12)
    return row


@torch.no_grad()
def measure_dense(kind: str, n: int = 40, batch: int = 20) -> dict[str, Any]:
    """Time both ways of decoding with a dense grammar, once each, after a shorter batch."""
    grammar = make_grammar(kind).eval()
    seconds = {}
    for length in (8, n):
        words = random_words(batch, length)
        for name, decode in (("mbr", grammar.mbr), ("viterbi", grammar.viterbi)):
            torch.cuda.synchronize()
            began = time.perf_counter()
            decode(words)
            seconds[name] = time.perf_counter() - began
    print(
        f"  {kind}, n = {n}, batch {batch}: MBR {seconds['mbr']:.2f} s,"
        f" best derivations {seconds['viterbi']:.2f} s",
        flush=True,
    )
    return {"kind": kind, "n": n, "batch": batch, **seconds}


def measure_parsing(folder: Path) -> list[dict[str, Any]]:
    """Time `treemean.parsing.parse` on sentences of random words, and see where the host spends its time."""
    grammar = make_rank_grammar("tn-lcfrs", 50.0).eval()
    names = [f"w{number}" for number in range(VOCABULARY - 1)]
    model = Model(grammar, Vocabulary(names), Normalisation(number="", punctuation="keep"))
    draw = random.Random(0)
    by_length = list(SENTENCES_BY_LENGTH)
    weights = {"2 to 40 words": None, "lengths of Dutch text": list(SENTENCES_BY_LENGTH.values())}
    rows = []
    for text, weight in weights.items():
        lengths = draw.choices(by_length, weight, k=SENTENCES)
        sentences = [draw.choices(names, k=length) for length in lengths]
        for decoder in ("mbr", "viterbi"):
            task = partial(_parsed, model, sentences, decoder)
            first, seconds = task(), task()
            print(
                f"  {SENTENCES} sentences, {text}, {sum(lengths)} words, {decoder}: {seconds:.2f} s"
                f" (first time {first:.2f} s)",
                flush=True,
            )
            rows.append({"text": text, "decoder": decoder, "seconds": seconds, "first": first})
    for decoder in ("mbr", "viterbi"):  # of the last text
        profiler, told = cProfile.Profile(), io.StringIO()
        profiler.runcall(_parsed, model, sentences, decoder)
        pstats.Stats(profiler, stream=told).sort_stats("tottime").print_stats(25)
        (folder / f"host-{decoder}.txt").write_text(told.getvalue())
    return rows


def _parsed(model: Model, sentences: list[list[str]], decoder: Any) -> float:
    """Parse a text and return the seconds."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    trees = [tree for treebank in parse(model, sentences, decoder=decoder) for tree in treebank]
    assert len(trees) == len(sentences)
    return time.perf_counter() - began
