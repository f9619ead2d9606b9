"""A stream in blocks that readers of the core take, each of which hands back what is not complete yet."""

from __future__ import annotations

from treemean.errors import FormatError
from treemean.files.source import BLOCK, MAX_RECORD, Source

#: Blocks grow up to so many bytes.
LARGEST_BLOCK = 4 * BLOCK


class Blocks:
    """The blocks of a stream, each with what was left of the one before.

    Blocks grow a little: every one becomes a batch, and a batch takes some time whatever its size.

    Attributes
    ----------
    rest : what is to be read next.
    final : whether the stream ends with it.
    """

    def __init__(self, source: Source) -> None:
        self.rest = b""
        self.final = False
        self._source = source
        self._size = self._wanted = BLOCK
        self._is_stuck = False

    def more(self) -> bool:
        """Read on; return whether there is anything to look at."""
        if self.final and not self.rest:
            return False
        pieces, size = [self.rest] if self.rest else [], len(self.rest)
        while size < self._wanted and not self.final:
            piece = self._source.read(self._wanted - size)
            pieces.append(piece)
            size += len(piece)
            self.final = not piece
        self.rest = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return True

    def keep(self, rest: bytes) -> None:
        """Take note of what was not consumed."""
        consumed = len(rest) < len(self.rest)
        self._is_stuck = not consumed
        if self.final and not consumed:
            rest = b""  # there is nothing more that would complete it
        self._size = min(2 * self._size, LARGEST_BLOCK)
        # A record longer than the block: look at twice as much next time, so that the work stays linear.
        # No more than a record may have: then it is known to be too long.
        self._wanted = self._size if consumed else min(max(2 * len(rest), BLOCK), MAX_RECORD + BLOCK)
        self.rest = rest

    @property
    def is_too_long(self) -> bool:
        """Whether no record ends in more bytes than any record has."""
        return self._is_stuck and len(self.rest) > MAX_RECORD

    def check_length(self, line: int) -> None:
        """Raise `FormatError` if a record is too long; `line` is where it begins."""
        if self.is_too_long:
            message = f"no sentence ends within {MAX_RECORD} bytes"
            raise FormatError(message, path=self._source.name, line=line)
