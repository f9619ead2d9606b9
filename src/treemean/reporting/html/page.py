"""The whole report as one file that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import numpy as np

from treemean._version import __version__
from treemean.errors import InvalidOption
from treemean.files.output import write_file
from treemean.reporting.html.columns import explorer_data
from treemean.reporting.html.markup import Markup, element, join
from treemean.reporting.html.overview import overview
from treemean.reporting.html.subject import Subject
from treemean.trees.bitsets import Ints

#: Megabytes of a report beyond which sentences are left out of the explorer.
LIMIT = 20.0

#: In the order in which the page needs them; they share one scope.
_SCRIPTS = (
    "sets",
    "data",
    "layout",
    "drawing",
    "list",
    "decisions",
    "address",
    "trees",
    "candidates",
    "main",
)
_STYLES = ("page", "explorer")

_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='#0b6aa8' "
    "stroke-width='2.4' stroke-linecap='round'>"
    "<path d='M12 3v4M5 21v-6q0-4 4-4h6q4 0 4 4v6M12 7v4M12 21v-5'/></svg>"
)


@dataclass(frozen=True)
class Page:
    """A report as HTML.

    Parameters
    ----------
    html : the whole file.
    shown : how many sentences it holds; `left_out` : how many are not in it.
    too_large : whether that is because of the size of the file; otherwise more were not to be held.
    """

    html: str
    shown: int
    left_out: int
    too_large: bool = False

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        write_file(path, self.html.encode())


def make_page(subject: Subject, *, limit: float = LIMIT) -> Page:
    """Make the report of a subject.

    Parameters
    ----------
    limit : megabytes. Beyond it, the least disputed sentences (without several runs the last ones) of those
        that the subject holds are left out of the explorer, and the report says so; scores and charts are of
        all sentences in any case.

    Raises `InvalidOption` if not a single sentence fits.
    """
    held = len(subject.sentences)
    frame = _assembled(subject, "", [_left_out(subject, held, limit)])  # which takes room, too
    room = int(1_000_000 * limit) - len(frame.encode())
    data, kept = _fitting(subject, room)
    if not kept and held:
        raise InvalidOption(f"a report of {limit:g} MB has no room for a single sentence")
    left_out = subject.count - kept
    too_large = kept < held
    notices = [_left_out(subject, kept, limit if too_large else None)] if left_out else []
    return Page(_assembled(subject, data, notices), kept, left_out, too_large)


def _left_out(subject: Subject, kept: int, limit: float | None) -> str:
    which = "most disputed" if subject.agreement is not None else "first"
    why = "" if limit is None else f", which would be larger than {limit:g} MB"
    return (
        f"{subject.count - kept:,} of {subject.count:,} sentences are not in this file{why}: only the "
        f"{kept:,} {which} ones can be explored. Scores and charts are of all sentences."
    )


def _fitting(subject: Subject, room: int) -> tuple[str, int]:
    """Return the data of as many sentences as there is room for, and how many these are."""
    count = len(subject.sentences)
    order = subject.order
    sizes = np.sum([side.trees.constituent_counts for side in subject.sides], axis=0) + subject.whole.lengths
    kept = count
    while True:
        chosen: Ints = np.sort(order[:kept])
        data = _json(_data(subject, chosen))
        size = len(data.encode())
        if size <= room or kept == 0:
            return data, kept
        # In proportion to what they hold, and a little less, so that it ends soon.
        held = np.cumsum(sizes[order[:kept]])
        kept = min(kept - 1, int(np.searchsorted(held, 0.97 * held[-1] * max(room, 0) / size)))


def _data(subject: Subject, chosen: Ints) -> dict[str, Any]:
    columns = explorer_data(subject, chosen)
    weights = {side.weight for side in subject.runs}
    return {
        "about": {
            "format": "treemean report",
            "version": 1,
            "treemean": __version__,
            "title": subject.title,
            "fingerprint": columns.pop("fingerprint"),
            "protocol": {"name": subject.protocol.name, "labelled": subject.protocol.labelled},
            "weighted": len(weights) > 1,
            "trees": [{"name": s.name, "kind": s.kind, "weight": s.weight} for s in subject.sides],
        },
        "sentences": columns,
    }


def _json(data: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it can end the element.

    >>> _json({"word": "</script>"})
    '{"word":"\\\\u003c/script>"}'
    """
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )


# ---- the file ---------------------------------------------------------------------------------------


def _assembled(subject: Subject, data: str, notices: Sequence[str]) -> str:
    style = "\n".join(_asset(f"{name}.css") for name in _STYLES)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "generator": join(f"treemean {__version__}"),
        "title": join(subject.title),
        "icon": "data:image/svg+xml," + quote(_ICON),
        "style": style,
        "overview": overview(subject, notices),
        **_controls(subject),
        "data": data,
        "script": script,
    }
    # In one pass, so that what is put in is not looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return files("treemean.reporting.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _options(named: dict[str, str]) -> Markup:
    return join(*(element("option", name, value=value) for value, name in named.items()))


def _controls(subject: Subject) -> dict[str, str]:
    """Return the controls that make sense for a subject."""
    gold, several = subject.gold is not None, subject.average is not None
    probable = any("probability" in side.trees.constituent_values for side in subject.sides)
    sorts = {"dispute": "most disputed"} if subject.agreement is not None else {}
    if gold and several:
        sorts |= {"gain": "gain of the average", "loss": "loss of the average"}
    if gold:
        sorts |= {"errors": "most errors"}
    sorts |= {"longest": "longest first", "shortest": "shortest first", "number": "as they come"}
    main = "in the average" if several else "in the run"
    gaps = {"": "any", **({"gold": "in gold"} if gold else {}), "average": main, "some": "in some tree"}
    colours = {**({"judgement": "right or wrong"} if gold else {}), "support": "support"}
    shares = {"support": "support", **({"probability": "probability"} if probable else {})}
    wrong = element(
        "label",
        element("input", type="checkbox", id="wrong"),
        f" wrong {main}",
        class_="check",
    )
    by = element("select", _options(shares), id="by", aria_label="What is compared")
    return {
        "sorts": _options(sorts),
        "gaps": _options(gaps),
        "colours": _options(colours),
        "numbers": _options({"": "none", **shares}),
        "by": by,
        "wrong": wrong if gold else "",
        "legend": _legend(gold),
        "meanings": _meanings(gold, probable),
    }


def _legend(gold: bool) -> Markup:
    keys = []
    if gold:
        keys = [
            element("span", element("i", class_="right"), "✓ in gold"),
            element("span", element("i", class_="wrong"), "✗ not in gold"),
            element("span", element("i", class_="missing"), "only in gold"),
        ]
    keys.append(
        element("span", element("i", class_="weak"), element("i", class_="strong"), "few or many runs")
    )
    return element("p", *keys, class_="legend", aria_label="Legend", role="note")


def _meanings(gold: bool, probable: bool) -> Markup:
    told = {
        "support": "the share of the runs, by their weights in the average, that have the same words as a "
        "constituent",
        "dispute": "1 − the mean F1 of the average tree with the trees of the runs",
    }
    if probable:
        told["probability"] = (
            "how likely a constituent is right: calibrated by a fitted model or by the runs alone"
        )
    if gold:
        told["gain"] = "F1 of the average minus the mean F1 of its runs, in this sentence"
    told["decision"] = (
        "click a constituent in a drawing, tick it in the table, or accept a whole tree. What crosses is "
        "refused. Decisions stay in this browser; the exported file is a treebank for treemean convert."
    )
    return element(
        "dl", *(join(element("dt", name), element("dd", text)) for name, text in told.items()), class_="plain"
    )
