"""What was noticed while reading and is no error: dialects, empty leaves, files that are no treebanks."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field

from treemean.formats.dialects import Dialect

_LOG = logging.getLogger("treemean")


@dataclass
class Notes:
    """What readers noticed; `read` and `read_batches` tell it on stderr (by `logging`) unless given one.

    Attributes
    ----------
    recognised : how many files were taken for which dialect because nobody named it.
    empty_leaves : traces and other leaves that stand for no word, and were left out.
    wordless : units without words, such as `( END_OF_TEXT_UNIT )`, which were skipped.
    no_treebanks : files of folders and archives that were skipped, as they are in no known format.
    """

    recognised: Counter[Dialect] = field(default_factory=Counter)
    empty_leaves: int = 0
    wordless: int = 0
    no_treebanks: list[str] = field(default_factory=list)

    def describe(self) -> list[str]:
        """Return what deserves to be told, in words.

        >>> Notes(empty_leaves=1, wordless=2).describe()
        ['1 empty leaf left out (--keep-empty keeps them)', '2 units without words skipped']
        """
        told = []
        odd = {dialect: count for dialect, count in self.recognised.items() if dialect.name != "ptb"}
        for dialect, count in odd.items():
            files = "" if len(self.recognised) == count == 1 else f"{_counted(count, 'file')} "
            told.append(f"{files}read as the dialect {dialect.name} ({dialect.title})")
        if self.empty_leaves:
            leaves = _counted(self.empty_leaves, "empty leaf", "empty leaves")
            told.append(f"{leaves} left out (--keep-empty keeps them)")
        if self.wordless:
            told.append(f"{_counted(self.wordless, 'unit')} without words skipped")
        if self.no_treebanks:
            names = ", ".join(self.no_treebanks[:3]) + (", …" if len(self.no_treebanks) > 3 else "")
            files = _counted(len(self.no_treebanks), "file is no treebank", "files are no treebanks")
            told.append(f"{files}, skipped: {names}")
        return told

    def tell(self, name: str) -> None:
        """Tell it all in one line, if there is anything."""
        if told := self.describe():
            _LOG.warning("%s: %s", name, "; ".join(told))


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or one + 's'}"
