"""What a treebank has and a format has no place for, so that nothing is lost without a word."""

from __future__ import annotations

import json

from treemean.names import FormatName
from treemean.trees import Treebank

#: What can be lost, as people call it.
IDS, FUNCTIONS, METADATA, VALUES = "ids", "functions", "metadata", "values"
#: What formats leave out; those that are not here keep everything. A test compares it with docs/formats.md.
LEFT_OUT: dict[FormatName, tuple[str, ...]] = {
    "discbracket": (IDS, FUNCTIONS, METADATA, VALUES),
    "ptb": (IDS, FUNCTIONS, METADATA, VALUES),
    "alpino": (METADATA, VALUES),
    "export": (METADATA, VALUES),
    "export4": (METADATA, VALUES),
    "tiger": (METADATA, VALUES),
    "conllu": (VALUES,),
}
#: Named to those who lose something, in this order.
_BETTER: tuple[FormatName, ...] = ("export", "tiger", "jsonl", "parquet")
#: Metadata that formats keep all the same, and what averages say of themselves.
_KEPT = {"discbracket": {"comment"}}
_OUR_OWN = {"average_method", "average_note"}
#: Values that are named first.
_KNOWN = ("support", "probability")


class Losses:
    """Watches batches on their way to a file, and tells what the format has no place for."""

    def __init__(self, format: FormatName, title: str) -> None:
        self._format, self._title = format, title
        self._left_out = LEFT_OUT.get(format, ())
        self.found: dict[str, None] = {}  # in the order of `LEFT_OUT`
        self._values: dict[str, None] = {}

    def add(self, batch: Treebank) -> None:
        """Look at a batch."""
        for what in self._left_out:
            if what == VALUES:
                self._values |= dict.fromkeys([*batch.constituent_values, *batch.sentence_values])
            elif what not in self.found and self._has(batch, what):
                self.found[what] = None
        if self._values:
            self.found[VALUES] = None

    def _has(self, batch: Treebank, what: str) -> bool:
        if what == IDS:
            return len(batch.ids.data) > 0
        if what == FUNCTIONS:
            columns = (batch.functions, batch.word_functions)
            return any(bool(column.where(bool).any()) for column in columns if len(column))
        ours = _OUR_OWN | _KEPT.get(self._format, set())
        texts = set(batch.metadata.tolist()) - {""} if len(batch.metadata.data) else set()
        return any(json.loads(text).keys() - ours for text in texts)

    def describe(self) -> str | None:
        """Say what was left out, and which formats keep it; None if nothing was."""
        if not self.found:
            return None
        named = [self._named() if what == VALUES else what for what in self.found]
        listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
        able = [name for name in _BETTER if not set(self.found) & set(LEFT_OUT.get(name, ()))]
        return f"no place in {self._title} for {listed}, left out here; {', '.join(able)} keep them"

    def _named(self) -> str:
        names = [*(name for name in _KNOWN if name in self._values), *self._values]
        shown = list(dict.fromkeys(names))
        return f"values ({', '.join(shown[:2])}{', …' if len(shown) > 2 else ''})"
