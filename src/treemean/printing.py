"""What comes from data is made harmless before it is printed: terminals obey some characters."""

from __future__ import annotations

import re

#: Characters that terminals obey or that turn the direction of a text, ends of lines, and halves of
#: characters, which no encoding can express. To be put between square brackets of a regular expression.
HARMFUL = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_A_LINE = re.compile(f"[{HARMFUL}]")
_IN_LINES = re.compile(f"(?![\n\t])[{HARMFUL}]")
#: Bytes of a name that are not in the encoding of names, as Python keeps them.
_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF


def harmless(text: str, *, lines: bool = False) -> str:
    r"""Return a text in which characters that a terminal would obey are written out, as in `\x1b`.

    Parameters
    ----------
    lines : the text may have several lines, and tabs; otherwise these are written out, too.

    >>> print(harmless("NP\x1b[2J\r"), harmless("a\nb"))
    NP\x1b[2J\r a\nb
    """
    return (_IN_LINES if lines else _IN_A_LINE).sub(_written_out, text)


def harmless_message(text: str) -> str:
    r"""Return a message with lines of its own, which are indented; other ends of lines are written out.

    >>> print(harmless_message("sentence 1:\n  prediction: a\nb"))
    sentence 1:
      prediction: a\nb
    """
    return "\n  ".join(map(harmless, text.split("\n  ")))


def harmless_json(text: str) -> str:
    r"""Return JSON or TOML that says the same, with such characters in its texts written as `\u001b`.

    >>> print(harmless_json('{"label": "\x9b2J"}'))
    {"label": "\u009b2J"}
    """
    return _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def _written_out(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if _FIRST_BYTE <= code <= _LAST_BYTE:
        code -= 0xDC00
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
