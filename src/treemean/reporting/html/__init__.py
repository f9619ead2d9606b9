"""The report that people open: one self-contained HTML file with tables, charts, and all trees to explore."""

from treemean.reporting.html.comparing import MOST, compare_parallel, compare_sides
from treemean.reporting.html.page import LIMIT, Page, make_page
from treemean.reporting.html.parts import ParallelTreebanks
from treemean.reporting.html.subject import Side, Subject

__all__ = [
    "LIMIT",
    "MOST",
    "Page",
    "ParallelTreebanks",
    "Side",
    "Subject",
    "compare_parallel",
    "compare_sides",
    "make_page",
]
