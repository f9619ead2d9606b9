"""Rule tensors of grammars with few symbols, one probability for every rule."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor


@dataclass
class DenseRules:
    """Probabilities of all rules, for NT nonterminals, T preterminals, S = NT + T, D symbols of fan-out two.

    The leading axis R of the rules is 1, or B if each sentence has rules of its own. Symbols of fan-out one
    are numbered nonterminals first. A PCFG has D = 0.

    Parameters
    ----------
    words : (B, n, T) *log* probabilities of the words given the preterminals (R9).
    root : (R, NT) of the start symbol's child (R1).
    side_by_side : (R, NT, S, S) for parent, left and right child (R2).
    wrapping : (R, NT, S, D) for parent, child in the gap, child with the gap (R3).
    apart : (R, D, S, S) for parent, left and right child (R4).
    attaching : (R, D, 4, S, D) for parent, attachment, continuous and discontinuous child (R5-R8).
    """

    words: Tensor
    root: Tensor
    side_by_side: Tensor
    wrapping: Tensor
    apart: Tensor
    attaching: Tensor

    @property
    def nonterminals(self) -> int:
        """NT."""
        return self.root.shape[-1]

    @property
    def discontinuous(self) -> int:
        """D."""
        return self.apart.shape[1]

    @property
    def has_gaps(self) -> bool:
        """Whether there are symbols of fan-out two."""
        return self.discontinuous > 0

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def double(self) -> DenseRules:
        """Return the rules in float64."""
        return DenseRules(**{name: tensor.double() for name, tensor in self.tensors().items()})

    def of_each_sentence(self) -> DenseRules:
        """Return a copy in which every sentence has rules of its own."""
        copies = {}
        for name, tensor in self.tensors().items():
            copies[name] = tensor.expand(len(self.words), *tensor.shape[1:]).clone()
        return DenseRules(**copies)
