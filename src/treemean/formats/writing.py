"""What all writers share: what to do with trees that a format cannot express, and writing tree by tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Protocol, get_args

from treemean.errors import InvalidOption, UnwritableTree
from treemean.names import OnUnwritable
from treemean.trees import Tree, Treebank
from treemean.trees.continuous import make_continuous


class BatchWriter(Protocol):
    """Writes treebanks, batch after batch, to one stream."""

    def write(self, batch: Treebank) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Write what stands at the end of the file; the stream stays open."""


class Unwritable:
    """Decides what happens to a tree that the format cannot express.

    Parameters
    ----------
    policy : `error` raises, naming the tree; `skip` leaves it out and counts; `make-continuous` makes the
        tree continuous, and raises an error if the format still cannot express it.

    Attributes
    ----------
    skipped : how many trees were left out.
    changed : how many trees were made continuous.
    reasons : the first hundred reasons for leaving one out.
    """

    def __init__(self, policy: OnUnwritable = "error") -> None:
        if policy not in get_args(OnUnwritable):
            raise InvalidOption(
                f"trees are treated by {', '.join(get_args(OnUnwritable))}, not by {policy!r}"
            )
        self.policy = policy
        self.seen = self.skipped = self.changed = 0
        self.reasons: list[str] = []

    def serialise(self, tree: Tree, serialise: Callable[[Tree], str], format_name: str) -> str | None:
        """Return the text of a tree, or None if it is left out."""
        self.seen += 1
        try:
            try:
                return serialise(tree)
            except UnwritableTree:
                if self.policy != "make-continuous" or tree.is_continuous:
                    raise
                text = serialise(make_continuous(tree))
                self.changed += 1
                return text
        except UnwritableTree as error:
            self.seen -= 1
            self.refuse(tree.id, str(error), format_name)
            return None

    def refuse(self, id: str, reason: str, format_name: str) -> None:
        """Leave out a tree and count it, or raise `UnwritableTree`."""
        self.seen += 1
        name = f"sentence {self.seen}" + (f" ({id})" if id else "")
        message = f"{name} cannot be written as {format_name}: {reason}"
        if self.policy != "skip":
            raise UnwritableTree(message) from None
        self.skipped += 1
        if len(self.reasons) < 100:
            self.reasons.append(message)


class TextWriter:
    """A `BatchWriter` for formats that write each tree as a piece of text.

    Parameters
    ----------
    stream : where to write.
    serialise : the text of one tree, its final line break included; raises `UnwritableTree` with the reason.
    format_name : for messages.
    unwritable : the policy for trees that cannot be expressed.
    header, footer : what stands before and after the trees.
    """

    def __init__(
        self,
        stream: IO[bytes],
        serialise: Callable[[Tree], str],
        format_name: str,
        unwritable: Unwritable,
        *,
        header: str = "",
        footer: str = "",
    ) -> None:
        self._stream, self._serialise, self._name = stream, serialise, format_name
        self._unwritable, self._footer = unwritable, footer
        self._stream.write(header.encode())

    def write(self, batch: Treebank) -> None:
        """Write a batch."""
        for tree in batch:
            text = self._unwritable.serialise(tree, self._serialise, self._name)
            if text is not None:
                self._stream.write(text.encode())

    def close(self) -> None:
        """Write the footer."""
        self._stream.write(self._footer.encode())
