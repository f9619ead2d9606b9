"""Where bytes come from: files, gzip, folders, zip archives, standard input, whatever the format."""

from __future__ import annotations

import codecs
import glob
import gzip
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from treemean.errors import FormatError, reason_of
from treemean.files.filenames import check_name

GZIP_MAGIC = b"\x1f\x8b"
BLOCK = 1 << 20
_LOG = logging.getLogger("treemean")
#: No sentence is longer than this; input in which none ends for so long is refused, not read into memory.
MAX_RECORD = 1 << 26


#: Byte order marks, the longer ones first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_encoding(name: str) -> str:
    """Return the proper name of an encoding of text; raise `LookupError` if there is none of this name.

    >>> text_encoding("UTF8")
    'utf-8'
    """
    try:
        "".encode(name)  # refuses codecs that turn bytes into bytes, such as hex and zlib
    except (UnicodeError, LookupError) as error:
        raise LookupError(
            f"there is no encoding {name!r}; some are utf-8, latin-1, cp1252, utf-16 and utf-16-le"
        ) from error
    return codecs.lookup(name).name


def is_wide(encoding: str) -> bool:
    """Return whether an encoding has line breaks of other bytes than ASCII has.

    >>> is_wide("utf-16-le"), is_wide("latin-1")
    (True, False)
    """
    return "\n".encode(encoding) != b"\n"


def not_valid(encoding: str, reason: str, *, declared: bool = False) -> str:
    """Return what an error says about bytes that are not in an encoding, which the file itself may name."""
    if declared:
        return f"not valid {encoding}, in which the file says it is: {reason}"
    return (
        f"not valid {encoding}: {reason}; if it is in another encoding, name it "
        "(--encoding latin-1, cp1252, utf-16)"
    )


class Source:
    """A named stream of bytes, unpacked if it is gzip. It can be read once.

    Parameters
    ----------
    raw : the stream.
    name : what error messages call it.
    close : whether `close` closes the stream.

    Attributes
    ----------
    marked : `utf-8`, `utf-16` or `utf-32` if it begins with a byte order mark of these, else empty.
    among_others : whether it is one of many files of a folder, an archive or a pattern.
    """

    marked: str = ""
    among_others: bool = False

    def __init__(self, raw: IO[bytes], name: str, *, close: bool = True) -> None:
        self.name = name
        self._raw, self._close = raw, close
        self._head = b""
        try:
            start = self._first_bytes(raw, 2)
            if start == GZIP_MAGIC:
                self._stream = cast(BinaryIO, gzip.GzipFile(fileobj=cast(BinaryIO, _Rewound(start, raw))))
            else:
                self._stream = cast(BinaryIO, _Rewound(start, raw))
            self._head = self.peek(4)
            self.marked = next((name for mark, name in _MARKS if self._head.startswith(mark)), "")
            self._head = self._head.removeprefix(codecs.BOM_UTF8)
        except BaseException:
            self.close()  # nobody else could
            raise

    def _first_bytes(self, raw: IO[bytes], count: int) -> bytes:
        start = b""
        try:
            while len(start) < count and (more := raw.read(count - len(start))):
                start += more
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise FormatError(reason_of(error), path=self.name) from error
        return start

    def peek(self, count: int = 4096) -> bytes:
        """Return up to `count` bytes from the beginning without consuming them."""
        while len(self._head) < count and (more := self._read(count - len(self._head))):
            self._head += more
        return self._head[:count]

    def read(self, count: int = BLOCK) -> bytes:
        """Return up to `count` bytes; empty at the end."""
        if self._head:
            part, self._head = self._head[:count], self._head[count:]
            return part
        return self._read(count)

    def _read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise FormatError(reason_of(error), path=self.name) from error

    def looks_like(self) -> str:
        """Return the encoding that zero bytes give away in a text without a byte order mark, or nothing."""
        head = self.peek(16)
        even, odd = head[::2], head[1::2]
        if len(head) < 8 or bool(any(even)) == bool(any(odd)):
            return ""
        return "utf-16-le" if any(even) else "utf-16-be"

    def in_utf8(self, encoding: str, *, declared: bool = False) -> Source:
        """Return what is left of the stream in UTF-8; errors name the line.

        `declared` says that the file itself names the encoding.
        """
        return Source(cast(BinaryIO, _Recoded(self, encoding, declared)), self.name, close=False)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield (line number from 1, line without its end); memory stays bounded by `MAX_RECORD`."""
        rest = b""
        number = 0
        while block := self.read():
            *complete, rest = (rest + block).split(b"\n")
            for line in complete:
                number += 1
                yield number, line.removesuffix(b"\r")
            if len(rest) > MAX_RECORD:
                raise FormatError(
                    f"the line has more than {MAX_RECORD:,} bytes", path=self.name, line=number + 1
                )
        if rest:
            yield number + 1, rest.removesuffix(b"\r")

    def close(self) -> None:
        """Close the stream, unless it belongs to somebody else."""
        if self._close:
            self._raw.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Spooled(os.PathLike[str]):
    """What can be read only once, standard input or a pipe, copied to a file so that it can be read again."""

    def __init__(self, name: str, copy: Path) -> None:
        self.name, self.copy = name, copy

    def __fspath__(self) -> str:
        return self.name


@contextmanager
def spooled(paths: Sequence[str]) -> Iterator[list[str | Spooled]]:
    """Give the same paths, with copies in place of standard input and pipes; these are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="treemean-") as folder:
        result: list[str | Spooled] = []
        for number, name in enumerate(paths):
            if name != "-" and not stat.S_ISFIFO(os.stat(name).st_mode if os.path.exists(name) else 0):
                result.append(name)
                continue
            copy = Path(folder, str(number))
            with open(copy, "wb") as target:
                if name == "-":
                    try:
                        shutil.copyfileobj(sys.stdin.buffer, target)
                    except OSError as error:
                        raise FormatError(reason_of(error), path="<standard input>") from error
                else:
                    with open(name, "rb") as pipe:
                        shutil.copyfileobj(pipe, target)
            result.append(Spooled(name, copy))
        yield result


def open_sources(path: str | os.PathLike[str], pattern: str | None = None) -> Iterator[Source]:
    """Yield the streams behind a path: a file, `-`, or every file of a folder, a zip archive or a pattern.

    Files of folders and archives come in natural order (2 before 10); hidden ones are left out, and those
    whose names are not like `pattern`, such as `*.mrg`. A path like `DIR/*.mrg` is a pattern if there is no
    such file.
    """
    name = os.fspath(path)
    if isinstance(path, Spooled):
        with Source(open(path.copy, "rb"), "<standard input>" if name == "-" else name) as source:
            yield source
        return
    if name == "-":
        yield Source(sys.stdin.buffer, "<standard input>", close=False)
        return
    check_name(name)
    try:
        if os.path.isdir(name):
            members = [p for p in Path(name).rglob("*") if p.is_file() and not _hidden(p.relative_to(name))]
            if not members:
                raise FormatError("the folder holds no files", path=name)
            yield from _files([p for p in members if _is_like(p, pattern)], name, pattern)
        elif not os.path.exists(name) and glob.has_magic(name):
            found = [Path(p) for p in glob.glob(name, recursive=True)]
            yield from _files([p for p in found if p.is_file()], name, name)
        elif os.path.isfile(name) and zipfile.is_zipfile(name):  # a device may have no end to look at
            yield from _zip_members(name, pattern)
        else:
            with Source(open(name, "rb"), name) as source:
                yield source
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error


def _files(paths: Sequence[Path], name: str, pattern: str | None) -> Iterator[Source]:
    if not paths:
        raise FormatError(f"no file matches {pattern}", path=name)
    for path in sorted(paths, key=lambda p: _natural(str(p))):
        with Source(open(path, "rb"), str(path)) as source:
            source.among_others = True
            yield source


def _zip_members(name: str, pattern: str | None) -> Iterator[Source]:
    with _damage_as_format_error(name):
        archive = zipfile.ZipFile(name)
    with archive:
        # Names that are empty break zipfile itself.
        members = [member for member in archive.infolist() if member.filename and not member.is_dir()]
        _tell_skipped(name, [m.filename for m in members if _hidden(Path(m.filename))])
        members = [m for m in members if not _hidden(Path(m.filename))]
        wanted = [m for m in members if _is_like(Path(m.filename), pattern)]
        if members and not wanted:
            raise FormatError(f"no file matches {pattern}", path=name)
        for member in sorted(wanted, key=lambda m: _natural(m.filename)):
            with _damage_as_format_error(name):
                opened = archive.open(member)
            with Source(opened, f"{name}/{member.filename}") as source:
                source.among_others = True
                yield source


@contextmanager
def _damage_as_format_error(name: str) -> Iterator[None]:
    """Raise `FormatError` for whatever the library makes of an archive that is damaged, or made to harm."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise FormatError(f"not a valid archive: {reason_of(error)}", path=name) from error


def _tell_skipped(archive: str, names: list[str]) -> None:
    if names:
        what = "1 entry" if len(names) == 1 else f"{len(names)} entries"
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        _LOG.warning("%s: %s skipped, as hidden files are: %s", archive, what, shown)


def _is_like(path: Path, pattern: str | None) -> bool:
    """Return whether the last parts of a path are like those of a pattern."""
    return pattern is None or path.match(pattern)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key by which numbers inside names count as numbers, of whatever length."""
    numbers = re.split(r"([0-9]+)", text)  # every second part is one
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if index % 2 else (0, part)
        for index, part in enumerate(numbers)
    ]


class _Rewound:
    """A stream with a few bytes put back in front."""

    def __init__(self, front: bytes, rest: IO[bytes]) -> None:
        self._front, self._rest = front, rest

    def read(self, count: int = -1) -> bytes:
        if self._front:
            if 0 <= count <= len(self._front):
                part, self._front = self._front[:count], self._front[count:]
                return part
            part, self._front = self._front, b""
            return part + self._rest.read(count - len(part) if count >= 0 else -1)
        return self._rest.read(count)


class _Recoded:
    """A source's bytes turned into UTF-8."""

    def __init__(self, source: Source, encoding: str, declared: bool) -> None:
        self._source, self._encoding, self._declared = source, encoding, declared
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = b""
        self._line = 1
        self._ended = False

    def read(self, count: int = BLOCK) -> bytes:
        while len(self._rest) < count and not self._ended:
            self._rest += self._next()
        part, self._rest = self._rest[:count], self._rest[count:]
        return part

    def _next(self) -> bytes:
        block = self._source.read()
        self._ended = not block
        try:
            text = self._decoder.decode(block, self._ended)
        except UnicodeError as error:  # not all codecs tell where
            if isinstance(error, UnicodeDecodeError):
                start = error.object[: error.start].decode(self._encoding, "replace")
                self._line += start.count("\n")
            reason = getattr(error, "reason", str(error))
            message = not_valid(self._encoding, reason, declared=self._declared)
            raise FormatError(message, path=self._source.name, line=self._line) from error
        self._line += text.count("\n")
        return text.encode("utf-8", "surrogatepass")
