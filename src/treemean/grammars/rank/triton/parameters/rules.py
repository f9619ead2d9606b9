"""From the parameters of E grammars to their rules in rank space, and back, all grammars at once.

The same function as `LowRankGrammar.rules`, by fp16 products (see `matrices`) and kernels between them.
Gradients are written out by hand. Independent parts run side by side on streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.config import GrammarConfig
from treemean.grammars.gpu.matrices import aligned, half_matrix, long_product, precision, product
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import power, whole_row
from treemean.grammars.gpu.units import SCALE
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.grammars.rank.triton.parameters import backward_kernels, unit_kernels
from treemean.grammars.rank.triton.parameters.emissions import Emissions
from treemean.grammars.rank.triton.parameters.layers import (
    SmallNetwork,
    Tally,
    softmax_gradients,
    split_matrix,
)
from treemean.grammars.rank.triton.parameters.ranks import (
    Children,
    GappedChildren,
    Parents,
    Projections,
    RankMatrices,
)
from treemean.grammars.rank.triton.parameters.scaled_network import ScaledNetwork
from treemean.grammars.rank.triton.parameters.unit_kernels import HIDDEN, LOGITS, UNITS

# Side streams; those of the inside pass have smaller numbers.
_RULES, _SMALL, _WEIGHTS, _WORDS, _EXPECTED = range(4, 9)

# How many numbers of a gradient a program brings out of its units.
_AT_ONCE = 4096


def rank_rules(
    parameters: Mapping[str, Tensor],
    words: Tensor,
    config: GrammarConfig,
    *,
    dtype: torch.dtype = torch.float16,
) -> RankRules:
    """Return the stacked rules of E grammars for a batch each, differentiable in the parameters.

    Parameters
    ----------
    parameters : by their names in `LowRankGrammar`, each (E, …), float32.
    words : (E, B, n), numbers of words.
    config : of the grammars.
    dtype : of the operands of matrix products: float16, or float32 for full precision.

    Where this is captured as a CUDA graph, gradients must be taken in the same capture, or not at all.
    """
    ranks, names = Ranks(*config.ranks), list(parameters)
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in parameters.values())
    views, scales, continuous, discontinuous, root = _RankRules.apply(  # type: ignore[no-untyped-call]
        words, config, names, keep, dtype, *parameters.values()
    )
    rules = RankRules(views, scales, continuous, discontinuous, root, ranks=ranks, floor=config.floor)
    if not config.weighs_gaps:
        return rules
    return rules.with_gaps_weighed(config.wrapping, config.wrapped_words, config.root_wrapping)


class _RankRules(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        words: Tensor,
        config: GrammarConfig,
        names: list[str],
        keep: bool,
        dtype: torch.dtype,
        *tensors: Tensor,
    ) -> tuple[Tensor, ...]:
        parameters = dict(zip(names, tensors))
        with precision(dtype):
            passed = _Pass(parameters, words, config)
            results = passed.forward(keep)
        if keep:
            ctx.passed, ctx.names, ctx.dtype = passed, names, dtype
            ctx.save_for_backward(results[0], results[2], results[3])
        ctx.mark_non_differentiable(results[1])
        ctx.set_materialize_grads(False)
        ctx.shapes = [result.shape for result in results]
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients_of_rules: Tensor | None) -> tuple[Tensor | None, ...]:
        values = ctx.saved_tensors
        of_rules = [
            values[0].new_zeros(shape) if gradient is None else gradient.contiguous()
            for number, (gradient, shape) in enumerate(zip(gradients_of_rules, ctx.shapes))
            if number != 1  # the scales
        ]
        with precision(ctx.dtype):
            gradients = ctx.passed.backward(values, *of_rules)
        return *[None] * 5, *(gradients[name] for name in ctx.names)


class _Pass:
    """One pass forward, and what it leaves for the way back."""

    def __init__(self, parameters: Mapping[str, Tensor], words: Tensor, config: GrammarConfig) -> None:
        self.config, self.ranks, self.words = config, Ranks(*config.ranks), words
        self.device = words.device
        self.parameters = parameters = {name: p.detach().contiguous() for name, p in parameters.items()}
        self.streams = Streams(self.device)
        self.runs, self.size = parameters["rank1"].shape[:2]
        self.symbols = split_matrix(parameters["symbols"])
        self.matrices = RankMatrices(parameters, self.ranks)
        gaps = config.has_gaps
        children = ("left", "right", "continuous_child") if gaps else ("left", "right")
        self.children_projections = Projections(children, parameters)
        self.parent_projection = Projections(("parent",), parameters)
        if gaps:
            self.gapped_projections = Projections(("gapped_parent", "discontinuous_child"), parameters)
            self.attachment_network = SmallNetwork("attachment_network", parameters)
        self.root_network = SmallNetwork("root_network", parameters)
        self.emissions = Emissions(
            ScaledNetwork("emission_network", parameters),
            self.symbols[:, config.nonterminals :],
            parameters["words"],
            words,
        )
        self.children = Children(self.matrices, config.nonterminals, config.preterminals)

    def forward(self, keep: bool) -> tuple[Tensor, ...]:
        """Return views, scales, continuous, discontinuous and root of the rules."""
        config, streams = self.config, self.streams
        runs, batch, n = self.words.shape
        symbols = self.symbols
        with streams.beside(_SMALL):
            self.root = self.root_network.probabilities(self.parameters["root_embedding"])
            self.attachment = None
            if config.has_gaps:
                self.attachment = self.attachment_network.probabilities(self.parameters["rank4"].mT)
        with streams.beside(_RULES):
            projected = self.children_projections.forward(symbols)
            (parent,) = self.parent_projection.forward(symbols[:, : config.nonterminals])
            r1, r2, r3, r4 = self.ranks
            self.parents = Parents(parent, self.matrices.parents, r1 + r2)
            if config.has_gaps:
                gapped_parent, gapped_child = self.gapped_projections.forward(
                    split_matrix(self.parameters["gapped_symbols"])
                )
                self.gapped_parents = Parents(gapped_parent, self.matrices.gapped_parents, r3 + r4)
                self.gapped_children = GappedChildren(gapped_child, self.matrices.mixed)
            streams.join(_SMALL)
            preterminals = self.children.forward(projected, self.attachment)
            views_of = slice(self.ranks.views)
            continuous = self.parents.rules(
                self.children.nonterminals[:, views_of], self.children.rest[:, views_of]
            )
            root, rest = torch.bmm(self.root, self.parents.exact.float())[:, 0].chunk(2, 1)
            root = root[:, : r1 + r2] + rest[:, : r1 + r2]
            discontinuous = continuous.new_zeros(runs, 0, 0)
            if config.has_gaps:
                discontinuous = self.gapped_parents.rules(
                    self.gapped_children.chosen, self.gapped_children.rest
                )
        emitted, scales = self.emissions.forward(keep=keep)
        if keep:
            with streams.beside(_EXPECTED):
                self.emissions.expect()
        streams.join(_RULES)
        views = long_product(emitted, preterminals[:, views_of])
        torch._foreach_mul_([views, root], SCALE**-2)
        if config.floor:
            views += config.floor
        return (
            views.view(runs, batch, n, -1),
            scales.view(runs, batch, n),
            continuous,
            discontinuous,
            root,
        )

    def backward(
        self,
        values: tuple[Tensor, Tensor, Tensor],
        views: Tensor,
        continuous: Tensor,
        discontinuous: Tensor,
        root: Tensor,
    ) -> dict[str, Tensor]:
        """Return the gradients of all parameters from the rules, ``values``, and the gradients of these."""
        config, streams = self.config, self.streams
        view_gradients, steps, weights = self._scale_views(values[0], views)
        units, gapped_units = self._measure(steps, weights, values[2], discontinuous)
        main, gapped, small = Tally(streams, _WEIGHTS), Tally(streams, _WEIGHTS), Tally(streams, _SMALL)
        rooms = self.children_projections.room(), self.parent_projection.room()
        with streams.beside(_RULES):
            matrix, step = self._scale_matrix(continuous)
            of_nonterminals = product(matrix.mT, self.parents.exact.mT)
            of_parents, of_root = self.parents.backward(
                units,
                rooms[1][0],
                factors=self.root,
                others=root[:, None].contiguous(),
                gradients=product(self.children.nonterminals.mT, matrix[:, : continuous.shape[1]].mT),
                step=step,
            )
        of_emitted = product(view_gradients, self.children.preterminals)
        posteriors, weighted = self.emissions.posteriors(of_emitted, steps, units)
        streams.join(_EXPECTED)
        with streams.beside(_RULES):
            of_preterminals = product(view_gradients.mT, weighted)
            of_siblings, of_mixed = self.children.backward(
                (of_nonterminals, of_preterminals), step, units, rooms[0]
            )
        with streams.beside(_SMALL, wait=False):
            streams.wait(_RULES)
            with precision(torch.float32):
                shape = 1, config.nonterminals
                logits = softmax_gradients(self.root, units, of_root, shape=shape)[0][..., : shape[1]]
            small.hidden["root_embedding"] = self.root_network.backward_from_logits(logits, small)
            if self.attachment is not None:
                logits = self.children.attachment_gradients(
                    values[:2], (views, continuous), units, config.floor
                )
                of_columns = self.attachment_network.backward_from_logits(logits, small)
        with streams.beside(_RULES, wait=False):
            symbols_as_children = self.children_projections.backward(main)
            symbols_as_parents = self.parent_projection.backward(main)
            main.logits["rank1"] = of_siblings[..., : self.ranks.r1] + of_parents[..., : self.ranks.r1]
            if config.has_gaps:
                of_gapped = self._gapped_backward(discontinuous, gapped_units, gapped, of_mixed)
        of_emissions, of_words = self.emissions.backward(posteriors, units, main, streams, _WORDS)
        streams.join(_RULES, _SMALL, _WEIGHTS, _WORDS)
        if config.has_gaps:
            r1, r2, r3, _ = self.ranks
            to_units = gapped_units[:, 1, None, None]
            main.logits["rank2"] = of_mixed[..., :r2] + of_parents[..., r1:]
            main.logits["rank3"] = torch.addcmul(of_siblings[..., r1:], of_gapped[..., :r3], to_units)
            attached = of_mixed[..., r2:] + of_columns.mT * 2.0 ** (LOGITS - HIDDEN)
            main.logits["rank4"] = torch.addcmul(attached, of_gapped[..., r3:], to_units)
        main.hidden |= small.hidden
        main.logits |= small.logits
        of_symbols = self._add_symbols(symbols_as_children, symbols_as_parents, of_emissions, units)
        return {
            **{"symbols": of_symbols, "words": of_words},
            **_without_units(main.hidden, units, 3),
            **_without_units(main.logits, units, 4),
            **_without_units(gapped.hidden, gapped_units, 3),
        }

    def _gapped_backward(self, gradients: Tensor, units: Tensor, tally: Tally, of_mixed: Tensor) -> Tensor:
        """Take the gradients of `discontinuous` back; return those of the matrix of ranks 3 and 4.

        Parameters
        ----------
        units : of symbols of fan-out two; results are in these.
        of_mixed : in the units of the runs; what the matrix of ranks 2 and 4 gets is added.
        """
        parents_room, children_room = self.gapped_projections.room()
        of_gapped, of_children = self.gapped_parents.backward(
            units, parents_room, factors=self.gapped_children.chosen, others=gradients.mT.contiguous()
        )
        of_children = self.gapped_children.backward(of_children, units, children_room)
        of_mixed.addcmul_(of_children, units[:, 1, None, None])
        tally.hidden["gapped_symbols"] = self.gapped_projections.backward(tally)
        return of_gapped

    def _scale_views(self, values: Tensor, gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of the views as fp16 with a step for each row, the steps, and weights.

        The first have `aligned` columns, filled up with zeros.
        """
        runs, batch, n, columns = values.shape
        positions = batch * n
        result = half_matrix(runs, positions, aligned(columns), device=self.device)
        steps, weights = (torch.empty(runs, positions, device=self.device) for _ in range(2))
        unit_kernels.scale_view_gradients[(positions, runs)](
            gradients=gradients,
            views=values,
            result=result,
            steps=steps,
            weights=weights,
            positions=positions,
            COLUMNS=columns,
            PITCH=result.stride(1),
            **whole_row(aligned(columns)),
        )
        return result, steps, weights

    def _measure(self, steps: Tensor, weights: Tensor, rules: Tensor, gradients: Tensor) -> Tensor:
        """Return the units of the runs, and of their symbols of fan-out two, from the rules of these.

        The result is (2, E, ·), see `unit_kernels`.
        """
        runs, positions = steps.shape
        units = torch.empty(2, runs, UNITS, device=self.device)
        unit_kernels.measure[(runs,)](
            steps=steps,
            weights=weights,
            rules=rules if self.config.has_gaps else steps,
            gradients=gradients if self.config.has_gaps else steps,
            units=units[0],
            gapped_units=units[1],
            positions=positions,
            COUNT=rules[0].numel(),
            BLOCK=1024,
        )
        return units

    def _scale_matrix(self, matrix: Tensor) -> tuple[Tensor, Tensor]:
        """Return a matrix as fp16, twice, and the step of each run in which it is written.

        Both have `aligned` rows and columns, filled up with zeros.
        """
        runs, rows, columns = matrix.shape
        padded = aligned(rows)
        result = half_matrix(runs, 2 * padded, aligned(columns), device=self.device)
        peaks = torch.empty(runs, rows, device=self.device)
        step = torch.empty(runs, device=self.device)
        unit_kernels.row_peaks[(rows, runs)](
            x=matrix, peaks=peaks, rows=rows, COLUMNS=columns, **whole_row(aligned(columns))
        )
        unit_kernels.scale_matrix[(padded, runs)](
            x=matrix,
            peaks=peaks,
            result=result,
            step=step,
            rows=rows,
            padded=padded,
            COLUMNS=columns,
            PITCH=result.stride(1),
            BLOCK_ROWS=power(rows),
            **whole_row(aligned(columns)),
        )
        return result, step

    def _add_symbols(self, children: Tensor, parents: Tensor, emissions: Tensor, units: Tensor) -> Tensor:
        result = torch.empty_like(children)
        config = self.config
        backward_kernels.symbol_gradients[(config.symbols, self.runs)](
            of_children=children,
            of_parents=parents,
            of_emissions=emissions,
            units=units,
            result=result,
            NT=config.nonterminals,
            T=config.preterminals,
            SIZE=self.size,
            BLOCK=power(self.size),
        )
        return result


def _without_units(gradients: Mapping[str, Tensor], units: Tensor, number: int) -> dict[str, Tensor]:
    """Return gradients times a number of the units of their run; the given ones are used up.

    One run has few numbers, for which one of PyTorch's kernels does, but these know one factor only.
    """
    if len(units) == 1 and gradients:
        torch._foreach_mul_(list(gradients.values()), units[0, number])
        return dict(gradients)
    results = {}
    for name, gradient in gradients.items():
        given = gradient if gradient[0].is_contiguous() else gradient.contiguous()
        result = given if given.is_contiguous() else given.new_empty(given.shape)
        size = given[0].numel()
        unit_kernels.undo_units[(-(-size // _AT_ONCE), len(units))](
            x=given,
            units=units,
            result=result,
            stride=given.stride(0),
            size=size,
            UNIT=number,
            BLOCK=_AT_ONCE,
            num_warps=8,
        )
        results[name] = result
    return results
