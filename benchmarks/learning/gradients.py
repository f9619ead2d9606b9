"""How exact are log Z and its gradient for the parameters of a run? By kernels against float64.

    python benchmarks/learning/gradients.py out/learning/ensemble/run01/model --override grammar.floor=1e-9

Random grammars do not show what rounding does to trained ones, whose hidden layers have grown and whose
preterminals emit few words.
"""

from __future__ import annotations

from pathlib import Path

import torch
from common import Report, arguments, config_for
from safetensors.torch import load_file
from torch import Tensor

from treemean.grammars import build_grammar
from treemean.grammars.fused import rank_rules
from treemean.grammars.inside import rank_torch, triton
from treemean.grammars.low_rank import LowRankGrammar
from treemean.training.accuracy import some_of_all_lengths
from treemean.training.corpus import prepare


def main() -> None:
    parser = arguments(__doc__ or "", seconds=0)
    parser.add_argument("model", type=Path, help="folder of a TN model, with model.safetensors")
    parser.add_argument("--corpus", default="full")
    options = parser.parse_args()
    config = config_for(options.data, options.corpus, *options.override)
    data = prepare(config.data, options.data / options.corpus)
    grammar = build_grammar(config.grammar, len(data.vocabulary)).cuda()
    assert isinstance(grammar, LowRankGrammar)
    grammar.load_state_dict(load_file(options.model / "model.safetensors"))
    words, lengths = data.train.batch(some_of_all_lengths(data.train.lengths, longest=False))
    words, lengths = words.cuda(), None if lengths is None else lengths.cuda()
    named = {name: p.detach()[None].clone().requires_grad_() for name, p in grammar.named_parameters()}
    rules = rank_rules(named, words[None], grammar.config)
    found = triton.log_partition(rules, None if lengths is None else lengths[None])
    gradients = torch.autograd.grad(found.mean(), list(named.values()), materialize_grads=True)
    grammar.double()
    expected = rank_torch.log_partition(grammar.rules(words), lengths)
    wanted = torch.autograd.grad(expected.mean(), list(grammar.parameters()), materialize_grads=True)
    off = (found[0].double() - expected).detach().abs() / (words.shape[1] if lengths is None else lengths)
    each = {name: _off(a[0], b) for name, a, b in zip(named, gradients, wanted)}
    whole = _off(*(torch.cat([part.flatten() for part in parts]) for parts in (gradients, wanted)))
    with torch.no_grad():
        hidden = grammar.emission_network(grammar.symbols[grammar.config.nonterminals :]).abs().max()
    print(f"hidden layers of emissions up to {float(hidden):.0f}")
    print(f"log Z off by at most {float(off.max()):.1e} nats per word, the whole gradient by {whole:.1e}")
    for (name, error), part in zip(each.items(), wanted):
        print(f"  {name:40s} {error:.1e} of {float(part.norm()):.1e}")
    Report(options.out, "gradients").save(
        hidden=float(hidden), log_z=float(off.max()), whole=whole, each=each
    )


def _off(found: Tensor, expected: Tensor) -> float:
    return float((found.double() - expected).norm() / expected.norm().clamp(min=1e-30))


if __name__ == "__main__":
    main()
