"""What the site does to pages: formulas become MathML, which browsers show without scripts."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Replace every formula of a page, and leave those of its table of contents as plain text."""
    headings = list(page.toc)
    while headings:
        heading = headings.pop()
        heading.title = re.sub(r"\\\((.*?)\\\)", r"\1", heading.title)
        headings += heading.children
    return _FORMULA.sub(lambda found: _mathml(unescape(found[3]), found[2] == "["), html)


def _mathml(formula: str, is_block: bool) -> str:
    return convert(formula, display="block" if is_block else "inline")
