"""Alpino XML, as of the Alpino parser and the Lassy treebanks.

A file holds one `<alpino_ds>` or many, inside any wrapper; a folder or a zip archive of such files is read as
one treebank. Nodes with an `index` but neither word nor children repeat another node and are not words; the
words of a phrase are those of its terminals, whatever its `begin` and `end` say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import IO
from xml.sax.saxutils import quoteattr

from treemean import _core
from treemean.errors import FormatError, UnwritableTree
from treemean.files.source import Source, text_encoding
from treemean.formats.native import read_native
from treemean.formats.problems import Problems
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.formats.xmlstream import NOT_XML
from treemean.trees import Strings, Tree, Treebank

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
HEADER = DECLARATION + '<alpino version="1.3">\n'
FOOTER = "</alpino>\n"


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read Alpino XML; its own declaration tells the encoding. A lone sentence without id gets the file's."""
    batches = read_native(
        source, problems, _core.read_alpino, encoding=_declared_encoding(source), element="alpino_ds"
    )
    for batch in batches:
        if len(batch) == 1 and not batch.ids[0]:
            following = next(batches, None)
            if following is None:
                batch = batch.with_columns(ids=Strings.of([_name_without_ending(source.name)]))
            else:
                yield batch
                batch = following
        yield batch
        yield from batches


def _name_without_ending(path: str) -> str:
    """Return a file's name as Lassy uses it for an id; its inner points belong to it.

    >>> _name_without_ending("lassy/dpc-bal-001236-nl-sen.p.100.s.1.xml.gz")
    'dpc-bal-001236-nl-sen.p.100.s.1'
    """
    name = PurePath(path).name.removesuffix(".gz")
    return name.removesuffix(".xml").removesuffix(".alpino")


def _declared_encoding(source: Source) -> str:
    head = source.peek(256)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    declared = re.match(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", head)
    name = declared.group(1).decode("ascii") if declared else "utf-8"
    try:
        return text_encoding(name)
    except LookupError:
        raise FormatError(f"the encoding {name!r} is not known", path=source.name, line=1) from None


def serialise(tree: Tree) -> str:
    """Return a tree as an `<alpino_ds>` element."""
    if not tree.words:
        raise UnwritableTree("it has no words")
    texts = [*tree.words, *tree.tags, *tree.word_functions, tree.id]
    for text in [*texts, *(t for c in tree.constituents for t in (c.label, c.function))]:
        if NOT_XML.search(text):
            raise UnwritableTree(f"{text!r} has a character that XML cannot express")
    if "" in tree.words:
        raise UnwritableTree("a word is empty")
    lines = [f'<alpino_ds version="1.3"{f" id={quoteattr(tree.id)}" if tree.id else ""}>']
    # What is left to write, as (is_word, index, depth) or closing lines; trees are too deep for recursion.
    todo: list[tuple[bool, int, int] | str] = [(False, 0, 1)]
    number = 0
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        is_word, index, depth = item
        indent = "  " * min(depth, 40)
        if is_word:
            rest = {
                "id": str(number),
                "pos": tree.tags[index],
                "rel": tree.word_functions[index],
                "word": tree.words[index],
            }
            lines.append(f'{indent}<node begin="{index}" end="{index + 1}"{_attributes(rest)}/>')
        else:
            c = tree.constituents[index]
            rest = {"cat": c.label, "id": str(number), "rel": c.function}
            lines.append(f'{indent}<node begin="{c.first}" end="{c.mask.bit_length()}"{_attributes(rest)}>')
            todo.append(f"{indent}</node>")
            todo += [(child.is_word, child.index, depth + 1) for child in reversed(tree.children[index])]
        number += 1
    sentence = " ".join(tree.words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "\n".join([*lines, f"  <sentence>{sentence}</sentence>", "</alpino_ds>", ""])


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    return TextWriter(stream, serialise, "Alpino XML", unwritable, header=HEADER, footer=FOOTER)


def folder_writer(folder: Path, unwritable: Unwritable) -> BatchWriter:
    """Open a writer of one file for each sentence."""
    return _FolderWriter(folder, unwritable)


class _FolderWriter:
    """A `BatchWriter` whose files are called as the sentences are, `ID.xml`, as in the Lassy treebanks."""

    def __init__(self, folder: Path, unwritable: Unwritable) -> None:
        self._folder, self._unwritable = folder, unwritable
        self._taken: set[str] = set()

    def write(self, batch: Treebank) -> None:
        """Write a batch."""
        for tree in batch:
            text = self._unwritable.serialise(tree, serialise, "Alpino XML")
            if text is not None:
                name = self._free_name(_file_name(tree.id) or str(self._unwritable.seen))
                (self._folder / f"{name}.xml").write_text(DECLARATION + text, encoding="utf-8", newline="\n")

    def close(self) -> None:
        """Nothing stands at the end."""

    def _free_name(self, name: str) -> str:
        """Return the name, with a number if it is taken already, in whatever case."""
        free, number = name, 2
        while free.casefold() in self._taken:
            free, number = f"{name}_{number}", number + 1
        self._taken.add(free.casefold())
        return free


def _file_name(id: str) -> str:
    """Return an id as a name of a file: what systems do not like in one becomes _.

    >>> _file_name("WR-P-P/page 1:2"), _file_name("..")
    ('WR-P-P_page_1_2', '')
    """
    name = re.sub(r"[^\w.,@+=-]+", "_", id).strip("._")
    while len(name.encode("utf-8")) > 200:
        name = name[:-1]
    return name
