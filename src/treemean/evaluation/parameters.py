"""Parameter files (`.prm`) of EVALB and of disco-dop's eval, read strictly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from treemean.errors import TreemeanError, reason_of

#: The program that a file is for; where they differ, its ways are followed.
Program = Literal["EVALB", "disco-dop"]

_NUMBERS = ("CUTOFF_LEN", "LABELED", "DISC_ONLY", "DELETE_ROOT_PRETERMS")
_LISTS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "DELETE_WORD", "QUOTE_LABEL")
_PAIRS = ("EQ_LABEL", "EQ_WORD")
#: What these programs print beside scores, and when they give up: nothing that changes a score.
_WITHOUT_EFFECT = ("DEBUG", "MAX_ERROR")
#: Other scores of disco-dop, which are not computed here.
_OTHER_SCORES = ("LA", "TED", "DEP")
#: A file with one of these is for disco-dop: EVALB does not know them.
_OF_DISCODOP = ("DELETE_WORD", "DISC_ONLY", "DELETE_ROOT_PRETERMS", *_OTHER_SCORES)
_KNOWN = (*_NUMBERS, *_LISTS, *_PAIRS, *_WITHOUT_EFFECT, *_OTHER_SCORES)

_DEFAULT_CUTOFF = 40  # of both programs
#: The words that EVALB puts back if their tags are quote labels.
QUOTES = frozenset({"'", '"', "/"})


@dataclass(frozen=True)
class Parameters:
    """What a parameter file says.

    Parameters
    ----------
    program : the program whose ways are followed.
    labelled : LABELED, whether labels are compared.
    cutoff : CUTOFF_LEN; the sentences up to this length are scored apart, too.
    delete_labels : DELETE_LABEL; words with such a tag are removed, constituents with such a label do not
        count.
    delete_words : DELETE_WORD; these words are removed.
    ignored_in_length : DELETE_LABEL_FOR_LENGTH; words with such a tag do not count in the length.
    quote_labels : QUOTE_LABEL; a quote with two such tags, of which one is deleted, stays on both sides.
    equal_labels, equal_words : EQ_LABEL and EQ_WORD, pairs that count as the same.
    discontinuous_only : DISC_ONLY, whether only discontinuous constituents count.
    delete_words_under_root : DELETE_ROOT_PRETERMS, whether words directly under the gold root are removed.
    keep_functions : whether `NP-SBJ` is another label than `NP`. disco-dop reads discbracket files so, and no
        others; the file does not say.
    """

    program: Program
    labelled: bool = True
    cutoff: int = _DEFAULT_CUTOFF
    delete_labels: frozenset[str] = frozenset()
    delete_words: frozenset[str] = frozenset()
    ignored_in_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    discontinuous_only: bool = False
    delete_words_under_root: bool = False
    keep_functions: bool = False

    @cached_property
    def label_of(self) -> Callable[[str], str]:
        """What a label counts as: without functions (`NP-SBJ=2` is `NP`), the first of its equals."""
        first = _first_of_equals(self.equal_labels)
        trimmed = self._trimmed
        return lambda label: first.get(trimmed(label), trimmed(label))

    @cached_property
    def tag_of(self) -> Callable[[str], str]:
        """What a tag counts as in tag accuracy: EVALB knows equal ones, disco-dop leaves out functions."""
        if self.program == "disco-dop":
            return self._trimmed
        first = _first_of_equals(self.equal_labels)
        return lambda tag: first.get(tag, tag)

    @cached_property
    def word_of(self) -> Callable[[str], str]:
        """What a word counts as: the first of its equals."""
        first = _first_of_equals(self.equal_words)
        return lambda word: first.get(word, word)

    @cached_property
    def deletes_label(self) -> Callable[[str], bool]:
        """Whether constituents that count as having a label are left out."""
        first = _first_of_equals(self.equal_labels)
        deleted = {first.get(label, label) for label in self.delete_labels}
        return deleted.__contains__

    def deletes_tag(self, tag: str) -> bool:
        """Whether words with a tag are removed."""
        return tag in self.delete_labels or (
            self.program == "disco-dop" and self._trimmed(tag) in self.delete_labels
        )

    def _trimmed(self, label: str) -> str:
        """Return a label up to the first - or =; disco-dop leaves labels that begin with one alone."""
        if self.keep_functions:
            return label
        for sign in "-=":
            place = label.find(sign)
            if place > 0 or (place == 0 and self.program == "EVALB"):
                label = label[:place]
        return label

    def conventions(self) -> dict[str, str]:
        """Return in words what differs from the conventions of other protocols."""
        told = {
            "punctuation": "words are removed by the tags and words that the file lists"
            + (", on each side by its own tags" if self.program == "EVALB" else ", by the gold tags"),
            "root": "only constituents with a label that the file lists are dropped",
            "functions": "part of labels: NP-SBJ is not NP"
            if self.keep_functions
            else "left out of labels: NP-SBJ is NP",
            "length limit": "all words, but for those with tags that the file lists",
        }
        if self.discontinuous_only:
            told["continuous constituents"] = "left out on both sides"
        return told


def read_parameters(path: str | os.PathLike[str]) -> Parameters:
    """Read a parameter file; whatever is wrong in it is an error that names file and line."""
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TreemeanError(f"{name}: not UTF-8 ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise TreemeanError(f"{name}: {reason_of(error)}") from error
    return parse_parameters(text, name)


def parse_parameters(text: str, name: str = "parameters") -> Parameters:
    """Return what the text of a parameter file says; see `read_parameters`.

    >>> parse_parameters("LABELED 0\\nDELETE_LABEL TOP\\nEQ_LABEL ADVP PRT").equal_labels
    (('ADVP', 'PRT'),)
    """
    numbers: dict[str, int] = {}
    lists: dict[str, list[str]] = {key: [] for key in _LISTS}
    pairs: dict[str, list[tuple[str, str]]] = {key: [] for key in _PAIRS}
    keys = set()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, *values = line.split()
        try:
            _take(key, values, numbers, lists, pairs)
        except ValueError as error:
            raise TreemeanError(f"{name}:{number}: {error}") from None
        keys.add(key)
    return Parameters(
        program="disco-dop" if keys & set(_OF_DISCODOP) else "EVALB",
        labelled=bool(numbers.get("LABELED", 1)),
        cutoff=numbers.get("CUTOFF_LEN", _DEFAULT_CUTOFF),
        delete_labels=frozenset(lists["DELETE_LABEL"]),
        delete_words=frozenset(lists["DELETE_WORD"]),
        ignored_in_length=frozenset(lists["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(lists["QUOTE_LABEL"]),
        equal_labels=tuple(pairs["EQ_LABEL"]),
        equal_words=tuple(pairs["EQ_WORD"]),
        discontinuous_only=bool(numbers.get("DISC_ONLY", 0)),
        delete_words_under_root=bool(numbers.get("DELETE_ROOT_PRETERMS", 0)),
    )


def _take(
    key: str,
    values: list[str],
    numbers: dict[str, int],
    lists: dict[str, list[str]],
    pairs: dict[str, list[tuple[str, str]]],
) -> None:
    """Take up one line; raise `ValueError` with what is wrong in it."""
    if key not in _KNOWN:
        raise ValueError(f"{key} is not supported; known are {', '.join(sorted(_KNOWN))}")
    wanted = 2 if key in _PAIRS else 1
    if len(values) != wanted:
        raise ValueError(f"{key} takes {wanted} value{'s' * (wanted > 1)}, not {len(values)}")
    if key in lists:
        lists[key].append(values[0])
        return
    if key in pairs:
        pairs[key].append((values[0], values[1]))
        return
    if key in numbers:
        raise ValueError(f"{key} is given twice")
    try:
        numbers[key] = int(values[0])
    except ValueError:
        raise ValueError(f"{key} takes a whole number, not {values[0]!r}") from None
    if key in _OTHER_SCORES and numbers[key]:
        raise ValueError(f"{key} is not supported: this score is not computed")
    if key in _NUMBERS and key != "CUTOFF_LEN" and numbers[key] not in (0, 1):
        raise ValueError(f"{key} is 0 or 1, not {numbers[key]}")
    if key == "CUTOFF_LEN" and numbers[key] < 1:
        raise ValueError(f"{key} must be 1 or more, not {numbers[key]}")


def _first_of_equals(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for every text of some pairs the one of its equals that was named first.

    >>> _first_of_equals([("ADVP", "PRT"), ("X", "Y"), ("PRT", "PRTX")])
    {'ADVP': 'ADVP', 'PRT': 'ADVP', 'X': 'X', 'Y': 'X', 'PRTX': 'ADVP'}
    """
    first: dict[str, str] = {}
    for a, b in pairs:
        first.setdefault(a, a)
        first.setdefault(b, b)
        one, other = first[a], first[b]
        order = list(first)
        kept, gone = sorted((one, other), key=order.index)
        first = {text: kept if of == gone else of for text, of in first.items()}
    return first
