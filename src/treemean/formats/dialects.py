"""Dialects of continuous brackets: what their leaves look like, and how a file shows which one it is in.

What a file shows must leave no doubt. Where words would be invented or lost if the guess were wrong, an error
names the dialects that the file may be in.
"""

from __future__ import annotations

from dataclasses import dataclass

from treemean.errors import FormatError, InvalidOption, no_such
from treemean.names import DialectName

#: The beginning of a file that is looked at.
_LOOKED_AT = 1 << 18


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect.

    Attributes
    ----------
    name : what `--dialect` calls it.
    title : what it is, in a few words.
    leaves : the number of the core for what leaves look like.
    helsinki : whether ID, CODE and METADATA stand beside trees, and traces where words do.
    """

    name: DialectName
    title: str
    leaves: int = 0
    helsinki: bool = False


_DIALECTS: tuple[Dialect, ...] = (
    Dialect("ptb", "Penn Treebank, leaves (tag word)"),
    Dialect("helsinki", "Penn-Helsinki, leaves (tag word)", helsinki=True),
    Dialect("helsinki-lemma", "Penn-Helsinki, leaves (tag word-lemma)", leaves=1, helsinki=True),
    Dialect("tag-word-lemma", "leaves (tag word lemma)", leaves=2),
    Dialect("word-slash-tag", "leaves word/TAG", leaves=3),
)


def all_dialects() -> dict[str, Dialect]:
    """Return the dialects by name."""
    return {dialect.name: dialect for dialect in _DIALECTS}


def get_dialect(name: str) -> Dialect | None:
    """Return the dialect of a name, None for `auto`; the error lists the names there are."""
    dialects = all_dialects()
    if name != "auto" and name not in dialects:
        raise InvalidOption(no_such("dialect", name, ["auto", *dialects]))
    return dialects.get(name)


def recognise(text: bytes) -> Dialect:
    """Return the dialect that the beginning of a file is in; raise `FormatError` if there is a doubt.

    >>> recognise(b"( (S (NP (D the) (N cat)) (V sleeps)) )").name
    'ptb'
    >>> recognise(b"( (S (NP (N hestar-hestur)) (V sofa-sofa) (. .-.)) (ID 1300.HESTAR,1))").name
    'helsinki-lemma'
    """
    from treemean import _core  # formats that need no core do with this module

    dialects = all_dialects()
    seen = _core.survey_brackets(text[:_LOOKED_AT])
    words = seen["words"]
    if seen["ids"]:
        if seen["hyphens"] >= 0.9 * words and words >= 3:
            return dialects["helsinki-lemma"]
        if seen["hyphens"] <= 0.5 * words:
            return dialects["helsinki"]
        raise _doubt("words may have lemmas after a hyphen, or hyphens", "helsinki", "helsinki-lemma")
    pairs = seen["pairs"]
    if pairs and not seen["single"] and not seen["others"] and seen["alike"]:
        if pairs >= 5 and seen["alike"] >= 0.6 * pairs and seen["equal"]:
            return dialects["tag-word-lemma"]
        if pairs < 10 or seen["alike"] > 0.2 * pairs:
            raise _doubt("leaves come in pairs: two words, or a word and its lemma", "tag-word-lemma", "ptb")
    if seen["codes"] or seen["empty"]:
        what = "(CODE …) or (METADATA …)" if seen["codes"] else "leaves such as *T*-1 under a tag of words"
        raise _doubt(f"there are {what}, and they may be no words", "helsinki", "ptb")
    if seen["slashes"] > 0.5 * words:
        if seen["slashes"] == words and words >= 5 and seen["others"] + seen["pairs"]:
            return dialects["word-slash-tag"]
        raise _doubt("most words have a slash, and what follows may be their tag", "word-slash-tag", "ptb")
    return dialects["ptb"]


def foreign_leaf(what: str, line: int, path: str) -> FormatError:
    """Return the error about a leaf that shows that the dialect was taken for `ptb` wrongly."""
    error = _doubt(f"{what} may be no word", "helsinki", "helsinki-lemma", "ptb")
    return FormatError(error.message, path=path, line=line)


def _doubt(reason: str, *names: DialectName) -> FormatError:
    *most, last = (f"--dialect {name}" for name in names)
    return FormatError(f"the dialect is not clear: {reason}; name it, {', '.join(most)} or {last}")
