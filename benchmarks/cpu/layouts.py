"""What other layouts of charts would cost: `python -m benchmarks.cpu.layouts`.

Each family in PyTorch, value and gradients of log Z, with the layout of the other one: in rank space the
sentence comes next to last, over symbols it comes first. Ratios of times of one core, the best of several.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks.common import show
from benchmarks.cpu.inside import differentiate
from tests.grammar_instances import random_dense_rules, random_rank_rules
from treemean.grammars.charts.gapped import gapped_offsets
from treemean.grammars.dense import torch as dense_torch
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.rank.torch import inside as rank_inside
from treemean.grammars.rank.views import Views
from treemean.grammars.spans import ATTACHMENTS
from treemean.reporting.tables import Cell


class SentenceFirst(Views):
    """Views of continuous spans as [K, start, length - 1, rank] in memory."""

    @classmethod
    def empty(cls, n: int, batch: int, ranks: Ranks, like: Tensor) -> Views:
        sizes = (ranks.r1, ranks.r1, ranks.r2, ranks.r3, ranks.r3)
        charts = [like.new_empty(batch, n, n, size).permute(1, 2, 0, 3) for size in sizes]
        charts.append(like.new_empty(ATTACHMENTS, batch, n, n, ranks.r4).permute(0, 2, 3, 1, 4))
        return cls(*charts)


class SentenceNextToLast(dense_torch.Inside):
    """Charts by width as [start, B, …] and [a-1, i, m', B, D] in memory."""

    def _keep(self, width: int, symbols: Tensor) -> None:
        super()._keep(width, symbols)
        for chart in (self.symbols, self.second, self.beyond, self.wrapped, self.attached):
            if width in chart:
                chart[width] = chart[width].transpose(0, 1).contiguous().transpose(0, 1)

    def _fill_discontinuous(self, width: int) -> None:
        super()._fill_discontinuous(width)
        chart = self.discontinuous[width]
        self.discontinuous[width] = chart.movedim(0, 3).contiguous().movedim(3, 0)


CASES = {
    "N-LCFRS 15/45/15": (dense_torch, dense_torch, "Inside", SentenceNextToLast),
    "TN-LCFRS, ranks 400/4/400/4": (rank_torch, rank_inside, "Views", SentenceFirst),
}


def main(repeats: int = 15) -> None:
    torch.set_num_threads(1)
    rows: list[list[Cell]] = []
    for title, (module, home, what, other) in CASES.items():
        for batch, n in ((4, 14), (16, 10)):
            rules: Any = (
                random_dense_rules(batch, n, 15, 45, 15)
                if module is dense_torch
                else random_rank_rules(batch, n, Ranks(400, 4, 400, 4))
            )
            tensors = {name: x.float() for name, x in vars(rules).items() if isinstance(x, Tensor)}
            rules = dataclasses.replace(rules, **tensors)
            found: dict[object, list[float]] = {getattr(home, what): [], other: []}
            values = []
            for layout in list(found) * repeats:
                with patch.object(home, what, layout):
                    start = time.process_time()
                    values.append(differentiate(module, rules)[0])
                    found[layout].append(time.process_time() - start)
            torch.testing.assert_close(values[0], values[1])
            own, others = (min(seconds) for seconds in found.values())
            rows.append([title, batch, n, f"{1e3 * own:.0f}", f"{1e3 * others:.0f}", f"{others / own:.2f}"])
    show(
        ["rules", "batch", "words", "own layout", "the other", "ratio"],
        rows,
        "milliseconds on one core, float32",
    )
    lengths = (10, 20, 40)
    ratios = [f"{gapped_offsets(n)[-1] / ((n - 2) * (n - 1) * n * (n + 1) / 24):.2f}" for n in lengths]
    show(["words", *map(str, lengths)], [["slots of PyTorch for one cell of kernels", *ratios]])


if __name__ == "__main__":
    main()
