"""How the soak test compares whole charts with float64: it accepts right ones, and finds one wrong number."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kernel_checks import moved

from benchmarks.kernels import charts
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.dense.grammar import DenseGrammar
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.rules import RankRules

WORDS = torch.tensor([[1, 4, 2, 0, 3], [3, 3, 0, 2, 1]])
CLOSE = 1e-4


def rank_rules(device: str) -> RankRules:
    torch.manual_seed(1)
    grammar = build_grammar(GrammarConfig("tn-lcfrs", 5, 7, 4, ranks=(6, 3, 5, 2), embedding=8), 5)
    assert isinstance(grammar, LowRankGrammar)
    with torch.no_grad():
        return moved(grammar.rules(WORDS).stack(), device, torch.float32)


def dense_rules(kind: str, device: str) -> DenseRules:
    torch.manual_seed(1)
    gapped = {"discontinuous": 2} if kind == "n-lcfrs" else {}
    grammar = build_grammar(GrammarConfig(kind, 3, 5, **gapped, embedding=8), 5)
    assert isinstance(grammar, DenseGrammar)
    with torch.no_grad():
        rules = grammar.rules(WORDS)
    return moved(rules, device, torch.float32)


def test_charts_in_rank_space(device: str) -> None:
    errors = charts.largest_errors(rank_rules(device))
    assert errors.keys() == {"views", "cells"}
    assert max(errors.values()) < CLOSE


@pytest.mark.parametrize("kind", ["n-lcfrs", "n-pcfg"])
def test_charts_over_symbols(kind: str, device: str) -> None:
    errors = charts.largest_errors_of_dense(dense_rules(kind, device))
    assert errors.keys() == ({"symbols", "cells"} if kind == "n-lcfrs" else {"symbols"})
    assert max(errors.values()) < (1e-3 if device == "cuda" else CLOSE)  # there, cells are fp16


@pytest.mark.parametrize("chart", ["symbols", "gapped"])
def test_one_wrong_number_is_found(chart: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(charts.DenseInside):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            numbers = getattr(self, chart)[1]
            place = int(numbers[..., :2].argmax())
            numbers[place // 2, place % 2] *= 1.2

    monkeypatch.setattr(charts, "DenseInside", Wrong)
    errors = charts.largest_errors_of_dense(dense_rules("n-lcfrs", device))
    wrong = "cells" if chart == "gapped" else "symbols"
    assert errors.pop(wrong) > 0.05
    assert max(errors.values()) < CLOSE
