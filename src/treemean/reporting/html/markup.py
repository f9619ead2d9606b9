"""HTML and SVG from plain values: whatever is no markup is escaped."""

from __future__ import annotations

from html import escape

#: Elements without an end.
_VOID = frozenset({"input", "br", "meta", "link"})


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


Child = Markup | str | int | float | None


def element(name: str, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """Return an element; `class_` is written `class`, and `aria_label` is written `aria-label`.

    >>> element("p", "a < b", element("b", "!"), class_="note", hidden=True, id=None)
    '<p class="note" hidden>a &lt; b<b>!</b></p>'
    """
    told = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return children after one another; what is no markup is escaped, None is nothing."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(str(child))
            for child in children
            if child is not None
        )
    )


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'
