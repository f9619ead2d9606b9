"""Is the way from parameters to rules right at published sizes? Values and all gradients against float64."""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from benchmarks.kernels.instances import (
    LARGEST_DIFFERENCE,
    gradients_of,
    largest,
    make_rank_grammar,
    off,
    random_parameters,
    random_words,
    stacked,
    whole_off,
)
from treemean.grammars import GrammarConfig
from treemean.grammars.nan_policy import in_float64
from treemean.grammars.networks import Residual
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank import triton
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules
from treemean.grammars.rank.triton.parameters import rank_rules


def _log_z_and_gradients(
    rules: RankRules, parameters: list[Tensor], inside: ModuleType = rank_torch
) -> tuple[Tensor, list[Tensor]]:
    value = inside.log_partition(rules).flatten()
    return value.detach().double(), [g.double() for g in gradients_of(value.mean(), parameters)]


def beside_float64(
    grammar: LowRankGrammar, words: Tensor, lengths: Tensor | None = None
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Return how far off log Z of each sentence is by kernels; gradients of its mean, theirs and exact."""
    named = stacked(grammar.named_parameters())
    rules = rank_rules(named, words[None], grammar.config)
    found = triton.log_partition(rules, None if lengths is None else lengths[None])[0]
    gradients = [gradient[0] for gradient in gradients_of(found.mean(), named.values())]
    precise = in_float64(grammar)
    assert isinstance(precise, LowRankGrammar)
    expected = rank_torch.log_partition(precise.rules(words), lengths)
    wanted = list(gradients_of(expected.mean(), precise.parameters()))
    return (found.double() - expected).detach(), gradients, wanted


def check_grown(size: float, n: int = 10, batch: int = 4) -> dict[str, object]:
    """Compare with float64 where hidden layers of emissions have grown, as they do in long runs.

    Digits that logits as large as these have in float32 do not determine log Z any more; so only gradients
    are judged, by what would be wrong with their scales.
    """
    grammar = make_rank_grammar("tn-lcfrs", seed=1)
    inputs = grammar.symbols[grammar.config.nonterminals :]
    with torch.no_grad():
        while float(grammar.emission_network(inputs).abs().max()) < size:
            for block in grammar.emission_network:
                if isinstance(block, Residual):
                    for parameter in block.parameters():
                        if parameter.dim() > 1:
                            parameter.mul_(1.1)
    log_z, *gradients = beside_float64(grammar, random_words(batch, n))
    difference, whole = float(log_z.abs().max()) / n, whole_off(*gradients)
    good = whole <= 1e-2
    print(
        f"  tn-lcfrs, hidden layers up to {size:.0e}: log Z off by {difference:.1e} nats per word, whole "
        f"gradient by {whole:.1e}: {'ok' if good else 'WRONG'}",
        flush=True,
    )
    return {"largest": size, "log_z_per_word": difference, "whole": whole, "good": good}


def check(kind: str, sharpness: float, n: int = 10, batch: int = 4) -> dict[str, object]:
    """Compare three versions with float64: kernels in fp16, kernels of float32, plain TF32.

    Where a version rounds what goes into a ReLU, some few are on the other side of the kink, each of which
    changes gradients by as much as it carries; the errors of the plain TF32 version tell how much that is,
    and are not judged.
    """
    grammar = make_rank_grammar(kind, sharpness, seed=1)
    words, named = random_words(batch, n), stacked(grammar.named_parameters())
    found: dict[str, tuple[Tensor, list[Tensor]]] = {}
    same = True
    for version, dtype in (("halves", torch.float16), ("float32", torch.float32)):
        # The plain inside algorithm adds up gradients in any order; the kernels do not.
        (value, gradients), once, again = (
            _log_z_and_gradients(
                rank_rules(named, words[None], grammar.config, dtype=dtype), list(named.values()), inside
            )
            for inside in (rank_torch, triton, triton)
        )
        same = same and torch.equal(once[0], again[0]) and all(map(torch.equal, once[1], again[1]))
        print(f"    {version}: {'same bits twice' if same else 'BITS DIFFER'}")
        found[version] = value, [g[0] for g in gradients]
    torch.set_float32_matmul_precision("high")
    found["plain TF32"] = _log_z_and_gradients(grammar.rules(words), list(grammar.parameters()))
    torch.set_float32_matmul_precision("highest")
    grammar.double()
    expected, expected_gradients = _log_z_and_gradients(grammar.rules(words), list(grammar.parameters()))
    names = [name for name, _ in grammar.named_parameters()]
    report: dict[str, object] = {"kind": kind, "sharpness": sharpness, "same_bits": same, "good": same}
    for version, (value, gradients) in found.items():
        errors = {name: off(g, e) for name, g, e in zip(names, gradients, expected_gradients)}
        whole = whole_off(gradients, expected_gradients)
        difference = float((value - expected).abs().max())
        worst = sorted(errors.items(), key=lambda item: -item[1])[:8]
        print(
            f"  {kind}, sharpness {sharpness}, {version}: log Z off by {difference:.1e},"
            f" whole gradient by {whole:.1e}; " + ", ".join(f"{name} {error:.1e}" for name, error in worst),
            flush=True,
        )
        report[version] = {"log_z": difference, "whole": whole, "errors": errors}
        if version != "plain TF32" and not largest([difference, whole]) <= LARGEST_DIFFERENCE:
            report["good"] = False
    return report


def check_stack(runs: int, sharpness: float, n: int = 20, batch: int = 20) -> dict[str, object]:
    """Compare each of several runs that are computed together with the same run computed alone.

    All other checks have one run; products of several are made by other algorithms, at other places.
    """
    together = {name: tensor.requires_grad_() for name, tensor in random_parameters(runs, sharpness).items()}
    return beside_runs_alone(together, random_words(runs, batch, n))


def beside_runs_alone(together: dict[str, Tensor], words: Tensor) -> dict[str, object]:
    """Return the largest difference of log Z and of a gradient, relative to its norm, and where it is."""
    config = GrammarConfig("tn-lcfrs")
    log_z, gradients = _log_z_and_gradients(
        rank_rules(together, words, config), list(together.values()), triton
    )
    difference, errors = 0.0, {}
    for run, own in enumerate(words):
        alone = {name: tensor[run : run + 1].detach().requires_grad_() for name, tensor in together.items()}
        expected, wanted = _log_z_and_gradients(
            rank_rules(alone, own[None], config), list(alone.values()), triton
        )
        found = log_z.view(len(words), -1)[run]
        difference = largest([difference, float((found - expected).abs().max())])
        own_gradients = [gradient[run] * len(words) for gradient in gradients]  # the mean is over all runs
        wanted = [gradient[0] for gradient in wanted]
        errors[f"run {run + 1}"] = whole_off(own_gradients, wanted)
        errors |= {f"run {run + 1}, {name}": off(*pair) for name, *pair in zip(alone, own_gradients, wanted)}
    whole = largest(error for name, error in errors.items() if "," not in name)
    worst = sorted(errors.items(), key=lambda item: -item[1])[:6]
    good = largest([difference, whole]) <= LARGEST_DIFFERENCE
    print(
        f"  {len(words)} runs, each beside it alone: log Z off by {difference:.1e}, gradient by {whole:.1e}; "
        + ", ".join(f"{name} {error:.1e}" for name, error in worst)
        + ("" if good else "  TOO MUCH"),
        flush=True,
    )
    return {"runs": len(words), "log_z": difference, "whole": whole, "worst": dict(worst), "good": good}
