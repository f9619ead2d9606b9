"""Elements of an XML stream one by one, in flat memory, without entities, DTDs or the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree

from treemean.errors import FormatError
from treemean.formats.problems import Problems
from treemean.formats.reading import Record
from treemean.formats.source import BLOCK, MAX_RECORD, Source

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
#: Lines from here on are known to libxml2 only for pieces of text.
_BIG_LINE = 65535


def elements(source: Source, tag: str, problems: Problems) -> Iterator[Record]:
    """Yield the elements called `tag`, in any namespace, as records of one serialised element each.

    An error of syntax goes to `problems` and ends the stream: what follows it cannot be trusted.
    """
    pending = 0
    try:
        _check_prolog(source)
        parser = etree.XMLPullParser(events=("end",), tag=f"{{*}}{tag}", **_SAFE)
        while block := source.read(BLOCK):
            pending += len(block)
            error = _feed(parser, block)
            for _, element in parser.read_events():
                yield Record(_line(element), [etree.tostring(element, encoding="utf-8", with_tail=False)])
                _forget(element)
                pending = len(block)
            if error is not None:
                raise error
            if pending > MAX_RECORD:
                raise FormatError(f"no <{tag}> ends within {MAX_RECORD} bytes")
        parser.close()
    except etree.XMLSyntaxError as error:
        problems.report(FormatError(f"not valid XML: {error.msg}", path=source.name, line=error.lineno or 1))
    except FormatError as error:
        problems.report(FormatError(error.message, path=source.name, line=error.line))


def parse_element(record: Record) -> etree._Element:
    """Parse the element of a record again, by itself."""
    return etree.fromstring(record.lines[0], etree.XMLParser(**_SAFE))


def _feed(parser: etree.XMLPullParser, block: bytes) -> etree.XMLSyntaxError | None:
    """Feed a block; elements that end before an error in it can still be taken from the parser."""
    try:
        parser.feed(block)
    except etree.XMLSyntaxError as error:
        return error
    return None


def _check_prolog(source: Source) -> None:
    """Refuse entities before anything could use them."""
    head = source.peek(PROLOG)
    parser = etree.XMLPullParser(events=("start",), **_SAFE)
    error = _feed(parser, head)
    root = next((element for _, element in parser.read_events()), None)
    if root is None:
        raise error or FormatError(f"no XML element within the first {PROLOG} bytes")
    definitions = root.getroottree().docinfo.internalDTD
    if definitions is not None and any(True for _ in definitions.iterentities()):
        raise FormatError("the document declares entities, which are not read", line=1)


def _line(element: etree._Element) -> int:
    line = element.sourceline or 1
    # Beyond this, libxml2 tells the line on which the text inside the element ends.
    return line - (element.text or "").count("\n") if line > _BIG_LINE else line


def _forget(element: etree._Element) -> None:
    """Free an element and what stands before it, up to the root."""
    element.clear()
    step: etree._Element | None = element
    while step is not None:
        parent = step.getparent()
        if parent is not None:
            while step.getprevious() is not None:
                del parent[0]
        step = parent
