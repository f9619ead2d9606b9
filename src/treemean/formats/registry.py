"""The list of formats, how one is recognised by its name or its content, and how its module is loaded.

A format is loaded when something is read or written in it, so that each needs only the packages it uses: JSON
Lines and others work where neither the core nor lxml or PyArrow are installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from treemean.errors import FormatError, MissingDependency, TreemeanError, no_such
from treemean.files.source import Source, is_wide, open_sources
from treemean.formats.problems import Problems
from treemean.formats.writing import BatchWriter, Unwritable
from treemean.names import FormatName
from treemean.trees import Treebank


@dataclass(frozen=True)
class Format:
    """One file format; its module has a function `read` and one that opens a writer.

    Attributes
    ----------
    name : what `--from` and `--to` call it.
    title : what people call it.
    suffixes : endings of file names in lower case, without `.gz`.
    sniff : tells from the first few kilobytes whether a stream is in this format.
    module : the module in `treemean.formats`.
    opens : the name of the function there that opens a writer.
    """

    name: FormatName
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    module: str
    opens: str = "writer"

    @property
    def tells_encoding(self) -> bool:
        """Whether files tell their encoding themselves, or are no text."""
        return self.name in ("alpino", "tiger", "parquet")

    def read(
        self, source: Source, problems: Problems, *, encoding: str, **brackets: Any
    ) -> Iterator[Treebank]:
        """Read a stream batch by batch; bad records go to `problems`.

        `brackets` are options that only PTB brackets have: wrappers, dialects, empty leaves.
        """
        options = brackets if self.name == "ptb" else {}
        return cast(Iterator[Treebank], self._load("read")(source, problems, encoding=encoding, **options))

    def writer(self, stream: IO[bytes], unwritable: Unwritable, *, keep_empty: bool = False) -> BatchWriter:
        """Open a writer on a stream; only PTB brackets have empty leaves."""
        options = {"keep_empty": True} if keep_empty and self.name == "ptb" else {}
        return cast(BatchWriter, self._load(self.opens)(stream, unwritable, **options))

    def folder_writer(self, folder: Path, unwritable: Unwritable) -> BatchWriter:
        """Open a writer of one file for each sentence; only Alpino XML has one."""
        return cast(BatchWriter, self._load("folder_writer")(folder, unwritable))

    def _load(self, function: str) -> Callable[..., Any]:
        try:
            return cast(
                Callable[..., Any], getattr(import_module(f"treemean.formats.{self.module}"), function)
            )
        except ImportError as error:
            raise MissingDependency(
                f"{self.title} needs all of treemean ({error}): install it, or use JSON Lines, which works "
                "without (treemean convert FILE FILE.jsonl, on a machine where it is installed)"
            ) from error


# ---- what the beginning of a file tells --------------------------------------------------------------

_FIRST_OF_CONLLU = re.compile(
    rb"(?:#[^\n]*\n|[ \t\r]*\n)*"
    rb"(?:# ?(?:sent_id|newdoc|newpar|text|global\.columns)\b|[0-9]+[-.0-9]*\t(?:[^\t\n]*\t){8}[^\t\n])"
)


def _is_parquet(head: bytes) -> bool:
    return head.startswith(b"PAR1")


def _is_alpino(head: bytes) -> bool:
    return _is_xml(head) and b"<alpino" in head


def _is_tiger(head: bytes) -> bool:
    return _is_xml(head) and re.search(rb"<(sub)?corpus[\s>]", head) is not None


def _is_xml(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _is_export(head: bytes) -> bool:
    return re.search(rb"^#(FORMAT|BOT|BOS)[ \t]", head, re.MULTILINE) is not None


def _is_conllu(head: bytes) -> bool:
    """Tell whether the usual comments, or a line of ten columns after a number, come first."""
    return _FIRST_OF_CONLLU.match(head) is not None


def _is_jsonl(head: bytes) -> bool:
    return re.match(rb'\s*\{\s*["}]', head) is not None


def _is_discbracket(head: bytes) -> bool:
    """Tell whether the first leaf has a position, or is one and a sentence follows after a tab."""
    leaf = re.match(rb"(?:#[^\n]*\n|\s)*(?:\([^\s()]*\s*)+\d+(=)?[^\s()]*[\s)][^\n]*", head)
    return leaf is not None and (leaf[1] is not None or b")\t" in leaf[0])


def _is_ptb(head: bytes) -> bool:
    """Tell whether the text begins with a bracket, comments aside; discbracket is tried before."""
    return re.match(rb"(?:#[^\n]*\n|\s)*\([^\s()]*(?:\s*\(|\s+[^\s()])", head) is not None


# ---- the formats -------------------------------------------------------------------------------------

_PTB_SUFFIXES = (".ptb", ".mrg", ".prd", ".psd", ".tbf", ".brackets", ".bracket")
#: In the order in which content is tried.
_FORMATS = (
    Format("parquet", "Parquet", (".parquet",), _is_parquet, "parquet"),
    Format("alpino", "Alpino XML", (".alpino.xml", ".alpino"), _is_alpino, "alpino"),
    Format("tiger", "TIGER XML", (".tiger.xml", ".tigerxml", ".tiger"), _is_tiger, "tiger"),
    Format("export", "NEGRA export", (".export", ".negra"), _is_export, "export"),
    Format("conllu", "CoNLL-U", (".conllu",), _is_conllu, "conllu"),
    Format("jsonl", "JSON Lines", (".jsonl", ".ndjson"), _is_jsonl, "jsonl"),
    Format(
        "discbracket",
        "discbracket",
        (".discbracket", ".discbrackets", ".dbr"),
        _is_discbracket,
        "discbracket",
    ),
    Format("ptb", "Penn Treebank brackets", _PTB_SUFFIXES, _is_ptb, "ptb"),
    # Read like the other version; written with a column for lemmas.
    Format("export4", "NEGRA export 4", (".export4",), _is_export, "export", opens="writer_4"),
)


def all_formats() -> dict[str, Format]:
    """Return all formats by name, in the order in which content is tried."""
    return {format.name: format for format in _FORMATS}


def get_format(name: str) -> Format:
    """Return the format of a name; the error lists the names there are."""
    formats = all_formats()
    if name not in formats:
        raise TreemeanError(no_such("format", name, sorted(formats)))
    return formats[name]


def format_of_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that a file's name tells, None if it tells none.

    >>> format_of_name("gold.discbracket.gz").name
    'discbracket'
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    matches = [(len(end), format) for format in _FORMATS for end in format.suffixes if name.endswith(end)]
    return max(matches, key=lambda match: match[0])[1] if matches else None


def find_format(source: Source, encoding: str = "utf-8") -> Format | None:
    """Return the format of a stream, looking at its name and then at its beginning; None if neither tells.

    `encoding` matters if it is one like UTF-16.
    """
    head = source.peek()
    encoding = source.marked or encoding
    if is_wide(encoding):
        head = head.decode(encoding, "ignore").encode("utf-8", "ignore")
    return format_of_name(source.name) or next((format for format in _FORMATS if format.sniff(head)), None)


def format_of_content(source: Source, encoding: str = "utf-8") -> Format:
    """Return the format of a stream; raise `FormatError` if neither its name nor its beginning tells."""
    found = find_format(source, encoding)
    if found is None:
        raise FormatError(
            "the format is not known from the name or the content; name it (--from), one of "
            + ", ".join(sorted(all_formats())),
            path=source.name,
        )
    return found


def format_of_file(path: str | os.PathLike[str]) -> Format:
    """Return the format of a file, or of the first one of a folder or an archive, as `format_of_content`."""
    with closing(cast("Generator[Source]", open_sources(path))) as sources:
        return format_of_content(next(sources))
