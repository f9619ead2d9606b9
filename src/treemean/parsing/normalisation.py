"""How words are changed before a model sees them; recorded with the model, and done again when it parses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np

from treemean.errors import InvalidOption
from treemean.names import PunctuationRule
from treemean.trees import Treebank
from treemean.trees.normalise import replace_numbers
from treemean.trees.punctuation import is_punctuation_word, punctuation_mask, settle_punctuation
from treemean.trees.treebank import offsets_of


@dataclass(frozen=True)
class Normalisation:
    """What happens to the words of a sentence. The defaults are those of the published parsers.

    Parameters
    ----------
    lower_case : write words in lower case.
    number : what stands for every number; empty to keep numbers as they are. As it replaces digits after
        words are in lower case, a capital letter makes it different from all words.
    punctuation : which words a model does not see: those with a punctuation tag (`"tag"`, for treebanks),
        those without letter and digit (`"word"`), by tag in treebanks that have such tags and by word
        elsewhere (`"auto"`), or none (`"keep"`).

    >>> Normalisation().word("1.200-Jarige"), Normalisation().kept(["Ja", ",", "hoor", "!"])
    ('N-jarige', (0, 2))
    """

    lower_case: bool = True
    number: str = "N"
    punctuation: PunctuationRule = "auto"

    def __post_init__(self) -> None:
        if self.punctuation not in get_args(PunctuationRule):
            raise InvalidOption(
                f"punctuation is found by {', '.join(get_args(PunctuationRule))}, not by {self.punctuation!r}"
            )

    def word(self, word: str) -> str:
        """Return a word as the model sees it."""
        if self.lower_case:
            word = word.lower()
        return replace_numbers(word, self.number) if self.number else word

    def kept(self, words: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the words of an untagged sentence that are no punctuation."""
        if self.punctuation == "keep":
            return tuple(range(len(words)))
        if self.punctuation == "tag":
            raise InvalidOption("punctuation can be found by tag only in treebanks, and this is plain text")
        return tuple(index for index, word in enumerate(words) if not is_punctuation_word(word))

    def settled(self, treebank: Treebank) -> Normalisation:
        """Return the same with `"auto"` decided by a treebank; see `settle_punctuation`."""
        if self.punctuation != "auto":
            return self
        way: Any = settle_punctuation(treebank, "auto")
        return Normalisation(self.lower_case, self.number, way)

    def kept_of(self, treebank: Treebank) -> list[tuple[int, ...]]:
        """Return, for every sentence of a treebank, the positions of the words that are no punctuation."""
        if self.punctuation == "keep":
            return [tuple(range(length)) for length in treebank.lengths.tolist()]
        keep = ~punctuation_mask(treebank, self.punctuation)
        bounds = offsets_of(keep)[treebank.word_offsets].tolist()
        starts = np.repeat(treebank.word_offsets[:-1], treebank.lengths)
        places = (np.flatnonzero(keep) - starts[keep]).tolist()
        return [tuple(places[bounds[s] : bounds[s + 1]]) for s in range(len(treebank))]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Normalisation:
        """Make it from what `to_dict` returned."""
        return cls(bool(data["lower_case"]), str(data["number"]), data["punctuation"])
