"""How exact are log Z and its gradient for the parameters of a run? By kernels against float64.

    python -m benchmarks.learning.gradients out/learning/ensemble/run01/model --override grammar.floor=1e-9

Random grammars do not show what rounding does to trained ones, whose hidden layers have grown and whose
preterminals emit few words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from benchmarks.kernels.instances import off, whole_off
from benchmarks.kernels.parameters import beside_float64
from benchmarks.learning.common import arguments, config_for
from benchmarks.reports import Report, need_gpu
from treemean.grammars import build_grammar
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.training.corpus import prepare


def some_of_all_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of up to three sentences, at a quarter, half and three quarters of all lengths."""
    order = np.argsort(lengths, kind="stable")
    return order[np.unique((len(order) * np.arange(1, 4) // 4 - 1).clip(0))]


def main() -> None:
    parser = arguments(__doc__ or "", seconds=0)
    parser.add_argument("model", type=Path, help="folder of a TN model, with model.safetensors")
    parser.add_argument("--corpus", default="full")
    options = parser.parse_args()
    need_gpu()
    config = config_for(options.data, options.corpus, *options.override)
    data = prepare(config.data, options.data / options.corpus)
    grammar = build_grammar(config.grammar, len(data.vocabulary)).cuda()
    assert isinstance(grammar, LowRankGrammar)
    grammar.load_state_dict(load_file(options.model / "model.safetensors"))
    words, lengths = data.train.batch(some_of_all_lengths(data.train.lengths))
    words, lengths = words.cuda(), None if lengths is None else lengths.cuda()
    differences, gradients, wanted = beside_float64(grammar, words, lengths)
    log_z = float((differences.abs() / (words.shape[1] if lengths is None else lengths)).max())
    names = [name for name, _ in grammar.named_parameters()]
    each = {name: off(a, b) for name, a, b in zip(names, gradients, wanted)}
    whole = whole_off(gradients, wanted)
    with torch.no_grad():
        hidden = grammar.emission_network(grammar.symbols[grammar.config.nonterminals :]).abs().max()
    print(f"hidden layers of emissions up to {float(hidden):.0f}")
    print(f"log Z off by at most {log_z:.1e} nats per word, the whole gradient by {whole:.1e}")
    for (name, error), part in zip(each.items(), wanted):
        print(f"  {name:40s} {error:.1e} of {float(part.norm()):.1e}")
    Report(options.out, "gradients").save(hidden=float(hidden), log_z=log_z, whole=whole, each=each)


if __name__ == "__main__":
    main()
