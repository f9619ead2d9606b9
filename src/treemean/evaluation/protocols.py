"""The named conventions under which trees are scored; a score means nothing without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treemean.errors import TreemeanError

Duplicates = Literal["missed", "multiset", "set"]
Level = Literal["corpus", "sentence"]

_DUPLICATES = {
    "missed": "predicted sets count once; a gold set counts once if found, and each of its copies if missed",
    "multiset": "copies of a set (unary chains) are matched one to one",
    "set": "equal sets count once on both sides",
}
_LEVELS = {
    "corpus": "counts are pooled over all sentences; overall pools continuous and discontinuous",
    "sentence": "means over sentences; without gold constituents recall is 100, and precision is 100 if "
    "nothing was predicted",
}


@dataclass(frozen=True)
class Protocol:
    """The conventions of an evaluation. Punctuation is removed from both sides by all of them.

    Parameters
    ----------
    name : how it is called.
    used_by : where scores of this kind are reported.
    punctuation_words : if not empty, what is punctuation beside the words with a punctuation tag; if empty,
        punctuation is found by tag, or by word where no tag tells.
    drop_whole_sentence : leave out constituents over all the words, on both sides.
    drop_labels : leave out constituents with these labels, in any case of letters, on both sides.
    count_single_words : count constituents over one word (part-of-speech tags are none).
    duplicates : what happens to equal sets, that is unary chains; see `describe`.
    max_gold_fan_out : leave out gold constituents of a higher fan-out; None to count all.
    level : `"corpus"` pools counts, `"sentence"` takes means of sentence scores.
    length_with_punctuation : whether a length limit counts punctuation.

    >>> print(get_protocol("paper").name, get_protocol("paper").max_gold_fan_out)
    paper 2
    """

    name: str
    used_by: str
    punctuation_words: frozenset[str] = frozenset()
    drop_whole_sentence: bool = True
    drop_labels: frozenset[str] = frozenset()
    count_single_words: bool = False
    duplicates: Duplicates = "set"
    max_gold_fan_out: int | None = None
    level: Level = "corpus"
    length_with_punctuation: bool = False

    def conventions(self) -> dict[str, str]:
        """Return the conventions in words, by what they are about."""
        removed = "removed from both sides, as the gold treebank decides; the words left are renumbered"
        if self.punctuation_words:
            removed += "; beside punctuation tags, a list of words counts as punctuation"
        roots = ["constituents over the whole sentence are dropped"] if self.drop_whole_sentence else []
        if self.drop_labels:
            roots.append(f"constituents labelled {', '.join(sorted(self.drop_labels))} are dropped")
        limit = self.max_gold_fan_out
        return {
            "punctuation": removed,
            "root": "; ".join(roots) or "counted",
            "one-word constituents": "counted (part-of-speech tags are none)"
            if self.count_single_words
            else "dropped",
            "unary chains": _DUPLICATES[self.duplicates],
            "gold fan-out": "all counted" if limit is None else f"above {limit} left out before scoring",
            "level": _LEVELS[self.level],
            "length limit": "with punctuation"
            if self.length_with_punctuation
            else "after punctuation is removed",
        }

    def describe(self) -> str:
        """Return the conventions as a text of several lines."""
        lines = [f"Protocol {self.name} ({self.used_by})"]
        return "\n".join(lines + [f"  {about}: {text}" for about, text in self.conventions().items()])

    __str__ = describe


PAPER = Protocol(
    name="paper",
    used_by="tables of papers on unsupervised discontinuous parsing",
    duplicates="missed",
    max_gold_fan_out=2,
)
DISCODOP = Protocol(
    name="discodop",
    used_by="disco-dop's eval with proper.prm, unlabelled",
    # The words that proper.prm deletes beside those with a punctuation tag.
    punctuation_words=frozenset(".,:;'`\"-()/&$!?«»") | {"``", "''", "!!!", "??", "???", "..", "..."},
    drop_whole_sentence=False,
    drop_labels=frozenset({"TOP", "ROOT", "VROOT"}),
    count_single_words=True,
    duplicates="multiset",
    length_with_punctuation=True,
)
SENTENCE = Protocol(
    name="sentence", used_by="sentence F1 of compound PCFGs", duplicates="set", level="sentence"
)

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (PAPER, DISCODOP, SENTENCE)}


def get_protocol(name: str | Protocol) -> Protocol:
    """Return the protocol of a name; one that is a protocol already is given back."""
    if isinstance(name, Protocol):
        return name
    if name not in PROTOCOLS:
        raise TreemeanError(f"there is no protocol {name!r}; known ones are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
