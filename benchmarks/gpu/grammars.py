"""Is the way from parameters to rules right at published sizes? Values and all gradients against float64."""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from gpu.verify import VOCABULARY
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.fused import rank_rules
from treemean.grammars.inside import rank_torch, triton
from treemean.grammars.inside.rules import RankRules
from treemean.grammars.low_rank import LowRankGrammar


def _log_z_and_gradients(
    rules: RankRules, parameters: list[Tensor], inside: ModuleType = rank_torch
) -> tuple[Tensor, list[Tensor]]:
    value = inside.log_partition(rules).flatten()
    return value.detach().double(), [
        g.double() for g in torch.autograd.grad(value.mean(), parameters, materialize_grads=True)
    ]


def _off(found: Tensor, expected: Tensor) -> float:
    return float((found.double() - expected).norm() / expected.norm())


def check_grown(largest: float, n: int = 10, batch: int = 4) -> dict[str, object]:
    """Compare with float64 where hidden layers of emissions have grown, as they do in long runs.

    Digits that logits as large as these have in float32 do not determine log Z any more; so only gradients
    are judged, by what would be wrong with their scales.
    """
    torch.manual_seed(1)
    grammar = build_grammar(GrammarConfig("tn-lcfrs"), VOCABULARY).cuda()
    assert isinstance(grammar, LowRankGrammar)
    inputs = grammar.symbols[grammar.config.nonterminals :]
    with torch.no_grad():
        while float(grammar.emission_network(inputs).abs().max()) < largest:
            for block in grammar.emission_network[1:]:
                for layer in (0, 2):
                    block.layers[layer].weight *= 1.1
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    named = {name: p.detach()[None].requires_grad_() for name, p in grammar.named_parameters()}
    rules = rank_rules(named, words[None], grammar.config)
    value, gradients = _log_z_and_gradients(rules, list(named.values()), triton)
    grammar.double()
    expected, wanted = _log_z_and_gradients(grammar.rules(words), list(grammar.parameters()))
    difference = float((value - expected).abs().max()) / n
    whole = _off(torch.cat([g.flatten() for g in gradients]), torch.cat([g.flatten() for g in wanted]))
    good = whole <= 1e-2
    print(
        f"  tn-lcfrs, hidden layers up to {largest:.0e}: log Z off by {difference:.1e} nats per word, whole "
        f"gradient by {whole:.1e}: {'ok' if good else 'WRONG'}",
        flush=True,
    )
    return {"largest": largest, "log_z_per_word": difference, "whole": whole, "good": good}


def check(kind: str = "tn-lcfrs", sharpness: float = 1.0, n: int = 10, batch: int = 4) -> dict[str, object]:
    """Compare three versions with float64: kernels of halves, kernels of float32, plain TF32.

    Where a version rounds what goes into a ReLU, some few are on the other side of the kink, each of which
    changes gradients by as much as it carries; the errors of the plain TF32 version tell how much that is.
    """
    torch.manual_seed(1)
    grammar = build_grammar(GrammarConfig(kind), VOCABULARY).cuda()
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        for name, parameter in grammar.named_parameters():
            if name.startswith("rank") or name == "words":
                parameter *= sharpness
    words = torch.randint(0, VOCABULARY, (batch, n), device="cuda")
    named = {name: p.detach()[None].requires_grad_() for name, p in grammar.named_parameters()}
    found: dict[str, tuple[Tensor, list[Tensor], RankRules]] = {}
    for version, dtype in (("halves", torch.float16), ("float32", torch.float32)):
        rules = rank_rules(named, words[None], grammar.config, dtype=dtype)
        value, gradients = _log_z_and_gradients(rules, list(named.values()))
        # The plain inside algorithm adds up gradients in any order; the kernels do not.
        once, again = (
            _log_z_and_gradients(
                rank_rules(named, words[None], grammar.config, dtype=dtype), list(named.values()), triton
            )
            for _ in range(2)
        )
        same = torch.equal(once[0], again[0]) and all(map(torch.equal, once[1], again[1]))
        print(f"    {version}: {'same bits twice' if same else 'BITS DIFFER'}")
        found[version] = value, [g[0] for g in gradients], rules
    torch.set_float32_matmul_precision("high")
    plain = grammar.rules(words)
    found["plain TF32"] = (*_log_z_and_gradients(plain, list(grammar.parameters())), plain)
    torch.set_float32_matmul_precision("highest")
    grammar.double()
    expected, expected_gradients = _log_z_and_gradients(grammar.rules(words), list(grammar.parameters()))
    names = [name for name, _ in grammar.named_parameters()]
    report: dict[str, object] = {"kind": kind, "sharpness": sharpness}
    for version, (value, gradients, _) in found.items():
        errors = {name: _off(g, e) for name, g, e in zip(names, gradients, expected_gradients)}
        whole = _off(
            torch.cat([g.flatten() for g in gradients]), torch.cat([e.flatten() for e in expected_gradients])
        )
        difference = float((value - expected).abs().max())
        worst = sorted(errors.items(), key=lambda item: -item[1])[:8]
        print(
            f"  {kind}, sharpness {sharpness}, {version}: log Z off by {difference:.1e},"
            f" whole gradient by {whole:.1e}; " + ", ".join(f"{name} {error:.1e}" for name, error in worst),
            flush=True,
        )
        report[version] = {"log_z": difference, "whole": whole, "errors": errors}
    return report
