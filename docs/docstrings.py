"""For the reference of Python: docstrings of this project name parameters without their types.

    individuals : treebanks with the same words in the same order.

The NumPy style would take the text for a type; written over two lines it does not.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SECTION = re.compile(r"^(?P<title>Parameters|Attributes|Columns)\n-+\n", re.M)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?P<text>.*)$", re.M)


class Described(Extension):
    """Rewrites the docstrings of everything that is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one."""
        if obj.docstring is not None:
            obj.docstring.value = in_two_lines(obj.docstring.value)


def in_two_lines(text: str) -> str:
    """Return a docstring with the names and texts of its sections on lines of their own.

    >>> print(in_two_lines("Add.\\n\\nParameters\\n----------\\na, b : are added.\\n\\nTrue : no entry."))
    Add.
    <BLANKLINE>
    Parameters
    ----------
    a, b
        are added.
    <BLANKLINE>
    True : no entry.
    """
    found = _SECTION.search(text)
    if found is None:
        return text
    before, section = text[: found.end()], text[found.end() :]
    end = section.find("\n\n")
    section, after = (section, "") if end < 0 else (section[:end], section[end:])
    title = before.replace(found["title"], "Attributes") if found["title"] == "Columns" else before
    rewritten = _ENTRY.sub(lambda entry: f"{entry['names']}\n    {entry['text']}", section)
    return title + rewritten + in_two_lines(after)
