"""The named conventions under which trees are scored; a score means nothing without them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from treemean.errors import TreemeanError, no_such
from treemean.evaluation.parameters import Parameters, read_parameters

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
_WHOLE_SENTENCE = {
    True: ["constituents over the whole sentence are dropped"],
    "one": ["the uppermost constituent over the whole sentence is dropped, further ones are counted"],
    False: [],
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
    drop_whole_sentence : leave out constituents over all the words, on both sides: all of them (True), only
        the uppermost one (`"one"`), or none (False).
    drop_labels : leave out constituents with these labels, in any case of letters, on both sides.
    count_single_words : count constituents over one word (part-of-speech tags are none).
    duplicates : what happens to equal sets, that is unary chains; see `describe`. Labelled scores always
        match copies one to one.
    max_gold_fan_out : leave out gold constituents of a higher fan-out; None to count all.
    level : `"corpus"` pools counts, `"sentence"` takes means of sentence scores.
    length_with_punctuation : whether a length limit counts punctuation.
    labelled : whether a match needs the same label beside the same set of words.
    min_words : leave out sentences with fewer words, punctuation not counted.
    parameters : what a parameter file of EVALB or disco-dop says; it then decides about words and labels.

    >>> print(get_protocol("paper").name, get_protocol("paper").max_gold_fan_out)
    paper 2
    """

    name: str
    used_by: str
    punctuation_words: frozenset[str] = frozenset()
    drop_whole_sentence: bool | Literal["one"] = True
    drop_labels: frozenset[str] = frozenset()
    count_single_words: bool = False
    duplicates: Duplicates = "set"
    max_gold_fan_out: int | None = None
    level: Level = "corpus"
    length_with_punctuation: bool = False
    labelled: bool = False
    min_words: int = 1
    parameters: Parameters | None = None

    @property
    def title(self) -> str:
        """The name, with a word about labels where they count."""
        return f"{self.name} (labelled)" if self.labelled else self.name

    @property
    def keep_wrapper(self) -> bool:
        """Whether brackets without label around PTB trees count, so that files must be read with them."""
        return self.parameters is not None and self.parameters.program == "EVALB"

    def conventions(self) -> dict[str, str]:
        """Return the conventions in words, by what they are about."""
        removed = "removed from both sides, as the gold treebank decides; the words left are renumbered"
        if self.punctuation_words:
            removed += "; beside punctuation tags, a list of words counts as punctuation"
        roots = list(_WHOLE_SENTENCE[self.drop_whole_sentence])
        if self.drop_labels:
            roots.append(f"constituents labelled {', '.join(sorted(self.drop_labels))} are dropped")
        limit = self.max_gold_fan_out
        told = {
            "labels": "compared: a match needs the same words and the same label"
            if self.labelled
            else "not compared",
            "punctuation": removed,
            "root": "; ".join(roots) or "counted",
            "one-word constituents": "counted (part-of-speech tags are none)"
            if self.count_single_words
            else "dropped",
            "unary chains": "copies of a label over the same words are matched one to one"
            if self.labelled
            else _DUPLICATES[self.duplicates],
            "gold fan-out": "all counted" if limit is None else f"above {limit} left out before scoring",
            "level": _LEVELS[self.level],
            "length limit": "with punctuation"
            if self.length_with_punctuation
            else "after punctuation is removed",
        }
        if self.min_words > 1:
            told["short sentences"] = f"of fewer than {self.min_words} words are left out"
        return told if self.parameters is None else {**told, **self.parameters.conventions()}

    def summary(self) -> str:
        """Return in one line which protocol this is."""
        return f"Protocol {self.title} ({self.used_by})."

    def describe(self) -> str:
        """Return the conventions as a text of several lines."""
        lines = [f"Protocol {self.title} ({self.used_by})"]
        return "\n".join(lines + [f"  {about}: {text}" for about, text in self.conventions().items()])

    __str__ = describe


STANDARD = Protocol(name="standard", used_by="the default of treemean")
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
    name="sentence",
    used_by="sentence F1 of compound PCFGs",
    drop_whole_sentence="one",
    level="sentence",
    min_words=2,
)

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (STANDARD, PAPER, DISCODOP, SENTENCE)
}


def get_protocol(name: str | Protocol, *, labelled: bool | None = None) -> Protocol:
    """Return the protocol of a name; one that is a protocol already is given back.

    Parameters
    ----------
    labelled : whether labels are compared; None for what the protocol says, which is no for all names.
    """
    if isinstance(name, Protocol):
        found = name
    elif name in PROTOCOLS:
        found = PROTOCOLS[name]
    else:
        raise TreemeanError(no_such("protocol", name, PROTOCOLS))
    return found if labelled in (None, found.labelled) else replace(found, labelled=bool(labelled))


def read_prm(path: str | os.PathLike[str], *, keep_functions: bool = False) -> Protocol:
    """Return the protocol that a parameter file of EVALB or disco-dop describes.

    A file is for disco-dop if it has a directive that EVALB does not know (DELETE_WORD, DISC_ONLY, …). A
    directive that is not supported is an error that names file and line.

    Parameters
    ----------
    keep_functions : do not take `NP-SBJ` for `NP`, in files for disco-dop, which keeps functions in labels of
        discbracket files, and of no others.
    """
    parameters = read_parameters(path)
    if keep_functions and parameters.program == "disco-dop":
        parameters = replace(parameters, keep_functions=True)
    return Protocol(
        name=Path(path).name,
        used_by=f"{parameters.program} with this parameter file",
        drop_whole_sentence=False,
        count_single_words=True,
        duplicates="multiset",
        length_with_punctuation=True,
        labelled=parameters.labelled,
        min_words=0 if parameters.program == "disco-dop" else 1,  # which counts empty trees as exact matches
        parameters=parameters,
    )
