"""Elements of an XML stream one by one, in flat memory, without entities, DTDs or the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Any

from lxml import etree

from treemean.errors import FormatError, InvalidTree
from treemean.files.source import MAX_RECORD, Source, text_encoding
from treemean.formats.limits import check_pieces
from treemean.formats.problems import Problems
from treemean.formats.reading import Record, count_elements

#: A character that XML 1.0 cannot express.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The root element must begin within so many bytes; what stands before it is checked for entities.
PROLOG = 1 << 16
_SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
_BIG_LINE = 65535
#: The published types of lxml do not know all of it.
Element = Any


def elements(
    source: Source,
    tag: str,
    roots: Collection[str],
    problems: Problems,
    *,
    blocks: Iterable[bytes] | None = None,
    unread: Callable[[], Iterable[bytes]] | None = None,
    marker: str | None = None,
) -> Iterator[Record | None]:
    """Yield the elements called `tag`, in any namespace, as records of one serialised element each.

    The root element must be one of `roots`. An error of syntax goes to `problems` and ends the stream: what
    follows it cannot be trusted.

    Parameters
    ----------
    blocks : the document, if it is not read from the source as it stands.
    unread : then returns what is behind the blocks that were taken, to count elements behind an error.
    marker : the name of other elements, for each of which None is yielded.
    """
    pending = pieces = finished = 0
    block = b""
    stream = iter(source.read, b"") if blocks is None else iter(blocks)
    tags = [f"{{*}}{name}" for name in (tag, marker) if name]
    try:
        _check_prolog(source, roots)
        parser = etree.XMLPullParser(events=("end",), tag=tags, **_SAFE)
        for block in stream:
            finished = 0
            pending += len(block)
            new = check_pieces(block, b"<=")
            pieces = check_pieces(b"", b"", pieces + new)
            error = _feed(parser, block)
            for element in _events(parser):
                is_marker = element.tag.rpartition("}")[2] == marker
                yield None if is_marker else _record(element)
                _forget(element)
                finished += not is_marker
                pending, pieces = len(block), new
            if error is not None:
                raise error
            if pending > MAX_RECORD:
                raise FormatError(f"no <{tag}> ends within {MAX_RECORD} bytes")
        if error := _feed(parser, None):
            raise error
    except (FormatError, InvalidTree) as error:
        message = error.message if isinstance(error, FormatError) else str(error)
        problems.report(FormatError(message, path=source.name, line=getattr(error, "line", None)))
        begun = count_elements(tag, chain([block], stream if unread is None else unread()))
        problems.missing += max(begun - finished, 0)


def _record(element: Element) -> Record:
    return Record(line_of(element), [etree.tostring(element, encoding="utf-8", with_tail=False)])


def declared_encoding(source: Source) -> str | None:
    """Return the encoding that an XML declaration names, None if it is not known by this name."""
    head = source.peek(256)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head:
        return None
    declared = re.match(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", head)
    try:
        return text_encoding(declared[1].decode("ascii")) if declared else "utf-8"
    except LookupError:
        return None


def parse_element(record: Record) -> Element:
    """Parse the element of a record again, by itself."""
    try:
        return etree.fromstring(record.lines[0], etree.XMLParser(**_SAFE))
    except etree.XMLSyntaxError as error:
        raise FormatError(f"not valid XML: {error.msg}") from error


def line_of(element: Element) -> int:
    """Return the line on which an element begins."""
    line: int = element.sourceline or 1
    # From here on, libxml2 tells the line on which the text inside the element ends.
    return line - (element.text or "").count("\n") if line >= _BIG_LINE else line


def _feed(parser: etree.XMLPullParser, block: bytes | None) -> FormatError | None:
    """Feed a block, or None at the end; what ended before an error can still be taken from the parser."""
    try:
        if block is None:
            parser.close()
        else:
            parser.feed(block)
    except etree.XMLSyntaxError as error:
        return _complaint(parser) or FormatError(f"not valid XML: {error.msg}", line=error.lineno or 1)
    return _complaint(parser)


def _complaint(parser: Any) -> FormatError | None:
    """Return the first thing that the parser did not like; some, like unknown entities, raise nothing."""
    for entry in parser.feed_error_log:
        return FormatError(f"not valid XML: {entry.message}", line=entry.line or 1)
    return None


def _events(parser: etree.XMLPullParser) -> Iterator[Element]:
    return (element for _, element in parser.read_events())


def _check_prolog(source: Source, roots: Collection[str]) -> None:
    """Refuse entities before anything could use them, and documents of another kind."""
    parser = etree.XMLPullParser(events=("start",), **_SAFE)
    error = _feed(parser, source.peek(PROLOG))
    root = next(_events(parser), None)
    if root is None:
        raise error or FormatError(f"no XML element within the first {PROLOG} bytes", line=1)
    definitions = root.getroottree().docinfo.internalDTD
    if definitions is not None and any(True for _ in definitions.iterentities()):
        raise FormatError("the document declares entities, which are not read", line=1)
    name = etree.QName(root).localname
    if name not in roots:
        raise FormatError(f"the root element is <{name}>, not <{'> or <'.join(roots)}>", line=line_of(root))


def _forget(element: Element) -> None:
    """Free an element and what stands before it, up to the root."""
    element.clear()
    step: Element = element
    while step is not None:
        parent = step.getparent()
        if parent is not None:
            while step.getprevious() is not None:
                del parent[0]
        step = parent
