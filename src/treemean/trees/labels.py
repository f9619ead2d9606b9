"""Labels and functions: dropping them, and moving functions into labels (`NP-SBJ`) or out of them."""

from __future__ import annotations

import re

from treemean.trees.arguments import takes
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import Treebank

# A label such as NP-SBJ=2: the category does not begin with the separator (-LRB- and -NONE- are whole).
_PARTS = re.compile(r"^(?P<label>[^-=]+)(?:-(?P<function>[^=]*?))?(?:=\d+)?$")


@takes(Treebank)
def drop_labels(treebank: Treebank, label: str = "") -> Treebank:
    """Give every constituent the same label, by default none."""
    return treebank.with_columns(labels=CodedStrings.constant(label, len(treebank.labels)))


@takes(Treebank)
def drop_functions(treebank: Treebank) -> Treebank:
    """Remove the functions of constituents and words."""
    return treebank.with_columns(
        functions=CodedStrings.constant("", len(treebank.functions)),
        word_functions=CodedStrings.constant("", len(treebank.word_functions)),
    )


@takes(Treebank)
def join_functions(treebank: Treebank, separator: str = "-") -> Treebank:
    """Write functions into labels, `NP` with function `SBJ` as `NP-SBJ`, and likewise for tags.

    Formats without functions (discbracket, PTB brackets) can then carry them.
    """
    return drop_functions(
        treebank.with_columns(
            labels=_joined(treebank.labels, treebank.functions, separator),
            tags=_joined(treebank.tags, treebank.word_functions, separator),
        )
    )


@takes(Treebank)
def split_functions(treebank: Treebank) -> Treebank:
    """Move functions out of labels, `NP-SBJ-1` to label `NP` and function `SBJ-1`.

    Labels that begin with a hyphen (`-NONE-`) stay as they are; a gap index (`=2`) is dropped. Where a label
    has no function in it, the function that the constituent has already stays. Tags, in which hyphens are
    common, are left alone.
    """
    found = treebank.labels.map(lambda text: _split(text)[1]).tolist()
    return treebank.with_columns(
        labels=treebank.labels.map(lambda text: _split(text)[0]),
        functions=CodedStrings.of(new or old for new, old in zip(found, treebank.functions.tolist())),
    )


def _joined(texts: CodedStrings, functions: CodedStrings, separator: str) -> CodedStrings:
    return CodedStrings.of(
        f"{text}{separator}{function}" if function else text
        for text, function in zip(texts.tolist(), functions.tolist(), strict=True)
    )


def _split(text: str) -> tuple[str, str]:
    match = _PARTS.match(text)
    return (match["label"], match["function"] or "") if match else (text, "")
