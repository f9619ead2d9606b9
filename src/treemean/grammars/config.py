"""Which grammar, and how large."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, get_args

from treemean.errors import InvalidOption
from treemean.names import BackendName, GrammarKind

KINDS = get_args(GrammarKind)
BACKENDS = get_args(BackendName)

_DENSE = {"nonterminals": 15, "preterminals": 45, "embedding": 256}
_LOW_RANK = {"nonterminals": 1500, "preterminals": 4500, "embedding": 512}

#: The published sizes of each kind, used where a configuration leaves a size at 0 (or `ranks` empty).
PUBLISHED: dict[str, dict[str, Any]] = {
    "n-pcfg": _DENSE,
    "c-pcfg": {**_DENSE, "latent": 64},
    "tn-pcfg": {**_LOW_RANK, "ranks": (500, 0, 0, 0)},
    "n-lcfrs": {**_DENSE, "discontinuous": 15},
    "c-lcfrs": {**_DENSE, "discontinuous": 15, "latent": 64},
    "tn-lcfrs": {**_LOW_RANK, "discontinuous": 1500, "ranks": (400, 4, 400, 4)},
}


@dataclass(frozen=True)
class GrammarConfig:
    """The kind and the sizes of a grammar; sizes that are left out are the published ones.

    Parameters
    ----------
    kind : one of `KINDS`. N-: one softmax over all right-hand sides of a parent; C-: the same, given a vector
        of the sentence; TN-: low rank. PCFG: continuous trees; LCFRS: discontinuous ones of fan-out two.
    nonterminals, preterminals : numbers of symbols of fan-out one, and of those over single words.
    discontinuous : number of symbols of fan-out two; 0 for a PCFG.
    ranks : r1, r2, r3, r4 of TN- grammars; a TN-PCFG has (r1, 0, 0, 0).
    embedding : size of all embeddings.
    latent : size of the sentence vector of C- grammars.
    floor : of TN- grammars, what is added to every view of a span relative to its largest score.
    wrapping, wrapped_words, root_wrapping : of TN-LCFRS, by what a derivation is multiplied for every gap,
        for every gap of one word, and for one in the topmost rule. Unless they are 1, what a sentence has is
        no longer a probability.
    gap_share : of TN-LCFRS, how often parents choose the ranks r2, and r4, when a run begins; 0 leaves these
        ranks as they are drawn, with about r2 of r1 + r2 choices.
    backend : which inside algorithm; `auto` leaves the choice to the grammar.

    >>> GrammarConfig("tn-lcfrs").ranks
    (400, 4, 400, 4)
    >>> GrammarConfig("n-pcfg", nonterminals=30).symbols
    75
    >>> GrammarConfig("n-cfg")
    Traceback (most recent call last):
    treemean.errors.InvalidOption: kind must be one of n-pcfg, c-pcfg, tn-pcfg, n-lcfrs, c-lcfrs, tn-lcfrs, \
not 'n-cfg'
    """

    kind: str
    nonterminals: int = 0
    preterminals: int = 0
    discontinuous: int = 0
    ranks: tuple[int, ...] = ()
    embedding: int = 0
    latent: int = 0
    floor: float = 0.0
    wrapping: float = 1.0
    wrapped_words: float = 1.0
    root_wrapping: float = 1.0
    gap_share: float = 0.0
    backend: str = "auto"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidOption(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.backend not in BACKENDS:
            raise InvalidOption(f"backend must be one of {', '.join(BACKENDS)}, not {self.backend!r}")
        object.__setattr__(self, "ranks", tuple(self.ranks))
        for name, value in PUBLISHED[self.kind].items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)
        for name in ("nonterminals", "preterminals", "discontinuous", "embedding", "latent"):
            self._check_size(name)
        self._check_ranks()
        if not 0.0 <= self.floor < 1.0:
            raise InvalidOption(f"floor must be at least 0 and less than 1, not {self.floor}")
        if self.floor and not self.is_low_rank:
            raise InvalidOption(
                f"only TN- grammars have a floor, not {self.kind}: leave it out, or set it to 0"
            )
        self._check_weights()

    def _check_size(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or value < 0:
            raise InvalidOption(f"{name} must be a positive integer, not {value!r}")
        if value and name in ("discontinuous", "latent") and name not in PUBLISHED[self.kind]:
            raise InvalidOption(f"{name} has no meaning for {self.kind}: leave it out, or set it to 0")

    def _check_ranks(self) -> None:
        if not self.is_low_rank:
            if self.ranks:
                raise InvalidOption(f"ranks have no meaning for {self.kind}: leave them out")
            return
        if len(self.ranks) != 4 or not all(isinstance(r, int) for r in self.ranks):
            raise InvalidOption(f"ranks must be four integers (r1, r2, r3, r4), not {self.ranks!r}")
        if self.has_gaps and min(self.ranks) < 1:
            raise InvalidOption(f"the four ranks of {self.kind} must be positive, not {self.ranks}")
        if not self.has_gaps and (self.ranks[0] < 1 or any(self.ranks[1:])):
            raise InvalidOption(f"the ranks of {self.kind} must be (r1, 0, 0, 0), not {self.ranks}")

    def _check_weights(self) -> None:
        for name in ("wrapping", "wrapped_words", "root_wrapping"):
            value, least = getattr(self, name), "more than 0" if name == "wrapping" else "at least 0"
            if not (0.0 <= value < math.inf) or (name == "wrapping" and not value):
                raise InvalidOption(f"{name} must be {least}, and finite, not {value}")
            if value != 1.0 and self.kind != "tn-lcfrs":
                raise InvalidOption(f"{name} has no meaning for {self.kind}: leave it out, or set it to 1")
        if self.floor and self.weighs_gaps:
            raise InvalidOption(
                "a floor would undo wrapping, wrapped_words and root_wrapping: leave out the floor, or these"
            )
        if not 0.0 <= self.gap_share < 1.0:
            raise InvalidOption(f"gap_share must be at least 0 and less than 1, not {self.gap_share}")
        if self.gap_share and self.kind != "tn-lcfrs":
            raise InvalidOption(f"gap_share has no meaning for {self.kind}: leave it out, or set it to 0")

    @property
    def weighs_gaps(self) -> bool:
        """Whether derivations with gaps have other weights than their probabilities."""
        return (self.wrapping, self.wrapped_words, self.root_wrapping) != (1.0, 1.0, 1.0)

    @property
    def has_gaps(self) -> bool:
        """Whether trees may be discontinuous."""
        return self.kind.endswith("lcfrs")

    @property
    def is_low_rank(self) -> bool:
        """Whether rules are factored through ranks."""
        return self.kind.startswith("tn-")

    @property
    def is_compound(self) -> bool:
        """Whether rules depend on a vector of the sentence."""
        return self.kind.startswith("c-")

    @property
    def symbols(self) -> int:
        """Number of symbols of fan-out one: nonterminals and preterminals."""
        return self.nonterminals + self.preterminals

    def replace(self, **changes: Any) -> GrammarConfig:
        """Return a configuration with some values changed."""
        return replace(self, **changes)
