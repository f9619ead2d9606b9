"""How symbols choose ranks and ranks choose symbols, contracted to matrices from ranks to ranks."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from treemean.grammars.gpu.matrices import (
    aligned,
    half_matrix,
    half_product,
    parts,
    precision,
    product,
    whole_part,
    whole_rows,
)
from treemean.grammars.gpu.tiles import power, warps
from treemean.grammars.gpu.units import SCALE
from treemean.grammars.rank.rules import Ranks
from treemean.grammars.rank.triton.parameters import backward_kernels, forward_kernels
from treemean.grammars.rank.triton.parameters.layers import (
    Tally,
    activate_exactly,
    deactivate,
    softmax,
    softmax_gradients,
    split_matrix,
)
from treemean.grammars.rank.triton.parameters.unit_kernels import HIDDEN, LOGITS
from treemean.grammars.spans import ATTACHMENTS

_TO_HIDDEN = 2.0 ** (HIDDEN - LOGITS)


class Projections:
    """Several one-layer projections of the same symbols, side by side, as exact as in float32.

    Parameters
    ----------
    names : of the projections.
    parameters : by name.
    """

    def __init__(self, names: tuple[str, ...], parameters: Mapping[str, Tensor]) -> None:
        self._names = names
        weights, self._bias = (
            torch.cat([parameters[f"{name}.0.{kind}"] for name in names], 1)
            if len(names) > 1
            else parameters[f"{names[0]}.0.{kind}"]
            for kind in ("weight", "bias")
        )
        self._split = split_matrix(weights, rest=1)

    def forward(self, symbols: Tensor) -> list[Tensor]:
        """Return the projections of symbols (E, S, 3 s), one by one; all of these as by `split_matrix`."""
        self._symbols = whole_part(symbols)
        self._sums = product(symbols, self._split.mT)
        values = activate_exactly(self._sums, self._bias, matrices=len(self._names))
        return list(values.chunk(len(self._names), 2))

    def room(self) -> list[Tensor]:
        """Return where the gradients of the projections have to be written."""
        self._gradients = half_matrix(*self._sums.shape, device=self._sums.device)
        return list(self._gradients.chunk(len(self._names), 2))

    def backward(self, tally: Tally) -> Tensor:
        """Return the gradients of the symbols, float32, in the units of hidden layers."""
        gradients, of_bias = deactivate(self._gradients, self._sums, self._bias, in_place=True)
        of_weights = product(gradients.mT, self._symbols)
        count = len(self._names)
        for name, weight, bias in zip(self._names, of_weights.chunk(count, 1), of_bias.chunk(count, 1)):
            tally.hidden[f"{name}.0.weight"] = weight
            tally.hidden[f"{name}.0.bias"] = bias
        return product(gradients, whole_part(self._split))


class RankMatrices:
    """The rank matrices side by side as they are used, as fp16 in three parts one below the other: each
    (E, 3 s, ·), to be multiplied with projections. Those of parents are filled up with columns of zeros.
    """

    def __init__(self, parameters: Mapping[str, Tensor], ranks: Ranks) -> None:
        rank1 = parameters["rank1"]
        runs, size, _ = rank1.shape
        self.ranks = ranks
        r1, r2, r3, r4 = ranks

        def matrix(columns: int) -> Tensor:
            return half_matrix(runs, parts() * size, columns, device=rank1.device)

        self.siblings, self.mixed = matrix(r1 + r3), matrix(r2 + r4)
        self.parents, self.gapped_parents = matrix(aligned(r1 + r2)), matrix(aligned(r3 + r4))
        forward_kernels.pack_ranks[(size, runs)](
            rank1=rank1,
            rank2=parameters["rank2"] if ranks.has_gaps else rank1,
            rank3=parameters["rank3"] if ranks.has_gaps else rank1,
            rank4=parameters["rank4"] if ranks.has_gaps else rank1,
            siblings=self.siblings,
            mixed=self.mixed,
            parents=self.parents,
            gapped_parents=self.gapped_parents,
            SIZE=size,
            R1=r1,
            R2=r2,
            R3=r3,
            R4=r4,
            SIBLINGS=self.siblings.stride(1),
            MIXED=self.mixed.stride(1),
            PARENTS=self.parents.stride(1),
            GAPPED=self.gapped_parents.stride(1),
            REST=1 if parts() > 1 else 0,
            BLOCK=power(max(ranks)),
        )


class Children:
    """How ranks choose continuous children, (E, views, symbols) in two parts, as scaled fp16.

    Attributes
    ----------
    nonterminals, preterminals : the two parts.
    rest : what rounding took away from the nonterminals.

    All of them have `aligned` rows and columns, filled up with zeros, so that tensor cores take them.

    Parameters
    ----------
    matrices : of the ranks.
    nonterminals, preterminals : numbers of symbols.
    """

    def __init__(self, matrices: RankMatrices, nonterminals: int, preterminals: int) -> None:
        self._matrices, self._ranks = matrices, matrices.ranks
        self._sizes = (nonterminals, preterminals)

    def forward(self, projected: list[Tensor], attachment: Tensor | None) -> Tensor:
        """Return how each view chooses preterminals, as by `split_matrix`.

        Parameters
        ----------
        projected : symbols as left and right children and, with gaps, as other ones; see `Projections`.
        attachment : (E, r4, 4), scaled fp16.
        """
        self._projected = [whole_part(symbols) for symbols in projected]
        ranks, (nonterminals, preterminals) = self._ranks, self._sizes
        runs, device = len(projected[0]), projected[0].device
        siblings = self._matrices.siblings.mT
        left, right = (product(siblings, symbols.mT) for symbols in projected[:2])
        mixed = left if attachment is None else product(self._matrices.mixed.mT, projected[2].mT)
        rows = aligned(ranks.views)
        split, split_t = (
            half_matrix(runs, rows, parts() * aligned(size), device=device)
            for size in (nonterminals, preterminals)
        )
        self.nonterminals, self.preterminals = whole_part(split), whole_part(split_t)
        blocks = power(aligned(nonterminals)), power(aligned(preterminals))
        forward_kernels.choose_children[(rows, runs)](
            left=left,
            right=right,
            mixed=mixed,
            attachment=left if attachment is None else attachment,
            nonterminals=split,
            preterminals=split_t,
            R1=ranks.r1,
            R2=ranks.r2,
            R3=ranks.r3,
            R4=ranks.r4,
            NT=nonterminals,
            T=preterminals,
            PITCH_NT=split.stride(1),
            PITCH_T=split_t.stride(1),
            PITCH_ATTACHMENT=0 if attachment is None else attachment.stride(1),
            ROWS=rows,
            REST=2 if parts() > 1 else 0,
            BLOCK_NT=blocks[0],
            BLOCK_T=blocks[1],
            num_warps=warps(sum(blocks)),
        )
        self.rest = split[..., -self.nonterminals.shape[2] :] if parts() > 1 else torch.zeros_like(split)
        return split_t

    def backward(
        self,
        gradients: tuple[Tensor, Tensor],
        step: Tensor,
        units: Tensor,
        room: list[Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Take the gradients of both parts back to the projections, written to ``room``.

        Those of preterminals lack what is in their column T, which all share.

        Returns
        -------
        The gradients of the packed rank matrices, siblings (E, s, r1 + r3) and mixed (E, s, r2 + r4), in the
        units of logits.
        """
        ranks, (nonterminals, preterminals) = self._ranks, self._sizes
        runs, symbols = len(units), nonterminals + preterminals
        pairs, others = ranks.r1 + ranks.r3, ranks.r2 + ranks.r4
        logits = half_matrix(runs, 2 * pairs + others, symbols, device=units.device)
        block = power(preterminals + 1) // 2
        backward_kernels.child_gradients[(2 * pairs + others, runs)](
            nonterminals=self.nonterminals,
            preterminals=self.preterminals,
            gradients=gradients[0],
            gradients_t=gradients[1],
            step=step,
            units=units,
            result=logits,
            R1=ranks.r1,
            R2=ranks.r2,
            R3=ranks.r3,
            R4=ranks.r4,
            NT=nonterminals,
            T=preterminals,
            PITCH_NT=self.nonterminals.stride(1),
            PITCH_T=self.preterminals.stride(1),
            PITCH_GRADIENTS=gradients[0].stride(1),
            PITCH_GRADIENTS_T=gradients[1].stride(1),
            PITCH=logits.stride(1),
            ROWS=self.nonterminals.shape[1],
            BLOCK_NT=power(nonterminals),
            BLOCK_T=block,
            MORE_T=power(preterminals - block),
            num_warps=warps(4 * block),
        )
        left, right, mixed = logits.split_with_sizes([pairs, pairs, others], 1)
        siblings, other = whole_rows(self._matrices.siblings), whole_rows(self._matrices.mixed)
        half_product(left.mT, siblings.mT, scale=_TO_HIDDEN, out=room[0])
        half_product(right.mT, siblings.mT, scale=_TO_HIDDEN, out=room[1])
        of_siblings = product(self._projected[0].mT, left.mT)
        of_siblings += product(self._projected[1].mT, right.mT)
        if not others:
            return of_siblings, of_siblings[..., :0]
        half_product(mixed.mT, other.mT, scale=_TO_HIDDEN, out=room[2])
        return of_siblings, product(self._projected[2].mT, mixed.mT)

    def attachment_gradients(
        self, rules: tuple[Tensor, Tensor], gradients: tuple[Tensor, Tensor], units: Tensor, floor: float
    ) -> Tensor:
        """Return the gradients of the logits of attachments, float32 (E, r4, 4), in the units of logits.

        Parameters
        ----------
        rules : the views (E, B, n, C) and the continuous rules (E, ·, C) that came of these children.
        gradients : of both.
        floor : what was added to the views.
        """
        runs, batch, n, views = rules[0].shape
        with precision(torch.float32):
            result = half_matrix(runs, self._ranks.r4, ATTACHMENTS, device=units.device)
        backward_kernels.attachment_gradients[(self._ranks.r4, runs)](
            views=rules[0],
            of_views=gradients[0],
            rules=rules[1],
            of_rules=gradients[1],
            nonterminals=self.nonterminals,
            preterminals=self.preterminals,
            units=units,
            result=result,
            positions=batch * n,
            floor=floor,
            ROWS=rules[1].shape[1],
            VIEWS=views,
            LINES=self.nonterminals.shape[1],
            R4=self._ranks.r4,
            NT=self._sizes[0],
            T=self._sizes[1],
            PITCH_NT=self.nonterminals.stride(1),
            PITCH_T=self.preterminals.stride(1),
            PITCH=result.stride(1),
            BLOCK=512,
        )
        return result


class Parents:
    """How symbols of one kind choose a rank, (E, symbols, ranks), as scaled fp16.

    `exact` has what rounding took away behind these: where symbols choose almost alike, the little by which
    they differ decides the gradients of those that choose them. Rows and columns are filled up with zeros,
    see `softmax`.

    Parameters
    ----------
    projected : symbols, see `Projections`.
    matrix : of ranks, see `RankMatrices`.
    ranks : how many there really are.
    """

    def __init__(self, projected: Tensor, matrix: Tensor, ranks: int) -> None:
        self._projected, self._matrix, self._ranks = whole_part(projected), whole_rows(matrix), ranks
        self.exact = softmax(product(projected, matrix), columns=ranks, split=True, more_rows=True)
        self.chosen = self.exact[..., : aligned(ranks)]

    def rules(self, children: Tensor, rest: Tensor) -> Tensor:
        """Return the rules from ranks to ranks, float32 (E, ranks, C).

        Parameters
        ----------
        children : scaled fp16 (E, C, ·), how they choose symbols, as many as there are rows here.
        rest : what rounding took away from them.
        """
        high, low = product(self.exact.mT, children.mT).chunk(2, 1)
        total = high + low
        total += product(self.chosen.mT, rest.mT)
        return total[:, : self._ranks] * SCALE**-2

    def backward(
        self,
        units: Tensor,
        room: Tensor,
        *,
        factors: Tensor,
        others: Tensor,
        gradients: Tensor | None = None,
        step: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Take gradients back to the projections, written to ``room``; see `softmax_gradients`.

        Returns
        -------
        The gradients of the matrix, in the units of logits, and of the factors.
        """
        logits, shares = softmax_gradients(
            self.exact,
            units,
            gradients,
            shape=(self._projected.shape[1], self._ranks),
            split=True,
            step=step,
            factors=factors,
            others=others,
        )
        half_product(logits, self._matrix.mT, scale=_TO_HIDDEN, out=room)
        return product(self._projected.mT, logits)[..., : self._ranks], shares


class GappedChildren:
    """How ranks choose discontinuous children, (E, r2 + r4, D), as scaled fp16, with `aligned` columns.

    `rest` is what rounding took away.
    """

    def __init__(self, projected: Tensor, matrix: Tensor) -> None:
        self._projected, self._matrix = whole_part(projected), whole_rows(matrix)
        self.chosen, self.rest = softmax(product(matrix.mT, projected.mT), split=True).chunk(2, 2)

    def backward(self, gradients: Tensor, units: Tensor, room: Tensor) -> Tensor:
        """Take gradients (E, r2 + r4, D) back to the projections; return those of the matrix."""
        shape = gradients.shape[1], gradients.shape[2]
        logits, _ = softmax_gradients(self.chosen, units, gradients, shape=shape)
        logits = logits[..., : shape[1]]
        half_product(logits.mT, self._matrix.mT, scale=_TO_HIDDEN, out=room)
        return product(self._projected.mT, logits.mT)
